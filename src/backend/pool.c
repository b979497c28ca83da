/* The thread pool: workers spin briefly for the next loop, then sleep. */
#include "backend/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/mem.h"

/* Kernels keep their blocks on the stack: a product takes three quarters of a megabyte. */
enum { MAX_THREADS = 256, SPINS = 2000, STACK = 4 << 20 };

struct stet_pool {
    pthread_mutex_t turn; /* held by the caller whose loop runs */
    pthread_mutex_t lock; /* for `wake` */
    pthread_cond_t wake;
    atomic_uint generation; /* changes when a loop starts */
    /* A worker that wakes late must not delay the caller, so all workers inside leave a loop, and
     * they enter only while it is open. A worker increments `inside`, then checks `open`. The
     * caller closes the loop, waits for `inside` to be 0, and only then changes task, context and
     * count. */
    atomic_bool open;
    atomic_uint inside;
    atomic_uint sleeping;
    atomic_bool stop;
    atomic_uint_least64_t next;
    uint64_t count;
    void (*task)(void *context, uint64_t i);
    void *context;
    unsigned workers;
    pthread_t threads[MAX_THREADS];
};

static void take_tasks(struct stet_pool *p)
{
    for (;;) {
        uint64_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);

        if (i >= p->count)
            return;
        p->task(p->context, i);
    }
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static unsigned wait_for_loop(struct stet_pool *p, unsigned seen)
{
    unsigned now;

    for (int i = 0; i < SPINS; i++) {
        now = atomic_load_explicit(&p->generation, memory_order_acquire);
        if (now != seen)
            return now;
        relax();
    }
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->sleeping, 1);
    while ((now = atomic_load(&p->generation)) == seen)
        pthread_cond_wait(&p->wake, &p->lock);
    atomic_fetch_sub(&p->sleeping, 1);
    pthread_mutex_unlock(&p->lock);
    return now;
}

static void *work(void *arg)
{
    struct stet_pool *p = arg;
    unsigned seen = 0;

    for (;;) {
        seen = wait_for_loop(p, seen);
        if (atomic_load(&p->stop))
            return NULL;
        atomic_fetch_add(&p->inside, 1);
        if (atomic_load(&p->open))
            take_tasks(p);
        atomic_fetch_sub(&p->inside, 1);
    }
}

static void start_loop(struct stet_pool *p)
{
    atomic_fetch_add_explicit(&p->generation, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&p->sleeping, memory_order_seq_cst)) {
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->wake);
        pthread_mutex_unlock(&p->lock);
    }
}

struct stet_pool *stet_pool_new(unsigned threads)
{
    struct stet_pool *p = stet_mem_calloc(1, sizeof *p);
    pthread_attr_t attr;
    cpu_set_t set;

    if (!p)
        return NULL;
    if (threads == 0)
        threads = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    pthread_mutex_init(&p->turn, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    while (p->workers + 1 < threads) {
        if (pthread_create(&p->threads[p->workers], &attr, work, p) != 0)
            break;
        p->workers++;
    }
    pthread_attr_destroy(&attr);
    return p;
}

void stet_pool_free(struct stet_pool *p)
{
    if (!p)
        return;
    atomic_store(&p->stop, true);
    start_loop(p);
    for (unsigned i = 0; i < p->workers; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->turn);
    stet_mem_free(p);
}

unsigned stet_pool_threads(const struct stet_pool *p)
{
    return p ? p->workers + 1 : 1;
}

void stet_pool_for(struct stet_pool *p, uint64_t count, void (*task)(void *context, uint64_t i),
                   void *context)
{
    /* A trylock from inside a task would be a second lock by the same thread. It fails like any
     * other, and the loop runs on this thread. */
    if (!p || p->workers == 0 || count < 2 || pthread_mutex_trylock(&p->turn) != 0) {
        for (uint64_t i = 0; i < count; i++)
            task(context, i);
        return;
    }
    p->task = task;
    p->context = context;
    p->count = count;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    atomic_store(&p->open, true);
    start_loop(p);
    take_tasks(p);
    atomic_store(&p->open, false);
    for (unsigned spins = 0; atomic_load(&p->inside); spins++) {
        relax();
        if (spins > SPINS)
            sched_yield(); /* more threads than cores: let the one that has the last task run */
    }
    pthread_mutex_unlock(&p->turn);
}
