/* Counts records, recompiles and programs. */
#include "monitor/pulse.h"

#include "base/mem.h"
#include "base/vec.h"
#include "monitor/pulse_internal.h"
#include "session/account_run.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* More programs than live.c explains. */
enum { KNOWN_PROGRAMS = 1 << 15 };

struct stet_pulse *stet_pulse_new(const char *run, uint64_t started_ns)
{
    struct stet_pulse *p = stet_mem_calloc(1, sizeof *p);

    if (!p)
        return NULL;
    snprintf(p->run, sizeof p->run, "%s", run);
    p->started_ns = started_ns;
    p->explains = true;
    p->processes = stet_mem_calloc(STET_PULSE_PROCESSES, sizeof *p->processes);
    p->devices = stet_mem_calloc(STET_PULSE_DEVICES, sizeof *p->devices);
    p->families = stet_mem_calloc(STET_PULSE_FAMILIES, sizeof *p->families);
    p->cells = stet_mem_calloc(STET_PULSE_CELLS, sizeof *p->cells);
    p->causes = stet_mem_calloc(STET_PULSE_CAUSES, sizeof *p->causes);
    p->torch = stet_mem_calloc(STET_PULSE_PROCESSES, sizeof *p->torch);
    p->batch = stet_mem_calloc(STET_EXECS_MAX, sizeof *p->batch);
    p->known.cap = KNOWN_PROGRAMS;
    if (!p->processes || !p->devices || !p->families || !p->cells || !p->causes || !p->torch ||
        !p->batch) {
        stet_pulse_free(p);
        return NULL;
    }
    return p;
}

void stet_pulse_free(struct stet_pulse *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->processes && i < p->process_count; i++)
        stet_ledger_steps_live_release(&p->processes[i].steps);
    for (size_t i = 0; p->processes && i < p->process_count; i++)
        stet_mem_free(p->processes[i].runs);
    stet_mem_free(p->processes);
    stet_mem_free(p->devices);
    stet_mem_free(p->families);
    stet_mem_free(p->cells);
    stet_mem_free(p->causes);
    stet_mem_free(p->shares);
    stet_mem_free(p->torch);
    stet_mem_free(p->batch);
    stet_map_release(&p->known);
    stet_mem_free(p);
}

/* ---- records ---- */

static void on_compile_end(struct stet_pulse_process *q, const struct stet_rec_compile_end *r)
{
    q->compiles++;
    q->compile_ns += r->plugin_ns;
    q->layer_ns += r->layer_ns;
    q->failed += r->error_code != 0;
    q->served[stet_journal_served(r->served)]++;
    q->misses += stet_journal_outcome_of(r->store) == STET_OUTCOME_MISS;
}

static void on_transfers(struct stet_pulse_process *q, const struct stet_rec_transfers *r)
{
    q->transfers[STET_TO_DEVICE] += r->to_device_count;
    q->transfers[STET_TO_HOST] += r->to_host_count;
    q->transfers[STET_BETWEEN] += r->between_count;
    q->transfer_bytes[STET_TO_DEVICE] += r->to_device_bytes;
    q->transfer_bytes[STET_TO_HOST] += r->to_host_bytes;
}

/* Devices are sorted by rank. */
static bool comes_before(const struct stet_pulse *p, size_t process, uint64_t device,
                         const struct stet_pulse_device *d)
{
    int64_t rank = p->processes[process].rank, other = p->processes[d->process].rank;

    return rank != other ? rank < other : process == d->process && device < d->device;
}

static void on_memory(struct stet_pulse *p, size_t process, const struct stet_rec_memory *r)
{
    struct stet_pulse_device *d = NULL;

    for (size_t i = 0; i < p->device_count && !d; i++)
        if (p->devices[i].process == process && p->devices[i].plugin == r->plugin &&
            p->devices[i].device == r->device)
            d = &p->devices[i];
    if (!d) {
        if (p->device_count == STET_PULSE_DEVICES)
            return;
        d = &p->devices[p->device_count++];
        while (d > p->devices && comes_before(p, process, r->device, d - 1)) {
            *d = d[-1];
            d--;
        }
        *d = (struct stet_pulse_device){
            .process = process, .plugin = r->plugin, .device = r->device};
    }
    d->in_use = r->bytes_in_use;
    d->limit = r->bytes_limit;
    if (r->peak_bytes_in_use > d->peak || r->bytes_in_use > d->peak)
        d->peak = r->peak_bytes_in_use > r->bytes_in_use ? r->peak_bytes_in_use : r->bytes_in_use;
}

/* A process's own totals are right even if records were lost. */
static void on_end(struct stet_pulse_process *q, const struct stet_rec_process_end *r)
{
    q->ended = true;
    q->executions = r->executions;
    q->transfers[STET_TO_DEVICE] = r->to_device_count;
    q->transfers[STET_TO_HOST] = r->to_host_count;
    q->transfer_bytes[STET_TO_DEVICE] = r->to_device_bytes;
    q->transfer_bytes[STET_TO_HOST] = r->to_host_bytes;
}

/* More executables than a process has are not counted one by one. */
static void count_run(struct stet_pulse_process *q, uint64_t executable)
{
    enum { MOST = 1 << 16 };
    size_t before = q->runs_room;

    if (executable >= MOST)
        return;
    if (executable >= before) {
        if (!stet_vec_grow(&q->runs, &q->runs_room, before, executable + 1 - before,
                           sizeof *q->runs, 0))
            return;
        memset(q->runs + before, 0, (q->runs_room - before) * sizeof *q->runs);
    }
    q->runs[executable]++;
}

static void on_execs(struct stet_pulse *p, struct stet_pulse_process *q,
                     const struct stet_rec_execs *r)
{
    if (q->ended)
        return;
    q->executions += r->count;
    if (!r->count || stet_journal_execs_decode(r, p->batch, STET_EXECS_MAX, NULL) != STET_OK)
        return;
    for (uint64_t i = 0; i < r->count; i++)
        count_run(q, p->batch[i].executable);
    q->last_executable = p->batch[r->count - 1].executable;
}

/* The thread that last waited for a compile. */
static void on_stack(struct stet_pulse_process *q, const struct stet_rec_compile_stack *r)
{
    if (!r->state)
        return;
    q->py_thread = r->thread;
    q->py_state = r->state;
    q->py_code_type = r->code_type;
}

/* `last_ns` is the time of this record. */
static void on_finished(struct stet_pulse_process *q, const struct stet_rec_finished *r)
{
    q->finished_known = true;
    q->finished = r->count;
    q->pending = r->pending;
    q->last_finished = r->executable;
    q->pending_executable = r->oldest;
    q->pending_since_ns = q->last_ns > r->age_ns ? q->last_ns - r->age_ns : 0;
}

static void on_record(struct stet_pulse *p, size_t process, const struct stet_journal_event *e)
{
    struct stet_pulse_process *q = &p->processes[process];
    const union stet_record *r = e->record;

    switch (e->kind) {
    case STET_REC_compile_begin:
        q->begun++;
        q->begun_ns = q->last_ns;
        break;
    case STET_REC_compile_end:
        on_compile_end(q, &r->compile_end);
        break;
    case STET_REC_stored:
        q->stored += r->stored.bytes > 0;
        q->stored_bytes += r->stored.bytes;
        break;
    case STET_REC_deserialize:
        q->loads++;
        q->load_ns += r->deserialize.plugin_ns;
        q->failed += r->deserialize.error_code != 0;
        break;
    case STET_REC_execs:
        on_execs(p, q, &r->execs);
        break;
    case STET_REC_compile_stack:
        on_stack(q, &r->compile_stack);
        break;
    case STET_REC_finished:
        on_finished(q, &r->finished);
        break;
    case STET_REC_transfers:
        if (!q->ended)
            on_transfers(q, &r->transfers);
        break;
    case STET_REC_memory:
        on_memory(p, process, &r->memory);
        break;
    case STET_REC_plugin_error:
        q->errors += r->plugin_error.count ? r->plugin_error.count : 1;
        break;
    case STET_REC_fault:
        q->faults += r->fault.count;
        break;
    case STET_REC_loss:
        q->lost_records += r->loss.records;
        break;
    case STET_REC_process_end:
        on_end(q, &r->process_end);
        break;
    default:
        break;
    }
}

static struct stet_pulse_process *process_of(struct stet_pulse *p, size_t process,
                                             const struct stet_process_digest *d)
{
    struct stet_pulse_process *q;

    if (process >= STET_PULSE_PROCESSES)
        return NULL;
    q = &p->processes[process];
    if (!q->used) {
        q->used = true;
        stet_ledger_steps_live_init(&q->steps, p->batch);
        snprintf(q->host, sizeof q->host, "%.*s", STET_FMT(d->host));
    }
    if (process >= p->process_count)
        p->process_count = process + 1;
    q->pid = d->pid;
    q->rank = d->rank;
    return q;
}

static void on_event(void *context, size_t process, const struct stet_process_digest *d,
                     const struct stet_journal_event *e)
{
    struct stet_pulse *p = context;
    struct stet_pulse_process *q = process_of(p, process, d);
    uint64_t wall = e->time_ns + d->wall_minus_mono;

    if (!q)
        return;
    if (wall > q->last_ns)
        q->last_ns = wall;
    on_record(p, process, e);
    stet_ledger_steps_live_take(&q->steps, e, d->wall_minus_mono);
}

struct stet_live_tap stet_pulse_tap(struct stet_pulse *p)
{
    return (struct stet_live_tap){.context = p, .event = on_event};
}

/* ---- programs ---- */

/* True when the program was not known before. */
static bool is_new_program(struct stet_pulse *p, struct stet_hash program)
{
    return stet_map_get(&p->known, program.lo) == STET_MAP_NONE &&
           stet_map_put(&p->known, program.lo, 0);
}

static void on_sighting(struct stet_pulse *p, const struct stet_sighting *s)
{
    bool readable = s->traits && s->traits->readable;
    struct stet_view name = s->traits && s->traits->function.len ? s->traits->function : s->name;
    struct stet_hash skeleton =
        readable ? s->traits->fingerprint.skeleton : stet_hash_bytes(s->name);
    struct stet_pulse_family *f = NULL;

    for (size_t i = 0; i < p->family_count && !f; i++)
        if (stet_hash_eq(p->families[i].skeleton, skeleton))
            f = &p->families[i];
    if (!f) {
        if (p->family_count == STET_PULSE_FAMILIES) /* all further families share one */
            f = &p->families[STET_PULSE_FAMILIES - 1];
        else
            f = &p->families[p->family_count++];
        f->skeleton = skeleton;
        snprintf(f->name, sizeof f->name, "%.*s", STET_FMT(name));
    }
    f->compiles++;
    f->compile_ns += s->cost_ns;
    f->wait_ns += s->wait_ns;
    if (is_new_program(p, readable ? s->traits->fingerprint.key : s->program)) {
        f->programs++;
        f->grown_ns = s->time_ns;
        p->programs++;
    }
}

/* ---- XLA's dumps: a run without journals ---- */

static void take_dump(struct stet_pulse *p)
{
    for (size_t i = 0; i < p->digest->process_count && i < STET_PULSE_PROCESSES; i++) {
        const struct stet_process_digest *d = &p->digest->processes[i];
        struct stet_pulse_process *q;

        if (i < p->process_count && p->processes[i].begun)
            continue; /* it has a journal */
        if (!d->compile_count || !(q = process_of(p, i, d)))
            continue;
        q->compiles = q->served[STET_SERVED_COMPILED] = 0;
        q->compile_ns = 0;
        for (size_t k = 0; k < d->compile_count; k++) {
            q->compiles += d->compiles[k].ended;
            q->served[STET_SERVED_COMPILED] += d->compiles[k].ended;
            q->compile_ns += d->compiles[k].plugin_ns;
        }
        q->last_ns = d->compiles[d->compile_count - 1].time_ns;
    }
}

static bool is_gone(const struct stet_pulse_process *q)
{
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    return q->pid && !strcmp(host, q->host) && kill((pid_t)q->pid, 0) != 0;
}

static void each_live(void *source, stet_visit_recompile *visit, void *context)
{
    if (source)
        stet_live_each(source, visit, context);
}

static enum stet_rc recount(void *context, const struct stet_account *a,
                            const struct stet_account_tally *t, struct stet_err *err)
{
    (void)t;
    return stet_pulse_recount(context, a, NULL, 0, err);
}

/* Returns whether there may be recompiles that are not counted yet. */
static bool take_live(struct stet_pulse *p, const struct stet_live *live)
{
    const struct stet_history *h = stet_live_history(live);
    bool changed = p->live_changes != stet_live_changes(live);

    p->live_changes = stet_live_changes(live);
    p->digest = stet_live_digest(live);
    p->explains = stet_live_explains(live);
    p->damage = stet_live_damage(live);
    for (; p->sightings < h->sighting_count; p->sightings++)
        on_sighting(p, &h->sightings[p->sightings]);
    take_dump(p);
    return changed;
}

void stet_pulse_update(struct stet_pulse *p, struct stet_live *live, struct stet_torch *torch,
                       bool last)
{
    bool changed = live && take_live(p, live);

    for (size_t i = 0; i < p->process_count; i++) {
        struct stet_pulse_process *q = &p->processes[i];
        struct stet_steps_answer now;

        if (!q->used)
            continue;
        stet_ledger_steps_live_settle(&q->steps, last);
        now = stet_ledger_steps_live_now(&q->steps);
        if (now.known && now.completed > q->steps_shown)
            q->steps_shown = now.completed;
        q->gone = last || is_gone(q);
    }
    changed |= torch && stet_pulse_take_torch(p, torch);
    if (changed)
        stet_account_of_lanes(each_live, live, torch, recount, p, NULL);
}
