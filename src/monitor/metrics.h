/* A pulse in Prometheus' text format, or in OpenMetrics. */
#ifndef STET_MONITOR_METRICS_H
#define STET_MONITOR_METRICS_H

#include "monitor/pulse.h"

enum stet_metrics_format { STET_METRICS_PROMETHEUS, STET_METRICS_OPENMETRICS };

/* What is not in a pulse. */
struct stet_metrics_run {
    const char *host, *stet_version;
    bool running;
};

void stet_monitor_metrics_write(struct stet_buf *out, const struct stet_pulse *p,
                                const struct stet_metrics_run *run,
                                enum stet_metrics_format format);
/* The Content-Type that goes with it. */
const char *stet_monitor_metrics_type(enum stet_metrics_format format);

#endif
