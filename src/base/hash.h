/* 128-bit content hashes (XXH3). They identify bytes. They are not secure against an attacker who
 * looks for collisions. */
#ifndef STET_BASE_HASH_H
#define STET_BASE_HASH_H

#include "base/view.h"

struct stet_hash {
    uint64_t hi, lo;
};

#define STET_HASH_TEXT 33 /* 32 hex digits and the terminator */

struct stet_hash stet_hash_bytes(struct stet_view bytes);
struct stet_hash stet_hash_seeded(struct stet_view bytes, uint64_t seed);
/* Order matters: mix(a, b) differs from mix(b, a). */
struct stet_hash stet_hash_mix(struct stet_hash a, struct stet_hash b);
struct stet_hash stet_hash_mix_u64(struct stet_hash a, uint64_t v);

/* Hashes bytes that arrive in pieces. The digest equals stet_hash_bytes of all pieces joined. The
 * struct needs no alignment, but it must not move between calls. */
struct stet_hasher {
    unsigned char state[640];
};

void stet_hasher_init(struct stet_hasher *h);
void stet_hasher_add(struct stet_hasher *h, const void *bytes, size_t n);
struct stet_hash stet_hasher_digest(const struct stet_hasher *h);

static inline bool stet_hash_eq(struct stet_hash a, struct stet_hash b)
{
    return a.hi == b.hi && a.lo == b.lo;
}

static inline bool stet_hash_is_zero(struct stet_hash a)
{
    return (a.hi | a.lo) == 0;
}

/* Order by value; for sorting. */
int stet_hash_cmp(struct stet_hash a, struct stet_hash b);

void stet_hash_format(struct stet_hash h, char text[STET_HASH_TEXT]);
/* Exactly 32 hex digits; false otherwise. */
bool stet_hash_parse(struct stet_view text, struct stet_hash *out);

#endif
