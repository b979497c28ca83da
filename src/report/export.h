/* A run in the formats of other tools. Each function writes one run of the report's model into an
 * empty buffer of the caller's; `failed` of the buffer is set when memory runs out. */
#ifndef STET_REPORT_EXPORT_H
#define STET_REPORT_EXPORT_H

#include "report/model.h"

/* Perfetto's protobuf trace: a track per process with every compile and what was waited for it, the
 * steps, and the memory of devices. */
void stet_report_perfetto(struct stet_buf *out, const struct stet_report_run *r);
/* pprof's profile.proto: a sample for each compile, with the Python stack that waited for it. */
void stet_report_pprof(struct stet_buf *out, const struct stet_report_run *r);
/* speedscope's JSON: the same stacks, a profile per process. */
void stet_report_speedscope(struct stet_buf *out, const struct stet_report_run *r);

/* Compresses `in` to a gzip file; appends it to `out`. */
void stet_report_gzip(struct stet_buf *out, struct stet_view in);

/* What the exporters ask about an event. Texts are borrowed from the model. */
struct stet_view stet_report_event_function(const struct stet_report_run *r,
                                            const struct stet_report_event *e);
/* Its story; NULL for the first compile of its kind. */
const struct stet_story *stet_report_event_story(const struct stet_report_run *r,
                                                 const struct stet_report_event *e);
/* The id of its cause, "first", or "load". */
const char *stet_report_event_cause(const struct stet_report_run *r,
                                    const struct stet_report_event *e);
/* "rank 3 (pid 812 on host)". */
void stet_report_process_name(struct stet_buf *out, const struct stet_report_process *p);

#endif
