/* Gathers what `stet report` shows about a run. The command calls stet_report_gather once per run.
 * The caller owns the model, the digest and torch.compile's model. */
#ifndef STET_REPORT_FILL_H
#define STET_REPORT_FILL_H

#include "ledger/run_load.h"
#include "report/model.h"
#include "session/program_cache.h"
#include "session/torch_lane.h"

/* Fills an empty model from the run's journals, traces, captured programs and the ledger. Views in
 * it point into itself and into `d` and `t`. The caller initialises these empty and releases them
 * after the model. */
enum stet_rc stet_report_gather(struct stet_report_run *r, const struct stet_runs *runs,
                                struct stet_run_digest *d, struct stet_torch *t,
                                struct stet_err *err);

/* The parts of stet_report_gather. */

/* Finds families and the arguments of functions. It reads captured programs, and only some of them
 * if there are many. */
enum stet_rc stet_report_read_programs(struct stet_report_run *r, const struct stet_run_digest *d,
                                       struct stet_session_programs *shelf, struct stet_err *err);
/* The sizes that functions were called with, and the buckets for them. */
enum stet_rc stet_report_buckets(struct stet_report_run *r, const struct stet_run_digest *d,
                                 struct stet_session_programs *shelf, struct stet_err *err);
/* The fits that are kept in the run's folder. */
void stet_report_fits(struct stet_report_run *r);
/* The torch lane: processes and compiles; frames, graph breaks and caches; values behind guards. */
void stet_report_torch_events(struct stet_report_run *r, const struct stet_torch *t);
void stet_report_torch_details(struct stet_report_run *r, const struct stet_torch *t,
                               uint32_t first_process);

#endif
