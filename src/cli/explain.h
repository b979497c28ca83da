/* The compiles of a run with their programs, explained. */
#ifndef STET_CLI_EXPLAIN_H
#define STET_CLI_EXPLAIN_H

#include "explain/history.h"
#include "ledger/run_folder.h"
#include "ledger/run_load.h"
#include "ledger/run_order.h"

struct stet_shelf;

/* An earlier run of the same command. */
struct stet_past {
    const char *folder;
    struct stet_run_digest digest;
};

enum { STET_PAST_RUNS = 3 };

/* Everything `stet explain` says of a run comes from here. */
struct stet_explained {
    const char *run, *folder; /* its id; borrowed */
    struct stet_run_digest digest;
    struct stet_run_orders run_orders;
    struct stet_order *orders;
    struct stet_history history;
    struct stet_shelf *shelf;
    struct stet_past past[STET_PAST_RUNS];
    size_t past_count;
};

/* `runs` may be NULL: then no earlier run is looked at. */
enum stet_rc stet_explain_run(struct stet_explained *x, const struct stet_runs *runs,
                              const struct stet_run *run, struct stet_err *err);
void stet_explained_release(struct stet_explained *x);

/* Parts of the above. */
enum stet_rc stet_explain_past(struct stet_explained *x, const struct stet_runs *runs,
                               const struct stet_run *run, struct stet_err *err);
struct stet_sighting stet_explain_sighting(const struct stet_process_digest *p, uint32_t process,
                                           size_t number);
/* What lies below a process; in the digest's arena. */
const struct stet_bundle *stet_explain_bundle(struct stet_run_digest *d,
                                              const struct stet_process_digest *p);

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
