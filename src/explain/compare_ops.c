/* Matched operations: attributes, constants at their uses, plumbing, and where a type first
 * changes. */
#include "explain/changes.h"

#include "explain/words.h"
#include "fingerprint/scalar.h"

/* The facets of types. */
enum {
    TYPES = 1u << STET_FACET_SHAPES | 1u << STET_FACET_RANKS | 1u << STET_FACET_DTYPES,
    /* The facets that describe how a value is held between two operations. */
    HELD = TYPES | 1u << STET_FACET_AXES | 1u << STET_FACET_SHARDINGS | 1u << STET_FACET_LAYOUTS |
        1u << STET_FACET_ATTRIBUTES,
};

static bool same_dims(const struct stet_type *x, const struct stet_type *y)
{
    return x->rank == y->rank && (!x->rank || !memcmp(x->dims, y->dims, x->rank * sizeof *x->dims));
}

static bool is_shaped(const struct stet_type *t)
{
    return t->kind == STET_TYPE_TENSOR || t->kind == STET_TYPE_MEMREF;
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
    if (!is_shaped(x) || !is_shaped(y))
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
static uint32_t type_difference(struct stet_comparison *c, const struct stet_type *x,
                                const struct stet_type *y)
{
    uint64_t both = ((uint64_t)(uintptr_t)x << 1 ^ (uintptr_t)y) * UINT64_C(0x9e3779b97f4a7c15);
    struct stet_type_pair *p = &c->types[both >> 32 & (STET_TYPE_PAIRS - 1)];

    if (p->x != x || p->y != y)
        *p = (struct stet_type_pair){x, y, stet_type_eq(x, y) ? 0 : difference_of(x, y)};
    return p->bits;
}

/* ---- constants ---- */

static double tolerance_of(const struct stet_type *element)
{
    if (element->kind != STET_TYPE_FLOAT)
        return 0;
    return stet_float_bits(element->flavour) >= 32 ? 1e-6 : 1e-2;
}

static const struct stet_type *element_of(const struct stet_attr *a)
{
    return stet_attr_type(a) && is_shaped(stet_attr_type(a)) ? stet_attr_type(a)->element : NULL;
}

/* One number on each side; 1 if both could be read. */
static bool single(const struct stet_attr *a, struct stet_scalar *out)
{
    const struct stet_type *element = element_of(a);
    size_t size = element ? stet_type_storage_bits(element) / 8 : 0;

    return size && stet_attr_bytes(a).len == size &&
           stet_scalar_read(out, element, stet_attr_bytes(a));
}

static unsigned constant_follows(struct stet_comparison *c, const struct stet_attr *x,
                                 const struct stet_attr *y)
{
    struct stet_scalar from, to;
    bool dtype = element_of(x) && element_of(y) && !stet_type_eq(element_of(x), element_of(y));

    if (single(x, &from) && single(y, &to)) {
        double slack = tolerance_of(element_of(y));

        if (dtype && from.kind == STET_SCALAR_FINITE && to.kind == STET_SCALAR_FINITE &&
            stet_scalar_close(from.value, to.value, 1e-2))
            return STET_FACET_DTYPES;
        if (stet_sizes_explain(c, from.value, to.value, slack))
            return c->rank_moved ? STET_FACET_RANKS : STET_FACET_SHAPES;
        return STET_NO_FACET;
    }
    if (dtype)
        return STET_FACET_DTYPES;
    if (stet_attr_type(x) && stet_attr_type(y) &&
        type_difference(c, stet_attr_type(x), stet_attr_type(y)) && c->size_count)
        return c->rank_moved ? STET_FACET_RANKS : STET_FACET_SHAPES;
    return STET_NO_FACET;
}

static bool same_constant(const struct stet_attr *x, const struct stet_attr *y)
{
    struct stet_scalar from, to;

    if (stet_attr_bytes(x).len && x->splat == y->splat && stet_attr_type(x) && stet_attr_type(y) &&
        stet_attr_type(x)->element && stet_attr_type(y)->element &&
        stet_view_eq(stet_attr_bytes(x), stet_attr_bytes(y)) &&
        stet_type_eq(stet_attr_type(x)->element, stet_attr_type(y)->element))
        return true;
    if (single(x, &from) && single(y, &to))
        return stet_scalar_eq(&from, &to);
    return x->splat == y->splat && stet_view_eq(stet_attr_bytes(x), stet_attr_bytes(y)) &&
           (stet_attr_bytes(x).len || stet_attr_eq(x, y));
}

/* One constant has many uses, most of them by operations of one kind. */
static const struct stet_constant_pair *
compare_values(struct stet_comparison *c, const struct stet_op *in_a, const struct stet_op *in_b)
{
    struct stet_constant_pair *p = &c->constants[in_b->id % STET_CONSTANT_PAIRS];
    const struct stet_attr *x, *y;

    if (p->in_a == in_a && p->in_b == in_b)
        return p;
    x = stet_canon_value(in_a);
    y = stet_canon_value(in_b);
    *p = (struct stet_constant_pair){.in_a = in_a, .in_b = in_b, .same = same_constant(x, y)};
    if (!p->same) {
        p->follows = constant_follows(c, x, y);
        p->data = stet_change_values(x, y);
        p->from = stet_change_attr(c, x);
        p->to = stet_change_attr(c, y);
    }
    return p;
}

/* The initial value of a reduction belongs to the operation inside (0 to add, -inf to take the
 * largest): if that operation differs, it is already reported. */
static bool reduce_otherwise(const struct stet_op *a, const struct stet_op *b)
{
    const struct stet_block *x, *y;

    if (!stet_view_starts(stet_words_mnemonic(b), "reduce") || !a->region_count ||
        !b->region_count || !stet_op_region(a, 0)->block_count ||
        !stet_op_region(b, 0)->block_count)
        return false;
    x = stet_op_region(a, 0)->blocks[0];
    y = stet_op_region(b, 0)->blocks[0];
    for (uint32_t i = 0; i < x->op_count && i < y->op_count; i++)
        if (!stet_view_eq(stet_op_name(x->ops[i]), stet_op_name(y->ops[i])))
            return true;
    return x->op_count != y->op_count;
}

static void compare_constants(struct stet_comparison *c, const struct stet_op *a,
                              const struct stet_op *b, const struct stet_op *in_a,
                              const struct stet_op *in_b)
{
    const struct stet_constant_pair *p = compare_values(c, in_a, in_b);

    if (p->same || reduce_otherwise(a, b))
        return;
    stet_change_add(c,
                    &(struct stet_change){.kind = STET_CHANGE_CONSTANT,
                                          .facet = STET_FACET_CONSTANTS,
                                          .follows = p->follows,
                                          .of = {.in = stet_words_mnemonic(b)},
                                          .data = p->data,
                                          .from = p->from,
                                          .to = p->to},
                    stet_loc_file(a->loc) ? a : in_a, stet_loc_file(b->loc) ? b : in_b);
}

/* ---- attributes ---- */

static int64_t int_at(const struct stet_attr *a, uint32_t i)
{
    int64_t v = 0;

    if (a->kind == STET_ATTR_INTS)
        return a->ints[i];
    memcpy(&v, stet_attr_bytes(a).ptr + i * sizeof v, sizeof v);
    return v;
}

static uint32_t int_count(const struct stet_attr *a)
{
    if (a && a->kind == STET_ATTR_INTS)
        return a->count;
    if (a && a->kind == STET_ATTR_DENSE_ARRAY && stet_attr_type(a) &&
        stet_attr_type(a)->kind == STET_TYPE_INTEGER && stet_attr_type(a)->width == 64)
        return (uint32_t)(stet_attr_bytes(a).len / sizeof(int64_t));
    if (a && a->kind == STET_ATTR_DENSE && element_of(a) &&
        element_of(a)->kind == STET_TYPE_INTEGER && element_of(a)->width == 64)
        return (uint32_t)(stet_attr_bytes(a).len / sizeof(int64_t));
    return 0;
}

/* Does every number that changed in a list follow from a size that changed? */
static bool ints_follow(const struct stet_comparison *c, const struct stet_attr *x,
                        const struct stet_attr *y)
{
    uint32_t n = int_count(x);

    if (!n || n != int_count(y) || !c->size_count)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!stet_sizes_explain(c, (double)int_at(x, i), (double)int_at(y, i), 0))
            return false;
    return true;
}

static unsigned attr_follows(const struct stet_comparison *c, enum stet_attr_class class,
                             const struct stet_attr *x, const struct stet_attr *y)
{
    if (c->rank_moved && class != STET_CLASS_CONSTANTS && class != STET_CLASS_ATTRIBUTES &&
        class != STET_CLASS_SHARDINGS)
        return STET_FACET_RANKS;
    if (class == STET_CLASS_DTYPES && c->dtype_moved)
        return STET_FACET_DTYPES;
    if (x && y && ints_follow(c, x, y))
        return STET_FACET_SHAPES;
    if (c->shape_moved && (class == STET_CLASS_AXES || class == STET_CLASS_LAYOUTS))
        return STET_FACET_SHAPES;
    return STET_NO_FACET;
}

static void say_attr(struct stet_comparison *c, const struct stet_op *a, const struct stet_op *b,
                     enum stet_attr_class class, struct stet_view name, const struct stet_attr *x,
                     const struct stet_attr *y)
{
    stet_change_add(c,
                    &(struct stet_change){.kind = STET_CHANGE_ATTRIBUTE,
                                          .facet = class,
                                          .follows = attr_follows(c, class, x, y),
                                          .of = {.name = name, .in = stet_words_mnemonic(b)},
                                          .data = stet_change_values(x, y),
                                          .from = stet_change_attr(c, x),
                                          .to = stet_change_attr(c, y)},
                    a, b);
}

static const struct stet_attr *find(const struct stet_op *op, struct stet_view name, uint32_t guess)
{
    if (guess < op->attr_count && stet_view_eq(op->attrs[guess].name, name))
        return stet_canon_silent(op, &op->attrs[guess]) ? NULL : op->attrs[guess].value;
    for (uint32_t i = 0; i < op->attr_count; i++)
        if (stet_view_eq(op->attrs[i].name, name))
            return stet_canon_silent(op, &op->attrs[i]) ? NULL : op->attrs[i].value;
    return NULL;
}

/* Symbols are compared by what they refer to. */
static bool holds_symbols(const struct stet_attr *a)
{
    return a->kind == STET_ATTR_SYMBOL ||
           (a->kind == STET_ATTR_ARRAY && a->count && a->items[0]->kind == STET_ATTR_SYMBOL);
}

/* A slice's limits follow from its starts and its result: start_indices is enough. */
static bool limits_follow(struct stet_comparison *c, const struct stet_op *a,
                          const struct stet_op *b)
{
    const struct stet_attr *x = find(a, STET_VIEW("start_indices"), 0);
    const struct stet_attr *y = find(b, STET_VIEW("start_indices"), 0);

    return x && y &&
           (!stet_attr_eq(x, y) || type_difference(c, a->results[0].type, b->results[0].type));
}

static bool interface_differs(const struct stet_comparison *c)
{
    const struct stet_program *a = c->a->program, *b = c->b->program;

    return a->argument_count != b->argument_count || a->output_count != b->output_count;
}

/* Could attributes of this class differ, and would that be reported? Equal digests answer for all
 * operations at once. */
static bool may_differ(const struct stet_comparison *c, enum stet_attr_class class)
{
    if (class == STET_CLASS_LIMITS)
        class = STET_CLASS_SLICES;
    return class < STET_CLASS_SKELETON && c->moved >> class & 1;
}

static void compare_attrs(struct stet_comparison *c, const struct stet_op *a,
                          const struct stet_op *b)
{
    for (int side = 0; side < 2; side++) {
        const struct stet_op *mine = side ? b : a, *theirs = side ? a : b;

        for (uint32_t i = 0; i < mine->attr_count; i++) {
            const struct stet_named_attr *n = &mine->attrs[i];
            enum stet_attr_class class = stet_canon_attr(&c->a->canon, n);
            const struct stet_attr *other;

            if (class == STET_CLASS_VALUE) /* of an operation that we do not treat as a constant:
                                              arith.constant */
                class = STET_CLASS_CONSTANTS;
            if (!may_differ(c, class) || holds_symbols(n->value) || stet_canon_silent(mine, n))
                continue;
            if ((class == STET_CLASS_LAYOUTS || class == STET_CLASS_DONATION) && !mine->parent &&
                interface_differs(c))
                continue; /* the entry's layouts and donors list arguments that came or went */
            other = find(theirs, n->name, i);
            if (other ? side || n->value == other || stet_attr_eq(n->value, other) : false)
                continue;
            if (class == STET_CLASS_LIMITS && !limits_follow(c, a, b))
                class = STET_CLASS_SLICES;
            if (class < STET_CLASS_SKELETON)
                say_attr(c, a, b, class, n->name, side ? NULL : n->value, side ? n->value : other);
        }
    }
}

/* ---- types ---- */

static bool dims_follow(const struct stet_comparison *c, const struct stet_type *x,
                        const struct stet_type *y)
{
    if (!is_shaped(x) || !is_shaped(y) || x->rank != y->rank || !c->size_count)
        return false;
    for (uint32_t i = 0; i < x->rank; i++)
        if (x->dims[i] != y->dims[i] &&
            !stet_sizes_explain(c, (double)x->dims[i], (double)y->dims[i], 0))
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
        n.data = stet_change_types(x, y);
        n.from = stet_change_type(c, x);
        n.to = stet_change_type(c, y);
        stet_change_add(c, &n, a, b);
    }
}

/* The part of a result's type that the operands' types explain. */
static uint32_t operand_difference(struct stet_comparison *c, const struct stet_op *a,
                                   const struct stet_op *b)
{
    uint32_t sizes = 1u << STET_FACET_RANKS | 1u << STET_FACET_SHAPES, bits = 0;

    for (uint32_t i = 0; i < a->operand_count && i < b->operand_count; i++)
        bits |= type_difference(c, stet_op_operand(a, i)->type, stet_op_operand(b, i)->type);
    return bits & sizes ? bits | sizes : bits;
}

static void compare_results(struct stet_comparison *c, const struct stet_op *a,
                            const struct stet_op *b)
{
    uint32_t results = 0, operands;

    if (!(c->moved & TYPES))
        return;
    for (uint32_t i = 0; i < a->result_count && i < b->result_count; i++)
        results |= type_difference(c, a->results[i].type, b->results[i].type);
    if (!results)
        return;
    operands = operand_difference(c, a, b);
    if (!(results & ~operands))
        return;
    for (uint32_t i = 0; i < a->result_count && i < b->result_count; i++) {
        uint32_t bits = type_difference(c, a->results[i].type, b->results[i].type) & ~operands;

        if (bits)
            say_type(c, a, b, a->results[i].type, b->results[i].type, bits);
    }
}

/* ---- operands ---- */

struct chain {
    const struct stet_op *ops[STET_PLUMBING_DEPTH]; /* from the use downwards */
    uint32_t count;
    const struct stet_value *source;
};

static void trace(struct stet_side *s, const struct stet_value *v, struct chain *out)
{
    out->count = 0;
    while (stet_value_def(v) && out->count < STET_PLUMBING_DEPTH &&
           stet_kind_is_plumbing(stet_canon_kind(&s->canon, stet_value_def(v)))) {
        out->ops[out->count++] = stet_value_def(v);
        v = stet_op_operand(stet_value_def(v), 0);
    }
    out->source = v;
}

static unsigned plumbing_facet(struct stet_side *s, const struct stet_op *op)
{
    switch (stet_canon_kind(&s->canon, op)) {
    case STET_KIND_CONVERT:
        return STET_FACET_DTYPES;
    case STET_KIND_CONSTRAINT:
        return STET_FACET_SHARDINGS;
    default:
        return STET_FACET_SHAPES;
    }
}

static void say_plumbing(struct stet_comparison *c, const struct stet_op *op, bool came)
{
    struct stet_side *s = came ? c->b : c->a;
    uint8_t *told = came ? c->told_b : c->told_a;
    unsigned facet = plumbing_facet(s, op), follows = STET_NO_FACET;
    struct stet_view type = stet_change_type(c, op->results[0].type);
    struct stet_view none = {0};

    if (told[op->id]++)
        return;
    if (facet == STET_FACET_DTYPES && c->dtype_moved)
        follows = STET_FACET_DTYPES;
    if (facet == STET_FACET_SHAPES && (c->rank_moved || c->shape_moved))
        follows = c->rank_moved ? STET_FACET_RANKS : STET_FACET_SHAPES;
    stet_change_add(
        c,
        &(struct stet_change){.kind = came ? STET_CHANGE_OP_CAME : STET_CHANGE_OP_WENT,
                              .facet = facet,
                              .follows = follows,
                              .of = {.in = stet_words_mnemonic(op)},
                              .data = came ? stet_change_types(NULL, op->results[0].type)
                                           : stet_change_types(op->results[0].type, NULL),
                              .from = came ? none : type,
                              .to = came ? type : none},
        came ? NULL : op, came ? op : NULL);
}

static void compare_plumbing(struct stet_comparison *c, const struct stet_op *a,
                             const struct stet_op *b)
{
    if (c->told_b[b->id]++)
        return;
    compare_attrs(c, a, b);
    compare_results(c, a, b);
}

/* Chains are short: greedy alignment by kind from the source upwards. */
static void compare_chains(struct stet_comparison *c, const struct chain *x, const struct chain *y)
{
    uint32_t i = x->count, j = y->count;

    while (i > 0 && j > 0) {
        const struct stet_op *a = x->ops[i - 1], *b = y->ops[j - 1];

        if (a->known ? a->known == b->known : stet_view_eq(stet_op_name(a), stet_op_name(b))) {
            compare_plumbing(c, a, b);
            i--, j--;
        } else if (i > j) {
            say_plumbing(c, x->ops[--i], false);
        } else if (j > i) {
            say_plumbing(c, y->ops[--j], true);
        } else {
            say_plumbing(c, x->ops[--i], false);
            say_plumbing(c, y->ops[--j], true);
        }
    }
    while (i > 0)
        say_plumbing(c, x->ops[--i], false);
    while (j > 0)
        say_plumbing(c, y->ops[--j], true);
}

static struct stet_view value_text(struct stet_comparison *c, struct stet_side *s,
                                   const struct stet_value *v)
{
    const struct stet_loc *file;

    if (!stet_value_def(v))
        return stet_value_loc(v) && stet_value_loc(v)->kind == STET_LOC_NAME
                   ? stet_value_loc(v)->text
                   : stet_change_text(c, "argument #%u", v->index);
    if (stet_canon_kind(&s->canon, stet_value_def(v)) == STET_KIND_CONSTANT)
        return stet_change_text(
            c, "constant %.*s",
            STET_FMT(stet_change_attr(c, stet_op_attr(stet_value_def(v), "value"))));
    file = stet_loc_file(stet_value_def(v)->loc);
    return stet_change_text(c, "%.*s of line %u", STET_FMT(stet_words_mnemonic(stet_value_def(v))),
                            file ? file->line : 0);
}

/* Is this value itself new or removed, so that its use need not be reported? */
static bool alone(struct stet_side *s, const struct stet_value *v)
{
    if (!stet_value_def(v))
        return !s->value_match[v->id];
    return stet_side_counts(s, stet_value_def(v)) && !s->match[stet_value_def(v)->id];
}

/* A value directly from an operation or an argument, without plumbing. */
static bool is_bare(struct stet_side *s, const struct stet_value *v)
{
    return !stet_value_def(v) || stet_canon_kind(&s->canon, stet_value_def(v)) == STET_KIND_PLAIN;
}

static void compare_operand(struct stet_comparison *c, const struct stet_op *a,
                            const struct stet_op *b, uint32_t i)
{
    const struct stet_op *in_a, *in_b;
    struct chain x, y;
    bool constant_a, constant_b;

    /* Equal skeletons have the same dataflow. */
    if (c->all_matched && c->out->same_skeleton && is_bare(c->a, stet_op_operand(a, i)) &&
        is_bare(c->b, stet_op_operand(b, i)))
        return;
    if (c->moved & HELD) {
        trace(c->a, stet_op_operand(a, i), &x);
        trace(c->b, stet_op_operand(b, i), &y);
    } else { /* equal skeletons, and every value is held as before: only constants are left */
        y.source = stet_canon_source(&c->b->canon, stet_op_operand(b, i));
        in_b = stet_value_def(y.source);
        if (!in_b || stet_canon_kind(&c->b->canon, in_b) != STET_KIND_CONSTANT)
            return;
        x.source = stet_canon_source(&c->a->canon, stet_op_operand(a, i));
        x.count = y.count = 0;
    }
    in_a = stet_value_def(x.source);
    in_b = stet_value_def(y.source);
    constant_a = in_a && stet_canon_kind(&c->a->canon, in_a) == STET_KIND_CONSTANT;
    constant_b = in_b && stet_canon_kind(&c->b->canon, in_b) == STET_KIND_CONSTANT;
    if (constant_a && constant_b) {
        compare_constants(c, a, b, in_a, in_b);
        if (!c->told_b[in_b->id]++)
            compare_results(c, in_a, in_b);
        if (x.count | y.count)
            compare_chains(c, &x, &y);
    } else if (!constant_a && !constant_b && stet_match_same(c->a, x.source, y.source)) {
        if (x.count | y.count)
            compare_chains(c, &x, &y);
    } else if (!alone(c->a, x.source) && !alone(c->b, y.source)) {
        stet_change_add(c,
                        &(struct stet_change){.kind = STET_CHANGE_OPERAND,
                                              .facet = STET_NO_FACET,
                                              .follows = STET_NO_FACET,
                                              .of = {.in = stet_words_mnemonic(b), .index = i},
                                              .from = value_text(c, c->a, x.source),
                                              .to = value_text(c, c->b, y.source)},
                        a, b);
    }
}

/* Sizes inside that changed because an argument's did (n - 1 of a shifted slice, for example):
 * constants may follow from them as well. */
static void add_inner_sizes(struct stet_comparison *c)
{
    for (uint32_t id = 0; id < c->b->program->op_count; id++) {
        const struct stet_op *b = c->b->ops[id], *a = b ? c->b->match[id] : NULL;
        const struct stet_type *x, *y;

        if (!a || !a->result_count || !b->result_count)
            continue;
        x = a->results[0].type;
        y = b->results[0].type;
        if (!is_shaped(x) || !is_shaped(y) || x->rank != y->rank)
            continue;
        for (uint32_t i = 0; i < x->rank; i++)
            stet_sizes_add(c, x->dims[i], y->dims[i]);
    }
}

void stet_compare_ops(struct stet_comparison *c)
{
    if (c->shape_moved)
        add_inner_sizes(c);
    for (uint32_t id = 0; id < c->b->program->op_count; id++) {
        const struct stet_op *b = c->b->ops[id], *a = b ? c->b->match[id] : NULL;

        if (!a || stet_canon_kind(&c->b->canon, b) == STET_KIND_MESH)
            continue;
        compare_attrs(c, a, b);
        if (a->operand_count == b->operand_count)
            for (uint32_t i = 0; i < b->operand_count; i++)
                compare_operand(c, a, b, i);
        compare_results(c, a, b);
    }
}
