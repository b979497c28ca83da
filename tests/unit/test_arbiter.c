/* The rules by which one answer stands among several, and how sure it may be. */
#include "explain/arbiter.h"

#include "test.h"

struct case_of {
    struct stet_history h;
    struct stet_finding f;
};

static void begin(struct case_of *c, enum stet_cause pair)
{
    memset(c, 0, sizeof *c);
    stet_arena_init(&c->h.arena, (size_t)1 << 16);
    c->f.pair = pair;
    stet_finding_begin(&c->f);
}

static bool hear(struct case_of *c, enum stet_cause cause, enum stet_rests rests)
{
    return stet_finding_hear(
        &c->h, &c->f,
        (struct stet_finding_answer){.cause = cause, .rests = rests, .sure = STET_SURE_CERTAIN},
        "%s", "as observed");
}

static void end(struct case_of *c, enum stet_cause cause, enum stet_sure sure, bool observed)
{
    stet_finding_settle(&c->f, observed);
    EXPECT_INT(cause, c->f.cause);
    EXPECT_INT(sure, c->f.sure);
    stet_arena_release(&c->h.arena);
}

TEST(a_description_is_kept_while_there_is_no_answer)
{
    struct case_of c;

    begin(&c, STET_CAUSE_DTYPE_CHANGE);
    end(&c, STET_CAUSE_DTYPE_CHANGE, STET_SURE_CERTAIN, true);
}

TEST(without_values_a_description_is_not_certain)
{
    struct case_of c;

    begin(&c, STET_CAUSE_SHAPE_DRIFT);
    end(&c, STET_CAUSE_SHAPE_DRIFT, STET_SURE_LIKELY, false);
    begin(&c, STET_CAUSE_SHAPE_DRIFT);
    end(&c, STET_CAUSE_SHAPE_DRIFT, STET_SURE_CERTAIN, true);
}

/* PyTorch/XLA's programs have no lines: the line that waits is all there is. */
TEST(without_the_line_that_gives_a_number_nothing_is_certain)
{
    struct case_of c;

    begin(&c, STET_CAUSE_SLICE_START);
    EXPECT_INT(STET_SURE_LIKELY, stet_finding_confidence(&c.f));
    c.f.origin.line = 7;
    EXPECT_INT(STET_SURE_CERTAIN, stet_finding_confidence(&c.f));
    end(&c, STET_CAUSE_SLICE_START, STET_SURE_CERTAIN, true);
}

TEST(the_source_alone_names_a_description_and_is_not_certain)
{
    struct case_of c;

    begin(&c, STET_CAUSE_BAKED_CONSTANT);
    EXPECT(hear(&c, STET_CAUSE_STATIC_ARGUMENT, STET_RESTS_SOURCE));
    end(&c, STET_CAUSE_STATIC_ARGUMENT, STET_SURE_LIKELY, true);
}

TEST(observed_values_overrule_the_source)
{
    struct case_of c;

    begin(&c, STET_CAUSE_GRAPH_CHANGE);
    EXPECT(hear(&c, STET_CAUSE_VALUE_BRANCH, STET_RESTS_SOURCE));
    EXPECT(hear(&c, STET_CAUSE_STATIC_ARGUMENT, STET_RESTS_VALUES));
    end(&c, STET_CAUSE_STATIC_ARGUMENT, STET_SURE_CERTAIN, true);
}

TEST(the_source_never_overrules_and_its_contradiction_lowers_the_confidence)
{
    struct case_of c;

    begin(&c, STET_CAUSE_GRAPH_CHANGE);
    EXPECT(hear(&c, STET_CAUSE_HIDDEN_BRANCH, STET_RESTS_RUN));
    EXPECT(!hear(&c, STET_CAUSE_VALUE_BRANCH, STET_RESTS_SOURCE));
    end(&c, STET_CAUSE_HIDDEN_BRANCH, STET_SURE_LIKELY, true);
}

TEST(an_answer_that_agrees_and_rests_on_more_is_better_evidence)
{
    struct case_of c;

    begin(&c, STET_CAUSE_BAKED_CONSTANT);
    EXPECT(hear(&c, STET_CAUSE_STATIC_ARGUMENT, STET_RESTS_SOURCE));
    EXPECT(hear(&c, STET_CAUSE_STATIC_ARGUMENT, STET_RESTS_VALUES));
    EXPECT(!hear(&c, STET_CAUSE_STATIC_ARGUMENT, STET_RESTS_PROGRAMS));
    end(&c, STET_CAUSE_STATIC_ARGUMENT, STET_SURE_CERTAIN, true);
}

TEST(what_does_not_fit_lowers_the_confidence)
{
    struct case_of c;

    begin(&c, STET_CAUSE_SHAPE_DRIFT);
    EXPECT(hear(&c, STET_CAUSE_LAST_BATCH, STET_RESTS_RUN));
    stet_finding_doubt(&c.f);
    end(&c, STET_CAUSE_LAST_BATCH, STET_SURE_LIKELY, true);
}

TEST(a_cause_that_names_nothing_is_a_guess)
{
    struct case_of c;

    begin(&c, STET_CAUSE_GRAPH_CHANGE);
    end(&c, STET_CAUSE_GRAPH_CHANGE, STET_SURE_GUESS, true);
}

TEST(a_better_name_for_a_further_cause_leaves_the_first_alone)
{
    struct case_of c;

    begin(&c, STET_CAUSE_SHAPE_DRIFT);
    c.f.also[c.f.also_count++] = STET_CAUSE_BAKED_CONSTANT;
    EXPECT(!stet_finding_hear(&c.h, &c.f,
                              (struct stet_finding_answer){.cause = STET_CAUSE_PYTHON_COUNTER,
                                                           .names = STET_CAUSE_BAKED_CONSTANT,
                                                           .rests = STET_RESTS_RUN,
                                                           .sure = STET_SURE_LIKELY},
                              "counts"));
    EXPECT_INT(STET_CAUSE_PYTHON_COUNTER, c.f.also[0]);
    end(&c, STET_CAUSE_SHAPE_DRIFT, STET_SURE_CERTAIN, true);
}

TEST(new_code_comes_before_a_number_that_moved_with_it)
{
    struct case_of c;

    begin(&c, STET_CAUSE_BAKED_CONSTANT);
    EXPECT(hear(&c, STET_CAUSE_STATIC_ARGUMENT, STET_RESTS_SOURCE));
    c.f.also[c.f.also_count++] = STET_CAUSE_GRAPH_CHANGE;
    stet_finding_promote(&c.f, STET_CAUSE_GRAPH_CHANGE);
    EXPECT(hear(&c, STET_CAUSE_HIDDEN_BRANCH, STET_RESTS_RUN));
    EXPECT_INT(STET_CAUSE_STATIC_ARGUMENT, c.f.also[0]);
    end(&c, STET_CAUSE_HIDDEN_BRANCH, STET_SURE_CERTAIN, true);
}
