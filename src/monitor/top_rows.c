/* Selects and orders the rows of the tables of `stet top`. */
#include "monitor/top.h"

#include <stdlib.h>

static int largest_first(const void *a, const void *b)
{
    const struct stet_top_row *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? 1 : -1;
    return x->tie < y->tie ? -1 : x->tie > y->tie;
}

static uint64_t process_order(const struct stet_top *t, const struct stet_pulse_process *q)
{
    switch (t->sort) {
    case STET_SORT_RATE: /* the slowest first */
        return UINT64_MAX -
               (uint64_t)(stet_ledger_steps_live_rate(&q->steps, t->now_ns).steps * 1e6);
    case STET_SORT_COMPILES:
        return q->compiles;
    case STET_SORT_LOST:
        return q->wait_ns;
    case STET_SORT_LAST:
        return q->last_ns;
    default:
        return 0;
    }
}

size_t stet_monitor_top_processes(const struct stet_top *t, struct stet_top_row *rows)
{
    const struct stet_pulse *p = t->attach->pulse;
    size_t n = 0;

    for (size_t i = 0; i < p->process_count; i++) {
        const struct stet_pulse_process *q = &p->processes[i];

        if (q->used && (t->rank == STET_ALL_RANKS || q->rank == t->rank))
            rows[n++] = (struct stet_top_row){
                process_order(t, q), ((uint64_t)(q->rank + 1) << 32) + (q->pid & UINT32_MAX), i};
    }
    if (n)
        qsort(rows, n, sizeof *rows, largest_first);
    return n;
}

/* Functions of one name may be several families. They are one row. Returns the first of them. */
static size_t first_of_name(const struct stet_pulse *p, size_t i)
{
    size_t k = 0;

    while (k < i && strcmp(p->families[k].name, p->families[i].name) != 0)
        k++;
    return k;
}

size_t stet_monitor_top_families(const struct stet_top *t, struct stet_top_row *rows,
                                 struct stet_pulse_family *sums)
{
    const struct stet_pulse *p = t->attach->pulse;
    size_t n = 0;

    for (size_t i = 0; i < p->family_count; i++) {
        const struct stet_pulse_family *f = &p->families[i];
        size_t k = first_of_name(p, i);

        if (k == i) {
            sums[i] = *f;
            rows[n++] = (struct stet_top_row){.index = i};
            continue;
        }
        sums[k].programs += f->programs;
        sums[k].compiles += f->compiles;
        sums[k].compile_ns += f->compile_ns;
        sums[k].wait_ns += f->wait_ns;
        if (f->grown_ns > sums[k].grown_ns)
            sums[k].grown_ns = f->grown_ns;
    }
    for (size_t i = 0; i < n; i++) {
        const struct stet_pulse_family *f = &sums[rows[i].index];

        rows[i].order = t->sort == STET_SORT_LAST       ? f->grown_ns
                        : t->sort == STET_SORT_COMPILES ? f->compiles
                                                        : f->wait_ns;
        rows[i].tie = UINT64_MAX - f->wait_ns; /* the most expensive first */
    }
    if (n)
        qsort(rows, n, sizeof *rows, largest_first);
    return n;
}

static struct stet_top_row cause_of_all(const struct stet_pulse_cause *c, size_t index)
{
    return (struct stet_top_row){
        .index = index, .times = c->times, .wait_ns = c->wait_ns, .last_ns = c->last_ns};
}

static struct stet_top_row cause_of_one(const struct stet_pulse_share *s)
{
    return (struct stet_top_row){
        .index = s->cause, .times = s->times, .wait_ns = s->wait_ns, .last_ns = s->last_ns};
}

size_t stet_monitor_top_causes(const struct stet_top *t, struct stet_top_row *rows)
{
    const struct stet_pulse *p = t->attach->pulse;
    bool all = t->rank == STET_ALL_RANKS;
    size_t n = 0;

    for (size_t i = 0; i < (all ? p->cause_count : p->share_count); i++) {
        struct stet_top_row *r = &rows[n];

        if (!all && p->shares[i].rank != t->rank)
            continue;
        *r = all ? cause_of_all(&p->causes[i], i) : cause_of_one(&p->shares[i]);
        r->order = t->sort == STET_SORT_LAST       ? r->last_ns
                   : t->sort == STET_SORT_COMPILES ? r->times
                                                   : r->wait_ns;
        r->tie = n++; /* equal ones keep the order of the stories: the most expensive first */
    }
    if (n)
        qsort(rows, n, sizeof *rows, largest_first);
    return n;
}
