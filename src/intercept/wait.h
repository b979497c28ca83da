/* Waiting with a deadline that no change of the wall clock can stretch. */
#ifndef STET_INTERCEPT_WAIT_H
#define STET_INTERCEPT_WAIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A flag one thread sets and another waits for. Both sides are lock-free; zero is unset. */
struct stet_flag {
    _Atomic uint32_t set;
};

void stet_flag_set(struct stet_flag *f);
/* True when it was set within `ms`. */
bool stet_flag_wait(struct stet_flag *f, int ms);

/* True when the lock was taken within `ms`. */
bool stet_lock_within(pthread_mutex_t *lock, int ms);

#endif
