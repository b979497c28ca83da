/* Prints the counters and logs of the frameworks as text. `stet explain` and the summary of `stet
 * run` use it. The functions append to the caller's buffer. */
#ifndef STET_CLI_FRAMEWORKS_TEXT_H
#define STET_CLI_FRAMEWORKS_TEXT_H

#include "session/frameworks.h"

/* Appends a few lines of text, each after `indent`, or nothing. `brief` is for the summary of `stet
 * run`: only what needs a fix. */
void stet_cli_counters_text(struct stet_buf *out, const char *indent, bool brief,
                            const struct stet_counter *counters, size_t count);
/* Appends how long JAX traced and lowered, and how many traces led to no compile. */
void stet_cli_counters_phases(struct stet_buf *out, const char *indent,
                              const struct stet_counter *counters, size_t count);
void stet_cli_log_text(struct stet_buf *out, const char *indent,
                       const struct stet_framework_log *l);

#endif
