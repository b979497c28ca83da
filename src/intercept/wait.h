/* Waits with a deadline that does not depend on the wall clock. The layer's threads use it. The
 * caller owns the flags and the locks. */
#ifndef STET_INTERCEPT_WAIT_H
#define STET_INTERCEPT_WAIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A flag that one thread sets and another waits for. Both sides are lock-free; zero is unset. */
struct stet_flag {
    _Atomic uint32_t set;
};

void stet_flag_set(struct stet_flag *f);
/* True if it was set within `ms`. */
bool stet_flag_wait(struct stet_flag *f, int ms);

/* True if the lock was taken within `ms`. */
bool stet_wait_lock_within(pthread_mutex_t *lock, int ms);

#endif
