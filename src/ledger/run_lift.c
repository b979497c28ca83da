/* Takes the records about lifting into the compiles of a process. */
#include "ledger/run_lift.h"

#include "journal/format.h"

static void on_unlifted(struct stet_run_digest *d, struct stet_process_digest *p,
                        const struct stet_rec_unlifted *r)
{
    struct stet_compile_event *c = stet_ledger_run_compile(p, r->index);

    if (c) {
        c->unlifted = stet_arena_copy(&d->arena, r->why);
        c->unlifted_alone = r->alone;
    }
}

static void on_lift_compared(struct stet_process_digest *p, const struct stet_rec_lift_compared *r)
{
    struct stet_compile_event *c = stet_ledger_run_compile(p, r->index);

    if (!c)
        return;
    c->compared++;
    c->elements += r->elements;
    c->ulp = r->ulp > c->ulp ? r->ulp : c->ulp;
}

static void on_lift_ahead(struct stet_process_digest *p, const struct stet_rec_lift_ahead *r)
{
    struct stet_compile_event *c = stet_ledger_run_compile(p, r->index);

    if (c)
        c->lift_ahead_ns += r->plugin_ns;
}

static void on_lift_plain(struct stet_process_digest *p, const struct stet_rec_lift_plain *r)
{
    struct stet_compile_event *c = stet_ledger_run_compile(p, r->index);

    if (!c)
        return;
    c->lift_plain++;
    c->lift_plain_ns += r->plugin_ns;
    c->lift_plain_waited_ns += r->waited ? r->plugin_ns : 0;
}

void stet_ledger_run_lift(struct stet_run_digest *d, struct stet_process_digest *p,
                          const struct stet_journal_event *e)
{
    switch (e->kind) {
    case STET_REC_unlifted:
        on_unlifted(d, p, e->record);
        break;
    case STET_REC_lift_compared:
        on_lift_compared(p, e->record);
        break;
    case STET_REC_lift_ahead:
        on_lift_ahead(p, e->record);
        break;
    case STET_REC_lift_plain:
        on_lift_plain(p, e->record);
        break;
    default:
        break;
    }
}
