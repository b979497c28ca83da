/* See names.h. */
#include "report/names.h"

#include "base/hash.h"
#include "base/mem.h"

void stet_names_init(struct stet_names *n, size_t cap)
{
    *n = (struct stet_names){0};
    stet_arena_init(&n->arena, cap);
}

void stet_names_release(struct stet_names *n)
{
    stet_arena_release(&n->arena);
    stet_mem_free(n->items);
    stet_mem_free(n->slots);
}

/* The slot of the text, or the free one where it would be. Only with slots. */
static uint32_t *slot_of(const struct stet_names *n, struct stet_view text)
{
    uint32_t mask = 2 * n->room - 1, at = (uint32_t)stet_hash_bytes(text).lo & mask;

    while (n->slots[at] && !stet_view_eq(n->items[n->slots[at] - 1], text))
        at = (at + 1) & mask;
    return &n->slots[at];
}

static bool grow(struct stet_names *n)
{
    uint32_t room = n->room ? 2 * n->room : 256, *slots;
    struct stet_view *items;

    if (room > UINT32_MAX / 4)
        return false;
    items = stet_mem_resize(n->items, room, sizeof *items);
    if (!items)
        return false;
    n->items = items;
    slots = stet_mem_calloc(2 * (size_t)room, sizeof *slots);
    if (!slots)
        return false;
    stet_mem_free(n->slots);
    n->slots = slots;
    n->room = room;
    for (uint32_t i = 0; i < n->count; i++)
        *slot_of(n, n->items[i]) = i + 1;
    return true;
}

uint32_t stet_names_add(struct stet_names *n, struct stet_view text)
{
    uint32_t *slot;
    struct stet_view copy;

    if (n->count == n->room && !grow(n)) {
        n->failed = true;
        return STET_NO_NAME;
    }
    slot = slot_of(n, text);
    if (*slot)
        return *slot - 1;
    copy = stet_arena_copy(&n->arena, text);
    if (!copy.ptr) {
        n->failed = true;
        return STET_NO_NAME;
    }
    n->items[n->count++] = copy;
    *slot = n->count;
    return n->count - 1;
}

uint32_t stet_names_find(const struct stet_names *n, struct stet_view text)
{
    uint32_t at = n->room ? *slot_of(n, text) : 0;

    return at ? at - 1 : STET_NO_NAME;
}
