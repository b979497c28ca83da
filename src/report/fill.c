/* Fills the model of a report from a run. */
#include "report/fill.h"

#include "base/excerpt.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/vec.h"
#include "fingerprint/traits.h"
#include "ledger/events.h"
#include "ledger/run_steps.h"
#include "session/account_run.h"
#include "session/avoided.h"
#include "session/torch_ranks.h"
#include "session/torch_rows.h"
#include "session/xla_dump.h"

#include <stdio.h>
#include <stdlib.h>

static enum stet_rc no_memory(struct stet_err *err)
{
    return stet_fail(err, STET_NO_MEMORY, "out of memory for a report");
}

/* ---- journals ---- */

static void take_process(struct stet_report_run *r, const struct stet_process_digest *p)
{
    struct stet_report_process *to = stet_report_add_process(r);

    if (!to)
        return;
    *to = (struct stet_report_process){.pid = p->pid,
                                       .rank = p->rank,
                                       .host = p->host,
                                       .python = p->python,
                                       .steps = p->steps,
                                       .steps_known = p->steps_known,
                                       .steps_why = p->steps_why,
                                       .executions = p->executions,
                                       .to_device_bytes = p->to_device_bytes,
                                       .to_host_bytes = p->to_host_bytes,
                                       .marks = p->marks,
                                       .mark_count = p->mark_count};
    if (p->plugin_count) {
        to->plugin = stet_path_base(p->plugins[0].path);
        to->platform = p->plugins[0].platform;
        to->devices = p->plugins[0].devices;
    }
}

static struct stet_report_parts parts_of(const struct stet_compile_event *c)
{
    struct stet_report_parts p = {.call_at_ns = c->time_ns,
                                  .trace_ns = c->trace_ns,
                                  .lower_ns = c->lower_ns,
                                  .between_ns = c->ahead ? 0 : c->between_ns,
                                  .call_ns = c->plugin_ns + c->layer_ns};

    uint64_t known, wait = stet_compile_event_wait(c);

    if (c->load) /* its record was written when it had ended */
        p.call_at_ns -= c->plugin_ns < c->time_ns ? c->plugin_ns : c->time_ns;
    if (c->measured) /* as a whole: what is not the call was the framework's, mostly before it */
        p.between_ns = 0;
    known = p.trace_ns + p.lower_ns + p.between_ns + p.call_ns;
    *(c->measured ? &p.between_ns : &p.until_run_ns) = wait > known ? wait - known : 0;
    return p;
}

static void take_compile(struct stet_report_run *r, const struct stet_compile_event *c,
                         uint32_t process)
{
    struct stet_report_event *e = stet_report_add_event(r);

    if (!e)
        return;
    e->process = process;
    e->time_ns = c->time_ns;
    e->cost_ns = c->plugin_ns;
    e->wait_ns = stet_compile_event_wait(c);
    e->parts = parts_of(c);
    e->stack = c->stack;
    e->step = c->step;
    e->step_known = c->step_known;
    e->has_memory = c->has_memory;
    e->temp_bytes = c->temp_bytes;
    e->executions = c->executions;
    e->served = (uint8_t)c->served;
    e->kind = c->error_code ? STET_REPORT_FAILED
              : !c->ended   ? STET_REPORT_OPEN
              : c->load     ? STET_REPORT_LOAD
                            : STET_REPORT_COMPILE;
    if (!c->load)
        e->program = stet_report_program(r, c->program);
    else
        e->family =
            stet_report_family(r, stet_traits_function_of(c->name), (struct stet_view){0}, false);
}

static int by_time(const void *a, const void *b)
{
    const struct stet_compile_event *x = a, *y = b;

    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static enum stet_rc take_processes(struct stet_report_run *r, struct stet_run_digest *d,
                                   struct stet_err *err)
{
    for (uint32_t i = 0; i < d->process_count; i++) {
        struct stet_process_digest *p = &d->processes[i];
        uint32_t first = (uint32_t)r->event_count;
        uint32_t *index = stet_mem_calloc(p->compile_count + 1, sizeof *index);

        if (!index)
            return no_memory(err);
        if (p->compile_count)
            qsort(p->compiles, p->compile_count, sizeof *p->compiles, by_time);
        take_process(r, p);
        for (size_t k = 0; k < p->compile_count; k++) {
            take_compile(r, &p->compiles[k], i);
            index[k] = p->compiles[k].load || p->compiles[k].index >= UINT32_MAX
                           ? UINT32_MAX
                           : (uint32_t)p->compiles[k].index;
        }
        if (!r->failed_memory)
            stet_report_index(r, &r->processes[i], first, index, (uint32_t)p->compile_count);
        stet_mem_free(index);
        if (r->failed_memory)
            return no_memory(err);
    }
    r->compiles = d->compiles;
    r->loads = d->loads;
    r->failed = d->failed;
    r->executions = d->executions;
    r->compile_ns = d->compile_ns;
    r->distinct = r->programs.count;
    r->starts = stet_ledger_startup(d, &r->startup);
    return STET_OK;
}

/* ---- memory of devices ---- */

static struct stet_report_device *device_of(struct stet_report_run *r, uint32_t process,
                                            uint64_t device)
{
    struct stet_report_device *d;

    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].process == process && r->devices[i].device == device)
            return &r->devices[i];
    if (r->device_count >= 256)
        return NULL;
    d = stet_report_add_device(r);
    if (d) {
        d->process = process;
        d->device = device;
    }
    return d;
}

static void take_memory(struct stet_report_run *r, uint32_t process, uint64_t wall_ns,
                        const struct stet_rec_memory *m)
{
    struct stet_report_device *d = device_of(r, process, m->device);

    if (!d)
        return;
    if (m->bytes_limit)
        d->limit = m->bytes_limit;
    stet_report_sample(
        d, &(struct stet_report_sample){wall_ns, m->bytes_in_use, m->peak_bytes_in_use});
}

enum { SOURCES = 4096 };

static enum stet_rc take_devices(struct stet_report_run *r, const struct stet_run_digest *d,
                                 struct stet_err *err)
{
    uint32_t *route = stet_mem_calloc(SOURCES, sizeof *route); /* process + 1, by source */
    struct stet_events events;
    struct stet_run_event e;
    enum stet_rc rc;

    if (!route)
        return no_memory(err);
    rc = stet_ledger_events_open(&events, r->run->folder, err);
    if (rc != STET_OK) {
        stet_mem_free(route);
        return rc;
    }
    while (stet_ledger_events_next(&events, &e) == STET_OK) {
        const struct stet_rec_segment *segment = e.event.record;

        if (e.process >= SOURCES)
            continue;
        if (e.event.kind == STET_REC_segment) {
            for (uint32_t i = 0; i < d->process_count; i++)
                if (stet_hash_eq(d->processes[i].uid, segment->uid))
                    route[e.process] = i + 1;
        } else if (e.event.kind == STET_REC_memory && route[e.process]) {
            take_memory(r, route[e.process] - 1, e.wall_ns, e.event.record);
        }
    }
    stet_ledger_events_close(&events);
    stet_mem_free(route);
    return STET_OK;
}

/* ---- what was not compiled ---- */

static void take_avoided(struct stet_report_run *r, const struct stet_run_digest *d)
{
    struct stet_avoided avoided;
    struct stet_json j;

    stet_avoided_make(&avoided, d);
    stet_avoided_sort(&avoided);
    r->avoided = avoided.all;
    memcpy(r->served, avoided.by, sizeof r->served);
    stet_json_init(&j, &r->avoided_json);
    stet_json_object(&j, NULL);
    stet_avoided_json(&j, &avoided);
    stet_json_end_object(&j);
    stet_avoided_release(&avoided);
}

/* ---- causes ---- */

struct taking {
    struct stet_report_run *r;
    size_t torch_first; /* number of the torch lane's first process */
};

static bool take_recompile(void *context, const struct stet_recompile *row)
{
    struct taking *t = context;
    struct stet_report_run *r = t->r;
    bool torch = row->lane == STET_LANE_TORCH;
    struct stet_report_event *e =
        stet_report_event_of(r, row->process + (torch ? t->torch_first : 0), row->compile);
    struct stet_hash against;

    if (!stet_vec_room(&r->row_event, &r->row_room, r->stories.rows, sizeof *r->row_event))
        return false;
    r->row_event[r->stories.rows] = e ? (uint32_t)(e - r->events) + 1 : 0;
    if (!stet_story_add(&r->stories, row))
        return false;
    if (e && e->program != STET_INTERN_NONE && row->against.len &&
        stet_hash_parse(row->against, &against)) {
        uint32_t program = e->program;
        uint32_t other = stet_report_program(r, against);

        if (other != STET_INTERN_NONE && other != program &&
            r->program_against[program] == STET_INTERN_NONE)
            r->program_against[program] = other;
    }
    return !r->failed_memory;
}

/* Gives each event the number of its story. A graph break and a failed guard may share one compile:
 * the guard comes first. */
static bool finish_stories(struct stet_report_run *r)
{
    if (!stet_story_finish(&r->stories))
        return false;
    for (uint32_t i = 0; i < r->stories.rows; i++) {
        struct stet_report_event *e = r->row_event[i] ? &r->events[r->row_event[i] - 1] : NULL;

        if (e && e->cause < 0 && r->stories.story_of[i] != UINT32_MAX)
            e->cause = (int32_t)r->stories.story_of[i];
    }
    return true;
}

static int32_t story_with(const struct stet_stories *s, enum stet_cause cause,
                          struct stet_view function)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; s->items[i].cause == cause && k < s->items[i].function_count; k++)
            if (stet_view_eq(s->items[i].functions[k], function))
                return (int32_t)i;
    return -1;
}

/* A recompile that appears in both lanes is reported with its program; torch's own compile of it
 * has the same cause. */
static void join_torch(struct stet_report_run *r, const struct stet_torch *t)
{
    struct stet_report_event *events = r->events + (r->event_count - t->compile_count);

    for (uint32_t i = 0; i < t->compile_count; i++) {
        struct stet_torch_why why;

        if (events[i].cause >= 0 || t->compiles[i].failures == STET_TORCH_NONE)
            continue;
        stet_torch_explain(t, i, &why);
        events[i].cause =
            story_with(&r->stories, why.cause, t->frames[t->compiles[i].frame].code.function);
    }
}

static enum stet_rc take_account(void *context, const struct stet_account *a,
                                 const struct stet_account_tally *tally, struct stet_err *err)
{
    struct taking *t = context;
    struct stet_report_run *r = t->r;
    enum stet_rc rc;

    stet_story_release(&r->stories); /* a second try, after the ledger failed */
    stet_story_init(&r->stories);
    r->alarms = tally->alarms;
    r->recompiles = tally->events[STET_EVENT_AGAIN];
    r->harmless = tally->harmless;
    r->lost_ns = tally->lost_ns;
    r->wait_ns = tally->wait_ns;
    r->settled = a->totals.settled && a->totals.compiles;
    r->settled_step = a->totals.settled_step;
    if (a->totals.programs) /* programs that differ in names alone are one */
        r->distinct = (uint32_t)a->totals.programs;
    r->unsettled = a->totals.unsettled;
    for (int q = 0; q < STET_QUESTIONS; q++)
        r->questions[q] = (struct stet_report_question){
            .key = stet_cause_question_key((enum stet_cause_question)q),
            .text = stet_cause_question_text((enum stet_cause_question)q),
            .answer = tally->answers[q]};
    rc = a->each(a->source, take_recompile, t, err);
    return rc == STET_OK && (r->failed_memory || !finish_stories(r)) ? no_memory(err) : rc;
}

/* ---- all of it ---- */

static enum stet_rc load(struct stet_report_run *r, struct stet_run_digest *d, struct stet_torch *t,
                         struct stet_session_programs *shelf, struct stet_dump *dump,
                         struct stet_err *err)
{
    enum stet_rc rc = stet_ledger_run_load(d, r->run->folder, err);

    if (rc == STET_OK)
        rc = stet_ledger_run_steps(d, r->run->folder, err);
    if (rc == STET_OK && !d->compiles) { /* perhaps the client is inside the framework */
        snprintf(dump->dir, sizeof dump->dir, "%s/dump", r->run->folder);
        stet_dump_scan(dump, d, shelf, true);
    }
    if (rc == STET_OK)
        rc = stet_session_torch_load_run(t, r->run, err);
    if (rc == STET_OK)
        stet_session_torch_take_ranks(t, d);
    return rc == STET_NOT_FOUND ? STET_OK : rc;
}

enum stet_rc stet_report_gather(struct stet_report_run *r, const struct stet_runs *runs,
                                struct stet_run_digest *d, struct stet_torch *t,
                                struct stet_err *err)
{
    struct stet_session_programs *shelf = stet_session_programs_new();
    struct stet_dump dump = {0};
    struct taking taking = {r, 0};
    enum stet_rc rc = shelf ? load(r, d, t, shelf, &dump, err) : no_memory(err);

    if (rc == STET_OK)
        rc = take_processes(r, d, err);
    if (rc == STET_OK)
        rc = stet_report_read_programs(r, d, shelf, err);
    if (rc == STET_OK)
        rc = stet_report_buckets(r, d, shelf, err);
    if (rc == STET_OK)
        rc = take_devices(r, d, err);
    if (rc == STET_OK)
        stet_report_fits(r);
    if (rc == STET_OK)
        rc = stet_divergences_make(&r->divergences, d, t, r->run->folder, err);
    taking.torch_first = r->process_count;
    if (rc == STET_OK) {
        take_avoided(r, d);
        stet_report_torch_events(r, t);
        rc = stet_account_of_run(runs, r->run, take_account, &taking, err);
    }
    if (rc == STET_OK && !r->failed_memory)
        join_torch(r, t);
    if (rc == STET_OK)
        stet_report_torch_details(r, t, (uint32_t)taking.torch_first);
    if (rc == STET_OK &&
        (r->failed_memory || r->arena.failed || r->names.failed || r->torch.failed ||
         r->buckets.failed || r->fits.failed || r->avoided_json.failed))
        rc = no_memory(err);
    stet_dump_release(&dump);
    stet_session_programs_free(shelf);
    return rc;
}
