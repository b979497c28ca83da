/* Arithmetic and traffic of single HLO instructions. */
#include "footprint/footprint_internal.h"

#include "program/hlo.h"

#include <string.h>

/* A dimension with more pairs of positions than this is counted as if it had no border. */
enum { MOST_PAIRS = 1 << 26, MOST_SPATIAL = 8, MOST_NESTING = 16 };

struct stet_view stet_footprint_opcode(const struct stet_op *op)
{
    struct stet_view name = stet_op_name(op);

    return stet_view_starts(name, "hlo.") ? stet_view_of(name.ptr + 4, name.len - 4) : name;
}

const struct stet_op *stet_footprint_called(const struct stet_program *p, const struct stet_op *op,
                                            const char *attribute)
{
    const struct stet_attr *a = stet_op_attr(op, attribute);

    return a && a->kind == STET_ATTR_SYMBOL ? stet_program_function(p, stet_attr_text(a)) : NULL;
}

const struct stet_block *stet_footprint_body(const struct stet_op *function)
{
    return function && function->region_count && stet_op_region(function, 0)->block_count
               ? stet_op_region(function, 0)->blocks[0]
               : NULL;
}

/* ---- sizes ---- */

/* In XLA's layouts S(n) is a memory other than the main one: S(1) is the vector memory of a TPU. */
static bool is_elsewhere(const struct stet_type *t)
{
    struct stet_view extra = stet_type_rest(t)->layout_extra;
    const char *at = extra.len ? memmem(extra.ptr, extra.len, "S(", 2) : NULL;

    return at && at + 2 < extra.ptr + extra.len && at[2] != '0';
}

double stet_footprint_bytes(const struct stet_type *t, bool everywhere)
{
    double bits = 0;

    if (!t)
        return 0;
    if (t->kind == STET_TYPE_TUPLE) {
        for (uint32_t i = 0; i < t->member_count; i++)
            bits += stet_footprint_bytes(t->members[i], everywhere);
        return bits;
    }
    if (t->kind != STET_TYPE_TENSOR || !t->element || (!everywhere && is_elsewhere(t)))
        return 0;
    bits = t->element->kind == STET_TYPE_INTEGER && t->element->width > 1
               ? t->element->width
               : stet_type_storage_bits(t->element);
    for (uint32_t i = 0; i < t->rank; i++)
        bits *= t->dims[i] > 0 ? (double)t->dims[i] : 0;
    return bits / 8;
}

static double elements(const struct stet_type *t)
{
    double n = 1;

    for (uint32_t i = 0; t && t->kind == STET_TYPE_TENSOR && i < t->rank; i++)
        n *= t->dims[i] > 0 ? (double)t->dims[i] : 0;
    return n;
}

/* ---- arithmetic ---- */

static double dot_flops(const struct stet_op *op)
{
    const struct stet_attr *dims = stet_op_attr(op, "lhs_contracting_dims");
    const struct stet_type *lhs = op->operand_count ? stet_op_operand(op, 0)->type : NULL;
    double depth = 1;

    for (uint32_t i = 0; dims && dims->kind == STET_ATTR_INTS && lhs && i < dims->count; i++) {
        if (dims->ints[i] >= 0 && dims->ints[i] < lhs->rank)
            depth *= (double)lhs->dims[dims->ints[i]];
    }
    return 2 * depth * elements(op->results[0].type);
}

/* The window of a convolution along one dimension. */
struct window {
    int64_t size, stride, pad_low, lhs_dilate, rhs_dilate;
};

static int64_t window_field(const struct stet_op *op, const char *name, uint32_t i,
                            int64_t otherwise)
{
    const struct stet_attr *w = stet_op_attr(op, "window");
    const struct stet_attr *f = w ? stet_attr_field(w, name) : NULL;

    return f && f->kind == STET_ATTR_INTS && i < f->count ? f->ints[i] : otherwise;
}

static struct window window_at(const struct stet_op *op, uint32_t i)
{
    const struct stet_attr *size = stet_op_attr(op, "window_dimensions");

    return (struct window){
        .size = size && size->kind == STET_ATTR_INTS && i < size->count ? size->ints[i] : 1,
        .stride = window_field(op, "stride", i, 1),
        .pad_low = window_field(op, "pad_low", i, 0),
        .lhs_dilate = window_field(op, "lhs_dilate", i, 1),
        .rhs_dilate = window_field(op, "rhs_dilate", i, 1),
    };
}

/* Pairs of a position of the result and one of the window that meet an element of the operand.
 * Products with padding, and with the gaps of a dilated operand, are not made. The compiler writes
 * batched matrix products as convolutions in which most pairs are of that kind. */
static double valid_pairs(const struct window *w, int64_t in, int64_t out)
{
    int64_t end = (in - 1) * w->lhs_dilate + 1;
    double n = 0;

    if (in < 1 || out < 1 || w->size < 1 || w->lhs_dilate < 1)
        return 0;
    if ((double)out * (double)w->size > (double)MOST_PAIRS)
        return (double)out * (double)w->size;
    for (int64_t o = 0; o < out; o++) {
        for (int64_t k = 0; k < w->size; k++) {
            int64_t at = o * w->stride - w->pad_low + k * w->rhs_dilate;

            n += at >= 0 && at < end && at % w->lhs_dilate == 0;
        }
    }
    return n;
}

/* The size of the dimension that a letter or digit names in labels such as "0bf". */
static int64_t labelled(struct stet_view labels, char c, const struct stet_type *t)
{
    const char *at = labels.len ? memchr(labels.ptr, c, labels.len) : NULL;
    size_t i = at ? (size_t)(at - labels.ptr) : 0;

    return at && t && t->kind == STET_TYPE_TENSOR && i < t->rank ? t->dims[i] : 1;
}

/* "0bf_io0->0bf" */
static bool split_labels(struct stet_view all, struct stet_view out[3])
{
    const char *bar = all.len ? memchr(all.ptr, '_', all.len) : NULL;
    const char *arrow = all.len ? memmem(all.ptr, all.len, "->", 2) : NULL;

    if (!bar || !arrow || arrow < bar)
        return false;
    out[0] = stet_view_of(all.ptr, (size_t)(bar - all.ptr));
    out[1] = stet_view_of(bar + 1, (size_t)(arrow - bar) - 1);
    out[2] = stet_view_of(arrow + 2, (size_t)(all.ptr + all.len - arrow) - 2);
    return true;
}

static int64_t int_attr(const struct stet_op *op, const char *name, int64_t otherwise)
{
    const struct stet_attr *a = stet_op_attr(op, name);

    return a && a->kind == STET_ATTR_INTEGER ? stet_attr_int(a) : otherwise;
}

static double convolution_flops(const struct stet_op *op)
{
    const struct stet_attr *labels = stet_op_attr(op, "dim_labels");
    const struct stet_type *lhs, *rhs, *out = op->results[0].type;
    struct stet_view part[3];
    double n;

    if (!labels || op->operand_count < 2 || !split_labels(stet_attr_text(labels), part))
        return 0;
    lhs = stet_op_operand(op, 0)->type;
    rhs = stet_op_operand(op, 1)->type;
    n = 2 * (double)labelled(part[0], 'b', lhs) / (double)int_attr(op, "batch_group_count", 1);
    n *= (double)labelled(part[1], 'i', rhs) * (double)labelled(part[1], 'o', rhs);
    for (uint32_t d = 0; d < MOST_SPATIAL; d++) {
        struct window w = window_at(op, d);
        char c = (char)('0' + d);

        if (!part[0].len || !memchr(part[0].ptr, c, part[0].len))
            break;
        n *= valid_pairs(&w, labelled(part[0], c, lhs), labelled(part[2], c, out));
    }
    return n;
}

double stet_footprint_flops(const struct stet_op *op)
{
    switch (op->known) {
    case STET_HLO_DOT:
    case STET_HLO_SCALED_DOT:
    case STET_HLO_RAGGED_DOT:
        return dot_flops(op);
    case STET_HLO_CONVOLUTION:
        return convolution_flops(op);
    default:
        return 0;
    }
}

/* ---- traffic to memory ---- */

/* Takes a part of its first operand. */
static bool takes_part(const struct stet_op *op)
{
    return op->known == STET_HLO_DYNAMIC_SLICE || op->known == STET_HLO_SLICE ||
           op->known == STET_HLO_GATHER;
}

/* Moves nothing: another name for the same bytes. */
static bool is_name(const struct stet_op *op)
{
    switch (op->known) {
    case STET_HLO_BITCAST:
    case STET_HLO_GET_TUPLE_ELEMENT:
    case STET_HLO_TUPLE:
    case STET_HLO_PARAMETER:
    case STET_HLO_CONSTANT:
    case STET_HLO_RETURN:
    case STET_HLO_AFTER_ALL:
    case STET_HLO_OPT_BARRIER:
    case STET_HLO_PARTITION_ID:
    case STET_HLO_REPLICA_ID:
        return true;
    default:
        return false;
    }
}

static double read_by(const struct stet_program *p, const struct stet_block *b,
                      const struct stet_value *v, unsigned depth);

/* What one operation of a fusion reads of an operand. */
static double read_of(const struct stet_program *p, const struct stet_block *b,
                      const struct stet_op *op, uint32_t operand, unsigned depth)
{
    const struct stet_value *v = stet_op_operand(op, operand);
    const struct stet_block *inner;

    if (takes_part(op) && operand == 0)
        return stet_footprint_bytes(op->results[0].type, true);
    if (op->known == STET_HLO_DYNAMIC_UPDATE_SLICE && operand == 0)
        return 0; /* the rest of it stays where it is */
    if (op->known == STET_HLO_BITCAST && depth < MOST_NESTING)
        return read_by(p, b, &op->results[0], depth + 1);
    inner = op->known == STET_HLO_FUSION
                ? stet_footprint_body(stet_footprint_called(p, op, "calls"))
                : NULL;
    if (inner && operand < inner->arg_count && depth < MOST_NESTING)
        return read_by(p, inner, &inner->args[operand], depth + 1);
    return stet_footprint_bytes(v->type, true);
}

/* What the operations of a fusion read of one value: at most all of it. */
static double read_by(const struct stet_program *p, const struct stet_block *b,
                      const struct stet_value *v, unsigned depth)
{
    double all = stet_footprint_bytes(v->type, true), n = 0;

    for (uint32_t i = 0; i < b->op_count && n < all; i++) {
        for (uint32_t k = 0; k < b->ops[i]->operand_count; k++) {
            if (stet_op_operand(b->ops[i], k) == v)
                n += read_of(p, b, b->ops[i], k, depth);
        }
    }
    return n < all ? n : all;
}

/* What is written for a value that a fusion returns: an update in place writes its part alone. */
static double written_for(const struct stet_program *p, const struct stet_value *v, unsigned depth)
{
    const struct stet_op *op = stet_value_def(v);
    const struct stet_block *inner;
    double n = 0;

    if (!op || depth > MOST_NESTING)
        return stet_footprint_bytes(v->type, false);
    if (op->known == STET_HLO_BITCAST && op->operand_count)
        return written_for(p, stet_op_operand(op, 0), depth + 1);
    if (op->known == STET_HLO_TUPLE) {
        for (uint32_t i = 0; i < op->operand_count; i++)
            n += written_for(p, stet_op_operand(op, i), depth + 1);
        return n;
    }
    if (op->known == STET_HLO_DYNAMIC_UPDATE_SLICE && op->operand_count > 1)
        return stet_footprint_bytes(stet_op_operand(op, 1)->type, true);
    inner = op->known == STET_HLO_FUSION
                ? stet_footprint_body(stet_footprint_called(p, op, "calls"))
                : NULL;
    if (inner && inner->op_count && inner->ops[inner->op_count - 1]->operand_count)
        return written_for(p, stet_op_operand(inner->ops[inner->op_count - 1], 0), depth + 1);
    return stet_footprint_bytes(v->type, false);
}

static double fusion_moved(const struct stet_program *p, const struct stet_op *op)
{
    const struct stet_block *b = stet_footprint_body(stet_footprint_called(p, op, "calls"));
    double n = stet_footprint_bytes(op->results[0].type, false);
    double written = b ? written_for(p, &op->results[0], 0) : n;

    n = written < n ? written : n;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_value *v = stet_op_operand(op, i);
        double all = stet_footprint_bytes(v->type, false);

        if (all > 0 && b && i < b->arg_count)
            n += read_by(p, b, &b->args[i], 0);
        else
            n += all;
    }
    return n;
}

double stet_footprint_moved(const struct stet_program *p, const struct stet_op *op)
{
    double n = 0;

    if (!op->result_count || is_name(op))
        return 0;
    switch (op->known) {
    case STET_HLO_WHILE:
    case STET_HLO_CONDITIONAL:
    case STET_HLO_CALL:
    case STET_HLO_ASYNC_START:
    case STET_HLO_ASYNC_UPDATE:
    case STET_HLO_ASYNC_DONE:
    case STET_HLO_COPY_DONE: /* counted where it starts */
        return 0;
    case STET_HLO_FUSION:
        return fusion_moved(p, op);
    case STET_HLO_DYNAMIC_UPDATE_SLICE:
        return op->operand_count > 1 ? 2 * stet_footprint_bytes(stet_op_operand(op, 1)->type, true)
                                     : 0;
    case STET_HLO_COPY_START: /* the result is (to, from, context) */
        if (op->results[0].type->kind == STET_TYPE_TUPLE && op->results[0].type->member_count > 1)
            return stet_footprint_bytes(op->results[0].type->members[0], false) +
                   stet_footprint_bytes(op->results[0].type->members[1], false);
        return 0;
    default:
        break;
    }
    n = stet_footprint_bytes(op->results[0].type, false);
    if (takes_part(op))
        return 2 * n;
    for (uint32_t i = 0; i < op->operand_count; i++)
        n += stet_footprint_bytes(stet_op_operand(op, i)->type, false);
    return n;
}
