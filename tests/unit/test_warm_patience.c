/* When a child that compiles is given up. */
#include "test.h"

#include "warm/patience.h"

#include <unistd.h>

static const uint64_t second = 1000000000;
static char why[192];

TEST(a_compiler_that_works_is_left_alone)
{
    struct stet_warm_watch w = {.pid = 1};

    for (uint64_t t = 1; t < 100000; t += 100)
        EXPECT(!stet_warm_watch_over(&w, t, t * second, second, 0, why, sizeof why));
}

TEST(a_program_that_takes_longer_than_it_may_is_given_up)
{
    struct stet_warm_watch w = {.pid = 1};

    EXPECT(!stet_warm_watch_over(&w, 5, 10 * second, 5 * second, 90 * second, why, sizeof why));
    EXPECT(!stet_warm_watch_over(&w, 6, 95 * second, 5 * second, 90 * second, why, sizeof why));
    EXPECT(stet_warm_watch_over(&w, 7, 96 * second, 5 * second, 90 * second, why, sizeof why));
    EXPECT_STR("the compiler did not finish the program within 90.0 s (--timeout), and was ended",
               why);
    /* the next program has its own time */
    EXPECT(!stet_warm_watch_over(&w, 8, 97 * second, 96 * second, 90 * second, why, sizeof why));
}

TEST(a_compiler_without_processor_time_is_given_up)
{
    const uint64_t idle = STET_WARM_IDLE_NS;
    struct stet_warm_watch w = {.pid = 1};

    EXPECT(!stet_warm_watch_over(&w, 5, second, second, 0, why, sizeof why));
    EXPECT(!stet_warm_watch_over(&w, 5, second + idle, second, 0, why, sizeof why));
    EXPECT(stet_warm_watch_over(&w, 5, 2 * second + idle, second, 0, why, sizeof why));
    EXPECT_STR("the compiler used no processor time for 10 min 0 s, and was ended", why);
    /* it moved again */
    EXPECT(!stet_warm_watch_over(&w, 6, 2 * second + idle, second, 0, why, sizeof why));
    EXPECT(!stet_warm_watch_over(&w, 6, 2 * second + 2 * idle, second, 0, why, sizeof why));
}

TEST(a_child_without_a_program_may_wait)
{
    const uint64_t idle = STET_WARM_IDLE_NS;
    struct stet_warm_watch w = {.pid = 1};

    EXPECT(!stet_warm_watch_over(&w, 5, second, 0, second, why, sizeof why));
    EXPECT(!stet_warm_watch_over(&w, 5, 9 * idle, 0, second, why, sizeof why));
    /* and its next program begins then */
    EXPECT(!stet_warm_watch_over(&w, 5, 9 * idle + second, 9 * idle, 0, why, sizeof why));
}

TEST(limits_are_written_as_people_do)
{
    uint64_t ns = 1;

    EXPECT(stet_warm_limit(NULL, &ns) && ns == 0);
    EXPECT(stet_warm_limit("90s", &ns) && ns == 90 * second);
    EXPECT(stet_warm_limit("2h", &ns) && ns == 7200 * second);
    EXPECT(!stet_warm_limit("0s", &ns));
    EXPECT(!stet_warm_limit("soon", &ns));
    EXPECT(stet_warm_watch_cpu(getpid()) > 0);
}
