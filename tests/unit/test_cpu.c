/* What Stet asks of the processor against what the kernel lists. */
#include "base/cpu.h"
#include "test.h"

#include <stdlib.h>

static bool listed(const char *flag)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char *line = NULL, word[32];
    size_t room = 0;
    bool found = false;

    snprintf(word, sizeof word, " %s ", flag);
    while (f && !found && getline(&line, &room, f) > 0) {
        line[strcspn(line, "\n")] = ' ';
        found = strncmp(line, "flags", 5) == 0 && strstr(line, word);
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

TEST(features_are_those_that_the_kernel_lists)
{
    EXPECT(stet_cpu_has(STET_CPU_AVX2) == listed("avx2"));
    EXPECT(stet_cpu_has(STET_CPU_BMI2) == listed("bmi2"));
    EXPECT(stet_cpu_has(STET_CPU_FMA) == listed("fma"));
    EXPECT(stet_cpu_has(STET_CPU_AVX512F) == listed("avx512f"));
    EXPECT(stet_cpu_has(STET_CPU_AVX512BW) == listed("avx512bw"));
    EXPECT(stet_cpu_has(STET_CPU_AVX512DQ) == listed("avx512dq"));
    EXPECT(stet_cpu_has(STET_CPU_AVX512VL) == listed("avx512vl"));
}

TEST(several_features_must_all_be_there)
{
    EXPECT(stet_cpu_has(STET_CPU_AVX2 | STET_CPU_FMA) == (listed("avx2") && listed("fma")));
    EXPECT(stet_cpu_has(0));
}
