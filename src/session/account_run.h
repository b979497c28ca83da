/* Makes the account of a run, for the commands that report recompiles. It comes from the ledger, or
 * directly from the run's files when the ledger is unusable. The account is valid during the call
 * of `use`. */
#ifndef STET_SESSION_ACCOUNT_RUN_H
#define STET_SESSION_ACCOUNT_RUN_H

#include "ledger/run_folder.h"
#include "session/account.h"

typedef enum stet_rc stet_use_account(void *context, const struct stet_account *a,
                                      const struct stet_account_tally *t, struct stet_err *err);

/* Calls `use` with the joined account of both lanes. When the ledger is unusable, it prints that on
 * standard error and calls `use`, perhaps a second time, with an account from the run's own
 * files. */
enum stet_rc stet_account_of_run(const struct stet_runs *runs, const struct stet_run *run,
                                 stet_use_account *use, void *context, struct stet_err *err);
struct stet_session;
/* Does the same for a session that is open. */
enum stet_rc stet_account_of_session(struct stet_session *x, const struct stet_run *run,
                                     stet_use_account *use, void *context, struct stet_err *err);
struct stet_torch;
typedef void stet_each_recompile(void *source, stet_visit_recompile *visit, void *context);
/* The same for the recompiles that `each` gives, and those of torch.compile's model. */
enum stet_rc stet_account_of_lanes(stet_each_recompile *each, void *source, struct stet_torch *t,
                                   stet_use_account *use, void *context, struct stet_err *err);
/* Returns how often torch.compile compiled, for runs in which nothing else was compiled. The ledger
 * holds recompiles only, so an account from the ledger reads the trace once more. */
uint64_t stet_account_torch(const struct stet_account *a);
/* Calls `use` with `a` joined. */
enum stet_rc stet_account_use_joined(const struct stet_account *a, stet_use_account *use,
                                     void *context, struct stet_err *err);

#endif
