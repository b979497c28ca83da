/* See thread_state.h. proc(5) has the formats. */
#include "monitor/thread_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct stat_line {
    char state;
    uint64_t ticks, start_ticks;
};

static bool read_stat(const char *path, struct stat_line *out)
{
    char line[1024], *at;
    unsigned long long user, kernel, start;
    FILE *f = fopen(path, "re");
    bool good = f && fgets(line, sizeof line, f) && (at = strrchr(line, ')')) &&
                sscanf(at + 1,
                       " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d "
                       "%*d %*d %*d %llu",
                       &out->state, &user, &kernel, &start) == 4;

    if (f)
        fclose(f);
    if (good) {
        out->ticks = user + kernel;
        out->start_ticks = start;
    }
    return good;
}

/* The number of a process that ended may be in use again. */
static bool is_same_process(const struct stat_line *s, uint64_t started_ns)
{
    enum { SLACK_S = 2 };
    long per_second = sysconf(_SC_CLK_TCK);
    struct timespec wall, boot;
    uint64_t began_s;

    if (!started_ns || per_second <= 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0 ||
        clock_gettime(CLOCK_BOOTTIME, &boot) != 0)
        return true;
    began_s = (uint64_t)(wall.tv_sec - boot.tv_sec) + s->start_ticks / (uint64_t)per_second;
    return began_s <= started_ns / 1000000000u + SLACK_S;
}

/* What a system call waits for. */
static const char *wait_of(long call)
{
    switch (call) {
    case SYS_futex:
        return STET_BLOCKED_FUTEX;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
        return "sleep";
    case SYS_wait4:
    case SYS_waitid:
        return "a child process";
    case SYS_flock:
    case SYS_fcntl:
        return "a file lock";
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
        return "input";
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
        return "output";
    default:
        return "a system call";
    }
}

static const char *blocked_in(const char *path)
{
    char line[64];
    FILE *f = fopen(path, "re");
    const char *out = NULL;
    char *end;

    if (f && fgets(line, sizeof line, f)) { /* "running", or the number and its arguments */
        long call = strtol(line, &end, 10);

        if (end != line && call >= 0)
            out = wait_of(call);
    }
    if (f)
        fclose(f);
    return out;
}

void stet_monitor_thread_look(pid_t process, pid_t thread, uint64_t started_ns,
                              struct stet_thread_state *out)
{
    struct stat_line s;
    char path[96];

    *out = (struct stet_thread_state){0};
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    if (!read_stat(path, &s) || !is_same_process(&s, started_ns))
        return;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", (long)process, (long)thread);
    if (!thread || !read_stat(path, &s)) {
        thread = process;
        snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", (long)process, (long)thread);
        if (!read_stat(path, &s))
            return;
    }
    out->there = true;
    out->state = s.state;
    out->ticks = s.ticks;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/syscall", (long)process, (long)thread);
    out->blocked_in = s.state == 'R' ? NULL : blocked_in(path);
}

bool stet_monitor_thread_ran(const struct stet_thread_state *before,
                             const struct stet_thread_state *after)
{
    return after->state == 'R' || before->state == 'R' || after->ticks != before->ticks;
}
