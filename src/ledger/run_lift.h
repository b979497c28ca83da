/* The records about lifting, which name the compile of a family's program: that it cannot be
 * lifted, how its results compare, and what was compiled beside it. run_take.c calls it. */
#ifndef STET_LEDGER_RUN_LIFT_H
#define STET_LEDGER_RUN_LIFT_H

#include "ledger/run_load.h"

void stet_ledger_run_lift(struct stet_run_digest *d, struct stet_process_digest *p,
                          const struct stet_journal_event *e);

#endif
