/* Candidates: reported by rules while a file is walked, and stored with its summary. */
#include "lint/candidates.h"

#include "base/mem.h"
#include "lint/rules.h"

#include <stdarg.h>
#include <stdio.h>

/* A file while it is walked. */
struct making {
    struct lint_summary *out;
    size_t room;           /* of candidates */
    struct stet_map lines; /* function -> how many of its lines cut the graph, and the last one */
};

enum { LINE_BITS = 20, LINE_MASK = (1 << LINE_BITS) - 1, MOST_LINES = 1000 };

bool lint_cuts_graph(const struct lint_candidate *c)
{
    return (c->lanes & FLOW_MODULE) &&
           (c->rule == LINT_RULE_value_branch || c->rule == LINT_RULE_host_sync ||
            c->rule == LINT_RULE_mask_gather);
}

static void count_line(struct making *m, const struct lint_candidate *c)
{
    uint32_t old = stet_map_get(&m->lines, c->fn), line = c->line & LINE_MASK;
    uint32_t count = old == STET_MAP_NONE ? 0 : old >> LINE_BITS;

    if (lint_cuts_graph(c) && (!count || (old & LINE_MASK) != line) && count < MOST_LINES)
        stet_map_put(&m->lines, c->fn, (count + 1) << LINE_BITS | line);
}

unsigned lint_lines_cutting(const struct stet_flow_walk *w, uint32_t fn)
{
    const struct making *m = w->listener->context;
    uint32_t found = stet_map_get(&m->lines, fn);

    return found == STET_MAP_NONE ? 0 : found >> LINE_BITS;
}

/* Returns the line without leading blanks, cut to a readable length. */
static struct stet_view source_line(const struct stet_python_ast *a, uint32_t row)
{
    const char *start = a->text.ptr + a->lines[row], *stop = a->text.ptr + a->text.len;
    size_t len = 0, most;

    for (unsigned blanks = 0; blanks < 400 && start < stop && (*start == ' ' || *start == '\t');
         blanks++)
        start++;
    most = (size_t)(stop - start) < 200 ? (size_t)(stop - start) : 200;
    while (len < most && start[len] != '\n' && start[len] != '\r')
        len++;
    return stet_view_of(start, len);
}

static bool is_reported_at(const struct lint_summary *s, unsigned rule, uint32_t line,
                           uint32_t column)
{
    uint32_t first = s->candidate_count > 64 ? s->candidate_count - 64 : 0;

    for (uint32_t i = s->candidate_count; i-- > first;) {
        const struct lint_candidate *c = &s->candidates[i];

        if (c->rule == rule && c->line == line && c->column == column)
            return true;
    }
    return false;
}

struct lint_candidate *lint_report(struct stet_flow_walk *w, unsigned rule, stet_python_ref at,
                                   uint8_t lanes, enum lint_mode mode, uint64_t deps,
                                   const char *fmt, ...)
{
    const struct stet_python_node *node = stet_python_at(w->ast, at);
    struct making *m = w->listener->context;
    struct lint_summary *s = m->out;
    struct lint_candidate *c;
    char text[400];
    va_list args;

    if (w->absent && lanes == FLOW_TRACED && mode == LINT_TENSOR &&
        (rule == LINT_RULE_value_branch || rule == LINT_RULE_host_sync ||
         rule == LINT_RULE_size_from_value))
        lanes &=
            (uint8_t)~(FLOW_JAX | FLOW_FLAX); /* tracing would fail: the step passes the argument */
    if ((w->quiet && lanes) ||
        is_reported_at(s, rule, node->row + 1, stet_python_column(w->ast, node->start)))
        return NULL;
    if (!stet_flow_room(w, &s->candidates, &m->room, s->candidate_count, sizeof *s->candidates))
        return NULL;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (w->step_loops && (lanes & FLOW_XLA) && (mode != LINT_TENSOR || (deps & FLOW_ALWAYS)))
        lanes = 0;
    c = &s->candidates[s->candidate_count++];
    *c = (struct lint_candidate){
        .rule = (uint16_t)rule,
        .lanes = lanes,
        .mode = (uint8_t)mode,
        .fn = w->fn,
        .guard = lanes ? w->guard : 0,
        .deps = deps,
        .asked = lanes ? w->given : 0,
        .line = node->row + 1,
        .column = stet_python_column(w->ast, node->start),
        .end_line = stet_python_row(w->ast, node->end) + 1,
        .end_column = stet_python_column(w->ast, node->end),
        .what = stet_arena_copy(&s->code.arena, stet_view_str(text)),
        .source = stet_arena_copy(&s->code.arena, source_line(w->ast, node->row))};
    count_line(m, c);
    return c;
}

struct lint_candidate *lint_reported_since(const struct stet_flow_walk *w, unsigned rule,
                                           stet_python_ref place)
{
    const struct making *m = w->listener->context;
    const struct lint_summary *s = m->out;
    uint32_t first = s->candidate_count > 64 ? s->candidate_count - 64 : 0;

    for (uint32_t i = s->candidate_count; i-- > first;)
        if (s->candidates[i].rule == rule)
            return s->candidates[i].line > stet_python_at(w->ast, place)->row ? &s->candidates[i]
                                                                              : NULL;
    return NULL;
}

bool lint_reported(const struct stet_flow_walk *w, unsigned rule, enum lint_mode mode,
                   uint64_t deps)
{
    const struct making *m = w->listener->context;
    const struct lint_summary *s = m->out;
    uint32_t first = s->candidate_count > 16 ? s->candidate_count - 16 : 0;

    for (uint32_t i = s->candidate_count; i-- > first;) {
        const struct lint_candidate *c = &s->candidates[i];

        if (c->rule == rule && c->mode == mode && c->deps == deps)
            return true;
    }
    return false;
}

/* One arena holds all of it, so that a summary is released in one piece. */
enum stet_rc lint_summary_make(struct lint_summary *out, const struct stet_python_module *module,
                               struct stet_err *err)
{
    struct making m = {.out = out};
    struct stet_flow_listener listener = {lint_rules, &m};
    enum stet_rc rc;

    *out = (struct lint_summary){0};
    lint_rules_prepare();
    rc = stet_flow_walk_file(&out->code, module, &listener, err);
    if (m.lines.failed)
        out->code.arena.failed = true;
    stet_map_release(&m.lines);
    if (rc != STET_OK) {
        stet_mem_free(out->candidates);
        return rc;
    }
    if (!lint_ignores_apply(out, &module->ast))
        out->code.arena.failed = true;
    out->candidates = stet_arena_adopt(&out->code.arena, out->candidates, out->candidate_count,
                                       sizeof *out->candidates);
    if (out->code.arena.failed) {
        lint_summary_release(out);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    return STET_OK;
}

void lint_summary_release(struct lint_summary *s)
{
    stet_flow_summary_release(&s->code);
    *s = (struct lint_summary){0};
}

static void put_candidate(struct stet_buf *out, const struct lint_candidate *c)
{
    stet_buf_varint(out, c->rule);
    stet_buf_varint(out, c->lanes);
    stet_buf_varint(out, c->mode);
    stet_buf_varint(out, c->minor);
    stet_buf_varint(out, c->fn);
    stet_buf_varint(out, c->guard);
    stet_buf_varint(out, c->deps);
    stet_buf_varint(out, c->asked);
    stet_buf_varint(out, c->line);
    stet_buf_varint(out, c->column);
    stet_buf_varint(out, c->end_line);
    stet_buf_varint(out, c->end_column);
    stet_buf_text(out, c->what);
    stet_buf_text(out, c->source);
    stet_buf_text(out, c->fix);
    stet_buf_varint(out, c->edit.text.ptr != NULL);
    if (c->edit.text.ptr) {
        stet_buf_varint(out, c->edit.start);
        stet_buf_varint(out, c->edit.end);
        stet_buf_text(out, c->edit.text);
    }
}

void lint_summary_write(const struct lint_summary *s, struct stet_buf *out)
{
    stet_flow_summary_write(&s->code, out);
    stet_buf_varint(out, s->ignored);
    stet_buf_varint(out, s->candidate_count);
    for (uint32_t i = 0; i < s->candidate_count; i++)
        put_candidate(out, &s->candidates[i]);
}

static void get_candidate(struct stet_reader *r, struct lint_candidate *c)
{
    c->rule = (uint16_t)stet_reader_small(r);
    c->lanes = (uint8_t)stet_reader_small(r);
    c->mode = (uint8_t)stet_reader_small(r);
    c->minor = (uint8_t)stet_reader_small(r);
    c->fn = stet_reader_small(r);
    c->guard = stet_reader_small(r);
    c->deps = stet_reader_varint(r);
    c->asked = stet_reader_varint(r);
    c->line = stet_reader_small(r);
    c->column = stet_reader_small(r);
    c->end_line = stet_reader_small(r);
    c->end_column = stet_reader_small(r);
    c->what = stet_reader_text(r);
    c->source = stet_reader_text(r);
    c->fix = stet_reader_text(r);
    if (stet_reader_small(r)) {
        c->edit.start = stet_reader_small(r);
        c->edit.end = stet_reader_small(r);
        c->edit.text = stet_reader_text(r);
        if (!c->edit.text.ptr)
            c->edit.text.ptr = "";
    }
}

enum stet_rc lint_summary_read(struct lint_summary *s, struct stet_view bytes, unsigned rules,
                               struct stet_err *err)
{
    struct stet_reader r;

    *s = (struct lint_summary){0};
    stet_reader_init(&r, bytes, 0);
    stet_flow_summary_read(&s->code, &r);
    s->ignored = stet_reader_varint(&r);
    s->candidate_count = stet_reader_count(&r);
    s->candidates = STET_NEW_ARRAY(&s->code.arena, struct lint_candidate, s->candidate_count + 1);
    for (uint32_t i = 0; s->candidates && i < s->candidate_count; i++) {
        get_candidate(&r, &s->candidates[i]);
        if (s->candidates[i].fn >= s->code.fn_count || s->candidates[i].rule >= rules ||
            s->candidates[i].guard > s->code.guard_count)
            stet_reader_fail(&r, "an index outside of its list");
    }
    if (!stet_reader_ok(&r) || s->code.arena.failed || stet_reader_left(&r)) {
        lint_summary_release(s);
        return stet_fail(err, STET_BAD_INPUT, "not a lint summary");
    }
    return STET_OK;
}
