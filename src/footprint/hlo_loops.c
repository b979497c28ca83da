/* The number of iterations of a loop of the optimized program. The condition compares an element of
 * the loop's tuple with a constant; the body adds a constant to it. */
#include "footprint/footprint_internal.h"

#include <string.h>

enum { MOST_STEPS = 16 };

/* The operation behind names and copies of a value; NULL for a block argument. */
static const struct stet_op *maker(const struct stet_value *v)
{
    const struct stet_op *op = stet_value_def(v);

    for (unsigned i = 0; op && i < MOST_STEPS && op->operand_count; i++) {
        if (op->known != STET_HLO_COPY && op->known != STET_HLO_BITCAST &&
            op->known != STET_HLO_CONVERT)
            break;
        op = stet_value_def(stet_op_operand(op, 0));
    }
    return op;
}

static bool constant(const struct stet_value *v, int64_t *out)
{
    const struct stet_op *op = maker(v);
    const struct stet_attr *a =
        op && op->known == STET_HLO_CONSTANT ? stet_op_attr(op, "value") : NULL;
    struct stet_view bytes = a ? stet_attr_bytes(a) : (struct stet_view){0};
    const struct stet_type *t = op ? op->results[0].type : NULL;

    if (!bytes.len || bytes.len > 8 || !t || !t->element || t->element->kind != STET_TYPE_INTEGER)
        return false;
    *out = 0;
    memcpy(out, bytes.ptr, bytes.len);
    if (t->element->sign != STET_UNSIGNED && bytes.len < 8) { /* little-endian, sign extended */
        unsigned shift = (unsigned)(64 - 8 * bytes.len);

        *out = (int64_t)((uint64_t)*out << shift) >> shift;
    }
    return true;
}

/* Is it element *index of the tuple that the block has as its argument? */
static bool element(const struct stet_block *b, const struct stet_value *v, int64_t *index)
{
    const struct stet_op *op = maker(v);
    const struct stet_attr *a =
        op && op->known == STET_HLO_GET_TUPLE_ELEMENT ? stet_op_attr(op, "index") : NULL;

    if (!a || !op->operand_count || stet_op_operand(op, 0) != &b->args[0])
        return false;
    *index = stet_attr_int(a);
    return true;
}

/* Element `index` of the tuple that an operation makes. */
static const struct stet_value *member(const struct stet_value *v, int64_t index)
{
    const struct stet_op *op = maker(v);

    return op && op->known == STET_HLO_TUPLE && index >= 0 && index < op->operand_count
               ? stet_op_operand(op, (uint32_t)index)
               : NULL;
}

static const struct stet_value *returned(const struct stet_block *b)
{
    const struct stet_op *end = b && b->op_count ? b->ops[b->op_count - 1] : NULL;

    return end && end->known == STET_HLO_RETURN && end->operand_count ? stet_op_operand(end, 0)
                                                                      : NULL;
}

/* A limit may be carried by the loop: an element that the body returns unchanged. */
static bool limit(const struct stet_block *condition, const struct stet_block *body,
                  const struct stet_op *loop, const struct stet_value *v, int64_t *out)
{
    const struct stet_value *kept, *begin;
    int64_t index, again;

    if (constant(v, out))
        return true;
    if (!element(condition, v, &index))
        return false;
    kept = returned(body) ? member(returned(body), index) : NULL;
    begin = member(stet_op_operand(loop, 0), index);
    return kept && begin && element(body, kept, &again) && again == index && constant(begin, out);
}

/* What the body adds to the counter. */
static bool step(const struct stet_block *body, int64_t index, int64_t *out)
{
    const struct stet_value *next = returned(body) ? member(returned(body), index) : NULL;
    const struct stet_op *add = next ? maker(next) : NULL;
    int64_t of = -1;

    if (!add || add->known != STET_HLO_ADD || add->operand_count != 2)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (element(body, stet_op_operand(add, i), &of) && of == index &&
            constant(stet_op_operand(add, 1 - i), out))
            return true;
    }
    return false;
}

/* A compare is sometimes alone in a fusion; then its operands are the fusion's. */
static const struct stet_op *compared(const struct stet_program *p, const struct stet_op *root,
                                      const struct stet_value *sides[2])
{
    const struct stet_block *inner = NULL;
    const struct stet_op *op = root;

    if (op && op->known == STET_HLO_FUSION) {
        inner = stet_footprint_body(stet_footprint_called(p, op, "calls"));
        op = inner && returned(inner) ? maker(returned(inner)) : NULL;
    }
    if (!op || op->known != STET_HLO_COMPARE || op->operand_count != 2)
        return NULL;
    for (uint32_t i = 0; i < 2; i++) {
        const struct stet_value *v = stet_op_operand(op, i);

        if (inner && v->argument)
            v = v->index < root->operand_count ? stet_op_operand(root, v->index) : v;
        sides[i] = v;
    }
    return op;
}

bool stet_footprint_trips(const struct stet_program *p, const struct stet_op *loop, double *out)
{
    const struct stet_block *condition =
        stet_footprint_body(stet_footprint_called(p, loop, "condition"));
    const struct stet_block *body = stet_footprint_body(stet_footprint_called(p, loop, "body"));
    const struct stet_value *sides[2], *first;
    const struct stet_op *compare;
    const struct stet_attr *direction;
    int64_t index, end, begin, by;

    if (!condition || !body || !returned(condition) || !loop->operand_count ||
        !condition->arg_count || !body->arg_count)
        return false;
    compare = compared(p, maker(returned(condition)), sides);
    direction = compare ? stet_op_attr(compare, "direction") : NULL;
    if (!direction || !element(condition, sides[0], &index) ||
        !limit(condition, body, loop, sides[1], &end))
        return false;
    first = member(stet_op_operand(loop, 0), index);
    if (!first || !constant(first, &begin) || !step(body, index, &by) || by == 0)
        return false;
    if (stet_view_is(stet_attr_text(direction), "LE"))
        end++;
    else if (stet_view_is(stet_attr_text(direction), "GE"))
        end--;
    else if (!stet_view_is(stet_attr_text(direction), "LT") &&
             !stet_view_is(stet_attr_text(direction), "GT") &&
             !stet_view_is(stet_attr_text(direction), "NE"))
        return false;
    *out = ((double)end - (double)begin) / (double)by;
    *out = *out > 0 ? (double)(int64_t)(*out + 0.999999) : 0;
    return true;
}
