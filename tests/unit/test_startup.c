/* Where the time until the first step went. */
#include "ledger/startup.h"

#include "test.h"

enum { WALL = 1000000 }; /* wall time minus monotonic time */

static struct stet_compile_event compiles[3];

/* Started at 100; a client from 400 to 450; two programs; the first step at 1000. */
static struct stet_process_digest process(void)
{
    compiles[0] = (struct stet_compile_event){.trace_ns = 20,
                                              .lower_ns = 30,
                                              .between_ns = 5,
                                              .until_run_ns = 4,
                                              .plugin_ns = 40,
                                              .layer_ns = 1,
                                              .end_ns = 600,
                                              .ran = true,
                                              .ran_ns = 604,
                                              .executions = 2};
    compiles[1] = (struct stet_compile_event){.trace_ns = 50,
                                              .lower_ns = 60,
                                              .plugin_ns = 7,
                                              .served = 2,
                                              .end_ns = 900,
                                              .ran = true,
                                              .ran_ns = 950,
                                              .executions = 99};
    compiles[2] = (struct stet_compile_event){.plugin_ns = 5000, .end_ns = 9000};
    return (struct stet_process_digest){.compiles = compiles,
                                        .compile_count = 3,
                                        .wall_minus_mono = WALL,
                                        .start_ns = WALL + 100,
                                        .client_begin_ns = 400,
                                        .client_ns = 50,
                                        .steps_known = true,
                                        .first_step_ns = 1000};
}

TEST(the_parts_add_up_to_the_first_step)
{
    struct stet_process_digest p = process();
    struct stet_run_digest d = {.processes = &p, .process_count = 1};
    struct stet_startup s;
    uint64_t sum = 0;

    EXPECT(stet_ledger_startup(&d, &s));
    EXPECT_INT(900, s.total_ns);
    EXPECT_INT(300, s.imports_ns);
    EXPECT_INT(50, s.client_ns);
    EXPECT_INT(70, s.tracing_ns);
    EXPECT_INT(90, s.lowering_ns);
    EXPECT_INT(9, s.framework_ns);
    EXPECT_INT(41, s.compiling_ns);
    EXPECT_INT(7, s.loading_ns);
    EXPECT_INT(2, s.programs); /* the third came later */
#define PART(name, what) sum += s.name##_ns;
#include "ledger/startup.def"
#undef PART
    EXPECT_INT(900, sum);
}

TEST(without_steps_the_program_that_runs_most_replaces_the_first_step)
{
    struct stet_process_digest p = process();
    struct stet_run_digest d = {.processes = &p, .process_count = 1};
    struct stet_startup s;

    p.steps_known = false;
    EXPECT(stet_ledger_startup(&d, &s));
    EXPECT_INT(850, s.total_ns);
}

TEST(the_slowest_process_is_named_and_an_older_journal_gives_nothing)
{
    struct stet_process_digest p[3] = {process(), process(), process()};
    struct stet_run_digest d = {.processes = p, .process_count = 3};
    struct stet_startup s;

    p[0].start_ns = 0;
    p[2].start_ns = WALL + 50;
    EXPECT(stet_ledger_startup(&d, &s));
    EXPECT_INT(2, s.process);
    d.process_count = 1;
    EXPECT(!stet_ledger_startup(&d, &s));
}
