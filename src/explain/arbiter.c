/* See arbiter.h. */
#include "explain/arbiter.h"

#include "explain/history_internal.h"

#include <stdarg.h>
#include <stdio.h>

void stet_finding_begin(struct stet_finding *f)
{
    f->cause = f->pair;
    f->also_count = 0;
    for (uint32_t i = 0; i < f->pair_also_count; i++)
        stet_finding_also(f, f->pair_also[i]);
    f->sure = STET_SURE_CERTAIN;
    f->rests = STET_RESTS_PROGRAMS;
    f->answered = f->doubted = false;
    f->evidence = f->pair != STET_CAUSE_NONE ? stet_view_str(stet_cause_about(f->pair))
                                             : (struct stet_view){0};
}

/* A better name for a further cause changes neither the evidence nor the confidence. */
static bool name_further(struct stet_finding *f, const struct stet_finding_answer *a)
{
    for (uint32_t i = 0; i < f->also_count; i++)
        if (f->also[i] == a->names)
            f->also[i] = a->cause;
    return false;
}

/* What the programs show is a description that every answer may name better, and so is a cause that
 * the answer only names more precisely. Another answer must rest on as much. */
static bool overrules(const struct stet_finding *f, const struct stet_finding_answer *a)
{
    return !f->answered || a->rests >= f->rests || a->names != STET_CAUSE_NONE;
}

static void set_evidence(struct stet_history *h, struct stet_finding *f, const char *fmt,
                         va_list list)
{
    char text[512];
    int n = vsnprintf(text, sizeof text, fmt, list);

    if (n > 0)
        f->evidence = stet_arena_copy(
            &h->arena, stet_view_of(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1));
}

bool stet_finding_hear(struct stet_history *h, struct stet_finding *f, struct stet_finding_answer a,
                       const char *fmt, ...)
{
    enum stet_cause was = f->cause;
    va_list list;

    if (a.names != STET_CAUSE_NONE && f->cause != a.names)
        return name_further(f, &a);
    if (!overrules(f, &a)) {
        f->doubted |= a.cause != f->cause;
        return false;
    }
    va_start(list, fmt);
    set_evidence(h, f, fmt, list);
    va_end(list);
    stet_finding_drop(f, a.cause);
    f->cause = a.cause;
    f->sure = a.sure;
    f->rests = a.rests;
    f->answered = true;
    if (a.keep)
        stet_finding_also(f, was);
    return true;
}

void stet_finding_promote(struct stet_finding *f, enum stet_cause cause)
{
    enum stet_cause was = f->cause;

    if (!stet_cause_is(was, STET_CAUSE_GIVES_WAY))
        return;
    for (uint32_t i = 0; i < f->also_count; i++)
        if (f->also[i] == cause) {
            f->also[i] = was;
            f->cause = cause;
            f->rests = STET_RESTS_PROGRAMS;
            f->answered = false;
        }
}

void stet_finding_doubt(struct stet_finding *f)
{
    f->doubted = true;
}

static void at_most(struct stet_finding *f, enum stet_sure sure)
{
    if (f->sure > sure)
        f->sure = sure;
}

void stet_finding_settle(struct stet_finding *f, bool observed)
{
    if (f->rests == STET_RESTS_SOURCE || f->doubted)
        at_most(f, STET_SURE_LIKELY);
    /* The programs alone do not show why they differ. */
    if (!observed && f->rests == STET_RESTS_PROGRAMS &&
        stet_cause_is(f->cause, STET_CAUSE_DESCRIBES))
        at_most(f, STET_SURE_LIKELY);
    if (stet_cause_is(f->cause, STET_CAUSE_VAGUE))
        at_most(f, STET_SURE_GUESS);
}

/* Causes that a value decides, which a line elsewhere than the operation gives. */
static bool needs_source(enum stet_cause cause)
{
    return stet_cause_is(cause, STET_CAUSE_OF_ARGUMENT) ||
           stet_cause_is(cause, STET_CAUSE_HAS_VARIABLE) ||
           stet_cause_is(cause, STET_CAUSE_MAY_COUNT) || cause == STET_CAUSE_HIDDEN_BRANCH;
}

/* PyTorch/XLA's programs have no lines, and the line that waits is not the one to edit. */
static bool is_not_found(const struct stet_finding *f)
{
    return !f->origin.line && stet_cause_step(f->cause) != STET_STEP_NONE;
}

enum stet_sure stet_finding_confidence(const struct stet_finding *f)
{
    bool none = !f->benign && (needs_source(f->cause) || is_not_found(f));
    enum stet_sure line = f->source.line ? f->source_sure
                          : none         ? STET_SURE_LIKELY
                                         : STET_SURE_CERTAIN;

    return f->sure < line ? f->sure : line;
}
