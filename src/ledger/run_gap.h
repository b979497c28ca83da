/* Measures the wait for programs of frameworks that report no phases (PyTorch/XLA, TorchTPU).
 * Executions of a process follow each other in one order. The gap before the first execution of a
 * program contains everything that it was waited for: lowering, compiling or loading. What is
 * longer in it than the usual gap at this place of the loop is the wait; programs that are compiled
 * in one gap share it. Gaps do not overlap, so no moment is counted twice, though several programs
 * may be compiled at once. Only what was known when the program first ran is used, so a run in
 * progress gives the same answer as afterwards. */
#ifndef STET_LEDGER_RUN_GAP_H
#define STET_LEDGER_RUN_GAP_H

#include "ledger/run_load.h"

/* Takes a batch of executions. */
void stet_ledger_gap_execs(struct stet_process_digest *p, const struct stet_rec_execs *r);
/* Measures the wait for this compile, which the caller passes in the order of the process's
 * compiles. Changes nothing when its first execution, or the execution before that, is not known.
 */
void stet_ledger_gap_measure(struct stet_process_digest *p, struct stet_compile_event *c);
void stet_ledger_gap_release(struct stet_process_digest *p);

#endif
