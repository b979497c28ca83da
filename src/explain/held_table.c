/* See held_table.h. */
#include "explain/held_table.h"

#include <string.h>

enum { SLOTS = 2 * STET_HELD_LIST_MOST };

static uint64_t hash_of(const struct stet_journal_value *v)
{
    return stet_hash_mix_u64(stet_hash_bytes(v->path), (uint64_t)v->scope).lo;
}

const struct stet_journal_value *stet_held_table_find(const struct stet_held_table *t,
                                                      const struct stet_journal_value *like)
{
    for (uint64_t at = hash_of(like);; at++) {
        uint16_t n = t->slots[at % SLOTS];

        if (!n)
            return NULL;
        if (t->items[n - 1].scope == like->scope && stet_view_eq(t->items[n - 1].path, like->path))
            return &t->items[n - 1];
    }
}

/* The items are a part of the list that is read: nothing is overwritten that is still to come. */
static void put(struct stet_held_table *t, const struct stet_journal_value *v)
{
    uint64_t at = hash_of(v);

    while (t->slots[at % SLOTS])
        at++;
    t->items[t->count++] = *v;
    t->slots[at % SLOTS] = (uint16_t)t->count;
}

static bool is_cut(struct stet_held_table *t, const struct stet_journal_value *v)
{
    size_t end = sizeof STET_VALUES_CUT - 1;

    if (v->kind != STET_VALUE_LENGTH || !stet_view_ends(v->path, STET_VALUES_CUT))
        return false;
    if (v->scope == STET_SCOPE_ARGUMENT && t->cut_count < STET_HELD_TABLE_CUTS)
        t->cuts[t->cut_count++] = stet_view_of(v->path.ptr, v->path.len - end);
    return true;
}

bool stet_held_table_unread(const struct stet_held_table *t, const struct stet_journal_value *v)
{
    for (size_t i = 0; i < t->cut_count; i++)
        if (v->path.len >= t->cuts[i].len &&
            memcmp(v->path.ptr, t->cuts[i].ptr, t->cuts[i].len) == 0)
            return true;
    return false;
}

bool stet_held_table_fill(struct stet_held_table *t, struct stet_arena *arena,
                          struct stet_view bytes)
{
    struct stet_held_list list;

    t->slots = STET_NEW_ARRAY(arena, uint16_t, SLOTS);
    if (!t->slots || !stet_held_list_read(&list, arena, bytes))
        return false;
    t->items = list.items;
    for (uint32_t i = 0; i < list.count; i++) {
        struct stet_journal_value v = list.items[i];

        if (v.kind == STET_VALUE_HIDDEN && !t->hashes)
            v.hash = 0;
        if (!is_cut(t, &v) && !stet_held_table_find(t, &v))
            put(t, &v);
    }
    return true;
}

bool stet_held_table_same_array(const struct stet_journal_value *a,
                                const struct stet_journal_value *b)
{
    return a->rank == b->rank && a->weak == b->weak && stet_view_eq(a->text, b->text) &&
           stet_view_eq(a->place, b->place) && stet_view_eq(a->type, b->type) &&
           memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

bool stet_held_table_same(const struct stet_journal_value *a, const struct stet_journal_value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case STET_VALUE_NONE:
        return true;
    case STET_VALUE_BOOL:
    case STET_VALUE_INT:
    case STET_VALUE_LENGTH:
        return a->number == b->number && stet_view_eq(a->type, b->type);
    case STET_VALUE_FLOAT:
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*): as bits, for NaN and -0 */
        return memcmp(&a->real, &b->real, sizeof a->real) == 0 && stet_view_eq(a->type, b->type);
    case STET_VALUE_WORD:
        return stet_view_eq(a->text, b->text);
    case STET_VALUE_HIDDEN:
        return a->hash == b->hash;
    case STET_VALUE_ARRAY:
        return stet_held_table_same_array(a, b);
    case STET_VALUE_FUNCTION:
        return a->line == b->line && stet_view_eq(a->file, b->file);
    case STET_VALUE_OBJECT:
    case STET_VALUE_CONTAINER:
        return stet_view_eq(a->type, b->type);
    }
    return true;
}
