/* The live gate: a compile that breaks the contract returns an error. Off unless STET_CONTRACT
 * names the table that `stet run --contract` wrote. */
#ifndef STET_INTERCEPT_ENFORCE_H
#define STET_INTERCEPT_ENFORCE_H

#include "intercept/reading.h"

/* Called at the layer's start. A table that cannot be read is a fault, and nothing is refused. */
void stet_intercept_contract_start(void);

/* The error to return instead of compiling, or NULL. A program that cannot be decoded is not
 * refused. */
PJRT_Error *stet_intercept_contract_refuse(struct stet_reading *reading, struct stet_view options);

void stet_intercept_contract_fork_prepare(void);
void stet_intercept_contract_fork_done(void);

#endif
