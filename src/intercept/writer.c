/* A queue of records, the ring of executions, and one thread that writes both in order. */
#include "intercept/writer.h"

#include "base/fs.h"
#include "base/mem.h"
#include "intercept/drain.h"
#include "intercept/finished.h"
#include "intercept/layer.h"
#include "intercept/load_watch.h"
#include "intercept/plugin.h"
#include "intercept/threads.h"
#include "intercept/wait.h"
#include "store/quarantine.h"

#include <pthread.h>
#include <time.h>

enum { BUSY_MS = 100, IDLE_MS = 1000, QUEUE_MAX = 16384 };
/* How long a fork waits for the record that is being written; the shorter time after a wait in
 * vain. */
enum { FORK_MS = 3000, FORK_AGAIN_MS = 300 };
/* If this many records wait, programs are written after them. */
enum { BEHIND = 256 };
/* For an event of this many bytes, freeing it is worth the wait. */
enum { HEAVY = 256 << 10 };
static const size_t queue_bytes_max = (size_t)1 << 30;
static const size_t event_cap = (size_t)16 << 20;

/* `queue_lock` is held for a few instructions; `pump_lock` while the disk is written, and only the
 * writer thread, exit and fork take it. A pump releases it between two records if a fork waits. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pump_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stet_event *queue, **queue_end = &queue;
static size_t queue_count, queue_bytes;
static struct stet_event *later, **later_end = &later; /* with pump_lock held */
static struct stet_event *done;                        /* with queue_lock held; see retire */
static _Atomic int forks_waiting;

static struct stet_flag poked;
static atomic_bool running, ended;
static atomic_bool used; /* the journal has, or will have, something of this process */

/* An event's memory belongs to the malloc arena of the thread that allocated it. If that thread and
 * its neighbours are busy, a free() from another thread may wait for their lock for seconds, and
 * all records with it. So the writer does not free: a thread that creates an event frees two
 * finished ones, and the writer frees the rest when it is idle. */
static void retire(struct stet_event *e)
{
    pthread_mutex_lock(&queue_lock);
    e->next = done;
    done = e;
    pthread_mutex_unlock(&queue_lock);
}

static bool free_retired(void)
{
    struct stet_event *e;

    pthread_mutex_lock(&queue_lock);
    e = done;
    if (e)
        done = e->next;
    pthread_mutex_unlock(&queue_lock);
    stet_event_free(e);
    return e != NULL;
}

struct stet_event *stet_event_new(enum stet_rec kind)
{
    struct stet_event *e = stet_mem_calloc(1, sizeof *e);

    if (free_retired())
        free_retired();
    if (!e) {
        stet_fault(STET_FAULT_NO_MEMORY);
        return NULL;
    }
    e->kind = kind;
    e->time_ns = stet_journal_now();
    e->ring_end = stet_ring_head(&stet_layer.ring);
    stet_arena_init(&e->arena, event_cap);
    return e;
}

void stet_event_free(struct stet_event *e)
{
    if (!e)
        return;
    stet_arena_release(&e->arena);
    stet_mem_free((void *)(uintptr_t)e->bytes[0].ptr);
    stet_mem_free((void *)(uintptr_t)e->bytes[1].ptr);
    if (e->drop)
        e->drop(e->extra);
    else
        stet_mem_free(e->extra);
    stet_mem_free(e);
}

void stet_event_take(struct stet_event *e, size_t which, struct stet_view bytes)
{
    char *copy = stet_mem_alloc(bytes.len);

    if (!copy) {
        stet_fault(STET_FAULT_NO_MEMORY);
        return;
    }
    memcpy(copy, bytes.ptr, bytes.len);
    e->bytes[which] = stet_view_of(copy, bytes.len);
}

static size_t weight(const struct stet_event *e)
{
    return e->arena.used + e->bytes[0].len + e->bytes[1].len;
}

/* If the queue is too full, the record is sent without its bytes. */
static void lighten(struct stet_event *e)
{
    for (size_t i = 0; i < 2; i++) {
        stet_mem_free((void *)(uintptr_t)e->bytes[i].ptr);
        e->bytes[i] = (struct stet_view){0};
    }
    stet_fault(STET_FAULT_QUEUE_FULL);
}

static bool enqueue(struct stet_event *e)
{
    bool fits;

    pthread_mutex_lock(&queue_lock);
    if (weight(e) > queue_bytes_max - queue_bytes && weight(e) > e->arena.used)
        lighten(e);
    fits = queue_count < QUEUE_MAX && weight(e) <= queue_bytes_max - queue_bytes;
    if (fits) {
        *queue_end = e;
        queue_end = &e->next;
        queue_count++;
        queue_bytes += weight(e);
    }
    pthread_mutex_unlock(&queue_lock);
    return fits;
}

void stet_event_send(struct stet_event *e)
{
    if (atomic_load(&ended)) {
        stet_event_free(e);
    } else if (e->arena.failed) {
        stet_fault(STET_FAULT_NO_MEMORY);
        stet_event_free(e);
    } else if (!enqueue(e)) {
        stet_fault(STET_FAULT_QUEUE_FULL);
        stet_event_free(e);
    } else {
        stet_intercept_writer_poke();
    }
}

bool stet_intercept_writer_behind(void)
{
    bool behind;

    pthread_mutex_lock(&queue_lock);
    behind = queue_count > BEHIND;
    pthread_mutex_unlock(&queue_lock);
    return behind;
}

static struct stet_event *dequeue(void)
{
    struct stet_event *e;

    pthread_mutex_lock(&queue_lock);
    e = queue;
    if (e) {
        queue = e->next;
        if (!queue)
            queue_end = &queue;
        queue_count--;
        queue_bytes -= weight(e);
    }
    pthread_mutex_unlock(&queue_lock);
    return e;
}

static uint64_t faults_reported[STET_FAULTS];

static void write_faults(struct stet_journal *j)
{
    for (size_t i = 0; i < STET_FAULTS; i++) {
        uint64_t now = atomic_load_explicit(&stet_layer.faults[i], memory_order_relaxed);
        struct stet_rec_fault fault = {
            .what = stet_view_str(stet_journal_fault_word((enum stet_fault)i)),
            .count = now - faults_reported[i],
            .detail = stet_view_str(stet_journal_fault_text((enum stet_fault)i))};

        if (fault.count && stet_journal_write(j, STET_REC_fault, &fault))
            faults_reported[i] = now;
    }
}

static void finish(struct stet_event *e)
{
    if (weight(e) < HEAVY)
        retire(e);
    else
        stet_event_free(e);
}

static void write_event(struct stet_journal *j, struct stet_event *e)
{
    stet_drain_ring(j, e->ring_end, e->time_ns);
    atomic_store(&used, true);
    if (!e->prepare || e->prepare(e, j))
        stet_journal_write_at(j, e->kind, e->time_ns, &e->record);
    if (!e->after) {
        finish(e);
        return;
    }
    e->next = NULL;
    *later_end = e;
    later_end = &e->next;
    pthread_mutex_lock(&queue_lock);
    queue_bytes += weight(e);
    pthread_mutex_unlock(&queue_lock);
}

static struct stet_event *take_later(void)
{
    struct stet_event *e = later;

    if (!e)
        return NULL;
    later = e->next;
    if (!later)
        later_end = &later;
    pthread_mutex_lock(&queue_lock);
    queue_bytes -= weight(e);
    pthread_mutex_unlock(&queue_lock);
    return e;
}

/* Writes one item: a record, or postponed work if there are no more. False if there is nothing. */
static bool write_next(struct stet_journal *j, uint64_t until_ns)
{
    struct stet_event *e = dequeue();

    if (e) {
        write_event(j, e);
        return true;
    }
    e = take_later();
    if (!e)
        return false;
    if (stet_journal_now() < until_ns)
        e->after(e);
    else
        stet_fault(STET_FAULT_CAPTURE);
    finish(e);
    return true;
}

/* Forks go first: they block a thread of the host, a record does not. */
static void let_forks_through(void)
{
    struct timespec pause = {.tv_nsec = 100000};

    if (!atomic_load(&forks_waiting))
        return;
    pthread_mutex_unlock(&pump_lock);
    while (atomic_load(&forks_waiting))
        nanosleep(&pause, NULL);
    pthread_mutex_lock(&pump_lock);
}

/* Writes everything in the order in which it happened. With pump_lock held. Postponed work is
 * dropped at `until_ns`. */
static bool pump(uint64_t until_ns)
{
    static bool folder_made;
    struct stet_journal *j = stet_layer.journal;
    bool any = false;

    if (!folder_made)
        folder_made = stet_fs_mkdirs(stet_layer.dir, NULL) == STET_OK;
    while (write_next(j, until_ns)) {
        any = true;
        let_forks_through();
    }
    if (stet_drain_ring(j, stet_ring_head(&stet_layer.ring), stet_journal_now())) {
        atomic_store(&used, true);
        any = true;
    }
    any |= stet_journal_flow_write(&stet_layer.flow, j);
    any |= stet_drain_transfers(j, false);
    any |= stet_finished_write(j);
    write_faults(j);
    return any;
}

static void *writer(void *unused)
{
    bool any = true;

    while (!atomic_load(&ended)) {
        stet_flag_wait(&poked, any ? BUSY_MS : IDLE_MS);
        atomic_store(&poked.set, 0);
        pthread_mutex_lock(&pump_lock);
        any = !atomic_load(&ended) && pump(UINT64_MAX);
        pthread_mutex_unlock(&pump_lock);
        stet_intercept_load_watch();
        while (!any && free_retired())
            continue;
    }
    return unused;
}

void stet_intercept_writer_ensure(void)
{
    if (!atomic_load(&running) && !atomic_load(&ended) && !atomic_exchange(&running, true) &&
        !stet_threads_start(writer, NULL))
        atomic_store(&running, false);
}

void stet_intercept_writer_poke(void)
{
    stet_intercept_writer_ensure();
    stet_flag_set(&poked);
}

static uint64_t soon(int ms)
{
    return stet_journal_now() + (uint64_t)ms * 1000000u;
}

void stet_intercept_writer_flush(int ms)
{
    if (atomic_load(&ended) || !stet_wait_lock_within(&pump_lock, ms))
        return;
    pump(soon(ms));
    pthread_mutex_unlock(&pump_lock);
}

void stet_intercept_writer_end(int ms)
{
    if (atomic_exchange(&ended, true) || !stet_wait_lock_within(&pump_lock, ms))
        return;
    pump(soon(ms));
    if (atomic_load(&used))
        stet_drain_end(stet_layer.journal);
    pthread_mutex_unlock(&pump_lock);
}

bool stet_intercept_writer_fork_prepare(void)
{
    static atomic_bool in_vain;
    bool stopped;

    atomic_fetch_add(&forks_waiting, 1);
    stopped = stet_wait_lock_within(&pump_lock, atomic_load(&in_vain) ? FORK_AGAIN_MS : FORK_MS);
    atomic_fetch_sub(&forks_waiting, 1);
    atomic_store(&in_vain, !stopped);
    if (stopped)
        pthread_mutex_lock(&queue_lock);
    return stopped;
}

void stet_intercept_writer_fork_parent(void)
{
    pthread_mutex_unlock(&queue_lock);
    pthread_mutex_unlock(&pump_lock);
}

/* The parent writes what waits in the queue. Its memory is leaked here, because freeing may not be
 * safe in the child, and it is little. */
void stet_intercept_writer_fork_child(bool prepared)
{
    atomic_store(&forks_waiting, 0); /* other waiting threads do not exist here */
    if (!prepared) { /* a thread that does not exist here holds the locks: never take them again */
        atomic_store(&ended, true);
        return;
    }
    *later_end = done;
    *queue_end = later;
    for (struct stet_event *e = queue, *next; e; e = next) {
        next = e->next;
        stet_event_free(e);
    }
    queue = later = done = NULL;
    queue_end = &queue;
    later_end = &later;
    queue_count = queue_bytes = 0;
    atomic_store(&running, false);
    atomic_store(&poked.set, 0);
    atomic_store(&used, false);
    for (size_t i = 0; i < STET_FAULTS; i++) {
        atomic_store(&stet_layer.faults[i], 0);
        faults_reported[i] = 0;
    }
    stet_ring_reset(&stet_layer.ring);
    stet_drain_reset();
    pthread_mutex_unlock(&queue_lock);
    pthread_mutex_unlock(&pump_lock);
}
