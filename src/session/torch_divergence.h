/* Ranks whose torch.compile traced different graphs of one function, or compiled it with different
 * settings, found from the traces of all ranks. Recompiles of one rank alone are rows of the
 * account (torch_rows.c). */
#ifndef STET_SESSION_TORCH_DIVERGENCE_H
#define STET_SESSION_TORCH_DIVERGENCE_H

#include "ingest/torch.h"
#include "session/divergence.h"

/* Calls `visit` for each function whose first graph differs between a rank and the lowest rank that
 * has one, if `is_new` accepts the key of this difference. Texts of the divergence are the model's
 * or in `arena`. */
struct stet_torch_divergence_sink {
    void *context;
    bool (*is_new)(void *context, uint64_t key);
    void (*visit)(void *context, const struct stet_divergence *d);
    struct stet_arena *arena;
    uint64_t now_ns; /* by the wall clock, while the run goes on; else 0 */
};

void stet_session_torch_differences(const struct stet_torch *t,
                                    const struct stet_torch_divergence_sink *sink);

#endif
