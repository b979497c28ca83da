/* stet run --contract: checks the environment at launch, reports violations while the command runs,
 * and gives the verdict at the end. The parent process calls it. The caller frees it with
 * stet_contract_follow_free. */
#ifndef STET_CONTRACT_FOLLOW_H
#define STET_CONTRACT_FOLLOW_H

#include "base/err.h"
#include "launch/child_env.h"
#include "monitor/live.h"

struct stet_contract_follower;

/* Reads the file. `on_breach` is "warn", "fail" or NULL (warn). Returns STET_USAGE for any other
 * value. */
enum stet_rc stet_contract_follow_open(struct stet_contract_follower **out, const char *file,
                                       const char *on_breach, struct stet_err *err);
void stet_contract_follow_free(struct stet_contract_follower *r);

/* Applies the launch policy. Flags of the contract are set if the variable is unset, and compared
 * otherwise. Inherited flags that the contract does not have, and debugging switches, are listed on
 * standard error. With `fail` the layer gets its table, as <folder>/contract. False when the
 * command must not start. */
bool stet_contract_follow_launch(struct stet_contract_follower *r, struct stet_launch_env *env,
                                 const char *folder, bool cpu, struct stet_err *err);
/* Reports breaches as they happen. `live` may be NULL. */
void stet_contract_follow_live(struct stet_contract_follower *r, struct stet_live *live);
/* Checks the whole run and prints the result; true when the run must fail for it. */
bool stet_contract_follow_end(struct stet_contract_follower *r, const char *folder);

#endif
