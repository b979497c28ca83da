/* Metrics of a run, given out by its parent while it goes on. The command never waits for it. */
#ifndef STET_MONITOR_PUBLISH_H
#define STET_MONITOR_PUBLISH_H

#include "ingest/torch.h"
#include "monitor/live.h"

struct stet_monitor_publisher;

struct stet_monitor_publish_options {
    const char *port, *file; /* either may be NULL */
    const char *names;       /* what else the server may be called; may be NULL */
    const char *run;
    uint64_t started_ns;
    bool quiet;
};

/* Fills `tap`, which is to be given to stet_live_new. STET_USAGE when `port` is none; whatever else
 * goes wrong is said on standard error, and then *out may be NULL. */
enum stet_rc stet_monitor_publish_start(struct stet_monitor_publisher **out,
                                        const struct stet_monitor_publish_options *options,
                                        struct stet_live_tap *tap, struct stet_err *err);
/* "127.0.0.1:9464", or NULL when nothing is served. */
const char *stet_monitor_publish_address(const struct stet_monitor_publisher *m);
/* After each poll of the live one; gives out once a second, and with `last` at once. */
void stet_monitor_publish_poll(struct stet_monitor_publisher *m, const struct stet_live *live,
                               const struct stet_torch *torch, bool last);
void stet_monitor_publish_end(struct stet_monitor_publisher *m);

#endif
