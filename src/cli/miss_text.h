/* What the store did not serve, in words. */
#ifndef STET_CLI_MISS_TEXT_H
#define STET_CLI_MISS_TEXT_H

#include "session/miss.h"

/* Lines for people, alike ones joined; nothing when all was served from here, or new. */
void stet_cli_misses_text(const struct stet_misses *m, struct stet_buf *out);

#endif
