/* A Python script in a folder of its own, for tests that ask about it. The script marks the lines
 * that a question is about with comments such as `# ask`. */
#ifndef STET_TESTS_PYTHON_HELP_H
#define STET_TESTS_PYTHON_HELP_H

#include "test.h"

#include "python/library.h"
#include "python/queries.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct stet_python_sources sources;
static char folder[64], path[96];
static char text[16384];

/* The number of the first line with this mark; 0 when there is none. */
static uint32_t line_of(const char *mark)
{
    const char *at = strstr(text, mark);
    uint32_t line = 1;

    for (const char *p = text; at && p < at; p++)
        line += *p == '\n';
    return at ? line : 0;
}

static void write_file(const char *name, const char *content)
{
    char file[128];
    FILE *f;

    snprintf(file, sizeof file, "%s/%s", folder, name);
    f = fopen(file, "w");
    EXPECT(f && fputs(content, f) >= 0);
    if (f)
        fclose(f);
}

static void begin(const char *head, const char *body)
{
    snprintf(folder, sizeof folder, "/tmp/stet-python-XXXXXX");
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/train.py", folder);
    snprintf(text, sizeof text, "%s%s", head, body);
    write_file("train.py", text);
}

static void finish(void)
{
    static const char *const files[] = {"train.py", "helpers.py", "pkg/tools.py", "pkg/__init__.py",
                                        "pkg"};
    char file[128];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(file, sizeof file, "%s/%s", folder, files[i]);
        remove(file);
    }
    rmdir(folder);
    stet_python_sources_release(&sources);
}

static struct stet_view here(void)
{
    return stet_view_str(path);
}

/* The compiled function of the script, marked with `# def`, and its call, marked with `# call`. */
static inline struct stet_python_compiled compiled_in_script(void)
{
    return (struct stet_python_compiled){.file = here(),
                                         .line = line_of("# def"),
                                         .call_file = here(),
                                         .call_line = line_of("# call")};
}

/* The answer is the line marked with `# here`; without the mark there is none. Ends the script. */
static inline void expect_line(const char *body, struct stet_python_made made)
{
    if (made.line != line_of("# here"))
        fprintf(stderr, "line %u instead of %u of\n%s\n", made.line, line_of("# here"), body);
    EXPECT_INT(line_of("# here"), made.line);
    finish();
}

#endif
