/* What the kernel reports about a thread of another process. */
#ifndef STET_MONITOR_THREAD_STATE_H
#define STET_MONITOR_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a thread waits for that is blocked in a futex. */
#define STET_BLOCKED_FUTEX "a lock, a queue or a result"

struct stet_thread_state {
    bool there;
    char state;             /* as ps shows it: R, S, D, T, Z */
    uint64_t ticks;         /* of processor time */
    const char *blocked_in; /* a literal; NULL when it runs, or may not be asked */
};

/* `thread` 0, or a thread that has ended: the process's first. A process that started more than two
 * seconds after `started_ns` (CLOCK_REALTIME, 0: not known) is another one with the same number. */
void stet_monitor_thread_look(pid_t process, pid_t thread, uint64_t started_ns,
                              struct stet_thread_state *out);
/* Did it run between two looks? */
bool stet_monitor_thread_ran(const struct stet_thread_state *before,
                             const struct stet_thread_state *after);

#endif
