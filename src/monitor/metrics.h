/* Writes a pulse in Prometheus' text format or in OpenMetrics. publish.c calls it once a second
 * during `stet run`, and `stet metrics` calls it from another process. It appends to the caller's
 * buffer. */
#ifndef STET_MONITOR_METRICS_H
#define STET_MONITOR_METRICS_H

#include "monitor/pulse.h"

enum stet_metrics_format { STET_METRICS_PROMETHEUS, STET_METRICS_OPENMETRICS };

/* Values that a pulse does not have. */
struct stet_metrics_run {
    const char *host, *stet_version;
    bool running;
};

void stet_monitor_metrics_write(struct stet_buf *out, const struct stet_pulse *p,
                                const struct stet_metrics_run *run,
                                enum stet_metrics_format format);
/* Returns the Content-Type of the format. */
const char *stet_monitor_metrics_type(enum stet_metrics_format format);

#endif
