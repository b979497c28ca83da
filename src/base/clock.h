/* Clocks: a monotonic one for durations and deadlines, and the wall clock for times that people
 * read. Tests can stop both and move them by hand. */
#ifndef STET_BASE_CLOCK_H
#define STET_BASE_CLOCK_H

#include <stdint.h>

/* Time since an arbitrary moment in the past; it never decreases. For durations and deadlines. */
uint64_t stet_clock_ns(void);
static inline int64_t stet_clock_ms(void)
{
    return (int64_t)(stet_clock_ns() / 1000000);
}

/* Time since 1970, as the system's clock is set. For times that people or other machines read. */
uint64_t stet_clock_wall_ns(void);

/* Processor time of this process, its threads and the children that it has waited for. */
uint64_t stet_clock_cpu_ns(void);

/* Tests only (builds with STET_FAULT_INJECTION): stops both clocks at these times, for all threads,
 * until the test moves them; stet_clock_resume starts them again. In other builds these functions
 * do nothing. */
void stet_clock_stop(uint64_t ns, uint64_t wall_ns);
void stet_clock_advance(uint64_t ns);
void stet_clock_resume(void);

#endif
