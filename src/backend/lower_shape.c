/* Lowering: operations that move elements without changing them. */
#include "backend/lower.h"
#include "backend/params.h"

enum stet_rc stet_lower_broadcast_in_dim(struct stet_lower *l, int arg)
{
    struct stet_graph_ints dims;
    struct stet_gval *a;
    struct stet_shape s;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_ints(l, "broadcast_dimensions", &dims));
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(a->shape.dtype != STET_DT_TOKEN, "a token has no value");
    CHECK(dims.count == a->shape.rank && stet_lower_dims_ok(dims.v, dims.count, s.rank),
          "broadcast_dimensions do not fit the operand");
    for (uint32_t i = 0; i < dims.count; i++)
        CHECK(a->shape.dims[i] == 1 || a->shape.dims[i] == s.dims[dims.v[i]],
              "dimension %u cannot be broadcast", i);
    s.dtype = a->shape.dtype;
    return stet_lower_out(l, 0, stet_graph_broadcast(l, a, &s, dims.v));
}

enum stet_rc stet_lower_broadcast(struct stet_lower *l, int arg)
{
    int64_t dims[STET_MAX_RANK];
    struct stet_gval *a;
    struct stet_shape s;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(s.rank >= a->shape.rank && a->shape.dtype != STET_DT_TOKEN,
          "the result has a lower rank");
    for (uint32_t i = 0; i < a->shape.rank; i++) {
        dims[i] = (int64_t)s.rank - (int64_t)a->shape.rank + (int64_t)i;
        CHECK(s.dims[dims[i]] == a->shape.dims[i], "dimension %u does not fit the result", i);
    }
    return stet_lower_out(l, 0, stet_graph_broadcast(l, a, &s, dims));
}

enum stet_rc stet_lower_reshape(struct stet_lower *l, int arg)
{
    struct stet_gval *a;
    struct stet_shape s;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(s.elements == a->shape.elements && s.dtype == a->shape.dtype && s.dtype != STET_DT_TOKEN,
          "operand and result differ in size or type");
    return stet_lower_out(l, 0, stet_graph_reshape(l, a, &s));
}

enum stet_rc stet_lower_transpose(struct stet_lower *l, int arg)
{
    int64_t step[STET_MAX_RANK], start[STET_MAX_RANK] = {0}, dims[STET_MAX_RANK];
    struct stet_graph_ints p;
    struct stet_gval *a;
    struct stet_shape s;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_ints(l, "permutation", &p));
    CHECK(p.count == a->shape.rank && stet_lower_dims_ok(p.v, p.count, a->shape.rank),
          "permutation does not fit the operand");
    for (uint32_t i = 0; i < p.count; i++)
        dims[i] = a->shape.dims[p.v[i]], step[i] = 1;
    stet_shape_set(&s, a->shape.dtype, dims, p.count);
    return stet_lower_out(l, 0, stet_graph_view(l, a, &s, p.v, step, start));
}

enum stet_rc stet_lower_reverse(struct stet_lower *l, int arg)
{
    int64_t in_dim[STET_MAX_RANK], step[STET_MAX_RANK], start[STET_MAX_RANK] = {0};
    struct stet_graph_ints dims;
    struct stet_gval *a;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_ints(l, "dimensions", &dims));
    CHECK(stet_lower_dims_ok(dims.v, dims.count, a->shape.rank), "dimensions do not fit");
    for (uint32_t i = 0; i < a->shape.rank; i++)
        in_dim[i] = (int64_t)i, step[i] = 1;
    for (uint32_t i = 0; i < dims.count; i++) {
        step[dims.v[i]] = -1;
        start[dims.v[i]] = a->shape.dims[dims.v[i]] ? a->shape.dims[dims.v[i]] - 1 : 0;
    }
    return stet_lower_out(l, 0, stet_graph_view(l, a, &a->shape, in_dim, step, start));
}

enum stet_rc stet_lower_slice(struct stet_lower *l, int arg)
{
    int64_t in_dim[STET_MAX_RANK], dims[STET_MAX_RANK];
    struct stet_graph_ints start, limit, step;
    struct stet_gval *a;
    struct stet_shape s;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_ints(l, "start_indices", &start));
    TRY(stet_lower_ints(l, "limit_indices", &limit));
    TRY(stet_lower_ints(l, "strides", &step));
    CHECK(start.count == a->shape.rank && limit.count == a->shape.rank &&
              (step.count == a->shape.rank || step.count == 0),
          "start_indices, limit_indices and strides do not fit the operand");
    for (uint32_t i = 0; i < a->shape.rank; i++) {
        if (step.count == 0)
            step.v[i] = 1;
        CHECK(start.v[i] >= 0 && start.v[i] <= limit.v[i] && limit.v[i] <= a->shape.dims[i] &&
                  step.v[i] > 0,
              "the slice leaves dimension %u", i);
        in_dim[i] = (int64_t)i;
        dims[i] =
            (limit.v[i] - start.v[i]) / step.v[i] + ((limit.v[i] - start.v[i]) % step.v[i] ? 1 : 0);
        if (dims[i] <= 1)
            step.v[i] = 1; /* else an absurd stride could overflow */
    }
    stet_shape_set(&s, a->shape.dtype, dims, a->shape.rank);
    return stet_lower_out(l, 0, stet_graph_view(l, a, &s, in_dim, step.v, start.v));
}

/* ---- copies ---- */

static struct stet_copy *new_copy(struct stet_lower *l, const struct stet_shape *out,
                                  uint32_t moves)
{
    struct stet_copy *c = STET_NEW(l->arena, struct stet_copy);

    if (!c || !(c->moves = STET_NEW_ARRAY(l->arena, struct stet_move, moves))) {
        stet_lower_memory(l);
        return NULL;
    }
    c->bytes = stet_dtype_bytes(out->dtype);
    c->out_elements = out->elements;
    c->fill = c->base = -1;
    c->move_count = moves;
    return c;
}

/* Copies all of `v` (strides through views) to offset `to` in the result; its base value becomes
 * in[i]. */
static void move_all(struct stet_move *m, struct stet_gval **in, uint32_t i, struct stet_gval *v,
                     const struct stet_shape *out, int64_t to)
{
    struct stet_tile_view map;

    in[i] = stet_graph_strided(v, &map);
    m->from = i;
    m->rank = map.rank;
    m->from_offset = map.offset;
    m->to_offset = to;
    memcpy(m->dims, map.dims, sizeof m->dims);
    memcpy(m->from_strides, map.strides, sizeof m->from_strides);
    stet_graph_dense_strides(out, m->to_strides);
}

struct stet_gval *stet_lower_paste(struct stet_lower *l, struct stet_gval **parts,
                                   const int64_t *starts, uint32_t count,
                                   const struct stet_shape *s)
{
    struct stet_gval **in = STET_NEW_ARRAY(l->arena, struct stet_gval *, count);
    struct stet_copy *c = new_copy(l, s, count);
    int64_t strides[STET_MAX_RANK];
    struct stet_gnode *n;

    if (!in || !c) {
        stet_lower_memory(l);
        return NULL;
    }
    stet_graph_dense_strides(s, strides);
    for (uint32_t i = 0; i < count; i++) {
        int64_t to = 0;

        for (uint32_t d = 0; d < s->rank; d++)
            to += starts[(size_t)i * s->rank + d] * strides[d];
        move_all(&c->moves[i], in, i, parts[i], s, to);
    }
    c->out = count;
    n = stet_graph_call(l, &stet_kernel_copy, c, in, count, s, 1);
    return n ? n->out[0] : NULL;
}

enum stet_rc stet_lower_concatenate(struct stet_lower *l, int arg)
{
    int64_t dim = stet_lower_int(l, "dimension", -1), at = 0, strides[STET_MAX_RANK];
    uint32_t count = l->op->operand_count;
    struct stet_gval **in, *a, *first;
    struct stet_copy *c;
    struct stet_gnode *n;
    struct stet_shape s;

    (void)arg;
    OPERAND(first, 0);
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(dim >= 0 && dim < first->shape.rank, "dimension is out of range");
    if (count == 1)
        return stet_lower_out(l, 0, first);
    in = STET_NEW_ARRAY(l->arena, struct stet_gval *, count);
    c = new_copy(l, &s, count);
    if (!in || !c)
        return stet_lower_memory(l);
    stet_graph_dense_strides(&s, strides);
    for (uint32_t i = 0; i < count; i++) {
        OPERAND(a, i);
        CHECK(a->shape.rank == s.rank && a->shape.dtype == s.dtype, "operand %u does not fit", i);
        for (uint32_t d = 0; d < s.rank; d++)
            CHECK(d == dim || a->shape.dims[d] == s.dims[d], "operand %u does not fit", i);
        CHECK(a->shape.dims[dim] <= s.dims[dim] - at, "the operands exceed the result");
        move_all(&c->moves[i], in, i, a, &s, at * strides[dim]);
        at += a->shape.dims[dim];
    }
    CHECK(at == s.dims[dim], "the operands do not fill the result");
    c->out = count;
    n = stet_graph_call(l, &stet_kernel_copy, c, in, count, &s, 1);
    return stet_lower_out(l, 0, n ? n->out[0] : NULL);
}

/* The part of the operand that is in the result, and its position: low and high may be negative. */
static bool pad_dim(struct stet_move *m, uint32_t d, int64_t size, int64_t out, int64_t low,
                    int64_t inner)
{
    int64_t step = inner + 1, first = 0, last;

    if (low < 0)
        first = (-low + step - 1) / step;
    if (first >= size)
        return false;
    /* the last element i with low + i * step < out */
    if (out - 1 - low < first * step)
        return false;
    last = (out - 1 - low) / step;
    if (last > size - 1)
        last = size - 1;
    m->from_offset += first * m->from_strides[d];
    m->to_offset += (low + first * step) * m->to_strides[d];
    m->dims[d] = last - first + 1;
    m->to_strides[d] *= step;
    return true;
}

enum stet_rc stet_lower_pad(struct stet_lower *l, int dynamic)
{
    const int64_t most = (int64_t)1 << 46;
    struct stet_graph_ints low, high, inner;
    struct stet_gval *a, *v, *in[2];
    struct stet_copy *c;
    struct stet_gnode *n;
    struct stet_shape s;
    bool any;

    OPERAND(a, 0);
    OPERAND(v, 1);
    TRY(stet_lower_shape(l, 0, &s));
    TRY(dynamic ? stet_lower_operand_ints(l, 2, &low)
                : stet_lower_ints(l, "edge_padding_low", &low));
    TRY(dynamic ? stet_lower_operand_ints(l, 3, &high)
                : stet_lower_ints(l, "edge_padding_high", &high));
    TRY(dynamic ? stet_lower_operand_ints(l, 4, &inner)
                : stet_lower_ints(l, "interior_padding", &inner));
    CHECK(low.count == a->shape.rank && high.count == a->shape.rank &&
              inner.count == a->shape.rank && s.rank == a->shape.rank,
          "the paddings do not fit the operand");
    CHECK(v->shape.rank == 0 && v->shape.dtype == a->shape.dtype && s.dtype == a->shape.dtype,
          "the padding value does not fit the operand");
    for (uint32_t d = 0; d < s.rank; d++) {
        int64_t size = a->shape.dims[d];

        CHECK(inner.v[d] >= 0 && inner.v[d] < most && low.v[d] > -most && low.v[d] < most &&
                  high.v[d] > -most && high.v[d] < most && size < most,
              "dimension %u has too much padding", d);
        CHECK(size == 0 || inner.v[d] == 0 || size <= most / inner.v[d], "too large");
        CHECK(low.v[d] + high.v[d] + size + (size ? (size - 1) * inner.v[d] : 0) == s.dims[d],
              "dimension %u of the result does not fit the padding", d);
    }
    if (!(c = new_copy(l, &s, 1)))
        return stet_lower_memory(l);
    move_all(c->moves, in, 0, a, &s, 0);
    any = a->shape.elements > 0;
    for (uint32_t d = 0; any && d < s.rank; d++)
        any = pad_dim(c->moves, d, a->shape.dims[d], s.dims[d], low.v[d], inner.v[d]);
    if (!any)
        c->move_count = 0;
    in[1] = v;
    c->fill = 1;
    c->out = 2;
    n = stet_graph_call(l, &stet_kernel_copy, c, in, 2, &s, 1);
    return stet_lower_out(l, 0, n ? n->out[0] : NULL);
}

/* Start operands first..first+rank: scalars of one integer type. HLO also has an older form, one
 * operand with all of them. */
static enum stet_rc dynamic_starts(struct stet_lower *l, uint32_t first, uint32_t rank,
                                   struct stet_gval **in, uint32_t at, struct stet_copy *c)
{
    struct stet_gval *all = NULL;
    struct stet_shape scalar;

    if (l->op->operand_count == first + 1) {
        OPERAND(all, first);
        stet_shape_set(&scalar, all->shape.dtype, NULL, 0);
        all = all->shape.rank == 1 && all->shape.dims[0] == (int64_t)rank ? all : NULL;
    }
    CHECK(all || l->op->operand_count == first + rank, "%u start indices are needed", rank);
    c->first_start = at;
    c->start_count = rank;
    for (uint32_t i = 0; i < rank; i++) {
        if (all)
            in[at + i] = stet_graph_view(l, all, &scalar, NULL, NULL, (const int64_t[]){i});
        else
            OPERAND(in[at + i], first + i);
        if (!in[at + i])
            return stet_lower_memory(l);
        CHECK(in[at + i]->shape.rank == 0 && stet_dtype_is_int(in[at + i]->shape.dtype) &&
                  in[at + i]->shape.dtype == in[at]->shape.dtype,
              "start index %u is not an integer scalar", i);
        c->start_type = in[at]->shape.dtype;
    }
    return STET_OK;
}

enum stet_rc stet_lower_dynamic_slice(struct stet_lower *l, int arg)
{
    struct stet_gval *in[1 + STET_MAX_RANK], *a;
    struct stet_copy *c;
    struct stet_gnode *n;
    struct stet_shape s;
    uint32_t rank;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_shape(l, 0, &s));
    rank = a->shape.rank;
    CHECK(s.rank == rank && s.dtype == a->shape.dtype, "the result does not fit the operand");
    if (!(c = new_copy(l, &s, 1)))
        return stet_lower_memory(l);
    move_all(c->moves, in, 0, a, &s, 0);
    TRY(dynamic_starts(l, 1, rank, in, 1, c));
    for (uint32_t d = 0; d < rank; d++) {
        CHECK(s.dims[d] <= a->shape.dims[d], "slice size %u exceeds the operand", d);
        c->limit[d] = a->shape.dims[d] - s.dims[d];
        c->from_step[d] = c->moves->from_strides[d];
        c->moves->dims[d] = s.dims[d];
    }
    c->out = 1 + rank;
    n = stet_graph_call(l, &stet_kernel_copy, c, in, 1 + rank, &s, 1);
    return stet_lower_out(l, 0, n ? n->out[0] : NULL);
}

enum stet_rc stet_lower_dynamic_update_slice(struct stet_lower *l, int arg)
{
    struct stet_gval *in[2 + STET_MAX_RANK], *a, *u;
    int64_t strides[STET_MAX_RANK];
    struct stet_copy *c;
    struct stet_gnode *n;
    uint32_t rank;

    (void)arg;
    OPERAND(a, 0);
    OPERAND(u, 1);
    rank = a->shape.rank;
    CHECK(u->shape.rank == rank && u->shape.dtype == a->shape.dtype, "the update does not fit");
    if (!(c = new_copy(l, &a->shape, 1)))
        return stet_lower_memory(l);
    in[0] = a;
    move_all(c->moves, in, 1, u, &a->shape, 0);
    TRY(dynamic_starts(l, 2, rank, in, 2, c));
    stet_graph_dense_strides(&a->shape, strides);
    for (uint32_t d = 0; d < rank; d++) {
        CHECK(u->shape.dims[d] <= a->shape.dims[d], "update size %u exceeds the operand", d);
        c->limit[d] = a->shape.dims[d] - u->shape.dims[d];
        c->to_step[d] = strides[d];
    }
    c->base = 0;
    c->out = 2 + rank;
    n = stet_graph_call(l, &stet_kernel_copy, c, in, 2 + rank, &a->shape, 1);
    if (n)
        n->in_place = 0;
    return stet_lower_out(l, 0, n ? n->out[0] : NULL);
}

/* Only for the size that the dimension has anyway: plans have static shapes. */
enum stet_rc stet_lower_set_dimension_size(struct stet_lower *l, int arg)
{
    int64_t dim = stet_lower_int(l, "dimension", -1);
    struct stet_graph_ints size;
    struct stet_gval *a;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_operand_ints(l, 1, &size));
    CHECK(dim >= 0 && dim < a->shape.rank && size.count == 1, "dimension is out of range");
    if (size.v[0] != a->shape.dims[dim])
        return stet_lower_fail(l, STET_UNSUPPORTED, "the size of a dimension changes");
    return stet_lower_out(l, 0, a);
}

enum stet_rc stet_lower_get_dimension_size(struct stet_lower *l, int arg)
{
    int64_t dim = stet_lower_int(l, "dimension", -1);
    struct stet_gval *a;
    struct stet_shape s;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(dim >= 0 && dim < a->shape.rank && s.rank == 0, "dimension is out of range");
    return stet_lower_out(l, 0, stet_graph_number(l, &s, (double)a->shape.dims[dim]));
}
