/* A baseline: the findings that a project has accepted, so that only new ones are printed. `stet
 * lint` applies it after the run and writes it on request. The result stays the caller's. */
#ifndef STET_LINT_BASELINE_H
#define STET_LINT_BASELINE_H

#include "lint/lint.h"

/* Removes the findings that the file lists from `r`. `*known` gets their number, and `*gone` the
 * number of entries that no longer match. */
enum stet_rc stet_lint_baseline_apply(struct stet_lint_result *r, const char *path, size_t *known,
                                      size_t *gone, struct stet_err *err);
enum stet_rc stet_lint_baseline_write(const struct stet_lint_result *r, const char *path,
                                      struct stet_err *err);

#endif
