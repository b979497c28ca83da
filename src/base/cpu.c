/* See cpu.h. */
#include "base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdatomic.h>

enum { ASKED = 1 << 30 };

/* Registers that the system saves for a thread: XMM and YMM; with opmask and ZMM. */
enum { SAVES_AVX = 0x6, SAVES_AVX512 = 0xe6 };

static unsigned saved_registers(void)
{
    unsigned a, b, c, d, low = 0, high = 0;

    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE))
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static unsigned ask(void)
{
    unsigned a, b, c, d, found = ASKED, saved = saved_registers();

    if ((saved & SAVES_AVX) != SAVES_AVX)
        return found;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_FMA))
        found |= STET_CPU_FMA;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return found;
    found |= b & bit_AVX2 ? STET_CPU_AVX2 : 0;
    found |= b & bit_BMI2 ? STET_CPU_BMI2 : 0;
    if ((saved & SAVES_AVX512) != SAVES_AVX512)
        return found;
    found |= b & bit_AVX512F ? STET_CPU_AVX512F : 0;
    found |= b & bit_AVX512BW ? STET_CPU_AVX512BW : 0;
    found |= b & bit_AVX512DQ ? STET_CPU_AVX512DQ : 0;
    found |= b & bit_AVX512VL ? STET_CPU_AVX512VL : 0;
    return found;
}

bool stet_cpu_has(unsigned features)
{
    static _Atomic unsigned known;
    unsigned found = atomic_load_explicit(&known, memory_order_relaxed);

    if (!found) {
        found = ask(); /* threads may race here: the answer is the same */
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return (found & features) == features;
}

#else

bool stet_cpu_has(unsigned features)
{
    return features == 0;
}

#endif
