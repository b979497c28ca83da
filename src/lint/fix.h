/* Applies safe fixes: the new text of a file, and its diff. */
#ifndef STET_LINT_FIX_H
#define STET_LINT_FIX_H

#include "lint/lint.h"

/* The file's text with the edits of its findings (those of `path`); how many in `*count`. Edits
 * that overlap an earlier one are left out. */
void stet_lint_fix_text(const struct stet_lint_result *r, const char *path, struct stet_view old,
                        struct stet_buf *out, size_t *count);
/* A unified diff with three lines of context; empty if the texts are equal. */
void stet_lint_fix_diff(const char *path, struct stet_view old, struct stet_view fixed,
                        struct stet_buf *out);

#endif
