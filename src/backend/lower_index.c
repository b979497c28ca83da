/* Lowering: gather and scatter, as two grids: of index vectors, and of a window at each. */
#include "backend/lower.h"
#include "backend/params.h"

struct index_numbers {
    struct stet_graph_ints
        window; /* offset_dims / update_window_dims: dims of the result or updates */
    struct stet_graph_ints dropped; /* collapsed_slice_dims / inserted_window_dims of the operand */
    struct stet_graph_ints batching, index_batching;
    struct stet_graph_ints map; /* start_index_map / scatter_dims_to_operand_dims */
    int64_t vector;
};

static bool listed(const struct stet_graph_ints *l, int64_t d)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->v[i] == d)
            return true;
    return false;
}

static enum stet_rc check_numbers(struct stet_lower *l, const struct index_numbers *n,
                                  const struct stet_shape *operand, const struct stet_shape *index,
                                  uint32_t other_rank)
{
    struct stet_graph_ints gone = n->dropped;

    CHECK(n->vector >= 0 && n->vector <= index->rank, "index_vector_dim is out of range");
    CHECK(stet_dtype_is_int(index->dtype), "indices are not integers");
    CHECK(gone.count + n->batching.count <= STET_MAX_RANK, "too many dimensions");
    memcpy(gone.v + gone.count, n->batching.v, n->batching.count * sizeof gone.v[0]);
    gone.count += n->batching.count;
    CHECK(stet_lower_dims_ok(gone.v, gone.count, operand->rank),
          "collapsed, inserted or batching dimensions do not fit the operand");
    CHECK(stet_lower_dims_ok(n->map.v, n->map.count, operand->rank), "the index map does not fit");
    for (uint32_t i = 0; i < n->map.count; i++)
        CHECK(!listed(&n->batching, n->map.v[i]), "the index map names a batching dimension");
    CHECK(stet_lower_dims_ok(n->window.v, n->window.count, other_rank),
          "window dimensions do not fit");
    CHECK(n->window.count + gone.count == operand->rank,
          "window, collapsed and batching dimensions do not make up the operand");
    CHECK(n->batching.count == n->index_batching.count &&
              stet_lower_dims_ok(n->index_batching.v, n->index_batching.count, index->rank) &&
              !listed(&n->index_batching, n->vector),
          "batching dimensions do not fit the indices");
    for (uint32_t i = 0; i < n->batching.count; i++)
        CHECK(operand->dims[n->batching.v[i]] == index->dims[n->index_batching.v[i]],
              "batching dimension %u differs", i);
    CHECK((n->vector == index->rank ? 1 : index->dims[n->vector]) == n->map.count,
          "index vectors have another length");
    CHECK(other_rank == n->window.count + index->rank - (n->vector == index->rank ? 0 : 1),
          "the rank of the result or updates does not fit");
    return STET_OK;
}

/* `sizes`: the window's extent in each dimension of the operand; `other`: the gather's result or
 * the updates, whose window dims must be those extents (or fewer for updates). */
static enum stet_rc index_grid(struct stet_lower *l, struct stet_gather_params *g,
                               const struct index_numbers *n, const struct stet_shape *operand,
                               const struct stet_shape *index, const struct stet_shape *other,
                               const int64_t *sizes)
{
    int64_t os[STET_MAX_RANK], is[STET_MAX_RANK], rs[STET_MAX_RANK];
    uint32_t at = 0, w = 0;

    TRY(check_numbers(l, n, operand, index, other->rank));
    stet_graph_dense_strides(operand, os);
    stet_graph_dense_strides(index, is);
    stet_graph_dense_strides(other, rs);
    g->operand = *operand;
    g->index_type = index->dtype;
    g->depth = n->map.count;
    g->depth_stride = n->vector == index->rank ? 0 : is[n->vector];
    for (uint32_t i = 0; i < g->depth; i++) {
        g->step[i] = os[n->map.v[i]];
        g->limit[i] = operand->dims[n->map.v[i]] - sizes[n->map.v[i]];
    }
    g->batch = 1;
    for (uint32_t d = 0; d < other->rank;
         d++) { /* batch dims: in order, those that are not window */
        if (listed(&n->window, d))
            continue;
        if (at == n->vector)
            at++;
        CHECK(at < index->rank && index->dims[at] == other->dims[d],
              "dimension %u does not fit the indices", d);
        g->batch_dims[g->batch_rank] = other->dims[d];
        g->index_strides[g->batch_rank] = is[at];
        g->result_strides[g->batch_rank] = rs[d];
        for (uint32_t i = 0; i < n->batching.count; i++)
            if (n->index_batching.v[i] == (int64_t)at)
                g->batching_step[g->batch_rank] = os[n->batching.v[i]];
        g->batch_rank++;
        g->batch *= other->dims[d];
        at++;
    }
    g->window = 1;
    for (uint32_t d = 0; d < operand->rank; d++) {
        if (listed(&n->dropped, d) || listed(&n->batching, d)) {
            CHECK(sizes[d] <= 1, "a collapsed dimension has size %lld", (long long)sizes[d]);
            continue;
        }
        CHECK(other->dims[n->window.v[w]] == sizes[d], "window dimension %u does not fit", w);
        g->window_dims[g->window_rank] = sizes[d];
        g->window_from[g->window_rank] = os[d];
        g->window_to[g->window_rank++] = rs[n->window.v[w++]];
        g->window *= sizes[d];
    }
    return STET_OK;
}

enum stet_rc stet_lower_gather(struct stet_lower *l, int dynamic)
{
    const struct stet_attr *a = stet_op_attr(l->op, "dimension_numbers");
    struct stet_gather_params *g = STET_NEW(l->arena, struct stet_gather_params);
    struct stet_graph_ints sizes, vector;
    struct index_numbers n;
    struct stet_gval *in[2];
    struct stet_gnode *node;
    struct stet_shape s;

    OPERAND(in[0], 0);
    OPERAND(in[1], 1);
    if (!g || !(g->bytes = STET_NEW_ARRAY(l->arena, size_t, 1)))
        return stet_lower_memory(l);
    CHECK(a, "dimension_numbers is missing");
    TRY(stet_lower_field(l, a, "offset_dims", &n.window));
    TRY(stet_lower_field(l, a, "collapsed_slice_dims", &n.dropped));
    TRY(stet_lower_field(l, a, "operand_batching_dims", &n.batching));
    TRY(stet_lower_field(l, a, "start_indices_batching_dims", &n.index_batching));
    TRY(stet_lower_field(l, a, "start_index_map", &n.map));
    TRY(stet_lower_field(l, a, "index_vector_dim", &vector));
    TRY(dynamic ? stet_lower_operand_ints(l, 2, &sizes)
                : stet_lower_ints(l, "slice_sizes", &sizes));
    n.vector = vector.count ? vector.v[0] : 0;
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(s.dtype == in[0]->shape.dtype && s.dtype != STET_DT_TOKEN, "the result has another type");
    CHECK(sizes.count == in[0]->shape.rank, "slice_sizes do not fit the operand");
    for (uint32_t d = 0; d < sizes.count; d++)
        CHECK(sizes.v[d] >= 0 && sizes.v[d] <= in[0]->shape.dims[d],
              "slice size %u leaves the operand", d);
    for (uint32_t i = 0; i < n.batching.count; i++)
        CHECK(n.batching.v[i] >= 0 && n.batching.v[i] < in[0]->shape.rank,
              "batching dims do not fit");
    TRY(index_grid(l, g, &n, &in[0]->shape, &in[1]->shape, &s, sizes.v));
    g->bytes[0] = stet_dtype_bytes(s.dtype);
    g->operands = 1;
    node = stet_graph_call(l, &stet_kernel_gather, g, in, 2, &s, 1);
    return stet_lower_out(l, 0, node ? node->out[0] : NULL);
}

/* The window's extent in the operand, from the shape of the updates. */
static void update_sizes(const struct index_numbers *n, const struct stet_shape *operand,
                         const struct stet_shape *update, int64_t *sizes)
{
    uint32_t w = 0;

    for (uint32_t d = 0; d < operand->rank; d++) {
        sizes[d] = 1;
        if (!listed(&n->dropped, d) && !listed(&n->batching, d) && w < n->window.count &&
            n->window.v[w] >= 0 && n->window.v[w] < update->rank)
            sizes[d] = update->dims[n->window.v[w++]];
    }
}

enum stet_rc stet_lower_scatter(struct stet_lower *l, int arg)
{
    const struct stet_attr *a = stet_op_attr(l->op, "scatter_dimension_numbers");
    struct stet_gather_params *g = STET_NEW(l->arena, struct stet_gather_params);
    uint32_t count = l->op->operand_count / 2;
    enum stet_dtype args[64];
    int64_t sizes[STET_MAX_RANK];
    struct stet_graph_ints vector;
    struct index_numbers n;
    struct stet_shape out[32];
    struct stet_gval **in;
    struct stet_gnode *node;

    (void)arg;
    CHECK(count >= 1 && count <= 32 && l->op->operand_count == 2 * count + 1 &&
              l->op->result_count == count && l->op->region_count == 1 && a,
          "operands, updates and body do not fit");
    in = STET_NEW_ARRAY(l->arena, struct stet_gval *, 2 * count + 1);
    if (!g || !in || !(g->bytes = STET_NEW_ARRAY(l->arena, size_t, count)) ||
        !(g->types = STET_NEW_ARRAY(l->arena, enum stet_dtype, count)))
        return stet_lower_memory(l);
    for (uint32_t i = 0; i <= 2 * count; i++)
        OPERAND(in[i], i);
    TRY(stet_lower_field(l, a, "update_window_dims", &n.window));
    TRY(stet_lower_field(l, a, "inserted_window_dims", &n.dropped));
    TRY(stet_lower_field(l, a, "input_batching_dims", &n.batching));
    TRY(stet_lower_field(l, a, "scatter_indices_batching_dims", &n.index_batching));
    TRY(stet_lower_field(l, a, "scatter_dims_to_operand_dims", &n.map));
    TRY(stet_lower_field(l, a, "index_vector_dim", &vector));
    n.vector = vector.count ? vector.v[0] : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct stet_shape *u = &in[count + 1 + i]->shape;

        out[i] = in[i]->shape;
        CHECK(stet_shape_same_dims(&out[i], &out[0]) && out[i].dtype != STET_DT_TOKEN &&
                  u->dtype == out[i].dtype && stet_shape_same_dims(u, &in[count + 1]->shape),
              "operands or updates differ in shape");
        g->bytes[i] = stet_dtype_bytes(out[i].dtype);
        g->types[i] = args[i] = args[count + i] = out[i].dtype;
    }
    update_sizes(&n, &out[0], &in[count + 1]->shape, sizes);
    TRY(index_grid(l, g, &n, &out[0], &in[count]->shape, &in[count + 1]->shape, sizes));
    for (uint32_t d = 0, w = 0; d < out[0].rank;
         d++) /* a window that never moves must fit unchanged */
        if (!listed(&n.dropped, d) && !listed(&n.batching, d)) {
            CHECK(listed(&n.map, d) || g->window_dims[w] <= out[0].dims[d],
                  "window dimension %u leaves the operand", w);
            w++;
        }
    g->operands = count;
    TRY(stet_lower_body(l, stet_op_region(l->op, 0), args, 2 * count, g->types, count, &g->body));
    g->simple = count == 1 ? g->body->simple : -1;
    node = stet_graph_call(l, &stet_kernel_scatter, g, in, 2 * count + 1, out, count);
    if (!node)
        return stet_lower_memory(l);
    node->in_place = count == 1 ? 0 : -1;
    for (uint32_t i = 0; i < count; i++)
        TRY(stet_lower_out(l, i, node->out[i]));
    return STET_OK;
}

/* Rows of the operand along `dim`, one for each index: another form of gather. */
enum stet_rc stet_lower_torch_index_select(struct stet_lower *l, int arg)
{
    int64_t dim = stet_lower_int(l, "dim", -1), batch = stet_lower_int(l, "batch_dims", 0);
    struct stet_gather_params *g = STET_NEW(l->arena, struct stet_gather_params);
    struct index_numbers n = {.vector = 0};
    int64_t sizes[STET_MAX_RANK];
    struct stet_gval *in[2];
    struct stet_gnode *node;
    struct stet_shape s;

    (void)arg;
    OPERAND(in[0], 0);
    OPERAND(in[1], 1);
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(batch == 0 && dim >= 0 && dim < in[0]->shape.rank, "dim or batch_dims not supported");
    CHECK(s.rank == in[0]->shape.rank - 1 + in[1]->shape.rank && s.dtype == in[0]->shape.dtype,
          "the result does not fit");
    if (!g || !(g->bytes = STET_NEW_ARRAY(l->arena, size_t, 1)))
        return stet_lower_memory(l);
    for (uint32_t d = 0; d < in[0]->shape.rank; d++) {
        sizes[d] = d == dim ? 1 : in[0]->shape.dims[d];
        if (d != dim)
            n.window.v[n.window.count++] = d < dim ? d : d - 1 + in[1]->shape.rank;
    }
    CHECK(in[0]->shape.dims[dim] > 0 || s.elements == 0, "nothing to select from");
    n.dropped = (struct stet_graph_ints){.v = {dim}, .count = 1};
    n.map = n.dropped;
    n.vector = in[1]->shape.rank;
    TRY(index_grid(l, g, &n, &in[0]->shape, &in[1]->shape, &s, sizes));
    g->bytes[0] = stet_dtype_bytes(s.dtype);
    g->operands = 1;
    node = stet_graph_call(l, &stet_kernel_gather, g, in, 2, &s, 1);
    return stet_lower_out(l, 0, node ? node->out[0] : NULL);
}
