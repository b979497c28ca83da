/* Loops that end whatever their values are: each turn moves a counter by one towards a bound that
 * stays as it is. A compiler's frontend writes such a loop for every loop of fixed length. */
#include "lift/lift_internal.h"

/* Conditions joined by "and"; more are not followed. */
enum { DEPTH_MAX = 16 };

struct loop {
    const struct stet_op *op;
    const struct stet_block *condition, *body;
};

/* What a block returns in this place; NULL if it does not. */
static const struct stet_value *returned(const struct stet_block *b, uint32_t i)
{
    const struct stet_op *last = b->op_count ? b->ops[b->op_count - 1] : NULL;

    return last && last->known == STET_STABLEHLO_RETURN && i < last->operand_count
               ? stet_op_operand(last, i)
               : NULL;
}

static bool is_argument(const struct stet_value *v, const struct stet_block *b, uint32_t i)
{
    return v && v->argument && stet_value_block(v) == b && v->index == i;
}

static bool is_outside(const struct loop *l, const struct stet_value *v)
{
    const struct stet_block *b = v->argument ? stet_value_block(v) : stet_value_def(v)->parent;

    for (const struct stet_op *o = b->parent; o; o = o->parent ? o->parent->parent : NULL) {
        if (o == l->op)
            return false;
    }
    return true;
}

/* Has it the same value in every turn? */
static bool is_steady(const struct loop *l, const struct stet_value *v)
{
    if (v->argument && stet_value_block(v) == l->condition)
        return is_argument(returned(l->body, v->index), l->body, v->index);
    return stet_lift_is_constant(stet_value_def(v)) || is_outside(l, v);
}

/* Is the operand this constant, an integer of any width? */
static bool is_number(const struct stet_op *op, uint32_t operand, char number)
{
    const struct stet_op *constant = stet_lift_constant_of(op, operand);
    const struct stet_attr *value = constant ? stet_op_attr(constant, "value") : NULL;
    struct stet_view bytes = value ? stet_attr_bytes(value) : (struct stet_view){0};

    if (!bytes.len || stet_attr_type(value)->rank ||
        stet_attr_type(value)->element->kind != STET_TYPE_INTEGER || bytes.ptr[0] != number)
        return false;
    for (size_t i = 1; i < bytes.len; i++) {
        if (bytes.ptr[i])
            return false;
    }
    return true;
}

/* Does each turn add 1 to the argument with this number, or subtract 1? */
static bool is_counted(const struct loop *l, uint32_t i, bool up)
{
    const struct stet_value *next = returned(l->body, i);
    const struct stet_op *op = next ? stet_value_def(next) : NULL;
    uint32_t arg;

    if (!op || op->known != (up ? STET_STABLEHLO_ADD : STET_STABLEHLO_SUBTRACT))
        return false;
    arg = up && is_number(op, 0, 1) ? 1 : 0;
    return is_argument(stet_op_operand(op, arg), l->body, i) && is_number(op, 1 - arg, 1);
}

/* `up`: the loop goes on while the counter is smaller than the bound. */
static bool is_bounded(const struct loop *l, const struct stet_value *counter,
                       const struct stet_value *bound, bool up)
{
    return counter->argument && stet_value_block(counter) == l->condition && is_steady(l, bound) &&
           is_counted(l, counter->index, up);
}

static bool compares_counter(const struct loop *l, const struct stet_op *op)
{
    const struct stet_attr *direction = stet_op_attr(op, "comparison_direction");
    struct stet_view word = direction ? stet_attr_text(direction) : (struct stet_view){0};
    const struct stet_value *x = stet_op_operand(op, 0), *y = stet_op_operand(op, 1);
    bool less = stet_view_is(word, "LT");

    if (!less && !stet_view_is(word, "GT"))
        return false;
    return is_bounded(l, x, y, less) || is_bounded(l, y, x, !less);
}

/* The operand that a flag is the same as. JAX writes x & y as convert(x != false) & y. */
static const struct stet_value *same_flag(const struct stet_op *op)
{
    const struct stet_value *x = stet_op_operand(op, 0);
    const struct stet_op *y =
        op->operand_count == 2 ? stet_value_def(stet_op_operand(op, 1)) : NULL;
    const struct stet_attr *how = stet_op_attr(op, "comparison_direction");

    if (op->known == STET_STABLEHLO_CONVERT)
        return stet_type_eq(x->type, op->results[0].type) ? x : NULL;
    if (op->known != STET_STABLEHLO_COMPARE || !y || !how ||
        !stet_view_is(stet_attr_text(how), "NE") || !stet_type_eq(x->type, op->results[0].type))
        return NULL;
    if (y->known == STET_STABLEHLO_BROADCAST_IN_DIM)
        return is_number(y, 0, 0) ? x : NULL;
    return is_number(op, 1, 0) ? x : NULL;
}

/* Does the condition become false in the end? */
static bool gives_out(const struct loop *l, const struct stet_value *v, unsigned depth)
{
    const struct stet_op *op = v && depth ? stet_value_def(v) : NULL;
    const struct stet_value *same = op && op->operand_count ? same_flag(op) : NULL;

    if (same)
        return gives_out(l, same, depth - 1);
    if (!op || op->operand_count != 2)
        return false;
    if (op->known == STET_STABLEHLO_AND)
        return gives_out(l, stet_op_operand(op, 0), depth - 1) ||
               gives_out(l, stet_op_operand(op, 1), depth - 1);
    return op->known == STET_STABLEHLO_COMPARE && compares_counter(l, op);
}

static bool visit(const struct stet_op *op, void *unused)
{
    struct loop l = {.op = op};

    (void)unused;
    if (op->known != STET_STABLEHLO_WHILE)
        return true;
    if (op->region_count != 2 || stet_op_region(op, 0)->block_count != 1 ||
        stet_op_region(op, 1)->block_count != 1)
        return false;
    l.condition = stet_op_region(op, 0)->blocks[0];
    l.body = stet_op_region(op, 1)->blocks[0];
    return gives_out(&l, returned(l.condition, 0), DEPTH_MAX);
}

bool stet_lift_loops_end(const struct stet_program *p)
{
    return stet_program_walk(p, visit, NULL);
}
