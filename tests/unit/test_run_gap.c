/* What is waited for a program without phases: the gap before its first execution, less the usual
 * one at its place in the loop. */
#include "ledger/run_gap.h"

#include "base/buf.h"
#include "journal/execs.h"
#include "ledger/run_wait.h"
#include "test.h"

enum { CALLER = 7, WORKER = 8 };

static struct stet_compile_event compiles[8];

static struct stet_process_digest process(void)
{
    memset(compiles, 0, sizeof compiles);
    return (struct stet_process_digest){.compiles = compiles};
}

/* Executions of one program, `every` microseconds apart. */
static void executions(struct stet_process_digest *p, uint64_t executable, uint64_t count,
                       uint64_t first_us, uint64_t every_us)
{
    struct stet_buf order = STET_BUF_INIT, times = STET_BUF_INIT;
    struct stet_exec list[64];
    struct stet_rec_execs r = {0};

    for (uint64_t i = 0; i < count; i++)
        list[i] = (struct stet_exec){(first_us + i * every_us) * 1000, executable};
    EXPECT_INT(STET_OK, stet_journal_execs_encode(&r, &order, &times, list, count));
    stet_ledger_gap_execs(p, &r);
    stet_buf_release(&order);
    stet_buf_release(&times);
}

/* A compile by `thread` at a line of the loop. */
static struct stet_compile_event *compile(struct stet_process_digest *p, uint64_t thread,
                                          uint64_t line, uint64_t begin_us, uint64_t end_us)
{
    struct stet_compile_event *c = &compiles[p->compile_count++];

    *c = (struct stet_compile_event){.ended = true,
                                     .name = STET_VIEW("graph"),
                                     .executable = p->compile_count,
                                     .thread = thread,
                                     .stack_thread = CALLER,
                                     .trigger = {.file = STET_VIEW("train.py"), .line = line},
                                     .plugin_ns = (end_us - begin_us) * 1000,
                                     .begin_ns = begin_us * 1000,
                                     .end_ns = end_us * 1000};
    return c;
}

static uint64_t measure(struct stet_process_digest *p, struct stet_compile_event *c,
                        uint64_t ran_us, uint64_t before, uint64_t before_us)
{
    stet_ledger_wait_ran(p,
                         &(struct stet_rec_first_run){.executable = c->executable,
                                                      .thread = 99,
                                                      .last_run_ns = before_us * 1000,
                                                      .last_executable = before},
                         ran_us * 1000);
    stet_ledger_wait_without_phases(p, c);
    return stet_compile_event_wait(c) / 1000;
}

TEST(the_gap_before_a_program_is_waited_for_less_the_usual_one)
{
    struct stet_process_digest p = process();
    struct stet_compile_event *c = compile(&p, CALLER, 20, 900, 950);

    measure(&p, c, 1000, 0, 0);
    executions(&p, 1, 11, 1000, 100); /* until 2000 */
    c = compile(&p, CALLER, 20, 2400, 2450);
    EXPECT_INT(500 - 100, measure(&p, c, 2500, 1, 2000));
    stet_ledger_wait_without_phases(&p, c); /* asked twice, the same */
    EXPECT_INT(400, stet_compile_event_wait(c) / 1000);
    executions(&p, 2, 1, 2500, 1);
    /* the program before it is new, and at the same line */
    c = compile(&p, CALLER, 20, 2700, 2750);
    EXPECT_INT(300 - 100, measure(&p, c, 2800, 2, 2500));
    executions(&p, 3, 1, 2800, 1);
    c = compile(&p, CALLER, 20, 2830, 2840); /* no longer than usual */
    EXPECT_INT(0, measure(&p, c, 2890, 3, 2800));
    stet_ledger_wait_release(&p);
}

TEST(later_executions_do_not_change_what_was_waited)
{
    struct stet_process_digest p = process();
    struct stet_compile_event *c = compile(&p, CALLER, 20, 900, 950);

    measure(&p, c, 1000, 0, 0);
    executions(&p, 1, 11, 1000, 100);
    c = compile(&p, CALLER, 20, 2400, 2450);
    executions(&p, 2, 60, 2500, 300);
    EXPECT_INT(500 - 100, measure(&p, c, 2500, 1, 2000));
    stet_ledger_wait_release(&p);
}

TEST(programs_that_are_compiled_at_once_share_the_wait)
{
    struct stet_process_digest p = process();
    struct stet_compile_event *a, *b, *c;

    a = compile(&p, WORKER, 0, 900, 950);
    a->name = STET_VIEW("mul");
    measure(&p, a, 1000, 0, 0);
    executions(&p, 1, 11, 1000, 100);
    b = compile(&p, WORKER, 0, 2010, 2900);
    c = compile(&p, WORKER + 1, 0, 2020, 2950);
    b->name = c->name = STET_VIEW("mul");
    EXPECT_INT(900 * 890 / (890 + 930), measure(&p, b, 3000, 1, 2000));
    executions(&p, 2, 1, 3000, 1);
    EXPECT_INT(900 - 900 * 890 / (890 + 930) - 1, measure(&p, c, 3010, 2, 3000));
    stet_ledger_wait_release(&p);
}

TEST(a_compile_that_its_own_thread_made_ahead_was_waited_for)
{
    struct stet_process_digest p = process();
    struct stet_compile_event *c;

    executions(&p, 9, 11, 1000, 100);
    c = compile(&p, CALLER, 20, 1500, 1550);
    EXPECT_INT(50, measure(&p, c, 2010, 9, 2000));
    stet_ledger_wait_release(&p);
}

TEST(at_a_new_place_the_wait_begins_with_the_compile)
{
    struct stet_process_digest p = process();
    struct stet_compile_event *c = compile(&p, CALLER, 20, 900, 950);

    measure(&p, c, 1000, 0, 0);
    executions(&p, 1, 11, 1000, 100);
    c = compile(&p, CALLER, 30, 9000, 9050); /* the script read its data meanwhile */
    EXPECT_INT(60, measure(&p, c, 9060, 1, 2000));
    stet_ledger_wait_release(&p);
}

TEST(without_a_first_execution_the_wait_is_the_call)
{
    struct stet_process_digest p = process();
    struct stet_compile_event *c = compile(&p, CALLER, 20, 900, 950);

    c->layer_ns = 5000;
    stet_ledger_wait_without_phases(&p, c);
    EXPECT_INT(55, stet_compile_event_wait(c) / 1000);
    EXPECT_INT(55, measure(&p, c, 5000, 0, 0)); /* nothing ran before it */
    stet_ledger_wait_release(&p);
}

TEST(any_number_of_executions_is_survived)
{
    struct stet_process_digest p = process();
    struct stet_compile_event *c = compile(&p, CALLER, 20, 10, 20);

    measure(&p, c, 30, 0, 0);
    for (uint64_t i = 0; i < 4000; i++)
        executions(&p, 1 + (i % 7 == 6) * UINT64_C(0xfffff), 64, 100 + i * 640, 10);
    c = compile(&p, CALLER, 20, 100 + 4000 * 640, 130 + 4000 * 640);
    EXPECT_INT(140, measure(&p, c, 240 + 4000 * 640, 1, 90 + 4000 * 640));
    stet_ledger_wait_release(&p);
}
