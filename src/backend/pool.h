/* A few persistent threads that share the tasks of one loop.
 *
 * The result of a task must depend on its number alone, never on the thread that runs it or on the
 * number of threads. Results are therefore the same for any thread count. */
#ifndef STET_BACKEND_POOL_H
#define STET_BACKEND_POOL_H

#include <stdint.h>

struct stet_pool;

/* `threads` includes the calling one; 0 means one per available core. NULL when out of memory
 * (fewer threads than requested is not an error). */
struct stet_pool *stet_pool_new(unsigned threads);
void stet_pool_free(struct stet_pool *p);
unsigned stet_pool_threads(const struct stet_pool *p);

/* Runs task(context, 0..count-1) and returns when all are done. The caller takes part. If another
 * caller uses the pool, or from inside a task, the loop runs on the calling thread alone. `p` may
 * be NULL for that, too. */
void stet_pool_for(struct stet_pool *p, uint64_t count, void (*task)(void *context, uint64_t i),
                   void *context);

#endif
