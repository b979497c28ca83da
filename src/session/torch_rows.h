/* Makes the torch lane's rows, for the ledger and for `stet explain`. It also loads the traces of a
 * run and of the runs before it. The caller owns the model and the ledger. */
#ifndef STET_SESSION_TORCH_ROWS_H
#define STET_SESSION_TORCH_ROWS_H

#include "session/account.h"
#include "session/torch_lane.h"

/* Visits each recompile and each graph break as a row of the lane "torch". The text is valid during
 * the call. */
void stet_session_torch_each(struct stet_torch *t, stet_visit_recompile *visit, void *context);

/* Makes the row of one item: a compile, a graph break (by its number), a compile's CUDA graph. */
enum stet_torch_row_kind { STET_ROW_COMPILE, STET_ROW_BREAK, STET_ROW_GRAPH };
void stet_session_torch_row(const struct stet_torch *t, enum stet_torch_row_kind kind, uint32_t at,
                            stet_visit_recompile *visit, void *context);

/* Reads the run's traces and writes them to the ledger, unless the ledger has them from the same
 * files. A run without traces is not an error. */
enum stet_rc stet_session_torch_feed(struct stet_ledger *l, const struct stet_run *run,
                                     struct stet_err *err);
/* Does the same with a model that has been read already. */
enum stet_rc stet_session_torch_feed_model(struct stet_ledger *l, const struct stet_run *run,
                                           struct stet_torch *t, struct stet_err *err);
/* Loads the lookups in torch's caches of earlier runs in the same folder, for a run that missed. */
void stet_session_torch_load_past(struct stet_torch *t, const struct stet_run *run);
/* Loads the traces of a run into an empty model; STET_NOT_FOUND when it has none. */
enum stet_rc stet_session_torch_load_run(struct stet_torch *t, const struct stet_run *run,
                                         struct stet_err *err);

#endif
