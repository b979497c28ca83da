/* See patience.h. */
#include "warm/patience.h"

#include "base/duration.h"
#include "base/human.h"

#include <stdio.h>
#include <time.h>

uint64_t stet_warm_watch_cpu(pid_t pid)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool stet_warm_limit(const char *text, uint64_t *limit_ns)
{
    uint32_t ms = 0;

    if (text && (!stet_duration_read(text, STET_DURATION_S, UINT32_MAX, &ms) || !ms))
        return false;
    *limit_ns = (uint64_t)ms * 1000000;
    return true;
}

static void write_why(char *why, size_t room, const char *what, uint64_t ns, const char *option)
{
    struct stet_buf text = STET_BUF_INIT;

    stet_text_duration(&text, ns);
    snprintf(why, room, "the compiler %s %.*s%s, and was ended", what, (int)text.len,
             text.ptr ? text.ptr : "", option);
    stet_buf_release(&text);
}

bool stet_warm_watch_over(struct stet_warm_watch *w, uint64_t cpu_ns, uint64_t now_ns,
                          uint64_t begun_ns, uint64_t limit_ns, char *why, size_t room)
{
    if (cpu_ns != w->cpu_ns || w->moved_ns < begun_ns || !begun_ns) {
        w->cpu_ns = cpu_ns;
        w->moved_ns = now_ns;
    }
    if (!begun_ns)
        return false;
    if (limit_ns && now_ns - begun_ns > limit_ns) {
        write_why(why, room, "did not finish the program within", limit_ns, " (--timeout)");
        return true;
    }
    if (now_ns - w->moved_ns <= STET_WARM_IDLE_NS)
        return false;
    write_why(why, room, "used no processor time for", STET_WARM_IDLE_NS, "");
    return true;
}
