/* The thread of a device. */
#include "backend/api/cpu_api.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

enum { IDLE_SECONDS = 1, WAIT_SECONDS = 10 };

void stet_backend_queue_init(struct stet_queue *q, void (*on_idle)(struct stet_queue *q))
{
    pthread_condattr_t monotonic;

    *q = (struct stet_queue){.last = &q->first, .on_idle = on_idle};
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->wake, &monotonic);
    pthread_cond_init(&q->room, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static struct timespec in_seconds(int seconds)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += seconds;
    return t;
}

/* Waits for a task; the lock is held. */
static void wait_for_task(struct stet_queue *q)
{
    struct timespec end = in_seconds(IDLE_SECONDS);

    while (!q->first && !q->stop)
        if (pthread_cond_timedwait(&q->wake, &q->lock, &end) == ETIMEDOUT) {
            pthread_mutex_unlock(&q->lock);
            q->on_idle(q);
            pthread_mutex_lock(&q->lock);
            while (!q->first && !q->stop)
                pthread_cond_wait(&q->wake, &q->lock);
        }
}

static void *serve(void *arg)
{
    struct stet_queue *q = arg;
    struct stet_task *task;

    pthread_mutex_lock(&q->lock);
    for (;;) {
        if (!q->first && !q->stop)
            wait_for_task(q);
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
        if (q->waiting)
            pthread_cond_broadcast(&q->room);
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

void stet_backend_queue_wait(struct stet_queue *q, bool (*full)(const void *context),
                             const void *context)
{
    struct timespec end;

    if (!full(context))
        return;
    end = in_seconds(WAIT_SECONDS);
    pthread_mutex_lock(&q->lock);
    q->waiting++;
    while (full(context) && pthread_cond_timedwait(&q->room, &q->lock, &end) == 0)
        ;
    q->waiting--;
    pthread_mutex_unlock(&q->lock);
}

void stet_backend_queue_release(struct stet_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_signal(&q->wake);
    pthread_mutex_unlock(&q->lock);
    if (q->started)
        pthread_join(q->thread, NULL);
    pthread_cond_destroy(&q->room);
    pthread_cond_destroy(&q->wake);
    pthread_mutex_destroy(&q->lock);
}
