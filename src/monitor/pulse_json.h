/* A pulse as JSON: schema stet.top/1. */
#ifndef STET_MONITOR_PULSE_JSON_H
#define STET_MONITOR_PULSE_JSON_H

#include "base/json.h"
#include "monitor/attach.h"

void stet_pulse_json(struct stet_buf *out, const struct stet_monitor_attach *a, uint64_t now_ns);

#endif
