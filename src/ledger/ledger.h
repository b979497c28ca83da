/* The ledger: an SQLite file beside the run folders that records what happened in which run, and
 * why. Everything in it comes from the run folders, so it may be deleted at any time. Only the
 * command line uses it.
 *
 * Feeding is idempotent: a lane of a run is replaced as a whole in one transaction. A process that
 * is killed while feeding leaves the previous content, and two that feed at once leave the same as
 * one. */
#ifndef STET_LEDGER_LEDGER_H
#define STET_LEDGER_LEDGER_H

#include "base/err.h"
#include "ledger/recompile.h"
#include "ledger/run_folder.h"

enum { STET_LEDGER_VERSION = 6, STET_LEDGER_RUNS_KEPT = 2000 };

struct stet_ledger;

/* Why a run counts as not settled. */
enum stet_unsettled { STET_UNSETTLED_NONE, STET_UNSETTLED_NO_STEPS, STET_UNSETTLED_COMPILING };

/* A sentence; NULL for STET_UNSETTLED_NONE. */
const char *stet_unsettled_text(enum stet_unsettled u);
/* STET_UNSETTLED_NONE for a text that this version does not write. */
enum stet_unsettled stet_unsettled_find(struct stet_view text);

/* `path` NULL means $STET_LEDGER, else <state>/ledger.db. Created if missing. STET_UNSUPPORTED if a
 * newer Stet created it, or if it is on a network file system; STET_IO if it cannot be opened. The
 * text gives the remedy. */
enum stet_rc stet_ledger_open(struct stet_ledger **out, const char *path, struct stet_err *err);
void stet_ledger_close(struct stet_ledger *l);

/* ---- feeding ---- */

/* The facts of a run as a whole. */
struct stet_ledger_run {
    const struct stet_run *run;
    uint64_t processes, compiles, loads, failed, executions, compile_ns, programs;
    bool settled;
    uint64_t settled_step;
    enum stet_unsettled unsettled;
};

struct stet_ledger_process {
    uint64_t process, pid, steps, executions;
    struct stet_view host, python;
    int64_t rank; /* -1 when not known */
    bool steps_known;
};

struct stet_ledger_compile {
    uint64_t process, compile, time_ns, cost_ns, wait_ns, executions, step, served, temp_bytes;
    bool step_known, has_memory;
    struct stet_view function, program, error; /* error: absent when it succeeded */
};

/* Was this lane of the run fed with exactly these files? */
bool stet_ledger_has(struct stet_ledger *l, const char *run, enum stet_lane lane,
                     const char *stamp);

/* Begins to replace one lane of a run. The lane XLA also replaces the run's own row, processes,
 * parts, counters and compiles; another lane only adds its recompiles (and creates the run's row if
 * it is missing). Then add, then end: with `good` false nothing of it is kept. */
enum stet_rc stet_ledger_begin(struct stet_ledger *l, const struct stet_ledger_run *run,
                               enum stet_lane lane, struct stet_err *err);
enum stet_rc stet_ledger_add_process(struct stet_ledger *l, const struct stet_ledger_process *p,
                                     struct stet_err *err);
enum stet_rc stet_ledger_add_part(struct stet_ledger *l, uint64_t process, struct stet_view name,
                                  struct stet_view value, struct stet_err *err);
enum stet_rc stet_ledger_add_compile(struct stet_ledger *l, const struct stet_ledger_compile *c,
                                     struct stet_err *err);
enum stet_rc stet_ledger_add_counter(struct stet_ledger *l, const struct stet_counter *c,
                                     struct stet_err *err);
/* r->lane is set to the lane being fed. */
enum stet_rc stet_ledger_add_recompile(struct stet_ledger *l, const struct stet_recompile *r,
                                       struct stet_err *err);
/* For code that passes recompiles one by one: stops at the first failure, which is in `rc`. */
struct stet_ledger_feed {
    struct stet_ledger *ledger;
    enum stet_rc rc;
    struct stet_err *err;
};
bool stet_ledger_feed(void *feed, const struct stet_recompile *r);
enum stet_rc stet_ledger_end(struct stet_ledger *l, const char *stamp, bool good,
                             struct stet_err *err);

/* Removes a run; removes all but the newest `keep`. */
enum stet_rc stet_ledger_forget(struct stet_ledger *l, const char *run, struct stet_err *err);
enum stet_rc stet_ledger_keep_newest(struct stet_ledger *l, unsigned keep, struct stet_err *err);

/* ---- reading ---- */

/* Calls `visit` for each recompile of a run in all lanes, by process and compile; text is valid
 * during the call. Return false from `visit` to stop. */
enum stet_rc stet_ledger_recompiles(struct stet_ledger *l, const char *run,
                                    bool (*visit)(void *context, const struct stet_recompile *r),
                                    void *context, struct stet_err *err);

/* The same without the changes of each recompile, which is several times faster. */
enum stet_rc stet_ledger_recompiles_brief(struct stet_ledger *l, const char *run,
                                          bool (*visit)(void *context,
                                                        const struct stet_recompile *r),
                                          void *context, struct stet_err *err);

/* What frameworks counted themselves in a run; text and list are in `arena`. */
enum stet_rc stet_ledger_counters(struct stet_ledger *l, const char *run, struct stet_arena *arena,
                                  const struct stet_counter **out, size_t *count,
                                  struct stet_err *err);

/* The run's row; text is in `arena`. STET_NOT_FOUND if it was never fed. */
struct stet_ledger_totals {
    uint64_t compiles, loads, failed, executions, compile_ns, programs, processes;
    uint64_t recompiles, lost_ns, wait_ns; /* those that are not benign */
    bool settled;
    uint64_t settled_step;
    enum stet_unsettled unsettled;
};

enum stet_rc stet_ledger_run_totals(struct stet_ledger *l, const char *run,
                                    struct stet_ledger_totals *out, struct stet_err *err);

#endif
