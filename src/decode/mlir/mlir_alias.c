/* Aliases in MLIR text: #loc3, #map, !quant. Locations may be used before they are defined. */
#include "decode/mlir/mlir_text.h"

enum { HEAVIEST = 1 << 20 };

static struct mlir_alias *slot(struct mlir *p, enum mlir_space space, struct stet_view name)
{
    bool made;
    struct mlir_name *n = stet_mlir_name(p, space, 0, name, &made);

    if (n && made)
        n->value = STET_NEW(&p->temporary, struct mlir_alias);
    if (!n || !n->value) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    return n->value;
}

/* loc, loc1, …: MLIR's names for locations. */
static bool names_location(struct stet_view name)
{
    if (!stet_view_starts(name, "loc"))
        return false;
    for (size_t i = 3; i < name.len; i++)
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return false;
    return true;
}

void stet_mlir_alias_definition(struct mlir *p)
{
    const char *where = p->at;
    bool type = stet_mlir_peek(p) == '!';
    unsigned deepest = p->deepest;
    uint64_t weight = p->weight;
    struct stet_view name;
    struct mlir_alias *a;

    p->at++;
    name = stet_mlir_suffix(p, "an alias name");
    if (!stet_mlir_expect(p, "="))
        return;
    stet_mlir_space(p);
    if (!type && names_location(name) && !stet_mlir_at_word(p, "loc")) {
        stet_mlir_fail(p, p->at,
                       "expected loc(…); locations printed with pretty_debug_info are for people, "
                       "MLIR's own parser refuses them too: print without it");
        return;
    }
    a = slot(p, type ? MLIR_TYPE_ALIASES : MLIR_ATTR_ALIASES, name);
    if (!a)
        return;
    if (a->attr || a->type) {
        stet_mlir_fail(p, where, "alias '%.*s' is defined twice", STET_FMT(name));
        return;
    }
    p->deepest = p->depth;
    p->in_alias = true;
    if (type)
        a->type = stet_mlir_type(p);
    else
        a->attr = stet_mlir_attr(p);
    p->in_alias = false;
    if (!mlir_ok(p))
        return;
    a->height = p->deepest - p->depth;
    a->weight = p->weight - weight;
    p->deepest = deepest;
    if (a->weight > HEAVIEST)
        stet_mlir_fail_rc(p, STET_LIMIT, where, "alias '%.*s' expands to too much", STET_FMT(name));
    else if (a->loc && a->attr && a->attr->kind != STET_ATTR_LOCATION)
        stet_mlir_fail(p, where, "'#%.*s' was used as a location", STET_FMT(name));
    else if (a->loc && a->attr)
        memcpy(a->loc, a->attr->location,
               stet_loc_size(a->attr->location->kind, a->attr->location->ends));
}

/* An alias counts with the full size of its value at every use. Otherwise a few short lines could
 * expand to more than any later stage can walk. */
static void count(struct mlir *p, const struct mlir_alias *a)
{
    uint64_t most = ((uint64_t)16 << 20) + 16 * (uint64_t)(p->end - p->start);

    p->weight += a->weight;
    if (p->depth + a->height > p->deepest)
        p->deepest = p->depth + a->height;
    if (p->deepest > STET_MAX_DEPTH)
        stet_mlir_fail_rc(p, STET_LIMIT, p->at, "nested deeper than %d", STET_MAX_DEPTH);
    else if (p->weight > most)
        stet_mlir_fail_rc(p, STET_LIMIT, p->at, "aliases expand to too much");
}

struct mlir_alias *stet_mlir_alias(struct mlir *p, enum mlir_space space, struct stet_view name)
{
    struct mlir_name *n = mlir_ok(p) ? stet_mlir_find(p, space, 0, name) : NULL;
    struct mlir_alias *a = n ? n->value : NULL;

    if (!a || (!a->attr && !a->type))
        return NULL;
    count(p, a);
    return a;
}

const struct stet_loc *stet_mlir_loc_alias(struct mlir *p)
{
    const char *where = p->at;
    struct stet_view name;
    struct mlir_alias *a;
    uint64_t weight = p->weight;

    if (!stet_mlir_expect(p, "#"))
        return NULL;
    name = stet_mlir_suffix(p, "the name of a location");
    a = mlir_ok(p) ? slot(p, MLIR_ATTR_ALIASES, name) : NULL;
    if (!a)
        return NULL;
    if (a->attr) {
        if (a->attr->kind != STET_ATTR_LOCATION)
            stet_mlir_fail(p, where, "'#%.*s' is not a location", STET_FMT(name));
        count(p, a);
        if (!p->in_alias) /* a location's size is bounded above, and many usually share one */
            p->weight = weight;
        return mlir_ok(p) ? (a->loc ? a->loc : a->attr->location) : NULL;
    }
    if (p->in_alias) {
        stet_mlir_fail(p, where, "'#%.*s' is not defined above", STET_FMT(name));
        return NULL;
    }
    if (!a->loc) {
        a->loc = STET_NEW(p->arena, struct stet_loc);
        a->name = name;
        a->where = where;
        a->next_open = p->open_aliases;
        p->open_aliases = a;
        if (!a->loc)
            stet_mlir_no_memory(p);
    }
    return a->loc;
}

void stet_mlir_check_aliases(struct mlir *p)
{
    const struct mlir_alias *first = NULL;

    for (struct mlir_alias *a = p->open_aliases; a; a = a->next_open)
        if (!a->attr)
            first = a;
    if (first)
        stet_mlir_fail(p, first->where, "'#%.*s' is not defined", STET_FMT(first->name));
}
