/* See arena_array.h. */
#include "base/arena_array.h"

#include <string.h>

void *stet_arena_grow(struct stet_arena *a, void *items, uint32_t count, uint32_t *room,
                      size_t size)
{
    uint32_t more = *room ? *room * 2 : 4;
    void *bigger;

    if (count < *room)
        return items;
    if (more < *room || !(bigger = stet_arena_alloc(a, more, size)))
        return NULL;
    if (count)
        memcpy(bigger, items, count * size);
    *room = more;
    return bigger;
}
