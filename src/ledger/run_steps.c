/* See run_steps.h; steps.h defines a step. */
#include "ledger/run_steps.h"

#include "base/mem.h"
#include "base/vec.h"
#include "journal/execs.h"
#include "ledger/events.h"
#include "ledger/steps.h"

/* A Python stack, outermost frame first; files and functions by hash. */
struct frame {
    struct stet_hash place;
    uint64_t line;
};

struct stack {
    struct stet_hash hash;
    const struct frame *frames;
    size_t count;
};

/* The stack that waited for a compile or load. */
struct waited {
    uint64_t index;
    bool load;
    size_t stack;
};

enum { CLOSING_MAX = 8 };

/* The state of one process on the way through the journals. */
struct walk {
    struct stet_hash uid;
    struct stet_process_digest *process;
    struct stet_steps *steps;
    uint64_t executions, marked; /* marked: the last step with a mark */
    size_t next;                 /* the compile that is probably looked up next */
    struct stack *stacks;
    size_t stack_count, stack_room;
    struct waited *waited;
    size_t waited_count, waited_room, waited_next; /* next: probably looked up next */
    const struct stack *closing[CLOSING_MAX];      /* stacks that waited for closing programs */
    size_t closing_count;
};

/* `route` maps an event source to its process: sources are numbered again in each pass, and a run
 * may gain processes meanwhile. */
struct walks {
    struct walk *items;
    size_t count;
    size_t *route; /* walk + 1, by source */
    size_t route_count;
    struct stet_exec *batch;
};

static bool add_walk(struct stet_run_digest *d, struct walks *all, struct stet_hash uid)
{
    struct walk *w = stet_mem_resize(all->items, all->count + 1, sizeof *w);

    if (!w)
        return false;
    all->items = w;
    w += all->count++;
    *w = (struct walk){.uid = uid, .steps = stet_ledger_steps_new()};
    for (size_t i = 0; i < d->process_count; i++)
        if (stet_hash_eq(d->processes[i].uid, uid))
            w->process = &d->processes[i];
    if (w->process)
        w->process->mark_every = 1;
    return true;
}

static bool set_route(struct walks *all, size_t source, struct stet_hash uid)
{
    size_t *more;

    if (source >= all->route_count) {
        more = stet_mem_resize(all->route, source + 1, sizeof *more);
        if (!more)
            return false;
        memset(more + all->route_count, 0, (source + 1 - all->route_count) * sizeof *more);
        all->route = more;
        all->route_count = source + 1;
    }
    for (size_t i = 0; i < all->count; i++)
        if (stet_hash_eq(all->items[i].uid, uid))
            all->route[source] = i + 1;
    return true;
}

static void keep_stack(struct stet_arena *arena, struct walk *w, const struct stet_rec_stack *r)
{
    struct frame *frames = STET_NEW_ARRAY(arena, struct frame, r->frames.count);

    if (!frames || !stet_vec_room(&w->stacks, &w->stack_room, w->stack_count, sizeof *w->stacks))
        return;
    for (size_t i = 0; i < r->frames.count; i++) {
        const struct stet_frame *f = &r->frames.items[r->frames.count - 1 - i];

        frames[i].place = stet_hash_mix(stet_hash_bytes(f->file), stet_hash_bytes(f->function));
        frames[i].line = f->line;
    }
    w->stacks[w->stack_count++] = (struct stack){r->stack, frames, r->frames.count};
}

static void keep_waited(struct walk *w, const struct stet_rec_compile_stack *r)
{
    if (!r->waits ||
        !stet_vec_room(&w->waited, &w->waited_room, w->waited_count, sizeof *w->waited))
        return;
    for (size_t i = w->stack_count; i-- > 0;) { /* usually the last one */
        if (!stet_hash_eq(w->stacks[i].hash, r->stack))
            continue;
        w->waited[w->waited_count++] = (struct waited){r->index, r->load != 0, i};
        return;
    }
}

static const struct stack *stack_of(struct walk *w, uint64_t index, bool load)
{
    for (size_t i = 0; i < w->waited_count; i++) {
        size_t at = (w->waited_next + i) % w->waited_count;

        if (w->waited[at].index != index || w->waited[at].load != load)
            continue;
        w->waited_next = (at + 1) % w->waited_count;
        return &w->stacks[w->waited[at].stack];
    }
    return NULL;
}

/* Where two stacks diverge in one function, compares their lines: > 0 if `a` is later, < 0 if `b`
 * is, 0 if they do not diverge that way. */
static int later(const struct stack *a, const struct stack *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        if (!stet_hash_eq(a->frames[i].place, b->frames[i].place))
            return 0;
        if (a->frames[i].line != b->frames[i].line)
            return a->frames[i].line > b->frames[i].line ? 1 : -1;
    }
    return 0;
}

static void gather(struct stet_arena *arena, struct walk *w, const struct stet_journal_event *e)
{
    const union stet_record *r = e->record;

    switch (e->kind) {
    case STET_REC_compile_end:
        if (r->compile_end.executable)
            stet_ledger_steps_executable(w->steps, r->compile_end.executable, r->compile_end.name,
                                         (struct stet_hash){0});
        break;
    case STET_REC_deserialize:
        if (r->deserialize.executable)
            stet_ledger_steps_executable(w->steps, r->deserialize.executable, r->deserialize.name,
                                         (struct stet_hash){0});
        break;
    case STET_REC_flow:
        stet_ledger_steps_flow(w->steps, &r->flow);
        break;
    case STET_REC_stack:
        keep_stack(arena, w, &r->stack);
        break;
    case STET_REC_compile_stack:
        keep_waited(w, &r->compile_stack);
        break;
    default:
        break;
    }
}

/* A mark every so many steps, doubled when the list is full, so that a loop of any length fits. */
static void mark(struct stet_arena *arena, struct walk *w, uint64_t mono_ns)
{
    struct stet_process_digest *p = w->process;
    uint64_t step = stet_ledger_steps_now(w->steps).completed;

    if (p && step && !p->first_step_ns)
        p->first_step_ns = mono_ns;
    if (!p || step <= w->marked || step % p->mark_every)
        return;
    w->marked = step;
    if (!p->marks)
        p->marks = STET_NEW_ARRAY(arena, struct stet_step_mark, STET_STEP_MARKS);
    if (!p->marks)
        return;
    if (p->mark_count == STET_STEP_MARKS) {
        p->mark_count /= 2;
        p->mark_every *= 2;
        for (size_t i = 0; i < p->mark_count; i++)
            p->marks[i] = p->marks[2 * i + 1];
        if (step % p->mark_every)
            return;
    }
    p->marks[p->mark_count++] = (struct stet_step_mark){step, mono_ns + p->wall_minus_mono};
}

static void count_batch(struct stet_arena *arena, struct walks *all, struct walk *w,
                        const struct stet_rec_execs *r)
{
    if (r->before != w->executions ||
        stet_journal_execs_decode(r, all->batch, STET_EXECS_MAX, NULL) != STET_OK) {
        stet_ledger_steps_gap(w->steps);
        return;
    }
    for (uint64_t i = 0; i < r->count; i++) {
        /* NOLINTNEXTLINE: a call always has a batch */
        stet_ledger_steps_add(w->steps, all->batch[i].executable);
        mark(arena, w, all->batch[i].time_ns);
    }
    w->executions += r->count;
}

/* A program of the loop itself runs before the step it belongs to is closed. Another one may run
 * after that, still in the same iteration: then its line comes after that of a closing program in
 * the function that contains the loop. 0: as counted; 1: one less; -1: unknown. */
static int too_many(struct walk *w, const struct stet_compile_event *c, uint64_t completed)
{
    const struct stack *mine;
    int after = 0;

    if (completed == 0 || stet_ledger_steps_role(w->steps, c->executable) != STET_STEPS_OUTSIDE)
        return 0;
    mine = stack_of(w, c->index, c->load);
    for (size_t i = 0; mine && i < w->closing_count && !after; i++)
        after = later(mine, w->closing[i]);
    return after > 0 ? 1 : after < 0 ? 0 : -1;
}

static void decide(struct walk *w)
{
    stet_ledger_steps_decide(w->steps);
    for (size_t i = 0; w->process && i < w->process->compile_count; i++) {
        const struct stet_compile_event *c = &w->process->compiles[i];
        const struct stack *stack = NULL;

        if (stet_ledger_steps_role(w->steps, c->executable) == STET_STEPS_CLOSES)
            stack = stack_of(w, c->index, c->load);
        if (stack && w->closing_count < CLOSING_MAX)
            w->closing[w->closing_count++] = stack;
    }
}

static void place(struct walk *w, uint64_t index, bool load)
{
    struct stet_steps_answer now = stet_ledger_steps_now(w->steps);
    size_t n = w->process ? w->process->compile_count : 0;

    for (size_t i = 0; i < n; i++) {
        struct stet_compile_event *c = &w->process->compiles[(w->next + i) % n];
        int less;

        if (c->index != index || c->load != load)
            continue;
        less = now.known ? too_many(w, c, now.completed) : -1;
        c->step_known = less >= 0;
        c->step = c->step_known ? now.completed - (uint64_t)less : 0;
        w->next = (w->next + i + 1) % n;
        return;
    }
}

static void count(struct stet_arena *arena, struct walks *all, struct walk *w,
                  const struct stet_journal_event *e)
{
    const union stet_record *r = e->record;

    switch (e->kind) {
    case STET_REC_execs:
        count_batch(arena, all, w, &r->execs);
        break;
    case STET_REC_compile_begin:
        place(w, r->compile_begin.index, false);
        break;
    case STET_REC_deserialize:
        place(w, r->deserialize.index, true);
        break;
    case STET_REC_loss:
        if (r->loss.executions)
            stet_ledger_steps_gap(w->steps);
        break;
    default:
        break;
    }
}

static bool take(struct stet_run_digest *d, struct walks *all, const struct stet_run_event *e,
                 bool counting)
{
    const struct stet_rec_segment *segment = e->event.record;
    struct walk *w;

    if (e->event.kind == STET_REC_segment) {
        if (!set_route(all, e->process, segment->uid))
            return false;
        if (all->route[e->process] || counting)
            return true;
        return add_walk(d, all, segment->uid) && set_route(all, e->process, segment->uid);
    }
    if (e->process >= all->route_count || !all->route[e->process])
        return true;
    w = &all->items[all->route[e->process] - 1];
    if (counting)
        count(&d->arena, all, w, &e->event);
    else
        gather(&d->arena, w, &e->event);
    return true;
}

static enum stet_rc pass(struct stet_run_digest *d, struct walks *all, const char *folder,
                         bool counting, struct stet_err *err)
{
    struct stet_events events;
    struct stet_run_event e;
    enum stet_rc rc = stet_ledger_events_open(&events, folder, err);

    if (rc != STET_OK)
        return rc;
    stet_mem_free(all->route);
    all->route = NULL;
    all->route_count = 0;
    while (rc == STET_OK && stet_ledger_events_next(&events, &e) == STET_OK)
        if (!take(d, all, &e, counting))
            rc = stet_fail(err, STET_NO_MEMORY, "%s: out of memory", folder);
    stet_ledger_events_close(&events);
    return rc;
}

enum stet_rc stet_ledger_run_steps(struct stet_run_digest *d, const char *folder,
                                   struct stet_err *err)
{
    struct walks all = {.batch = stet_mem_calloc(STET_EXECS_MAX, sizeof *all.batch)};
    enum stet_rc rc = all.batch ? pass(d, &all, folder, false, err)
                                : stet_fail(err, STET_NO_MEMORY, "%s: out of memory", folder);

    for (size_t i = 0; i < all.count; i++)
        decide(&all.items[i]);
    if (rc == STET_OK)
        rc = pass(d, &all, folder, true, err);
    for (size_t i = 0; i < all.count; i++) {
        struct stet_steps_answer now = stet_ledger_steps_now(all.items[i].steps);

        if (all.items[i].process) {
            all.items[i].process->steps_known = now.known;
            all.items[i].process->steps = now.completed;
            all.items[i].process->steps_why = now.why;
        }
        stet_ledger_steps_free(all.items[i].steps);
        stet_mem_free(all.items[i].stacks);
        stet_mem_free(all.items[i].waited);
    }
    stet_mem_free(all.items);
    stet_mem_free(all.route);
    stet_mem_free(all.batch);
    return rc;
}
