/* Handles the frameworks' own reports about a run, beside its compiles: counters that the layer
 * read, and logs. The account and the JSON writers use it. All texts are borrowed. */
#ifndef STET_SESSION_FRAMEWORKS_H
#define STET_SESSION_FRAMEWORKS_H

#include "base/buf.h"
#include "base/json.h"
#include "explain/history.h"
#include "ingest/framework_log.h"
#include "ledger/recompile.h"

/* Finds the lines of the operations that have no lowering. Such a line names the operation and
 * waited for a compile. */
void stet_session_counters_place(struct stet_history *h, struct stet_counter *counters,
                                 size_t count);

/* Does the counter count values that were read back? Each `.item()` is such a value. */
bool stet_session_counters_is_readback(struct stet_view name);
void stet_session_counters_json(struct stet_json *j, const struct stet_counter *counters,
                                size_t count);

void stet_session_log_json(struct stet_json *j, const struct stet_framework_log *l);
/* Returns JAX's explanation of the tracing cache miss that led to this recompile; empty when there
 * is none. */
struct stet_view stet_session_log_why(const struct stet_framework_log *l,
                                      const struct stet_recompile *r);

#endif
