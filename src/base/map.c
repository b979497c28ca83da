/* See map.h. */
#include "base/map.h"

#include "base/mem.h"

enum { FIRST = 64 };

/* Fibonacci hashing: the high bits of the product depend on all bits of the key. */
static uint32_t slot_of(uint64_t key, uint32_t room)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);
}

void stet_map_release(struct stet_map *m)
{
    stet_mem_free(m->slots);
    *m = (struct stet_map){.cap = m->cap};
}

static bool grow(struct stet_map *m)
{
    uint32_t room = m->room ? m->room * 2 : FIRST;
    struct stet_map_slot *slots = room ? stet_mem_calloc(room, sizeof *slots) : NULL;
    uint32_t start = 0;

    if (!slots)
        return false;
    /* Starts at an empty slot, so that several numbers of one key keep their order. */
    while (m->room && m->slots[start].value)
        start++;
    for (uint32_t i = 0; i < m->room; i++) {
        const struct stet_map_slot *old = &m->slots[(start + i) & (m->room - 1)];
        uint32_t at = slot_of(old->key, room);

        if (!old->value)
            continue;
        while (slots[at].value)
            at = (at + 1) & (room - 1);
        slots[at] = *old;
    }
    stet_mem_free(m->slots);
    m->slots = slots;
    m->room = room;
    return true;
}

/* Room for one more key. */
static bool ready(struct stet_map *m)
{
    if (m->count >= (m->cap ? m->cap : STET_MAP_DEFAULT_CAP) ||
        (m->count >= m->room / 2 && !grow(m)))
        m->failed = true;
    return !m->failed;
}

/* The slot of the key, or the empty slot where it belongs. The map must have room. */
static uint32_t find(const struct stet_map *m, uint64_t key)
{
    uint32_t at = slot_of(key, m->room);

    while (m->slots[at].value && m->slots[at].key != key)
        at = (at + 1) & (m->room - 1);
    return at;
}

bool stet_map_put(struct stet_map *m, uint64_t key, uint32_t value)
{
    uint32_t at = m->room ? find(m, key) : 0;

    if (value == STET_MAP_NONE)
        return false;
    if (!m->room || !m->slots[at].value) {
        if (!ready(m))
            return false;
        at = find(m, key);
        m->count++;
    }
    m->slots[at] = (struct stet_map_slot){key, value + 1};
    return true;
}

bool stet_map_add(struct stet_map *m, uint64_t key, uint32_t value)
{
    uint32_t at;

    if (value == STET_MAP_NONE || !ready(m))
        return false;
    for (at = slot_of(key, m->room); m->slots[at].value;)
        at = (at + 1) & (m->room - 1);
    m->slots[at] = (struct stet_map_slot){key, value + 1};
    m->count++;
    return true;
}

uint32_t stet_map_get(const struct stet_map *m, uint64_t key)
{
    uint32_t at = 0;

    return stet_map_next(m, key, &at);
}

uint32_t stet_map_next(const struct stet_map *m, uint64_t key, uint32_t *at)
{
    uint32_t first = m->room ? slot_of(key, m->room) : 0;

    for (; *at < m->room; ++*at) {
        const struct stet_map_slot *s = &m->slots[(first + *at) & (m->room - 1)];

        if (!s->value)
            break;
        if (s->key == key) {
            ++*at;
            return s->value - 1;
        }
    }
    return STET_MAP_NONE;
}

void stet_map_replace(struct stet_map *m, uint64_t key, uint32_t at, uint32_t value)
{
    m->slots[(slot_of(key, m->room) + at - 1) & (m->room - 1)].value = value + 1;
}
