/* Finds the step of the loop at which each compile of a run happened. It is called once, after
 * stet_ledger_run_load, and writes into the caller's digest. */
#ifndef STET_LEDGER_RUN_STEPS_H
#define STET_LEDGER_RUN_STEPS_H

#include "ledger/run_load.h"

/* Reads the journals again, twice: once for the evidence, once to count. Fills `steps` of every
 * process and `step` of every compile of `d`, which stet_ledger_run_load read from the same folder.
 */
enum stet_rc stet_ledger_run_steps(struct stet_run_digest *d, const char *folder,
                                   struct stet_err *err);

#endif
