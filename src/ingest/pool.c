/* Open addressing, never more than half full. */
#include "ingest/pool.h"

#include "base/hash.h"
#include "base/mem.h"

void stet_pool_init(struct stet_pool *p, size_t cap)
{
    *p = (struct stet_pool){0};
    stet_arena_init(&p->arena, cap);
}

void stet_pool_release(struct stet_pool *p)
{
    stet_mem_free(p->slots);
    stet_arena_release(&p->arena);
    *p = (struct stet_pool){0};
}

static bool grow(struct stet_pool *p)
{
    size_t room = p->room ? p->room * 2 : 256;
    struct stet_pool_slot *slots = stet_mem_calloc(room, sizeof *slots);

    if (!slots)
        return false;
    for (size_t i = 0; i < p->room; i++) {
        size_t at = p->slots[i].hash & (room - 1);

        if (!p->slots[i].ptr)
            continue;
        while (slots[at].ptr)
            at = (at + 1) & (room - 1);
        slots[at] = p->slots[i];
    }
    stet_mem_free(p->slots);
    p->slots = slots;
    p->room = room;
    return true;
}

struct stet_view stet_pool_add(struct stet_pool *p, struct stet_view text)
{
    struct stet_view copy = {"", 0};
    uint32_t hash;
    size_t at;

    if (!text.len || text.len > UINT32_MAX)
        return copy;
    if (p->count * 2 >= p->room && !grow(p)) {
        p->failed = true;
        return copy;
    }
    hash = (uint32_t)stet_hash_bytes(text).lo;
    for (at = hash & (p->room - 1); p->slots[at].ptr; at = (at + 1) & (p->room - 1)) {
        struct stet_pool_slot *s = &p->slots[at];

        if (s->hash == hash && s->len == text.len && !memcmp(s->ptr, text.ptr, text.len))
            return stet_view_of(s->ptr, s->len);
    }
    copy = stet_arena_copy(&p->arena, text);
    if (!copy.ptr) {
        p->failed = true;
        return stet_view_of("", 0);
    }
    p->slots[at] = (struct stet_pool_slot){copy.ptr, (uint32_t)copy.len, hash};
    p->count++;
    return copy;
}
