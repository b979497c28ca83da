/* Reads logs on disk into the model: files, folders of them, and folders that are still being
 * written. */
#ifndef STET_INGEST_TRACE_FILES_H
#define STET_INGEST_TRACE_FILES_H

#include "base/err.h"
#include "ingest/torch.h"

struct stet_torch_files;

/* NULL if memory runs out. The model is borrowed and must outlive it. */
struct stet_torch_files *stet_torch_files_new(struct stet_torch *t);
void stet_torch_files_free(struct stet_torch_files *f);

/* Adds a log (plain, gzip or zstd; x.log.2.gz, x.log.1 and x.log are one log), or a folder of logs.
 * A folder need not exist yet: it is checked at each poll. */
enum stet_rc stet_torch_files_add(struct stet_torch_files *f, const char *path,
                                  struct stet_err *err);
/* Does a file of this name count as a log in a folder? A file that is given directly always
 * does. */
bool stet_torch_is_log(const char *name);
/* A file that other runs write to as well, and that may not exist yet: its present content is
 * skipped. */
enum stet_rc stet_torch_files_tail(struct stet_torch_files *f, const char *path,
                                   struct stet_err *err);
/* Ignores what is there already: only new logs that are written from now on are read. */
void stet_torch_files_skip(struct stet_torch_files *f);
/* Reads everything that was added since the last time. */
enum stet_rc stet_torch_files_poll(struct stet_torch_files *f, struct stet_err *err);
/* Reads what is left and closes: nothing more will be written. Logs are read one after the other,
 * so that many of them need no more memory than one. */
enum stet_rc stet_torch_files_finish(struct stet_torch_files *f, struct stet_err *err);

/* The number of logs. */
size_t stet_torch_files_count(const struct stet_torch_files *f);

#endif
