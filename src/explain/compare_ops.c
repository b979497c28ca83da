/* Matched operations: their operands and the plumbing between them. */
#include "explain/changes.h"

#include "explain/words.h"

/* The facets that describe how a value is held between two operations. */
enum {
    HELD = STET_TYPE_FACETS | 1u << STET_FACET_AXES | 1u << STET_FACET_SHARDINGS |
        1u << STET_FACET_LAYOUTS | 1u << STET_FACET_ATTRIBUTES,
};

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
    struct stet_view type = stet_explain_change_type(c, op->results[0].type);
    struct stet_view none = {0};

    if (told[op->id]++)
        return;
    if (facet == STET_FACET_DTYPES && c->dtype_moved)
        follows = STET_FACET_DTYPES;
    if (facet == STET_FACET_SHAPES && (c->rank_moved || c->shape_moved))
        follows = c->rank_moved ? STET_FACET_RANKS : STET_FACET_SHAPES;
    stet_explain_change_add(
        c,
        &(struct stet_change){.kind = came ? STET_CHANGE_OP_CAME : STET_CHANGE_OP_WENT,
                              .facet = facet,
                              .follows = follows,
                              .of = {.in = stet_words_mnemonic(op)},
                              .data = came ? stet_explain_change_types(NULL, op->results[0].type)
                                           : stet_explain_change_types(op->results[0].type, NULL),
                              .from = came ? none : type,
                              .to = came ? type : none},
        came ? NULL : op, came ? op : NULL);
}

static void compare_plumbing(struct stet_comparison *c, const struct stet_op *a,
                             const struct stet_op *b)
{
    if (c->told_b[b->id]++)
        return;
    stet_explain_compare_attrs(c, a, b);
    stet_explain_compare_results(c, a, b);
}

/* Pairs the operations of two chains greedily by their kind, beginning at the source of the value.
 * Chains are short, so that is good enough. */
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
                   : stet_explain_change_text(c, "argument #%u", v->index);
    if (stet_canon_kind(&s->canon, stet_value_def(v)) == STET_KIND_CONSTANT)
        return stet_explain_change_text(
            c, "constant %.*s",
            STET_FMT(stet_explain_change_attr(c, stet_op_attr(stet_value_def(v), "value"))));
    file = stet_loc_file(stet_value_def(v)->loc);
    return stet_explain_change_text(c, "%.*s of line %u",
                                    STET_FMT(stet_words_mnemonic(stet_value_def(v))),
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
        stet_explain_compare_constants(c, a, b, in_a, in_b);
        if (!c->told_b[in_b->id]++)
            stet_explain_compare_results(c, in_a, in_b);
        if (x.count | y.count)
            compare_chains(c, &x, &y);
    } else if (!constant_a && !constant_b && stet_match_same(c->a, x.source, y.source)) {
        if (x.count | y.count)
            compare_chains(c, &x, &y);
    } else if (!alone(c->a, x.source) && !alone(c->b, y.source)) {
        stet_explain_change_add(
            c,
            &(struct stet_change){.kind = STET_CHANGE_OPERAND,
                                  .facet = STET_NO_FACET,
                                  .follows = STET_NO_FACET,
                                  .of = {.in = stet_words_mnemonic(b), .index = i},
                                  .from = value_text(c, c->a, x.source),
                                  .to = value_text(c, c->b, y.source)},
            a, b);
    }
}

void stet_explain_compare_ops(struct stet_comparison *c)
{
    if (c->shape_moved)
        stet_explain_compare_sizes(c);
    for (uint32_t id = 0; id < c->b->program->op_count; id++) {
        const struct stet_op *b = c->b->ops[id], *a = b ? c->b->match[id] : NULL;

        if (!a || stet_canon_kind(&c->b->canon, b) == STET_KIND_MESH)
            continue;
        stet_explain_compare_attrs(c, a, b);
        if (a->operand_count == b->operand_count)
            for (uint32_t i = 0; i < b->operand_count; i++)
                compare_operand(c, a, b, i);
        stet_explain_compare_results(c, a, b);
    }
}
