/* Facts about batches of executions. */
#include "test.h"

#include "journal_help.h"

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Encode, decode, compare order exactly and times to the microsecond where they are kept. Returns
 * the coded bytes. */
static size_t round_trip(const struct stet_exec *in, size_t n)
{
    struct stet_buf order = STET_BUF_INIT, times = STET_BUF_INIT;
    struct stet_exec *out = stet_mem_calloc(n, sizeof *out);
    struct stet_rec_execs rec;
    size_t size;

    EXPECT_INT(STET_OK, stet_journal_execs_encode(&rec, &order, &times, in, n));
    EXPECT_INT(STET_OK, stet_journal_execs_decode(&rec, out, n, NULL));
    for (size_t i = 0; i < n; i++) {
        bool order_right = in[i].executable == out[i].executable;
        bool grows = i == 0 || out[i].time_ns >= out[i - 1].time_ns;
        bool near = i % rec.every || i + 1 == n || in[i].time_ns - out[i].time_ns < 1000;

        if (!order_right || !grows || !near) {
            EXPECT(order_right);
            EXPECT(grows);
            EXPECT(near);
            break;
        }
    }
    EXPECT(out[0].time_ns == in[0].time_ns && out[n - 1].time_ns == in[n - 1].time_ns);
    size = order.len + times.len;
    stet_mem_free(out);
    stet_buf_release(&order);
    stet_buf_release(&times);
    return size;
}

TEST(order_and_times_come_back)
{
    static struct stet_exec execs[20000];

    for (int round = 0; round < 200; round++) {
        size_t n = 1 + (size_t)(next_random() % (round < 100 ? 40 : 20000));
        uint64_t ids = 1 + next_random() % (uint64_t)(1 + round), t = next_random() >> 20;

        for (size_t i = 0; i < n; i++) {
            t += next_random() % 100000;
            execs[i] =
                (struct stet_exec){t, round % 3 ? 1 + next_random() % ids : 1 + i % (size_t)ids};
        }
        round_trip(execs, n);
    }
}

TEST(ten_million_executions_of_a_training_loop_take_a_few_megabytes)
{
    static struct stet_exec execs[4096];
    size_t bytes = 0, made = 0;
    uint64_t t = 0, step = 0;

    while (made < 10000000) {
        size_t n = 0;

        while (n + 16 < sizeof execs / sizeof *execs) {
            for (uint64_t micro = 0; micro < 4; micro++, n++)
                execs[n] = (struct stet_exec){t += 20000 + next_random() % 5000, 17};
            execs[n++] = (struct stet_exec){t += 20000 + next_random() % 5000, 18};
            if (++step % 10 == 0)
                execs[n++] = (struct stet_exec){t += 20000 + next_random() % 5000, 19};
        }
        bytes += round_trip(execs, n) + STET_JOURNAL_FRAME_SIZE + 40;
        made += n;
    }
    printf("10^7 executions: %zu bytes\n", bytes);
    EXPECT(bytes < 4u << 20);
}

TEST(a_clock_that_runs_back_is_levelled)
{
    struct stet_exec in[] = {{5000000, 1}, {4000000, 2}, {9000000, 1}, {8000000, 3}}, out[4];
    struct stet_buf order = STET_BUF_INIT, times = STET_BUF_INIT;
    struct stet_rec_execs rec;

    EXPECT_INT(STET_OK, stet_journal_execs_encode(&rec, &order, &times, in, 4));
    EXPECT_INT(STET_OK, stet_journal_execs_decode(&rec, out, 4, NULL));
    for (size_t i = 1; i < 4; i++)
        EXPECT(out[i].time_ns >= out[i - 1].time_ns && out[i].executable == in[i].executable);
    stet_buf_release(&order);
    stet_buf_release(&times);
}

TEST(nonsense_is_refused)
{
    struct stet_exec out[8];
    struct stet_rec_execs good = {.count = 2,
                                  .every = 1,
                                  .last_ns = 9,
                                  .order = STET_VIEW("\4\1\2"),
                                  .times = STET_VIEW("\0")};
    struct stet_rec_execs bad;

    EXPECT_INT(STET_OK, stet_journal_execs_decode(&good, out, 8, NULL));
    bad = good, bad.count = 9;
    EXPECT_INT(STET_LIMIT, stet_journal_execs_decode(&bad, out, 8, NULL));
    bad = good, bad.count = 3;
    EXPECT_INT(STET_BAD_INPUT, stet_journal_execs_decode(&bad, out, 8, NULL));
    bad = good, bad.every = 0;
    EXPECT_INT(STET_BAD_INPUT, stet_journal_execs_decode(&bad, out, 8, NULL));
    bad = good, bad.first_ns = 10;
    EXPECT_INT(STET_BAD_INPUT, stet_journal_execs_decode(&bad, out, 8, NULL));
    bad = good, bad.order = STET_VIEW("\2\1\3\5"); /* copies from before the batch */
    EXPECT_INT(STET_BAD_INPUT, stet_journal_execs_decode(&bad, out, 8, NULL));
    bad = good, bad.times = STET_VIEW("");
    EXPECT_INT(STET_BAD_INPUT, stet_journal_execs_decode(&bad, out, 8, NULL));
}
