/* One hash table for every kind of name in MLIR text, in scopes that end in the order of a stack.
 * base/map.h is not used: nothing can be removed from it, and here the end of a scope removes its
 * names. */
#include "base/mem.h"
#include "decode/mlir/mlir_text.h"

#define NONE UINT32_MAX
enum { FIRST_ROOM = 64 };

void stet_mlir_names_release(struct mlir_names *t)
{
    if (t->room > FIRST_ROOM)
        stet_mem_free(t->entries);
    *t = (struct mlir_names){0};
}

static uint32_t hash_name(enum mlir_space space, uint32_t scope, struct stet_view key)
{
    return (uint32_t)stet_hash_seeded(key, ((uint64_t)scope << 8) | space).lo;
}

static void chain(struct mlir_names *t, uint32_t i)
{
    uint32_t *bucket = &t->buckets[t->entries[i].hash & (t->room - 1)];

    t->entries[i].next = *bucket;
    *bucket = i;
}

/* Allocates entries and, after them, the buckets; the first ones are in the temporary arena. */
static struct mlir_name *larger(struct mlir *p, uint32_t room)
{
    struct mlir_names *t = &p->names;
    size_t each = sizeof(*t->entries) + sizeof(*t->buckets);

    return t->room ? stet_mem_outgrow(t->entries, t->room, FIRST_ROOM, room, each)
                   : stet_arena_raw(&p->temporary, room, each);
}

static bool grow(struct mlir *p)
{
    struct mlir_names *t = &p->names;
    uint32_t room = t->room ? t->room * 2 : FIRST_ROOM;
    struct mlir_name *entries = room > UINT32_MAX / 2 ? NULL : larger(p, room);

    if (!entries)
        return false;
    t->entries = entries;
    t->buckets = (uint32_t *)(entries + room);
    t->room = room;
    memset(t->buckets, 0xff, room * sizeof(*t->buckets));
    for (uint32_t i = 0; i < t->count; i++) /* oldest first: the newest heads its chain */
        chain(t, i);
    return true;
}

static struct mlir_name *find(struct mlir_names *t, uint32_t hash, enum mlir_space space,
                              uint32_t scope, struct stet_view key)
{
    if (t->room == 0)
        return NULL;
    for (uint32_t i = t->buckets[hash & (t->room - 1)]; i != NONE; i = t->entries[i].next) {
        struct mlir_name *n = &t->entries[i];

        if (n->hash == hash && n->space == space && n->scope == scope && stet_view_eq(n->key, key))
            return n;
    }
    return NULL;
}

struct mlir_name *stet_mlir_find(struct mlir *p, enum mlir_space space, uint32_t scope,
                                 struct stet_view key)
{
    return find(&p->names, hash_name(space, scope, key), space, scope, key);
}

struct mlir_name *stet_mlir_name(struct mlir *p, enum mlir_space space, uint32_t scope,
                                 struct stet_view key, bool *made)
{
    struct mlir_names *t = &p->names;
    uint32_t hash = hash_name(space, scope, key);
    struct mlir_name *n = find(t, hash, space, scope, key);

    *made = false;
    if (n)
        return n;
    if (t->count == t->room && !grow(p)) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    n = &t->entries[t->count];
    *n = (struct mlir_name){.key = key, .space = space, .scope = scope, .hash = hash};
    chain(t, t->count++);
    *made = true;
    return n;
}

/* Aliases, types and resources belong to the whole text, undefined values to the isolated
 * region. */
static bool outlives_region(const struct mlir_name *n)
{
    if (n->space == MLIR_VALUES)
        return !((const struct mlir_value *)n->value)->values;
    return n->space != MLIR_BLOCKS;
}

void stet_mlir_names_drop(struct mlir *p, uint32_t mark)
{
    struct mlir_names *t = &p->names;
    uint32_t kept = mark;

    for (uint32_t i = t->count; i-- > mark;)
        t->buckets[t->entries[i].hash & (t->room - 1)] = t->entries[i].next;
    for (uint32_t i = mark; i < t->count; i++)
        if (t->entries[i].value && outlives_region(&t->entries[i]))
            t->entries[kept++] = t->entries[i];
    t->count = kept;
    for (uint32_t i = mark; i < kept; i++)
        chain(t, i);
}
