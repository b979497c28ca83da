/* What a host posts about a rank, and what another host takes from such a message. */
#include "test.h"

#include "base/json.h"
#include "monitor/rank_beacon.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void write_message(struct stet_buf *out, const struct stet_rank_state *s, uint64_t at)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_uint(&j, "at", at);
    stet_json_array(&j, "ranks");
    stet_monitor_rank_json(&j, s);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
}

static struct stet_rank_state waiting_rank(void)
{
    struct stet_rank_state s = {.kind = STET_RANK_WAITING,
                                .rank = 3,
                                .pid = 77,
                                .host = "beta",
                                .program = STET_VIEW("train_step"),
                                .runs = 5,
                                .executions = 9,
                                .steps_known = true,
                                .steps = 4,
                                .now = true,
                                .line = 12,
                                .blocked_in = "sleep"};

    snprintf(s.file, sizeof s.file, "train.py");
    return s;
}

TEST(what_one_host_posts_another_takes)
{
    struct stet_rank_state sent = waiting_rank(), got = {.kind = STET_RANK_MISSING, .rank = 3};
    struct stet_buf text = STET_BUF_INIT;
    struct stet_arena arena;

    stet_arena_init(&arena, 1 << 20);
    write_message(&text, &sent, (uint64_t)time(NULL) - 7);
    EXPECT(stet_monitor_beacon_take(stet_buf_as_view(&text), &got, &arena));
    EXPECT_INT(STET_RANK_WAITING, got.kind);
    EXPECT_STR("beta", got.host);
    EXPECT_STR("train.py", got.file);
    EXPECT_STR("sleep", got.blocked_in);
    EXPECT(stet_view_is(got.program, "train_step") && got.now && got.remote && got.steps_known);
    EXPECT(got.seen_s >= 7 && got.seen_s < 3600);
    EXPECT_INT(12, got.line);
    EXPECT_INT(77, got.pid);
    EXPECT_INT(5, got.runs);
    EXPECT_INT(9, got.executions);
    EXPECT_INT(4, got.steps);
    stet_buf_release(&text);
    stet_arena_release(&arena);
}

/* A tier may return anything. */
TEST(a_message_of_another_rank_or_none_at_all_changes_nothing)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "[]",
                                      "7",
                                      "{\"at\":1}",
                                      "{\"ranks\":7}",
                                      "{\"ranks\":[]}",
                                      "{\"ranks\":[7]}",
                                      "{\"ranks\":[{\"rank\":3}]}",
                                      "{\"ranks\":[{\"rank\":3,\"pid\":1,\"kind\":7}]}",
                                      "{\"ranks\":[{\"rank\":3,\"pid\":1,\"kind\":\"asleep\"}]}",
                                      "{\"ranks\":[{\"rank\":3,\"pid\":-1,\"kind\":\"dead\"}]}",
                                      "{\"ranks\":[{\"rank\":4,\"pid\":1,\"kind\":\"dead\"}]}",
                                      "{\"ranks\":[{\"rank\":\"3\",\"pid\":1,\"kind\":\"dead\"}]}"};
    struct stet_arena arena;
    char deep[8000];

    stet_arena_init(&arena, 1 << 20);
    memset(deep, '[', sizeof deep);
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        struct stet_rank_state got = {.kind = STET_RANK_MISSING, .rank = 3};
        struct stet_view text =
            i < sizeof bad / sizeof *bad ? stet_view_str(bad[i]) : stet_view_of(deep, sizeof deep);

        EXPECT(!stet_monitor_beacon_take(text, &got, &arena));
        EXPECT(got.kind == STET_RANK_MISSING && !got.pid && !got.remote);
    }
    stet_arena_release(&arena);
}

/* Texts are cut, a time in the future is now, and a missing number is zero. */
TEST(values_that_no_host_posts_are_bounded)
{
    struct stet_rank_state got = {.kind = STET_RANK_MISSING, .rank = 3};
    struct stet_buf text = STET_BUF_INIT;
    struct stet_arena arena;

    stet_arena_init(&arena, 1 << 20);
    stet_buf_str(&text, "{\"at\":9999999999999,\"ranks\":[{\"rank\":3,\"pid\":1,\"kind\":\"dead\","
                        "\"executions\":-5,\"steps\":1.5,\"host\":7,\"line\":[],\"program\":\"");
    for (int i = 0; i < 5000; i++)
        stet_buf_char(&text, 'x');
    stet_buf_str(&text, "\"}]}");
    EXPECT(stet_monitor_beacon_take(stet_buf_as_view(&text), &got, &arena));
    EXPECT_INT(128, got.program.len);
    EXPECT_STR("", got.host);
    EXPECT(!got.seen_s && !got.executions && !got.steps_known && !got.line);
    stet_buf_release(&text);
    stet_arena_release(&arena);
}
