/* See host_code.h. Features instead of models: hosts of one kind often differ in stepping or in
 * what the kernel lists, and none of that makes code fail. */
#include "intercept/host_code.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

static char text[1024];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#if defined(__x86_64__)
enum state { NONE = 0, AVX = 0x6, AVX512 = 0xe6, AMX = 0x60000 };

static const struct feature {
    const char *name;
    unsigned leaf, subleaf;
    enum { REG_A, REG_B, REG_C, REG_D } reg;
    unsigned bit;
    enum state state;
} features[] = {
#define FEATURE(name, leaf, subleaf, reg, bit, state) {name, leaf, subleaf, REG_##reg, bit, state},
#include "intercept/cpu_features.def"
#undef FEATURE
};

/* The state that the system saves for a thread; 0 if it cannot be read. */
static uint64_t saved_state(void)
{
    unsigned a, b, c, d, low = 0, high = 0;

    if (__get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 27))) /* OSXSAVE */
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static void describe(void)
{
    uint64_t saved = saved_state();
    size_t n = (size_t)snprintf(text, sizeof text, "x86-64");

    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const struct feature *f = &features[i];
        unsigned r[4];

        if (!__get_cpuid_count(f->leaf, f->subleaf, &r[0], &r[1], &r[2], &r[3]) ||
            !(r[f->reg] >> f->bit & 1) || (saved & f->state) != (uint64_t)f->state)
            continue;
        if (n < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, " %s", f->name);
    }
}
#else
static void describe(void)
{
    snprintf(text, sizeof text, "hwcap %lx %lx", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}
#endif

struct stet_view stet_host_code_features(void)
{
#ifdef STET_FAULT_INJECTION
    const char *pretended = getenv("STET_TEST_CPU");

    if (pretended)
        return stet_view_str(pretended);
#endif
    pthread_once(&once, describe);
    return stet_view_str(text);
}

bool stet_host_code_wanted(struct stet_view program)
{
    return stet_view_contains(program, "_xla_compute_type");
}
