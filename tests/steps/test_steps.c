/* Inferred steps against the script's own counter, over randomised loops of many kinds. */
#include "test.h"

#include "world.h"

#include "journal/write.h"

#include <stdlib.h>

/* A run counts as known when 99 % of its steps are right; one wrong step fails everything. */
static void play_kind(const struct loop_kind *kind, uint64_t variants, bool nameless)
{
    size_t steps = 0, right = 0, null = 0, wrong = 0, known = 0;
    const char *why = NULL;

    for (uint64_t seed = 1; seed <= variants; seed++) {
        struct world w;
        struct verdict v;

        world_init(&w, seed);
        w.nameless = nameless;
        kind->play(&w);
        v = world_judge(&w);
        steps += v.steps;
        right += v.right;
        null += v.null;
        wrong += v.wrong;
        known += v.right * 100 >= v.steps * 99;
        if (v.wrong && getenv("STET_TEST_VERBOSE"))
            fprintf(stderr, "%s, seed %llu: %zu of %zu wrong\n", kind->name,
                    (unsigned long long)seed, v.wrong, v.steps);
        if (v.null)
            why = v.why;
        if (v.null && getenv("STET_TEST_VERBOSE"))
            fprintf(stderr, "%s, seed %llu: %zu of %zu null: %s\n", kind->name,
                    (unsigned long long)seed, v.null, v.steps, v.why);
        world_release(&w);
    }
    printf("%-24s %5llu runs %8zu steps  right %6.2f %%  null %6.2f %%  wrong %zu  runs known "
           "%zu%s%s\n",
           kind->name, (unsigned long long)variants, steps, 100.0 * (double)right / (double)steps,
           100.0 * (double)null / (double)steps, wrong, known, why ? "  e.g. " : "",
           why ? why : "");
    EXPECT_INT(0, wrong);
    if (kind->must_know && !nameless)
        EXPECT(right * 100 >= steps * 99);
}

/* STET_TEST_VARIANTS=1000 for the table in docs/steps.md. */
TEST(steps_equal_the_scripts_counter_or_are_null)
{
    const char *asked = getenv("STET_TEST_VARIANTS");
    uint64_t variants = asked ? (uint64_t)atoll(asked) : 60;

    for (size_t i = 0; i < loop_kind_count; i++)
        play_kind(&loop_kinds[i], variants, false);
}

/* Without names a variant can't be told from another program: more nulls, but nothing wrong. */
TEST(steps_are_right_without_names_too)
{
    for (size_t i = 0; i < loop_kind_count; i++)
        play_kind(&loop_kinds[i], 60, true);
}

/* A hundred steps of a plain loop, to be spoilt by each test below. */
static void play_plain(struct world *w)
{
    world_init(w, 7);
    loop_kinds[0].play(w);
}

TEST(without_flow_there_is_no_answer)
{
    struct stet_steps *s = stet_ledger_steps_new();

    for (int i = 0; i < 1000; i++)
        stet_ledger_steps_add(s, 1);
    EXPECT(!stet_ledger_steps_now(s).known);
    stet_ledger_steps_decide(s);
    EXPECT(!stet_ledger_steps_now(s).known);
    EXPECT_STR("no loop was found", stet_ledger_steps_now(s).why);
    stet_ledger_steps_free(s);
    EXPECT(!stet_ledger_steps_now(NULL).known);
    stet_ledger_steps_add(NULL, 1);
}

TEST(after_a_gap_or_an_unknown_program_there_is_no_answer)
{
    for (int kind = 0; kind < 2; kind++) {
        struct world w;

        play_plain(&w);
        EXPECT(world_judge(&w).wrong == 0);
        EXPECT(stet_ledger_steps_now(w.steps).known);
        if (kind)
            stet_ledger_steps_gap(w.steps);
        else
            stet_ledger_steps_add(w.steps, 5000);
        EXPECT(!stet_ledger_steps_now(w.steps).known);
        world_release(&w);
    }
}

TEST(a_window_without_its_beginning_gives_no_steps)
{
    struct stet_flow flow;
    struct stet_rec_flow rec;
    struct stet_steps *s = stet_ledger_steps_new();
    const void *state = &flow, *next = &rec;

    stet_journal_flow_init(&flow);
    stet_journal_flow_executable(&flow, 1, 1);
    for (uint64_t i = 0; i < 100; i++) {
        stet_journal_flow_executed(&flow, i, 1, &state, 1, &next);
        stet_journal_flow_gone(&flow, state);
        if (i == 20)
            EXPECT(stet_journal_flow_take(&flow, &rec)); /* and it is lost */
        state = i % 2 ? (const void *)&flow : (const void *)&rec;
        next = i % 2 ? (const void *)&rec : (const void *)&flow;
    }
    EXPECT(stet_journal_flow_take(&flow, &rec));
    EXPECT_INT(21, rec.first);
    stet_ledger_steps_flow(s, &rec);
    stet_ledger_steps_decide(s);
    EXPECT(!stet_ledger_steps_now(s).known);
    stet_ledger_steps_free(s);
    stet_journal_flow_release(&flow);
}

TEST(ten_million_executions_are_counted)
{
    struct world w;
    uint64_t begin;

    play_plain(&w);
    world_judge(&w);
    begin = stet_journal_now();
    for (uint64_t i = 0; i < 10000000; i++)
        stet_ledger_steps_add(w.steps, w.order[w.count - 1 - i % 8]);
    printf("10^7 executions counted in %.3f s\n", (double)(stet_journal_now() - begin) / 1e9);
    EXPECT(stet_ledger_steps_now(w.steps).known);
    world_release(&w);
}
