/* Reads the bytes of a log that may be plain, gzip or zstd, and may still be growing. */
#ifndef STET_INGEST_BYTES_H
#define STET_INGEST_BYTES_H

#include "base/err.h"
#include "base/view.h"

struct stet_bytes {
    int fd;
    void *codec; /* NULL for plain bytes */
    bool gzip;
    bool inside;      /* the codec is in the middle of a frame */
    uint64_t skipped; /* compressed bytes that could not be read and were skipped */
    unsigned char *in;
    size_t in_at, in_len;
    bool known; /* the first bytes have been examined */
};

enum stet_rc stet_ingest_bytes_open(struct stet_bytes *b, const char *path, struct stet_err *err);
void stet_ingest_bytes_close(struct stet_bytes *b);
/* Starts `n` bytes into a plain file; call it before anything is read. */
void stet_ingest_bytes_skip(struct stet_bytes *b, uint64_t n);

/* Up to `room` bytes, decompressed. *got is 0 if there is nothing more for now; a file that has
 * grown gives more at the next call. Damaged compressed data is skipped up to the next frame and
 * counted in `skipped`. */
enum stet_rc stet_ingest_bytes_read(struct stet_bytes *b, char *out, size_t room, size_t *got,
                                    struct stet_err *err);

#endif
