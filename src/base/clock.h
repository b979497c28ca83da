/* What time it is. Tests can stop the clocks and move them by hand. */
#ifndef STET_BASE_CLOCK_H
#define STET_BASE_CLOCK_H

#include <stdint.h>

/* Time since some moment in the past that never goes back: for durations and deadlines. */
uint64_t stet_clock_ns(void);
static inline int64_t stet_clock_ms(void)
{
    return (int64_t)(stet_clock_ns() / 1000000);
}

/* Time since 1970, as the system's clock is set: for what people read and for other machines. */
uint64_t stet_clock_wall_ns(void);

/* Tests only (builds with STET_FAULT_INJECTION): both clocks stand still at these times until they
 * are moved, for all threads; stet_clock_resume lets them run again. Elsewhere these do nothing. */
void stet_clock_stop(uint64_t ns, uint64_t wall_ns);
void stet_clock_advance(uint64_t ns);
void stet_clock_resume(void);

#endif
