/* The compiles of a run with their programs, explained. */
#ifndef STET_CLI_EXPLAIN_H
#define STET_CLI_EXPLAIN_H

#include "explain/history.h"
#include "ledger/run_folder.h"
#include "ledger/run_load.h"
#include "ledger/run_order.h"

struct stet_shelf;

/* Everything `stet explain` says of a run comes from here. */
struct stet_explained {
    const char *run, *folder; /* its id; borrowed */
    struct stet_run_digest digest;
    struct stet_run_orders run_orders;
    struct stet_order *orders;
    struct stet_history history;
    struct stet_shelf *shelf;
};

enum stet_rc stet_explain_run(struct stet_explained *x, const struct stet_run *run,
                              struct stet_err *err);
void stet_explained_release(struct stet_explained *x);

/* When the run stopped compiling. */
struct stet_settled {
    bool settled; /* the loop went on for a while without a new program */
    bool step_known;
    uint64_t step;     /* from which on nothing was compiled */
    uint32_t programs; /* distinct ones */
    const char *why;   /* not settled, or not known: a sentence; a literal */
};

struct stet_settled stet_settled_of(const struct stet_explained *x);

/* The three questions. */
enum stet_question {
    STET_QUESTION_SHAPES,
    STET_QUESTION_PROFILE,
    STET_QUESTION_BRANCH,
    STET_QUESTIONS
};

struct stet_answer {
    bool yes;
    uint32_t count; /* of recompiles that say so */
    const struct stet_finding *first;
};

void stet_questions_answer(const struct stet_history *h, struct stet_answer out[STET_QUESTIONS]);
const char *stet_question_key(enum stet_question q);
const char *stet_question_text(enum stet_question q);

void stet_explain_json(struct stet_buf *out, const struct stet_explained *x);
void stet_explain_text(struct stet_buf *out, const struct stet_explained *x, bool colour, bool all);

#endif
