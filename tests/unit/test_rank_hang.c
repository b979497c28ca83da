/* What a job without progress waits for, from the states of its ranks. */
#include "test.h"

#include "monitor/rank_hang.h"

enum { MOST = 12 };
static struct stet_rank_state items[MOST];
static struct stet_rank_states job = {.items = items};

/* Ranks of these kinds, which have not moved for a minute. */
static void ranks(size_t count, const enum stet_rank_kind *kinds)
{
    job.count = count;
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct stet_rank_state){.kind = kinds[i],
                                            .rank = (int64_t)i,
                                            .program = STET_VIEW("train_step"),
                                            .runs = 7,
                                            .age_ns = UINT64_C(60000000000),
                                            .now = true,
                                            .line = 20 + i};
        snprintf(items[i].file, sizeof items[i].file, "train.py");
    }
}

static const char *text(void)
{
    static struct stet_buf out;
    struct stet_rank_hang h;

    out.len = 0;
    stet_buf_str(&out, "");
    stet_monitor_rank_hang(&h, &job);
    stet_monitor_rank_hang_text(&out, &h);
    EXPECT(h.found == (out.len > 0));
    return out.len ? out.ptr : "";
}

#define DEVICE STET_RANK_DEVICE

TEST(each_kind_of_culprit_has_its_sentence)
{
    static const struct {
        enum stet_rank_kind kind;
        const char *text;
    } rows[] = {
        {STET_RANK_DEAD, "rank 1 is dead at train.py:21; 2 ranks wait for it in train_step"},
        {STET_RANK_STOPPED, "rank 1 is stopped at train.py:21; 2 ranks wait for it in train_step"},
        {STET_RANK_COMPILING,
         "rank 1 is compiling at train.py:21; 2 ranks wait for it in train_step"},
        {STET_RANK_HOST, "rank 1 is in host code at train.py:21 and has not come; 2 ranks wait for "
                         "it in train_step"},
        {STET_RANK_WAITING, "rank 1 is blocked in host code at train.py:21 and has not come; 2 "
                            "ranks wait for it in train_step"},
        {STET_RANK_MISSING, "rank 1 is missing at train.py:21; 2 ranks wait for it in train_step"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ranks(3, (enum stet_rank_kind[]){DEVICE, rows[i].kind, DEVICE});
        EXPECT_STR(rows[i].text, text());
    }
}

TEST(the_most_telling_kind_is_named_and_all_ranks_of_it)
{
    ranks(4, (enum stet_rank_kind[]){STET_RANK_HOST, STET_RANK_DEAD, DEVICE, STET_RANK_DEAD});
    EXPECT_STR("ranks 1 and 3 are dead; 1 rank waits for them in train_step", text());
    ranks(11, (enum stet_rank_kind[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, DEVICE});
    EXPECT_STR("ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more are missing; 1 rank waits for them in "
               "train_step",
               text());
}

/* A line of an earlier moment is not where the rank is. */
TEST(a_line_that_is_not_of_now_is_not_named)
{
    ranks(2, (enum stet_rank_kind[]){STET_RANK_DEAD, DEVICE});
    items[0].now = false;
    EXPECT_STR("rank 0 is dead; 1 rank waits for it in train_step", text());
}

TEST(a_rank_that_has_started_a_program_less_often_is_behind)
{
    ranks(3, (enum stet_rank_kind[]){DEVICE, DEVICE, DEVICE});
    items[2].runs = 6;
    items[0].behind = items[1].behind = 1;
    items[0].behind_rank = items[1].behind_rank = 2;
    EXPECT_STR("rank 2 at train.py:22 has not reached a collective that the others are in; 2 ranks "
               "wait for it in train_step",
               text());
}

TEST(if_all_wait_in_one_program_no_rank_is_named)
{
    ranks(3, (enum stet_rank_kind[]){DEVICE, DEVICE, DEVICE});
    EXPECT_STR("all 3 ranks wait in train_step, and all have started it equally often: a "
               "device, or the network between them, makes no progress",
               text());
    items[1].program = STET_VIEW("evaluate");
    EXPECT_STR("", text());
}

/* A rank that is a moment later than the others is in host code too. */
TEST(a_job_that_moves_has_no_culprit)
{
    ranks(3, (enum stet_rank_kind[]){DEVICE, STET_RANK_HOST, DEVICE});
    items[2].age_ns = 500000000;
    EXPECT_STR("", text());
    ranks(2, (enum stet_rank_kind[]){STET_RANK_HOST, STET_RANK_WAITING}); /* nobody waits */
    EXPECT_STR("", text());
    ranks(1, (enum stet_rank_kind[]){DEVICE});
    EXPECT_STR("", text());
}
