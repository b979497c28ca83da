/* The system's clocks. In test builds a test can stop them and set the time. */
#include "base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t stet_clock_cpu_ns(void)
{
    struct rusage children = {0};

    getrusage(RUSAGE_CHILDREN, &children);
    return read_clock(CLOCK_PROCESS_CPUTIME_ID) +
           (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1000u;
}

#ifdef STET_FAULT_INJECTION
static atomic_bool stopped;
static atomic_ullong stopped_ns, stopped_wall_ns;

uint64_t stet_clock_ns(void)
{
    return atomic_load(&stopped) ? atomic_load(&stopped_ns) : read_clock(CLOCK_MONOTONIC);
}

uint64_t stet_clock_wall_ns(void)
{
    return atomic_load(&stopped) ? atomic_load(&stopped_wall_ns) : read_clock(CLOCK_REALTIME);
}

void stet_clock_stop(uint64_t ns, uint64_t wall_ns)
{
    atomic_store(&stopped_ns, ns);
    atomic_store(&stopped_wall_ns, wall_ns);
    atomic_store(&stopped, true);
}

void stet_clock_advance(uint64_t ns)
{
    atomic_fetch_add(&stopped_ns, ns);
    atomic_fetch_add(&stopped_wall_ns, ns);
}

void stet_clock_resume(void)
{
    atomic_store(&stopped, false);
}
#else
uint64_t stet_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t stet_clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

void stet_clock_stop(uint64_t ns, uint64_t wall_ns)
{
    (void)ns;
    (void)wall_ns;
}

void stet_clock_advance(uint64_t ns)
{
    (void)ns;
}

void stet_clock_resume(void)
{
}
#endif
