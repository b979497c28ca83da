/* See startup.h. */
#include "ledger/startup.h"

/* Returns the end of the first step, CLOCK_MONOTONIC; 0 when not known. */
static uint64_t first_step(const struct stet_process_digest *p)
{
    const struct stet_compile_event *most = NULL;

    if (p->steps_known && p->first_step_ns)
        return p->first_step_ns;
    for (size_t i = 0; i < p->compile_count; i++)
        if (p->compiles[i].ran && (!most || p->compiles[i].executions > most->executions))
            most = &p->compiles[i];
    return most ? most->ran_ns : 0;
}

static void add(struct stet_startup *s, const struct stet_compile_event *c)
{
    uint64_t call = c->plugin_ns + c->layer_ns, work = c->trace_ns + c->lower_ns + call;
    uint64_t wait = stet_compile_event_wait(c);

    s->programs++;
    s->tracing_ns += c->trace_ns;
    s->lowering_ns += c->lower_ns;
    s->framework_ns += wait > work ? wait - work : 0;
    *(c->load || c->served ? &s->loading_ns : &s->compiling_ns) += call;
}

static bool of_process(const struct stet_process_digest *p, struct stet_startup *s)
{
    uint64_t start = p->start_ns - p->wall_minus_mono, end = first_step(p), known;

    *s = (struct stet_startup){0};
    if (!p->start_ns || !p->client_begin_ns || end <= start || p->client_begin_ns <= start)
        return false;
    s->total_ns = end - start;
    s->imports_ns = p->client_begin_ns - start;
    s->client_ns = p->client_ns;
    for (size_t i = 0; i < p->compile_count; i++)
        if (p->compiles[i].end_ns && p->compiles[i].end_ns <= end)
            add(s, &p->compiles[i]);
    known = s->imports_ns + s->client_ns + s->tracing_ns + s->lowering_ns + s->framework_ns +
            s->compiling_ns + s->loading_ns;
    s->other_ns = known < s->total_ns ? s->total_ns - known : 0;
    return true;
}

bool stet_ledger_startup(const struct stet_run_digest *d, struct stet_startup *out)
{
    struct stet_startup one;
    bool any = false;

    *out = (struct stet_startup){0};
    for (size_t i = 0; i < d->process_count; i++) {
        if (!of_process(&d->processes[i], &one) || one.total_ns <= out->total_ns)
            continue;
        *out = one;
        out->process = i;
        any = true;
    }
    return any;
}
