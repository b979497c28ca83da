/* What one step of the command's loop costs. */
#include "fit/fit_internal.h"

#include "base/hash.h"

#include <math.h>

/* How often the program ran, together with others of the same function: a step is compiled again
 * when its results come back with other shardings or types. Programs that all ran once are not
 * such versions, unless one is the largest. */
static uint64_t together(const struct stet_fit *fit, const struct stet_fit_program *p)
{
    uint64_t sum = 0;
    bool again = false;

    if (stet_hash_is_zero(p->function))
        return p->executions;
    for (size_t i = 0; i < fit->count; i++) {
        const struct stet_fit_program *q = &fit->programs[i];

        if (!stet_hash_eq(q->function, p->function))
            continue;
        sum += q->executions;
        again |= q->executions > 1 || q == fit->peak;
    }
    return again ? sum : p->executions;
}

static void add(struct stet_fit *fit, const struct stet_fit_program *p, double times)
{
    fit->step_known = true;
    fit->step_flops += times * p->footprint.flops;
    fit->step_memory += times * p->footprint.memory_bytes;
    fit->step_bound_s += times * stet_fit_bound(p);
    for (int c = 0; c < STET_COLLECTIVES; c++) {
        const struct stet_footprint_traffic *t = &p->footprint.traffic[c];

        fit->step_traffic[c].sites += t->sites;
        fit->step_traffic[c].times += times * t->times;
        fit->step_traffic[c].payload += times * t->payload;
        fit->step_traffic[c].wire += times * t->wire;
        fit->step_wire += times * t->wire;
    }
}

static uint64_t count_steps(const struct stet_fit *fit)
{
    const struct stet_run_digest *d = &fit->warm.ran.digests[0];
    uint64_t steps = 0;

    for (size_t i = 0; i < d->process_count; i++)
        if (d->processes[i].steps_known && d->processes[i].steps > steps)
            steps = d->processes[i].steps;
    if (!steps && fit->peak && fit->peak->read) /* the largest program is the step's */
        steps = together(fit, fit->peak);
    return steps;
}

void stet_fit_step_make(struct stet_fit *fit)
{
    fit->steps = count_steps(fit);
    for (size_t i = 0; fit->steps > 1 && i < fit->count; i++) {
        const struct stet_fit_program *p = &fit->programs[i];
        double all = p->read ? (double)together(fit, p) : 0;
        /* what ran in half of the steps or less is no part of them */
        double times = ceil(all / (double)fit->steps - 0.5);

        if (times >= 1) /* each version has its share */
            add(fit, p, times * (double)p->executions / all);
    }
    if (fit->step_known || !fit->peak || !fit->peak->read)
        return;
    fit->steps = 1;
    fit->step_alone = fit->peak;
    add(fit, fit->peak, 1);
}
