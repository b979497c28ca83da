/* or, and, not, ( ), and items: group.name [op value]. A recursive descent with a depth limit. */
#include "bundle/detector.h"

#include "base/buf.h"
#include "bundle/matrix.h"

#include <ctype.h>

enum { DEPTH_MAX = 32, WORD_MAX = 256 };

struct parser {
    struct stet_arena *arena;
    const char *p, *end;
    const char *what; /* the first failure */
    const char *at;
    int depth;
};

static const struct stet_detector *parse_or(struct parser *x);

static void *fail(struct parser *x, const char *what)
{
    if (!x->what) {
        x->what = what;
        x->at = x->p;
    }
    return NULL;
}

static void skip(struct parser *x)
{
    while (x->p < x->end && isspace((unsigned char)*x->p))
        x->p++;
}

/* A word ends at a space or a parenthesis. */
static struct stet_view peek(struct parser *x)
{
    const char *e;

    skip(x);
    for (e = x->p; e < x->end && !isspace((unsigned char)*e) && *e != '(' && *e != ')'; e++)
        continue;
    return stet_view_of(x->p, (size_t)(e - x->p));
}

/* A bare word or "text in quotes"; NULL if there is none. */
static const char *text(struct parser *x)
{
    struct stet_view word = peek(x);

    if (x->p < x->end && *x->p == '"') {
        const char *close = memchr(x->p + 1, '"', (size_t)(x->end - x->p) - 1);

        if (!close)
            return fail(x, "a quote that does not end");
        word = stet_view_of(x->p + 1, (size_t)(close - x->p) - 1);
        x->p = close + 1;
    } else {
        x->p += word.len;
    }
    if (!word.len || word.len > WORD_MAX)
        return fail(x, word.len ? "a word of more than 256 characters" : "a word is missing");
    return stet_arena_copy(x->arena, word).ptr;
}

/* group.name, where the name may be in quotes. */
static bool item(struct parser *x, struct stet_item_ref *out)
{
    struct stet_view word = peek(x);
    const char *dot = word.len ? memchr(word.ptr, '.', word.len) : NULL;
    struct stet_view group = stet_view_of(word.ptr, dot ? (size_t)(dot - word.ptr) : 0);

    for (enum stet_group g = 0; g < STET_GROUPS; g++)
        if (stet_view_is(group, stet_group_name(g))) {
            out->group = g;
            x->p = dot + 1;
            out->pattern = text(x);
            return out->pattern != NULL;
        }
    fail(x, "expected group.name, such as package.jax or env.XLA_FLAGS");
    return false;
}

static bool take_op(struct parser *x, enum stet_detector_op *op)
{
    static const struct {
        const char *text;
        enum stet_detector_op op;
    } ops[] = {{"=", STET_OP_EQ}, {"!=", STET_OP_NE}, {"<", STET_OP_LT},   {"<=", STET_OP_LE},
               {">", STET_OP_GT}, {">=", STET_OP_GE}, {"~", STET_OP_LIKE}, {"^", STET_OP_SAME}};
    struct stet_view word = peek(x);

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (stet_view_is(word, ops[i].text)) {
            *op = ops[i].op;
            x->p += word.len;
            return true;
        }
    return false;
}

static struct stet_detector *node(struct parser *x, enum stet_detector_kind kind)
{
    struct stet_detector *d = STET_NEW(x->arena, struct stet_detector);

    if (!d)
        return fail(x, "out of memory");
    d->kind = kind;
    return d;
}

static const struct stet_detector *parse_item(struct parser *x)
{
    struct stet_detector *d = node(x, STET_DETECT_ITEM);

    if (!d || !item(x, &d->item))
        return NULL;
    if (!take_op(x, &d->op))
        return d;
    skip(x);
    if (x->p < x->end && *x->p == '@') {
        x->p++;
        return item(x, &d->other) ? d : NULL;
    }
    d->value = text(x);
    return d->value ? d : NULL;
}

static const struct stet_detector *parse_not(struct parser *x)
{
    const struct stet_detector *inner;
    struct stet_detector *d;

    if (++x->depth > DEPTH_MAX)
        return fail(x, "nested too deeply");
    skip(x);
    if (stet_view_is(peek(x), "not")) {
        x->p += 3;
        inner = parse_not(x);
        d = inner ? node(x, STET_DETECT_NOT) : NULL;
        if (d)
            d->a = inner;
        inner = d;
    } else if (x->p < x->end && *x->p == '(') {
        x->p++;
        inner = parse_or(x);
        skip(x);
        if (inner && (x->p == x->end || *x->p != ')'))
            inner = fail(x, "expected )");
        else if (inner)
            x->p++;
    } else {
        inner = parse_item(x);
    }
    x->depth--;
    return inner;
}

static const struct stet_detector *chain(struct parser *x, const char *word,
                                         enum stet_detector_kind kind,
                                         const struct stet_detector *(*next)(struct parser *))
{
    const struct stet_detector *a = next(x);

    while (a && stet_view_is(peek(x), word)) {
        struct stet_detector *d = node(x, kind);

        x->p += strlen(word);
        if (!d)
            return NULL;
        d->a = a;
        d->b = next(x);
        a = d->b ? d : NULL;
    }
    return a;
}

static const struct stet_detector *parse_and(struct parser *x)
{
    return chain(x, "and", STET_DETECT_AND, parse_not);
}

static const struct stet_detector *parse_or(struct parser *x)
{
    return chain(x, "or", STET_DETECT_OR, parse_and);
}

const struct stet_detector *stet_detector_parse(struct stet_arena *arena, struct stet_view source,
                                                const char **at, const char **what)
{
    struct parser x = {.arena = arena, .p = source.ptr, .end = source.ptr + source.len};
    const struct stet_detector *d = parse_or(&x);

    skip(&x);
    if (d && x.p < x.end)
        d = fail(&x, "expected and, or, or the end");
    if (!d) {
        *at = x.at;
        *what = x.what ? x.what : "out of memory";
    }
    return d;
}

static bool same_minor(struct stet_view a, struct stet_view b)
{
    for (int dots = 0; a.len && b.len && *a.ptr == *b.ptr; a.ptr++, b.ptr++, a.len--, b.len--)
        if (*a.ptr == '.' && ++dots == 2)
            return true;
    return (!a.len || !isdigit((unsigned char)*a.ptr)) &&
           (!b.len || !isdigit((unsigned char)*b.ptr));
}

static bool stands(enum stet_detector_op op, struct stet_view is, struct stet_view wanted,
                   const char *pattern)
{
    switch (op) {
    case STET_OP_PRESENT:
        return true;
    case STET_OP_EQ:
        return stet_view_eq(is, wanted);
    case STET_OP_NE:
        return !stet_view_eq(is, wanted);
    case STET_OP_LT:
        return stet_version_cmp(is, wanted) < 0;
    case STET_OP_LE:
        return stet_version_cmp(is, wanted) <= 0;
    case STET_OP_GT:
        return stet_version_cmp(is, wanted) > 0;
    case STET_OP_GE:
        return stet_version_cmp(is, wanted) >= 0;
    case STET_OP_LIKE:
        return pattern && stet_glob(pattern, is);
    case STET_OP_SAME:
        return same_minor(is, wanted);
    }
    return false;
}

static bool refers(const struct stet_item_ref *ref, const struct stet_item *i)
{
    bool group = ref->group == i->group ||
                 (ref->group == STET_GROUP_package &&
                  (i->group == STET_GROUP_compiler || i->group == STET_GROUP_other));

    return group && stet_glob(ref->pattern, i->name);
}

static bool item_fits(const struct stet_detector *d, const struct stet_inventory *v,
                      struct stet_buf *why)
{
    struct stet_view wanted = stet_view_str(d->value);
    const struct stet_item *other = NULL;

    for (size_t i = 0; d->other.pattern && i < v->count && !other; i++)
        if (refers(&d->other, &v->items[i]))
            other = &v->items[i];
    if (d->other.pattern && !other)
        return false;
    if (other)
        wanted = other->value;
    for (size_t i = 0; i < v->count; i++) {
        const struct stet_item *one = &v->items[i];

        if (!refers(&d->item, one) || !stands(d->op, one->value, wanted, d->value))
            continue;
        if (why) {
            stet_buf_printf(why, "%s%s %.*s%s%.*s", why->len ? "; " : "",
                            stet_group_name(one->group), STET_FMT(one->name),
                            one->value.len ? " = " : "",
                            (int)(one->value.len < 120 ? one->value.len : 120), one->value.ptr);
            if (other)
                stet_buf_printf(why, "; %s %.*s = %.*s", stet_group_name(other->group),
                                STET_FMT(other->name), STET_FMT(other->value));
        }
        return true;
    }
    return false;
}

bool stet_detector_fits(const struct stet_detector *d, const struct stet_inventory *v,
                        struct stet_buf *why)
{
    switch (d->kind) {
    case STET_DETECT_AND:
        return stet_detector_fits(d->a, v, why) && stet_detector_fits(d->b, v, why);
    case STET_DETECT_OR:
        return stet_detector_fits(d->a, v, why) || stet_detector_fits(d->b, v, why);
    case STET_DETECT_NOT:
        return !stet_detector_fits(d->a, v, NULL);
    case STET_DETECT_ITEM:
        return item_fits(d, v, why);
    }
    return false;
}
