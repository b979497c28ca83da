/* Follows a run's journals while the run goes on, and reports recompiles as they happen. `stet run`
 * polls it in the parent process, and attach.c from another one. A failure in here only ends the
 * reports: it never ends or delays the command. The caller frees it with stet_live_free. */
#ifndef STET_MONITOR_LIVE_H
#define STET_MONITOR_LIVE_H

#include "explain/history.h"
#include "ledger/recompile.h"
#include "ledger/run_load.h"
#include "session/divergence.h"

struct stet_live;

enum { STET_LIVE_PROCESSES = 4096 }; /* of a run that are followed; further ones are not */

/* Callbacks for another reader of the same records; each may be NULL. Processes are numbered as in
 * the digest; `e` and `r` are valid during the call. */
struct stet_live_tap {
    void *context;
    void (*event)(void *context, size_t process, const struct stet_process_digest *p,
                  const struct stet_journal_event *e);
    /* A recompile worth printing: the first of its cause, then the 10th, the 100th and so on, and
     * at most a few a minute. `wait_ns` is the total wait for all of them so far. */
    void (*say)(const struct stet_recompile *r, uint64_t times, uint64_t wait_ns);
    /* Ranks of the job that do not compile the same; once for each pair. */
    void (*differ)(const struct stet_divergence *d);
};

/* `json_events` is a file that gets one JSON object per line for each recompile, or NULL. `tap` is
 * copied and may be NULL. Returns STET_IO when that file cannot be created. *out is NULL when there
 * is nothing to do. */
enum stet_rc stet_live_new(struct stet_live **out, const char *folder, const char *run,
                           const char *json_events, const struct stet_live_tap *tap,
                           struct stet_err *err);
struct stet_session;
/* Calls back for each compile once it has been judged, in order. */
void stet_live_watch(struct stet_live *l,
                     void (*visit)(void *context, struct stet_session *x, uint32_t sighting),
                     void *context);
/* Reads what is new. Call it every few hundred milliseconds, and with `last` when the command has
 * ended. */
void stet_live_poll(struct stet_live *l, bool last);
/* Writes a recompile that another reader found, to the file of events only. One that was written
 * before is written again only if its class, its flag or its wait is another now. */
void stet_live_event(struct stet_live *l, const struct stet_recompile *r);
/* The same for ranks that differ. */
void stet_live_difference(struct stet_live *l, const struct stet_divergence *d);
void stet_live_free(struct stet_live *l);

/* Returns what is known so far; borrowed, and valid until the next poll. */
const struct stet_run_digest *stet_live_digest(const struct stet_live *l);
const struct stet_history *stet_live_history(const struct stet_live *l);
/* Visits the recompiles so far, judged by what is known by now; stet_live_changes counts up when
 * there may be others than before. */
void stet_live_each(struct stet_live *l,
                    bool (*visit)(void *context, const struct stet_recompile *r), void *context);
uint64_t stet_live_changes(const struct stet_live *l);
/* False when there was too much to explain: causes and families are then those of the beginning of
 * the run. */
bool stet_live_explains(const struct stet_live *l);
struct stet_journal_damage stet_live_damage(const struct stet_live *l);

#endif
