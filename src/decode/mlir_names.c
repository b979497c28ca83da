/* One hash table for every kind of name in MLIR text, in scopes that end in the order of a stack.
 */
#include "base/mem.h"
#include "decode/mlir_text.h"

#define NONE UINT32_MAX
enum { FIRST_ROOM = 64 };

void stet_mlir_names_release(struct mlir_names *t)
{
    stet_mem_free(t->entries);
    stet_mem_free(t->buckets);
    *t = (struct mlir_names){0};
}

static uint32_t hash_name(enum mlir_space space, uint32_t scope, struct stet_view key)
{
    return (uint32_t)stet_hash_seeded(key, ((uint64_t)scope << 8) | space).lo;
}

static void chain(struct mlir_names *t, uint32_t i)
{
    uint32_t *bucket = &t->buckets[t->entries[i].hash & (t->bucket_count - 1)];

    t->entries[i].next = *bucket;
    *bucket = i;
}

static bool grow(struct mlir_names *t)
{
    uint32_t room = t->room ? t->room * 2 : FIRST_ROOM, *buckets;
    struct mlir_name *entries;

    if (room > UINT32_MAX / 2)
        return false;
    entries = stet_mem_resize(t->entries, room, sizeof(*entries));
    if (!entries)
        return false;
    t->entries = entries;
    buckets = stet_mem_resize(t->buckets, room, sizeof(*buckets));
    if (!buckets)
        return false;
    t->buckets = buckets;
    t->room = t->bucket_count = room;
    memset(buckets, 0xff, room * sizeof(*buckets));
    for (uint32_t i = 0; i < t->count; i++) /* oldest first: the newest heads its chain */
        chain(t, i);
    return true;
}

static struct mlir_name *find(struct mlir_names *t, uint32_t hash, enum mlir_space space,
                              uint32_t scope, struct stet_view key)
{
    if (t->bucket_count == 0)
        return NULL;
    for (uint32_t i = t->buckets[hash & (t->bucket_count - 1)]; i != NONE; i = t->entries[i].next) {
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
    if (t->count == t->room && !grow(t)) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    n = &t->entries[t->count];
    *n = (struct mlir_name){.key = key, .space = space, .scope = scope, .hash = hash};
    chain(t, t->count++);
    *made = true;
    return n;
}

/* Aliases, types and resources belong to the whole text, open values to the isolated region. */
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
        t->buckets[t->entries[i].hash & (t->bucket_count - 1)] = t->entries[i].next;
    for (uint32_t i = mark; i < t->count; i++)
        if (t->entries[i].value && outlives_region(&t->entries[i]))
            t->entries[kept++] = t->entries[i];
    t->count = kept;
    for (uint32_t i = mark; i < kept; i++)
        chain(t, i);
}
