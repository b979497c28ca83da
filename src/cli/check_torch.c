/* torch.compile's lane: programs a frame, the warm-up, the limit, graph breaks. */
#include "cli/contract.h"

#include "cli/torch_rows.h"
#include "ingest/why.h"

#include <inttypes.h>
#include <stdio.h>

struct lane {
    struct stet_check *k;
    const struct stet_contract *c;
    const struct stet_torch *t;
    struct stet_err *err;
    enum stet_rc rc;
    uint64_t warm; /* compiles of the process before this one are warm-up */
};

static const struct stet_clause_frame *frame_of(const struct stet_contract *c,
                                                const struct stet_torch_frame *f)
{
    struct stet_view function = stet_contract_frame(f->code.function);
    struct stet_view file = stet_contract_base(f->code.file);

    for (uint32_t i = 0; i < c->frame_count; i++)
        if (stet_view_eq(c->frames[i].function, function) &&
            (!c->frames[i].file.len || stet_view_eq(c->frames[i].file, file)))
            return &c->frames[i];
    return NULL;
}

/* Under TorchTPU a recompile shows in both lanes; the other one knows more. */
static bool is_told(const struct stet_check *k, struct stet_view function)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (stet_view_is(k->items[i].lane, "xla") && stet_view_eq(k->items[i].family, function))
            return true;
    return false;
}

static void say(struct lane *l, const struct stet_torch_frame *f, enum stet_clause clause,
                uint32_t line, const char *what, struct stet_violation v)
{
    if (l->rc != STET_OK || is_told(l->k, f->code.function))
        return;
    v.lane = STET_VIEW("torch");
    v.clause = clause;
    v.line = line;
    v.family = f->code.function;
    v.rank = l->t->processes[f->process].rank;
    v.process = f->process;
    v.what = stet_view_str(what);
    if (!v.origin.line)
        v.origin = (struct stet_line){f->code.file, f->code.function, f->code.line};
    l->rc = stet_check_add(l->k, &v, l->err);
}

/* Why this compile happened, as `stet explain` says it. */
static void say_compile(struct lane *l, uint32_t compile, enum stet_clause clause, uint32_t line,
                        const char *what)
{
    const struct stet_torch_compile *c = &l->t->compiles[compile];
    struct stet_buf fix = STET_BUF_INIT;
    struct stet_violation v = {.compile = c->number, .has_compile = true};
    struct stet_torch_why why;

    stet_torch_explain(l->t, compile, &why);
    stet_torch_fix(l->t, &why, &fix);
    if (strcmp(why.class, "first") != 0) { /* of a first compile there is nothing to explain */
        v.class = stet_view_str(why.class);
        v.fix = stet_buf_as_view(&fix);
    }
    v.origin = (struct stet_line){why.origin.file, why.origin.function, why.origin.line};
    v.trigger = (struct stet_line){c->call.file, c->call.function, c->call.line};
    say(l, &l->t->frames[c->frame], clause, line, what, v);
    stet_buf_release(&fix);
}

/* Compiles of the same code in the same process up to this one. */
static uint64_t number_of(const struct stet_torch *t, uint32_t compile)
{
    const struct stet_torch_frame *f = &t->frames[t->compiles[compile].frame];
    uint64_t n = 0;

    for (uint32_t i = 0; i <= compile; i++) {
        const struct stet_torch_frame *g = &t->frames[t->compiles[i].frame];

        n += g->process == f->process && !t->compiles[i].limit &&
             stet_view_eq(stet_contract_frame(g->code.function),
                          stet_contract_frame(f->code.function)) &&
             stet_view_eq(g->code.file, f->code.file);
    }
    return n;
}

static void check_one(struct lane *l, uint32_t compile)
{
    const struct stet_torch_compile *c = &l->t->compiles[compile];
    const struct stet_torch_frame *f = &l->t->frames[c->frame];
    const struct stet_clause_frame *frame = frame_of(l->c, f);
    char what[320];

    if (!f->code.function.len)
        return;
    l->k->compiles++;
    if (c->limit) {
        snprintf(what, sizeof what, "%.*s (%" PRIu64 ") was reached: it runs eagerly from here on",
                 STET_FMT(f->limit), f->limit_value);
        if (l->c->no_limit)
            say_compile(l, compile, STET_CLAUSE_LIMIT, l->c->torch_line, what);
    } else if (c->fail_type.len && l->c->no_failure) {
        snprintf(what, sizeof what, "frame %.*s could not be compiled: %.*s",
                 STET_FMT(stet_contract_frame(f->code.function)), STET_FMT(c->fail_type));
        say_compile(l, compile, STET_CLAUSE_FAILURE, l->c->torch_line, what);
    } else if (!frame) {
        snprintf(what, sizeof what, "frame %.*s is not in the contract",
                 STET_FMT(stet_contract_frame(f->code.function)));
        /* What goes on after a graph break follows from the break. */
        if (l->c->frame_count && !stet_view_starts(f->code.function, "torch_dynamo_resume_in_"))
            say_compile(l, compile, STET_CLAUSE_FRAME, 0, what);
    } else if (frame->programs != STET_NO_BUDGET && number_of(l->t, compile) > frame->programs) {
        snprintf(what, sizeof what, "another program of this frame: the contract allows %" PRIu64,
                 frame->programs);
        say_compile(l, compile, STET_CLAUSE_PROGRAMS, frame->line, what);
    } else if (l->c->no_late && c->number && compile > l->warm) {
        say_compile(l, compile, STET_CLAUSE_SETTLED, l->c->torch_line,
                    "recompiled after every frame had been compiled once");
    }
}

static void check_breaks(struct lane *l)
{
    for (size_t i = 0; i < l->t->break_count; i++) {
        const struct stet_torch_break *b = &l->t->breaks[i];
        const struct stet_torch_frame *f =
            b->frame < l->t->frame_count ? &l->t->frames[b->frame] : NULL;
        const struct stet_clause_frame *frame = f ? frame_of(l->c, f) : NULL;
        struct stet_violation v = {.class = STET_VIEW("graph-break"), .fix = b->hint};
        uint64_t before = 0;
        char what[320];

        if (!frame || frame->breaks == STET_NO_BUDGET)
            continue;
        for (size_t k = 0; k < i; k++)
            before += l->t->breaks[k].frame < l->t->frame_count &&
                      l->t->breaks[k].process == b->process &&
                      frame_of(l->c, &l->t->frames[l->t->breaks[k].frame]) == frame;
        if (before < frame->breaks)
            continue;
        snprintf(what, sizeof what, "graph break: %.*s; the contract allows %" PRIu64,
                 STET_FMT(b->reason), frame->breaks);
        v.origin = (struct stet_line){b->place.file, b->place.function, b->place.line};
        say(l, f, STET_CLAUSE_BREAKS, frame->line, what, v);
    }
}

/* The last first compile of a frame that the contract knows. */
static uint64_t warm_up(const struct stet_contract *c, const struct stet_torch *t, uint32_t process)
{
    uint64_t last = 0;

    for (size_t i = 0; i < t->compile_count; i++) {
        const struct stet_torch_frame *f = &t->frames[t->compiles[i].frame];

        if (f->process == process && !t->compiles[i].number && frame_of(c, f))
            last = i;
    }
    return last;
}

enum stet_rc stet_check_torch(struct stet_check *k, const struct stet_contract *c,
                              const struct stet_torch *t, struct stet_err *err)
{
    struct lane l = {.k = k, .c = c, .t = t, .err = err};
    uint32_t process = UINT32_MAX;

    for (uint32_t i = 0; i < t->compile_count && l.rc == STET_OK; i++) {
        uint32_t own = t->frames[t->compiles[i].frame].process;

        if (own != process)
            l.warm = warm_up(c, t, process = own);
        check_one(&l, i);
    }
    check_breaks(&l);
    return l.rc;
}
