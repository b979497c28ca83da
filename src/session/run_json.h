/* Writes a run with its processes and compiles as JSON, schema stet.show-run/1. `stet show` prints
 * it. */
#ifndef STET_SESSION_RUN_JSON_H
#define STET_SESSION_RUN_JSON_H

#include "ledger/run_folder.h"
#include "ledger/run_load.h"

void stet_session_run_json(struct stet_buf *out, const struct stet_run *run,
                           const struct stet_run_digest *d);

#endif
