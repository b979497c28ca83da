/* Writes captured programs: content-addressed, compressed, each written once per run folder. The
 * writer thread calls it. The bytes are the caller's. */
#ifndef STET_INTERCEPT_BLOB_H
#define STET_INTERCEPT_BLOB_H

#include "base/hash.h"

/* <run folder>/programs/<hash>.<extension>.zst. True if it exists afterwards. Only on the writer
 * thread. */
bool stet_blob_keep(struct stet_hash hash, struct stet_view bytes, const char *extension);
/* File name extension for a program of this format. */
const char *stet_blob_extension(struct stet_view format, struct stet_view program);

#endif
