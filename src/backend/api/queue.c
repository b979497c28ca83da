/* The thread of a device, and its memory blocks. */
#include "backend/api/cpu_api.h"

#include "base/mem.h"

#include <signal.h>
#include <stdlib.h>

void stet_backend_queue_init(struct stet_queue *q)
{
    *q = (struct stet_queue){.last = &q->first};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->wake, NULL);
    pthread_cond_init(&q->idle, NULL);
}

static void *serve(void *arg)
{
    struct stet_queue *q = arg;
    struct stet_task *task;

    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->first && !q->stop)
            pthread_cond_wait(&q->wake, &q->lock);
        task = q->first;
        if (!task)
            break;
        q->first = task->next;
        if (!q->first)
            q->last = &q->first;
        pthread_mutex_unlock(&q->lock);
        task->run(task);
        atomic_fetch_sub(&q->pending, 1);
        pthread_mutex_lock(&q->lock);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* All signals are blocked here; the host's threads handle them. */
static bool start(struct stet_queue *q)
{
    sigset_t all, before;

    if (q->started)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    q->started = pthread_create(&q->thread, NULL, serve, q) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return q->started;
}

bool stet_backend_queue_submit(struct stet_queue *q, struct stet_task *task)
{
    bool taken;

    pthread_mutex_lock(&q->lock);
    taken = start(q);
    if (taken) {
        atomic_fetch_add(&q->pending, 1);
        task->next = NULL;
        *q->last = task;
        q->last = &task->next;
        pthread_cond_signal(&q->wake);
    }
    pthread_mutex_unlock(&q->lock);
    return taken;
}

void stet_backend_queue_release(struct stet_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_signal(&q->wake);
    pthread_mutex_unlock(&q->lock);
    if (q->started)
        pthread_join(q->thread, NULL);
    pthread_cond_destroy(&q->idle);
    pthread_cond_destroy(&q->wake);
    pthread_mutex_destroy(&q->lock);
}

/* ---- memory ---- */

static void raise_to(atomic_llong *highest, long long now)
{
    long long seen = atomic_load(highest);

    while (now > seen && !atomic_compare_exchange_weak(highest, &seen, now))
        ;
}

void stet_cpu_api_note_peak(PJRT_Device *device, uint64_t temporary)
{
    raise_to(&device->peak, atomic_load(&device->in_use) + (long long)temporary);
}

static struct stet_cpu_block *block_new(struct stet_memory *memory, void *data, uint64_t size)
{
    struct stet_cpu_block *b = stet_mem_calloc(1, sizeof *b);

    if (!b)
        return NULL;
    atomic_init(&b->refs, 1);
    b->data = data;
    b->size = size;
    b->memory = memory;
    return b;
}

static void count(const struct stet_cpu_block *b)
{
    PJRT_Device *device = b->memory->device;
    long long size = (long long)b->size;

    if (b->memory->kind != STET_DEVICE_MEMORY)
        return;
    raise_to(&device->peak, atomic_fetch_add(&device->in_use, size) + size);
    raise_to(&device->largest, size);
    atomic_fetch_add(&device->allocations, 1);
}

struct stet_cpu_block *stet_cpu_block_new(struct stet_memory *memory, uint64_t size)
{
    uint64_t room = (size + 63) & ~(uint64_t)63;
    void *data = aligned_alloc(64, room ? room : 64);
    struct stet_cpu_block *b = data ? block_new(memory, data, size) : NULL;

    if (!b) {
        free(data);
        return NULL;
    }
    count(b);
    return b;
}

struct stet_cpu_block *stet_cpu_block_shared(struct stet_memory *memory, void *data, uint64_t size)
{
    struct stet_cpu_block *b = block_new(memory, data, size);

    if (!b)
        return NULL;
    b->shared = true;
    count(b);
    return b;
}

struct stet_cpu_block *stet_cpu_block_view(struct stet_memory *memory, void *data, uint64_t size,
                                           void (*on_release)(void *, void *), void *arg)
{
    struct stet_cpu_block *b = block_new(memory, data, size);

    if (!b)
        return NULL;
    b->view = true;
    b->on_release = on_release;
    b->on_release_arg = arg;
    return b;
}

struct stet_cpu_block *stet_cpu_block_ref(struct stet_cpu_block *b)
{
    if (b)
        atomic_fetch_add(&b->refs, 1);
    return b;
}

void stet_cpu_block_unref(struct stet_cpu_block *b)
{
    if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
        return;
    if (!b->view) {
        if (b->memory->kind == STET_DEVICE_MEMORY)
            atomic_fetch_sub(&b->memory->device->in_use, (long long)b->size);
        if (!b->shared)
            free(b->data);
    } else if (b->on_release) {
        b->on_release(b->data, b->on_release_arg);
    }
    stet_mem_free(b);
}
