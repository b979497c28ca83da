/* Lowering: loops of few turns over large tensors, one turn after the other.
 *
 * A loop keeps what it carries in memory between its turns. Turns that follow each other without a
 * loop are fused: the random numbers of JAX on a CPU are five turns of four rounds, whose constants
 * are then known, too. */
#include "backend/lower.h"

enum { MOST_TURNS = 8, MOST_OPS = 100, LEAST_ELEMENTS = 2048 };

static const struct stet_block *block_of(const struct stet_op *op, uint32_t region)
{
    const struct stet_region *r = stet_op_region(op, region);

    return r->block_count == 1 && r->blocks[0]->op_count ? r->blocks[0] : NULL;
}

/* What the block returns in place `i`; NULL if that is not the result of an operation. */
static const struct stet_op *returned(const struct stet_block *b, uint32_t i)
{
    const struct stet_op *end = b->ops[b->op_count - 1];
    const struct stet_value *v;

    if (i >= end->operand_count)
        return NULL;
    v = stet_op_operand(end, i);
    return v->argument ? NULL : stet_value_def(v);
}

static bool constant_int(const struct stet_value *v, int64_t *out)
{
    const struct stet_op *op = v->argument ? NULL : stet_value_def(v);
    struct stet_graph_ints list;

    if (!op || op->known != STET_STABLEHLO_CONSTANT ||
        !stet_lower_ints_of(stet_op_attr(op, "value"), &list) || list.count != 1)
        return false;
    *out = list.v[0];
    return true;
}

/* Is `op` an operation of argument `i` of the block, or of any if it is -1, and of a constant? */
static bool by_constant(const struct stet_op *op, const struct stet_block *b, int64_t *i,
                        int64_t *constant)
{
    const struct stet_value *v;

    if (op->operand_count != 2 || !constant_int(stet_op_operand(op, 1), constant))
        return false;
    v = stet_op_operand(op, 0);
    if (!v->argument || v->index >= b->arg_count || &b->args[v->index] != v ||
        (*i >= 0 && v->index != *i))
        return false;
    *i = v->index;
    return true;
}

/* How often a loop that counts up to a constant runs its body; 0 if that is not known. */
static int64_t turns_of(const struct stet_op *op, struct stet_gval **in, uint32_t count)
{
    const struct stet_block *test = block_of(op, 0), *body = block_of(op, 1);
    const struct stet_op *compare = test ? returned(test, 0) : NULL, *next;
    const struct stet_attr *how;
    int64_t counter = -1, end, step, first = 0;
    const void *value;

    if (!compare || compare->known != STET_STABLEHLO_COMPARE || !body || body->arg_count != count)
        return 0;
    how = stet_op_attr(compare, "comparison_direction");
    if (!how || !stet_view_is(stet_attr_text(how), "LT") ||
        !by_constant(compare, test, &counter, &end) || counter >= count)
        return 0;
    next = returned(body, (uint32_t)counter);
    value = stet_graph_splat_value(in[counter]);
    if (!next || next->known != STET_STABLEHLO_ADD || !by_constant(next, body, &counter, &step) ||
        !value || step < 1 || !stet_dtype_is_signed(in[counter]->shape.dtype) ||
        stet_dtype_bytes(in[counter]->shape.dtype) < 4)
        return 0;
    if (in[counter]->shape.dtype == STET_DT_S32) {
        int32_t narrow;

        memcpy(&narrow, value, sizeof narrow);
        first = narrow;
    } else {
        memcpy(&first, value, sizeof first);
    }
    if (first < 0 || end <= first || end > INT32_MAX || step > INT32_MAX)
        return 0;
    return (end - first + step - 1) / step;
}

/* Only operations that a fused loop has, counted. */
static bool is_plain(const struct stet_lower *l, const struct stet_block *b, uint32_t *ops,
                     uint32_t depth)
{
    for (uint32_t i = 0; i + 1 < b->op_count; i++) {
        const struct stet_op *op = b->ops[i], *f;
        const struct stet_attr *callee;

        if (++*ops > MOST_OPS)
            return false;
        switch (op->known) {
        case STET_STABLEHLO_CONSTANT:
        case STET_STABLEHLO_BROADCAST_IN_DIM:
        case STET_STABLEHLO_RESHAPE:
        case STET_STABLEHLO_SLICE:
            continue;
        case STET_FUNC_CALL:
            callee = stet_op_attr(op, "callee");
            f = callee ? stet_program_function(l->program, stet_attr_text(callee)) : NULL;
            if (!f || depth > 2 || f->region_count != 1 || !block_of(f, 0) ||
                !is_plain(l, block_of(f, 0), ops, depth + 1))
                return false;
            continue;
        default:
            if (!(stet_known_op_facts(op->known) & STET_OP_ELEMENTWISE) || op->region_count)
                return false;
        }
    }
    return true;
}

static bool is_large(struct stet_gval **in, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (in[i]->shape.elements >= LEAST_ELEMENTS)
            return true;
    return false;
}

enum stet_rc stet_lower_unroll(struct stet_lower *l, struct stet_gval **in, uint32_t count,
                               bool *done)
{
    int64_t turns = turns_of(l->op, in, count);
    const struct stet_block *body = turns ? block_of(l->op, 1) : NULL;
    struct stet_gval **values = in;
    uint32_t ops = 0, given;

    *done = turns > 0 && turns <= MOST_TURNS && is_large(in, count) && is_plain(l, body, &ops, 0);
    if (!*done)
        return STET_OK;
    for (int64_t i = 0; i < turns; i++) {
        TRY(stet_lower_bind_args(l, body, values, count));
        TRY(stet_lower_block_ops(l, body));
        TRY(stet_lower_returned(l, body, &values, &given));
        CHECK(given == count, "the body returns another number of values");
    }
    for (uint32_t i = 0; i < count; i++)
        CHECK(stet_shape_eq(&values[i]->shape, &in[i]->shape),
              "the body changes the type of value %u", i);
    return stet_lower_bind_results(l, values, count);
}
