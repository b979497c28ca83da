/* Which rank a process of torch.compile's lane is, where its trace does not say. */
#ifndef STET_SESSION_TORCH_RANKS_H
#define STET_SESSION_TORCH_RANKS_H

#include "ingest/torch.h"
#include "ledger/run_load.h"

/* A trace names its rank only under torch.distributed; a process that loaded a plugin as well has
 * told the journal. */
void stet_session_torch_take_ranks(struct stet_torch *t, const struct stet_run_digest *d);

#endif
