/* See moved.h: values are matched by scope and path. */
#include "explain/moved.h"

#include "base/buf.h"
#include "base/path.h"
#include "fingerprint/scalar.h"

#include <stdio.h>
#include <string.h>

enum { VALUES_MOST = 1024, SLOTS = 4096, STATICS_MOST = 32, CUTS_MOST = 64 };

/* One compile's values, to be looked up. */
struct table {
    struct stet_journal_value *items;
    uint32_t count;
    uint16_t *slots; /* number + 1 by hash of scope and path */
    bool hashes;     /* its hashes compare with the other's */
    /* The paths of arguments that were not read to their end. */
    struct stet_view cuts[CUTS_MOST];
    size_t cut_count;
};

struct statics {
    int64_t numbers[STATICS_MOST];
    struct stet_view names[STATICS_MOST];
    size_t number_count, name_count;
};

static uint64_t hash_of(const struct stet_journal_value *v)
{
    return stet_hash_mix_u64(stet_hash_bytes(v->path), (uint64_t)v->scope).lo;
}

static const struct stet_journal_value *find(const struct table *t,
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

static void put(struct table *t, const struct stet_journal_value *v)
{
    uint64_t at = hash_of(v);

    while (t->slots[at % SLOTS])
        at++;
    t->items[t->count++] = *v;
    t->slots[at % SLOTS] = (uint16_t)t->count;
}

static bool is_cut(struct table *t, const struct stet_journal_value *v)
{
    size_t end = sizeof STET_VALUES_CUT - 1;

    if (v->kind != STET_VALUE_LENGTH || !stet_view_ends(v->path, STET_VALUES_CUT))
        return false;
    if (v->scope == STET_SCOPE_ARGUMENT && t->cut_count < CUTS_MOST)
        t->cuts[t->cut_count++] = stet_view_of(v->path.ptr, v->path.len - end);
    return true;
}

/* Is the argument missing in the table only because it was not read? */
static bool is_unread(const struct table *t, const struct stet_journal_value *v)
{
    for (size_t i = 0; i < t->cut_count; i++)
        if (v->path.len >= t->cuts[i].len &&
            memcmp(v->path.ptr, t->cuts[i].ptr, t->cuts[i].len) == 0)
            return true;
    return false;
}

/* If several frames have a name, the innermost counts. */
static bool fill(struct table *t, struct stet_arena *arena, struct stet_view bytes)
{
    struct stet_reader r;
    struct stet_journal_value v;

    t->items = STET_NEW_ARRAY(arena, struct stet_journal_value, VALUES_MOST);
    t->slots = STET_NEW_ARRAY(arena, uint16_t, SLOTS);
    if (!t->items || !t->slots)
        return false;
    memset(t->slots, 0, SLOTS * sizeof *t->slots);
    stet_reader_init(&r, bytes, 0);
    while (t->count < VALUES_MOST && stet_journal_values_next(&r, &v)) {
        if (v.kind == STET_VALUE_HIDDEN && !t->hashes)
            v.hash = 0;
        if (!is_cut(t, &v) && !find(t, &v))
            put(t, &v);
    }
    return true;
}

static bool same_array(const struct stet_journal_value *a, const struct stet_journal_value *b)
{
    return a->rank == b->rank && a->weak == b->weak && stet_view_eq(a->text, b->text) &&
           stet_view_eq(a->place, b->place) && stet_view_eq(a->type, b->type) &&
           memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

static bool same(const struct stet_journal_value *a, const struct stet_journal_value *b)
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
        return same_array(a, b);
    case STET_VALUE_FUNCTION:
        return a->line == b->line && stet_view_eq(a->file, b->file);
    case STET_VALUE_OBJECT:
        return stet_view_eq(a->type, b->type);
    }
    return true;
}

static void learn_statics(const struct table *t, struct statics *s)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct stet_journal_value *v = &t->items[i];

        if (v->scope != STET_SCOPE_CALLED)
            continue;
        if (v->kind == STET_VALUE_INT && s->number_count < STATICS_MOST &&
            stet_view_starts(v->path, "jit_info.static_argnums["))
            s->numbers[s->number_count++] = v->number;
        if (v->kind == STET_VALUE_WORD && s->name_count < STATICS_MOST &&
            stet_view_starts(v->path, "jit_info.static_argnames["))
            s->names[s->name_count++] = v->text;
    }
}

static bool is_static_name(const struct statics *s, struct stet_view name)
{
    for (size_t i = 0; i < s->name_count; i++)
        if (stet_view_eq(s->names[i], name))
            return true;
    return false;
}

static bool is_static_number(const struct statics *s, int64_t number)
{
    for (size_t i = 0; i < s->number_count; i++)
        if (s->numbers[i] == number)
            return true;
    return false;
}

/* The digits of args[N]…; -1 for anything else. `end` is after the bracket. */
static int64_t argument_number(struct stet_view path, size_t *end)
{
    int64_t n = 0;
    size_t i = 5;

    if (!stet_view_starts(path, "args["))
        return -1;
    for (; i < path.len && path.ptr[i] >= '0' && path.ptr[i] <= '9' && n < 100000; i++)
        n = n * 10 + (path.ptr[i] - '0');
    *end = i + 1;
    return i < path.len && path.ptr[i] == ']' ? n : -1;
}

/* The name in kwargs['name']…, or an empty view. */
static struct stet_view keyword(struct stet_view path, size_t *end)
{
    static const char open[] = "kwargs['";
    size_t n = sizeof open - 1;
    const char *quote;

    if (!stet_view_starts(path, open))
        return (struct stet_view){0};
    quote = memchr(path.ptr + n, '\'', path.len - n);
    if (!quote)
        return (struct stet_view){0};
    *end = (size_t)(quote - path.ptr) + 2;
    return stet_view_of(path.ptr + n, (size_t)(quote - path.ptr) - n);
}

static struct stet_view parameter(const struct table *t, int64_t number)
{
    char path[32];
    struct stet_journal_value like = {.kind = STET_VALUE_WORD, .scope = STET_SCOPE_CALLED};
    const struct stet_journal_value *v;
    int n = snprintf(path, sizeof path, "parameters[%lld]", (long long)number);

    like.path = stet_view_of(path, (size_t)n);
    v = find(t, &like);
    return v ? v->text : (struct stet_view){0};
}

/* Does jit take the argument of this path as static? *name is its parameter, and *end where the
 * path goes on behind that. */
static bool is_static(const struct table *t, const struct statics *s, struct stet_view path,
                      struct stet_view *name, size_t *end)
{
    int64_t number = argument_number(path, end);

    *name = number >= 0 ? parameter(t, number) : keyword(path, end);
    return (number >= 0 && is_static_number(s, number)) || (name->len && is_static_name(s, *name));
}

/* An argument by the name of its parameter, and whether jit takes it as static. */
static void name_argument(struct stet_arena *arena, const struct table *t, const struct statics *s,
                          struct stet_view path, struct stet_moved *m)
{
    size_t end = 0;
    struct stet_view name;

    m->static_argument = is_static(t, s, path, &name, &end);
    m->path = name.len && end <= path.len ? stet_arena_printf(arena, "%.*s%.*s", STET_FMT(name),
                                                              (int)(path.len - end), path.ptr + end)
                                          : stet_arena_copy(arena, path);
}

/* A static argument is compared by its own __eq__: a new object may be another value. */
static bool made_anew(const struct table *t, const struct statics *s,
                      const struct stet_journal_value *a, const struct stet_journal_value *b)
{
    struct stet_view name;
    size_t end = 0;

    return b->scope == STET_SCOPE_ARGUMENT && b->kind == STET_VALUE_OBJECT &&
           a->address != b->address && is_static(t, s, b->path, &name, &end);
}

static bool number_of(const struct stet_journal_value *v, double *out)
{
    if (!v || (v->kind != STET_VALUE_INT && v->kind != STET_VALUE_FLOAT))
        return false;
    *out = v->kind == STET_VALUE_INT ? (double)v->number : v->real;
    return true;
}

static struct stet_view words(struct stet_arena *arena, const struct stet_journal_value *v)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_view text;

    if (!v)
        return STET_VIEW("absent");
    stet_journal_value_text(&out, v);
    text = stet_arena_copy(arena, stet_buf_as_view(&out));
    stet_buf_release(&out);
    return text;
}

/* Does jit give the number the type of the array? */
static bool is_weak_form(const struct stet_journal_value *number,
                         const struct stet_journal_value *array)
{
    static const struct {
        enum stet_journal_value_kind kind;
        const char *type, *dtype;
        bool weak;
    } forms[] = {{STET_VALUE_INT, "int", "int", true},
                 {STET_VALUE_FLOAT, "float", "float", true},
                 {STET_VALUE_BOOL, "bool", "bool", false}};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (number->kind == forms[i].kind && stet_view_is(number->type, forms[i].type))
            return array->kind == STET_VALUE_ARRAY && !array->rank &&
                   array->weak == forms[i].weak && stet_view_starts(array->text, forms[i].dtype);
    return false;
}

static bool is_number(const struct stet_journal_value *v)
{
    return v->kind == STET_VALUE_INT || v->kind == STET_VALUE_FLOAT || v->kind == STET_VALUE_BOOL;
}

static void compare_types(const struct stet_journal_value *a, const struct stet_journal_value *b,
                          struct stet_moved *m)
{
    bool arrays = a->kind == STET_VALUE_ARRAY && b->kind == STET_VALUE_ARRAY;

    m->traced_alike = is_weak_form(a, b) || is_weak_form(b, a);
    if (arrays)
        m->typed = a->weak != b->weak || !stet_view_eq(a->text, b->text);
    else if (is_number(a) && is_number(b))
        m->typed = a->kind != b->kind || !stet_view_eq(a->type, b->type);
    else
        m->typed = (is_number(a) || is_number(b)) && m->array && !m->traced_alike;
}

static bool is_present(const struct stet_journal_value *v)
{
    return v && v->kind != STET_VALUE_NONE;
}

static void compare_sizes(const struct stet_journal_value *from,
                          const struct stet_journal_value *to, struct stet_moved *m)
{
    if (from->kind != STET_VALUE_ARRAY || to->kind != STET_VALUE_ARRAY || from->rank != to->rank)
        return;
    for (uint32_t i = 0; i < to->rank && !m->size_to; i++)
        if (from->dims[i] != to->dims[i]) {
            m->size_from = from->dims[i];
            m->size_to = to->dims[i];
        }
}

static void add(struct stet_arena *arena, const struct table *t, const struct statics *s,
                const struct stet_journal_value *from, const struct stet_journal_value *to,
                struct stet_moved *m)
{
    const struct stet_journal_value *any = to ? to : from;

    *m = (struct stet_moved){.scope = any->scope, .frame = any->frame};
    if (any->scope == STET_SCOPE_ARGUMENT)
        name_argument(arena, t, s, any->path, m);
    else
        m->path = stet_arena_copy(arena, any->path);
    m->from = words(arena, from);
    m->to = words(arena, to);
    m->numeric = number_of(from, &m->from_number) && number_of(to, &m->to_number);
    m->length = from && to && from->kind == STET_VALUE_LENGTH && to->kind == STET_VALUE_LENGTH;
    m->one_sided = !is_present(from) || !is_present(to);
    m->flag = from && to && from->kind == STET_VALUE_BOOL && to->kind == STET_VALUE_BOOL;
    if (m->flag) {
        m->from_number = (double)from->number;
        m->to_number = (double)to->number;
    }
    m->array = (from && from->kind == STET_VALUE_ARRAY) || (to && to->kind == STET_VALUE_ARRAY);
    if (from && to) {
        compare_types(from, to, m);
        compare_sizes(from, to, m);
    }
}

/* Scopes in the order in which they are worth reporting. */
static const enum stet_journal_value_scope scopes[] = {STET_SCOPE_ARGUMENT, STET_SCOPE_CLOSURE,
                                                       STET_SCOPE_GLOBAL, STET_SCOPE_LOCAL};

/* ---- a library's function around the user's ---- */

/* Is the function that the framework received a library's? Its arguments then have the library's
 * names, and their places shift when one comes or goes. */
static bool wraps(const struct table *t)
{
    const struct stet_journal_value like = {
        .kind = STET_VALUE_FUNCTION, .scope = STET_SCOPE_CALLED, .path = STET_VIEW("fun")};
    const struct stet_journal_value *fun = find(t, &like);

    return fun && (fun->kind != STET_VALUE_FUNCTION || stet_path_is_installed(fun->file));
}

static bool is_array(const struct stet_journal_value *v)
{
    return v->scope == STET_SCOPE_ARGUMENT && v->kind == STET_VALUE_ARRAY;
}

/* How many of the first `count` values are arrays like this one, or any array for NULL? */
static uint32_t arrays_like(const struct table *t, uint32_t count,
                            const struct stet_journal_value *like)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += is_array(&t->items[i]) && (!like || same_array(&t->items[i], like));
    return n;
}

/* Appends to `out` the arrays that `more` has more often than `less`, and returns the new count.
 * `came`: they are in the second call. */
static uint32_t arrays_beyond(struct stet_arena *arena, const struct table *more,
                              const struct table *less, bool came, struct stet_moved *out,
                              uint32_t n)
{
    const struct statics none = {0};

    for (uint32_t i = 0; i < more->count && n < STET_MOVED_MOST; i++) {
        const struct stet_journal_value *v = &more->items[i];

        if (!is_array(v) || arrays_like(more, i + 1, v) <= arrays_like(less, less->count, v))
            continue;
        add(arena, more, &none, came ? NULL : v, came ? v : NULL, &out[n]);
        out[n++].wrapped = true;
    }
    return n;
}

/* Appends the arrays that only `more` has, by keys, which unlike places do not shift. */
static uint32_t keyed_beyond(struct stet_arena *arena, const struct table *more,
                             const struct table *less, bool came, struct stet_moved *out,
                             uint32_t n)
{
    const struct statics none = {0};

    for (uint32_t i = 0; i < more->count && n < STET_MOVED_MOST; i++) {
        const struct stet_journal_value *v = &more->items[i];

        if (!is_array(v) || !stet_view_ends(v->path, "']") || find(less, v) || is_unread(less, v))
            continue;
        add(arena, more, &none, came ? NULL : v, came ? v : NULL, &out[n]);
        out[n++].wrapped = true;
    }
    return n;
}

/* A user's variable that held the same two values. */
static const struct stet_journal_value *held_as(const struct table *a, const struct table *b,
                                                const struct stet_journal_value *from,
                                                const struct stet_journal_value *to)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct stet_journal_value *v = &b->items[i], *was;

        if (v->scope == STET_SCOPE_ARGUMENT || v->scope == STET_SCOPE_CALLED || !same(v, to))
            continue;
        was = find(a, v);
        if (was && same(was, from))
            return v;
    }
    return NULL;
}

/* Compares by place if no array came or went. A value that differs has the name of the user's
 * variable, if one held it. */
static uint32_t compare_wrapped(struct stet_arena *arena, const struct table *a,
                                const struct table *b, const struct statics *statics,
                                struct stet_moved *out, uint32_t n)
{
    uint32_t before = arrays_like(a, a->count, NULL), now = arrays_like(b, b->count, NULL);

    if (before != now && !a->cut_count && !b->cut_count)
        return now > before ? arrays_beyond(arena, b, a, true, out, n)
                            : arrays_beyond(arena, a, b, false, out, n);
    n = keyed_beyond(arena, b, a, true, out, n);
    n = keyed_beyond(arena, a, b, false, out, n);
    for (uint32_t i = 0; i < b->count && n < STET_MOVED_MOST; i++) {
        const struct stet_journal_value *v = &b->items[i], *was, *held;

        was = v->scope == STET_SCOPE_ARGUMENT ? find(a, v) : NULL;
        if (!was || same(was, v))
            continue;
        add(arena, b, statics, was, v, &out[n]);
        held = held_as(a, b, was, v);
        if (held)
            out[n].path = stet_arena_copy(arena, held->path);
        out[n++].wrapped = true;
    }
    return n;
}

/* ---- all ---- */

/* How many axes the mesh has that jax.set_mesh or a `with` sets around the call. */
static uint32_t compare_mesh(const struct table *a, const struct table *b, struct stet_moved *out)
{
    const struct stet_journal_value like = {
        .kind = STET_VALUE_LENGTH, .scope = STET_SCOPE_CALLED, .path = STET_VIEW("mesh")};
    const struct stet_journal_value *was = find(a, &like), *is = find(b, &like);

    if (!was || !is || was->number == is->number)
        return 0;
    *out = (struct stet_moved){
        .scope = STET_SCOPE_CALLED,
        .path = STET_VIEW("the mesh that is set"),
        .from = was->number ? STET_VIEW("a mesh") : STET_VIEW("no mesh"),
        .to = is->number ? STET_VIEW("a mesh") : STET_VIEW("no mesh"),
    };
    return 1;
}

static uint32_t compare(struct stet_arena *arena, const struct table *a, const struct table *b,
                        bool library, struct stet_moved *out)
{
    struct statics statics = {0};
    bool wrapped = wraps(b);
    uint32_t n = compare_mesh(a, b, out);

    learn_statics(b, &statics);
    if (wrapped && !library)
        n = compare_wrapped(arena, a, b, &statics, out, n);
    for (size_t s = wrapped; s < sizeof scopes / sizeof *scopes; s++) {
        for (uint32_t i = 0; i < b->count && n < STET_MOVED_MOST; i++) {
            const struct stet_journal_value *v = &b->items[i], *was;

            if (v->scope != scopes[s])
                continue;
            was = find(a, v);
            /* Locals appear and disappear with the line that runs; only arguments do so for a
             * reason. */
            if (was ? !same(was, v) || made_anew(b, &statics, was, v)
                    : v->scope == STET_SCOPE_ARGUMENT && !is_unread(a, v))
                add(arena, b, &statics, was, v, &out[n++]);
        }
        for (uint32_t i = 0;
             scopes[s] == STET_SCOPE_ARGUMENT && i < a->count && n < STET_MOVED_MOST; i++)
            if (a->items[i].scope == STET_SCOPE_ARGUMENT && !find(b, &a->items[i]) &&
                !is_unread(b, &a->items[i]))
                add(arena, b, &statics, &a->items[i], NULL, &out[n++]);
    }
    return n;
}

uint32_t stet_explain_moved_make(struct stet_arena *arena, struct stet_view before,
                                 struct stet_view now, bool one_process,
                                 const struct stet_moved **out)
{
    struct stet_moved moved[STET_MOVED_MOST], *kept;
    struct stet_arena scratch;
    struct table a = {0}, b = {0};
    uint32_t n = 0;

    *out = NULL;
    if (!before.len || !now.len)
        return 0;
    stet_arena_init(&scratch, (size_t)4 << 20);
    a.hashes = b.hashes = one_process;
    if (fill(&a, &scratch, before) && fill(&b, &scratch, now))
        n = compare(arena, &a, &b, stet_journal_values_function(now).library, moved);
    stet_arena_release(&scratch);
    kept = n ? STET_NEW_ARRAY(arena, struct stet_moved, n) : NULL;
    if (!kept)
        return 0;
    memcpy(kept, moved, n * sizeof *kept);
    *out = kept;
    return n;
}

const struct stet_moved *stet_explain_moved_holder(const struct stet_moved *moved, uint32_t count,
                                                   const double *values)
{
    /* an optimizer subtracts its rate, and dropout keeps what it does not drop */
    static const double from[] = {0, 0, 1}, times[] = {1, -1, -1};

    for (int how = 0; how < 3; how++)
        for (uint32_t i = 0; values && i < count; i++)
            if (moved[i].numeric &&
                stet_scalar_close(moved[i].from_number, from[how] + times[how] * values[0], 1e-6) &&
                stet_scalar_close(moved[i].to_number, from[how] + times[how] * values[1], 1e-6))
                return &moved[i];
    return NULL;
}

const struct stet_moved *stet_explain_moved_maker(const struct stet_moved *moved, uint32_t count,
                                                  const double *values)
{
    for (int sum = 0; sum < 2; sum++)
        for (uint32_t i = 0; values && i < count; i++) {
            double a = moved[i].from_number, b = moved[i].to_number;

            if (!moved[i].numeric || a == b)
                continue;
            if (sum ? stet_scalar_close(values[0] + a, values[1] + b, 1e-5) ||
                          stet_scalar_close(values[0] - a, values[1] - b, 1e-5)
                    : a != 0 && b != 0 && values[0] != 0 &&
                          stet_scalar_close(values[0] * b, values[1] * a, 1e-5))
                return &moved[i];
        }
    return NULL;
}

struct stet_view stet_explain_moved_root(const struct stet_moved *m)
{
    return stet_view_word(m->path);
}

/* Is there a value of this path in the bytes that is another object of the same definition? */
static bool another_object(struct stet_view bytes, const struct stet_journal_value *like)
{
    struct stet_journal_value v;
    struct stet_reader r;

    stet_reader_init(&r, bytes, 0);
    while (stet_journal_values_next(&r, &v))
        if (v.kind == STET_VALUE_FUNCTION && v.scope == like->scope &&
            stet_view_eq(v.path, like->path))
            return same(&v, like) && v.address != like->address;
    return false;
}

bool stet_explain_made_anew(struct stet_view before, struct stet_view now)
{
    struct stet_journal_value v;
    struct stet_reader r;

    stet_reader_init(&r, now, 0);
    while (stet_journal_values_next(&r, &v))
        if (v.kind == STET_VALUE_FUNCTION && !stet_path_is_installed(v.file) &&
            (v.scope == STET_SCOPE_CALLED || v.scope == STET_SCOPE_ARGUMENT) &&
            another_object(before, &v))
            return true;
    return false;
}
