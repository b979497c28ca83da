/* Chooses the sharding of a result for which the program has none: that of the arrays it is
 * computed from, if this is simple. It decides only where the result's tiles are, so any choice is
 * correct. */
#include "backend/lower.h"

/* How a value is found: the call whose body we are in. */
struct frame {
    const struct stet_op *call;
    const struct frame *outer;
};

/* Large programs are not searched to the end. */
enum { MOST_STEPS = 4096, MOST_DEPTH = 256 };

struct search {
    struct stet_lower *l;
    uint32_t steps;
};

static bool guess(struct search *s, const struct stet_value *v, const struct frame *f,
                  uint32_t depth, struct stet_sharding *out);

/* ---- shardings of other shapes ---- */

static uint32_t coordinate(const struct stet_sharding *s, uint32_t lane, uint32_t dim)
{
    uint32_t at = s->tile[lane];

    for (uint32_t d = s->rank; d-- > dim + 1;)
        at /= (uint32_t)s->tiles[d];
    return at % (uint32_t)s->tiles[dim];
}

/* Where dimension d of a result takes its tiles from: dimension from[d] of `of[d]`, or NULL. */
struct source {
    const struct stet_sharding *of[STET_MAX_RANK];
    uint32_t from[STET_MAX_RANK];
};

/* False if the tiles would not be on equally many lanes each, or none is cut. */
static bool build(struct stet_lower *l, const struct source *from, const struct stet_type *t,
                  struct stet_sharding *out)
{
    uint32_t *tile = STET_NEW_ARRAY(l->arena, uint32_t, l->lanes);
    uint32_t *held = STET_NEW_ARRAY(l->arena, uint32_t, l->lanes);
    uint64_t count = 1;

    *out = (struct stet_sharding){.rank = t->rank, .tile = tile};
    for (uint32_t d = 0; d < t->rank; d++) {
        const struct stet_sharding *s = from->of[d];
        int64_t n = s ? s->tiles[from->from[d]] : 1;

        out->tiles[d] = t->dims[d] > 0 && t->dims[d] % n == 0 ? n : 1;
        count *= (uint64_t)out->tiles[d];
        if (count > l->lanes)
            return false;
    }
    if (!tile || !held || count == 1)
        return false;
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        for (uint32_t d = 0; d < t->rank; d++)
            tile[lane] = tile[lane] * (uint32_t)out->tiles[d] +
                         (out->tiles[d] > 1 ? coordinate(from->of[d], lane, from->from[d]) : 0);
        held[tile[lane]]++;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (held[i] != l->lanes / count)
            return false;
    }
    return true;
}

static const struct stet_type *tensor(const struct stet_value *v)
{
    const struct stet_type *t = v->type;

    return t && t->kind == STET_TYPE_TENSOR && t->rank <= STET_MAX_RANK ? t : NULL;
}

/* ---- operations ---- */

/* Dimensions of equal size in the same place: from the left, and in a reshape from the right. */
static void match_dims(const struct stet_type *from, const struct stet_type *to,
                       const struct stet_sharding *s, bool reshape, struct source *out)
{
    for (uint32_t d = 0; d < from->rank && d < to->rank; d++) {
        if (from->dims[d] != to->dims[d] && reshape)
            break;
        if (from->dims[d] == to->dims[d])
            out->of[d] = s, out->from[d] = d;
    }
    for (uint32_t i = 1; reshape && i <= from->rank && i <= to->rank; i++) {
        uint32_t d = to->rank - i;

        if (from->dims[from->rank - i] != to->dims[d] || out->of[d])
            break;
        out->of[d] = s, out->from[d] = from->rank - i;
    }
}

static bool map_dims(struct stet_lower *l, const struct stet_op *op, const struct stet_sharding *s,
                     const struct stet_type *from, const struct stet_type *to, struct source *out)
{
    struct stet_graph_ints dims;
    const char *name = op->known == STET_STABLEHLO_TRANSPOSE ? "permutation"
                       : op->known == STET_STABLEHLO_REDUCE  ? "dimensions"
                                                             : "broadcast_dimensions";
    uint32_t at = 0;

    (void)l;
    if (!stet_lower_ints_of(stet_op_attr(op, name), &dims))
        return false;
    if (op->known == STET_STABLEHLO_REDUCE) {
        for (uint32_t d = 0; d < from->rank; d++) {
            bool gone = false;

            for (uint32_t i = 0; i < dims.count; i++)
                gone |= dims.v[i] == d;
            if (!gone && at < to->rank)
                out->of[at] = s, out->from[at++] = d;
        }
        return true;
    }
    for (uint32_t i = 0; i < dims.count; i++) {
        bool transpose = op->known == STET_STABLEHLO_TRANSPOSE;
        int64_t in = transpose ? dims.v[i] : i, at_out = transpose ? i : dims.v[i];

        if (in < 0 || in >= from->rank || at_out < 0 || at_out >= to->rank)
            return false;
        if (from->dims[in] == to->dims[at_out])
            out->of[at_out] = s, out->from[at_out] = (uint32_t)in;
    }
    return true;
}

static bool listed(const struct stet_graph_ints *list, uint32_t d)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->v[i] == d)
            return true;
    }
    return false;
}

/* Batch dimensions, then what is free on the left, then on the right. */
static bool guess_dot(struct search *s, const struct stet_op *op, const struct frame *f,
                      uint32_t depth, struct stet_sharding *out)
{
    const struct stet_attr *dims = stet_op_attr(op, "dot_dimension_numbers");
    const struct stet_type *to = tensor(&op->results[0]);
    struct stet_graph_ints batch[2], contract[2];
    struct stet_sharding side[2];
    struct source from = {0}, left;
    uint32_t at = 0;

    if (!dims || op->operand_count != 2 ||
        !stet_lower_ints_of(stet_attr_field(dims, "lhs_batching_dimensions"), &batch[0]) ||
        !stet_lower_ints_of(stet_attr_field(dims, "rhs_batching_dimensions"), &batch[1]) ||
        !stet_lower_ints_of(stet_attr_field(dims, "lhs_contracting_dimensions"), &contract[0]) ||
        !stet_lower_ints_of(stet_attr_field(dims, "rhs_contracting_dimensions"), &contract[1]))
        return false;
    left = from;
    for (uint32_t k = 0; k < 2; k++) {
        const struct stet_value *v = stet_op_operand(op, k);
        const struct stet_type *t = tensor(v);
        bool known = guess(s, v, f, depth, &side[k]);

        if (!t)
            return false;
        for (uint32_t i = 0; i < batch[k].count && i < to->rank && known; i++) {
            if (batch[k].v[i] >= 0 && batch[k].v[i] < t->rank && !from.of[i])
                from.of[i] = &side[k], from.from[i] = (uint32_t)batch[k].v[i];
        }
        at = k == 0 ? batch[k].count : at;
        for (uint32_t d = 0; d < t->rank; d++) {
            if (listed(&batch[k], d) || listed(&contract[k], d))
                continue;
            if (known && at < to->rank)
                from.of[at] = &side[k], from.from[at] = d;
            at++;
        }
        if (k == 0)
            left = from;
    }
    return build(s->l, &from, to, out) || build(s->l, &left, to, out);
}

/* A sharding that the operation itself names. */
static bool named(struct search *s, const struct stet_op *op, uint32_t i, uint32_t rank,
                  struct stet_sharding *out)
{
    const struct stet_attr *attrs = stet_op_attr(op, "mhlo.frontend_attributes");
    const struct stet_attr *plain = NULL, *list = NULL;
    struct stet_err err = STET_ERR_INIT;
    struct stet_sharding_reader r = s->l->shardings;
    struct stet_view text;

    r.err = &err;
    if (op->known == STET_SDY_SHARDING_CONSTRAINT || op->known == STET_SDY_RESHARD)
        plain = stet_op_attr(op, "sharding");
    else if (op->known == STET_SDY_MANUAL_COMPUTATION)
        list = stet_op_attr(op, "out_shardings");
    else if (attrs && stet_attr_field(attrs, "xla.sdy.out_shardings"))
        list = stet_attr_field(attrs, "xla.sdy.out_shardings");
    else
        plain = stet_op_attr(op, "mhlo.sharding");
    if (!plain && !list && attrs)
        list = stet_attr_field(attrs, "xla.sdy.sharding");
    if ((!plain && !list) || stet_lower_attr_text(s->l, plain ? plain : list, &text) != STET_OK)
        return false;
    if (list)
        text = stet_sharding_of_value(text, i);
    return text.len && stet_sharding_read(&r, text, (struct stet_view){0}, rank, out) == STET_OK &&
           stet_sharding_tiles(out) > 1;
}

static bool guess_call(struct search *s, const struct stet_op *op, uint32_t i,
                       const struct frame *f, uint32_t depth, struct stet_sharding *out)
{
    const struct stet_attr *a = stet_op_attr(op, "callee");
    const struct stet_op *callee =
        a ? stet_program_function(s->l->program, stet_attr_text(a)) : NULL;
    struct frame inner = {op, f};
    const struct stet_block *b;
    const struct stet_op *end;

    if (!callee || !callee->region_count || !stet_op_region(callee, 0)->block_count)
        return false;
    b = stet_op_region(callee, 0)->blocks[0];
    end = b->op_count ? b->ops[b->op_count - 1] : NULL;
    return end && i < end->operand_count && guess(s, stet_op_operand(end, i), &inner, depth, out);
}

/* From the first operand that is cut in dimensions that the result has too. */
static bool guess_like_operand(struct search *s, const struct stet_op *op,
                               const struct stet_type *to, const struct frame *f, uint32_t depth,
                               struct stet_sharding *out)
{
    bool mapped = op->known == STET_STABLEHLO_TRANSPOSE ||
                  op->known == STET_STABLEHLO_BROADCAST_IN_DIM ||
                  op->known == STET_STABLEHLO_REDUCE;
    bool reshape = op->known == STET_STABLEHLO_RESHAPE;

    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_value *v = stet_op_operand(op, i);
        const struct stet_type *from = tensor(v);
        struct source where = {0};
        struct stet_sharding in;

        if (!from || (!mapped && !reshape && from->rank != to->rank) || !guess(s, v, f, depth, &in))
            continue;
        if (mapped && !map_dims(s->l, op, &in, from, to, &where))
            continue;
        if (!mapped)
            match_dims(from, to, &in, reshape, &where);
        if (build(s->l, &where, to, out))
            return true;
    }
    return false;
}

static bool guess(struct search *s, const struct stet_value *v, const struct frame *f,
                  uint32_t depth, struct stet_sharding *out)
{
    const struct stet_op *op = stet_value_def(v);
    const struct stet_type *t = tensor(v);

    if (!t || !t->rank || depth > MOST_DEPTH || s->steps++ > MOST_STEPS)
        return false;
    if (!op && f)
        return v->index < f->call->operand_count &&
               guess(s, stet_op_operand(f->call, v->index), f->outer, depth + 1, out);
    if (!op) {
        if (stet_value_block(v)->parent != s->l->program->entry)
            return false;
        *out = s->l->in_shardings[v->index];
        return stet_sharding_tiles(out) > 1;
    }
    if (named(s, op, v->index, t->rank, out))
        return true;
    switch (op->known) {
    case STET_FUNC_CALL:
        return guess_call(s, op, v->index, f, depth + 1, out);
    case STET_STABLEHLO_DOT_GENERAL:
        return guess_dot(s, op, f, depth + 1, out);
    case STET_STABLEHLO_WHILE:
        return v->index < op->operand_count &&
               guess(s, stet_op_operand(op, v->index), f, depth + 1, out);
    default:
        return guess_like_operand(s, op, t, f, depth + 1, out);
    }
}

/* A constraint inside the program may cut an array into unequal tiles; a result's tiles are equal.
 */
static bool divides(const struct stet_type *t, const struct stet_sharding *s)
{
    for (uint32_t d = 0; d < s->rank; d++) {
        if (t->dims[d] % s->tiles[d])
            return false;
    }
    return true;
}

enum stet_rc stet_lower_guess_sharding(struct stet_lower *l, const struct stet_value *v,
                                       uint32_t rank, struct stet_sharding *out)
{
    struct search s = {.l = l};

    if (guess(&s, v, NULL, 0, out) && out->rank == rank && divides(tensor(v), out)) {
        out->group = NULL;
        return STET_OK;
    }
    return stet_sharding_whole(&l->shardings, rank, out);
}
