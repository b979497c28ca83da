/* Facts about following results from execution to execution. */
#include "test.h"

#include "journal_help.h"

#include "journal/flow.h"

#include <pthread.h>

static struct stet_flow flow;

static void run(uint64_t executable, const void *const *args, size_t n, const void *const *results)
{
    static atomic_uint_least64_t number;

    if (stet_journal_flow_on(&flow))
        stet_journal_flow_executed(&flow, atomic_fetch_add(&number, 1), executable, args, n,
                                   results);
}

static size_t read_back(struct stet_flow_entry *entries, size_t room)
{
    struct stet_rec_flow rec;
    struct stet_flow_cursor c;
    size_t n = 0;

    if (!stet_journal_flow_take(&flow, &rec))
        return 0;
    stet_journal_flow_cursor_init(&c, &rec);
    while (n < room && stet_journal_flow_next(&c, &entries[n], NULL) == STET_OK)
        n++;
    return n;
}

TEST(results_are_followed_to_their_use)
{
    static struct stet_flow_entry e[8];
    char b[8];
    const void *batch = &b[0], *p0[] = {&b[1], &b[2]}, *p1[] = {&b[3], &b[4]};
    const void *first[] = {&b[1], &b[2], batch}, *second[] = {&b[3], &b[4], batch, &b[7]};

    stet_journal_flow_init(&flow);
    run(9, NULL, 0, p0);
    EXPECT_INT(0, read_back(e, 8)); /* off before the first executable */
    stet_journal_flow_executable(&flow, 1, 2);
    stet_journal_flow_executable(&flow, 2, 2);
    run(1, NULL, 0, p0);
    run(2, first, 3, p1);
    stet_journal_flow_gone(&flow, &b[4]);
    run(2, second, 4, p0); /* b[4] is another buffer now, b[7] is new */
    EXPECT_INT(3, read_back(e, 8));
    EXPECT(e[0].executable == 1 && e[0].result_count == 2 && e[0].source_count == 0);
    EXPECT_INT(2, e[1].source_count);
    EXPECT(e[1].sources[0].entry == 0 && e[1].sources[0].args == 2 && !e[1].sources[0].external);
    EXPECT(e[1].sources[1].entry == 1 && e[1].sources[1].external);
    EXPECT_INT(3, e[2].source_count);
    EXPECT(e[2].sources[0].entry == 1 && e[2].sources[0].args == 1 && !e[2].sources[0].external);
    EXPECT(e[2].sources[1].entry == 2 && e[2].sources[1].external && e[2].sources[1].args == 2);
    EXPECT(e[2].sources[2].entry == 1 && e[2].sources[2].external); /* the same batch again */
    stet_journal_flow_release(&flow);
}

TEST(following_pauses_at_the_end_of_a_window_and_stops_at_the_total)
{
    const void *state = &flow;
    uint64_t followed = 0;
    struct stet_rec_flow rec;

    stet_journal_flow_init(&flow);
    for (int look = 0; look < 20; look++) {
        stet_journal_flow_take(&flow, &rec);
        stet_journal_flow_executable(&flow, 1, 1);
        while (stet_journal_flow_on(&flow)) {
            run(1, &state, 1, &state);
            if (++followed % 1000 == 0)
                stet_journal_flow_take(&flow, &rec);
        }
    }
    EXPECT_INT(STET_FLOW_TOTAL, followed);
    stet_journal_flow_release(&flow);
}

static void *hammer(void *arg)
{
    char buffers[16];

    (void)arg;
    for (int i = 0; i < 3000; i++) {
        const void *in = &buffers[i % 16], *out = &buffers[(i + 5) % 16];

        run(1, &in, 1, &out);
        stet_journal_flow_gone(&flow, in);
        if (i % 500 == 0)
            stet_journal_flow_executable(&flow, 1, 1);
    }
    return NULL;
}

static size_t check_batch(void)
{
    static struct stet_flow_entry e;
    struct stet_flow_cursor c;
    struct stet_rec_flow rec;
    enum stet_rc rc;
    size_t n = 0;

    if (!stet_journal_flow_take(&flow, &rec))
        return 0;
    stet_journal_flow_cursor_init(&c, &rec);
    while ((rc = stet_journal_flow_next(&c, &e, NULL)) == STET_OK)
        n++;
    EXPECT_INT(STET_NOT_FOUND, rc);
    return n;
}

/* Whatever the threads do, what is handed over decodes, and no entry has a source in its future. */
TEST(many_threads_may_run_and_free_at_once)
{
    pthread_t threads[6];
    size_t taken = 0;

    stet_journal_flow_init(&flow);
    stet_journal_flow_executable(&flow, 1, 1);
    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, hammer, NULL);
    for (int round = 0; round < 200; round++, usleep(100))
        taken += check_batch();
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    taken += check_batch();
    EXPECT(taken > 0);
    stet_journal_flow_release(&flow);
}

TEST(an_unknown_executable_ends_the_window)
{
    static struct stet_flow_entry e[8];
    const void *state = &flow;
    struct stet_rec_flow rec;

    stet_journal_flow_init(&flow);
    stet_journal_flow_executable(&flow, 1, 1);
    run(1, &state, 1, &state);
    run(2, &state, 1, &state);
    run(1, &state, 1, &state);
    EXPECT_INT(1, read_back(e, 8));
    run(1, &state, 1, &state);
    EXPECT(stet_journal_flow_take(&flow, &rec) && rec.window > 1 && rec.first == 0 &&
           rec.count == 1);
    stet_journal_flow_release(&flow);
}

TEST(no_memory_means_no_following)
{
#ifdef STET_FAULT_INJECTION
    const void *state = &flow;
    struct stet_rec_flow rec;

    stet_journal_flow_init(&flow);
    stet_mem_fail_after(0, true);
    stet_journal_flow_executable(&flow, 1, 1);
    EXPECT(!stet_journal_flow_on(&flow));
    stet_mem_fail_after(2, true); /* the tables, but no batch */
    stet_journal_flow_executable(&flow, 1, 1);
    run(1, &state, 1, &state);
    stet_mem_fail_after(-1, false);
    EXPECT(!stet_journal_flow_take(&flow, &rec));
    stet_journal_flow_release(&flow);
#endif
}
