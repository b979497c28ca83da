/* See pod.h: the thread, and the life of a pod. */
#include "intercept/pod.h"

#include "base/mem.h"
#include "intercept/pod_exit.h"
#include "intercept/pod_internal.h"
#include "intercept/threads.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum { LEAVE_MS = 10000 };

struct stet_pod stet_pod = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct timespec in_ms(uint32_t ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* ---- the thread ---- */

static struct stet_hash scope_of(const struct stet_pod_turn *t)
{
    const struct stet_pod_ranks *r = t->scope ? &stet_pod.scopes[t->scope - 1] : NULL;

    return r ? stet_pod_member_scope(stet_pod.member, r->ranks, r->count) : (struct stet_hash){0};
}

/* Takes what was queued; the list of open turns is the thread's. */
static void enter_queued(void)
{
    struct stet_pod_turn *t, *next;

    pthread_mutex_lock(&stet_pod.lock);
    t = stet_pod.queue;
    stet_pod.queue = NULL;
    pthread_mutex_unlock(&stet_pod.lock);
    for (; t; t = next) {
        next = t->next;
        t->entry.scope = scope_of(t);
        stet_pod_member_enter(stet_pod.member, &t->entry, t->begin_ns);
        stet_pod.indexes[t->entry.number % STET_POD_NAMES] = t->index + 1;
        atomic_fetch_add(&stet_pod.compared, 1);
        t->next = stet_pod.open;
        stet_pod.open = t;
    }
}

/* Passes findings on to compiles that wait for them. */
static void settle_turns(void)
{
    struct stet_pod_turn **at = &stet_pod.open;

    while (*at) {
        struct stet_pod_turn *t = *at;
        enum stet_pod_finding f = stet_pod_member_finding(stet_pod.member, t->entry.number);
        bool over;

        if (f) {
            atomic_store(&t->finding, (int)f);
            stet_flag_set(&t->settled);
        }
        pthread_mutex_lock(&stet_pod.lock);
        over = !t->open && f; /* a leader may hear of a difference later, while it compiles */
        pthread_mutex_unlock(&stet_pod.lock);
        if (over) {
            *at = t->next;
            stet_intercept_pod_drop(t);
        } else {
            at = &t->next;
        }
    }
}

/* True when the pod has ended. */
static bool wait_for_more(uint32_t ms)
{
    struct timespec until = in_ms(ms);
    int rc = 0;
    bool stop;

    pthread_mutex_lock(&stet_pod.lock);
    while (!stet_pod.stop && !stet_pod.queue && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&stet_pod.moved, &stet_pod.lock, &until);
    stop = stet_pod.stop;
    pthread_mutex_unlock(&stet_pod.lock);
    return stop;
}

static bool prepare(void)
{
    struct stet_pod_host host;
    struct stet_pod_timing timing;
    bool ready = stet_intercept_pod_choose();

    if (ready && !stet_pod.member) {
        stet_pod_timing_init(&timing, stet_pod.set.world);
        if (stet_pod.set.late_ms)
            timing.late = stet_pod.set.late_ms;
        stet_intercept_pod_host(&host);
        ready = stet_pod_member_new(&stet_pod.member, stet_pod.set.rank, stet_pod.set.world,
                                    &stet_pod.channel, &timing, &host, NULL) == STET_OK;
    }
    pthread_mutex_lock(&stet_pod.lock);
    stet_pod.state = ready ? STET_POD_ON : STET_POD_OVER;
    pthread_cond_broadcast(&stet_pod.moved);
    pthread_mutex_unlock(&stet_pod.lock);
    return ready;
}

static void leave_early(void);

static void *serve(void *unused)
{
    struct timespec used = {0};
    uint64_t before = 0;
    bool over;

    (void)unused;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0) /* the thread may have worked before */
        before = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
    over = !prepare();
    if (!over && stet_pod.channel.kind->lent)
        stet_intercept_pod_exit_watch(leave_early);
    while (!over) {
        uint32_t ms;

        enter_queued();
        ms = stet_pod_member_tick(stet_pod.member);
        settle_turns();
        over = wait_for_more(ms);
        if (over)
            stet_pod_member_last(stet_pod.member);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    pthread_mutex_lock(&stet_pod.lock);
    stet_pod.state = STET_POD_OVER;
    stet_pod.running = false;
    stet_pod.cpu_ns += (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec - before;
    pthread_cond_broadcast(&stet_pod.moved);
    pthread_mutex_unlock(&stet_pod.lock);
    return NULL;
}

/* ---- life ---- */

static bool make_tables(void)
{
    if (stet_pod.of)
        return true;
    stet_pod.of = stet_mem_calloc(STET_POD_EXECUTABLES, sizeof *stet_pod.of);
    stet_pod.names = stet_mem_calloc(STET_POD_NAMES, sizeof *stet_pod.names);
    stet_pod.indexes = stet_mem_calloc(STET_POD_NAMES, sizeof *stet_pod.indexes);
    return stet_pod.of && stet_pod.names && stet_pod.indexes;
}

/* Waits have deadlines on a clock that cannot be set. */
static void make_condition(void)
{
    pthread_condattr_t attr;

    if (stet_pod.has_condition)
        return;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&stet_pod.moved, &attr);
    pthread_condattr_destroy(&attr);
    stet_pod.has_condition = true;
}

void stet_intercept_pod_start(void)
{
    if (!make_tables()) {
        stet_fault(STET_FAULT_NO_MEMORY);
        return;
    }
    make_condition();
    stet_pod.stop = stet_pod.start_awaited = false;
    atomic_store(&stet_pod.job_written, false);
    stet_pod.state = STET_POD_STARTING;
    stet_pod.running = true;
    if (!stet_threads_start(serve, NULL)) {
        stet_pod.running = false;
        stet_pod.state = STET_POD_OVER;
    }
}

/* With the lock held. True if the thread has ended and no other thread uses the channel. */
static bool await_end(uint32_t ms)
{
    struct timespec until = in_ms(ms);
    int rc = 0;

    while ((stet_pod.running || stet_pod.users) && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&stet_pod.moved, &stet_pod.lock, &until);
    return !stet_pod.running && !stet_pod.users;
}

/* A channel that the framework lent is not used any more. */
static void close_lent(void)
{
    if (stet_pod.channel.kind && stet_pod.channel.kind->lent)
        atomic_store(&stet_pod.channel.closed, true);
}

static void end(uint32_t ms)
{
    bool ended = true, awaited;

    pthread_mutex_lock(&stet_pod.lock);
    awaited = stet_pod.stop; /* a call that did not return then is not waited for again */
    if (stet_pod.running && !stet_pod.stop) {
        stet_pod.stop = true;
        if (stet_pod.member)
            stet_pod_member_stop(stet_pod.member);
        pthread_cond_broadcast(&stet_pod.moved);
    }
    if (stet_pod.running || stet_pod.users)
        ended = await_end(awaited ? 0 : ms);
    pthread_mutex_unlock(&stet_pod.lock);
    close_lent();
    if (!ended)
        stet_fault(STET_FAULT_POD);
    if (!ended) /* unless it was written, when this rank had joined */
        stet_intercept_pod_write_job((struct stet_hash){0}, "a call of the channel did not return");
    stet_intercept_pod_summary(ended);
}

/* Python ends, and what was lent is still there. */
static void leave_early(void)
{
    if (stet_pod.state != STET_POD_OFF)
        end(LEAVE_MS);
}

void stet_intercept_pod_leave(uint32_t id)
{
    if (stet_pod.client == id && stet_pod.state != STET_POD_OFF) {
        close_lent(); /* JAX frees its store before it destroys the client */
        end(LEAVE_MS);
    }
}

void stet_intercept_pod_finish(int ms)
{
    if (stet_pod.state != STET_POD_OFF) {
        close_lent();
        end((uint32_t)ms);
    }
}

/* With the lock held: waits until the channel is chosen; for READY_MS, and only once. */
static void await_start(void)
{
    enum { READY_MS = 2000 };
    struct timespec until = in_ms(READY_MS);
    uint64_t begin = stet_journal_now();
    int rc = 0;

    if (stet_pod.state != STET_POD_STARTING || stet_pod.start_awaited)
        return;
    while (stet_pod.state == STET_POD_STARTING && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&stet_pod.moved, &stet_pod.lock, &until);
    stet_pod.start_awaited = rc == ETIMEDOUT;
    stet_intercept_pod_waited(stet_journal_now() - begin);
}

bool stet_intercept_pod_is_on(void)
{
    return stet_pod.state == STET_POD_STARTING || stet_pod.state == STET_POD_ON;
}

bool stet_intercept_pod_may_agree(void)
{
    bool may;

    pthread_mutex_lock(&stet_pod.lock);
    await_start();
    may = stet_pod.state == STET_POD_ON && stet_pod.channel.reach == STET_POD_REACH_JOB;
    pthread_mutex_unlock(&stet_pod.lock);
    return may;
}

int64_t stet_intercept_pod_rank(void)
{
    return stet_pod.state == STET_POD_OFF ? -1 : stet_pod.set.rank;
}

int64_t stet_intercept_pod_world(void)
{
    return stet_pod.state == STET_POD_OFF ? 0 : stet_pod.set.world;
}

struct stet_pod_channel *stet_intercept_pod_channel(enum stet_pod_reach least)
{
    struct stet_pod_channel *c = NULL;

    pthread_mutex_lock(&stet_pod.lock);
    await_start();
    if (stet_pod.state == STET_POD_ON && !stet_pod.stop && stet_pod.channel.reach >= least &&
        !atomic_load(&stet_pod.channel.given_up)) {
        c = &stet_pod.channel;
        stet_pod.users++;
    }
    pthread_mutex_unlock(&stet_pod.lock);
    return c;
}

void stet_intercept_pod_put_back(void)
{
    pthread_mutex_lock(&stet_pod.lock);
    stet_pod.users--;
    pthread_cond_broadcast(&stet_pod.moved);
    pthread_mutex_unlock(&stet_pod.lock);
}

void stet_intercept_pod_fork_prepare(void)
{
    pthread_mutex_lock(&stet_pod.lock);
}

void stet_intercept_pod_fork_done(void)
{
    pthread_mutex_unlock(&stet_pod.lock);
}

/* The child is another process than the rank: it compares nothing. */
void stet_intercept_pod_fork_child(void)
{
    stet_pod.state = STET_POD_OFF;
    stet_pod.has_condition = false;
    stet_pod.client = 0;
    stet_pod.running = false;
    stet_pod.users = 0;
    stet_pod.queue = NULL;
}
