/* Metrics of a run, given out by its parent while it goes on. The command never waits for it. */
#ifndef STET_CLI_RUN_METRICS_H
#define STET_CLI_RUN_METRICS_H

#include "cli/live.h"
#include "ingest/torch.h"

struct stet_run_metrics;

struct stet_run_metrics_options {
    const char *port, *file; /* either may be NULL */
    const char *names;       /* what else the server may be called; may be NULL */
    const char *run;
    uint64_t started_ns;
    bool quiet;
};

/* Fills `tap`, which is to be given to stet_live_new. STET_USAGE when `port` is none; whatever else
 * goes wrong is said on standard error, and then *out may be NULL. */
enum stet_rc stet_run_metrics_start(struct stet_run_metrics **out,
                                    const struct stet_run_metrics_options *options,
                                    struct stet_live_tap *tap, struct stet_err *err);
/* "127.0.0.1:9464", or NULL when nothing is served. */
const char *stet_run_metrics_address(const struct stet_run_metrics *m);
/* After each poll of the live one; gives out once a second, and with `last` at once. */
void stet_run_metrics_poll(struct stet_run_metrics *m, const struct stet_live *live,
                           const struct stet_torch *torch, bool last);
void stet_run_metrics_end(struct stet_run_metrics *m);

#endif
