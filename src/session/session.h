/* The compiles of a run with their programs, explained. */
#ifndef STET_SESSION_SESSION_H
#define STET_SESSION_SESSION_H

#include "explain/history.h"
#include "explain/words.h"
#include "ledger/run_load.h"
#include "ledger/run_order.h"
#include "session/account.h"
#include "session/xla_dump.h"

/* Goes up when the same run would be explained in another way, in whatever a row of the ledger
 * holds. Runs whose rows are of another version, or of another release of Stet, are explained again
 * when they are read. */
enum { STET_EXPLAIN_VERSION = 9 };

struct stet_session_programs;

/* An earlier run of the same command. */
struct stet_past {
    const char *folder;
    struct stet_run_digest digest;
};

enum { STET_PAST_RUNS = 3 };

/* A run and the causes of its recompiles, without those of torch.compile. session/account_run.h
 * gives both lanes, joined. */
struct stet_session {
    const char *run, *folder; /* its id; borrowed */
    struct stet_run_digest digest;
    struct stet_run_orders run_orders;
    struct stet_order *orders;
    struct stet_history history;
    struct stet_session_programs *programs; /* captured programs, decoded when they are used */
    struct stet_past past[STET_PAST_RUNS];
    size_t past_count;
    struct stet_dump dump;
};

/* Explains a run; `stet_ledger_run_read` reads the run of a folder. Its findings are
 * history.findings; stet_session_row makes a row of one. With `runs`, earlier runs of the same
 * command are compared too; it may be NULL. On failure nothing is left to close. */
enum stet_rc stet_session_open(struct stet_session *x, const struct stet_runs *runs,
                               const struct stet_run *run, struct stet_err *err);
void stet_session_close(struct stet_session *x);
/* The same of a folder of XLA dumps. */
enum stet_rc stet_session_open_dump(struct stet_session *x, const char *folder,
                                    struct stet_err *err);

/* Parts of the above: an empty history for the run in `folder` whose digest the caller fills; one
 * compile of it. */
enum stet_rc stet_session_begin(struct stet_session *x, const char *run, const char *folder,
                                struct stet_err *err);
enum stet_rc stet_session_add(struct stet_session *x, uint32_t process, size_t number,
                              const struct stet_bundle *bundle, struct stet_err *err);
enum stet_rc stet_session_past(struct stet_session *x, const struct stet_runs *runs,
                               const struct stet_run *run, struct stet_err *err);
struct stet_sighting stet_session_sighting(const struct stet_process_digest *p, uint32_t process,
                                           size_t number);
/* What lies below a process; in the digest's arena. */
const struct stet_bundle *stet_session_bundle(struct stet_run_digest *d,
                                              const struct stet_process_digest *p);

/* When the run stopped compiling. */
struct stet_session_settled {
    bool settled; /* the loop went on for a while without a new program */
    bool step_known;
    uint64_t step;     /* from which on nothing was compiled */
    uint32_t programs; /* distinct ones */
    const char *why;   /* not settled, or not known: a sentence; a literal */
};

struct stet_session_settled stet_session_settled(const struct stet_session *x);

/* A finding as a row; text is borrowed from the history and from the struct itself. */
struct stet_session_row {
    struct stet_recompile recompile;
    struct stet_row_change changes[STET_REPORTED_MOST];
    char words[STET_REPORTED_MOST][STET_WORDS_MOST]; /* what changed */
    char program[STET_HASH_TEXT], against[STET_HASH_TEXT];
};

void stet_session_row(struct stet_session_row *row, const struct stet_history *h,
                      const struct stet_finding *f);
/* The account of an explained run, which must outlive it. */
void stet_session_account(struct stet_account *a, struct stet_session *x);

/* Feeds the ledger with an explained run. */
enum stet_rc stet_session_keep(struct stet_ledger *l, struct stet_session *x,
                               const struct stet_run *run, struct stet_err *err);
/* Explains the run and feeds the ledger with it, unless that was done with the same files. */
enum stet_rc stet_session_feed(struct stet_ledger *l, const struct stet_runs *runs,
                               const struct stet_run *run, struct stet_err *err);

#endif
