/* See rank_state.h. */
#include "monitor/rank_state.h"

#include "base/mem.h"
#include "base/path.h"
#include "fingerprint/traits.h"
#include "monitor/rank_beacon.h"
#include "monitor/thread_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WATCH_MS = 250, MISSING_MOST = 256 };

const char *stet_monitor_rank_word(enum stet_rank_kind kind)
{
    static const char *const words[] = {
#define KIND(id, word, what) word,
#include "monitor/rank_kinds.def"
#undef KIND
    };

    return words[kind];
}

/* One process while it is looked at. */
struct look {
    const struct stet_pulse_process *pulse;
    const struct stet_process_digest *digest;
    bool here; /* on this host */
    struct stet_thread_state before, after;
};

/* ---- programs ---- */

static const struct stet_compile_event *compile_of(const struct stet_process_digest *d,
                                                   uint64_t executable)
{
    for (size_t i = d->compile_count; i-- > 0;) {
        if (executable && d->compiles[i].executable == executable)
            return &d->compiles[i];
    }
    return NULL;
}

static const struct stet_compile_event *open_compile(const struct stet_process_digest *d)
{
    for (size_t i = d->compile_count; i-- > 0;) {
        if (!d->compiles[i].ended && !d->compiles[i].load)
            return &d->compiles[i];
    }
    return NULL;
}

static uint64_t runs_of(const struct look *l, uint64_t executable)
{
    return executable < l->pulse->runs_room ? l->pulse->runs[executable] : 0;
}

/* How often a process has started the same program, under all its executables. */
static bool runs_of_program(const struct look *l, struct stet_hash program, uint64_t *runs)
{
    bool knows = false;

    *runs = 0;
    for (size_t i = 0; i < l->digest->compile_count; i++) {
        const struct stet_compile_event *c = &l->digest->compiles[i];

        if (!c->executable || !stet_hash_eq(c->program, program))
            continue;
        knows = true;
        *runs += runs_of(l, c->executable);
    }
    return knows;
}

/* Are the counts of the process complete? One that was killed or stopped has not written what it
 * did in its last tenth of a second. */
static bool has_written(const struct look *l)
{
    return l->pulse->ended || (l->here && l->after.there && !strchr("TtZX", l->after.state));
}

/* Which ranks have started less often what this one started last and waits for? Only ranks that
 * have the same program, and whose counts are complete, are compared. */
static void compare(struct stet_rank_state *s, const struct look *own, const struct look *looks,
                    size_t count)
{
    const struct stet_compile_event *c = compile_of(own->digest, own->pulse->last_executable);
    struct stet_hash none = {0, 0};

    if (!c || stet_hash_eq(c->program, none) || !runs_of_program(own, c->program, &s->runs))
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t runs;

        if (&looks[i] == own || looks[i].pulse->rank < 0 ||
            looks[i].pulse->rank == own->pulse->rank || !has_written(&looks[i]) ||
            !runs_of_program(&looks[i], c->program, &runs) || runs >= s->runs)
            continue;
        if (!s->behind++ || runs < s->behind_runs) {
            s->behind_rank = looks[i].pulse->rank;
            s->behind_runs = runs;
        }
    }
}

/* ---- lines ---- */

static void take_frame(char file[256], char function[96], uint64_t *line,
                       const struct stet_remote_frame *f)
{
    memcpy(file, f->file, sizeof f->file);
    memcpy(function, f->function, sizeof f->function);
    *line = f->line;
}

/* Python 3.<minor>, of "3.11.7 (main, …)". */
static unsigned minor_of(struct stet_view version)
{
    unsigned minor = 0;

    if (!stet_view_starts(version, "3."))
        return 0;
    for (size_t i = 2; i < version.len && version.ptr[i] >= '0' && version.ptr[i] <= '9'; i++)
        minor = minor * 10 + (unsigned)(version.ptr[i] - '0');
    return minor;
}

/* Where the thread is now. */
static void read_lines(struct stet_rank_state *s, const struct look *l)
{
    const struct stet_remote_place place = {.pid = (pid_t)l->pulse->pid,
                                            .state = l->pulse->py_state,
                                            .code_type = l->pulse->py_code_type,
                                            .minor = minor_of(l->digest->python)};
    static struct stet_remote_frame frames[STET_REMOTE_FRAMES];
    struct stet_err err = STET_ERR_INIT;
    size_t n = stet_remote_stack_read(&place, frames, &err), own = 0;

    if (!n) {
        snprintf(s->why_not, sizeof s->why_not, "%.120s", err.text);
        return;
    }
    while (own < n && stet_path_is_installed(stet_view_str(frames[own].file)))
        own++;
    s->now = true;
    take_frame(s->file, s->function, &s->line, &frames[own < n ? own : 0]);
    if (own > 0 && own < n)
        take_frame(s->inner_file, s->inner_function, &s->inner_line, &frames[0]);
}

/* The line of the last compile whose stack was read. */
static void remember_line(struct stet_rank_state *s, const struct stet_process_digest *d)
{
    for (size_t i = d->compile_count; i-- > 0 && !s->line;) {
        const struct stet_trigger *t = &d->compiles[i].trigger;

        snprintf(s->file, sizeof s->file, "%.*s", STET_FMT(t->file));
        snprintf(s->function, sizeof s->function, "%.*s", STET_FMT(t->function));
        s->line = t->line;
    }
}

/* A package whose functions start programs and wait for them. */
static bool is_framework(const char *file)
{
    static const char *const packages[] = {
        "/site-packages/jax/",       "/site-packages/jaxlib/",   "/site-packages/torch_xla/",
        "/site-packages/torch_tpu/", "/dist-packages/jax/",      "/dist-packages/jaxlib/",
        "/dist-packages/torch_xla/", "/dist-packages/torch_tpu/"};

    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        if (strstr(file, packages[i]))
            return true;
    }
    return false;
}

/* Is a thread that runs in one place, as in a call of the plugin? Tracing moves from line to line.
 */
static bool stays(const struct stet_rank_state *s, const struct look *l)
{
    enum { LOOKS = 5 };
    struct timespec pause = {.tv_nsec = 20000000};

    for (int i = 0; i < LOOKS; i++) {
        struct stet_rank_state again = {0};

        nanosleep(&pause, NULL);
        read_lines(&again, l);
        if (again.inner_line != s->inner_line || strcmp(again.inner_file, s->inner_file) != 0)
            return false;
    }
    return true;
}

/* ---- one process ---- */

static void take_finished(struct stet_rank_state *s, const struct look *l, uint64_t now_ns)
{
    const struct stet_pulse_process *q = l->pulse;
    const struct stet_compile_event *last = compile_of(l->digest, q->last_finished);
    const struct stet_compile_event *oldest = compile_of(l->digest, q->pending_executable);

    s->finished_known = q->finished_known;
    s->pending_count = q->pending;
    if (last)
        s->finished = stet_traits_function_of(last->name);
    if (q->pending && oldest)
        s->pending = stet_traits_function_of(oldest->name);
    if (q->pending && now_ns > q->pending_since_ns)
        s->pending_ns = now_ns - q->pending_since_ns;
}

/* Is it known what has finished? A process writes that once a second. */
static bool is_settled(const struct stet_rank_state *s)
{
    enum { SETTLED_S = 2 };

    return s->finished_known && s->age_ns > SETTLED_S * UINT64_C(1000000000);
}

/* Does its thread wait for a program that it started? It is in a function of the framework, or in C
 * directly below the user's line, as in x.block_until_ready(), while a program has not finished. */
static bool is_in_program(const struct stet_rank_state *s, const struct look *l, bool runs)
{
    if (is_settled(s) && !s->pending_count)
        return false;
    if (is_framework(s->inner_file))
        return l->pulse->executions && (!runs || stays(s, l));
    return is_settled(s) && !runs && !s->inner_line && l->after.blocked_in &&
           !strcmp(l->after.blocked_in, STET_BLOCKED_FUTEX);
}

static enum stet_rank_kind judge(struct stet_rank_state *s, const struct look *l)
{
    const struct stet_compile_event *c = open_compile(l->digest);
    bool runs = stet_monitor_thread_ran(&l->before, &l->after);

    if (l->pulse->ended)
        return STET_RANK_ENDED;
    if (!l->here)
        return STET_RANK_ELSEWHERE;
    if (!l->after.there || l->after.state == 'Z' || l->after.state == 'X')
        return STET_RANK_DEAD;
    if (l->after.state == 'T' || l->after.state == 't')
        return STET_RANK_STOPPED;
    if (c)
        return STET_RANK_COMPILING;
    if (!s->now)
        return runs ? STET_RANK_HOST : STET_RANK_UNKNOWN;
    if (is_in_program(s, l, runs))
        return STET_RANK_DEVICE;
    return runs ? STET_RANK_HOST : STET_RANK_WAITING;
}

static void add_memory(struct stet_rank_state *s, const struct stet_pulse *p, size_t process)
{
    for (size_t i = 0; i < p->device_count; i++) {
        if (p->devices[i].process != process)
            continue;
        s->memory += p->devices[i].in_use;
        s->memory_peak += p->devices[i].peak;
    }
}

static void describe(struct stet_rank_state *s, const struct look *l, const char *folder,
                     uint64_t now_ns)
{
    const struct stet_compile_event *c = compile_of(l->digest, l->pulse->last_executable);
    struct stet_steps_answer steps = stet_ledger_steps_live_now(&l->pulse->steps);

    *s = (struct stet_rank_state){.rank = l->pulse->rank,
                                  .pid = l->pulse->pid,
                                  .host = l->pulse->host,
                                  .executions = l->pulse->executions,
                                  .wait_ns = l->pulse->wait_ns,
                                  .steps_known = steps.known,
                                  .steps = steps.known ? steps.completed : 0};
    s->age_ns = now_ns > l->pulse->last_ns ? now_ns - l->pulse->last_ns : 0;
    if (c) {
        s->program = stet_traits_function_of(c->name);
        s->runs = runs_of(l, l->pulse->last_executable);
    }
    if (l->here && l->after.there && !l->pulse->ended)
        read_lines(s, l);
    if (!s->now)
        remember_line(s, l->digest);
    s->at_least = l->here && !has_written(l);
    take_finished(s, l, now_ns);
    s->kind = judge(s, l);
    if (s->kind == STET_RANK_ELSEWHERE)
        stet_monitor_beacon_read(folder, s);
    if (s->kind == STET_RANK_DEAD || s->kind == STET_RANK_ENDED)
        s->why_not[0] = '\0'; /* it is nowhere */
    if (s->kind == STET_RANK_WAITING && l->here)
        s->blocked_in = l->after.blocked_in;
    c = s->kind == STET_RANK_COMPILING ? open_compile(l->digest) : NULL;
    if (c) { /* its name is known only when it has ended */
        s->open_ns = now_ns > c->time_ns ? now_ns - c->time_ns : 0;
        s->program = stet_traits_function_of(c->name);
        s->runs = 0;
    }
}

/* ---- the job ---- */

static int in_order(const void *a, const void *b)
{
    const struct stet_rank_state *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->steps_known && y->steps_known && x->steps != y->steps)
        return x->steps < y->steps ? -1 : 1;
    if (x->executions != y->executions)
        return x->executions < y->executions ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Ranks that the launcher has and no journal; at most MISSING_MOST are listed. */
static void add_missing(struct stet_rank_states *s, size_t room)
{
    size_t seen = s->count;

    for (int64_t rank = 0; rank < s->world && s->count < room; rank++) {
        size_t i = 0;

        while (i < seen && s->items[i].rank != rank)
            i++;
        if (i == seen)
            s->items[s->count++] =
                (struct stet_rank_state){.kind = STET_RANK_MISSING, .rank = rank, .host = ""};
    }
}

static uint64_t look_at_all(const struct stet_monitor_attach *a, struct look *looks)
{
    const struct stet_run_digest *digest = stet_live_digest(a->live);
    struct timespec pause = {.tv_nsec = WATCH_MS * 1000000L}, now;
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    for (int second = 0; second < 2; second++) {
        for (size_t i = 0; i < a->pulse->process_count; i++) {
            const struct stet_pulse_process *q = &a->pulse->processes[i];
            struct look *l = &looks[i];

            l->pulse = q;
            l->digest = &digest->processes[i];
            l->here = q->used && q->pid && !strcmp(host, q->host);
            if (l->here)
                stet_monitor_thread_look((pid_t)q->pid, (pid_t)q->py_thread, l->digest->first_ns,
                                         second ? &l->after : &l->before);
        }
        if (!second)
            nanosleep(&pause, NULL);
    }
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_over(const struct look *l)
{
    return l->pulse->ended || (l->here && (!l->after.there || strchr("ZX", l->after.state)));
}

/* A process of an attempt before: it is over, and its rank has begun again, or another job has. */
static bool is_replaced(const struct look *old, const struct look *looks, size_t count)
{
    const struct stet_hash none = {0, 0};

    for (size_t i = 0; i < count && is_over(old); i++) {
        const struct stet_process_digest *d = looks[i].digest;
        bool same_rank = old->pulse->rank >= 0 && looks[i].pulse->rank == old->pulse->rank;

        if (!looks[i].pulse->used || d->first_ns <= old->digest->first_ns)
            continue;
        if (same_rank || (!stet_hash_eq(d->job, none) && !stet_hash_eq(d->job, old->digest->job) &&
                          !stet_hash_eq(old->digest->job, none)))
            return true;
    }
    return false;
}

void stet_monitor_ranks_sort(struct stet_rank_states *s)
{
    qsort(s->items, s->count, sizeof *s->items, in_order);
}

enum stet_rc stet_monitor_ranks_look(struct stet_rank_states *out,
                                     const struct stet_monitor_attach *a, struct stet_err *err)
{
    size_t n = a->pulse->process_count, room = n + MISSING_MOST;
    size_t all = stet_live_digest(a->live)->process_count;
    struct look *looks = stet_mem_calloc(n + 1, sizeof *looks);
    uint64_t now_ns;

    *out = (struct stet_rank_states){.items = stet_mem_calloc(room, sizeof *out->items)};
    stet_arena_init(&out->arena, (size_t)4 << 20);
    if (!looks || !out->items) {
        stet_mem_free(looks);
        stet_monitor_ranks_release(out);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    now_ns = look_at_all(a, looks);
    for (size_t i = 0; i < n; i++) {
        struct stet_rank_state *s = &out->items[out->count];

        if (!looks[i].pulse->used || is_replaced(&looks[i], looks, n))
            continue;
        describe(s, &looks[i], a->folder, now_ns);
        add_memory(s, a->pulse, i);
        if (s->kind == STET_RANK_WAITING || s->kind == STET_RANK_DEVICE)
            compare(s, &looks[i], looks, n);
        if (!out->world)
            out->world = looks[i].digest->world > 1 ? looks[i].digest->world : 0;
        out->count++;
    }
    out->left_out = all > n ? all - n : 0;
    if (a->running && !out->left_out)
        add_missing(out, room);
    stet_monitor_ranks_sort(out);
    stet_mem_free(looks);
    return STET_OK;
}

void stet_monitor_ranks_release(struct stet_rank_states *s)
{
    stet_mem_free(s->items);
    stet_arena_release(&s->arena);
    *s = (struct stet_rank_states){0};
}
