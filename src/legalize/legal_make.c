/* Makes attributes of StableHLO: numbers, words, arrays, records. */
#include "legalize/legal.h"

struct stet_attr *stet_legalize_attr(struct stet_legal *l, enum stet_attr_kind kind)
{
    struct stet_attr *a = STET_NEW(l->a, struct stet_attr);

    if (a)
        a->kind = (uint8_t)kind;
    return a;
}

void stet_legalize_put(struct stet_attrs *s, const char *name, const struct stet_attr *v)
{
    if (v && s->count < STET_LEGAL_ATTRS)
        s->at[s->count++] = (struct stet_named_attr){stet_view_str(name), v};
}

const struct stet_attr *stet_legalize_int(struct stet_legal *l, int64_t v, uint32_t width)
{
    struct stet_attr *a = stet_legalize_attr(l, STET_ATTR_INTEGER);

    if (a) {
        a->integer = v;
        a->of.type = stet_type_integer(l->a, width, STET_SIGNLESS);
    }
    return a;
}

const struct stet_attr *stet_legalize_bool(struct stet_legal *l, bool v)
{
    struct stet_attr *a = stet_legalize_attr(l, STET_ATTR_BOOL);

    if (a)
        a->integer = v;
    return a;
}

const struct stet_attr *stet_legalize_string(struct stet_legal *l, struct stet_view v)
{
    struct stet_attr *a = stet_legalize_attr(l, STET_ATTR_STRING);

    if (a)
        stet_attr_set_text(a, v);
    return a;
}

const struct stet_attr *stet_legalize_enum(struct stet_legal *l, const char *mnemonic,
                                           struct stet_view text)
{
    struct stet_attr *a = stet_legalize_attr(l, STET_ATTR_ENUM);

    if (a) {
        a->of.name = stet_build_name(l->a, STET_VIEW("stablehlo"), stet_view_str(mnemonic));
        stet_attr_set_text(a, text);
    }
    return a;
}

static struct stet_view little(struct stet_legal *l, const int64_t *v, size_t n, size_t width)
{
    char *to = stet_arena_raw(l->a, n + 1, width);

    if (!to)
        return (struct stet_view){0};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k++)
            to[i * width + k] = (char)((uint64_t)v[i] >> (8 * k));
    return stet_view_of(to, n * width);
}

const struct stet_attr *stet_legalize_dense(struct stet_legal *l, const int64_t *v, uint32_t n,
                                            uint32_t width)
{
    struct stet_attr *a = stet_legalize_attr(l, STET_ATTR_DENSE_ARRAY);

    if (a) {
        a->of.type = stet_type_integer(l->a, width, STET_SIGNLESS);
        stet_attr_set_bytes(a, little(l, v, n, width == 1 ? 1 : 8));
    }
    return a;
}

const struct stet_attr *stet_legalize_array(struct stet_legal *l, const struct stet_attr *ints)
{
    return stet_legalize_dense(l, ints ? ints->ints : NULL, ints ? ints->count : 0, 64);
}

const struct stet_attr *stet_legalize_matrix(struct stet_legal *l, const int64_t *v, uint32_t rows,
                                             uint32_t columns)
{
    struct stet_attr *a = stet_legalize_attr(l, STET_ATTR_DENSE);
    int64_t *dims = STET_NEW_ARRAY(l->a, int64_t, 2);
    size_t n = (size_t)rows * columns, same = 1;

    if (!a || !dims)
        return NULL;
    dims[0] = rows;
    dims[1] = columns;
    a->of.type = stet_type_tensor(l->a, stet_type_integer(l->a, 64, STET_SIGNLESS), dims, 2);
    while (same < n && v[same] == v[0])
        same++;
    a->splat = n && same >= n;
    stet_attr_set_bytes(a, little(l, v, a->splat ? 1 : n, 8));
    return a;
}

/* ---- records ---- */

const struct stet_attr *stet_legalize_record(struct stet_legal *l, const char *mnemonic,
                                             struct stet_named_attr *fields, uint32_t n)
{
    struct stet_attr *a = stet_legalize_attr(l, STET_ATTR_RECORD);

    if (a) {
        a->of.name = stet_build_name(l->a, STET_VIEW("stablehlo"), stet_view_str(mnemonic));
        a->named = fields;
        a->count = n;
    }
    return a;
}
