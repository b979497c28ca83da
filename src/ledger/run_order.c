/* One pass over the journals that collects the executions in order. */
#include "ledger/run_order.h"

#include "base/mem.h"
#include "base/vec.h"
#include "journal/execs.h"
#include "ledger/events.h"

struct pass {
    struct stet_run_orders *out;
    const struct stet_run_digest *digest;
    size_t *route; /* process + 1, by event source */
    size_t route_count;
    struct stet_exec *batch;
};

static bool set_route(struct pass *p, size_t source, struct stet_hash uid)
{
    size_t *more;

    if (source >= p->route_count) {
        more = stet_mem_resize(p->route, source + 1, sizeof *more);
        if (!more)
            return false;
        memset(more + p->route_count, 0, (source + 1 - p->route_count) * sizeof *more);
        p->route = more;
        p->route_count = source + 1;
    }
    for (size_t i = 0; i < p->digest->process_count; i++)
        if (stet_hash_eq(p->digest->processes[i].uid, uid))
            p->route[source] = i + 1;
    return true;
}

static bool append(struct stet_run_order *o, uint64_t executable)
{
    if (executable > o->highest) {
        o->highest = executable;
        o->after = STET_ORDER_AFTER;
    }
    if (o->count >= STET_ORDER_MOST || (o->count >= STET_ORDER_FIRST && !o->after))
        return true;
    o->after -= o->after > 0;
    if (!stet_vec_room(&o->executables, &o->room, o->count, sizeof *o->executables))
        return false;
    o->executables[o->count++] = (uint32_t)executable;
    return true;
}

static bool take(struct pass *p, const struct stet_run_event *e)
{
    const union stet_record *r = e->event.record;

    if (e->event.kind == STET_REC_segment)
        return set_route(p, e->process, r->segment.uid);
    if (e->event.kind != STET_REC_execs || e->process >= p->route_count || !p->route[e->process])
        return true;
    if (stet_execs_decode(&r->execs, p->batch, STET_EXECS_MAX, NULL) != STET_OK)
        return true;
    for (uint64_t i = 0; i < r->execs.count; i++)
        if (!append(&p->out->items[p->route[e->process] - 1], p->batch[i].executable))
            return false;
    return true;
}

enum stet_rc stet_run_orders_load(struct stet_run_orders *o, const struct stet_run_digest *d,
                                  const char *folder, struct stet_err *err)
{
    struct pass p = {.out = o, .digest = d};
    struct stet_events events;
    struct stet_run_event e;
    enum stet_rc rc = stet_events_open(&events, folder, err);

    *o = (struct stet_run_orders){0};
    if (rc != STET_OK)
        return rc;
    o->items = stet_mem_calloc(d->process_count + 1, sizeof *o->items);
    o->count = o->items ? d->process_count : 0;
    p.batch = stet_mem_calloc(STET_EXECS_MAX, sizeof *p.batch);
    if (!o->items || !p.batch)
        rc = stet_fail(err, STET_NO_MEMORY, "%s: out of memory", folder);
    while (rc == STET_OK && stet_events_next(&events, &e) == STET_OK)
        if (!take(&p, &e))
            rc = stet_fail(err, STET_NO_MEMORY, "%s: out of memory", folder);
    stet_mem_free(p.batch);
    stet_mem_free(p.route);
    stet_events_close(&events);
    if (rc != STET_OK)
        stet_run_orders_release(o);
    return rc;
}

void stet_run_orders_release(struct stet_run_orders *o)
{
    for (size_t i = 0; i < o->count; i++)
        stet_mem_free(o->items[i].executables);
    stet_mem_free(o->items);
    *o = (struct stet_run_orders){0};
}
