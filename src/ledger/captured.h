/* Opens programs on disk: plain files, compressed ones, and those that a run captured. The caller
 * closes the file. */
#ifndef STET_LEDGER_CAPTURED_H
#define STET_LEDGER_CAPTURED_H

#include "base/fs.h"
#include "ledger/run_folder.h"

/* No program is larger, because protobuf and our readers have this limit. */
#define STET_CAPTURED_MOST ((uint64_t)2 << 30)

/* Like stet_file_open, but a zstd file is decompressed (closed the same way). STET_LIMIT if that
 * would be more than `most` bytes (0: unknown) or STET_CAPTURED_MOST; a truncated file is rejected,
 * too. */
enum stet_rc stet_ledger_captured_open(struct stet_file *f, const char *path, uint64_t most,
                                       struct stet_err *err);

/* The captured program with this hash, in whatever form, of a run's folder. STET_NOT_FOUND if it
 * was not captured. */
enum stet_rc stet_ledger_captured_program(struct stet_file *f, const char *folder,
                                          struct stet_hash program, struct stet_err *err);

/* Finds the file of the captured program whose hash is or begins with `prefix` (at least 6 hex
 * digits), the newest run first. The caller frees the path. STET_NOT_FOUND if no run has it. */
enum stet_rc stet_ledger_captured_find(const struct stet_runs *runs, const char *prefix,
                                       char **path, struct stet_err *err);

#endif
