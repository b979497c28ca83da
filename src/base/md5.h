/* MD5 (RFC 1321), because torch.compile's traces contain MD5 checksums of their payloads. It gives
 * no security. Stet identifies its own data by stet_hash. */
#ifndef STET_BASE_MD5_H
#define STET_BASE_MD5_H

#include "base/view.h"

struct stet_md5 {
    uint32_t state[4];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
};

struct stet_md5_digest {
    unsigned char bytes[16];
};

void stet_md5_init(struct stet_md5 *m);
void stet_md5_add(struct stet_md5 *m, const void *bytes, size_t n);
/* Does not change `m`: more bytes may be added. */
struct stet_md5_digest stet_md5_digest(const struct stet_md5 *m);

/* Digests of many messages together, several times faster than one after the other. Each message is
 * followed in memory by its padding. */
struct stet_md5_job {
    const unsigned char *bytes;
    size_t padded; /* with the padding: a multiple of 64 */
    struct stet_md5_digest digest;
};

enum { STET_MD5_PADDING = 72 }; /* the most that stet_md5_pad writes */

/* Writes the padding of a message of `length` bytes after its end; returns the number of bytes
 * written. */
size_t stet_md5_pad(unsigned char *end, size_t length);
void stet_md5_many(struct stet_md5_job *jobs, size_t count);

/* Exactly 32 hex digits; false otherwise. */
bool stet_md5_parse(struct stet_view text, struct stet_md5_digest *out);

static inline bool stet_md5_eq(const struct stet_md5_digest *a, const struct stet_md5_digest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

#endif
