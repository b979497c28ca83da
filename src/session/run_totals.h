/* The totals of a run, for a list of runs. A run that has ended and is in the ledger is not read
 * again. */
#ifndef STET_SESSION_RUN_TOTALS_H
#define STET_SESSION_RUN_TOTALS_H

#include "base/json.h"
#include "ledger/ledger.h"
#include "ledger/run_folder.h"

struct stet_run_totals {
    struct stet_ledger_totals all;
    bool explained; /* recompiles and lost_ns are known */
    /* torch.compile's, of a run in which nothing else was compiled */
    uint64_t torch_compiles, torch_ns;
    bool unread; /* its traces are too large for a list */
};

/* `l` may be NULL: the journals are read. */
struct stet_run_totals stet_session_run_totals(struct stet_ledger *l, const struct stet_run *run);
/* A run as `stet runs --format=json` lists it. */
void stet_session_run_totals_json(struct stet_json *j, const struct stet_run *run,
                                  const struct stet_run_totals *t);

#endif
