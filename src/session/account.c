/* Counts, and the answers to the three questions. */
#include "session/account.h"

#include "explain/reasons.h"

#include <stdio.h>

static enum stet_account_question question_of(struct stet_view class)
{
    /* torch.compile's own. */
    if (stet_view_is(class, "zero-one-specialisation") || stet_view_is(class, "list-length") ||
        stet_view_is(class, "stride-change"))
        return STET_QUESTION_SHAPES;
    if (stet_view_is(class, "grad-mode") || stet_view_is(class, "requires-grad"))
        return STET_QUESTION_BRANCH;
    switch (stet_reason_find(class)) {
    case STET_REASON_SHAPE_DRIFT:
    case STET_REASON_LAST_BATCH:
    case STET_REASON_RANK_CHANGE:
    case STET_REASON_DTYPE_CHANGE:
    case STET_REASON_VARLEN:
    case STET_REASON_MASK_GATHER:
    case STET_REASON_DIM_READBACK:
    case STET_REASON_TOPK_K:
    case STET_REASON_CAPACITY_LEAK:
    case STET_REASON_OPTIONAL_KEY:
        return STET_QUESTION_SHAPES;
    case STET_REASON_OPTIONS_DRIFT:
    case STET_REASON_SHARDING_CHANGE:
    case STET_REASON_BUNDLE_DRIFT:
    case STET_REASON_DONATION_CHANGE:
    case STET_REASON_LAYOUT_CHANGE:
        return STET_QUESTION_PROFILE;
    case STET_REASON_HIDDEN_BRANCH:
    case STET_REASON_VALUE_BRANCH:
    case STET_REASON_GRAPH_CHANGE:
    case STET_REASON_GRAD_CREATE_ACCUMULATE:
    case STET_REASON_KERNEL_FALLBACK:
    case STET_REASON_HOST_SYNC:
        return STET_QUESTION_BRANCH;
    default:
        return STET_QUESTIONS;
    }
}

static void answer(struct stet_account_tally *t, struct stet_view class,
                   const struct stet_recompile *r)
{
    enum stet_account_question q = question_of(class);
    struct stet_answer *a;

    if (q == STET_QUESTIONS)
        return;
    a = &t->answers[q];
    if (!a->count++) {
        snprintf(a->class, sizeof a->class, "%.*s", STET_FMT(class));
        snprintf(a->evidence, sizeof a->evidence, "%.*s", STET_FMT(r->evidence));
    }
}

static bool count(void *context, const struct stet_recompile *r)
{
    struct stet_account_tally *t = context;
    struct stet_view rest = r->also;

    t->torch += stet_view_is(r->lane, "torch");
    t->alarms += !r->benign;
    t->harmless += r->benign;
    if (r->benign)
        return true;
    t->served += !stet_recompile_lost(r);
    t->lost_ns += stet_recompile_lost(r) ? r->cost_ns : 0;
    answer(t, r->class, r);
    while (rest.len) {
        const char *blank = memchr(rest.ptr, ' ', rest.len);
        size_t n = blank ? (size_t)(blank - rest.ptr) : rest.len;

        if (question_of(stet_view_of(rest.ptr, n)) != question_of(r->class))
            answer(t, stet_view_of(rest.ptr, n), r);
        rest = stet_view_of(rest.ptr + n, rest.len - n);
        while (rest.len && *rest.ptr == ' ')
            rest.ptr++, rest.len--;
    }
    return true;
}

enum stet_rc stet_account_tally(const struct stet_account *a, struct stet_account_tally *out,
                                struct stet_err *err)
{
    *out = (struct stet_account_tally){0};
    return (a->each_brief ? a->each_brief : a->each)(a->source, count, out, err);
}

const char *stet_account_question_key(enum stet_account_question q)
{
    static const char *const keys[] = {"shapes", "profile", "branch"};

    return keys[q];
}

const char *stet_account_question_text(enum stet_account_question q)
{
    static const char *const texts[] = {
        "Did input shapes change?",
        "Did flags, options, mesh or versions change?",
        "Did a hidden graph branch become active?",
    };

    return texts[q];
}
