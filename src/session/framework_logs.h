/* Finds the logs that a framework writes while it runs. `stet run` notes them when it starts the
 * command, and `stet explain` reads them. */
#ifndef STET_SESSION_FRAMEWORK_LOGS_H
#define STET_SESSION_FRAMEWORK_LOGS_H

#include "ingest/framework_log.h"

/* Writes the names of the files that will hold this run's framework messages into the run folder:
 * standard error when it is a file, and PT_XLA_DEBUG_FILE. It opens, follows and redirects nothing,
 * so a terminal remains the command's own. */
void stet_session_logs_note(const char *folder);
/* Reads those files, from their sizes at the beginning of the run. */
void stet_session_logs_read(struct stet_framework_log *l, const char *folder);

#endif
