/* The greatest common divisor, for sizes that share a factor. */
#ifndef STET_BASE_DIVISOR_H
#define STET_BASE_DIVISOR_H

#include <stdint.h>

/* The greatest common divisor of two numbers that are not negative; of 0 and n it is n. */
static inline int64_t stet_divisor_common(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

#endif
