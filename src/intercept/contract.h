/* The live gate: a compile that breaks the contract returns an error. Off unless STET_CONTRACT
 * names the table that `stet run --contract` wrote. */
#ifndef STET_INTERCEPT_CONTRACT_H
#define STET_INTERCEPT_CONTRACT_H

#include "intercept/reload.h"

/* Called at the layer's start. A table that cannot be read is a fault, and nothing is refused. */
void stet_contract_start(void);

/* The error to return instead of compiling, or NULL. A program that cannot be decoded is not
 * refused; for others, `looked` is filled in. */
PJRT_Error *stet_contract_refuse(const PJRT_Program *program, struct stet_view options,
                                 struct stet_looked *looked);

void stet_contract_fork_prepare(void);
void stet_contract_fork_done(void);

#endif
