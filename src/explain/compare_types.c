/* The types of matched operations: how two of them differ, where a type first changes, and the
 * sizes that changed. */
#include "explain/changes.h"

#include "explain/words.h"

static bool same_dims(const struct stet_type *x, const struct stet_type *y)
{
    return x->rank == y->rank && (!x->rank || !memcmp(x->dims, y->dims, x->rank * sizeof *x->dims));
}

/* How far two types differ, as bits of facets; HLO's tuples by their members. */
static uint32_t difference_of(const struct stet_type *x, const struct stet_type *y)
{
    uint32_t bits = 0;

    if (x->kind == STET_TYPE_TUPLE && y->kind == STET_TYPE_TUPLE &&
        x->member_count == y->member_count) {
        for (uint32_t i = 0; i < x->member_count; i++)
            bits |= stet_type_eq(x->members[i], y->members[i])
                        ? 0
                        : difference_of(x->members[i], y->members[i]);
        return bits;
    }
    if (!stet_explain_compare_shaped(x) || !stet_explain_compare_shaped(y))
        return 1u << STET_FACET_DTYPES;
    if (!stet_type_eq(x->element, y->element))
        bits |= 1u << STET_FACET_DTYPES;
    if (x->rank != y->rank)
        bits |= 1u << STET_FACET_RANKS;
    else if (!same_dims(x, y) || (stet_type_rest(x)->bounds || stet_type_rest(y)->bounds))
        bits |= 1u << STET_FACET_SHAPES;
    return bits;
}

/* Types of one program are few and shared: the result of comparing two of them is cached. */
uint32_t stet_explain_compare_types(struct stet_comparison *c, const struct stet_type *x,
                                    const struct stet_type *y)
{
    uint64_t both = ((uint64_t)(uintptr_t)x << 1 ^ (uintptr_t)y) * UINT64_C(0x9e3779b97f4a7c15);
    struct stet_type_pair *p = &c->types[both >> 32 & (STET_TYPE_PAIRS - 1)];

    if (p->x != x || p->y != y)
        *p = (struct stet_type_pair){x, y, stet_type_eq(x, y) ? 0 : difference_of(x, y)};
    return p->bits;
}

static bool dims_follow(const struct stet_comparison *c, const struct stet_type *x,
                        const struct stet_type *y)
{
    if (!stet_explain_compare_shaped(x) || !stet_explain_compare_shaped(y) || x->rank != y->rank ||
        !c->size_count)
        return false;
    for (uint32_t i = 0; i < x->rank; i++)
        if (x->dims[i] != y->dims[i] &&
            !stet_explain_sizes_explain(c, (double)x->dims[i], (double)y->dims[i], 0))
            return false;
    return true;
}

/* Reports a type that changed although no operand's did, unless the changed arguments explain
 * it. */
static void say_type(struct stet_comparison *c, const struct stet_op *a, const struct stet_op *b,
                     const struct stet_type *x, const struct stet_type *y, uint32_t bits)
{
    static const unsigned facets[] = {STET_FACET_RANKS, STET_FACET_SHAPES, STET_FACET_DTYPES};
    struct stet_change n = {.kind = STET_CHANGE_TYPE, .follows = STET_NO_FACET};

    for (unsigned i = 0; i < 3; i++) {
        if (!(bits >> facets[i] & 1))
            continue;
        n.facet = facets[i];
        if (facets[i] == STET_FACET_DTYPES && c->dtype_moved)
            continue;
        if (c->rank_moved && facets[i] != STET_FACET_DTYPES)
            continue;
        if (facets[i] == STET_FACET_SHAPES && c->shape_moved && dims_follow(c, x, y))
            continue;
        n.of.in = stet_words_mnemonic(b);
        n.data = stet_explain_change_types(x, y);
        n.from = stet_explain_change_type(c, x);
        n.to = stet_explain_change_type(c, y);
        stet_explain_change_add(c, &n, a, b);
    }
}

/* The part of a result's type that the operands' types explain. */
static uint32_t operand_difference(struct stet_comparison *c, const struct stet_op *a,
                                   const struct stet_op *b)
{
    uint32_t sizes = 1u << STET_FACET_RANKS | 1u << STET_FACET_SHAPES, bits = 0;

    for (uint32_t i = 0; i < a->operand_count && i < b->operand_count; i++)
        bits |=
            stet_explain_compare_types(c, stet_op_operand(a, i)->type, stet_op_operand(b, i)->type);
    return bits & sizes ? bits | sizes : bits;
}

void stet_explain_compare_results(struct stet_comparison *c, const struct stet_op *a,
                                  const struct stet_op *b)
{
    uint32_t results = 0, operands;

    if (!(c->moved & STET_TYPE_FACETS))
        return;
    for (uint32_t i = 0; i < a->result_count && i < b->result_count; i++)
        results |= stet_explain_compare_types(c, a->results[i].type, b->results[i].type);
    if (!results)
        return;
    operands = operand_difference(c, a, b);
    if (!(results & ~operands))
        return;
    for (uint32_t i = 0; i < a->result_count && i < b->result_count; i++) {
        uint32_t bits =
            stet_explain_compare_types(c, a->results[i].type, b->results[i].type) & ~operands;

        if (bits)
            say_type(c, a, b, a->results[i].type, b->results[i].type, bits);
    }
}

void stet_explain_compare_sizes(struct stet_comparison *c)
{
    for (uint32_t id = 0; id < c->b->program->op_count; id++) {
        const struct stet_op *b = c->b->ops[id], *a = b ? c->b->match[id] : NULL;
        const struct stet_type *x, *y;

        if (!a || !a->result_count || !b->result_count)
            continue;
        x = a->results[0].type;
        y = b->results[0].type;
        if (!stet_explain_compare_shaped(x) || !stet_explain_compare_shaped(y) ||
            x->rank != y->rank)
            continue;
        for (uint32_t i = 0; i < x->rank; i++)
            stet_explain_sizes_add(c, x->dims[i], y->dims[i]);
    }
}
