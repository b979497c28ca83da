/* Publishes the metrics of a run while it goes on, over HTTP or as a file. The parent process of
 * `stet run` does this, and the command never waits for it. stet_monitor_publish_end frees the
 * publisher. */
#ifndef STET_MONITOR_PUBLISH_H
#define STET_MONITOR_PUBLISH_H

#include "ingest/torch.h"
#include "monitor/live.h"

struct stet_monitor_publisher;

struct stet_monitor_publish_options {
    const char *port, *file; /* either may be NULL */
    const char *names;       /* further host names of the server; may be NULL */
    const char *run;
    uint64_t started_ns;
    bool quiet;
};

/* Fills `tap`, which the caller passes to stet_live_new. Returns STET_USAGE when `port` is invalid.
 * Any other failure is reported on standard error, and *out may then be NULL. */
enum stet_rc stet_monitor_publish_start(struct stet_monitor_publisher **out,
                                        const struct stet_monitor_publish_options *options,
                                        struct stet_live_tap *tap, struct stet_err *err);
/* Returns "127.0.0.1:9464", or NULL when nothing is served. */
const char *stet_monitor_publish_address(const struct stet_monitor_publisher *m);
/* Call it after each poll of `live`. It publishes once a second, and with `last` at once. */
void stet_monitor_publish_poll(struct stet_monitor_publisher *m, struct stet_live *live,
                               struct stet_torch *torch, bool last);
void stet_monitor_publish_end(struct stet_monitor_publisher *m);

#endif
