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

/* The line with a mark that a digit does not follow: `# call` is not `# call2`. */
static inline uint32_t marked(const char *mark)
{
    size_t n = strlen(mark);

    for (const char *at = strstr(text, mark); at; at = strstr(at + 1, mark))
        if (at[n] < '0' || at[n] > '9') {
            uint32_t line = 1;

            for (const char *p = text; p < at; p++)
                line += *p == '\n';
            return line;
        }
    return 0;
}

/* The lines that wait: `# call`, which `# call2` waits for, which `# call3` waits for. A generator
 * waits in `# looped`, for the next turn of a loop around `# call`. */
static inline struct stet_python_stack stack_of(void)
{
    static const char *const marks[] = {"# call", "# call2", "# call3", "# ask"};
    struct stet_python_stack s = {.waits = 0};

    for (size_t i = 0; i < 4; i++)
        if (marked(marks[i])) {
            s.frames[s.waits].file = here();
            s.frames[s.waits++].line = marked(marks[i]);
        }
    s.count = s.waits;
    if (marked("# looped"))
        s.frames[s.count++] =
            (struct stet_python_watched){.file = here(), .line = marked("# looped"), .holder = 1};
    return s;
}

/* Follows a value of the function that begins at `# def`. */
static inline struct stet_python_made followed(enum stet_python_held held, const char *part,
                                               enum stet_python_aspect aspect)
{
    struct stet_python_stack stack = stack_of();
    struct stet_python_followed what = {.held = held,
                                        .path = stet_view_str(part),
                                        .aspect = aspect,
                                        .file = here(),
                                        .line = line_of("# def"),
                                        .at_file = here(),
                                        .at_line = line_of("# ask")};

    return stet_python_follow(&sources, &stack, &what);
}

/* The answer is the line `# here`; without that mark there is none. */
static inline void expect_here(const char *body, struct stet_python_made made)
{
    if (made.line != line_of("# here"))
        fprintf(stderr, "line %u instead of %u of\n%s\n", made.line, line_of("# here"), body);
    EXPECT_INT(line_of("# here"), made.line);
    finish();
}

#endif
