/* See held_list.h. */
#include "explain/held_list.h"

#include <string.h>

enum { SLOTS = 2 * STET_HELD_LIST_MOST, FRAMES_MOST = 128 };

struct filling {
    struct stet_held_list *list;
    struct stet_arena *arena;
    uint16_t *by_address; /* number + 1 of the first value with fields that has the address */
    uint64_t *holders; /* of the values that have others below them: their scope, frame and path */
};

bool stet_held_list_below(struct stet_view path, struct stet_view whole)
{
    return path.len > whole.len && (path.ptr[whole.len] == '.' || path.ptr[whole.len] == '[') &&
           memcmp(path.ptr, whole.ptr, whole.len) == 0;
}

const struct stet_journal_value *stet_held_list_like(const struct stet_held_list *l,
                                                     const struct stet_journal_value *like)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->items[i].scope == like->scope && stet_view_eq(l->items[i].path, like->path))
            return &l->items[i];
    return NULL;
}

static bool is_held(const struct stet_journal_value *v)
{
    return (v->kind == STET_VALUE_OBJECT || v->kind == STET_VALUE_CONTAINER ||
            v->kind == STET_VALUE_FUNCTION) &&
           v->address;
}

static uint64_t place_of(const struct stet_journal_value *v, size_t length)
{
    return stet_hash_mix_u64(stet_hash_bytes(stet_view_of(v->path.ptr, length)),
                             (uint64_t)v->scope << 32 | v->frame)
               .lo |
           1;
}

/* Is the place in the set? It is put there if `add`. */
static bool among_holders(struct filling *f, uint64_t place, bool add)
{
    uint64_t at = place;

    for (size_t n = 0; n < SLOTS; n++, at++) {
        if (f->holders[at % SLOTS] == place)
            return true;
        if (f->holders[at % SLOTS])
            continue;
        if (add)
            f->holders[at % SLOTS] = place;
        return false;
    }
    return false;
}

static void note_holders(struct filling *f, const struct stet_journal_value *v)
{
    for (size_t n = v->path.len; n-- > 1;)
        if ((v->path.ptr[n] == '.' || v->path.ptr[n] == '[') &&
            among_holders(f, place_of(v, n), true))
            return; /* and so are those before it */
}

/* The slot of an address: of a value that has it, or the empty one. */
static uint16_t *slot_of(struct filling *f, uint64_t address)
{
    uint64_t at = stet_hash_mix_u64(stet_hash_bytes(STET_VIEW("at")), address).lo;

    for (;; at++) {
        uint16_t *slot = &f->by_address[at % SLOTS];

        if (!*slot || f->list->items[*slot - 1].address == address)
            return slot;
    }
}

static void copy_below(struct filling *f, uint32_t count, const struct stet_journal_value *from,
                       const struct stet_journal_value *to)
{
    struct stet_held_list *l = f->list;

    for (uint32_t i = 0; i < count && l->count < STET_HELD_LIST_MOST; i++) {
        struct stet_journal_value v = l->items[i];

        if (v.scope != from->scope || v.frame != from->frame ||
            !stet_held_list_below(v.path, from->path))
            continue;
        v.path = stet_arena_printf(f->arena, "%.*s%.*s", STET_FMT(to->path),
                                   (int)(v.path.len - from->path.len), v.path.ptr + from->path.len);
        v.scope = to->scope;
        v.frame = to->frame;
        if (v.path.len)
            l->items[l->count++] = v;
    }
}

/* Gives the values that are held in several places their fields in each of them. */
static void expand(struct filling *f)
{
    struct stet_held_list *l = f->list;
    uint32_t count = l->count;

    for (uint32_t i = 0; i < count; i++)
        note_holders(f, &l->items[i]);
    for (uint32_t i = 0; i < count; i++) {
        const struct stet_journal_value *v = &l->items[i];

        if (is_held(v) && among_holders(f, place_of(v, v->path.len), false)) {
            uint16_t *slot = slot_of(f, v->address);

            *slot = *slot ? *slot : (uint16_t)(i + 1);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct stet_journal_value *v = &l->items[i];
        uint16_t *slot = is_held(v) ? slot_of(f, v->address) : NULL;

        if (slot && *slot && !among_holders(f, place_of(v, v->path.len), false))
            copy_below(f, count, &l->items[*slot - 1], v);
    }
}

static uint32_t frame_of(const struct stet_journal_value *v)
{
    return v->frame < FRAMES_MOST ? v->frame : FRAMES_MOST - 1;
}

/* Orders the values by frame. */
static bool order(struct filling *f)
{
    struct stet_held_list *l = f->list;
    struct stet_journal_value *items =
        stet_arena_raw(f->arena, l->count + 1, sizeof(struct stet_journal_value));
    uint32_t at[FRAMES_MOST + 1] = {0};

    if (!items)
        return false;
    for (uint32_t i = 0; i < l->count; i++)
        at[frame_of(&l->items[i]) + 1]++;
    for (size_t i = 1; i <= FRAMES_MOST; i++)
        at[i] += at[i - 1];
    for (uint32_t i = 0; i < l->count; i++)
        items[at[frame_of(&l->items[i])]++] = l->items[i];
    l->items = items;
    return true;
}

bool stet_held_list_read(struct stet_held_list *l, struct stet_arena *arena, struct stet_view bytes)
{
    struct filling f = {.list = l, .arena = arena};
    struct stet_journal_values_reader r;
    struct stet_journal_value v;

    l->count = 0;
    l->items = stet_arena_raw(arena, STET_HELD_LIST_MOST, sizeof(struct stet_journal_value));
    f.by_address = STET_NEW_ARRAY(arena, uint16_t, SLOTS);
    f.holders = STET_NEW_ARRAY(arena, uint64_t, SLOTS);
    if (!l->items || !f.by_address || !f.holders)
        return false;
    stet_journal_values_open(&r, bytes);
    while (l->count < STET_HELD_LIST_MOST && stet_journal_values_next(&r, &v)) {
        v.path = stet_arena_copy(arena, v.path);
        if (!v.path.ptr)
            return false;
        l->items[l->count++] = v;
    }
    expand(&f);
    return order(&f);
}
