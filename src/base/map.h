/* A hash map from 64-bit keys to 32-bit numbers, mostly places in an array.
 *
 * Open addressing, at most half full; nothing is ever removed. A key may be any number: keys that
 * are themselves hashes and keys that count from zero spread equally well. A map keyed by something
 * larger stores its hash and compares the items: stet_map_add keeps several numbers of one key and
 * stet_map_next goes through them. A zeroed map is empty. */
#ifndef STET_BASE_MAP_H
#define STET_BASE_MAP_H

#include "base/hash.h"

#define STET_MAP_NONE UINT32_MAX

struct stet_map_slot {
    uint64_t key;
    uint32_t value; /* + 1; 0 marks an empty slot */
};

struct stet_map {
    struct stet_map_slot *slots;
    uint32_t count;
    uint32_t room; /* a power of two, or 0 */
    uint32_t cap;  /* keys; 0 means STET_MAP_DEFAULT_CAP */
    bool failed;   /* sticky: some number was not stored */
};

#define STET_MAP_DEFAULT_CAP ((uint32_t)1 << 30)

void stet_map_release(struct stet_map *m);

/* Stores the number, replacing the one that the key had. False (and `failed`) when memory runs out
 * or the map is at its cap. STET_MAP_NONE cannot be stored. */
bool stet_map_put(struct stet_map *m, uint64_t key, uint32_t value);
/* The same, but keeps the numbers that the key already has. */
bool stet_map_add(struct stet_map *m, uint64_t key, uint32_t value);

/* The number that was stored; STET_MAP_NONE if there is none. */
uint32_t stet_map_get(const struct stet_map *m, uint64_t key);
/* Returns each number of the key in turn, oldest first. Begin with *at = 0; STET_MAP_NONE at the
 * end. */
uint32_t stet_map_next(const struct stet_map *m, uint64_t key, uint32_t *at);
/* Replaces the number that stet_map_next has just returned. */
void stet_map_replace(struct stet_map *m, uint64_t key, uint32_t at, uint32_t value);

/* Keys for two numbers, and for text: 64 bits of a hash. */
static inline uint64_t stet_map_pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

static inline uint64_t stet_map_text(struct stet_view text)
{
    return stet_hash_bytes(text).lo;
}

#endif
