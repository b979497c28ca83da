/* See intern.h. */
#include "decode/shared_attrs.h"

#include "base/mem.h"

enum {
    LONGEST = 64, /* bytes or items; longer ones are rarely repeated */
    PROBES = 32,  /* bounds the time of a lookup; a quarter stays empty, few tables come near */
};

void stet_decode_shared_attrs_release(struct stet_shared_attrs *t)
{
    if (t->slots != t->first)
        stet_mem_free(t->slots);
    *t = (struct stet_shared_attrs){0};
}

/* Attributes that may still change (resources, locations used before their definition) are not
 * shared. */
static bool is_shared(const struct stet_attr *a)
{
    return a->kind != STET_ATTR_RESOURCE && a->kind != STET_ATTR_LOCATION && a->count <= LONGEST &&
           stet_attr_bytes(a).len <= LONGEST && stet_attr_text(a).len <= LONGEST;
}

/* Bytes of the list; 0 for a kind that has none. */
static size_t list_size(const struct stet_attr *a)
{
    switch (a->kind) {
    case STET_ATTR_DICT:
    case STET_ATTR_RECORD:
        return a->count * sizeof *a->named;
    case STET_ATTR_INTS:
        return a->count * sizeof *a->ints;
    case STET_ATTR_SYMBOL:
    case STET_ATTR_ARRAY:
    case STET_ATTR_SPARSE:
    case STET_ATTR_DENSE_STRINGS:
        return a->count * sizeof *a->items;
    default:
        return 0;
    }
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15;
    return h ^ h >> 29;
}

static uint64_t mix_view(uint64_t h, struct stet_view v)
{
    h = mix(h, v.len);
    for (size_t i = 0; i < v.len; i++)
        h = mix(h, (unsigned char)v.ptr[i]);
    return h;
}

static uint64_t hash(const struct stet_attr *a)
{
    uint64_t h = mix((uint64_t)a->kind << 1 | a->splat, a->count);

    h = mix(h, (uintptr_t)stet_attr_type(a));
    h = mix_view(h, stet_attr_text(a));
    h = mix_view(h, stet_attr_bytes(a));
    h = mix(h, (uint64_t)stet_attr_int(a));
    if (a->kind == STET_ATTR_DICT || a->kind == STET_ATTR_RECORD)
        for (uint32_t i = 0; i < a->count; i++)
            h = mix(mix(h, a->named[i].name.len), (uintptr_t)a->named[i].value);
    else
        h = mix_view(h, stet_view_of(a->ints, list_size(a)));
    return h;
}

static bool same_list(const struct stet_attr *a, const struct stet_attr *b)
{
    size_t size = list_size(a);

    if (a->kind != STET_ATTR_DICT && a->kind != STET_ATTR_RECORD)
        return !size || memcmp(a->items, b->items, size) == 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->named[i].value != b->named[i].value ||
            !stet_view_eq(a->named[i].name, b->named[i].name))
            return false;
    return true;
}

static bool same(const struct stet_attr *a, const struct stet_attr *b)
{
    return a->kind == b->kind && a->splat == b->splat && a->count == b->count &&
           stet_attr_type(a) == stet_attr_type(b) && stet_attr_int(a) == stet_attr_int(b) &&
           stet_view_eq(stet_attr_text(a), stet_attr_text(b)) &&
           stet_view_eq(stet_attr_dialect(a), stet_attr_dialect(b)) &&
           stet_view_eq(stet_attr_mnemonic(a), stet_attr_mnemonic(b)) &&
           stet_view_eq(stet_attr_bytes(a), stet_attr_bytes(b)) && same_list(a, b);
}

/* Its slot, or where it belongs; NULL if all such slots are taken. */
static const struct stet_attr **slot(const struct stet_shared_attrs *t,
                                     const struct stet_attr *like)
{
    uint64_t first = hash(like);

    for (unsigned i = 0; i < PROBES; i++) {
        const struct stet_attr **at = &t->slots[(first + i) & (t->room - 1)];

        if (!*at || same(*at, like))
            return at;
    }
    return NULL;
}

static bool grow(struct stet_shared_attrs *t)
{
    const struct stet_attr **old = t->slots, **at;
    uint32_t room = t->room;

    if (!old) {
        t->slots = t->first;
        t->room = sizeof t->first / sizeof *t->first;
        return true;
    }
    if (room > UINT32_MAX / 2)
        return false;
    at = stet_mem_calloc(2 * (size_t)room, sizeof *at);
    if (!at)
        return false;
    t->slots = at;
    t->room = 2 * room;
    t->count = 0;
    for (uint32_t i = 0; i < room; i++)
        if (old[i] && (at = slot(t, old[i])) != NULL) {
            *at = old[i];
            t->count++;
        }
    if (old != t->first)
        stet_mem_free(old);
    return true;
}

static const struct stet_attr *make(struct stet_arena *a, const struct stet_attr *like)
{
    size_t size = stet_attr_size(like->kind);
    struct stet_attr *made = stet_arena_alloc(a, 1, size);

    if (made)
        memcpy(made, like, size);
    return made;
}

static void give_back(struct stet_arena *a, const struct stet_attr *like)
{
    size_t size = list_size(like);
    uintptr_t list = size ? (uintptr_t)like->items : 0;

    if (size && list + size == (uintptr_t)a->next)
        a->next -= size;
}

const struct stet_attr *stet_decode_shared_attr(struct stet_shared_attrs *t, struct stet_arena *a,
                                                const struct stet_attr *like)
{
    const struct stet_attr **at;

    if (!is_shared(like) || (4 * (uint64_t)t->count >= 3 * (uint64_t)t->room && !grow(t)))
        return make(a, like);
    at = slot(t, like);
    if (!at)
        return make(a, like);
    if (*at) {
        give_back(a, like);
    } else {
        *at = make(a, like);
        t->count += *at != NULL;
    }
    return *at;
}
