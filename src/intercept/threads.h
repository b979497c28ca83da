/* The layer's own threads. A finished thread waits a while for more work: creating a thread takes
 * its caller ten times as long as waking one. */
#ifndef STET_INTERCEPT_THREADS_H
#define STET_INTERCEPT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Runs on a detached thread with all signals blocked; false (a fault) if no thread can be
 * created. */
bool stet_threads_start(void *(*body)(void *), void *argument);
/* Does another thread of this process run, or wait for a core? False when /proc can't be read. */
bool stet_threads_others_run(void);
/* The kernel's id of this thread. */
uint64_t stet_threads_id(void);
/* In builds with fault injection: waits as many milliseconds as the environment variable asks for.
 * */
void stet_threads_be_late(const char *variable);
/* In the child of a fork: the waiting threads do not exist here. */
void stet_threads_fork_child(void);

#endif
