/* The map behind the history's indexes. */
#include "explain/history_internal.h"

#include "base/mem.h"

static bool grow(struct stet_map *m)
{
    uint32_t room = m->room ? m->room * 2 : 64;
    struct stet_map_slot *slots = stet_mem_calloc(room, sizeof *slots);

    if (!slots)
        return false;
    for (uint32_t i = 0; i < m->room; i++) {
        uint32_t at = (uint32_t)m->slots[i].key & (room - 1);

        if (!m->slots[i].value)
            continue;
        while (slots[at].value)
            at = (at + 1) & (room - 1);
        slots[at] = m->slots[i];
    }
    stet_mem_free(m->slots);
    m->slots = slots;
    m->room = room;
    return true;
}

bool stet_map_put(struct stet_map *m, uint64_t key, uint32_t value)
{
    uint32_t at;

    if (m->used * 2 >= m->room && !grow(m))
        return false;
    for (at = (uint32_t)key & (m->room - 1); m->slots[at].value; at = (at + 1) & (m->room - 1))
        if (m->slots[at].key == key)
            break;
    m->used += !m->slots[at].value;
    m->slots[at] = (struct stet_map_slot){key, value + 1};
    return true;
}

uint32_t stet_map_get(const struct stet_map *m, uint64_t key)
{
    if (!m->room)
        return STET_NONE;
    for (uint32_t at = (uint32_t)key & (m->room - 1); m->slots[at].value;
         at = (at + 1) & (m->room - 1))
        if (m->slots[at].key == key)
            return m->slots[at].value - 1;
    return STET_NONE;
}

void stet_map_release(struct stet_map *m)
{
    stet_mem_free(m->slots);
    *m = (struct stet_map){0};
}
