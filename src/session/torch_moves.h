/* Compares torch.compile's side of two launches. rundiff.c calls it for `stet diff`. The caller's
 * arena owns the texts. */
#ifndef STET_SESSION_TORCH_MOVES_H
#define STET_SESSION_TORCH_MOVES_H

#include "base/arena.h"
#include "ledger/recompile.h"
#include "ledger/run_folder.h"

/* One difference. Text lives in the arena. */
struct stet_torch_move {
    enum stet_cause_thing thing;
    struct stet_view what, from, to;
    struct stet_line at;
};

/* Compares the traces of two runs: torch's version, and how often each cause of recompiles or graph
 * breaks occurred. A rank of -1 stands for all. Runs without traces have no differences. */
enum stet_rc stet_session_torch_moves(const struct stet_run *a, const struct stet_run *b,
                                      const int64_t ranks[2], struct stet_arena *arena,
                                      void (*tell)(void *context,
                                                   const struct stet_torch_move *move),
                                      void *context, struct stet_err *err);

#endif
