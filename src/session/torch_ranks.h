/* Finds the rank of a process in torch.compile's lane if its trace does not have it. It is called
 * after the trace and the journals have been read. */
#ifndef STET_SESSION_TORCH_RANKS_H
#define STET_SESSION_TORCH_RANKS_H

#include "ingest/torch.h"
#include "ledger/run_load.h"

/* A trace has its rank only under torch.distributed. A process that also loaded a plugin wrote its
 * rank to the journal. */
void stet_session_torch_take_ranks(struct stet_torch *t, const struct stet_run_digest *d);

#endif
