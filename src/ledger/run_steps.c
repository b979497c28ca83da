/* See run_steps.h; steps.h says what a step is. */
#include "ledger/run_steps.h"

#include "base/mem.h"
#include "journal/execs.h"
#include "ledger/events.h"
#include "ledger/steps.h"

/* One process on its way through the journals. */
struct walk {
    struct stet_hash uid;
    struct stet_process_digest *process;
    struct stet_steps *steps;
    uint64_t executions;
    size_t next; /* compile that is probably asked for next */
};

/* `route` says whose events those of an event source are: sources are numbered anew in each pass,
 * and a run may gain processes meanwhile. */
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
    *w = (struct walk){.uid = uid, .steps = stet_steps_new()};
    for (size_t i = 0; i < d->process_count; i++)
        if (stet_hash_eq(d->processes[i].uid, uid))
            w->process = &d->processes[i];
    return true;
}

static bool set_route(struct walks *all, size_t source, struct stet_hash uid)
{
    size_t *more = all->route;

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

static void gather(struct walk *w, const struct stet_journal_event *e)
{
    const union stet_record *r = e->record;

    switch (e->kind) {
    case STET_REC_compile_end:
        if (r->compile_end.executable)
            stet_steps_executable(w->steps, r->compile_end.executable, r->compile_end.name,
                                  (struct stet_hash){0});
        break;
    case STET_REC_deserialize:
        if (r->deserialize.executable)
            stet_steps_executable(w->steps, r->deserialize.executable, r->deserialize.name,
                                  (struct stet_hash){0});
        break;
    case STET_REC_flow:
        stet_steps_flow(w->steps, &r->flow);
        break;
    default:
        break;
    }
}

static void count_batch(struct walks *all, struct walk *w, const struct stet_rec_execs *r)
{
    if (r->before != w->executions ||
        stet_execs_decode(r, all->batch, STET_EXECS_MAX, NULL) != STET_OK) {
        stet_steps_gap(w->steps);
        return;
    }
    for (uint64_t i = 0; i < r->count; i++)
        stet_steps_add(w->steps, all->batch[i].executable);
    w->executions += r->count;
}

static void place(struct walk *w, uint64_t index, bool load)
{
    struct stet_steps_answer now = stet_steps_now(w->steps);

    size_t n = w->process ? w->process->compile_count : 0;

    for (size_t i = 0; i < n; i++) {
        struct stet_compile_event *c = &w->process->compiles[(w->next + i) % n];

        if (c->index != index || c->load != load)
            continue;
        c->step_known = now.known;
        c->step = now.completed;
        w->next = (w->next + i + 1) % n;
        return;
    }
}

static void count(struct walks *all, struct walk *w, const struct stet_journal_event *e)
{
    const union stet_record *r = e->record;

    switch (e->kind) {
    case STET_REC_execs:
        count_batch(all, w, &r->execs);
        break;
    case STET_REC_compile_begin:
        place(w, r->compile_begin.index, false);
        break;
    case STET_REC_deserialize:
        place(w, r->deserialize.index, true);
        break;
    case STET_REC_loss:
        if (r->loss.executions)
            stet_steps_gap(w->steps);
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
        count(all, w, &e->event);
    else
        gather(w, &e->event);
    return true;
}

static enum stet_rc pass(struct stet_run_digest *d, struct walks *all, const char *folder,
                         bool counting, struct stet_err *err)
{
    struct stet_events events;
    struct stet_run_event e;
    enum stet_rc rc = stet_events_open(&events, folder, err);

    if (rc != STET_OK)
        return rc;
    stet_mem_free(all->route);
    all->route = NULL;
    all->route_count = 0;
    while (rc == STET_OK && stet_events_next(&events, &e) == STET_OK)
        if (!take(d, all, &e, counting))
            rc = stet_fail(err, STET_NO_MEMORY, "%s: out of memory", folder);
    stet_events_close(&events);
    return rc;
}

enum stet_rc stet_run_steps(struct stet_run_digest *d, const char *folder, struct stet_err *err)
{
    struct walks all = {.batch = stet_mem_calloc(STET_EXECS_MAX, sizeof *all.batch)};
    enum stet_rc rc = all.batch ? pass(d, &all, folder, false, err)
                                : stet_fail(err, STET_NO_MEMORY, "%s: out of memory", folder);

    for (size_t i = 0; i < all.count; i++)
        stet_steps_decide(all.items[i].steps);
    if (rc == STET_OK)
        rc = pass(d, &all, folder, true, err);
    for (size_t i = 0; i < all.count; i++) {
        struct stet_steps_answer now = stet_steps_now(all.items[i].steps);

        if (all.items[i].process) {
            all.items[i].process->steps_known = now.known;
            all.items[i].process->steps = now.completed;
            all.items[i].process->steps_why = now.why;
        }
        stet_steps_free(all.items[i].steps);
    }
    stet_mem_free(all.items);
    stet_mem_free(all.route);
    stet_mem_free(all.batch);
    return rc;
}
