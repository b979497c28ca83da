/* See compare.h. */
#include "program/compare.h"

#include "program/defaults.h"
#include "program/hlo.h"
#include "program/ops.h"

#include <stdio.h>

struct comparison {
    unsigned flags;
    struct stet_err *why;
};

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

/* The module's own name or options, when they are not asked for. */
static bool is_aside(const struct comparison *c, const struct stet_op *op, struct stet_view attr)
{
    if (op->parent)
        return false;
    if ((c->flags & STET_COMPARE_NO_OPTIONS) && op->known == STET_HLO_MODULE &&
        stet_hlo_is_option(attr))
        return true;
    return (c->flags & STET_COMPARE_NAMELESS) &&
           (stet_view_is(attr, "sym_name") || stet_view_is(attr, "name"));
}

/* The first attribute at or after `i` that says something. */
static uint32_t next_attr(const struct comparison *c, const struct stet_op *op, uint32_t i)
{
    while (i < op->attr_count &&
           (stet_attr_is_default(op, &op->attrs[i]) || is_aside(c, op, op->attrs[i].name)))
        i++;
    return i;
}

static bool same_attrs(const struct comparison *c, const struct stet_op *a, const struct stet_op *b)
{
    uint32_t i = next_attr(c, a, 0), k = next_attr(c, b, 0);

    for (; i < a->attr_count && k < b->attr_count;
         i = next_attr(c, a, i + 1), k = next_attr(c, b, k + 1)) {
        if (!stet_view_eq(a->attrs[i].name, b->attrs[k].name))
            return differ(c, a, "attributes", a->attrs[i].name);
        if (!stet_attr_same(a, &a->attrs[i], &b->attrs[k]))
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

/* Ids count in order of appearance, so equal ids are equal values while all else is equal. */
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

static bool same_op(const struct comparison *c, const struct stet_op *a, const struct stet_op *b,
                    bool locations)
{
    if (!stet_view_eq(stet_op_portable_name(a), stet_op_portable_name(b)))
        return differ(c, a, "the other is", stet_op_name(b));
    if (!same_values(c, a, b) || !same_attrs(c, a, b))
        return false;
    if (a->region_count != b->region_count ||
        stet_op_successor_count(a) != stet_op_successor_count(b))
        return differ(c, a, "number of regions or successors", (struct stet_view){0});
    if (locations && !same_loc(a->loc, b->loc))
        return differ(c, a, "location", (struct stet_view){0});
    return same_regions(c, a, b, locations);
}

bool stet_program_same(const struct stet_program *a, const struct stet_program *b, unsigned flags,
                       struct stet_err *why)
{
    struct comparison c = {flags, why};

    return same_op(&c, a->module, b->module, flags & STET_COMPARE_LOCATIONS);
}
