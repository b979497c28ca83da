/* Counts, and the answers to the three questions. */
#include "session/account.h"

#include "cli/run_text.h"
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
    t->wait_ns += r->wait_ns;
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

void stet_cli_account_lost(struct stet_buf *out, const struct stet_account_tally *t)
{
    stet_text_count(out, t->alarms, "recompile");
    if (!t->alarms)
        return;
    stet_buf_str(out, " (waited ");
    stet_text_duration(out, t->wait_ns);
    if (t->wait_ns != t->lost_ns) {
        stet_buf_str(out, ", compiler ");
        stet_text_duration(out, t->lost_ns);
    }
    if (t->served == t->alarms)
        stet_buf_printf(out, "; %s from the store", t->served == 1 ? "it came" : "all came");
    else if (t->served)
        stet_buf_printf(out, "; %llu came from the store", (unsigned long long)t->served);
    stet_buf_char(out, ')');
}

void stet_cli_account_saved(struct stet_buf *out, const char *indent, const struct stet_account *a)
{
    const struct stet_ledger_saved *s = &a->saved;

    if (!s->served)
        return;
    stet_buf_printf(out, "%s%llu of ", indent, (unsigned long long)s->served);
    stet_text_count(out, a->totals.compiles, "program");
    stet_buf_str(out, " came from the store");
    if (s->known) {
        stet_buf_str(out, ": ");
        stet_text_duration(out, s->took_ns);
        stet_buf_str(out, " instead of ");
        stet_text_duration(out, s->instead_ns);
        if (s->known < s->served)
            stet_buf_printf(out, " for the %llu whose compile is remembered",
                            (unsigned long long)s->known);
    }
    stet_buf_char(out, '\n');
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
