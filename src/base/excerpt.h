/* Lines of the user's source, for messages and reports. */
#ifndef STET_BASE_EXCERPT_H
#define STET_BASE_EXCERPT_H

#include "base/buf.h"

/* Appends a line of the user's source with its secrets masked and its control characters made
 * visible. False when the file cannot be read, or is not source code. */
bool stet_text_source(struct stet_buf *out, struct stet_view file, uint32_t line);

#endif
