/* Decides when a child that compiles is given up: when one program takes longer than it may, or
 * when the compiler no longer uses any processor time. */
#ifndef STET_WARM_PATIENCE_H
#define STET_WARM_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A compiler may wait for a slow disk, but not this long. */
#define STET_WARM_IDLE_NS (UINT64_C(600) * 1000000000)

/* One child; set `pid` when it starts. */
struct stet_warm_watch {
    pid_t pid;
    uint64_t cpu_ns;                       /* its processor time... */
    uint64_t moved_ns;                     /* ...and when that last grew */
    const struct stet_warm_item *given_up; /* the program for which it was ended, or NULL */
};

/* Writes the reason if the child is to be ended, and returns true. `now_ns` and `begun_ns` are of
 * stet_clock_ns; `begun_ns` is 0 while it has no program, and `limit_ns` is 0 for no limit. */
bool stet_warm_watch_over(struct stet_warm_watch *w, uint64_t cpu_ns, uint64_t now_ns,
                          uint64_t begun_ns, uint64_t limit_ns, char *why, size_t room);
/* Reads a limit as people write it, "90s", "10m"; NULL means none. False if it is not a time. */
bool stet_warm_limit(const char *text, uint64_t *limit_ns);
/* The processor time of another process, with all its threads; 0 if it is gone. */
uint64_t stet_warm_watch_cpu(pid_t pid);

#endif
