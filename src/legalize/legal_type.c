/* Converts types and locations of HLO to StableHLO. */
#include "legalize/legal.h"

static const void *recall(const struct stet_legal *l, const void *from)
{
    size_t slot = ((uintptr_t)from >> 4) % STET_LEGAL_CACHE;

    return l->cache[slot].from == from ? l->cache[slot].to : NULL;
}

static const void *remember(struct stet_legal *l, const void *from, const void *to)
{
    size_t slot = ((uintptr_t)from >> 4) % STET_LEGAL_CACHE;

    l->cache[slot].from = from;
    l->cache[slot].to = to;
    return to;
}

/* #stablehlo.bounds<?, 10> beside the bounds themselves. */
static const struct stet_attr *bounds_attr(struct stet_legal *l, const struct stet_type *t)
{
    struct stet_attr *record = STET_NEW(l->a, struct stet_attr);
    struct stet_attr *list = STET_NEW(l->a, struct stet_attr);
    struct stet_named_attr *field = STET_NEW(l->a, struct stet_named_attr);

    if (!record || !list || !field)
        return NULL;
    list->kind = STET_ATTR_INTS;
    list->ints = stet_type_rest(t)->bounds;
    list->count = t->rank;
    field->name = STET_VIEW("bounds");
    field->value = list;
    record->kind = STET_ATTR_RECORD;
    record->of.name = stet_build_name(l->a, STET_VIEW("stablehlo"), STET_VIEW("bounds"));
    record->named = field;
    record->count = 1;
    return record;
}

const struct stet_type *stet_legalize_type(struct stet_legal *l, const struct stet_type *t)
{
    const struct stet_type *known = recall(l, t);
    struct stet_type_rest rest = *stet_type_rest(t);
    struct stet_type *made;

    if (known)
        return known;
    if (t->kind == STET_TYPE_TOKEN)
        return &stet_type_token;
    if (t->kind != STET_TYPE_TENSOR || (!rest.layout && !rest.bounds))
        return t;
    made = STET_NEW(l->a, struct stet_type);
    if (!made)
        return NULL;
    *made = *t;
    rest.layout = NULL;
    rest.layout_extra = (struct stet_view){0};
    made->rest = NULL; /* a tensor of the usual kind has none */
    if (rest.bounds)
        rest.encoding = bounds_attr(l, t);
    if ((rest.bounds || rest.encoding) && !stet_build_rest(l->a, made, &rest))
        return NULL;
    return remember(l, t, made);
}

uint32_t stet_legalize_leaf_count(const struct stet_type *t)
{
    uint32_t n = 0;

    if (t->kind != STET_TYPE_TUPLE)
        return 1;
    for (uint32_t i = 0; i < t->member_count; i++)
        n += stet_legalize_leaf_count(t->members[i]);
    return n;
}

uint32_t stet_legalize_leaf_types(struct stet_legal *l, const struct stet_type *t,
                                  const struct stet_type **out)
{
    uint32_t n = 0;

    if (t->kind != STET_TYPE_TUPLE) {
        *out = stet_legalize_type(l, t);
        return 1;
    }
    for (uint32_t i = 0; i < t->member_count; i++)
        n += stet_legalize_leaf_types(l, t->members[i], out + n);
    return n;
}

/* ---- locations ---- */

static const struct stet_loc *loc_of(struct stet_legal *l, enum stet_loc_kind kind,
                                     struct stet_view text, const struct stet_loc *first,
                                     const struct stet_loc *second)
{
    struct stet_loc *made = STET_NEW(l->a, struct stet_loc);
    const struct stet_loc **parts = stet_arena_alloc(l->a, 2, sizeof *parts);

    if (!made || !parts)
        return NULL;
    made->kind = kind;
    made->text = text;
    made->parts = parts;
    if (first)
        parts[made->count++] = first;
    if (second)
        parts[made->count++] = second;
    return made;
}

/* The function of a frame is wrapped around its file, as JAX writes it: "fn"("file":1:2). */
static const struct stet_loc *place(struct stet_legal *l, const struct stet_loc *loc)
{
    const struct stet_loc *known = recall(l, loc);

    if (known)
        return known;
    if (loc->kind == STET_LOC_CALLSITE)
        return remember(l, loc,
                        loc_of(l, STET_LOC_CALLSITE, (struct stet_view){0}, place(l, loc->parts[0]),
                               place(l, loc->parts[1])));
    if (loc->kind == STET_LOC_FILE && loc->called)
        return remember(l, loc, loc_of(l, STET_LOC_NAME, stet_loc_frame(loc), loc, NULL));
    return loc;
}

const struct stet_loc *stet_legalize_loc(struct stet_legal *l, const struct stet_loc *loc)
{
    const struct stet_loc *inner = loc && loc->count ? loc->parts[0] : NULL, *where = NULL;
    struct stet_view name = {0};

    if (inner && stet_attr_field(stet_loc_metadata(inner), "order"))
        inner = inner->count ? inner->parts[0] : NULL;
    if (!inner)
        return NULL;
    for (uint32_t i = 0; i < inner->count; i++)
        if (inner->parts[i]->kind == STET_LOC_NAME)
            name = inner->parts[i]->text;
        else
            where = place(l, inner->parts[i]);
    return name.len ? loc_of(l, STET_LOC_NAME, name, where, NULL) : where;
}
