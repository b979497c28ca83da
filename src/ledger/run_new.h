/* Creates a new run on disk: its folder, and run.json. `stet run` and `stet torch ingest` use it.
 * The caller owns the buffer between the beginning and the end of run.json. */
#ifndef STET_LEDGER_RUN_NEW_H
#define STET_LEDGER_RUN_NEW_H

#include "base/err.h"
#include "base/json.h"

#include <time.h>

enum { STET_RUN_ID = 40 };

/* Creates <state>/runs/<time>-<random>; the last part is the run's id. */
enum stet_rc stet_ledger_run_new(char *folder, size_t room, char id[STET_RUN_ID],
                                 struct timespec *now, struct stet_err *err);

/* Writes the beginning of every run.json into `out`, with secrets in `argv` masked; the caller adds
 * to `j`. */
void stet_ledger_run_record_begin(struct stet_json *j, struct stet_buf *out, const char *id,
                                  char *const *argv);
/* Ends it, writes it into `folder` and releases the buffer. It is synced only if it is the final
 * version, because a disk may take seconds for that. */
enum stet_rc stet_ledger_run_record_end(struct stet_json *j, const char *folder, bool last,
                                        struct stet_err *err);

#endif
