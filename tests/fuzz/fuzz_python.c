/* Any bytes as a Python file: every question about each of its lines ends, and an answer lies
 * inside the file. */
#include "fuzz.h"

#include "base/mem.h"
#include "python/queries.h"

enum { MOST_LINES = 48 };

#define FILE_NAME STET_VIEW("/fuzz/x.py")

/* The file is made of the bytes; imports find nothing. */
static const struct stet_python_module *add(struct stet_python_sources *s, struct stet_view text)
{
    struct stet_python_module *m = stet_mem_calloc(1, sizeof *m);

    s->parser = stet_python_parser_new();
    CHECK(m && s->parser);
    m->path = stet_mem_strdup("/fuzz/x.py");
    CHECK(m->path && stet_python_module_parse(m, s->parser, text));
    CHECK(stet_map_put(&s->by_path, stet_map_text(FILE_NAME), 0));
    s->modules[s->count++] = m;
    return m;
}

static void ask_line(struct stet_python_sources *s, const struct stet_python_module *m,
                     uint32_t line)
{
    struct stet_python_read read = {0};
    struct stet_python_code code;
    struct stet_view from;

    if (stet_python_condition_reads(s, FILE_NAME, line, true, &read) ||
        stet_python_argument_reads(s, FILE_NAME, line, &read))
        CHECK(read.line && read.line <= read.last && read.last <= m->ast.line_count);
    stet_python_line_reads(s, FILE_NAME, line);
    stet_python_line_sizes(s, FILE_NAME, line);
    CHECK(stet_python_makes_jit(s, FILE_NAME, line, &from) <= m->ast.line_count);
    CHECK(stet_python_def_around(s, FILE_NAME, line) <= m->ast.line_count);
    CHECK(stet_python_conditional_line(s, FILE_NAME, line, STET_VIEW("power")) <=
          m->ast.line_count);
    stet_python_is_optimizer(s, FILE_NAME, line);
    stet_python_static_used(s, FILE_NAME, STET_VIEW("f"), FILE_NAME, line, line % 2);
    if (stet_python_code_at(s, FILE_NAME, line, STET_VIEW(""), &code)) {
        stet_python_code_uses(s, &code, STET_VIEW("x"));
        stet_python_code_reads_size(s, &code);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_python_sources s = {0};
    struct stet_python_reach reach = {0};
    const struct stet_python_module *m = add(&s, stet_view_of(data, size));
    uint32_t lines = m->parsed ? m->ast.line_count : 0;

    for (uint32_t line = 1; line <= lines && line <= MOST_LINES; line++)
        ask_line(&s, m, line);
    stet_python_reach_from(&s, FILE_NAME, lines, &reach);
    for (uint32_t i = 0; i < reach.count && i < MOST_LINES; i++) {
        stet_python_step_feeds(&s, &reach.steps[i]);
        stet_python_step_updates(&s, &reach.steps[i]);
        stet_python_step_selects(&s, &reach.steps[i]);
        stet_python_step_gives(&s, &reach.steps[i], STET_VIEW("slice"));
    }
    stet_python_reach_release(&reach);
    stet_python_sources_release(&s);
    return 0;
}
