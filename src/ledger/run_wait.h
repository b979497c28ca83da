/* Computes how long a thread waited for a program: tracing, lowering, compiling or loading, until
 * it ran.
 * The functions get the records of one process in the order of its journal. The layer writes the
 * phases that the framework reports, the compiles and the first execution of each executable, all
 * with their thread. Every moment of a thread is counted once: a compile that happens while another
 * program is traced takes its time out of that trace. */
#ifndef STET_LEDGER_RUN_WAIT_H
#define STET_LEDGER_RUN_WAIT_H

#include "ledger/run_load.h"

/* A phase ended at `end_ns`; all times are CLOCK_MONOTONIC. */
void stet_ledger_wait_phase(struct stet_process_digest *p, const struct stet_rec_phase *r,
                            uint64_t end_ns);
/* The thread that waits for a compile or load may be known. It is not always the thread that
 * called, because a framework may compile on a thread of its own. When the compile has ended and
 * the waiting thread has lowered a program, this takes the phases that led to the compile;
 * otherwise it does nothing. */
void stet_ledger_wait_compiled(struct stet_process_digest *p, struct stet_compile_event *c,
                               uint64_t thread);
/* Called when an executable runs for the first time. */
void stet_ledger_wait_ran(struct stet_process_digest *p, const struct stet_rec_first_run *r,
                          uint64_t time_ns);
/* For frameworks that report no phases: measures the wait from the gap between executions
 * (run_gap.h). Call it once all that is known of the compile was read, for each compile in order.
 */
void stet_ledger_wait_without_phases(struct stet_process_digest *p, struct stet_compile_event *c);
void stet_ledger_wait_release(struct stet_process_digest *p);

#endif
