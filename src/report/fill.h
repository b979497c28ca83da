/* What `stet report` gathers of a run. */
#ifndef STET_REPORT_FILL_H
#define STET_REPORT_FILL_H

#include "ledger/run_load.h"
#include "report/model.h"
#include "session/program_cache.h"
#include "session/torch_lane.h"

/* Fills an empty model from the run's journals, traces, captured programs and the ledger. Views in
 * it point into itself and into `d` and `t`, which the caller has made empty and releases after
 * it. */
enum stet_rc stet_report_gather(struct stet_report_run *r, const struct stet_runs *runs,
                                struct stet_run_digest *d, struct stet_torch *t,
                                struct stet_err *err);

/* Its parts. */

/* Families, and what the functions were called with: reads captured programs, not all of many. */
enum stet_rc stet_report_read_programs(struct stet_report_run *r, const struct stet_run_digest *d,
                                       struct stet_session_programs *shelf, struct stet_err *err);
/* The torch lane's processes and compiles; frames, graph breaks and caches; values behind guards.
 */
void stet_report_torch_events(struct stet_report_run *r, const struct stet_torch *t);
void stet_report_torch_details(struct stet_report_run *r, const struct stet_torch *t,
                               uint32_t first_process);

#endif
