/* The records about the ranks of a job: a process's place, what it found out when it compared its
 * compiles with other ranks', and what that took. run_take.c calls it. */
#ifndef STET_LEDGER_RUN_JOB_H
#define STET_LEDGER_RUN_JOB_H

#include "ledger/run_load.h"

void stet_ledger_run_job(struct stet_run_digest *d, struct stet_process_digest *p,
                         const struct stet_journal_event *e);

#endif
