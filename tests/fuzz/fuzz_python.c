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

static bool was_read(void *context, struct stet_view file, uint32_t first, uint32_t last,
                     bool calls)
{
    (void)context;
    (void)file;
    return first <= last && (calls || first % 2);
}

/* A line waits, and the line before it waits for that. */
static void ask_waiting(struct stet_python_sources *s, const struct stet_python_module *m,
                        uint32_t line)
{
    const struct stet_python_copies copies = {was_read, NULL};
    struct stet_python_stack stack = {
        .frames = {{.file = FILE_NAME, .line = line}, {.file = FILE_NAME, .line = line - 1}},
        .waits = 1 + (line > 1)};
    struct stet_python_followed what = {.held = line % 3 ? PY_HELD_CALL : PY_HELD_ARGUMENT,
                                        .path = STET_VIEW("x"),
                                        .aspect = line % 2 ? PY_OF_SIZE : PY_OF_VALUE,
                                        .file = FILE_NAME,
                                        .line = 1};
    struct stet_python_rested rested;

    stack.count = stack.waits;
    CHECK(stet_python_jitted(s, &stack, FILE_NAME, 1, line % 2).line <= m->ast.line_count);
    if (stet_python_argument_rests(s, &stack, &what, &copies, &rested) ||
        stet_python_waiting_rests(s, &stack, &copies, line % 2, &rested))
        CHECK(rested.line && rested.line <= rested.last && rested.last <= m->ast.line_count &&
              rested.made.line && rested.made.line <= m->ast.line_count);
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

    for (uint32_t line = 1; line <= lines && line <= MOST_LINES; line++) {
        ask_line(&s, m, line);
        ask_waiting(&s, m, line);
    }
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
