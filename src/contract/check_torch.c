/* Checks torch.compile's lane: programs per frame, the warm-up, the limit, graph breaks. */
#include "contract/contract_run.h"

#include "base/mem.h"
#include "base/path.h"
#include "ingest/why.h"
#include "session/torch_code.h"
#include "session/torch_rows.h"

#include <inttypes.h>
#include <stdio.h>

/* The comments name the index of each array. Each array has as many elements as there are
 * frames. */
struct lane {
    struct stet_contract_check *k;
    const struct stet_contract *c;
    const struct stet_torch *t;
    struct stet_err *err;
    enum stet_rc rc;
    uint32_t *clause;   /* by frame: the contract's clause; STET_INTERN_NONE when it has none */
    uint32_t *code;     /* by frame: the number of its code in its process */
    uint64_t *programs; /* by code: compiled so far */
    uint64_t *warm;     /* by process: compiles before this one are warm-up */
};

enum { NAMES_MOST = 256 << 20 };

static const struct stet_clause_frame *clause_of(const struct lane *l, uint32_t frame)
{
    return l->clause[frame] == STET_INTERN_NONE ? NULL : &l->c->frames[l->clause[frame]];
}

/* Under TorchTPU a recompile appears in both lanes, and the other lane has more details. */
static bool is_told(const struct stet_contract_check *k, struct stet_view function)
{
    return stet_intern_find(&k->programs, function) != STET_INTERN_NONE;
}

static void say(struct lane *l, const struct stet_torch_frame *f, enum stet_clause clause,
                uint32_t line, const char *what, struct stet_violation v)
{
    if (l->rc != STET_OK || is_told(l->k, f->code.function))
        return;
    v.lane = STET_LANE_TORCH;
    v.clause = clause;
    v.line = line;
    v.family = f->code.function;
    v.rank = l->t->processes[f->process].rank;
    v.process = f->process;
    v.what = stet_view_str(what);
    if (!v.origin.line)
        v.origin = (struct stet_line){f->code.file, f->code.function, f->code.line};
    l->rc = stet_contract_check_add(l->k, &v, l->err);
}

/* Gives the reason for this compile as `stet explain` has it. */
static void say_compile(struct lane *l, uint32_t compile, enum stet_clause clause, uint32_t line,
                        const char *what)
{
    const struct stet_torch_compile *c = &l->t->compiles[compile];
    struct stet_buf fix = STET_BUF_INIT;
    struct stet_violation v = {.compile = c->number, .has_compile = true};
    struct stet_torch_why why;

    stet_torch_explain(l->t, compile, &why);
    stet_torch_fix(l->t, &why, &fix);
    if (why.cause != STET_CAUSE_FIRST) { /* a first compile needs no explanation */
        v.cause = why.cause;
        v.fix = stet_buf_as_view(&fix);
    }
    v.origin = (struct stet_line){why.origin.file, why.origin.function, why.origin.line};
    v.trigger = (struct stet_line){c->call.file, c->call.function, c->call.line};
    say(l, &l->t->frames[c->frame], clause, line, what, v);
    stet_buf_release(&fix);
}

static void check_one(struct lane *l, uint32_t compile)
{
    const struct stet_torch_compile *c = &l->t->compiles[compile];
    const struct stet_torch_frame *f = &l->t->frames[c->frame];
    const struct stet_clause_frame *frame = clause_of(l, c->frame);
    uint64_t programs = l->programs[l->code[c->frame]] += !c->limit;
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
        /* The code behind a graph break is a consequence of the break. */
        if (l->c->frame_count && !stet_view_starts(f->code.function, "torch_dynamo_resume_in_"))
            say_compile(l, compile, STET_CLAUSE_FRAME, 0, what);
    } else if (frame->programs != STET_NO_BUDGET && programs > frame->programs) {
        snprintf(what, sizeof what, "another program of this frame: the contract allows %" PRIu64,
                 frame->programs);
        say_compile(l, compile, STET_CLAUSE_PROGRAMS, frame->line, what);
    } else if (l->c->no_late && c->number && compile > l->warm[f->process]) {
        say_compile(l, compile, STET_CLAUSE_SETTLED, l->c->torch_line,
                    "recompiled after every frame had been compiled once");
    }
}

static void check_breaks(struct lane *l)
{
    uint64_t *seen = stet_mem_calloc(l->t->break_count + 1, sizeof *seen);
    struct stet_intern budgets; /* a frame of the contract, in a process */

    stet_intern_init(&budgets, NAMES_MOST);
    for (size_t i = 0; seen && i < l->t->break_count; i++) {
        const struct stet_torch_break *b = &l->t->breaks[i];
        const struct stet_clause_frame *frame =
            b->frame < l->t->frame_count ? clause_of(l, b->frame) : NULL;
        struct stet_violation v = {.cause = STET_CAUSE_GRAPH_BREAK, .fix = b->hint};
        struct stet_code key = {.process = b->process};
        char what[320];
        uint32_t budget;

        if (!frame || frame->breaks == STET_NO_BUDGET)
            continue;
        key.function = stet_view_of((const char *)&l->clause[b->frame], sizeof *l->clause);
        budget = stet_session_code_add(&budgets, key);
        if (budget == STET_INTERN_NONE || seen[budget]++ < frame->breaks)
            continue;
        snprintf(what, sizeof what, "graph break: %.*s; the contract allows %" PRIu64,
                 STET_FMT(b->reason), frame->breaks);
        v.origin = (struct stet_line){b->place.file, b->place.function, b->place.line};
        say(l, &l->t->frames[b->frame], STET_CLAUSE_BREAKS, frame->line, what, v);
    }
    if (!seen || budgets.failed)
        l->rc = stet_fail(l->err, STET_NO_MEMORY, "out of memory for graph breaks");
    stet_intern_release(&budgets);
    stet_mem_free(seen);
}

/* ---- matching frames ---- */

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Finds the first clause with the function and the file, or with the function alone. */
static bool find_clauses(struct lane *l)
{
    uint32_t *first = stet_mem_calloc(l->c->frame_count + 1, sizeof *first);
    struct stet_intern codes;
    bool fine = first != NULL;

    stet_intern_init(&codes, NAMES_MOST);
    for (uint32_t i = l->c->frame_count; fine && i-- > 0;) {
        const struct stet_clause_frame *c = &l->c->frames[i];
        uint32_t n = stet_session_code_add(&codes, (struct stet_code){0, c->function, c->file});

        fine = n != STET_INTERN_NONE;
        if (fine)
            first[n] = i;
    }
    for (size_t i = 0; fine && i < l->t->frame_count; i++) {
        const struct stet_torch_frame *f = &l->t->frames[i];
        struct stet_code code = {0, stet_contract_frame(f->code.function),
                                 stet_path_base(f->code.file)};
        uint32_t with = stet_session_code_find(&codes, code), without;

        code.file = (struct stet_view){0};
        without = stet_session_code_find(&codes, code);
        l->clause[i] = smaller(with == STET_INTERN_NONE ? STET_INTERN_NONE : first[with],
                               without == STET_INTERN_NONE ? STET_INTERN_NONE : first[without]);
        fine = !codes.failed;
    }
    stet_intern_release(&codes);
    stet_mem_free(first);
    return fine;
}

static bool number_codes(struct lane *l)
{
    struct stet_intern codes;
    bool fine;

    stet_intern_init(&codes, NAMES_MOST);
    for (size_t i = 0; i < l->t->frame_count; i++) {
        const struct stet_torch_frame *f = &l->t->frames[i];

        l->code[i] = stet_session_code_add(
            &codes, (struct stet_code){f->process, stet_contract_frame(f->code.function),
                                       stet_path_base(f->code.file)});
    }
    fine = !codes.failed;
    stet_intern_release(&codes);
    return fine;
}

/* Finds the last first compile of a frame of the contract, in each process. */
static void find_warm_up(struct lane *l)
{
    for (size_t i = 0; i < l->t->compile_count; i++) {
        uint32_t frame = l->t->compiles[i].frame;

        if (!l->t->compiles[i].number && clause_of(l, frame))
            l->warm[l->t->frames[frame].process] = i;
    }
}

static bool make_lane(struct lane *l)
{
    l->clause = stet_mem_calloc(l->t->frame_count + 1, sizeof *l->clause);
    l->code = stet_mem_calloc(l->t->frame_count + 1, sizeof *l->code);
    l->programs = stet_mem_calloc(l->t->frame_count + 1, sizeof *l->programs);
    l->warm = stet_mem_calloc(l->t->process_count + 1, sizeof *l->warm);
    if (!l->clause || !l->code || !l->programs || !l->warm || !find_clauses(l) || !number_codes(l))
        return false;
    find_warm_up(l);
    return true;
}

static void release_lane(struct lane *l)
{
    stet_mem_free(l->clause);
    stet_mem_free(l->code);
    stet_mem_free(l->programs);
    stet_mem_free(l->warm);
}

enum stet_rc stet_contract_check_torch(struct stet_contract_check *k, const struct stet_contract *c,
                                       const struct stet_torch *t, struct stet_err *err)
{
    struct lane l = {.k = k, .c = c, .t = t, .err = err};

    if (!make_lane(&l))
        l.rc = stet_fail(err, STET_NO_MEMORY, "out of memory for the frames");
    for (uint32_t i = 0; i < t->compile_count && l.rc == STET_OK; i++)
        check_one(&l, i);
    if (l.rc == STET_OK)
        check_breaks(&l);
    release_lane(&l);
    return l.rc;
}
