/* The runs of one job, as one run. Where each rank of a job has its own `stet run` (srun, mpirun,
 * pods of Kubernetes), each has its own run folder. The layer writes the job's name into each, and
 * this file finds those that belong together and makes a folder, <state>/jobs/<name>, that links to
 * their journals, programs and traces. Every command reads it as it reads a run. */
#ifndef STET_LEDGER_JOB_RUNS_H
#define STET_LEDGER_JOB_RUNS_H

#include "ledger/run_folder.h"

enum { STET_JOB_NAME = 33 };

/* The name of a run's job: 32 hex digits. False if its ranks do not compare, or it has one process.
 */
bool stet_ledger_job_name(const struct stet_run *run, char out[STET_JOB_NAME]);
/* How many runs of the list have the same job as this one; 1 if it has none. */
size_t stet_ledger_job_count(const struct stet_runs *runs, const struct stet_run *run);
/* All runs of its job as one, in the arena of `runs`; the run itself if there is no other. Links
 * what is new since the last call. */
enum stet_rc stet_ledger_job_join(struct stet_runs *runs, const struct stet_run *run,
                                  const struct stet_run **out, struct stet_err *err);
/* Finds the run of this name as stet_ledger_runs_find does, and joins it with the others of its job
 * if no name was given, if the name is that of a job ("job-…"), or if `whole`. */
enum stet_rc stet_ledger_job_find(struct stet_runs *runs, const char *name, bool whole,
                                  const struct stet_run **out, struct stet_err *err);

#endif
