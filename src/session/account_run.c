/* See account_run.h. */
#include "session/account_run.h"

#include "base/text.h"
#include "session/account_join.h"
#include "session/session.h"
#include "session/torch_ranks.h"
#include "session/torch_rows.h"

static enum stet_rc use_stories(const struct stet_account *a, const struct stet_account_tally *t,
                                stet_use_account *use, void *context, struct stet_err *err)
{
    struct stet_account whole = *a;
    struct stet_account_tally answered = *t;
    struct stet_stories stories;
    enum stet_rc rc;

    stet_story_init(&stories);
    rc = a->each(a->source, stet_story_add, &stories, err);
    if (rc == STET_OK && (stories.arena.failed || !stet_story_finish(&stories)))
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for the stories of a run");
    whole.stories = &stories;
    if (rc == STET_OK) {
        stet_account_answer(&answered, &stories);
        rc = use(context, &whole, &answered, err);
    }
    stet_story_release(&stories);
    return rc;
}

enum stet_rc stet_account_use_joined(const struct stet_account *a, stet_use_account *use,
                                     void *context, struct stet_err *err)
{
    struct stet_account both;
    struct stet_joined joined;
    struct stet_account_tally tally;
    enum stet_rc rc = stet_account_tally(a, &tally, err);

    /* With one lane there is nothing to join. */
    if (rc != STET_OK || !tally.torch || !a->totals.compiles)
        return rc == STET_OK ? use_stories(a, &tally, use, context, err) : rc;
    rc = stet_account_join(&joined, a, &both, err);
    if (rc == STET_OK)
        rc = stet_account_tally(&both, &tally, err);
    if (rc == STET_OK)
        rc = use_stories(&both, &tally, use, context, err);
    stet_account_joined_release(&joined);
    return rc;
}

/* ---- from the ledger ---- */

uint64_t stet_account_torch(const struct stet_account *a)
{
    uint64_t count = a->torch_compiles;
    struct stet_torch t;

    if (!a->traced)
        return count;
    stet_torch_init(&t);
    if (stet_session_torch_load_run(&t, a->traced, NULL) == STET_OK)
        count = t.compile_count;
    stet_torch_release(&t);
    return count;
}

static enum stet_rc each_row(void *source, stet_visit_recompile *visit, void *context,
                             struct stet_err *err)
{
    const struct stet_account *a = source;

    return stet_ledger_recompiles(a->source, a->run, visit, context, err);
}

static enum stet_rc each_row_brief(void *source, stet_visit_recompile *visit, void *context,
                                   struct stet_err *err)
{
    const struct stet_account *a = source;

    return stet_ledger_recompiles_brief(a->source, a->run, visit, context, err);
}

static enum stet_rc from_ledger(struct stet_ledger *l, const struct stet_runs *runs,
                                const struct stet_run *run, stet_use_account *use, void *context,
                                struct stet_err *err)
{
    struct stet_account below = {.run = run->id, .source = l};
    struct stet_account a = {
        .run = run->id, .each = each_row, .each_brief = each_row_brief, .source = &below};
    struct stet_arena arena;
    enum stet_rc rc = stet_session_feed(l, runs, run, err);

    if (rc == STET_OK)
        rc = stet_session_torch_feed(l, run, err);
    stet_arena_init(&arena, 8 << 20);
    if (rc == STET_OK)
        rc = stet_ledger_run_totals(l, run->id, &a.totals, err);
    if (rc == STET_OK)
        rc = stet_ledger_counters(l, run->id, &arena, &a.counters, &a.counter_count, err);
    if (rc == STET_OK && !a.totals.compiles)
        a.traced = run;
    if (rc == STET_OK)
        rc = stet_account_use_joined(&a, use, context, err);
    stet_arena_release(&arena);
    return rc;
}

/* ---- directly from the run ---- */

struct lanes {
    struct stet_account xla;
    struct stet_torch torch;
};

static enum stet_rc each_lane(void *source, stet_visit_recompile *visit, void *context,
                              struct stet_err *err)
{
    struct lanes *l = source;
    enum stet_rc rc = l->xla.each(l->xla.source, visit, context, err);

    if (rc == STET_OK)
        stet_session_torch_each(&l->torch, visit, context);
    return rc;
}

enum stet_rc stet_account_of_session(struct stet_session *x, const struct stet_run *run,
                                     stet_use_account *use, void *context, struct stet_err *err)
{
    struct stet_account a;
    struct lanes both;
    enum stet_rc rc;

    stet_torch_init(&both.torch);
    stet_session_account(&both.xla, x);
    a = both.xla;
    a.each = each_lane;
    a.source = &both;
    rc = stet_session_torch_load_run(&both.torch, run, err);
    if (rc == STET_OK)
        stet_session_torch_take_ranks(&both.torch, &x->digest);
    a.torch_compiles = both.torch.compile_count;
    if (rc == STET_OK || rc == STET_NOT_FOUND)
        rc = stet_account_use_joined(&a, use, context, err);
    stet_torch_release(&both.torch);
    return rc;
}

struct two_lanes {
    stet_each_recompile *each;
    void *source;
    struct stet_torch *torch;
};

static enum stet_rc each_of_two(void *source, stet_visit_recompile *visit, void *context,
                                struct stet_err *err)
{
    struct two_lanes *l = source;

    (void)err;
    l->each(l->source, visit, context);
    if (l->torch)
        stet_session_torch_each(l->torch, visit, context);
    return STET_OK;
}

enum stet_rc stet_account_of_lanes(stet_each_recompile *each, void *source, struct stet_torch *t,
                                   stet_use_account *use, void *context, struct stet_err *err)
{
    struct two_lanes l = {each, source, t};
    struct stet_account a = {.each = each_of_two, .source = &l};

    a.totals.compiles = 1; /* there may be two lanes to join */
    return stet_account_use_joined(&a, use, context, err);
}

static enum stet_rc from_run(const struct stet_runs *runs, const struct stet_run *run,
                             stet_use_account *use, void *context, struct stet_err *err)
{
    struct stet_session x;
    enum stet_rc rc = stet_session_open(&x, runs, run, err);

    if (rc != STET_OK)
        return rc;
    rc = stet_account_of_session(&x, run, use, context, err);
    stet_session_close(&x);
    return rc;
}

enum stet_rc stet_account_of_run(const struct stet_runs *runs, const struct stet_run *run,
                                 stet_use_account *use, void *context, struct stet_err *err)
{
    struct stet_err unusable = STET_ERR_INIT;
    struct stet_ledger *l = NULL;
    enum stet_rc rc = stet_ledger_open(&l, NULL, &unusable);

    if (rc == STET_OK)
        rc = from_ledger(l, runs, run, use, context, &unusable);
    if (rc != STET_OK) { /* the run can be reported without the ledger */
        stet_say_err(&unusable);
        rc = from_run(runs, run, use, context, err);
    }
    stet_ledger_close(l);
    return rc;
}
