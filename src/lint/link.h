/* Combines all files: finds which functions are traced, and which candidates therefore hold. Runs
 * once, after all summaries exist. */
#ifndef STET_LINT_LINK_H
#define STET_LINT_LINK_H

#include "lint/lint.h"
#include "lint/summary.h"

/* The findings of all files, in the order of files and lines, and the number of steps taken. Their
 * texts are in the summaries and in `arena`; the result owns the array. */
enum stet_rc lint_link(struct stet_lint_result *r, struct stet_arena *arena,
                       const struct lint_summary *files, const char *const *paths,
                       size_t file_count, struct stet_err *err);

#endif
