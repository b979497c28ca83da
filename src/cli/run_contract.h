/* stet run --contract: the launch, the live gate, the verdict at the end. */
#ifndef STET_CLI_RUN_CONTRACT_H
#define STET_CLI_RUN_CONTRACT_H

#include "base/err.h"
#include "cli/live.h"
#include "cli/run_env.h"

struct stet_run_contract;

/* Reads the file. `on_breach` is "warn", "fail" or NULL (warn). STET_USAGE when it is none of them.
 */
enum stet_rc stet_run_contract_open(struct stet_run_contract **out, const char *file,
                                    const char *on_breach, struct stet_err *err);
void stet_run_contract_free(struct stet_run_contract *r);

/* Launch policy: flags of the contract are set where nothing is set and compared where something
 * is; inherited flags it does not know and debugging switches are named on standard error. With
 * `fail` the layer gets its table, as <folder>/contract. False when the command must not start. */
bool stet_run_contract_launch(struct stet_run_contract *r, struct stet_env *env, const char *folder,
                              bool cpu, struct stet_err *err);
/* Tells of breaches as they happen. Takes a NULL live. */
void stet_run_contract_follow(struct stet_run_contract *r, struct stet_live *live);
/* Holds the run to the contract and says so; true when it must fail for it. */
bool stet_run_contract_end(struct stet_run_contract *r, const char *folder);

#endif
