/* Findings: the candidates of all files that hold, now that the files are linked. Runs once, after
 * all summaries exist. */
#ifndef STET_LINT_FINDINGS_H
#define STET_LINT_FINDINGS_H

#include "flow/link.h"
#include "lint/candidates.h"
#include "lint/lint.h"

/* The findings of all files, in the order of files and lines, and the number of steps taken. Their
 * texts are in the summaries and in `arena`; the result owns the array. `apart`: also the lines of
 * functions that work on the host are findings of their own. */
enum stet_rc lint_findings_link(struct stet_lint_result *r, struct stet_arena *arena,
                                const struct lint_summary *files, const char *const *paths,
                                size_t file_count, bool apart, struct stet_err *err);

#endif
