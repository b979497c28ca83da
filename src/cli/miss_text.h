/* Prints what the store did not serve, as text. `stet explain` and `stet cache prove` use
 * it. */
#ifndef STET_CLI_MISS_TEXT_H
#define STET_CLI_MISS_TEXT_H

#include "session/miss.h"

/* Appends lines of text, with equal lines joined; nothing when everything was served from here, or
 * was new. */
void stet_cli_misses_text(const struct stet_misses *m, struct stet_buf *out);

#endif
