/* The part of hash.c that needs wide registers, implemented in hash_wide.c. Only hash.c includes
 * it. */
#ifndef STET_BASE_HASH_WIDE_H
#define STET_BASE_HASH_WIDE_H

#include "base/hash.h"

struct stet_hash stet_hash_wide(struct stet_view bytes, uint64_t seed);
/* `state` is XXH3's. */
void stet_hash_wide_add(void *state, const void *bytes, size_t n);

#endif
