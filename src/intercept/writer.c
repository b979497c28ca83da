/* A queue of records, the ring of executions, and one thread that writes both in order. */
#include "intercept/writer.h"

#include "base/fs.h"
#include "base/mem.h"
#include "intercept/drain.h"
#include "intercept/layer.h"
#include "intercept/plugin.h"
#include "intercept/wait.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BUSY_MS = 100, IDLE_MS = 1000, FORK_MS = 1000, QUEUE_MAX = 16384 };
static const size_t queue_bytes_max = (size_t)1 << 30;
static const size_t event_cap = (size_t)16 << 20;

/* `queue_lock` is held for a few instructions; `pump_lock` while the disk is written, and only the
 * writer thread, exit and fork take it. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pump_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stet_event *queue, **queue_end = &queue;
static size_t queue_count, queue_bytes;

static struct stet_flag poked;
static atomic_bool running, ended;
static atomic_bool used; /* there is something of this process in the journal, or will be */

struct stet_event *stet_event_new(enum stet_rec kind)
{
    struct stet_event *e = stet_mem_calloc(1, sizeof *e);

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

/* When there is too much in the queue, the record goes without its bytes. */
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
        stet_writer_poke();
    }
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

static uint64_t faults_told[STET_FAULTS];

static void write_faults(struct stet_journal *j)
{
    static const char *const words[][2] = {
#define FAULT(name, word, what) {word, what},
#include "intercept/faults.def"
#undef FAULT
    };
    for (size_t i = 0; i < STET_FAULTS; i++) {
        uint64_t now = atomic_load_explicit(&stet_layer.faults[i], memory_order_relaxed);
        struct stet_rec_fault fault = {.what = stet_view_str(words[i][0]),
                                       .count = now - faults_told[i],
                                       .detail = stet_view_str(words[i][1])};

        if (fault.count && stet_journal_write(j, STET_REC_fault, &fault))
            faults_told[i] = now;
    }
}

/* Everything there is, in the order in which it happened. With pump_lock held. */
static bool pump(void)
{
    static bool folder_made;
    struct stet_journal *j = stet_layer.journal;
    struct stet_event *e;
    bool any = false;

    if (!folder_made)
        folder_made = stet_fs_mkdirs(stet_layer.dir, NULL) == STET_OK;
    while ((e = dequeue())) {
        stet_drain_ring(j, e->ring_end, e->time_ns);
        atomic_store(&used, true);
        if (!e->prepare || e->prepare(e, j))
            stet_journal_write_at(j, e->kind, e->time_ns, &e->record);
        stet_event_free(e);
        any = true;
    }
    if (stet_drain_ring(j, stet_ring_head(&stet_layer.ring), stet_journal_now())) {
        atomic_store(&used, true);
        any = true;
    }
    any |= stet_flow_write(&stet_layer.flow, j);
    any |= stet_drain_transfers(j, false);
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
        any = !atomic_load(&ended) && pump();
        pthread_mutex_unlock(&pump_lock);
    }
    return unused;
}

bool stet_thread_start(void *(*body)(void *), void *argument)
{
    sigset_t all, before;
    pthread_t thread;
    bool started;

#ifdef STET_FAULT_INJECTION
    if (getenv("STET_TEST_NO_THREADS")) {
        stet_fault(STET_FAULT_NO_THREAD);
        return false;
    }
#endif
    sigfillset(&all); /* the host's signal handlers must never run on a thread of ours */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&thread, NULL, body, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    else
        stet_fault(STET_FAULT_NO_THREAD);
    return started;
}

uint64_t stet_thread_id(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

void stet_writer_ensure(void)
{
    if (!atomic_load(&running) && !atomic_load(&ended) && !atomic_exchange(&running, true) &&
        !stet_thread_start(writer, NULL))
        atomic_store(&running, false);
}

void stet_writer_poke(void)
{
    stet_writer_ensure();
    stet_flag_set(&poked);
}

void stet_writer_flush(int ms)
{
    if (atomic_load(&ended) || !stet_lock_within(&pump_lock, ms))
        return;
    pump();
    pthread_mutex_unlock(&pump_lock);
}

void stet_writer_end(int ms)
{
    if (atomic_exchange(&ended, true) || !stet_lock_within(&pump_lock, ms))
        return;
    pump();
    if (atomic_load(&used))
        stet_drain_end(stet_layer.journal);
    pthread_mutex_unlock(&pump_lock);
}

bool stet_writer_fork_prepare(void)
{
    if (!stet_lock_within(&pump_lock, FORK_MS))
        return false;
    pthread_mutex_lock(&queue_lock);
    return true;
}

void stet_writer_fork_parent(void)
{
    pthread_mutex_unlock(&queue_lock);
    pthread_mutex_unlock(&pump_lock);
}

/* What waits in the queue is the parent's to write. The memory is only let go of: whether freeing
 * is safe here is the allocator's business, and it is little. */
void stet_writer_fork_child(bool prepared)
{
    if (!prepared) { /* somebody who is not here holds the locks: never take them again */
        atomic_store(&ended, true);
        return;
    }
    for (struct stet_event *e = queue, *next; e; e = next) {
        next = e->next;
        stet_event_free(e);
    }
    queue = NULL;
    queue_end = &queue;
    queue_count = queue_bytes = 0;
    atomic_store(&running, false);
    atomic_store(&poked.set, 0);
    atomic_store(&used, false);
    for (size_t i = 0; i < STET_FAULTS; i++) {
        atomic_store(&stet_layer.faults[i], 0);
        faults_told[i] = 0;
    }
    stet_ring_reset(&stet_layer.ring);
    stet_drain_reset();
    pthread_mutex_unlock(&queue_lock);
    pthread_mutex_unlock(&pump_lock);
}
