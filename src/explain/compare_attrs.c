/* The numbers and attributes of matched operations: constants at their uses, and every attribute
 * that is not a symbol. */
#include "explain/changes.h"

#include "explain/words.h"
#include "fingerprint/scalar.h"

/* ---- constants ---- */

static double tolerance_of(const struct stet_type *element)
{
    if (element->kind != STET_TYPE_FLOAT)
        return 0;
    return stet_float_bits(element->flavour) >= 32 ? 1e-6 : 1e-2;
}

static const struct stet_type *element_of(const struct stet_attr *a)
{
    return stet_attr_type(a) && stet_explain_compare_shaped(stet_attr_type(a))
               ? stet_attr_type(a)->element
               : NULL;
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
        if (stet_explain_sizes_explain(c, from.value, to.value, slack))
            return c->rank_moved ? STET_FACET_RANKS : STET_FACET_SHAPES;
        return STET_NO_FACET;
    }
    if (dtype)
        return STET_FACET_DTYPES;
    if (stet_attr_type(x) && stet_attr_type(y) &&
        stet_explain_compare_types(c, stet_attr_type(x), stet_attr_type(y)) && c->size_count)
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
        p->data = stet_explain_change_values(x, y);
        p->from = stet_explain_change_attr(c, x);
        p->to = stet_explain_change_attr(c, y);
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

void stet_explain_compare_constants(struct stet_comparison *c, const struct stet_op *a,
                                    const struct stet_op *b, const struct stet_op *in_a,
                                    const struct stet_op *in_b)
{
    const struct stet_constant_pair *p = compare_values(c, in_a, in_b);

    if (p->same || reduce_otherwise(a, b))
        return;
    stet_explain_change_add(c,
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
        if (!stet_explain_sizes_explain(c, (double)int_at(x, i), (double)int_at(y, i), 0))
            return false;
    return true;
}

/* ---- foreign kernels ---- */

enum { CONFIG_SHOWN = 160 }; /* a longer configuration of a custom call holds a kernel */

static bool is_custom_call(const struct stet_op *op)
{
    struct stet_view name = stet_words_mnemonic(op);

    return stet_view_is(name, "custom_call") || stet_view_is(name, "custom-call");
}

/* A kernel that was made for these operands and results is another one for other types. */
static unsigned kernel_follows(struct stet_comparison *c, const struct stet_op *a,
                               const struct stet_op *b)
{
    uint32_t bits = 0;

    if (!is_custom_call(b) || a->operand_count != b->operand_count ||
        a->result_count != b->result_count)
        return STET_NO_FACET;
    for (uint32_t i = 0; i < b->operand_count; i++)
        bits |=
            stet_explain_compare_types(c, stet_op_operand(a, i)->type, stet_op_operand(b, i)->type);
    for (uint32_t i = 0; i < b->result_count; i++)
        bits |= stet_explain_compare_types(c, a->results[i].type, b->results[i].type);
    if (bits >> STET_FACET_RANKS & 1)
        return STET_FACET_RANKS;
    if (bits >> STET_FACET_SHAPES & 1)
        return STET_FACET_SHAPES;
    return bits >> STET_FACET_DTYPES & 1 ? STET_FACET_DTYPES : STET_NO_FACET;
}

/* An attribute as text; a kernel's body is encoded, so only its size and hash are printed. */
static struct stet_view words_of(struct stet_comparison *c, const struct stet_op *op,
                                 const struct stet_attr *a)
{
    struct stet_view text = a && is_custom_call(op) ? stet_attr_text(a) : (struct stet_view){0};

    if (text.len <= CONFIG_SHOWN)
        return stet_explain_change_attr(c, a);
    stet_buf_printf(&c->scratch, "a kernel of %zu bytes (%08x)", text.len,
                    (unsigned)stet_hash_bytes(text).lo);
    return stet_explain_change_taken(c);
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
    unsigned follows = kernel_follows(c, a, b);

    if (follows == STET_NO_FACET)
        follows = attr_follows(c, class, x, y);
    stet_explain_change_add(
        c,
        &(struct stet_change){.kind = STET_CHANGE_ATTRIBUTE,
                              .facet = class,
                              .follows = follows,
                              .of = {.name = name, .in = stet_words_mnemonic(b)},
                              .data = stet_explain_change_values(x, y),
                              .from = words_of(c, a, x),
                              .to = words_of(c, b, y)},
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
           (!stet_attr_eq(x, y) ||
            stet_explain_compare_types(c, a->results[0].type, b->results[0].type));
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

void stet_explain_compare_attrs(struct stet_comparison *c, const struct stet_op *a,
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
