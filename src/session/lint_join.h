/* Joins findings with the cost of a run's recompiles at their lines, for `stet lint --run`. The
 * result stays the caller's. */
#ifndef STET_SESSION_LINT_JOIN_H
#define STET_SESSION_LINT_JOIN_H

#include "base/err.h"
#include "lint/lint.h"

/* Fills cost_s and compiles of each finding and sorts the most expensive first. `name` names a run
 * as in every command; `id` gets the run's id. */
enum stet_rc stet_session_lint_join(struct stet_lint_result *r, const char *name, char *id,
                                    size_t room, struct stet_err *err);

#endif
