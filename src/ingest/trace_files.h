/* Logs on disk into the model: files, folders of them, and folders that are still being written. */
#ifndef STET_INGEST_TRACE_FILES_H
#define STET_INGEST_TRACE_FILES_H

#include "base/err.h"
#include "ingest/torch.h"

struct stet_torch_files;

/* NULL when memory is short. The model is borrowed and must live longer. */
struct stet_torch_files *stet_torch_files_new(struct stet_torch *t);
void stet_torch_files_free(struct stet_torch_files *f);

/* A log (plain, gzip or zstd; x.log.2.gz, x.log.1 and x.log are one log), or a folder of logs. A
 * folder need not be there yet: it is looked for at each poll. */
enum stet_rc stet_torch_files_add(struct stet_torch_files *f, const char *path,
                                  struct stet_err *err);
/* Whether a file of that name is taken for a log in a folder; one that is given by itself always
 * is.
 */
bool stet_torch_is_log(const char *name);
/* A file that others write to as well, and that may not be there yet: what it holds now is passed
 * over. */
enum stet_rc stet_torch_files_tail(struct stet_torch_files *f, const char *path,
                                   struct stet_err *err);
/* What lies there already is not read: only what is written from now on into new logs. */
void stet_torch_files_skip(struct stet_torch_files *f);
/* Reads all that has come since the last time. */
enum stet_rc stet_torch_files_poll(struct stet_torch_files *f, struct stet_err *err);
/* Reads what is left and closes: nothing more will come. Logs are read one after the other, so
 * that many of them cost no more memory than one. */
enum stet_rc stet_torch_files_finish(struct stet_torch_files *f, struct stet_err *err);

/* How many logs there are. */
size_t stet_torch_files_count(const struct stet_torch_files *f);

#endif
