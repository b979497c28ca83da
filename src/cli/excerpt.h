/* Lines of the user's own source, when the file is at hand. */
#ifndef STET_CLI_EXCERPT_H
#define STET_CLI_EXCERPT_H

#include "base/buf.h"

/* Appends line `line` of `file` (1-based, trimmed at the end) to `out`; false when it can't be
 * read. Files that are not plain text of reasonable size count as absent. */
bool stet_excerpt_line(struct stet_buf *out, struct stet_view file, uint32_t line);

#endif
