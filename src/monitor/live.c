/* See live.h. */
#include "monitor/live.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "journal/execs.h"
#include "ledger/events.h"
#include "ledger/run_wait.h"
#include "session/session.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* A run beyond these limits is explained only at its end. */
enum { PROCESSES = STET_LIVE_PROCESSES, COMPILES = 20000, ORDER = 1 << 16, EXECUTABLES = 1 << 22 };
enum {
    STACK_WAIT_MS = 700, /* the stack of a compile may be written after the compile */
    RUN_WAIT_MS = 3000,  /* and its first execution after that */
    HELD_MOST = 2,       /* programs that wait for their first execution to be judged */
    BLOCKS_A_MINUTE = 20,
    CAUSES = 256 /* that were reported: each is reported again at its 10th, 100th, … recompile */
};

struct order {
    uint32_t *executables, *sightings;
    size_t count;
};

struct told {
    uint64_t key, times, wait_ns, next; /* next: the count at which it is reported again */
};

struct stet_live {
    struct stet_events events;
    struct stet_session x;
    struct stet_stacks stacks;
    struct order orders[PROCESSES];
    size_t added[PROCESSES];   /* compiles of the process that are in the history */
    uint64_t ended[PROCESSES]; /* when the next one to add was first seen ended, in ms */
    size_t route[PROCESSES];   /* process + 1, by event source */
    struct stet_exec *batch;
    uint32_t reported; /* findings already reported */
    uint32_t judged;   /* findings when all were last judged */
    uint64_t changes;
    struct stet_map deferred; /* findings that may belong to a warm-up, or have no name yet */
    struct stet_map written;  /* what the file of events has of each recompile */
    void (*visit)(void *context, struct stet_session *x, uint32_t sighting);
    void *context;
    uint32_t visited; /* sightings already shown to it */
    struct told told[CAUSES];
    size_t told_count, blocks;
    uint64_t minute;             /* when the current minute of blocks began, in ms */
    size_t agreed[PROCESSES];    /* findings of the process about other ranks that were reported */
    struct stet_map differences; /* that were reported */
    struct stet_arena texts;     /* of the one that is reported now */
    int events_fd;
    struct stet_live_tap tap;
    bool off; /* off: nothing more is explained */
};

enum stet_rc stet_live_new(struct stet_live **out, const char *folder, const char *run,
                           const char *json_events, const struct stet_live_tap *tap,
                           struct stet_err *err)
{
    struct stet_live *l = NULL;
    int fd = -1;

    *out = NULL;
    if (!json_events && !tap)
        return STET_OK;
    if (json_events) {
        fd = open(json_events, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0)
            return stet_fail_errno(err, "%s", json_events);
    }
    l = stet_mem_calloc(1, sizeof *l);
    if (!l || !(l->batch = stet_mem_calloc(STET_EXECS_MAX, sizeof *l->batch)) ||
        stet_session_begin(&l->x, run, folder, NULL) != STET_OK ||
        stet_ledger_events_open(&l->events, folder, NULL) != STET_OK) {
        if (l) {
            stet_mem_free(l->batch);
            stet_session_close(&l->x);
        }
        stet_mem_free(l);
        if (fd >= 0)
            close(fd);
        return STET_OK;
    }
    snprintf(l->x.dump.dir, sizeof l->x.dump.dir, "%s/dump", folder);
    l->x.orders = stet_mem_calloc(PROCESSES, sizeof *l->x.orders);
    l->off = !l->x.orders;
    l->x.history.orders = l->x.orders;
    l->events_fd = fd;
    if (tap)
        l->tap = *tap;
    *out = l;
    return STET_OK;
}

void stet_live_watch(struct stet_live *l,
                     void (*visit)(void *context, struct stet_session *x, uint32_t sighting),
                     void *context)
{
    if (!l)
        return;
    l->visit = visit;
    l->context = context;
}

void stet_live_free(struct stet_live *l)
{
    if (!l)
        return;
    stet_ledger_events_close(&l->events);
    for (int i = 0; i < PROCESSES; i++) {
        stet_mem_free(l->orders[i].executables);
        stet_mem_free(l->orders[i].sightings);
    }
    stet_map_release(&l->deferred);
    stet_map_release(&l->written);
    stet_map_release(&l->differences);
    stet_ledger_stacks_release(&l->stacks);
    stet_mem_free(l->batch);
    stet_session_close(&l->x);
    if (l->events_fd >= 0)
        close(l->events_fd);
    stet_mem_free(l);
}

/* ---- reading ---- */

static void take_executions(struct stet_live *l, size_t process, const struct stet_rec_execs *r)
{
    struct order *o = &l->orders[process];

    if (!o->executables) {
        o->executables = stet_mem_calloc(ORDER, sizeof *o->executables);
        o->sightings = stet_mem_calloc(ORDER, sizeof *o->sightings);
    }
    if (!o->executables || !o->sightings ||
        stet_journal_execs_decode(r, l->batch, STET_EXECS_MAX, NULL) != STET_OK)
        return;
    for (uint64_t i = 0; i < r->count && o->count < ORDER; i++)
        o->executables[o->count++] = (uint32_t)l->batch[i].executable;
}

/* Small records that are written once are kept even when nothing is explained any more. */
static bool is_wanted(const struct stet_live *l, unsigned kind)
{
    return !l->off || kind == STET_REC_process || kind == STET_REC_plugin ||
           kind == STET_REC_client_create || kind == STET_REC_job || kind == STET_REC_agreement;
}

static void take(struct stet_live *l, const struct stet_run_event *e)
{
    struct stet_run_digest *d = &l->x.digest;
    struct stet_process_digest *p;

    if (e->process >= PROCESSES)
        return;
    if (e->event.kind == STET_REC_segment) {
        p = stet_ledger_run_process(d, e->event.record);
        l->route[e->process] =
            p && d->process_count <= PROCESSES ? (size_t)(p - d->processes) + 1 : 0;
        return;
    }
    if (!l->route[e->process])
        return;
    p = &d->processes[l->route[e->process] - 1];
    if (e->event.kind == STET_REC_execs && !l->off)
        take_executions(l, l->route[e->process] - 1, e->event.record);
    if (is_wanted(l, e->event.kind))
        stet_ledger_run_take(d, p, &l->stacks, &e->event);
    if (l->tap.event)
        l->tap.event(l->tap.context, l->route[e->process] - 1, p, &e->event);
}

/* ---- explaining ---- */

static bool is_ready(struct stet_live *l, size_t process, const struct stet_compile_event *c,
                     bool last)
{
    uint64_t patience;

    if (!c->ended)
        return last;
    if (last || ((c->trigger.line || c->no_stack.len) && c->ran))
        return true; /* the wait for it is known after its first execution */
    patience = c->ran ? STACK_WAIT_MS : RUN_WAIT_MS;
    /* The attach happened after the deadline had passed. */
    if (c->time_ns && stet_clock_wall_ns() > c->time_ns + c->plugin_ns + patience * 1000000)
        return true;
    if (!l->ended[process])
        l->ended[process] = (uint64_t)stet_clock_ms();
    return (uint64_t)stet_clock_ms() - l->ended[process] > patience;
}

/* Adds compiles in order, each once everything about it is known. True when there was one. */
static bool add_compiles(struct stet_live *l, bool last)
{
    bool any = false;

    for (size_t i = 0; i < l->x.digest.process_count && i < PROCESSES; i++) {
        struct stet_process_digest *p = &l->x.digest.processes[i];
        const struct stet_bundle *bundle = NULL;

        while (l->added[i] < p->compile_count && !l->off &&
               is_ready(l, i, &p->compiles[l->added[i]], last)) {
            if (!bundle)
                bundle = stet_session_bundle(&l->x.digest, p);
            l->ended[i] = 0;
            any = true;
            stet_ledger_wait_without_phases(p, &p->compiles[l->added[i]]);
            l->off = stet_session_add(&l->x, (uint32_t)i, l->added[i]++, bundle, NULL) != STET_OK ||
                     l->x.history.sighting_count >= COMPILES;
        }
    }
    return any && !l->off;
}

/* Translates executables into sightings of one process, and counts how often each ran. `of` and
 * `ran` are indexed by executable and have `highest` elements. */
static void translate_order(struct stet_history *h, struct order *o, const uint32_t *of,
                            uint64_t *ran, uint64_t highest)
{
    for (size_t k = 0; k < o->count; k++) {
        uint32_t executable = o->executables[k];

        o->sightings[k] = executable <= highest && of[executable] ? of[executable] - 1 : STET_NONE;
        if (o->sightings[k] != STET_NONE)
            ran[executable]++;
    }
    for (uint64_t e = 0; e <= highest; e++)
        if (of[e])
            stet_history_ran(h, of[e] - 1, ran[e]);
}

static void translate_process(struct stet_live *l, uint32_t process)
{
    struct stet_history *h = &l->x.history;
    uint64_t highest = 0, *ran;
    uint32_t *of;

    for (uint32_t s = 0; s < h->sighting_count; s++)
        if (h->sightings[s].process == process && h->sightings[s].executable < EXECUTABLES &&
            h->sightings[s].executable > highest)
            highest = h->sightings[s].executable;
    of = stet_mem_calloc(highest + 1, sizeof *of);
    ran = stet_mem_calloc(highest + 1, sizeof *ran);
    for (uint32_t s = 0; of && s < h->sighting_count; s++)
        if (h->sightings[s].process == process && h->sightings[s].executable &&
            h->sightings[s].executable <= highest)
            of[h->sightings[s].executable] = s + 1;
    if (of && ran)
        translate_order(h, &l->orders[process], of, ran, highest);
    stet_mem_free(of);
    stet_mem_free(ran);
}

static void translate(struct stet_live *l)
{
    struct stet_history *h = &l->x.history;

    h->order_count =
        (uint32_t)(l->x.digest.process_count < PROCESSES ? l->x.digest.process_count : PROCESSES);
    for (uint32_t i = 0; i < h->order_count; i++) {
        struct order *o = &l->orders[i];
        const struct stet_process_digest *p = &l->x.digest.processes[i];

        l->x.orders[i] = (struct stet_order){.items = o->sightings,
                                             .count = o->count,
                                             .copies = p->copies,
                                             .copy_count = p->copy_count};
        if (o->count)
            translate_process(l, i);
    }
}

/* ---- reporting ---- */

static uint64_t key_of(const struct stet_recompile *r)
{
    struct stet_hash h = stet_hash_mix_u64(stet_hash_bytes(r->function), r->cause);

    return stet_hash_mix_u64(h, r->origin.line).lo;
}

static bool may_print(struct stet_live *l)
{
    uint64_t now = (uint64_t)stet_clock_ms();

    if (now - l->minute > 60000) {
        l->minute = now;
        l->blocks = 0;
    }
    return l->blocks < BLOCKS_A_MINUTE;
}

/* A cause is reported when it first appears, then at 10, 100, 1000… times. */
static void say(struct stet_live *l, const struct stet_recompile *r)
{
    struct told *t = NULL;
    uint64_t key = key_of(r);

    for (size_t i = 0; i < l->told_count && !t; i++)
        if (l->told[i].key == key)
            t = &l->told[i];
    if (!t && l->told_count < CAUSES) {
        t = &l->told[l->told_count++];
        *t = (struct told){.key = key, .next = 1};
    }
    if (!t || (t->wait_ns += r->wait_ns, ++t->times < t->next) || !may_print(l))
        return;
    l->blocks++;
    t->next = t->times == 1 ? 10 : t->next * 10;
    l->tap.say(r, t->times, t->wait_ns);
}

static void write_event(struct stet_live *l, const struct stet_recompile *r)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;

    stet_json_init(&j, &out);
    stet_account_json_one(&j, r);
    stet_buf_char(&out, '\n');
    if (!out.failed && stet_fs_write_all(l->events_fd, out.ptr, out.len) != 0) {
        close(l->events_fd);
        l->events_fd = -1;
    }
    stet_buf_release(&out);
}

void stet_live_event(struct stet_live *l, const struct stet_recompile *r)
{
    struct stet_hash key = {0}, now = {0};
    uint32_t state;

    if (!l || l->events_fd < 0)
        return;
    key = stet_hash_mix_u64(stet_hash_mix_u64(key, r->process), r->compile);
    key = stet_hash_mix_u64(stet_hash_bytes(r->origin.file), key.lo ^ r->origin.line << 1);
    key = stet_hash_mix_u64(key, (uint64_t)r->event * STET_LANES + r->lane);
    now = stet_hash_mix_u64(stet_hash_mix_u64(now, r->cause), r->wait_ns * 2 + r->benign);
    state = (uint32_t)now.lo & 0x7fffffff;
    if (stet_map_get(&l->written, key.lo) == state)
        return;
    stet_map_put(&l->written, key.lo, state);
    write_event(l, r);
}

static bool amend(void *context, const struct stet_recompile *r)
{
    stet_live_event(context, r);
    return true;
}

static void report_one(struct stet_live *l, const struct stet_finding *f)
{
    struct stet_session_row row;

    stet_session_row(&row, &l->x.history, f);
    stet_live_event(l, &row.recompile);
    if (l->tap.say && !f->benign && !f->outside) /* the summary has those that are outside */
        say(l, &row.recompile);
}

/* Is the name of its cause not known before more of the process is seen? */
static bool is_open(const struct stet_live *l, const struct stet_finding *f)
{
    const struct stet_sighting *s = &l->x.history.sightings[f->sighting];

    return f->open && !l->x.digest.processes[s->process].ended;
}

/* The first steps of a loop compile programs that are normal: an optimizer creates its state in the
 * first one. A recompile is held back until it, or the program before it, has run twice, its
 * process has ended, or more recompiles followed; and, as long, while its cause has no name yet. */
static bool is_held(const struct stet_live *l, const struct stet_finding *f)
{
    const struct stet_history *h = &l->x.history;
    const struct stet_sighting *s = &h->sightings[f->sighting];

    return f->cause != STET_CAUSE_NONE && !f->benign && f->against != STET_NONE &&
           ((s->executions < 2 && h->sightings[f->against].executions < 2) || is_open(l, f)) &&
           l->orders[s->process].count && !l->x.digest.processes[s->process].ended &&
           l->reported + HELD_MOST >= h->finding_count;
}

static bool is_for_the_end(struct stet_live *l, const struct stet_finding *f)
{
    return is_open(l, f) || stet_history_needs_steps(&l->x.history.sightings[f->sighting]) ||
           stet_history_may_be_ahead(&l->x.history, f);
}

static void report(struct stet_live *l, bool last)
{
    for (; l->reported < l->x.history.finding_count; l->reported++) {
        const struct stet_finding *f = &l->x.history.findings[l->reported];

        if (!last && is_held(l, f))
            return;
        if (f->cause == STET_CAUSE_NONE || stet_history_outside(&l->x.history, f))
            continue;
        if (!last && !f->benign && is_for_the_end(l, f) &&
            stet_map_put(&l->deferred, l->reported, 1))
            continue;
        report_one(l, f);
    }
}

/* The steps of a run are counted when all of it was read, if a finding needs them. */
static void fill_steps(struct stet_live *l)
{
    const struct stet_history *h = &l->x.history;
    bool needed = false;

    for (uint32_t i = 0; !needed && i < h->finding_count; i++)
        needed = stet_history_needs_steps(&h->sightings[h->findings[i].sighting]);
    if (needed)
        stet_session_count_steps(&l->x);
}

/* Operations outside any jitted function wait until the run is over, and so do the programs of a
 * warm-up and recompiles whose cause still has no name: whether a loop runs them again, and who
 * runs them, is known only then. What was named before may have a better name now. */
static void report_whole(struct stet_live *l)
{
    struct stet_history *h = &l->x.history;

    if (stet_history_judge(h, NULL) != STET_OK) {
        l->off = true;
        return;
    }
    l->judged = h->finding_count;
    for (uint32_t i = 0; i < h->finding_count; i++)
        if (h->findings[i].outside || stet_map_get(&l->deferred, i) != STET_NONE)
            report_one(l, &h->findings[i]);
    if (l->events_fd >= 0)
        stet_live_each(l, amend, l);
}

/* ---- ranks that differ ---- */

void stet_live_difference(struct stet_live *l, const struct stet_divergence *d)
{
    struct stet_buf line = STET_BUF_INIT;
    struct stet_json j;

    if (l->events_fd < 0)
        return;
    stet_json_init(&j, &line);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "event", "divergence");
    stet_json_array(&j, "divergences");
    stet_divergence_json(&j, d);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(&line, '\n');
    if (!line.failed)
        stet_fs_write_all(l->events_fd, line.ptr, line.len);
    stet_buf_release(&line);
}

/* Its compile and both programs are in the folder before the finding is in the journal. */
static void report_difference(struct stet_live *l, size_t process,
                              const struct stet_agreement_event *a)
{
    const struct stet_divergence_source source = {.digest = &l->x.digest,
                                                  .folder = l->x.folder,
                                                  .programs = l->x.programs,
                                                  .arena = &l->texts};
    uint64_t key = stet_divergence_key(&l->x.digest.processes[process], a);
    struct stet_divergence d;

    if (stet_map_get(&l->differences, key) != STET_MAP_NONE ||
        !stet_map_put(&l->differences, key, 1))
        return;
    stet_arena_init(&l->texts, (size_t)16 << 20);
    stet_divergence_make(&d, &source, process, a);
    if (l->tap.differ)
        l->tap.differ(&d);
    stet_live_difference(l, &d);
    stet_arena_release(&l->texts);
}

static void report_differences(struct stet_live *l)
{
    for (size_t i = 0; i < l->x.digest.process_count && i < PROCESSES; i++) {
        struct stet_process_digest *p = &l->x.digest.processes[i];

        while (l->agreed[i] < p->agreement_count)
            report_difference(l, i, &p->agreements[l->agreed[i]++]);
    }
}

void stet_live_poll(struct stet_live *l, bool last)
{
    struct stet_run_event e;

    if (!l || (l->off && !l->tap.event) || stet_ledger_events_refresh(&l->events, NULL) != STET_OK)
        return;
    while (stet_ledger_events_next(&l->events, &e) == STET_OK)
        take(l, &e);
    report_differences(l);
    if (l->off)
        return;
    if (!l->events.process_count)
        stet_dump_scan(&l->x.dump, &l->x.digest, l->x.programs, last);
    if (!add_compiles(l, last) && !last && l->reported == l->x.history.finding_count)
        return;
    translate(l);
    l->changes++;
    if (last)
        fill_steps(l);
    if (stet_history_judge_from(&l->x.history, l->reported, NULL) != STET_OK) {
        l->off = true;
        return;
    }
    report(l, last);
    if (last)
        report_whole(l);
    while (l->visit && l->visited < l->x.history.sighting_count)
        l->visit(l->context, &l->x, l->visited++);
}

/* What comes later may show what an earlier recompile was. Judging all of them anew takes time and
 * memory, so it happens as their number grows by a quarter, and at the end. */
static void judge_anew(struct stet_live *l)
{
    struct stet_history *h = &l->x.history;

    if (l->off || h->finding_count < l->judged + l->judged / 4 + 1)
        return;
    l->judged = h->finding_count;
    if (stet_history_judge_from(h, 0, NULL) != STET_OK)
        l->off = true;
}

void stet_live_each(struct stet_live *l,
                    bool (*visit)(void *context, const struct stet_recompile *r), void *context)
{
    const struct stet_history *h = &l->x.history;
    bool more = true;

    judge_anew(l);
    for (uint32_t i = 0; more && i < h->finding_count; i++) {
        const struct stet_finding *f = &h->findings[i];
        struct stet_session_row row;

        if (f->cause == STET_CAUSE_NONE || is_open(l, f) ||
            (!h->whole && stet_history_outside(h, f)))
            continue;
        stet_session_row(&row, h, f);
        more = visit(context, &row.recompile);
    }
}

uint64_t stet_live_changes(const struct stet_live *l)
{
    return l->changes;
}

const struct stet_run_digest *stet_live_digest(const struct stet_live *l)
{
    return &l->x.digest;
}

const struct stet_history *stet_live_history(const struct stet_live *l)
{
    return &l->x.history;
}

bool stet_live_explains(const struct stet_live *l)
{
    return !l->off;
}

struct stet_journal_damage stet_live_damage(const struct stet_live *l)
{
    struct stet_journal_damage sum = {0};

    for (size_t i = 0; i < l->events.process_count; i++) {
        struct stet_journal_damage one = stet_ledger_events_damage(&l->events, i);

        sum.regions += one.regions;
        sum.bytes += one.bytes;
        sum.tail += one.tail;
    }
    return sum;
}
