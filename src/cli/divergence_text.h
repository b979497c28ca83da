/* Prints differences between ranks: `stet run` one at a time, `stet explain` all of a run. */
#ifndef STET_CLI_DIVERGENCE_TEXT_H
#define STET_CLI_DIVERGENCE_TEXT_H

#include "base/buf.h"
#include "session/divergence.h"

/* Appends a block. `all`: every change. */
void stet_cli_divergence_text(struct stet_buf *out, const struct stet_divergence *d, bool colour,
                              bool all);
/* Prints it on standard error, as `stet run` does while the command runs. */
void stet_cli_divergence_say(const struct stet_divergence *d);
/* A line about how many were printed so, at the end of `stet run`; nothing if there were none. */
void stet_cli_divergence_sum(void);

#endif
