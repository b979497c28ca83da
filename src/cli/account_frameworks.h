/* What the frameworks themselves say of a run, beside its compiles: counters that the layer read,
 * and logs. */
#ifndef STET_CLI_ACCOUNT_FRAMEWORKS_H
#define STET_CLI_ACCOUNT_FRAMEWORKS_H

#include "base/buf.h"
#include "base/json.h"
#include "explain/history.h"
#include "ingest/framework_log.h"
#include "ledger/recompile.h"

/* Finds the lines of the operations that have no lowering: those waited for a compile in a line
 * that names them. */
void stet_session_counters_place(struct stet_history *h, struct stet_counter *counters,
                                 size_t count);

/* A few lines of text, each after `indent`; nothing when there is nothing to say. `brief` for the
 * summary of `stet run`: only what is to be mended. */
void stet_cli_counters_text(struct stet_buf *out, const char *indent, bool brief,
                            const struct stet_counter *counters, size_t count);
/* How long JAX traced and lowered, and how often it traced for nothing. */
void stet_counters_phases(struct stet_buf *out, const char *indent,
                          const struct stet_counter *counters, size_t count);
void stet_session_counters_json(struct stet_json *j, const struct stet_counter *counters,
                                size_t count);

void stet_cli_log_text(struct stet_buf *out, const char *indent,
                       const struct stet_framework_log *l);
void stet_session_log_json(struct stet_json *j, const struct stet_framework_log *l);
/* What JAX said when the trace that led to this recompile missed its cache; empty when nothing. */
struct stet_view stet_session_log_why(const struct stet_framework_log *l,
                                      const struct stet_recompile *r);

#endif
