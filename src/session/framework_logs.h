/* Logs that a framework writes while it runs, where `stet run` knows of them. */
#ifndef STET_SESSION_FRAMEWORK_LOGS_H
#define STET_SESSION_FRAMEWORK_LOGS_H

#include "ingest/framework_log.h"

/* Notes in the run folder which files will hold what this run's framework says: standard error when
 * it is a file, and PT_XLA_DEBUG_FILE. Nothing is opened, followed or redirected: a terminal stays
 * the command's own. */
void stet_session_logs_note(const char *folder);
/* Reads those files, from where they stood when the run began. */
void stet_session_logs_read(struct stet_framework_log *l, const char *folder);

#endif
