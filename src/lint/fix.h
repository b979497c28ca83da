/* Applies safe fixes: makes the new text of a file, and its diff. `stet lint --fix` and `--diff`
 * use it. The functions append to the caller's buffer. */
#ifndef STET_LINT_FIX_H
#define STET_LINT_FIX_H

#include "lint/lint.h"

/* Appends the file's text with the edits of its findings (those of `path`); `*count` gets the
 * number of edits. Edits that overlap an earlier one are left out. */
void stet_lint_fix_text(const struct stet_lint_result *r, const char *path, struct stet_view old,
                        struct stet_buf *out, size_t *count);
/* Appends a unified diff with three lines of context; nothing if the texts are equal. */
void stet_lint_fix_diff(const char *path, struct stet_view old, struct stet_view fixed,
                        struct stet_buf *out);

#endif
