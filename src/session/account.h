/* What is told of a run's recompiles, whether it comes from the ledger or straight from the run. */
#ifndef STET_SESSION_ACCOUNT_H
#define STET_SESSION_ACCOUNT_H

#include "base/buf.h"
#include "cause/cause.h"
#include "ledger/ledger.h"

struct stet_framework_log;

/* Was it compiled, and not served from somewhere? */
static inline bool stet_recompile_lost(const struct stet_recompile *r)
{
    return r->served == STET_SERVED_COMPILED;
}

typedef bool stet_visit_recompile(void *context, const struct stet_recompile *r);

struct stet_misses;

struct stet_run;

struct stet_account {
    const char *run; /* its id */
    struct stet_ledger_totals totals;
    /* Each recompile, in every lane. */
    enum stet_rc (*each)(void *source, stet_visit_recompile *visit, void *context,
                         struct stet_err *err);
    /* The same without changes; may be NULL. */
    enum stet_rc (*each_brief)(void *source, stet_visit_recompile *visit, void *context,
                               struct stet_err *err);
    void *source;
    /* What the frameworks say themselves; may be none. */
    const struct stet_counter *counters;
    size_t counter_count;
    const struct stet_framework_log *log;
    const struct stet_run *traced;    /* whose trace is still to be read for it, or NULL */
    uint64_t torch_compiles;          /* of torch.compile; asked for with stet_account_torch */
    const struct stet_misses *misses; /* what the store did not serve; NULL when it was not asked */
    struct stet_ledger_saved saved;   /* zero when the ledger is not at hand */
};

struct stet_answer {
    uint64_t count;        /* recompiles that say yes */
    enum stet_cause cause; /* of the first of them */
    char evidence[256];
};

/* One walk over all recompiles. */
struct stet_account_tally {
    uint64_t alarms, harmless, torch; /* torch: of that lane */
    uint64_t served;                  /* of the alarms: came from a store, nothing was compiled */
    uint64_t wait_ns;                 /* what was waited for all of them */
    uint64_t lost_ns;                 /* inside the compiler, for those that were compiled */
    struct stet_answer answers[STET_QUESTIONS];
};

enum stet_rc stet_account_tally(const struct stet_account *a, struct stet_account_tally *out,
                                struct stet_err *err);

/* stet.explain/1, written to standard output as it goes. */
enum stet_rc stet_account_json(const struct stet_account *a, const struct stet_account_tally *t,
                               struct stet_err *err);
struct stet_json;
/* A place in the source, or null. */
void stet_session_line_json(struct stet_json *j, const char *key, const struct stet_line *l);
/* One recompile as an object of that format; for a line of --json-events too. */
void stet_account_json_one(struct stet_json *j, const struct stet_recompile *r);

/* Rows of the table of recompiles, with a head. */
enum stet_rc stet_account_csv(const struct stet_account *a, struct stet_err *err);

#endif
