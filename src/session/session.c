/* Makes a judged history from journals and captured programs. */
#include "session/session.h"

#include "base/mem.h"
#include "journal/values_record.h"
#include "ledger/run_steps.h"
#include "session/program_cache.h"

#include <stdio.h>
#include <stdlib.h>

/* Opens the program of a sighting from the folder that has it. */
static enum stet_rc open_side(void *context, uint32_t number, struct stet_history_side *out,
                              struct stet_err *err)
{
    struct stet_session *x = context;
    const struct stet_sighting *s = &x->history.sightings[number];
    const struct stet_past *past = s->past ? &x->past[(s->tag >> 32) - 1] : NULL;
    const struct stet_run_digest *d = past ? &past->digest : &x->digest;
    const struct stet_compile_event *c = &d->processes[s->process].compiles[s->tag & UINT32_MAX];

    return stet_session_programs_open(x->programs, past ? past->folder : x->folder, c, out, err);
}

static int by_time(const void *a, const void *b)
{
    const struct stet_compile_event *x = a, *y = b;

    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static bool shares_devices(const struct stet_process_digest *p)
{
    for (size_t i = 0; i < p->plugin_count; i++) {
        if (p->plugins[i].devices > p->plugins[i].addressable)
            return true;
    }
    return false;
}

/* Did the ranks compare what they compile, without a word about this compile? Ranks without devices
 * in common need not compile the same, so nothing follows from their silence. */
static bool is_agreed(const struct stet_process_digest *p, const struct stet_compile_event *c)
{
    if (!p->job_event.channel.len || p->job_event.why.len || !shares_devices(p))
        return false;
    for (size_t i = 0; i < p->agreement_count; i++) {
        if (p->agreements[i].has_compile && p->agreements[i].compile == c->index)
            return false;
    }
    return true;
}

struct stet_sighting stet_session_sighting(const struct stet_process_digest *p, uint32_t process,
                                           size_t number)
{
    const struct stet_compile_event *c = &p->compiles[number];
    struct stet_journal_function function = stet_journal_values_function(c->values);

    return (struct stet_sighting){
        .values = c->values,
        .function = function.identity,
        .object = function.object,
        .wrapper = function.wrapper,
        .held = function.held,
        .library = function.library,
        .process = process,
        .rank = p->rank,
        .index = c->index,
        .step = c->step,
        .step_known = c->step_known,
        .time_ns = c->time_ns,
        .cost_ns = c->plugin_ns,
        .wait_ns = stet_compile_event_wait(c),
        .executions = c->executions,
        .temp_bytes = c->temp_bytes,
        .has_memory = c->has_memory,
        .failed = c->error_code != 0,
        .shared = shares_devices(p),
        .agreed = is_agreed(p, c),
        .served = (unsigned)c->served,
        .program = c->program,
        .name = c->name,
        .trigger = {c->trigger.file, c->trigger.function, (uint32_t)c->trigger.line},
        .lines = c->lines,
        .executable = c->executable,
        .tag = number,
    };
}

void stet_session_count_steps(struct stet_session *x)
{
    if (stet_ledger_run_steps(&x->digest, x->folder, NULL) != STET_OK)
        return;
    for (uint32_t i = 0; i < x->history.sighting_count; i++) {
        struct stet_sighting *s = &x->history.sightings[i];

        if (!s->past) {
            s->step = x->digest.processes[s->process].compiles[s->tag].step;
            s->step_known = x->digest.processes[s->process].compiles[s->tag].step_known;
        }
    }
}

enum stet_rc stet_session_add(struct stet_session *x, uint32_t process, size_t number,
                              const struct stet_bundle *bundle, struct stet_err *err)
{
    const struct stet_process_digest *p = &x->digest.processes[process];
    const struct stet_compile_event *c = &p->compiles[number];
    struct stet_sighting s = stet_session_sighting(p, process, number);
    struct stet_err why = STET_ERR_INIT;
    struct stet_history_side side;
    uint32_t id;
    enum stet_rc rc;

    if (c->load)
        return STET_OK;
    s.bundle = bundle;
    rc = stet_session_programs_open(x->programs, x->folder, c, &side, &why);
    return stet_history_add(&x->history, &s, rc == STET_OK ? &side : NULL, why.text, &id, err);
}

/* Translates executions of executables into executions of sightings. */
static enum stet_rc translate(struct stet_session *x, uint32_t process, struct stet_err *err)
{
    const struct stet_process_digest *p = &x->digest.processes[process];
    struct stet_run_order *o = &x->run_orders.items[process];
    uint32_t *of = stet_mem_calloc(o->highest + 1, sizeof *of);

    if (!of)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the order of executions");
    for (uint32_t i = 0; i < x->history.sighting_count; i++) {
        const struct stet_sighting *s = &x->history.sightings[i];

        if (!s->past && s->process == process && s->executable && s->executable <= o->highest)
            of[s->executable] = i + 1;
    }
    for (size_t i = 0; i < o->count; i++)
        o->executables[i] = of[o->executables[i]] ? of[o->executables[i]] - 1 : STET_NONE;
    stet_mem_free(of);
    x->orders[process] = (struct stet_order){.items = o->executables,
                                             .count = o->count,
                                             .steps_known = p->steps_known,
                                             .steps = p->steps,
                                             .to_host_count = p->to_host_count,
                                             .copies = p->copies,
                                             .copy_count = p->copy_count};
    return STET_OK;
}

static enum stet_rc explain_compiles(struct stet_session *x, const struct stet_runs *runs,
                                     const struct stet_run *run, struct stet_err *err)
{
    enum stet_rc rc;

    x->orders = stet_mem_calloc(x->digest.process_count + 1, sizeof *x->orders);
    if (!x->orders)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for explaining a run");
    rc = stet_session_past(x, runs, run, err);
    for (uint32_t i = 0; rc == STET_OK && i < x->digest.process_count; i++) {
        struct stet_process_digest *p = &x->digest.processes[i];
        const struct stet_bundle *bundle = stet_session_bundle(&x->digest, p);

        if (p->compile_count)
            qsort(p->compiles, p->compile_count, sizeof *p->compiles, by_time);
        for (size_t k = 0; rc == STET_OK && k < p->compile_count; k++)
            rc = stet_session_add(x, i, k, bundle, err);
        if (rc == STET_OK && i < x->run_orders.count)
            rc = translate(x, i, err);
    }
    x->history.orders = x->orders;
    x->history.order_count = (uint32_t)x->digest.process_count;
    return rc == STET_OK ? stet_history_judge(&x->history, err) : rc;
}

enum stet_rc stet_session_begin(struct stet_session *x, const char *run, const char *folder,
                                struct stet_err *err)
{
    enum stet_rc rc;

    *x = (struct stet_session){
        .run = run, .folder = folder, .programs = stet_session_programs_new()};
    stet_arena_init(&x->digest.arena, (size_t)1 << 30);
    if (!x->programs)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for explaining a run");
    rc = stet_history_init(&x->history, err);
    x->history.open = open_side;
    x->history.context = x;
    return rc;
}

enum stet_rc stet_session_open(struct stet_session *x, const struct stet_runs *runs,
                               const struct stet_run *run, struct stet_err *err)
{
    enum stet_rc rc;

    rc = stet_session_begin(x, run->id, run->folder, err);
    if (rc == STET_OK)
        rc = stet_ledger_run_load(&x->digest, run->folder, err);
    if (rc == STET_OK)
        rc = stet_ledger_run_steps(&x->digest, run->folder, err);
    if (rc == STET_OK && !x->digest.compiles) { /* perhaps the client is inside the framework */
        snprintf(x->dump.dir, sizeof x->dump.dir, "%s/dump", run->folder);
        stet_dump_scan(&x->dump, &x->digest, x->programs, true);
    }
    if (rc == STET_OK)
        rc = stet_ledger_run_orders_load(&x->run_orders, &x->digest, run->folder, err);
    if (rc == STET_OK)
        rc = explain_compiles(x, runs, run, err);
    if (rc != STET_OK)
        stet_session_close(x);
    return rc;
}

enum stet_rc stet_session_open_dump(struct stet_session *x, const char *folder,
                                    struct stet_err *err)
{
    enum stet_rc rc = stet_session_begin(x, folder, folder, err);

    if (rc != STET_OK)
        return rc;
    snprintf(x->dump.dir, sizeof x->dump.dir, "%s", folder);
    if (!stet_dump_scan(&x->dump, &x->digest, x->programs, true))
        rc = stet_fail_errno(err, "%s", folder);
    else if (!x->digest.compiles)
        rc = stet_fail(err, STET_NOT_FOUND,
                       "%s: no module_….before_optimizations.hlo.pb is in it: dump with XLA_FLAGS="
                       "\"--xla_dump_to=DIR --xla_dump_hlo_as_proto\"",
                       folder);
    if (rc == STET_OK)
        rc = explain_compiles(x, NULL, NULL, err);
    if (rc != STET_OK)
        stet_session_close(x);
    return rc;
}

void stet_session_close(struct stet_session *x)
{
    stet_history_release(&x->history);
    stet_session_programs_free(x->programs);
    stet_dump_release(&x->dump);
    stet_ledger_run_orders_release(&x->run_orders);
    stet_mem_free(x->orders);
    stet_ledger_run_unload(&x->digest);
    for (size_t i = 0; i < x->past_count; i++)
        stet_ledger_run_unload(&x->past[i].digest);
}

/* ---- settled ---- */

enum { QUIET_STEPS = 5 };

struct stet_session_settled stet_session_settled(const struct stet_session *x)
{
    struct stet_session_settled s = {.step_known = true, .settled = true};
    const struct stet_history *h = &x->history;

    for (uint32_t i = 0; i < h->sighting_count; i++) {
        const struct stet_sighting *c = &h->sightings[i];
        const struct stet_finding *f = c->finding == STET_NONE ? NULL : &h->findings[c->finding];
        const struct stet_order *o = &h->orders[c->process];

        if (c->past)
            continue;
        /* a program that only an earlier run has is new to this run */
        s.programs += !f || !f->facts.same || f->facts.past;
        if (!f || f->facts.first || f->facts.past || f->benign) {
            /* The function's first program. After the first step it is a compile in the loop. */
            if (c->step_known && c->step && c->step + 1 > s.step)
                s.step = c->step + 1;
            continue;
        }
        if (!c->step_known || !o->steps_known) {
            s.step_known = false;
            continue;
        }
        s.step = c->step + 1 > s.step ? c->step + 1 : s.step;
        if (c->step + QUIET_STEPS >= o->steps && o->steps > QUIET_STEPS)
            s.settled = false;
    }
    for (uint32_t i = 0; i < h->order_count; i++)
        if (!h->orders[i].steps_known && x->digest.processes[i].compile_count)
            s.step_known = false;
    if (!s.step_known) {
        s.settled = false;
        s.why = STET_UNSETTLED_NO_STEPS;
    } else if (!s.settled) {
        s.why = STET_UNSETTLED_COMPILING;
    }
    return s;
}
