/* The account of a run: by way of the ledger, or straight from the run when the ledger can't. */
#ifndef STET_SESSION_ACCOUNT_RUN_H
#define STET_SESSION_ACCOUNT_RUN_H

#include "ledger/run_folder.h"
#include "session/account.h"

typedef enum stet_rc stet_use_account(void *context, const struct stet_account *a,
                                      const struct stet_account_tally *t, struct stet_err *err);

/* Calls `use` with the account of both lanes, joined. When the ledger is unusable it says so on
 * standard error and calls `use` (perhaps a second time) with what the run's own files tell. */
enum stet_rc stet_account_of_run(const struct stet_runs *runs, const struct stet_run *run,
                                 stet_use_account *use, void *context, struct stet_err *err);
/* How often torch.compile compiled, where nothing else was compiled; reads the trace once more when
 * the account is the ledger's, which has the recompiles alone. */
uint64_t stet_account_torch(const struct stet_account *a);
/* Calls `use` with `a` joined. */
enum stet_rc stet_account_use_joined(const struct stet_account *a, stet_use_account *use,
                                     void *context, struct stet_err *err);

#endif
