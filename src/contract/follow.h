/* stet run --contract: the launch, the live gate, the verdict at the end. */
#ifndef STET_CONTRACT_FOLLOW_H
#define STET_CONTRACT_FOLLOW_H

#include "base/err.h"
#include "launch/child_env.h"
#include "monitor/live.h"

struct stet_contract_follower;

/* Reads the file. `on_breach` is "warn", "fail" or NULL (warn). STET_USAGE when it is none of them.
 */
enum stet_rc stet_contract_follow_open(struct stet_contract_follower **out, const char *file,
                                       const char *on_breach, struct stet_err *err);
void stet_contract_follow_free(struct stet_contract_follower *r);

/* Launch policy: flags of the contract are set where nothing is set and compared where something
 * is; inherited flags it does not know and debugging switches are named on standard error. With
 * `fail` the layer gets its table, as <folder>/contract. False when the command must not start. */
bool stet_contract_follow_launch(struct stet_contract_follower *r, struct stet_launch_env *env,
                                 const char *folder, bool cpu, struct stet_err *err);
/* Tells of breaches as they happen. Takes a NULL live. */
void stet_contract_follow_follow(struct stet_contract_follower *r, struct stet_live *live);
/* Holds the run to the contract and says so; true when it must fail for it. */
bool stet_contract_follow_end(struct stet_contract_follower *r, const char *folder);

#endif
