/* Prints where the time went until a run's first step, as text. The summary of `stet run` uses
 * it. */
#ifndef STET_CLI_STARTUP_TEXT_H
#define STET_CLI_STARTUP_TEXT_H

#include "base/buf.h"
#include "ledger/startup.h"

/* Appends one line after `indent`, or nothing when nothing is known. */
void stet_cli_startup_text(struct stet_buf *out, const char *indent,
                           const struct stet_run_digest *d);

#endif
