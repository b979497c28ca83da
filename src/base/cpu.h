/* Which wide instructions this processor has and the system saves. The compiler's own
 * __builtin_cpu_supports needs a run-time library that not every toolchain brings. */
#ifndef STET_BASE_CPU_H
#define STET_BASE_CPU_H

#include <stdbool.h>

enum stet_cpu_feature {
    STET_CPU_AVX2 = 1 << 0,
    STET_CPU_BMI2 = 1 << 1,
    STET_CPU_FMA = 1 << 2,
    STET_CPU_AVX512F = 1 << 3,
    STET_CPU_AVX512BW = 1 << 4,
    STET_CPU_AVX512DQ = 1 << 5,
    STET_CPU_AVX512VL = 1 << 6,
};

/* True if all of `features`, values of the enum joined by |, can be used. Machines other than
 * x86-64 have none of them. Cheap: the processor is asked once. */
bool stet_cpu_has(unsigned features);

#endif
