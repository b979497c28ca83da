/* Values that differ where a library is around the user's function: arguments that it took apart,
 * what the user's line passed to it, and functions that were made anew. */
#include "base/path.h"
#include "explain/moved_internal.h"

/* ---- names ---- */

/* The path of the argument that holds the value: "args[0]" of "args[0].rate". */
static struct stet_view argument_of(struct stet_view path)
{
    size_t end = 0;

    if (stet_moved_argument(path, &end) < 0 && !stet_moved_keyword(path, &end).len)
        return path;
    return stet_view_of(path.ptr, end <= path.len ? end : path.len);
}

/* The user's variable that holds the argument itself: "self.model" for "args[0]". */
static const struct stet_journal_value *variable_of(const struct stet_held_table *t,
                                                    struct stet_view path)
{
    struct stet_journal_value like = {
        .kind = STET_VALUE_OBJECT, .scope = STET_SCOPE_PASSED, .path = path};
    const struct stet_journal_value *argument = stet_held_table_find(t, &like);

    for (uint32_t i = 0; argument && argument->address && i < t->count; i++)
        if (t->items[i].scope == STET_SCOPE_LOCAL && t->items[i].kind == argument->kind &&
            t->items[i].address == argument->address)
            return &t->items[i];
    return NULL;
}

/* A path below the argument, as one below the variable. */
static struct stet_view moved_to(struct stet_arena *arena, struct stet_view path,
                                 struct stet_view argument, struct stet_view variable)
{
    return path.len < argument.len
               ? path
               : stet_arena_printf(arena, "%.*s%.*s", STET_FMT(variable),
                                   (int)(path.len - argument.len), path.ptr + argument.len);
}

/* Names a difference by the user's variable that holds the argument, if there is one. */
static void name_passed(const struct stet_moved_pair *c, const struct stet_journal_value *v,
                        struct stet_moved *m)
{
    struct stet_view argument = argument_of(v->path);
    const struct stet_journal_value *held = variable_of(c->b, argument);

    m->path = stet_arena_copy(c->arena, m->anew && m->maker.len ? m->maker : v->path);
    if (!held)
        return;
    m->scope = held->scope;
    m->frame = held->frame;
    m->path = moved_to(c->arena, m->path, argument, held->path);
    m->maker = moved_to(c->arena, m->maker, argument, held->path);
}

/* ---- a library's function around the user's ---- */

bool stet_moved_wraps(const struct stet_held_table *t)
{
    const struct stet_journal_value like = {
        .kind = STET_VALUE_FUNCTION, .scope = STET_SCOPE_CALLED, .path = STET_VIEW("fun")};
    const struct stet_journal_value *fun = stet_held_table_find(t, &like);

    return fun && (fun->kind != STET_VALUE_FUNCTION || stet_path_is_installed(fun->file));
}

static bool is_array(const struct stet_journal_value *v)
{
    return v->scope == STET_SCOPE_ARGUMENT && v->kind == STET_VALUE_ARRAY;
}

/* How many of the first `count` values are arrays like this one, or any array for NULL? */
static uint32_t arrays_like(const struct stet_held_table *t, uint32_t count,
                            const struct stet_journal_value *like)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += is_array(&t->items[i]) && (!like || stet_held_table_same_array(&t->items[i], like));
    return n;
}

/* Adds an array that only one of the two calls has; `came`: the second. NULL: out of memory. */
static struct stet_moved *add_wrapped(struct stet_moved_pair *c, const struct stet_journal_value *v,
                                      bool came)
{
    struct stet_moved *m = stet_moved_add(c, came ? NULL : v, came ? v : NULL);

    if (m) {
        m->wrapped = true;
        m->static_argument = false;
    }
    return m;
}

/* Adds the arrays that `more` has more often than `less`. `came`: they are in the second call. */
static void arrays_beyond(struct stet_moved_pair *c, const struct stet_held_table *more,
                          const struct stet_held_table *less, bool came)
{
    for (uint32_t i = 0; i < more->count; i++) {
        const struct stet_journal_value *v = &more->items[i];

        if (is_array(v) && arrays_like(more, i + 1, v) > arrays_like(less, less->count, v) &&
            !add_wrapped(c, v, came))
            return;
    }
}

/* Does the dictionary that has this key have any array in the table? Otherwise it may not have been
 * read. */
static bool is_read_beside(const struct stet_held_table *t, const struct stet_journal_value *v)
{
    const char *key = memrchr(v->path.ptr, '[', v->path.len);
    size_t len = key ? (size_t)(key - v->path.ptr) : 0;

    for (uint32_t i = 0; key && i < t->count; i++)
        if (t->items[i].kind == STET_VALUE_ARRAY && t->items[i].scope == v->scope &&
            t->items[i].path.len > len && !memcmp(t->items[i].path.ptr, v->path.ptr, len + 2) &&
            !memchr(t->items[i].path.ptr + len + 1, '[', t->items[i].path.len - len - 1))
            return true;
    return false;
}

/* An array with a key, in an argument or in what the user's line passed. */
static bool is_keyed(const struct stet_journal_value *v)
{
    return (v->scope == STET_SCOPE_ARGUMENT || v->scope == STET_SCOPE_PASSED) &&
           v->kind == STET_VALUE_ARRAY && stet_view_ends(v->path, "']");
}

/* Adds the arrays that only `more` has, by keys, which unlike places do not shift. */
static void keyed_beyond(struct stet_moved_pair *c, const struct stet_held_table *more,
                         const struct stet_held_table *less, bool came)
{
    for (uint32_t i = 0; i < more->count; i++) {
        const struct stet_journal_value *v = &more->items[i];
        struct stet_moved *m;

        if (!is_keyed(v) || stet_held_table_find(less, v) ||
            (v->scope == STET_SCOPE_PASSED ? !is_read_beside(less, v)
                                           : stet_held_table_unread(less, v)))
            continue;
        m = add_wrapped(c, v, came);
        if (!m)
            return;
        if (v->scope == STET_SCOPE_PASSED)
            name_passed(c, v, m);
        m->scope = STET_SCOPE_ARGUMENT;
    }
}

/* What had the same two values: something that was passed, or a variable of the user's. */
static const struct stet_journal_value *held_as(const struct stet_moved_pair *c,
                                                const struct stet_journal_value *from,
                                                const struct stet_journal_value *to, bool passed)
{
    for (uint32_t i = 0; i < c->b->count; i++) {
        const struct stet_journal_value *v = &c->b->items[i], *was;

        if (v->scope == STET_SCOPE_ARGUMENT || v->scope == STET_SCOPE_CALLED ||
            (v->scope == STET_SCOPE_PASSED) != passed || !stet_held_table_same(v, to))
            continue;
        was = stet_held_table_find(c->a, v);
        if (was && stet_held_table_same(was, from))
            return v;
    }
    return NULL;
}

/* Names an argument that the library made of what was passed, or of a variable. */
static void name_wrapped(const struct stet_moved_pair *c, const struct stet_journal_value *from,
                         const struct stet_journal_value *to, struct stet_moved *m)
{
    enum stet_journal_value_scope scope = m->scope;
    const struct stet_journal_value *held = held_as(c, from, to, true);

    if (held)
        name_passed(c, held, m);
    else if ((held = held_as(c, from, to, false)))
        m->path = stet_arena_copy(c->arena, held->path);
    m->scope = scope;
}

/* Compares by place if no array came or went. A value that differs has the name of the user's
 * variable, if one held it. */
void stet_moved_wrapped(struct stet_moved_pair *c)
{
    uint32_t before = arrays_like(c->a, c->a->count, NULL);
    uint32_t now = arrays_like(c->b, c->b->count, NULL);

    if (before != now && !c->a->cut_count && !c->b->cut_count) {
        arrays_beyond(c, now > before ? c->b : c->a, now > before ? c->a : c->b, now > before);
        return;
    }
    keyed_beyond(c, c->b, c->a, true);
    keyed_beyond(c, c->a, c->b, false);
    for (uint32_t i = 0; i < c->b->count; i++) {
        const struct stet_journal_value *v = &c->b->items[i], *was;
        struct stet_moved *m;

        was = v->scope == STET_SCOPE_ARGUMENT ? stet_held_table_find(c->a, v) : NULL;
        if (!was || stet_held_table_same(was, v))
            continue;
        m = stet_moved_add(c, was, v);
        if (!m)
            return;
        m->wrapped = true;
        name_wrapped(c, was, v, m);
    }
}

/* ---- functions that were made anew ---- */

/* A static argument is compared by its own __eq__: a new object may be another value. A function in
 * an argument is never traced, and equals only itself. */
bool stet_moved_anew(const struct stet_moved_pair *c, const struct stet_journal_value *was,
                     const struct stet_journal_value *is)
{
    bool argument = is->scope == STET_SCOPE_ARGUMENT;

    if (was->address == is->address || !c->b->hashes ||
        (!argument && is->scope != STET_SCOPE_PASSED))
        return false;
    return is->kind == STET_VALUE_FUNCTION ||
           (is->kind == STET_VALUE_OBJECT && argument && stet_moved_is_static(c, is->path));
}

/* Is what is held here another function or container than before, of the same definition? */
static bool is_another(const struct stet_moved_pair *c, enum stet_journal_value_kind kind,
                       enum stet_journal_value_scope scope, struct stet_view path)
{
    const struct stet_journal_value like = {.kind = kind, .scope = scope, .path = path};
    const struct stet_journal_value *is = stet_held_table_find(c->b, &like);
    const struct stet_journal_value *was = is ? stet_held_table_find(c->a, &like) : NULL;

    return was && is->kind == kind && stet_held_table_same(was, is) && was->address != is->address;
}

/* The path before its last step. */
static struct stet_view holder_of(struct stet_view path)
{
    size_t n = path.len;

    while (n && path.ptr[n - 1] != '.' && path.ptr[n - 1] != '[')
        n--;
    return stet_view_of(path.ptr, n ? n - 1 : 0);
}

/* A named tuple of functions is made with them. */
struct stet_view stet_moved_maker(const struct stet_moved_pair *c,
                                  const struct stet_journal_value *v)
{
    struct stet_view made = {0}, holder;

    for (size_t i = 1; i <= v->path.len && !made.len && c->b->hashes; i++)
        if ((i == v->path.len || v->path.ptr[i] == '.' || v->path.ptr[i] == '[') &&
            is_another(c, STET_VALUE_FUNCTION, v->scope, stet_view_of(v->path.ptr, i)))
            made = stet_view_of(v->path.ptr, i);
    while (made.len && (holder = holder_of(made)).len &&
           is_another(c, STET_VALUE_CONTAINER, v->scope, holder))
        made = holder;
    return made;
}

bool stet_moved_made_with(const struct stet_moved_pair *c, const struct stet_journal_value *is)
{
    struct stet_view maker = stet_moved_maker(c, is);

    for (uint32_t i = 0; is->kind == STET_VALUE_FUNCTION && i < c->b->count; i++) {
        const struct stet_journal_value *v = &c->b->items[i];

        if (v == is)
            return false;
        if (v->kind == STET_VALUE_FUNCTION && v->scope == is->scope &&
            stet_view_eq(stet_moved_maker(c, v), maker))
            return true;
    }
    return false;
}

/* ---- what was passed ---- */

void stet_moved_passed(struct stet_moved_pair *c)
{
    for (uint32_t i = 0; i < c->b->count && c->count < STET_MOVED_MOST / 2; i++) {
        const struct stet_journal_value *v = &c->b->items[i], *was;
        struct stet_moved *m;

        was = v->scope == STET_SCOPE_PASSED ? stet_held_table_find(c->a, v) : NULL;
        if (!was || v->kind == STET_VALUE_ARRAY || was->kind == STET_VALUE_ARRAY ||
            v->kind == STET_VALUE_CONTAINER || was->kind == STET_VALUE_CONTAINER ||
            (stet_held_table_same(was, v) &&
             (!stet_moved_anew(c, was, v) || stet_moved_made_with(c, v))))
            continue;
        m = stet_moved_add(c, was, v);
        m->passed = true;
        name_passed(c, v, m);
    }
}
