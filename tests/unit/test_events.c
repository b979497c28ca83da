/* Facts about a run's journals read as one: order, growth, and the step of each compile. */
#include "test.h"

#include "journal_help.h"

#include "journal/flow.h"
#include "ledger/events.h"
#include "ledger/run_steps.h"
#include "session/run_json.h"

#include <sys/stat.h>

/* scratch_dir is the journal folder of a run folder. */
static char run_dir[64];

static void fresh_run(void)
{
    fresh_scratch();
    memcpy(run_dir, scratch_dir, sizeof run_dir);
    strcat(scratch_dir, "/journal");
    mkdir(scratch_dir, 0700);
}

static void drop_run(void)
{
    drop_scratch();
    rmdir(run_dir);
}

static bool begin_compile(struct stet_journal *j, uint64_t index)
{
    struct stet_rec_compile_begin rec = {.index = index, .format = STET_VIEW("mlir")};

    return stet_journal_write(j, STET_REC_compile_begin, &rec);
}

TEST(records_of_a_process_come_in_the_order_written_whatever_their_stream)
{
    struct stet_events events;
    struct stet_run_event e;
    struct stet_journal *j;
    uint64_t compiles = 0, execs = 0, last = 0;

    fresh_run();
    j = scratch_journal(0, 600, 50);
    for (uint64_t i = 0; i < 300; i++) {
        write_compile(j, i);
        write_steps(j, 5);
    }
    stet_journal_free(j);
    EXPECT(each_file(".d", NULL, NULL) > 10);
    EXPECT_INT(STET_OK, stet_ledger_events_open(&events, run_dir, NULL));
    while (stet_ledger_events_next(&events, &e) == STET_OK) {
        EXPECT(last == 0 || e.event.sequence > last);
        last = e.event.sequence;
        if (e.event.kind == STET_REC_compile_end)
            EXPECT_INT(compiles++, ((const struct stet_rec_compile_end *)e.event.record)->index);
        if (e.event.kind == STET_REC_execs) {
            EXPECT_INT(5 * execs++, ((const struct stet_rec_execs *)e.event.record)->before);
            EXPECT_INT(execs, compiles);
        }
    }
    EXPECT(compiles == 300 && execs == 300);
    EXPECT_INT(0, stet_ledger_events_damage(&events, 0).regions);
    stet_ledger_events_close(&events);
    drop_run();
}

/* Flip a bit in the middle of the one main file. */
static void spoil(const char *path, void *data)
{
    FILE *f = fopen(path, "r+b");
    int c;

    (void)data;
    fseek(f, 0, SEEK_END);
    fseek(f, ftell(f) / 2, SEEK_SET);
    c = fgetc(f);
    fseek(f, -1, SEEK_CUR);
    fputc(c ^ 4, f);
    fclose(f);
}

TEST(a_damaged_record_is_counted_as_missing)
{
    struct stet_events events;
    struct stet_run_event e;
    struct stet_journal *j;
    uint64_t compiles = 0;

    fresh_run();
    j = scratch_journal(0, 0, 0);
    for (uint64_t i = 0; i < 50; i++)
        write_compile(j, i);
    stet_journal_free(j);
    EXPECT_INT(1, each_file(".m", spoil, NULL));
    stet_ledger_events_open(&events, run_dir, NULL);
    while (stet_ledger_events_next(&events, &e) == STET_OK)
        compiles += e.event.kind == STET_REC_compile_end;
    EXPECT_INT(49, compiles);
    EXPECT_INT(1, stet_ledger_events_damage(&events, 0).regions);
    EXPECT(stet_ledger_events_damage(&events, 0).first > 0);
    stet_ledger_events_close(&events);
    drop_run();
}

TEST(processes_are_merged_by_the_wall_clock)
{
    struct stet_journal *j[3];
    struct stet_events events;
    struct stet_run_event e;
    uint64_t last = 0, seen = 0;

    fresh_run();
    for (int i = 0; i < 3; i++)
        j[i] = scratch_journal(0, 0, 0);
    for (uint64_t i = 0; i < 90; i++)
        write_compile(j[i % 3], i);
    for (int i = 0; i < 3; i++)
        stet_journal_free(j[i]);
    stet_ledger_events_open(&events, run_dir, NULL);
    EXPECT_INT(3, events.process_count);
    while (stet_ledger_events_next(&events, &e) == STET_OK) {
        if (e.event.kind != STET_REC_compile_end)
            continue;
        EXPECT_INT(seen++, ((const struct stet_rec_compile_end *)e.event.record)->index);
        EXPECT(e.wall_ns >= last);
        last = e.wall_ns;
    }
    EXPECT_INT(90, seen);
    stet_ledger_events_close(&events);
    drop_run();
}

TEST(a_run_is_followed_while_it_grows_and_gains_processes)
{
    struct stet_events events;
    struct stet_run_event e;
    struct stet_journal *a, *b;
    uint64_t seen = 0;

    fresh_run();
    EXPECT_INT(STET_OK, stet_ledger_events_open(&events, run_dir, NULL));
    EXPECT_INT(STET_NOT_FOUND, stet_ledger_events_next(&events, &e));
    a = scratch_journal(0, 0, 0);
    b = scratch_journal(0, 0, 0);
    for (uint64_t i = 0; i < 40; i++) {
        write_compile(i < 20 || i % 2 ? a : b, i);
        write_steps(a, 3);
        EXPECT_INT(STET_OK, stet_ledger_events_refresh(&events, NULL));
        while (stet_ledger_events_next(&events, &e) == STET_OK)
            if (e.event.kind == STET_REC_compile_end)
                EXPECT_INT(seen++, ((const struct stet_rec_compile_end *)e.event.record)->index);
    }
    EXPECT_INT(40, seen);
    stet_journal_free(a);
    stet_journal_free(b);
    stet_ledger_events_close(&events);
    drop_run();
}

/* A loop of a hundred steps through journal, flow and all; compiles at steps 0, 40 and 70. */
TEST(each_compile_is_placed_at_its_step)
{
    struct stet_run_digest d;
    struct stet_journal *j;
    struct stet_flow flow;
    char buffers[4];
    static const uint64_t at[] = {0, 40, 70};
    /* Names tell variants apart from other programs only where there are several. */
    struct stet_rec_compile_end init = {.index = 3, .executable = 9, .name = STET_VIEW("jit_init")};

    fresh_run();
    j = scratch_journal(0, 0, 0);
    stet_journal_flow_init(&flow);
    stet_journal_write(j, STET_REC_compile_end, &init);
    for (uint64_t step = 0, index = 0; step < 100; step++) {
        const void *args[] = {&buffers[step % 2], &buffers[2]}, *result = &buffers[(step + 1) % 2];
        struct stet_exec exec = {stet_journal_now(), step >= 70 ? 3u : step >= 40 ? 2u : 1u};

        if (index < 3 && step == at[index]) {
            begin_compile(j, index);
            write_compile(j, index); /* executable index + 1, all of one name */
            stet_journal_flow_executable(&flow, ++index, 1);
        }
        stet_journal_flow_executed(&flow, step, exec.executable, args, 2, &result);
        stet_journal_flow_gone(&flow, args[0]);
        stet_journal_write_execs(j, &exec, 1);
    }
    stet_journal_flow_write(&flow, j);
    stet_journal_flow_release(&flow);
    stet_journal_free(j);
    EXPECT_INT(STET_OK, stet_ledger_run_load(&d, run_dir, NULL));
    EXPECT_INT(STET_OK, stet_ledger_run_steps(&d, run_dir, NULL));
    EXPECT_INT(1, d.process_count);
    EXPECT(d.process_count == 1 && d.processes[0].steps_known && d.processes[0].steps == 100);
    EXPECT_INT(4, d.processes[0].compile_count);
    for (size_t i = 0; i < d.processes[0].compile_count; i++) {
        const struct stet_compile_event *c = &d.processes[0].compiles[i];

        if (c->index < 3)
            EXPECT(c->step_known && c->step == at[c->index]);
    }
    stet_ledger_run_unload(&d);
    drop_run();
}

TEST(a_compile_too_quick_for_its_line_is_not_a_fault)
{
    struct stet_rec_fault quick = {.what = STET_VIEW("stack-deadline"), .count = 4};
    struct stet_rec_fault real = {.what = STET_VIEW("no-memory"), .count = 1};
    struct stet_run_digest d;
    struct stet_journal *j;

    fresh_run();
    j = scratch_journal(0, 0, 0);
    stet_journal_write(j, STET_REC_fault, &quick);
    stet_journal_write(j, STET_REC_fault, &real);
    stet_journal_free(j);
    EXPECT_INT(STET_OK, stet_ledger_run_load(&d, run_dir, NULL));
    EXPECT_INT(1, d.process_count);
    EXPECT_INT(4, d.processes[0].unread_stacks);
    EXPECT_INT(1, d.processes[0].faults);
    stet_ledger_run_unload(&d);
    drop_run();
}

static void wait_at(struct stet_journal *j, uint64_t index, uint64_t line)
{
    struct stet_frame frames[] = {{STET_VIEW("api.py"), STET_VIEW("compile"), 7},
                                  {STET_VIEW("train.py"), STET_VIEW("main"), line}};
    struct stet_rec_compile_stack rec = {.index = index, .waits = 1};

    rec.stack = stet_journal_write_stack(j, (struct stet_frames){frames, 2});
    stet_journal_write(j, STET_REC_compile_stack, &rec);
}

/* In iteration 12 three programs outside the loop compile: one written before the step's line, one
 * after it, one of which nothing is known. */
TEST(a_program_beside_the_loop_is_placed_by_its_line)
{
    struct stet_run_digest d;
    struct stet_journal *j;
    struct stet_flow flow;
    char buffers[3];

    fresh_run();
    j = scratch_journal(0, 0, 0);
    stet_journal_flow_init(&flow);
    begin_compile(j, 0);
    wait_at(j, 0, 20);
    write_compile(j, 0);
    stet_journal_flow_executable(&flow, 1, 1);
    for (uint64_t step = 0; step < 50; step++) {
        const void *args[] = {&buffers[step % 2], &buffers[2]}, *result = &buffers[(step + 1) % 2];
        struct stet_exec exec = {stet_journal_now(), 1};

        for (uint64_t when = 0; when < 3; when++) {
            if (step != 12 + (when != 0)) /* the last two after iteration 12's step */
                continue;
            begin_compile(j, 1 + when);
            if (when < 2)
                wait_at(j, 1 + when, when ? 22 : 18);
        }
        stet_journal_flow_executed(&flow, step, 1, args, 2, &result);
        stet_journal_flow_gone(&flow, args[0]);
        stet_journal_write_execs(j, &exec, 1);
    }
    stet_journal_flow_write(&flow, j);
    stet_journal_flow_release(&flow);
    stet_journal_free(j);
    stet_ledger_run_load(&d, run_dir, NULL);
    EXPECT_INT(STET_OK, stet_ledger_run_steps(&d, run_dir, NULL));
    EXPECT_INT(4, d.processes[0].compile_count);
    for (size_t i = 0; i < d.processes[0].compile_count; i++) {
        const struct stet_compile_event *c = &d.processes[0].compiles[i];

        EXPECT(c->step_known == (c->index != 3));
        EXPECT_INT(c->index == 1 || c->index == 2 ? 12 : 0, c->step);
    }
    stet_ledger_run_unload(&d);
    drop_run();
}

static bool json_has(const struct stet_run_digest *d, const char *text)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_run run = {0};
    bool found;

    stet_session_run_json(&out, &run, d);
    found = memmem(out.ptr, out.len, text, strlen(text)) != NULL;
    stet_buf_release(&out);
    return found;
}

TEST(lost_executions_are_counted_and_make_the_steps_after_them_unknown)
{
    struct stet_rec_loss loss = {.why = STET_VIEW("busy"), .executions = 3, .stream = 1};
    struct stet_rec_compile_end again = {.index = 7, .executable = 1};
    struct stet_run_digest d;
    struct stet_journal *j;
    struct stet_flow flow;
    char buffers[2];

    fresh_run();
    j = scratch_journal(0, 0, 0);
    stet_journal_flow_init(&flow);
    write_compile(j, 0);
    stet_journal_flow_executable(&flow, 1, 1);
    for (uint64_t step = 0; step < 50; step++) {
        const void *arg = &buffers[step % 2], *result = &buffers[(step + 1) % 2];
        struct stet_exec exec = {stet_journal_now(), 1};

        stet_journal_flow_executed(&flow, step, 1, &arg, 1, &result);
        stet_journal_flow_gone(&flow, arg);
        stet_journal_write_execs(j, &exec, 1);
        if (step == 30) {
            begin_compile(j, 7);
            stet_journal_write(j, STET_REC_compile_end, &again);
            stet_journal_write(j, STET_REC_loss, &loss);
            begin_compile(j, 8);
        }
    }
    stet_journal_flow_write(&flow, j);
    stet_journal_flow_release(&flow);
    stet_journal_free(j);
    stet_ledger_run_load(&d, run_dir, NULL);
    EXPECT_INT(STET_OK, stet_ledger_run_steps(&d, run_dir, NULL));
    EXPECT(!d.processes[0].steps_known);
    EXPECT_STR("records of executions are lost", d.processes[0].steps_why);
    EXPECT(json_has(&d, "\"lost_executions\":3"));
    for (size_t i = 0; i < d.processes[0].compile_count; i++) {
        const struct stet_compile_event *c = &d.processes[0].compiles[i];

        if (c->index == 7)
            EXPECT(c->step_known && c->step == 31);
        if (c->index == 8)
            EXPECT(!c->step_known);
    }
    stet_ledger_run_unload(&d);
    drop_run();
}
