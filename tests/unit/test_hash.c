/* The hashes are XXH3's, whatever registers the processor has and in whatever pieces bytes come. */
#include "test.h"

#include "base/hash.h"

/* As xxhash has it where nothing is known of the processor; hash.c may take wider registers. */
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MOST = 5000 };

static unsigned char bytes[MOST];

static void fill(void)
{
    uint32_t state = 1;

    for (size_t i = 0; i < MOST; i++) {
        state = state * 1664525 + 1013904223;
        bytes[i] = (unsigned char)(state >> 24);
    }
}

static bool is(struct stet_hash got, XXH128_hash_t wanted)
{
    return got.hi == wanted.high64 && got.lo == wanted.low64;
}

TEST(every_length_is_xxh3)
{
    fill();
    for (size_t n = 0; n <= MOST; n += n < 1100 ? 1 : 37)
        EXPECT(is(stet_hash_seeded(stet_view_of((char *)bytes, n), n),
                  XXH3_128bits_withSeed(bytes, n, n)));
}

TEST(pieces_make_the_hash_of_the_whole)
{
    fill();
    for (size_t piece = 1; piece < MOST; piece += piece < 300 ? 7 : 501) {
        struct stet_hasher h;

        stet_hasher_init(&h);
        for (size_t at = 0; at < MOST; at += piece)
            stet_hasher_add(&h, bytes + at, MOST - at < piece ? MOST - at : piece);
        EXPECT(is(stet_hasher_digest(&h), XXH3_128bits(bytes, MOST)));
    }
}
