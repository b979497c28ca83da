/* See compare.h. */
#include "program/compare.h"

#include "base/map.h"
#include "program/defaults.h"
#include "program/hlo.h"
#include "program/ops.h"

#include <stdio.h>

/* The top-level operations of a program by their symbols. */
struct symbols {
    const struct stet_block *top; /* NULL for none */
    struct stet_map by_name;      /* hash of the name -> place in `top` */
};

struct comparison {
    unsigned flags;
    struct stet_err *why;
    struct symbols symbols[2]; /* when names do not count */
};

static const char *const name_attrs[] = {"jax.arg_info", "jax.result_info", "sym_name"};

bool stet_attr_is_name(struct stet_view attr)
{
    for (size_t i = 0; i < sizeof name_attrs / sizeof *name_attrs; i++) {
        if (stet_view_is(attr, name_attrs[i]))
            return true;
    }
    return false;
}

static bool symbols_init(struct symbols *s, const struct stet_op *module)
{
    if (module->region_count && stet_op_region(module, 0)->block_count)
        s->top = stet_op_region(module, 0)->blocks[0];
    for (uint32_t i = 0; s->top && i < s->top->op_count; i++) {
        struct stet_view name = stet_op_symbol(s->top->ops[i]);

        if (name.len)
            stet_map_add(&s->by_name, stet_map_text(name), i);
    }
    return !s->by_name.failed;
}

/* The first operation of this name, or NULL. */
static const struct stet_op *symbol_of(const struct symbols *s, struct stet_view name)
{
    uint64_t key = stet_map_text(name);
    uint32_t at = 0, i;

    while ((i = stet_map_next(&s->by_name, key, &at)) != STET_MAP_NONE) {
        if (stet_view_eq(stet_op_symbol(s->top->ops[i]), name))
            return s->top->ops[i];
    }
    return NULL;
}

static bool differ(const struct comparison *c, const struct stet_op *op, const char *what,
                   struct stet_view which)
{
    const struct stet_loc *file = stet_loc_file(op->loc);
    char place[160] = "";

    if (file)
        snprintf(place, sizeof(place), " at %.*s:%u", STET_FMT(file->text), file->line);
    stet_fail(c->why, STET_NOT_FOUND, "operation %u '%.*s'%s: %s%s%.*s", op->id,
              STET_FMT(stet_op_name(op)), place, what, which.len ? " " : "", STET_FMT(which));
    return false;
}

static bool same_loc(const struct stet_loc *a, const struct stet_loc *b)
{
    struct stet_attr x = {.kind = STET_ATTR_LOCATION, .location = a},
                     y = {.kind = STET_ATTR_LOCATION, .location = b};

    return stet_attr_eq(&x, &y);
}

/* ---- values, if names do not count ---- */

static bool same_value(const struct comparison *c, const struct stet_attr *a,
                       const struct stet_attr *b, unsigned depth);

/* Equal ids are equal positions, and what is there is compared on its own. */
static bool same_symbol(const struct comparison *c, const struct stet_attr *a,
                        const struct stet_attr *b)
{
    const struct stet_op *x = symbol_of(&c->symbols[0], stet_attr_text(a));
    const struct stet_op *y = symbol_of(&c->symbols[1], stet_attr_text(b));

    if (!x || !y)
        return !x && !y && stet_attr_eq(a, b);
    if (x->id != y->id || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!stet_attr_eq(a->items[i], b->items[i]))
            return false;
    return true;
}

static uint32_t count_fields(const struct stet_attr *dict)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < dict->count; i++)
        n += !stet_attr_is_name(dict->named[i].name);
    return n;
}

static const struct stet_attr *field_of(const struct stet_attr *dict, struct stet_view name)
{
    for (uint32_t i = 0; i < dict->count; i++)
        if (stet_view_eq(dict->named[i].name, name))
            return dict->named[i].value;
    return NULL;
}

/* Fields in any order. */
static bool same_dict(const struct comparison *c, const struct stet_attr *a,
                      const struct stet_attr *b, unsigned depth)
{
    if (count_fields(a) != count_fields(b))
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct stet_named_attr *n = &a->named[i];

        if (!stet_attr_is_name(n->name) &&
            !same_value(c, n->value,
                        i < b->count && stet_view_eq(b->named[i].name, n->name)
                            ? b->named[i].value
                            : field_of(b, n->name),
                        depth + 1))
            return false;
    }
    return true;
}

static bool is_elements(const struct stet_attr *a)
{
    return (a->kind == STET_ATTR_DENSE || a->kind == STET_ATTR_RESOURCE) && stet_attr_bytes(a).len;
}

static bool same_value(const struct comparison *c, const struct stet_attr *a,
                       const struct stet_attr *b, unsigned depth)
{
    if (!a || !b || depth == STET_MAX_DEPTH)
        return false;
    if (is_elements(a) && is_elements(b)) /* the name of a resource is a name, too */
        return a->splat == b->splat && stet_view_eq(stet_attr_bytes(a), stet_attr_bytes(b)) &&
               stet_type_eq(stet_attr_type(a), stet_attr_type(b));
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case STET_ATTR_SYMBOL:
        return same_symbol(c, a, b);
    case STET_ATTR_DICT:
        return same_dict(c, a, b, depth);
    case STET_ATTR_LOCATION:
        return true;
    case STET_ATTR_RECORD:
        return stet_view_eq(stet_attr_dialect(a), stet_attr_dialect(b)) &&
               stet_view_eq(stet_attr_mnemonic(a), stet_attr_mnemonic(b)) && a->count == b->count &&
               same_dict(c, a, b, depth);
    case STET_ATTR_ARRAY:
        if (a->count != b->count)
            return false;
        for (uint32_t i = 0; i < a->count; i++)
            if (!same_value(c, a->items[i], b->items[i], depth + 1))
                return false;
        return true;
    default:
        return stet_attr_eq(a, b);
    }
}

/* arg_attrs and res_attrs with only names and locations. */
static bool says_nothing(const struct stet_named_attr *n)
{
    const struct stet_attr *v = n->value;

    if (v->kind == STET_ATTR_LOCATION)
        return true;
    if (v->kind != STET_ATTR_ARRAY ||
        (!stet_view_is(n->name, "arg_attrs") && !stet_view_is(n->name, "res_attrs")))
        return false;
    for (uint32_t i = 0; i < v->count; i++)
        if (v->items[i]->kind != STET_ATTR_DICT || count_fields(v->items[i]))
            return false;
    return true;
}

/* ---- attributes ---- */

/* Names and the module's options, if they do not count. */
static bool is_aside(const struct comparison *c, const struct stet_op *op,
                     const struct stet_named_attr *n)
{
    if (!op->parent && (c->flags & STET_COMPARE_NO_OPTIONS) && op->known == STET_HLO_MODULE &&
        stet_hlo_is_option(n->name))
        return true;
    return (c->flags & STET_COMPARE_NAMELESS) && (stet_attr_is_name(n->name) || says_nothing(n) ||
                                                  (!op->parent && stet_view_is(n->name, "name")));
}

/* The first attribute at or after `i` that counts. */
static uint32_t next_attr(const struct comparison *c, const struct stet_op *op, uint32_t i)
{
    while (i < op->attr_count &&
           (stet_attr_is_default(op, &op->attrs[i]) || is_aside(c, op, &op->attrs[i])))
        i++;
    return i;
}

/* Without names the text of a symbol does not count: it may refer to another function in each
 * program. */
static bool same_attr(const struct comparison *c, const struct stet_op *op,
                      const struct stet_named_attr *a, const struct stet_named_attr *b)
{
    if ((c->flags & STET_COMPARE_NAMELESS) && !stet_view_is(a->name, "channel_handle"))
        return same_value(c, a->value, b->value, 0);
    return stet_attr_same(op, a, b);
}

static bool same_attrs(const struct comparison *c, const struct stet_op *a, const struct stet_op *b)
{
    uint32_t i = next_attr(c, a, 0), k = next_attr(c, b, 0);

    for (; i < a->attr_count && k < b->attr_count;
         i = next_attr(c, a, i + 1), k = next_attr(c, b, k + 1)) {
        if (!stet_view_eq(a->attrs[i].name, b->attrs[k].name))
            return differ(c, a, "attributes", a->attrs[i].name);
        if (!same_attr(c, a, &a->attrs[i], &b->attrs[k]))
            return differ(c, a, "attribute", a->attrs[i].name);
    }
    if (i < a->attr_count)
        return differ(c, a, "only one has", a->attrs[i].name);
    if (k < b->attr_count)
        return differ(c, a, "only one has", b->attrs[k].name);
    return true;
}

static bool same_op(const struct comparison *c, const struct stet_op *a, const struct stet_op *b,
                    bool locations);

static bool same_block(const struct comparison *c, const struct stet_op *parent,
                       const struct stet_block *a, const struct stet_block *b, bool locations)
{
    if (a->arg_count != b->arg_count || a->op_count != b->op_count)
        return differ(c, parent, "number of arguments or operations of a block",
                      (struct stet_view){0});
    for (uint32_t i = 0; i < a->arg_count; i++) {
        if (!stet_type_eq(a->args[i].type, b->args[i].type))
            return differ(c, parent, "type of a block's argument", (struct stet_view){0});
        if (locations && parent->known != STET_STABLEHLO_WHILE &&
            !same_loc(stet_block_locs(a)[i], stet_block_locs(b)[i]))
            return differ(c, parent, "location of a block's argument", (struct stet_view){0});
    }
    for (uint32_t i = 0; i < a->op_count; i++)
        if (!same_op(c, a->ops[i], b->ops[i], locations))
            return false;
    return true;
}

/* Ids count in order of appearance, so equal ids are equal values as long as everything else is
 * equal. */
static bool same_values(const struct comparison *c, const struct stet_op *a,
                        const struct stet_op *b)
{
    if (a->operand_count != b->operand_count || a->result_count != b->result_count)
        return differ(c, a, "number of operands or results", (struct stet_view){0});
    for (uint32_t i = 0; i < a->operand_count; i++)
        if (stet_op_operand(a, i)->id != stet_op_operand(b, i)->id)
            return differ(c, a, "operand", (struct stet_view){0});
    for (uint32_t i = 0; i < a->result_count; i++)
        if (!stet_type_eq(a->results[i].type, b->results[i].type))
            return differ(c, a, "type of a result", (struct stet_view){0});
    return true;
}

static bool same_regions(const struct comparison *c, const struct stet_op *a,
                         const struct stet_op *b, bool locations)
{
    if (a->known == STET_STABLEHLO_REDUCE && a->region_count && stet_op_region(a, 0)->block_count &&
        stet_op_region(a, 0)->blocks[0]->op_count == 2)
        locations = false;
    for (unsigned r = 0; r < a->region_count; r++) {
        if (stet_op_region(a, r)->block_count != stet_op_region(b, r)->block_count)
            return differ(c, a, "number of blocks", (struct stet_view){0});
        for (uint32_t i = 0; i < stet_op_region(a, r)->block_count; i++)
            if (!same_block(c, a, stet_op_region(a, r)->blocks[i], stet_op_region(b, r)->blocks[i],
                            locations))
                return false;
    }
    return true;
}

static bool same_successors(const struct stet_op *a, const struct stet_op *b)
{
    uint32_t n = stet_op_successor_count(a);

    if (n != stet_op_successor_count(b))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (stet_op_successor_place(a, i) != stet_op_successor_place(b, i))
            return false;
    return true;
}

static bool same_op(const struct comparison *c, const struct stet_op *a, const struct stet_op *b,
                    bool locations)
{
    if (!stet_view_eq(stet_op_portable_name(a), stet_op_portable_name(b)))
        return differ(c, a, "the other is", stet_op_name(b));
    if (!same_values(c, a, b) || !same_attrs(c, a, b))
        return false;
    if (a->region_count != b->region_count)
        return differ(c, a, "number of regions", (struct stet_view){0});
    if (!same_successors(a, b))
        return differ(c, a, "successors", (struct stet_view){0});
    if (locations && !same_loc(a->loc, b->loc))
        return differ(c, a, "location", (struct stet_view){0});
    return same_regions(c, a, b, locations);
}

bool stet_program_same(const struct stet_program *a, const struct stet_program *b, unsigned flags,
                       struct stet_err *why)
{
    struct comparison c = {.flags = flags, .why = why};
    bool same;

    if (!(flags & STET_COMPARE_NAMELESS))
        return same_op(&c, a->module, b->module, flags & STET_COMPARE_LOCATIONS);
    same = symbols_init(&c.symbols[0], a->module) && symbols_init(&c.symbols[1], b->module);
    if (!same)
        stet_fail(why, STET_NO_MEMORY, "out of memory for the symbols of two programs");
    else if ((a->entry ? a->entry->id : 0) != (b->entry ? b->entry->id : 0))
        same = differ(&c, a->module, "which function is the entry", (struct stet_view){0});
    else
        same = same_op(&c, a->module, b->module, flags & STET_COMPARE_LOCATIONS);
    stet_map_release(&c.symbols[0].by_name);
    stet_map_release(&c.symbols[1].by_name);
    return same;
}
