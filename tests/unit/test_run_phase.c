/* What a framework reports: compiles of a backend that the layer does not see are counted by line.
 */
#include "ledger/run_phase.h"

#include "base/mem.h"
#include "ledger/run_wait.h"
#include "test.h"

static void compiled(struct stet_run_digest *d, struct stet_process_digest *p, const char *file,
                     uint64_t line)
{
    stet_ledger_run_phase(d, p,
                          &(struct stet_rec_phase){.kind = 3,
                                                   .function = STET_VIEW("jit(add)"),
                                                   .duration_ns = 10,
                                                   .file = stet_view_str(file),
                                                   .line = line},
                          1000);
}

TEST(compiles_that_the_layer_does_not_see_are_counted_by_line)
{
    struct stet_process_digest p = {0};
    struct stet_run_digest d = {0};

    stet_arena_init(&d.arena, (size_t)1 << 20);
    compiled(&d, &p, "/a/report.py", 8);
    compiled(&d, &p, "/a/report.py", 9);
    compiled(&d, &p, "/a/report.py", 8);
    compiled(&d, &p, "", 0);
    EXPECT_INT(3, p.counter_count);
    EXPECT_INT(2, p.counters[0].samples);
    EXPECT_INT(20, p.counters[0].total);
    EXPECT_INT(8, p.counters[0].at.line);
    EXPECT(stet_view_is(p.counters[1].name, STET_COUNTER_UNSEEN " /a/report.py:9"));
    EXPECT_INT(0, p.traces);
    stet_mem_free(p.counters);
    stet_arena_release(&d.arena);
}

TEST(tracing_is_still_waiting)
{
    struct stet_process_digest p = {0};
    struct stet_run_digest d = {0};

    stet_ledger_run_phase(
        &d, &p, &(struct stet_rec_phase){.kind = 1, .duration_ns = 10, .thread = 7}, 1000);
    EXPECT_INT(1, p.traces);
    EXPECT_INT(0, p.counter_count);
    stet_ledger_wait_release(&p);
}
