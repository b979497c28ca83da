/* What the ranks of a job find out about each other, message by message. */
#include "test.h"

#include "pod_help.h"

TEST(ranks_that_compile_the_same_report_nothing)
{
    uint64_t n;

    job(4);
    for (int i = 0; i < 5; i++) {
        char program[16];

        snprintf(program, sizeof program, "p%d", i);
        compile_all("step", program);
        pass(300);
        for (size_t r = 0; r < 4; r++)
            ranks[r].executions++;
    }
    n = compile(3, true, "step", "last");
    for (size_t r = 0; r < 3; r++)
        compile(r, true, "step", "last");
    pass(1000);
    EXPECT_INT(STET_POD_SAME, stet_pod_member_finding(ranks[3].member, n));
    EXPECT_INT(0, told());
    EXPECT(!stet_hash_is_zero(ranks[0].job));
    for (size_t r = 1; r < 4; r++)
        EXPECT(stet_hash_eq(ranks[0].job, ranks[r].job));
    job_end();
}

/* Both ranks tell it, and each has the other's program. */
TEST(a_rank_with_another_program_is_named_by_both)
{
    const struct stet_pod_verdict *v;

    job(4);
    for (size_t r = 0; r < 3; r++)
        compile(r, true, "step", "a");
    compile(3, true, "step", "b");
    pass(2000);
    EXPECT_INT(1, ranks[3].told_count);
    v = &ranks[3].told[0];
    EXPECT_INT(STET_POD_DIFFERS, v->finding);
    EXPECT(v->certain && !v->went_on);
    EXPECT_INT(0, v->other);
    EXPECT(stet_hash_eq(v->theirs.bytes, of("a")) && stet_hash_eq(v->own.bytes, of("b")));
    EXPECT(v->witness[0] == 1 && v->opinion[0] == STET_POD_LIKE_OTHER);
    EXPECT(v->witness[1] == 2 && v->opinion[1] == STET_POD_LIKE_OTHER);
    EXPECT_INT(1, ranks[0].told_count);
    v = &ranks[0].told[0];
    EXPECT_INT(3, v->other);
    EXPECT(stet_hash_eq(v->own.bytes, of("a")) && stet_hash_eq(v->theirs.bytes, of("b")));
    EXPECT(ranks[3].kept_count == 1 && stet_hash_eq(ranks[3].kept[0], of("a")));
    EXPECT(ranks[0].kept_count == 1 && stet_hash_eq(ranks[0].kept[0], of("b")));
    job_end();
}

TEST(if_the_leader_is_the_odd_one_the_others_show_it)
{
    job(4);
    compile(0, true, "step", "a");
    for (size_t r = 1; r < 4; r++)
        compile(r, true, "step", "b");
    pass(2000);
    for (size_t r = 1; r < 4; r++) {
        EXPECT(ranks[r].told_count >= 1);
        EXPECT_INT(STET_POD_LIKE_THIS, ranks[r].told[0].opinion[0]);
    }
    EXPECT_INT(3, ranks[0].told_count);
    job_end();
}

/* Ranks that are stuck hear of a difference between others. */
TEST(a_waiting_rank_learns_which_others_differ)
{
    job(4);
    for (size_t r = 0; r < 3; r++)
        compile(r, true, "step", "a");
    compile(3, true, "step", "b");
    pass(8000);
    for (size_t r = 1; r < 3; r++) {
        EXPECT_INT(1, ranks[r].told_count);
        EXPECT_INT(3, ranks[r].told[0].other);
        EXPECT(stet_hash_eq(ranks[r].told[0].own.bytes, of("a")));
    }
    job_end();
}

/* Rank 1 needs a new program for its fourth step; rank 0 took that step with the old one. */
TEST(a_leader_that_went_on_without_compiling_differs)
{
    const struct stet_pod_verdict *v;

    job(2);
    compile_all("step", "a");
    pass(500);
    ranks[1].executions = 3;
    compile(1, true, "step", "b");
    ranks[0].executions = 4;
    pass(3000);
    EXPECT_INT(1, ranks[1].told_count);
    v = &ranks[1].told[0];
    EXPECT(v->finding == STET_POD_DIFFERS && v->certain && v->went_on);
    EXPECT(stet_hash_eq(v->theirs.bytes, of("a"))); /* the last of the same function */
    EXPECT_INT(1, ranks[0].told_count);
    job_end();
}

TEST(a_leader_that_is_only_slower_does_not_differ)
{
    job(2);
    compile_all("step", "a");
    pass(500);
    ranks[1].executions = ranks[0].executions = 3;
    compile(1, true, "step", "b");
    pass(10000);
    EXPECT_INT(0, told());
    compile(0, true, "step", "b");
    pass(1000);
    EXPECT_INT(0, told());
    job_end();
}

TEST(a_leader_that_does_not_come_is_named_once)
{
    job(2);
    compile_all("step", "a");
    pass(500);
    ranks[0].executions = ranks[1].executions = 2;
    snprintf(ranks[0].state.program, sizeof ranks[0].state.program, "step");
    snprintf(ranks[0].state.file, sizeof ranks[0].state.file, "train.py");
    ranks[0].state.line = 7;
    compile(1, true, "step", "b");
    pass(90000);
    EXPECT_INT(1, ranks[1].told_count);
    EXPECT_INT(STET_POD_LATE, ranks[1].told[0].finding);
    EXPECT(ranks[1].told[0].answered);
    EXPECT_INT(7, ranks[1].told[0].state.line);
    EXPECT_STR("train.py", ranks[1].told[0].state.file);
    job_end();
}

TEST(ranks_that_do_not_come_are_named_with_their_line)
{
    const struct stet_pod_verdict *v;

    job(40); /* the tree has three levels */
    compile_all("step", "a");
    pass(1000);
    for (size_t r = 0; r < 40; r++)
        ranks[r].executions = 5;
    pass(1000);
    ranks[35].state.line = 12;
    snprintf(ranks[35].state.file, sizeof ranks[35].state.file, "loader.py");
    ranks[38].stopped = true;
    for (size_t r = 0; r < 40; r++) {
        if (r != 35 && r != 38)
            compile(r, true, "step", "b");
    }
    pass(60000);
    EXPECT_INT(1, told());
    EXPECT_INT(1, ranks[0].told_count);
    v = &ranks[0].told[0];
    EXPECT_INT(STET_POD_MISSING, v->finding);
    EXPECT_INT(2, v->missing_count);
    EXPECT(v->missing[0] == 35 && v->missing[1] == 38);
    EXPECT_INT(40, v->scope_size);
    EXPECT(v->answered);
    EXPECT_INT(12, v->state.line);
    job_end();
}

TEST(a_missing_rank_that_is_stopped_does_not_answer)
{
    job(3);
    compile_all("step", "a");
    pass(1000);
    ranks[2].stopped = true;
    compile(0, true, "step", "b");
    compile(1, true, "step", "b");
    pass(60000);
    EXPECT_INT(1, told());
    EXPECT_INT(1, ranks[0].told[0].missing_count);
    EXPECT_INT(2, ranks[0].told[0].missing[0]);
    EXPECT(!ranks[0].told[0].answered);
    job_end();
}

TEST(a_long_program_that_all_compile_raises_nothing)
{
    job(40);
    compile_all("step", "a");
    pass(120000);
    EXPECT_INT(0, told());
    job_end();
}

/* ---- programs of one process ---- */

TEST(what_one_rank_compiles_alone_is_not_a_difference)
{
    job(3);
    for (size_t r = 0; r < 3; r++)
        compile(r, false, "step", "a");
    compile(0, false, "evaluate", "e");
    compile(0, false, "step", "validation");
    compile(2, false, "step", "short batch");
    pass(60000);
    EXPECT_INT(0, told());
    job_end();
}

TEST(ranks_that_each_have_a_program_of_their_own_may_differ)
{
    const struct stet_pod_verdict *v = &ranks[2].told[0];

    job(3);
    compile(0, false, "step", "a");
    compile(1, false, "step", "a");
    compile(2, false, "step", "b");
    pass(1000);
    EXPECT_INT(0, told()); /* the others may follow */
    pass(4000);
    EXPECT_INT(1, ranks[2].told_count);
    EXPECT(v->finding == STET_POD_DIFFERS && !v->certain);
    EXPECT_INT(1, ranks[0].told_count);
    compile(2, false, "step", "c");
    pass(10000);
    EXPECT_INT(1, ranks[2].told_count); /* once for a function */
    job_end();
}

TEST(ranks_that_compile_the_same_in_another_order_do_not_differ)
{
    job(2);
    compile(0, false, "step", "128");
    compile(1, false, "step", "256");
    pass(500);
    compile(0, false, "step", "256");
    compile(1, false, "step", "128");
    pass(10000);
    EXPECT_INT(0, told());
    job_end();
}

/* ---- threads, caches, variables ---- */

TEST(several_threads_may_compile_in_any_order)
{
    job(2);
    ranks[0].state.overlaps = ranks[1].state.overlaps = true;
    compile(0, true, "f", "a");
    compile(1, true, "g", "b");
    pass(500);
    compile(0, true, "g", "b");
    compile(1, true, "f", "a");
    pass(5000);
    EXPECT_INT(0, told());
    compile(0, true, "f", "c");
    compile(1, true, "f", "d");
    pass(1000);
    EXPECT_INT(0, told()); /* they have a while */
    pass(2000);
    EXPECT_INT(2, told());
    job_end();
}

/* Rank 1 got its first program from the framework's own cache. */
TEST(places_do_not_count_where_a_framework_loads_by_itself)
{
    job(2);
    ranks[1].state.loads = 1;
    compile(0, true, "f", "a");
    compile(0, true, "g", "b");
    compile(1, true, "g", "b");
    pass(10000);
    EXPECT_INT(0, told());
    job_end();
}

TEST(other_flags_are_reported_once)
{
    job(2);
    ranks[1].flags = "XLA_FLAGS=--fast\n";
    compile_all("f", "a");
    pass(1000);
    EXPECT_INT(1, ranks[1].told_count);
    EXPECT(stet_hash_eq(ranks[1].told[0].own.bytes, ranks[1].told[0].theirs.bytes));
    EXPECT_STR("XLA_FLAGS=--fast\n", ranks[0].told[0].flags);
    compile_all("g", "b");
    pass(5000);
    EXPECT_INT(2, told());
    job_end();
}

/* After the first differences everything differs. */
TEST(only_the_first_differences_are_reported)
{
    job(2);
    for (int i = 0; i < 9; i++) {
        char one[16], other[16];

        snprintf(one, sizeof one, "a%d", i);
        snprintf(other, sizeof other, "b%d", i);
        compile(0, true, "step", one);
        compile(1, true, "step", other);
        pass(1000);
    }
    EXPECT_INT(3, ranks[1].told_count);
    EXPECT_INT(3, ranks[0].told_count);
    job_end();
}

/* ---- faults ---- */

TEST(a_dead_channel_is_given_up_without_a_report)
{
    job(2);
    board.dead = true;
    compile(0, true, "step", "a");
    compile(1, true, "step", "b");
    pass(60000);
    EXPECT_INT(0, told());
    for (size_t r = 0; r < 2; r++) {
        EXPECT(ranks[r].channel.given_up);
        EXPECT_STR("the board is gone", ranks[r].channel.why);
        EXPECT_INT(3, ranks[r].channel.traffic.failures);
    }
    job_end();
}

/* Others may have named it, and a rank under another name would be waited for. */
TEST(without_a_name_of_the_launch_nothing_is_compared)
{
    bool *const faults[] = {&board.dead, &board.garbled, &board.deaf};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        job(1);
        *faults[i] = true;
        begin_rank(&ranks[1], 1, 2);
        EXPECT(ranks[1].channel.given_up);
        EXPECT(stet_hash_is_zero(ranks[1].channel.job));
        EXPECT(ranks[1].channel.traffic.gets <= 8);
        rank_count = 2;
        job_end();
    }
}

TEST(a_channel_that_takes_long_is_given_up)
{
    job(2);
    board.slow_ms = 5000;
    compile_all("step", "a");
    pass(100000);
    EXPECT(ranks[0].channel.given_up && ranks[1].channel.given_up);
    EXPECT_INT(3, ranks[0].channel.traffic.failures);
    EXPECT(strstr(ranks[0].channel.why, "one call took 5000 ms") != NULL);
    job_end();
}

TEST(a_channel_that_lies_causes_no_alarm)
{
    job(3);
    board.garbled = true;
    compile_all("step", "a");
    pass(20000);
    EXPECT_INT(0, told());
    job_end();
}

/* Every question has an answer, so that a reader that goes on to the next number never ends. */
TEST(a_channel_that_answers_everything_is_given_up)
{
    job(3);
    board.endless = true;
    for (size_t r = 0; r < 3; r++)
        compile(r, true, "step", "a");
    pass(20000);
    EXPECT_INT(0, told());
    for (size_t r = 0; r < 3; r++) {
        EXPECT(ranks[r].channel.given_up);
        EXPECT(ranks[r].channel.traffic.gets < 100);
    }
    job_end();
}

/* A report of a rank that the job does not have. */
TEST(a_report_of_an_impossible_rank_is_dropped)
{
    struct stet_pod_report report = {.rank = 1000000, .certain = true};
    struct stet_buf bytes = STET_BUF_INIT;

    job(2);
    compile_all("step", "a");
    pass(1000);
    snprintf(report.own.name, sizeof report.own.name, "step");
    report.own.part[STET_POD_PROGRAM] = of("x");
    stet_pod_message_report(&bytes, "differs/0/0", &report);
    EXPECT_INT(STET_OK,
               stet_pod_channel_put(&ranks[1].channel, "differs/0/0", stet_buf_as_view(&bytes)));
    pass(5000);
    EXPECT_INT(0, told());
    EXPECT_INT(1, ranks[0].channel.traffic.damaged);
    stet_buf_release(&bytes);
    job_end();
}

/* The channel fails once, while a leader publishes. */
TEST(a_batch_that_could_not_be_written_is_written_later)
{
    uint64_t n;

    job(2);
    compile_all("step", "a");
    pass(1000);
    board.dead_puts = 1;
    n = compile(1, true, "step", "b");
    compile(0, true, "step", "b");
    pass(3000);
    EXPECT_INT(1, ranks[0].channel.traffic.failures + ranks[1].channel.traffic.failures);
    EXPECT_INT(STET_POD_SAME, stet_pod_member_finding(ranks[1].member, n));
    EXPECT_INT(0, told());
    job_end();
}

/* A data loader inherits the variables of its rank. */
TEST(a_second_process_of_a_rank_takes_no_part)
{
    job(2);
    compile_all("step", "a");
    pass(1000);
    ranks[1].member = (stet_pod_member_free(ranks[1].member), NULL);
    EXPECT_INT(STET_OK,
               stet_pod_member_new(&ranks[1].member, 0, 2, &ranks[1].channel,
                                   &(struct stet_pod_timing){.window = 50, .slice = 200},
                                   &(struct stet_pod_host){&ranks[1], rank_executions,
                                                           rank_describe, rank_captured, rank_keep,
                                                           rank_flags, rank_verdict, rank_joined},
                                   NULL));
    compile(1, true, "other", "x");
    pass(10000);
    EXPECT_STR("another process has this rank", stet_pod_member_apart(ranks[1].member));
    EXPECT(!stet_pod_launch_is_contested(&ranks[0].channel, 0));
    EXPECT_INT(0, told());
    job_end();
}

/* It has the rank already, and may be of an earlier launch: neither is relied on. */
TEST(a_rank_that_two_processes_claim_is_not_reported)
{
    job(2);
    EXPECT_INT(STET_OK,
               stet_pod_channel_put(&ranks[1].channel, "rank/1", STET_VIEW("elsewhere 7 7 7")));
    compile(0, true, "step", "a");
    pass(90000); /* rank 1 does not come */
    EXPECT_STR("another process has this rank", stet_pod_member_apart(ranks[1].member));
    EXPECT_INT(0, told());
    EXPECT(strstr(stet_pod_member_apart(ranks[0].member), "the same rank") != NULL);
    job_end();
}

/* A folder of each host's own. */
TEST(a_leader_that_uses_another_channel_is_not_called_late)
{
    job(2);
    for (size_t r = 0; r < 2; r++)
        ranks[r].channel.reach = STET_POD_REACH_SOME;
    ranks[0].stopped = true;
    compile(1, true, "step", "a");
    pass(90000);
    EXPECT_INT(0, told());
    EXPECT(strstr(stet_pod_member_apart(ranks[1].member), "not all ranks share it") != NULL);
    job_end();
}

/* ---- what an earlier launch left ---- */

/* The store of the next launch has the address of the one before: what a rank of that one writes
 * late is in it. */
TEST(a_rank_of_an_earlier_launch_is_not_heard)
{
    struct rank *late = &ranks[2];
    uint64_t n;

    job(0);
    begin_rank(late, 1, 2);
    stet_pod_member_tick(late->member);
    board_clear();
    stet_clock_advance(1000000000);
    begin_rank(&ranks[0], 0, 2);
    begin_rank(&ranks[1], 1, 2);
    rank_count = 2; /* of each launch */
    compile(0, true, "step", "a");
    n = compile(1, true, "step", "a");
    compile(2, true, "step", "old");
    rank_count = 3;
    pass(10000);
    EXPECT_INT(STET_POD_SAME, stet_pod_member_finding(ranks[1].member, n));
    EXPECT_INT(0, told());
    job_end();
}

/* Rank 1 finds the log of a rank 0 that has long ended, with another program in it. */
TEST(the_log_of_an_earlier_launch_causes_no_alarm)
{
    job(2);
    for (size_t r = 0; r < 2; r++)
        ranks[r].channel.reach = STET_POD_REACH_ALL;
    compile(0, true, "step", "old");
    pass(1000);
    ranks[0].stopped = true;
    compile(1, true, "step", "new");
    pass(90000);
    EXPECT_INT(0, told());
    EXPECT(strstr(stet_pod_member_apart(ranks[1].member), "does not answer") != NULL);
    job_end();
}

TEST(a_rank_that_answers_belongs_to_this_launch)
{
    job(2);
    for (size_t r = 0; r < 2; r++)
        ranks[r].channel.reach = STET_POD_REACH_ALL;
    compile(0, true, "step", "a");
    pass(10000); /* it was written before rank 1 came */
    compile(1, true, "step", "b");
    pass(4000);
    EXPECT_INT(1, ranks[1].told_count);
    EXPECT(ranks[1].told[0].certain);
    EXPECT_INT(1, ranks[0].told_count);
    job_end();
}

TEST(a_program_of_one_process_is_compared_only_with_a_rank_that_answers)
{
    job(2);
    for (size_t r = 0; r < 2; r++)
        ranks[r].channel.reach = STET_POD_REACH_ALL;
    compile(0, false, "step", "a");
    pass(3000);
    compile(1, false, "step", "b");
    pass(20000);
    EXPECT_INT(1, ranks[1].told_count);
    ranks[0].stopped = true;
    job_end();
}

/* ---- cost ---- */

/* What one more program costs each rank, whatever their number. */
TEST(a_program_costs_a_leader_and_the_others_a_message_each)
{
    uint64_t puts, gets;

    job(64);
    compile_all("step", "first");
    pass(2000);
    puts = ranks[0].channel.traffic.puts;
    gets = board.log_gets;
    compile_all("step", "second");
    pass(400);
    EXPECT_INT(1, ranks[0].channel.traffic.puts - puts);
    EXPECT_INT(63, board.log_gets - gets);
    EXPECT_INT(1, ranks[40].channel.traffic.puts); /* its rank */
    job_end();
}
