/* Findings joined with what a run's recompiles cost at their lines. */
#ifndef STET_SESSION_LINT_JOIN_H
#define STET_SESSION_LINT_JOIN_H

#include "base/err.h"
#include "lint/lint.h"

/* Fills cost_s and compiles of each finding and puts the dearest first. `name` as every command
 * takes a run; `id` gets the run's own. */
enum stet_rc stet_session_lint_join(struct stet_lint_result *r, const char *name, char *id,
                                    size_t room, struct stet_err *err);

#endif
