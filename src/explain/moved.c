/* See moved.h: values are matched by scope and path. */
#include "base/buf.h"
#include "base/path.h"
#include "explain/moved_internal.h"
#include "fingerprint/scalar.h"

#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

static void learn_statics(struct stet_moved_pair *c)
{
    for (uint32_t i = 0; i < c->b->count; i++) {
        const struct stet_journal_value *v = &c->b->items[i];

        if (v->scope != STET_SCOPE_CALLED)
            continue;
        if (v->kind == STET_VALUE_INT && c->number_count < STET_MOVED_STATICS &&
            stet_view_starts(v->path, "jit_info.static_argnums["))
            c->static_numbers[c->number_count++] = v->number;
        if (v->kind == STET_VALUE_WORD && c->name_count < STET_MOVED_STATICS &&
            stet_view_starts(v->path, "jit_info.static_argnames["))
            c->static_names[c->name_count++] = v->text;
    }
}

static bool is_static_name(const struct stet_moved_pair *c, struct stet_view name)
{
    for (size_t i = 0; i < c->name_count; i++)
        if (stet_view_eq(c->static_names[i], name))
            return true;
    return false;
}

static bool is_static_number(const struct stet_moved_pair *c, int64_t number)
{
    for (size_t i = 0; i < c->number_count; i++)
        if (c->static_numbers[i] == number)
            return true;
    return false;
}

int64_t stet_moved_argument(struct stet_view path, size_t *end)
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

struct stet_view stet_moved_keyword(struct stet_view path, size_t *end)
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

static struct stet_view parameter(const struct stet_held_table *t, int64_t number)
{
    char path[32];
    struct stet_journal_value like = {.kind = STET_VALUE_WORD, .scope = STET_SCOPE_CALLED};
    const struct stet_journal_value *v;
    int n = snprintf(path, sizeof path, "parameters[%lld]", (long long)number);

    like.path = stet_view_of(path, (size_t)n);
    v = stet_held_table_find(t, &like);
    return v ? v->text : (struct stet_view){0};
}

/* Does jit take the argument of this path as static? *name is its parameter, and *end where the
 * path goes on behind that. */
static bool is_static(const struct stet_moved_pair *c, struct stet_view path,
                      struct stet_view *name, size_t *end)
{
    int64_t number = stet_moved_argument(path, end);

    *name = number >= 0 ? parameter(c->b, number) : stet_moved_keyword(path, end);
    return (number >= 0 && is_static_number(c, number)) || (name->len && is_static_name(c, *name));
}

bool stet_moved_is_static(const struct stet_moved_pair *c, struct stet_view path)
{
    struct stet_view name;
    size_t end = 0;

    return is_static(c, path, &name, &end);
}

/* The path of an argument by the name of its parameter. */
static struct stet_view name_argument(const struct stet_moved_pair *c, struct stet_view path)
{
    size_t end = 0;
    struct stet_view name;

    is_static(c, path, &name, &end);
    return name.len && end <= path.len ? stet_arena_printf(c->arena, "%.*s%.*s", STET_FMT(name),
                                                           (int)(path.len - end), path.ptr + end)
                                       : stet_arena_copy(c->arena, path);
}

/* ---- differences ---- */

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

static bool is_number(const struct stet_journal_value *v)
{
    return v->kind == STET_VALUE_INT || v->kind == STET_VALUE_FLOAT || v->kind == STET_VALUE_BOOL;
}

/* Does jit give the number the type of the array? NumPy's numbers have their own. */
static bool is_traced_as(const struct stet_journal_value *number,
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
    return is_number(number) && array->kind == STET_VALUE_ARRAY && !array->rank && !array->weak &&
           stet_view_eq(number->type, array->text);
}

static void compare_types(const struct stet_journal_value *a, const struct stet_journal_value *b,
                          struct stet_moved *m)
{
    bool arrays = a->kind == STET_VALUE_ARRAY && b->kind == STET_VALUE_ARRAY;

    m->traced_alike = is_traced_as(a, b) || is_traced_as(b, a);
    if (arrays)
        m->typed = a->weak != b->weak || !stet_view_eq(a->text, b->text);
    else if (is_number(a) && is_number(b))
        m->typed = a->kind != b->kind || !stet_view_eq(a->type, b->type);
    else
        m->typed = (is_number(a) || is_number(b)) && m->array && !m->traced_alike;
    m->settles = m->typed &&
                 (is_number(a) || (arrays && (a->weak || stet_view_is(a->type, "ndarray")))) &&
                 b->kind == STET_VALUE_ARRAY && !b->weak && b->place.len;
}

static bool is_present(const struct stet_journal_value *v)
{
    return v && v->kind != STET_VALUE_NONE;
}

static void compare_sizes(const struct stet_journal_value *from,
                          const struct stet_journal_value *to, struct stet_moved *m)
{
    if (from->kind != STET_VALUE_ARRAY || to->kind != STET_VALUE_ARRAY)
        return;
    m->ranked = from->rank != to->rank;
    for (uint32_t i = 0; i < to->rank && !m->ranked && !m->size_to; i++)
        if (from->dims[i] != to->dims[i]) {
            m->size_from = from->dims[i];
            m->size_to = to->dims[i];
        }
}

/* A path as the user writes it. */
static struct stet_view name_of(const struct stet_moved_pair *c,
                                enum stet_journal_value_scope scope, struct stet_view path)
{
    return scope == STET_SCOPE_ARGUMENT && path.len ? name_argument(c, path)
                                                    : stet_arena_copy(c->arena, path);
}

/* A function that was made anew stands for all that were made with it. */
static void compare_makers(const struct stet_moved_pair *c, const struct stet_journal_value *from,
                           const struct stet_journal_value *to, struct stet_moved *m)
{
    struct stet_view maker = stet_moved_maker(c, to);
    struct stet_journal_value like = {.kind = to->kind, .scope = to->scope, .path = maker};
    const struct stet_journal_value *made = maker.len ? stet_held_table_find(c->b, &like) : NULL;

    m->anew = from->address != to->address && stet_held_table_same(from, to);
    m->maker = name_of(c, to->scope, maker);
    if (made && made->kind == STET_VALUE_FUNCTION && !stet_path_is_installed(made->file)) {
        m->made_file = stet_arena_copy(c->arena, made->file);
        m->made_line = made->line;
    }
    if (!m->anew || !maker.len)
        return;
    m->path = m->maker;
    m->from = words(c->arena, stet_held_table_find(c->a, &like));
    m->to = words(c->arena, stet_held_table_find(c->b, &like));
}

struct stet_moved *stet_moved_add(struct stet_moved_pair *c, const struct stet_journal_value *from,
                                  const struct stet_journal_value *to)
{
    const struct stet_journal_value *any = to ? to : from;
    struct stet_moved *m = &c->out[c->count];

    if (c->count == STET_MOVED_MOST)
        return NULL;
    c->count++;
    *m = (struct stet_moved){.scope = any->scope, .frame = any->frame};
    m->path = name_of(c, any->scope, any->path);
    m->static_argument = any->scope == STET_SCOPE_ARGUMENT && stet_moved_is_static(c, any->path);
    m->from = words(c->arena, from);
    m->to = words(c->arena, to);
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
        compare_makers(c, from, to, m);
    }
    return m;
}

/* ---- all ---- */

/* How many axes the mesh has that jax.set_mesh or a `with` sets around the call. */
static void compare_mesh(struct stet_moved_pair *c)
{
    const struct stet_journal_value like = {
        .kind = STET_VALUE_LENGTH, .scope = STET_SCOPE_CALLED, .path = STET_VIEW("mesh")};
    const struct stet_journal_value *was = stet_held_table_find(c->a, &like),
                                    *is = stet_held_table_find(c->b, &like);

    if (!was || !is || was->number == is->number)
        return;
    c->out[c->count++] = (struct stet_moved){
        .scope = STET_SCOPE_CALLED,
        .path = STET_VIEW("the mesh that is set"),
        .from = was->number ? STET_VIEW("a mesh") : STET_VIEW("no mesh"),
        .to = is->number ? STET_VIEW("a mesh") : STET_VIEW("no mesh"),
    };
}

static bool is_listed(const struct stet_moved_pair *c, const struct stet_journal_value *v)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->out[i].passed && c->out[i].scope == v->scope &&
            stet_view_eq(c->out[i].path, v->path))
            return true;
    return false;
}

static void compare_one(struct stet_moved_pair *c, const struct stet_journal_value *v)
{
    const struct stet_journal_value *was = stet_held_table_find(c->a, v);
    /* Locals appear and disappear with the line that runs; only arguments do so for a reason. */
    bool came = !was && v->scope == STET_SCOPE_ARGUMENT && !stet_held_table_unread(c->a, v);

    if (v->kind == STET_VALUE_CONTAINER || (was && was->kind == STET_VALUE_CONTAINER) ||
        is_listed(c, v))
        return;
    if (came || (was && !stet_held_table_same(was, v)) ||
        (was && stet_moved_anew(c, was, v) && !stet_moved_made_with(c, v)))
        stet_moved_add(c, was, v);
}

static void compare_scope(struct stet_moved_pair *c, enum stet_journal_value_scope scope)
{
    for (uint32_t i = 0; i < c->b->count; i++)
        if (c->b->items[i].scope == scope)
            compare_one(c, &c->b->items[i]);
    for (uint32_t i = 0; scope == STET_SCOPE_ARGUMENT && i < c->a->count; i++) {
        const struct stet_journal_value *v = &c->a->items[i];

        if (v->scope == scope && v->kind != STET_VALUE_CONTAINER &&
            !stet_held_table_find(c->b, v) && !stet_held_table_unread(c->b, v))
            stet_moved_add(c, v, NULL);
    }
}

static void compare(struct stet_moved_pair *c, bool library)
{
    bool wrapped = stet_moved_wraps(c->b);

    compare_mesh(c);
    learn_statics(c);
    if (wrapped && !library)
        stet_moved_wrapped(c);
    stet_moved_passed(c);
    if (!wrapped)
        compare_scope(c, STET_SCOPE_ARGUMENT);
    compare_scope(c, STET_SCOPE_CLOSURE);
    compare_scope(c, STET_SCOPE_GLOBAL);
    compare_scope(c, STET_SCOPE_LOCAL);
}

uint32_t stet_explain_moved_make(struct stet_arena *arena, struct stet_view before,
                                 struct stet_view now, bool one_process,
                                 const struct stet_moved **out)
{
    struct stet_held_table a = {.hashes = one_process}, b = {.hashes = one_process};
    struct stet_moved_pair c = {.arena = arena, .a = &a, .b = &b};
    struct stet_moved *kept;
    struct stet_arena scratch;

    *out = NULL;
    if (!before.len || !now.len)
        return 0;
    stet_arena_init(&scratch, (size_t)16 << 20);
    if (stet_held_table_fill(&a, &scratch, before) && stet_held_table_fill(&b, &scratch, now))
        compare(&c, stet_journal_values_function(now).library);
    stet_arena_release(&scratch);
    kept = c.count ? STET_NEW_ARRAY(arena, struct stet_moved, c.count) : NULL;
    if (!kept)
        return 0;
    memcpy(kept, c.out, c.count * sizeof *kept);
    *out = kept;
    return c.count;
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

struct stet_view stet_explain_moved_said(struct stet_arena *arena, const struct stet_moved *m)
{
    const char *dot = m->maker.len && m->path.len > m->maker.len
                          ? memrchr(m->path.ptr + m->maker.len, '.', m->path.len - m->maker.len)
                          : NULL;

    return dot ? stet_arena_printf(arena, "%.*s in %.*s",
                                   (int)(m->path.ptr + m->path.len - dot - 1), dot + 1,
                                   STET_FMT(m->maker))
               : m->path;
}

const struct stet_moved *stet_explain_moved_basis(const struct stet_moved *moved, uint32_t count,
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
    struct stet_journal_values_reader r;
    struct stet_journal_value v;

    stet_journal_values_open(&r, bytes);
    while (stet_journal_values_next(&r, &v))
        if (v.kind == STET_VALUE_FUNCTION && v.scope == like->scope &&
            stet_view_eq(v.path, like->path))
            return stet_held_table_same(&v, like) && v.address != like->address;
    return false;
}

bool stet_explain_made_anew(struct stet_view before, struct stet_view now)
{
    struct stet_journal_values_reader r;
    struct stet_journal_value v;

    stet_journal_values_open(&r, now);
    while (stet_journal_values_next(&r, &v))
        if (v.kind == STET_VALUE_FUNCTION && !stet_path_is_installed(v.file) &&
            (v.scope == STET_SCOPE_CALLED || v.scope == STET_SCOPE_ARGUMENT) &&
            another_object(before, &v))
            return true;
    return false;
}

struct stet_view stet_explain_list_of(struct stet_view path)
{
    size_t i = path.len ? path.len - 1 : 0;

    if (!i || path.ptr[i] != ']')
        return (struct stet_view){0};
    while (i && path.ptr[i - 1] >= '0' && path.ptr[i - 1] <= '9')
        i--;
    return i && i < path.len - 1 && path.ptr[i - 1] == '[' ? stet_view_of(path.ptr, i - 1)
                                                           : (struct stet_view){0};
}
