/* Programs as they lie on disk: plain files, compressed ones, and those captured by a run. */
#ifndef STET_LEDGER_CAPTURED_H
#define STET_LEDGER_CAPTURED_H

#include "base/fs.h"
#include "ledger/run_folder.h"

/* No program is larger: neither protobuf nor what reads them here goes further. */
#define STET_CAPTURED_MOST ((uint64_t)2 << 30)

/* Like stet_file_open, but a zstd file is given decompressed (closed the same way). STET_LIMIT when
 * that would be more than `most` bytes (0: not known) or STET_CAPTURED_MOST; a file that ends early
 * is refused, too. */
enum stet_rc stet_ledger_captured_open(struct stet_file *f, const char *path, uint64_t most,
                                       struct stet_err *err);

/* The file of the captured program whose hash is or begins with `prefix` (at least 6 hex digits),
 * the newest run first; the path is the caller's to free. STET_NOT_FOUND when no run has it. */
enum stet_rc stet_ledger_captured_find(const struct stet_runs *runs, const char *prefix,
                                       char **path, struct stet_err *err);

#endif
