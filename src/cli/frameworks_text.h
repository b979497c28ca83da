/* The counters and logs of the frameworks in words. */
#ifndef STET_CLI_FRAMEWORKS_TEXT_H
#define STET_CLI_FRAMEWORKS_TEXT_H

#include "session/frameworks.h"

/* A few lines of text, each after `indent`; nothing when there is nothing to say. `brief` for the
 * summary of `stet run`: only what is to be mended. */
void stet_cli_counters_text(struct stet_buf *out, const char *indent, bool brief,
                            const struct stet_counter *counters, size_t count);
/* How long JAX traced and lowered, and how many traces led to no compile. */
void stet_cli_counters_phases(struct stet_buf *out, const char *indent,
                              const struct stet_counter *counters, size_t count);
void stet_cli_log_text(struct stet_buf *out, const char *indent,
                       const struct stet_framework_log *l);

#endif
