/* See run_phase.h. */
#include "ledger/run_phase.h"

#include "base/vec.h"
#include "ledger/run_wait.h"

enum { COMPILING = 3 };

static struct stet_counter *counter_of(struct stet_process_digest *p,
                                       const struct stet_rec_phase *r)
{
    for (size_t i = 0; i < p->counter_count; i++) {
        struct stet_counter *c = &p->counters[i];

        if (stet_view_starts(c->name, STET_COUNTER_UNSEEN) && c->at.line == r->line &&
            stet_view_eq(c->at.file, r->file))
            return c;
    }
    return NULL;
}

static void count_unseen(struct stet_run_digest *d, struct stet_process_digest *p,
                         const struct stet_rec_phase *r)
{
    struct stet_counter *c = counter_of(p, r);

    if (!c) {
        if (!stet_vec_room(&p->counters, &p->counter_room, p->counter_count, sizeof *p->counters))
            return;
        c = &p->counters[p->counter_count++];
        *c = (struct stet_counter){
            .framework = STET_VIEW("jax"),
            .name = stet_arena_printf(&d->arena, STET_COUNTER_UNSEEN " %.*s:%llu",
                                      STET_FMT(r->file), (unsigned long long)r->line),
            .at = {.file = stet_arena_copy(&d->arena, r->file), .line = r->line}};
    }
    c->samples++;
    c->total += r->duration_ns;
}

void stet_ledger_run_phase(struct stet_run_digest *d, struct stet_process_digest *p,
                           const struct stet_rec_phase *r, uint64_t time_ns)
{
    if (r->kind == COMPILING)
        count_unseen(d, p, r);
    else
        stet_ledger_wait_phase(p, r, time_ns);
}
