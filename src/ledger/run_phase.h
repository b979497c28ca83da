/* Reads what a framework reports about its own work before a compile. Tracing and lowering belong
 * to a compile that the layer saw. A compile that it reports without one ran on a backend that the
 * layer does not see; such compiles are counted by line. */
#ifndef STET_LEDGER_RUN_PHASE_H
#define STET_LEDGER_RUN_PHASE_H

#include "journal/format.h"
#include "ledger/run_load.h"

void stet_ledger_run_phase(struct stet_run_digest *d, struct stet_process_digest *p,
                           const struct stet_rec_phase *r, uint64_t time_ns);

#endif
