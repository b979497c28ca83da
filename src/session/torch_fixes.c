/* Prints the fixes: environment variables first, because they need no edit. */
#include "session/torch_lane.h"

#include "base/human.h"
#include "ingest/torch_plan.h"

#include <inttypes.h>

static const enum stet_torch_knob knobs[] = {STET_KNOB_DYNAMIC, STET_KNOB_UNBACKED, STET_KNOB_PGO,
                                             STET_KNOB_SCALARS, STET_KNOB_SHAPES};
enum { KNOBS = sizeof knobs / sizeof *knobs };

/* One edit for one cause: compiles with the same class, line and changed thing share it. */
struct edit {
    struct stet_torch_why why;
    uint32_t compiles;
    uint64_t cost_us;
};

enum { EDITS = 256 };

static bool same_edit(const struct stet_torch_why *a, const struct stet_torch_why *b)
{
    return a->cause == b->cause && a->origin.line == b->origin.line &&
           stet_view_eq(a->origin.file, b->origin.file) && stet_view_eq(a->what, b->what) &&
           a->dim == b->dim;
}

static void add_edit(struct edit *edits, size_t *count, const struct stet_torch_why *why,
                     uint64_t cost)
{
    size_t i = 0;

    while (i < *count && !same_edit(&edits[i].why, why))
        i++;
    if (i == EDITS)
        return;
    if (i == *count) {
        edits[i] = (struct edit){.why = *why};
        (*count)++;
    }
    edits[i].compiles++;
    edits[i].cost_us += cost;
}

static size_t gather(const struct stet_torch *t, struct edit *edits)
{
    struct stet_torch_why why;
    size_t count = 0;

    for (uint32_t i = 0; i < t->compile_count; i++) {
        stet_torch_explain(t, i, &why);
        if (why.has_guard || why.cause == STET_CAUSE_MARK_DYNAMIC_VIOLATION)
            add_edit(edits, &count, &why, stet_session_torch_cost(&t->compiles[i]));
    }
    for (uint32_t i = 0; i < t->break_count; i++) {
        stet_torch_explain_break(t, i, &why);
        add_edit(edits, &count, &why, 0);
    }
    for (size_t i = 1; i < count; i++) { /* most expensive first; the list is short */
        struct edit e = edits[i];
        size_t k = i;

        for (; k > 0 && edits[k - 1].cost_us < e.cost_us; k--)
            edits[k] = edits[k - 1];
        edits[k] = e;
    }
    return count;
}

/* A place where a deliberate graph break would reduce recompiles: before the first line of a frame
 * that a failing guard reads. Everything above is then compiled once. */
struct split {
    struct stet_torch_place at; /* line 0: nothing to gain */
    uint32_t compiles;
    uint64_t cost_us;
};

static struct split split_of(const struct stet_torch *t, const struct stet_torch_frame *f)
{
    struct split s = {0};

    for (uint32_t c = f->first; c != STET_TORCH_NONE; c = t->compiles[c].next) {
        struct stet_torch_why why;

        if (t->compiles[c].failures == STET_TORCH_NONE || t->compiles[c].limit)
            continue;
        stet_torch_explain(t, c, &why);
        if (why.guard.kind != STET_GUARD_EQUALS || !why.guard.line ||
            !stet_view_eq(why.origin.file, f->code.file))
            continue;
        if (!s.at.line || why.origin.line < s.at.line)
            s.at = why.origin;
        s.compiles++;
        s.cost_us += stet_session_torch_cost(&t->compiles[c]);
    }
    /* On the first lines of a frame there is nothing above to save. */
    if (s.compiles < 2 || s.at.line < f->code.line + 3)
        s.at.line = 0;
    return s;
}

static void splits_text(const struct stet_torch *t, struct stet_buf *out)
{
    for (size_t i = 0; i < t->frame_count; i++) {
        struct split s = split_of(t, &t->frames[i]);

        if (!s.at.line)
            continue;
        stet_session_torch_text_place(&s.at, out);
        stet_buf_printf(out, "  or split %.*s here, %u compiles, ",
                        STET_FMT(stet_text_function(t->frames[i].code.function)), s.compiles);
        stet_text_duration(out, s.cost_us * 1000);
        stet_buf_str(out, "\n    torch._dynamo.graph_break() before this line: what is above it "
                          "is compiled once\n");
    }
}

static void splits_json(const struct stet_torch *t, struct stet_json *j)
{
    stet_json_array(j, "splits");
    for (size_t i = 0; i < t->frame_count; i++) {
        struct split s = split_of(t, &t->frames[i]);

        if (!s.at.line)
            continue;
        stet_json_object(j, NULL);
        stet_session_torch_json_place(j, "before", &s.at);
        stet_json_uint(j, "compiles", s.compiles);
        stet_json_number(j, "cost_s", (double)s.cost_us / 1e6);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

void stet_session_torch_fixes_text(const struct stet_torch *t, struct stet_buf *out)
{
    static struct edit edits[EDITS];
    struct stet_torch_plan plan;
    size_t count = gather(t, edits);

    stet_torch_plan((struct stet_torch *)(uintptr_t)t, &plan);
    if (plan.count)
        stet_buf_str(out,
                     "# without an edit (`stet run --torch-fix` sets these and counts again)\n");
    for (size_t i = 0; i < KNOBS; i++) {
        struct stet_buf line = STET_BUF_INIT;

        if (stet_torch_plan_line(&plan, knobs[i], "stet", &line))
            stet_buf_printf(out, "export %.*s\"%s\"\n", (int)(strchr(line.ptr, '=') - line.ptr) + 1,
                            line.ptr, strchr(line.ptr, '=') + 1);
        stet_buf_release(&line);
    }
    for (size_t i = 0; i < plan.count; i++) {
        const struct stet_torch_setting *s = &plan.items[i];

        if (s->collides)
            stet_buf_printf(
                out,
                "# %.*s is an input of another function too, which would become dynamic with it\n",
                STET_FMT(s->source));
    }
    if (count)
        stet_buf_str(out, plan.count ? "\n# as edits\n" : "# as edits\n");
    for (size_t i = 0; i < count; i++) {
        stet_session_torch_text_place(&edits[i].why.origin, out);
        stet_buf_printf(out, "  %s", stet_cause_id(edits[i].why.cause));
        if (edits[i].cost_us) {
            stet_buf_printf(out, ", %u compile%s, ", edits[i].compiles,
                            edits[i].compiles == 1 ? "" : "s");
            stet_text_duration(out, edits[i].cost_us * 1000);
        }
        stet_buf_str(out, "\n    ");
        stet_torch_fix(t, &edits[i].why, out);
        stet_buf_char(out, '\n');
    }
    splits_text(t, out);
    if (!count)
        stet_buf_str(out, "nothing to fix\n");
}

static void plan_json(struct stet_torch *t, struct stet_json *j)
{
    struct stet_torch_plan plan;

    stet_torch_plan(t, &plan);
    stet_json_array(j, "environment");
    for (size_t i = 0; i < KNOBS; i++) {
        struct stet_buf line = STET_BUF_INIT;

        if (stet_torch_plan_line(&plan, knobs[i], "stet", &line)) {
            stet_json_object(j, NULL);
            stet_json_cstr(j, "name", stet_torch_knob_name(knobs[i]));
            stet_json_cstr(j, "value", strchr(line.ptr, '=') + 1);
            stet_json_end_object(j);
        }
        stet_buf_release(&line);
    }
    stet_json_end_array(j);
    stet_json_array(j, "sources");
    for (size_t i = 0; i < plan.count; i++) {
        const struct stet_torch_setting *s = &plan.items[i];

        stet_json_object(j, NULL);
        stet_json_cstr(j, "name", stet_torch_knob_name(s->knob));
        stet_json_string(j, "source", s->source);
        stet_json_uint(j, "compiles", s->compiles);
        stet_json_number(j, "cost_s", (double)s->cost_us / 1e6);
        stet_json_bool(j, "collides", s->collides);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

void stet_session_torch_fixes_json(const struct stet_torch *t, struct stet_json *j)
{
    static struct edit edits[EDITS];
    size_t count = gather(t, edits);

    plan_json((struct stet_torch *)(uintptr_t)t, j);
    stet_json_array(j, "edits");
    for (size_t i = 0; i < count; i++) {
        struct stet_buf fix = STET_BUF_INIT;

        stet_torch_fix(t, &edits[i].why, &fix);
        stet_json_object(j, NULL);
        stet_json_cstr(j, "class", stet_cause_id(edits[i].why.cause));
        stet_session_torch_json_place(j, "at", &edits[i].why.origin);
        stet_json_uint(j, "compiles", edits[i].compiles);
        stet_json_number(j, "cost_s", (double)edits[i].cost_us / 1e6);
        stet_json_string(j, "fix", stet_buf_as_view(&fix));
        stet_json_end_object(j);
        stet_buf_release(&fix);
    }
    stet_json_end_array(j);
    splits_json(t, j);
}
