/* See intern.h. Open addressing; the table is at most half full. */
#include "base/intern.h"

#include "base/hash.h"
#include "base/vec.h"

enum { MOST = 1 << 29 };

void stet_intern_init(struct stet_intern *t, size_t cap)
{
    *t = (struct stet_intern){0};
    stet_arena_init(&t->arena, cap);
}

void stet_intern_borrow(struct stet_intern *t)
{
    *t = (struct stet_intern){.borrows = true};
}

void stet_intern_release(struct stet_intern *t)
{
    stet_arena_release(&t->arena);
    stet_mem_free(t->items);
    stet_mem_free(t->slots);
    *t = (struct stet_intern){0};
}

/* The slot of the text, or the empty slot where it belongs. The table must have slots. */
static struct stet_intern_slot *slot_of(const struct stet_intern *t, struct stet_view text,
                                        uint32_t hash)
{
    uint32_t at = hash & t->mask;

    while (t->slots[at].number &&
           (t->slots[at].hash != hash || !stet_view_eq(t->items[t->slots[at].number - 1], text)))
        at = (at + 1) & t->mask;
    return &t->slots[at];
}

static bool grow(struct stet_intern *t)
{
    struct stet_intern_slot *slots;
    uint32_t mask;

    if (!stet_vec_grow(&t->items, &t->room, t->count, 1, sizeof *t->items, MOST))
        return false;
    for (mask = 31; mask < 2 * t->room - 1;)
        mask = mask * 2 + 1;
    slots = stet_mem_calloc((size_t)mask + 1, sizeof *slots);
    if (!slots) {
        t->room = t->count; /* so that the next call tries again */
        return false;
    }
    for (uint32_t i = 0; t->slots && i <= t->mask; i++) {
        uint32_t at = t->slots[i].hash & mask;

        if (!t->slots[i].number)
            continue;
        while (slots[at].number)
            at = (at + 1) & mask;
        slots[at] = t->slots[i];
    }
    stet_mem_free(t->slots);
    t->slots = slots;
    t->mask = mask;
    return true;
}

uint32_t stet_intern_add(struct stet_intern *t, struct stet_view text)
{
    uint32_t hash = (uint32_t)stet_hash_bytes(text).lo;
    struct stet_intern_slot *slot = t->slots ? slot_of(t, text, hash) : NULL;

    if (slot && slot->number)
        return slot->number - 1;
    if (!slot || t->count == t->room) {
        if (!grow(t))
            goto full;
        slot = slot_of(t, text, hash);
    }
    if (!t->borrows) {
        text = stet_arena_copy(&t->arena, text);
        if (!text.ptr)
            goto full;
    }
    t->items[t->count++] = text;
    *slot = (struct stet_intern_slot){hash, t->count};
    return t->count - 1;
full:
    t->failed = true;
    return STET_INTERN_NONE;
}

uint32_t stet_intern_find(const struct stet_intern *t, struct stet_view text)
{
    const struct stet_intern_slot *slot =
        t->slots ? slot_of(t, text, (uint32_t)stet_hash_bytes(text).lo) : NULL;

    return slot && slot->number ? slot->number - 1 : STET_INTERN_NONE;
}

struct stet_view stet_intern_view(struct stet_intern *t, struct stet_view text)
{
    uint32_t at = text.len ? stet_intern_add(t, text) : STET_INTERN_NONE;

    return at == STET_INTERN_NONE ? stet_view_of("", 0) : t->items[at];
}
