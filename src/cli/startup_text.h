/* The start of a run in words: where the time went until its first step. */
#ifndef STET_CLI_STARTUP_TEXT_H
#define STET_CLI_STARTUP_TEXT_H

#include "base/buf.h"
#include "ledger/startup.h"

/* One line after `indent`; nothing when nothing is known. */
void stet_cli_startup_text(struct stet_buf *out, const char *indent,
                           const struct stet_run_digest *d);

#endif
