/* An object that the caller makes anew: a library's wrapper may take it as static. */
#include "explain/held_list.h"
#include "explain/moved.h"

static bool is_word(struct stet_view path)
{
    return path.len && stet_view_word(path).len == path.len;
}

/* Is there an array in the object? Then it is data, which is new each time. */
static bool holds_array(const struct stet_held_list *l, const struct stet_journal_value *object)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->items[i].kind == STET_VALUE_ARRAY && l->items[i].scope == object->scope &&
            stet_held_list_below(l->items[i].path, object->path))
            return true;
    return false;
}

static bool was_another(const struct stet_held_list *before, const struct stet_journal_value *is)
{
    const struct stet_journal_value *was = stet_held_list_like(before, is);

    return was && was->kind == STET_VALUE_OBJECT && stet_view_eq(was->type, is->type) &&
           was->address != is->address;
}

static bool find(const struct stet_held_list *before, const struct stet_held_list *now,
                 uint32_t *at, struct stet_view *variable)
{
    while (*at < now->count) {
        const struct stet_journal_value *v = &now->items[(*at)++];

        if (v->scope == STET_SCOPE_LOCAL && v->kind == STET_VALUE_OBJECT && v->address &&
            is_word(v->path) && was_another(before, v) && !holds_array(now, v)) {
            *variable = v->path;
            return true;
        }
    }
    return false;
}

bool stet_explain_new_object(struct stet_arena *arena, struct stet_view before,
                             struct stet_view now, uint32_t *at, struct stet_view *variable)
{
    struct stet_held_list was, is;
    struct stet_arena scratch;
    bool found;

    stet_arena_init(&scratch, (size_t)16 << 20);
    found = stet_held_list_read(&was, &scratch, before) &&
            stet_held_list_read(&is, &scratch, now) && find(&was, &is, at, variable);
    if (found)
        *variable = stet_arena_copy(arena, *variable);
    stet_arena_release(&scratch);
    return found;
}
