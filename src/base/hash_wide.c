/* XXH3 for wide registers. On x86-64 this file alone is compiled for processors with 256-bit
 * registers, so it must not be called on others; hash.c checks the processor first. */
#include "base/hash_wide.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct stet_hash stet_hash_wide(struct stet_view bytes, uint64_t seed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(bytes.ptr, bytes.len, seed);

    return (struct stet_hash){h.high64, h.low64};
}

void stet_hash_wide_add(void *state, const void *bytes, size_t n)
{
    XXH3_128bits_update(state, bytes, n);
}
