/* XXH3 compiled into this file alone, so that no symbol of it is visible elsewhere. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdio.h>

static struct stet_hash from_xxh(XXH128_hash_t h)
{
    return (struct stet_hash){h.high64, h.low64};
}

struct stet_hash stet_hash_seeded(struct stet_view bytes, uint64_t seed)
{
    return from_xxh(XXH3_128bits_withSeed(bytes.len ? bytes.ptr : "", bytes.len, seed));
}

struct stet_hash stet_hash_bytes(struct stet_view bytes)
{
    return stet_hash_seeded(bytes, 0);
}

struct stet_hash stet_hash_mix(struct stet_hash a, struct stet_hash b)
{
    uint64_t words[4] = {a.hi, a.lo, b.hi, b.lo};

    return from_xxh(XXH3_128bits(words, sizeof words));
}

struct stet_hash stet_hash_mix_u64(struct stet_hash a, uint64_t v)
{
    uint64_t words[3] = {a.hi, a.lo, v};

    return from_xxh(XXH3_128bits(words, sizeof words));
}

int stet_hash_cmp(struct stet_hash a, struct stet_hash b)
{
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    return (a.lo > b.lo) - (a.lo < b.lo);
}

void stet_hash_format(struct stet_hash h, char text[STET_HASH_TEXT])
{
    snprintf(text, STET_HASH_TEXT, "%016llx%016llx", (unsigned long long)h.hi,
             (unsigned long long)h.lo);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool stet_hash_parse(struct stet_view text, struct stet_hash *out)
{
    uint64_t half[2] = {0, 0};

    if (text.len != 32)
        return false;
    for (size_t i = 0; i < 32; i++) {
        int digit = hex_digit(text.ptr[i]);

        if (digit < 0)
            return false;
        half[i / 16] = half[i / 16] << 4 | (unsigned)digit;
    }
    *out = (struct stet_hash){half[0], half[1]};
    return true;
}
