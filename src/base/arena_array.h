/* Arrays that grow inside an arena: the smaller copies stay there until it is released. */
#ifndef STET_BASE_ARENA_ARRAY_H
#define STET_BASE_ARENA_ARRAY_H

#include "base/arena.h"

/* An array with room for one more item: `items`, or twice as large a copy. NULL when out of
 * memory. */
void *stet_arena_grow(struct stet_arena *a, void *items, uint32_t count, uint32_t *room,
                      size_t size);

#endif
