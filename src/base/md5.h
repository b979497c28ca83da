/* MD5 (RFC 1321), because torch.compile's traces carry it for their payloads. No protection against
 * anybody; Stet's own identities are stet_hash. */
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
/* `m` is left as it was: more may be added. */
struct stet_md5_digest stet_md5_digest(const struct stet_md5 *m);

/* The digests of many messages together, several times faster than one after the other. A message
 * is followed in memory by its padding. */
struct stet_md5_job {
    const unsigned char *bytes;
    size_t padded; /* with the padding: a multiple of 64 */
    struct stet_md5_digest digest;
};

enum { STET_MD5_PADDING = 72 }; /* the most that stet_md5_pad writes */

/* Writes the padding of a message of `length` bytes at its end; how many bytes that takes. */
size_t stet_md5_pad(unsigned char *end, size_t length);
void stet_md5_many(struct stet_md5_job *jobs, size_t count);

/* Exactly 32 hex digits; false otherwise. */
bool stet_md5_parse(struct stet_view text, struct stet_md5_digest *out);

static inline bool stet_md5_eq(const struct stet_md5_digest *a, const struct stet_md5_digest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

#endif
