/* A pulse as JSON: schema stet.top/1. */
#ifndef STET_CLI_PULSE_JSON_H
#define STET_CLI_PULSE_JSON_H

#include "base/json.h"
#include "cli/attach.h"

void stet_pulse_json(struct stet_buf *out, const struct stet_attach *a, uint64_t now_ns);

#endif
