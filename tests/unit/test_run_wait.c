/* What is waited for a program: phases, the compile, its first execution, each moment once. */
#include "ledger/run_wait.h"

#include "base/mem.h"
#include "test.h"

static struct stet_compile_event compiles[4];

static struct stet_process_digest process(size_t count)
{
    memset(compiles, 0, sizeof compiles);
    return (struct stet_process_digest){.compiles = compiles, .compile_count = count};
}

static void phase(struct stet_process_digest *p, uint64_t kind, const char *function,
                  uint64_t begin, uint64_t end)
{
    stet_ledger_wait_phase(p,
                           &(struct stet_rec_phase){.kind = kind,
                                                    .function = stet_view_str(function),
                                                    .duration_ns = end - begin,
                                                    .thread = 7},
                           end);
}

static void compile(struct stet_process_digest *p, size_t i, const char *name, uint64_t begin,
                    uint64_t end)
{
    compiles[i] = (struct stet_compile_event){.ended = true,
                                              .name = stet_view_str(name),
                                              .executable = i + 1,
                                              .plugin_ns = end - begin,
                                              .begin_ns = begin,
                                              .end_ns = end};
    stet_ledger_wait_compiled(p, &compiles[i], 7);
}

static void run(struct stet_process_digest *p, uint64_t executable, uint64_t thread, uint64_t at)
{
    stet_ledger_wait_ran(
        p, &(struct stet_rec_first_run){.executable = executable, .thread = thread}, at);
}

TEST(a_program_is_waited_for_from_its_trace_to_its_first_execution)
{
    struct stet_process_digest p = process(1);

    phase(&p, 1, "step", 1000, 1100);
    phase(&p, 2, "jit(step)", 1120, 1150);
    compile(&p, 0, "jit_step", 1160, 1200);
    EXPECT_INT(100 + 20 + 30 + 10 + 40, stet_compile_event_wait(&compiles[0]));
    run(&p, 1, 7, 1215);
    EXPECT_INT(215, stet_compile_event_wait(&compiles[0]));
    EXPECT_INT(100, compiles[0].trace_ns);
    EXPECT_INT(30, compiles[0].lower_ns);
    run(&p, 1, 7, 9999); /* only the first counts */
    EXPECT_INT(215, stet_compile_event_wait(&compiles[0]));
    EXPECT_INT(0, p.untaken_ns);
    stet_ledger_wait_release(&p);
}

TEST(the_thread_that_waits_is_known_from_the_first_execution_too)
{
    struct stet_process_digest p = process(1);

    phase(&p, 1, "step", 1000, 1100);
    phase(&p, 2, "jit(step)", 1100, 1150);
    compiles[0] = (struct stet_compile_event){.ended = true,
                                              .thread = 99,
                                              .executable = 1,
                                              .plugin_ns = 40,
                                              .begin_ns = 1160,
                                              .end_ns = 1200};
    stet_ledger_wait_compiled(&p, &compiles[0], 99); /* the framework's own thread */
    EXPECT_INT(40, stet_compile_event_wait(&compiles[0]));
    run(&p, 1, 7, 1210);
    EXPECT_INT(210, stet_compile_event_wait(&compiles[0]));
    stet_ledger_wait_release(&p);
}

TEST(a_compile_during_a_trace_takes_its_time_out_of_that_trace)
{
    struct stet_process_digest p = process(2);

    phase(&p, 1, "inner", 1010, 1020);
    phase(&p, 2, "jit(inner)", 1020, 1030);
    compile(&p, 0, "jit_inner", 1030, 1050);
    run(&p, 1, 7, 1060);
    phase(&p, 1, "outer", 1000, 1100);
    phase(&p, 2, "jit(outer)", 1100, 1120);
    compile(&p, 1, "jit_outer", 1120, 1180);
    run(&p, 2, 7, 1190);
    EXPECT_INT(50, stet_compile_event_wait(&compiles[0]));
    EXPECT_INT(190 - 50, stet_compile_event_wait(&compiles[1]));
    stet_ledger_wait_release(&p);
}

TEST(user_code_after_a_compile_ahead_of_time_is_not_waited_for)
{
    struct stet_process_digest p = process(1);

    phase(&p, 1, "f", 1000, 1010);
    phase(&p, 2, "jit(f)", 1010, 1030);
    compile(&p, 0, "jit_f", 2000, 2050);
    compiles[0].ahead = true;
    run(&p, 1, 7, 9000);
    EXPECT_INT(10 + 20 + 50, stet_compile_event_wait(&compiles[0]));
    stet_ledger_wait_release(&p);
}

TEST(a_program_that_runs_much_later_is_waited_for_no_longer_than_it_was_made)
{
    struct stet_process_digest p = process(1);

    phase(&p, 2, "jit(f)", 1000, 1030);
    compile(&p, 0, "jit_f", 1030, 1050);
    run(&p, 1, 7, 900000);
    EXPECT_INT(50 + 50, stet_compile_event_wait(&compiles[0]));
    stet_ledger_wait_release(&p);
}

TEST(lowered_in_one_order_and_compiled_in_another_each_takes_its_own)
{
    struct stet_process_digest p = process(2);

    phase(&p, 1, "f", 1000, 1010);
    phase(&p, 2, "jit(f)", 1010, 1020);
    phase(&p, 1, "g", 1020, 1120);
    phase(&p, 2, "jit(g)", 1120, 1220);
    compile(&p, 0, "jit_f", 1300, 1310);
    compile(&p, 1, "jit_g", 1310, 1320);
    EXPECT_INT(10, compiles[0].trace_ns);
    EXPECT_INT(100, compiles[1].trace_ns);
    EXPECT_INT(100, compiles[1].lower_ns);
    stet_ledger_wait_release(&p);
}

TEST(a_trace_that_leads_to_no_compile_is_counted_apart)
{
    struct stet_process_digest p = process(1);

    phase(&p, 1, "shape_only", 1000, 1500);
    phase(&p, 1, "f", 2000, 2010);
    phase(&p, 2, "jit(f)", 2010, 2020);
    compile(&p, 0, "jit_f", 2020, 2030);
    EXPECT_INT(30, stet_compile_event_wait(&compiles[0]));
    EXPECT_INT(500, p.untaken_ns);
    EXPECT_INT(1, p.traces - p.traces_taken);
    stet_ledger_wait_release(&p);
}

TEST(without_phases_the_wait_is_the_call)
{
    struct stet_process_digest p = process(1);

    compile(&p, 0, "jit_f", 1000, 1100);
    compiles[0].layer_ns = 5;
    run(&p, 1, 7, 5000);
    EXPECT_INT(105, stet_compile_event_wait(&compiles[0]));
    stet_ledger_wait_release(&p);
}

TEST(a_framework_that_reports_phases_is_believed)
{
    struct stet_process_digest p = process(1);

    phase(&p, 2, "jit(f)", 1000, 1030); /* lowered, and traced before the layer listened */
    compile(&p, 0, "jit_f", 1030, 1050);
    stet_ledger_wait_ran(
        &p,
        &(struct stet_rec_first_run){
            .executable = 1, .thread = 7, .last_run_ns = 900, .last_executable = 9},
        1060);
    stet_ledger_wait_without_phases(&p, &compiles[0]);
    EXPECT_INT(60, stet_compile_event_wait(&compiles[0]));
    stet_ledger_wait_release(&p);
}

TEST(any_number_of_threads_and_phases_is_survived)
{
    struct stet_process_digest p = process(1);

    for (uint64_t i = 0; i < 5000; i++) {
        struct stet_rec_phase r = {
            .kind = 1 + i % 3, .duration_ns = i * 977 % 5000, .thread = i % 99};

        stet_ledger_wait_phase(&p, &r, i * 100);
    }
    EXPECT(p.traces > 0);
    stet_ledger_wait_release(&p);
}
