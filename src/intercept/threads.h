/* Threads of the layer's own. One that is done waits a while for the next thing to do: making a
 * thread takes its caller ten times as long as waking one. */
#ifndef STET_INTERCEPT_THREADS_H
#define STET_INTERCEPT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* On a detached thread with all signals blocked; false (a fault) when there can be none. */
bool stet_thread_start(void *(*body)(void *), void *argument);
/* Does another thread of this process run, or wait for a core? False when /proc can't be read. */
bool stet_threads_others_run(void);
/* The kernel's id of this thread. */
uint64_t stet_thread_id(void);
/* In the child of a fork: those that waited are not here. */
void stet_threads_fork_child(void);

#endif
