/* Counts how often each 64-bit key occurs in either of two programs. The table is allocated for the
 * maximum number of keys, so counting cannot fail. Not base/map.h: each key has two counts, and the
 * comparison of two programs looks keys up more often than anything else. */
#ifndef STET_EXPLAIN_OCCURRENCES_H
#define STET_EXPLAIN_OCCURRENCES_H

#include "base/mem.h"

#include <stdint.h>

struct stet_occurrence {
    uint64_t key;        /* 0 marks an empty slot */
    uint32_t in_a, in_b; /* how many, or the first of a chain (index + 1) */
};

struct stet_occurrences {
    struct stet_occurrence *slots;
    uint32_t mask;
};

/* False if memory runs out. Free the slots with stet_mem_free. */
static inline bool stet_occurrences_init(struct stet_occurrences *o, uint64_t most)
{
    uint64_t room = 16;

    while (room < most * 2)
        room *= 2;
    o->slots = stet_mem_calloc(room, sizeof *o->slots);
    o->mask = (uint32_t)(room - 1);
    return o->slots != NULL;
}

/* Of the key, whose lowest bit does not count. */
static inline struct stet_occurrence *stet_occurrence_of(struct stet_occurrences *o, uint64_t key)
{
    uint32_t slot;

    key |= 1;
    for (slot = (uint32_t)(key >> 20) & o->mask; o->slots[slot].key && o->slots[slot].key != key;)
        slot = (slot + 1) & o->mask;
    o->slots[slot].key = key;
    return &o->slots[slot];
}

#endif
