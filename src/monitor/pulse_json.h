/* Writes a pulse as JSON, schema stet.top/1. `stet top` and `stet metrics` print it. */
#ifndef STET_MONITOR_PULSE_JSON_H
#define STET_MONITOR_PULSE_JSON_H

#include "base/json.h"
#include "monitor/attach.h"

struct stet_rank_states;

/* `still`: the ranks of a job without progress, or NULL. */
void stet_pulse_json(struct stet_buf *out, const struct stet_monitor_attach *a, uint64_t now_ns,
                     const struct stet_rank_states *still);

#endif
