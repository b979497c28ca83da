/* Counts the recompiles of an account and answers the three questions about them. */
#include "session/account.h"

#include "base/human.h"

#include <inttypes.h>
#include <stdio.h>

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
    return true;
}

enum stet_rc stet_account_tally(const struct stet_account *a, struct stet_account_tally *out,
                                struct stet_err *err)
{
    *out = (struct stet_account_tally){0};
    return (a->each_brief ? a->each_brief : a->each)(a->source, count, out, err);
}

/* The cause and the evidence of an answer are those of the first story that gives it. */
static void take_evidence(struct stet_answer *a, enum stet_cause cause, struct stet_view evidence)
{
    a->cause = cause;
    snprintf(a->evidence, sizeof a->evidence, "%.*s", STET_FMT(evidence));
}

static void answer_by(struct stet_account_tally *t, const struct stet_story *s)
{
    enum stet_cause_question own = stet_cause_question(s->cause);
    bool done[STET_QUESTIONS + 1] = {false};

    if (own != STET_QUESTION_NONE && !t->answers[own].count)
        take_evidence(&t->answers[own], s->cause, s->lead.evidence);
    if (own != STET_QUESTION_NONE) {
        t->answers[own].count += s->count;
        t->answers[own].by[s->cause] += s->count;
    }
    done[own] = done[STET_QUESTION_NONE] = true;
    for (uint32_t i = 0; i < s->also.count; i++) {
        enum stet_cause cause = s->also.items[i];
        enum stet_cause_question q = stet_cause_question(cause);
        struct stet_answer *a = &t->answers[q < STET_QUESTIONS ? q : 0];

        if (done[q])
            continue;
        done[q] = true;
        if (!a->count && !a->beside) /* the story's evidence is about its first cause */
            take_evidence(a, cause, stet_view_str(stet_cause_about(cause)));
        a->beside += s->count;
    }
}

void stet_account_answer(struct stet_account_tally *t, const struct stet_stories *stories)
{
    for (size_t i = 0; i < stories->count && !stories->items[i].benign; i++)
        answer_by(t, &stories->items[i]);
}

bool stet_answer_yes(const struct stet_answer *a)
{
    return a->count || a->beside;
}

/* The cause of the most expensive story first; counts only where there are several causes. */
static void causes_text(struct stet_buf *out, const struct stet_answer *a)
{
    if (a->by[a->cause] == a->count) {
        stet_buf_str(out, stet_cause_id(a->cause));
        return;
    }
    stet_buf_printf(out, "%" PRIu64 " %s", a->by[a->cause], stet_cause_id(a->cause));
    for (int c = 0; c < STET_CAUSES; c++)
        if (a->by[c] && c != (int)a->cause)
            stet_buf_printf(out, ", %" PRIu64 " %s", a->by[c], stet_cause_id((enum stet_cause)c));
}

void stet_answer_text(struct stet_buf *out, const struct stet_answer *a)
{
    if (a->count) {
        stet_buf_printf(out, "%" PRIu64 "× (", a->count);
        causes_text(out, a);
        stet_buf_char(out, ')');
    }
    if (a->beside)
        stet_buf_printf(out, "%s%" PRIu64 "× beside another cause", a->count ? ", " : "",
                        a->beside);
    if (a->beside && !a->count)
        stet_buf_printf(out, " (%s)", stet_cause_id(a->cause));
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
