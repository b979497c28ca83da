/* Counts the recompiles of an account and answers the three questions about them. */
#include "session/account.h"

#include "base/human.h"

#include <inttypes.h>
#include <stdio.h>

static void answer(struct stet_account_tally *t, enum stet_cause cause,
                   const struct stet_recompile *r)
{
    enum stet_cause_question q = stet_cause_question(cause);
    struct stet_answer *a;

    if (q == STET_QUESTION_NONE)
        return;
    a = &t->answers[q];
    if (!a->count++) {
        a->cause = cause;
        /* a row's evidence is about its first cause */
        snprintf(
            a->evidence, sizeof a->evidence, "%.*s",
            STET_FMT(cause == r->cause ? r->evidence : stet_view_str(stet_cause_about(cause))));
    }
}

static bool count(void *context, const struct stet_recompile *r)
{
    struct stet_account_tally *t = context;

    t->torch += r->lane == STET_LANE_TORCH;
    t->alarms += !r->benign;
    t->harmless += r->benign && r->event == STET_EVENT_AGAIN;
    if (r->benign)
        return true;
    t->events[r->event]++;
    t->served += !stet_recompile_lost(r) && r->served != STET_SERVED_LIFTED &&
                 r->served != STET_SERVED_TORCH;
    t->torch_cached += r->served == STET_SERVED_TORCH;
    t->lifted += r->served == STET_SERVED_LIFTED;
    t->lost_ns += stet_recompile_lost(r) ? r->cost_ns : 0;
    t->wait_ns += r->wait_ns;
    answer(t, r->cause, r);
    for (uint32_t i = 0; i < r->also.count; i++)
        if (stet_cause_question(r->also.items[i]) != stet_cause_question(r->cause))
            answer(t, r->also.items[i], r);
    return true;
}

enum stet_rc stet_account_tally(const struct stet_account *a, struct stet_account_tally *out,
                                struct stet_err *err)
{
    *out = (struct stet_account_tally){0};
    return (a->each_brief ? a->each_brief : a->each)(a->source, count, out, err);
}

void stet_account_kinds(struct stet_buf *out, const uint64_t events[STET_ROW_EVENTS])
{
    static const char *const one[STET_ROW_EVENTS] = {
        [STET_EVENT_AGAIN] = "recompile",          [STET_EVENT_FIRST] = "first compile in the loop",
        [STET_EVENT_OUTSIDE] = "single operation", [STET_EVENT_BREAK] = "graph break",
        [STET_EVENT_RECORDED] = "new recording",
    };
    const char *comma = "";

    for (int i = 0; i < STET_ROW_EVENTS; i++) {
        if (!events[i])
            continue;
        stet_buf_str(out, comma);
        if (i == STET_EVENT_FIRST && events[i] > 1)
            stet_buf_printf(out, "%" PRIu64 " first compiles in the loop", events[i]);
        else
            stet_text_count(out, events[i], one[i]);
        comma = ", ";
    }
    if (!comma[0])
        stet_buf_str(out, "0 recompiles");
}
