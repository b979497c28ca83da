/* What a page of metrics looks like when names are hostile and everything is too many. With
 * STET_PAGE the pages of the first test are left there, for promtool. */
#include "test.h"

#include "base/fs.h"
#include "monitor/metrics.h"
#include "session/account_run.h"

#include <stdlib.h>

static const struct stet_metrics_run run = {"host\"\\\n\xff", "0.1", true};

static struct stet_pulse *hostile(void)
{
    struct stet_pulse *p = stet_pulse_new("run \"one\"\n\\", 1500000000123456789);

    for (int i = 0; i < 3; i++) {
        struct stet_pulse_process *q = &p->processes[i];

        q->used = true;
        q->rank = i - 1;
        q->pid = 100 + (uint64_t)i;
        q->compiles = 7;
        q->compile_ns = 1000000001;
        stet_ledger_steps_live_init(&q->steps, p->batch);
    }
    p->process_count = 3;
    p->torch_count = 1;
    p->torch[0].compiles = 5;
    p->devices[0] = (struct stet_pulse_device){.process = 1, .device = 3, .in_use = UINT64_MAX};
    p->device_count = 1;
    for (int i = 0; i < STET_PULSE_FAMILIES; i++) {
        snprintf(p->families[i].name, sizeof p->families[i].name, "f\"\n\\\x80 %d", i);
        p->families[i].programs = 2;
    }
    p->family_count = STET_PULSE_FAMILIES;
    return p;
}

static char *page(const struct stet_pulse *p, enum stet_metrics_format format)
{
    struct stet_buf out = STET_BUF_INIT;

    stet_monitor_metrics_write(&out, p, &run, format);
    EXPECT(!out.failed);
    return out.ptr;
}

static size_t lines_with(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

TEST(lines_whose_compiles_were_served_are_few)
{
    enum { LINES = 60 };
    static struct stet_compile_event compiles[LINES];
    struct stet_process_digest process = {.compiles = compiles, .compile_count = LINES};
    const struct stet_run_digest d = {.processes = &process, .process_count = 1};
    struct stet_pulse *p = hostile();
    char *text;

    for (uint64_t i = 0; i < LINES; i++)
        compiles[i] = (struct stet_compile_event){.ended = true,
                                                  .served = STET_SERVED_LIFTED,
                                                  .served_ns = 1,
                                                  .instead_ns = 1000000000,
                                                  .time_ns = i,
                                                  .trigger = {STET_VIEW("a\"b.py"), {0}, i + 1}};
    p->digest = &d;
    text = page(p, STET_METRICS_PROMETHEUS);
    EXPECT_INT(51, lines_with(text, "\nstet_avoided_compiles_total{"));
    EXPECT(strstr(text, ",line=\"a\\\"b.py:50\",by=\"lifted\"} 1\n"));
    EXPECT(strstr(text, ",line=\"other\",by=\"lifted\"} 10\n"));
    EXPECT(strstr(text, ",line=\"other\",by=\"lifted\"} 10.000000000\n"));
    free(text);
    p->digest = NULL;
    stet_pulse_free(p);
}

TEST(names_are_escaped_and_families_are_few)
{
    struct stet_pulse *p = hostile();
    const char *where = getenv("STET_PAGE");
    char *text = page(p, STET_METRICS_PROMETHEUS), *open = page(p, STET_METRICS_OPENMETRICS);

    EXPECT(strstr(
        text, "stet_compiles_total{run=\"run \\\"one\\\"\\n\\\\\",rank=\"0\",lane=\"xla\"} 7\n"));
    EXPECT(strstr(text, "rank=\"none\",lane=\"xla\"} 1.000000001\n"));
    EXPECT(strstr(text, "host=\"host\\\"\\\\\\n\xef\xbf\xbd\""));
    EXPECT(strstr(text, ",family=\"f\\\"\\n\\\\\xef\xbf\xbd 0\"} 2\n"));
    EXPECT_INT(21, lines_with(text, "\nstet_family_programs{"));
    EXPECT(strstr(text, ",family=\"other\"} 984\n"));
    EXPECT(strstr(text, "# TYPE stet_compiles_total counter\n"));
    EXPECT(strstr(text, "} 18446744073709551615\n"));
    EXPECT(!strstr(text, "# EOF"));
    EXPECT(strstr(open, "# TYPE stet_compiles counter\n"));
    EXPECT(strstr(open, "\nstet_compiles_total{"));
    EXPECT(strstr(open, "as \\\"other\\\".\n"));
    EXPECT_STR("# EOF\n", open + strlen(open) - 6);
    if (where)
        EXPECT(stet_fs_write(where, stet_view_str(text), NULL) == STET_OK);
    free(text);
    free(open);
    stet_pulse_free(p);
}

/* Recompiles to count, as an account has them. */
struct listed {
    struct stet_recompile items[4 * STET_PULSE_CELLS];
    size_t count;
};

static struct listed list;

static void each(void *source, stet_visit_recompile *visit, void *context)
{
    struct listed *l = source;

    for (size_t i = 0; i < l->count; i++)
        visit(context, &l->items[i]);
}

static enum stet_rc recount(void *context, const struct stet_account *a,
                            const struct stet_account_tally *t, struct stet_err *err)
{
    (void)t;
    return stet_pulse_recount(context, a, NULL, 0, err);
}

static void count_listed(struct stet_pulse *p)
{
    EXPECT_INT(STET_OK, stet_account_of_lanes(each, &list, NULL, recount, p, NULL));
}

static struct stet_recompile *recompile(const char *class, int64_t rank, uint64_t line)
{
    struct stet_recompile *r = &list.items[list.count++];

    *r = (struct stet_recompile){.lane = STET_LANE_XLA,
                                 .rank = rank,
                                 .cause = stet_cause_find(stet_view_str(class)),
                                 .function = STET_VIEW("step"),
                                 .origin = {STET_VIEW("a.py"), STET_VIEW("step"), line},
                                 .sure = STET_SURE_CERTAIN,
                                 .wait_ns = 5000,
                                 .cost_ns = 1000};
    return r;
}

TEST(causes_beyond_the_limit_are_counted_together)
{
    struct stet_pulse *p = hostile();
    uint64_t count = 0, cost = 0;
    char *text;

    list.count = 0;
    for (int i = 0; i < 3 * STET_PULSE_CELLS; i++)
        recompile("shape-drift", i, (uint64_t)i);
    count_listed(p);
    EXPECT_INT(STET_PULSE_CELLS, p->cell_count);
    EXPECT_INT(STET_PULSE_CAUSES, p->cause_count);
    for (size_t i = 0; i < p->cell_count; i++) {
        count += p->cells[i].count;
        cost += p->cells[i].cost_ns;
    }
    EXPECT_INT(3 * STET_PULSE_CELLS, count);
    EXPECT_INT(3 * STET_PULSE_CELLS * 1000, cost);
    text = page(p, STET_METRICS_PROMETHEUS);
    /* The rest of the other lane is nothing. */
    EXPECT_INT(STET_PULSE_CELLS - 1, lines_with(text, "\nstet_recompiles_total{"));
    EXPECT(strstr(text, "rank=\"none\",lane=\"xla\",cause=\"other\"} 2050\n"));
    free(text);
    stet_pulse_free(p);
}

TEST(programs_from_a_store_are_waited_for_and_cost_no_compiling)
{
    struct stet_pulse *p = hostile();

    list.count = 0;
    recompile("shape-drift", -1, 3);
    recompile("shape-drift", -1, 3)->served = STET_SERVED_DISK;
    recompile("shape-drift", -1, 3)->served = STET_SERVED_MEMORY;
    count_listed(p);
    count_listed(p); /* counted anew, not added */
    EXPECT_INT(3, p->processes[0].recompiles);
    EXPECT_INT(1000, p->processes[0].lost_ns);
    EXPECT_INT(15000, p->processes[0].wait_ns);
    EXPECT_INT(3, p->cells[0].count);
    EXPECT_INT(1000, p->cells[0].cost_ns);
    EXPECT_INT(1, p->cause_count);
    EXPECT_INT(3, p->causes[0].times);
    EXPECT_INT(1000, p->causes[0].cost_ns);
    EXPECT_INT(15000, p->causes[0].wait_ns);
    stet_pulse_free(p);
}

TEST(a_harmless_recompile_costs_nothing)
{
    struct stet_pulse *p = hostile();

    list.count = 0;
    recompile("optimizer-state-init", -1, 3)->benign = true;
    count_listed(p);
    EXPECT_INT(1, p->processes[0].benign);
    EXPECT_INT(0, p->processes[0].recompiles);
    EXPECT_INT(0, p->cell_count);
    EXPECT_INT(0, p->cause_count);
    stet_pulse_free(p);
}

TEST(what_is_compiled_first_in_the_loop_is_waited_for_and_no_recompile)
{
    struct stet_pulse *p = hostile();

    list.count = 0;
    recompile("hidden-branch", -1, 3)->event = STET_EVENT_FIRST;
    count_listed(p);
    EXPECT_INT(0, p->processes[0].recompiles);
    EXPECT_INT(5000, p->processes[0].wait_ns);
    EXPECT_INT(1, p->cause_count);
    stet_pulse_free(p);
}

TEST(one_cause_is_one_row_and_the_most_expensive_is_first)
{
    struct stet_pulse *p = hostile();

    list.count = 0;
    recompile("baked-constant", 0, 13);
    for (int i = 0; i < 5; i++)
        recompile("baked-constant", i % 2, 12);
    count_listed(p);
    EXPECT_INT(2, p->cause_count);
    EXPECT_INT(5, p->causes[0].times);
    EXPECT_INT(12, p->causes[0].line);
    EXPECT_INT(5000, p->causes[0].cost_ns);
    EXPECT_INT(3, p->share_count); /* line 12 on both ranks, line 13 on rank 0 */
    EXPECT_INT(3, p->shares[0].times);
    EXPECT_INT(15000, p->shares[0].wait_ns);
    EXPECT_INT(2, p->shares[1].times);
    EXPECT_INT(1, p->shares[1].rank);
    EXPECT_INT(1, p->shares[2].cause);
    EXPECT_INT(2, p->cell_count);
    stet_pulse_free(p);
}
