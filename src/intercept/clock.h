/* The cheapest clock of the machine, and the conversion of its ticks. Used on the execute path. */
#ifndef STET_INTERCEPT_CLOCK_H
#define STET_INTERCEPT_CLOCK_H

#include <stdint.h>

/* Counts up at a steady rate on every processor (invariant TSC, generic timer). No system call. */
static inline uint64_t stet_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t t;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
#error "no tick counter for this machine"
#endif
}

#endif
