/* Which recompiles are one story, and what a story holds. */
#include "test.h"

#include "story/story.h"

static struct stet_row_change size(const char *what, uint64_t dim, const char *from, const char *to)
{
    return (struct stet_row_change){.what = stet_view_str(what),
                                    .from = stet_view_str(from),
                                    .to = stet_view_str(to),
                                    .kind = STET_CHANGE_ARGUMENT,
                                    .count = 1,
                                    .dim = dim + 1};
}

static struct stet_recompile row(const char *function, enum stet_cause cause, uint64_t origin,
                                 const struct stet_row_change *change)
{
    return (struct stet_recompile){.lane = STET_LANE_XLA,
                                   .cause = cause,
                                   .rank = -1,
                                   .function = stet_view_str(function),
                                   .origin = {STET_VIEW("a.py"), STET_VIEW("f"), origin},
                                   .trigger = {STET_VIEW("a.py"), STET_VIEW("main"), 90},
                                   .changes = change,
                                   .change_count = change != NULL,
                                   .wait_ns = 10,
                                   .cost_ns = 4,
                                   .sure = STET_SURE_CERTAIN,
                                   .fix = STET_VIEW("mend it")};
}

static bool is(const struct stet_story *t, enum stet_cause cause, size_t recompiles,
               size_t functions)
{
    return t->cause == cause && t->count == recompiles && t->function_count == functions;
}

/* Adds rows, finishes, and returns the number of stories. */
static size_t tell(struct stet_stories *s, const struct stet_recompile *rows, size_t count)
{
    stet_story_init(s);
    for (size_t i = 0; i < count; i++)
        EXPECT(stet_story_add(s, &rows[i]));
    EXPECT(stet_story_finish(s));
    return s->count;
}

TEST(one_line_that_made_the_sizes_is_one_story)
{
    struct stet_row_change short_train = size("argument x dimension 0", 0, "16", "6");
    struct stet_row_change short_eval = size("argument batch dimension 0", 0, "16", "8");
    struct stet_recompile rows[] = {row("train", STET_CAUSE_LAST_BATCH, 5, &short_train),
                                    row("eval", STET_CAUSE_SHAPE_DRIFT, 9, &short_eval)};
    struct stet_stories s;

    rows[0].source = rows[1].source = (struct stet_line){STET_VIEW("data.py"), STET_VIEW("it"), 40};
    rows[0].wait_ns = 30;
    EXPECT_INT(1, (int)tell(&s, rows, 2));
    EXPECT(is(&s.items[0], STET_CAUSE_LAST_BATCH, 2, 2));
    EXPECT_INT(0, (int)s.items[0].also.count); /* two names of one thing */
    EXPECT_INT(40, (int)s.items[0].source.line);
    EXPECT_INT(40, (int)s.items[0].wait_ns);
    EXPECT(stet_view_is(s.items[0].functions[0], "train"));
    EXPECT_INT(0, (int)s.items[0].recompiles[0]);
    EXPECT_INT(1, (int)s.items[0].recompiles[1]);
    stet_story_release(&s);
}

TEST(two_dimensions_from_one_line_are_two_stories)
{
    struct stet_row_change length = size("argument x dimension 1", 1, "16", "24");
    struct stet_row_change batch = size("argument x dimension 0", 0, "8", "5");
    struct stet_recompile rows[] = {row("train", STET_CAUSE_SHAPE_DRIFT, 5, &length),
                                    row("train", STET_CAUSE_SHAPE_DRIFT, 5, &batch)};
    struct stet_stories s;

    rows[0].source = rows[1].source = (struct stet_line){STET_VIEW("data.py"), STET_VIEW("it"), 40};
    EXPECT_INT(2, (int)tell(&s, rows, 2));
    stet_story_release(&s);
}

TEST(sizes_of_both_dimensions_do_not_join_two_stories)
{
    struct stet_row_change length = size("argument x dimension 1", 1, "16", "24");
    struct stet_row_change batch = size("argument x dimension 0", 0, "8", "5");
    struct stet_row_change both[] = {batch, length};
    struct stet_recompile rows[] = {row("train", STET_CAUSE_SHAPE_DRIFT, 5, &length),
                                    row("train", STET_CAUSE_SHAPE_DRIFT, 5, &batch),
                                    row("train", STET_CAUSE_SHAPE_DRIFT, 5, both)};
    struct stet_stories s;

    rows[2].change_count = 2;
    EXPECT_INT(2, (int)tell(&s, rows, 3));
    EXPECT_INT(3, (int)(s.items[0].count + s.items[1].count));
    stet_story_release(&s);
}

TEST(the_same_values_in_one_turn_are_one_story)
{
    struct stet_row_change train = size("argument x dimension 0", 0, "32", "17");
    struct stet_row_change loss = size("argument logits dimension 0", 0, "32", "17");
    struct stet_recompile rows[] = {row("train", STET_CAUSE_LAST_BATCH, 5, &train),
                                    row("loss", STET_CAUSE_SHAPE_DRIFT, 9, &loss),
                                    row("other", STET_CAUSE_SHAPE_DRIFT, 12, &loss)};
    struct stet_stories s;

    for (int i = 0; i < 3; i++) {
        rows[i].turn_known = true;
        rows[i].turn = i < 2 ? 7 : 8;
    }
    EXPECT_INT(2, (int)tell(&s, rows, 3));
    EXPECT(is(&s.items[0], STET_CAUSE_LAST_BATCH, 2, 2));
    EXPECT(is(&s.items[1], STET_CAUSE_SHAPE_DRIFT, 1, 1));
    stet_story_release(&s);
}

/* Three things change in a model of several compiled frames: the length, the last batch, the mode.
 * Each call compiles every frame again. */
TEST(three_drifts_of_a_model_with_many_frames_are_three_stories)
{
    static const char *const frames[] = {"embed", "layer", "pool", "resume_in_layer_at_9", "head"};
    struct stet_row_change change[3][5];
    struct stet_recompile rows[20];
    struct stet_stories s;
    size_t n = 0;

    for (int drift = 0; drift < 3; drift++)
        for (int i = 0; i < (drift < 2 ? 7 : 5); i++) {
            struct stet_row_change *c = &change[drift][i % 5];

            *c = drift == 0   ? size("h.shape[1]", 1, "16", "24")
                 : drift == 1 ? size("h.shape[0]", 0, "8", "5")
                              : (struct stet_row_change){.what = STET_VIEW("grad_mode")};
            rows[n] = row(frames[i % 5], drift == 2 ? STET_CAUSE_GRAD_MODE : STET_CAUSE_SHAPE_DRIFT,
                          (uint64_t)(i % 5) * 10 + 1, c);
            rows[n].lane = STET_LANE_TORCH;
            rows[n].turn_known = true;
            rows[n].turn = (uint64_t)drift * 3 + (uint64_t)i / 5;
            n++;
        }
    EXPECT_INT(19, (int)n);
    EXPECT_INT(3, (int)tell(&s, rows, n));
    EXPECT(is(&s.items[0], STET_CAUSE_SHAPE_DRIFT, 7, 5));
    EXPECT(is(&s.items[1], STET_CAUSE_SHAPE_DRIFT, 7, 5));
    EXPECT(is(&s.items[2], STET_CAUSE_GRAD_MODE, 5, 5));
    stet_story_release(&s);
}

TEST(harmless_recompiles_are_stories_of_their_own_and_come_last)
{
    struct stet_recompile rows[] = {row("f", STET_CAUSE_FRESH_JIT, 5, NULL),
                                    row("f", STET_CAUSE_FRESH_JIT, 5, NULL),
                                    row("g", STET_CAUSE_FRESH_JIT, 7, NULL)};
    struct stet_stories s;

    rows[0].benign = true;
    rows[0].wait_ns = 1000;
    rows[2].wait_ns = 20;
    EXPECT_INT(3, (int)tell(&s, rows, 3));
    EXPECT(stet_view_is(s.items[0].functions[0], "g"));
    EXPECT(s.items[2].benign && !s.items[1].benign);
    EXPECT_INT(2, (int)s.story_of[0]);
    stet_story_release(&s);
}

TEST(values_are_counted_once_each)
{
    struct stet_recompile one;
    struct stet_stories s;
    char from[8], to[8];

    stet_story_init(&s);
    for (int i = 0; i < 80; i++) { /* sizes 1 to 40, twice */
        struct stet_row_change c;

        snprintf(from, sizeof from, "%d", i % 40 + 1);
        snprintf(to, sizeof to, "%d", (i + 1) % 40 + 1);
        c = size("argument x dimension 0", 0, from, to);
        one = row("f", STET_CAUSE_SHAPE_DRIFT, 5, &c);
        EXPECT(stet_story_add(&s, &one));
    }
    EXPECT(stet_story_finish(&s));
    EXPECT_INT(1, (int)s.count);
    EXPECT_INT(40, (int)(s.items[0].values[0].count + s.items[0].values[0].more));
    stet_story_release(&s);
}

TEST(a_run_without_recompiles_has_no_story)
{
    struct stet_stories s;

    EXPECT_INT(0, (int)tell(&s, NULL, 0));
    stet_story_release(&s);
}
