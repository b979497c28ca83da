/* Decides among the answers of all kinds of evidence. An answer names a cause and what it rests on.
 * arbiter.c alone has the rules for which answer is accepted and how sure it is; docs/explain.md
 * has them as a table. */
#ifndef STET_EXPLAIN_ARBITER_H
#define STET_EXPLAIN_ARBITER_H

#include "explain/history.h"

struct stet_finding_answer {
    enum stet_cause cause;
    enum stet_cause names; /* which of the differences it names better; NONE: the whole recompile */
    enum stet_rests rests;
    enum stet_sure sure; /* at most */
    bool keep;           /* the cause that it replaces stays as a further one */
};

/* An answer about the whole recompile, and one that names one of its differences better. */
#define STET_ANSWER(id, by, how)                                                                   \
    ((struct stet_finding_answer){                                                                 \
        .cause = STET_CAUSE_##id, .rests = STET_RESTS_##by, .sure = STET_SURE_##how})
#define STET_BETTER(old, id, by, how)                                                              \
    ((struct stet_finding_answer){.cause = STET_CAUSE_##id,                                        \
                                  .names = STET_CAUSE_##old,                                       \
                                  .rests = STET_RESTS_##by,                                        \
                                  .sure = STET_SURE_##how})

/* Better evidence for the cause that was accepted before. */
static inline struct stet_finding_answer
stet_finding_same(const struct stet_finding *f, enum stet_rests rests, enum stet_sure sure)
{
    return (struct stet_finding_answer){.cause = f->cause, .rests = rests, .sure = sure};
}

/* Starts from what the two programs show. */
void stet_finding_begin(struct stet_finding *f);
/* Considers an answer. Returns true if it is accepted: the caller then sets the lines and the
 * detail that belong to it. The text describes what was observed, and is copied. */
bool stet_finding_hear(struct stet_history *h, struct stet_finding *f, struct stet_finding_answer a,
                       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Makes a further cause, new code, the first one: it explains more than a number that moved with
 * it. */
void stet_finding_promote(struct stet_finding *f, enum stet_cause cause);
/* Notes an observation that contradicts the accepted cause. */
void stet_finding_doubt(struct stet_finding *f);
/* Lowers the confidence to what was earned. `observed`: Python's values are known for both
 * compiles. */
void stet_finding_settle(struct stet_finding *f, bool observed);

#endif
