/* Deletes old runs. `stet runs --prune` uses it. The caller owns the list of runs and the ledger.
 */
#ifndef STET_LEDGER_PRUNE_H
#define STET_LEDGER_PRUNE_H

#include "ledger/ledger.h"
#include "ledger/run_folder.h"

/* Did the run end `days` days or more before `now_ns` (CLOCK_REALTIME)? False while it goes on. A
 * run whose end was not recorded counts from its start, once its process is gone. */
bool stet_ledger_run_is_old(const struct stet_run *run, uint64_t days, uint64_t now_ns);
/* Deletes the run's folder and its rows; `l` may be NULL. False if some of the folder is left. */
bool stet_ledger_run_delete(const struct stet_run *run, struct stet_ledger *l);

#endif
