/* An account holds what Stet reports about the recompiles of one run. It comes from the ledger, or
 * directly from the run's own files; `each` visits the recompiles either way. The commands receive
 * an account from account_run.h and write it as text, JSON or CSV. An account borrows everything it
 * points to. */
#ifndef STET_SESSION_ACCOUNT_H
#define STET_SESSION_ACCOUNT_H

#include "base/buf.h"
#include "cause/cause.h"
#include "ledger/ledger.h"
#include "story/story.h"

struct stet_framework_log;

/* True when the program was compiled, not served from a cache or a store. */
static inline bool stet_recompile_lost(const struct stet_recompile *r)
{
    return r->served == STET_SERVED_COMPILED;
}

typedef bool stet_visit_recompile(void *context, const struct stet_recompile *r);

struct stet_avoided;
struct stet_divergences;
struct stet_exhausted_list;
struct stet_misses;

struct stet_run;

struct stet_account {
    const char *run; /* its id */
    struct stet_ledger_totals totals;
    /* Each recompile, in every lane. */
    enum stet_rc (*each)(void *source, stet_visit_recompile *visit, void *context,
                         struct stet_err *err);
    /* Visits the same recompiles without their changes; may be NULL. */
    enum stet_rc (*each_brief)(void *source, stet_visit_recompile *visit, void *context,
                               struct stet_err *err);
    void *source;
    /* The frameworks' own counters; there may be none. */
    const struct stet_counter *counters;
    size_t counter_count;
    const struct stet_framework_log *log;
    const struct stet_run *traced;    /* the run whose trace is not read yet, or NULL */
    uint64_t torch_compiles;          /* of torch.compile; stet_account_torch computes it */
    const struct stet_misses *misses; /* what the store did not serve; NULL without a lookup */
    const struct stet_divergences *divergences; /* ranks that differ; NULL if nothing was read */
    const struct stet_avoided *avoided; /* what was not compiled; NULL if it was not counted */
    const struct stet_exhausted_list
        *exhausted; /* what ran out of memory; NULL if not looked for */
    const struct stet_stories
        *stories; /* its recompiles by cause; stet_account_use_joined sets it */
};

/* The answer to one question: the stories whose cause answers it, so that its count is theirs. */
struct stet_answer {
    uint64_t count;           /* recompiles of stories whose first cause answers it with yes */
    uint64_t beside;          /* of other stories that have such a cause beside their first one */
    uint64_t by[STET_CAUSES]; /* `count` by cause */
    enum stet_cause cause;    /* of the most expensive of these stories */
    char evidence[256];
};

/* One walk over all recompiles. */
struct stet_account_tally {
    uint64_t alarms;                  /* rows that are not harmless, of every kind */
    uint64_t events[STET_ROW_EVENTS]; /* of the alarms, by kind; [AGAIN]: recompiles */
    uint64_t harmless, torch;         /* harmless: recompiles; torch: rows of that lane */
    uint64_t served;                  /* of the alarms: came from a store, nothing was compiled */
    uint64_t torch_cached;            /* of the alarms: came from torch's own cache */
    uint64_t lifted;                  /* of the alarms: a lifted program served them */
    uint64_t wait_ns;                 /* the time that the process waited for all of them */
    uint64_t lost_ns;                 /* inside the compiler, for those that were compiled */
    struct stet_answer answers[STET_QUESTIONS];
};

enum stet_rc stet_account_tally(const struct stet_account *a, struct stet_account_tally *out,
                                struct stet_err *err);

/* Answers the questions of a tally. */
void stet_account_answer(struct stet_account_tally *t, const struct stet_stories *stories);
bool stet_answer_yes(const struct stet_answer *a);
/* Appends how often and by which causes: "2× (last-batch), 1× beside another cause",
 * "9× (7 shape-drift, 2 last-batch)"; nothing for no. */
void stet_answer_text(struct stet_buf *out, const struct stet_answer *a);

/* Appends "8 recompiles, 2 graph breaks", or "0 recompiles" when there is nothing. */
void stet_account_kinds(struct stet_buf *out, const uint64_t events[STET_ROW_EVENTS]);

/* Writes stet.explain/1 to standard output, piece by piece. */
enum stet_rc stet_account_json(const struct stet_account *a, const struct stet_account_tally *t,
                               struct stet_err *err);
struct stet_json;
/* Writes one recompile as an object of that format. --json-events writes its lines with it too. */
void stet_account_json_one(struct stet_json *j, const struct stet_recompile *r);
void stet_account_json_change(struct stet_json *j, const struct stet_row_change *c);

/* Appends a block of Markdown: the three answers and the most expensive causes. */
enum stet_rc stet_account_markdown(struct stet_buf *out, const struct stet_account *a,
                                   const struct stet_account_tally *t, struct stet_err *err);
/* Writes the table of recompiles as CSV, with a header line. */
enum stet_rc stet_account_csv(const struct stet_account *a, struct stet_err *err);

#endif
