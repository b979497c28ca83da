/* XXH3 is compiled only into this file and hash_wide.c, so that no symbol of it is visible
 * elsewhere. */
#include "base/cpu.h"
#include "base/hash_wide.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdio.h>

static struct stet_hash from_xxh(XXH128_hash_t h)
{
    return (struct stet_hash){h.high64, h.low64};
}

struct stet_hash stet_hash_seeded(struct stet_view bytes, uint64_t seed)
{
    if (bytes.len > XXH3_MIDSIZE_MAX &&
        stet_cpu_has(STET_CPU_AVX2)) /* shorter inputs do not use vectors */
        return stet_hash_wide(bytes, seed);
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

/* XXH3 needs 64-byte alignment, which malloc does not guarantee. */
static XXH3_state_t *state_of(const struct stet_hasher *h)
{
    return (XXH3_state_t *)(((uintptr_t)h->state + 63) & ~(uintptr_t)63);
}

_Static_assert(sizeof(XXH3_state_t) + 63 <= sizeof(struct stet_hasher), "room for XXH3's state");

void stet_hasher_init(struct stet_hasher *h)
{
    XXH3_INITSTATE(state_of(h));
    XXH3_128bits_reset(state_of(h));
}

void stet_hasher_add(struct stet_hasher *h, const void *bytes, size_t n)
{
    if (n && stet_cpu_has(STET_CPU_AVX2))
        stet_hash_wide_add(state_of(h), bytes, n);
    else if (n)
        XXH3_128bits_update(state_of(h), bytes, n);
}

struct stet_hash stet_hasher_digest(const struct stet_hasher *h)
{
    return from_xxh(XXH3_128bits_digest(state_of(h)));
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
