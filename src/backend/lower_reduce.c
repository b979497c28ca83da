/* Lowering: operations with a small body of scalars: reduce, windows, sort. */
#include "backend/lower.h"
#include "backend/params.h"

/* The bodies of two arguments for which fold kernels exist. */
static int foldable(const struct stet_body *b, enum stet_dtype t)
{
    const stet_fold_fn *row = stet_tile_kernels()->fold[stet_tile_ctype(t)];

    if (stet_dtype_is_small(t)) /* each step wraps or rounds */
        return -1;
    return b->simple >= 0 && row && row[b->simple] ? b->simple : -1;
}

/* Operands [0, count) of any one shape and scalars [count, 2 count) of the same types. */
static enum stet_rc operands_and_inits(struct stet_lower *l, struct stet_gval ***in,
                                       enum stet_dtype **types, uint32_t *count)
{
    uint32_t n = l->op->operand_count / 2;

    CHECK(n >= 1 && n <= 32 && l->op->operand_count == 2 * n && l->op->result_count == n,
          "operands and initial values do not fit");
    *in = STET_NEW_ARRAY(l->arena, struct stet_gval *, 2 * n);
    *types = STET_NEW_ARRAY(l->arena, enum stet_dtype, 2 * n);
    if (!*in || !*types)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < 2 * n; i++) {
        OPERAND((*in)[i], i);
        (*types)[i] = (*in)[i]->shape.dtype;
        CHECK((*types)[i] != STET_DT_TOKEN, "a token has no value");
    }
    for (uint32_t i = 0; i < n; i++) {
        CHECK(stet_shape_same_dims(&(*in)[i]->shape, &(*in)[0]->shape), "operands differ in shape");
        CHECK((*in)[n + i]->shape.rank == 0 && (*types)[n + i] == (*types)[i],
              "initial value %u does not fit", i);
    }
    *count = n;
    return STET_OK;
}

/* Merges neighbours of one kind and drops those of size 1. */
static void reduce_dims(struct stet_reduce *r, const struct stet_shape *s, const bool *reduced)
{
    r->kept = r->folded = 1;
    for (uint32_t d = 0; d < s->rank; d++) {
        if (s->dims[d] != 1) {
            if (r->rank && r->reduced[r->rank - 1] == reduced[d]) {
                r->dims[r->rank - 1] *= s->dims[d];
            } else {
                r->reduced[r->rank] = reduced[d];
                r->dims[r->rank++] = s->dims[d];
            }
        }
        *(reduced[d] ? &r->folded : &r->kept) *= s->dims[d];
    }
}

/* A REDUCE node over `dims` flags; NULL and the error set on failure. */
static struct stet_gnode *make_reduce(struct stet_lower *l, struct stet_gval **in,
                                      enum stet_dtype *types, uint32_t count, const bool *reduced,
                                      struct stet_body *body, int simple)
{
    struct stet_reduce *r = STET_NEW(l->arena, struct stet_reduce);
    const struct stet_shape *s = &in[0]->shape;
    struct stet_shape *out = STET_NEW_ARRAY(l->arena, struct stet_shape, count);
    int64_t dims[STET_MAX_RANK];
    struct stet_gnode *n;
    uint32_t rank = 0;

    if (!r || !out) {
        stet_lower_memory(l);
        return NULL;
    }
    for (uint32_t d = 0; d < s->rank; d++)
        if (!reduced[d])
            dims[rank++] = s->dims[d];
    r->count = count;
    r->body = body;
    r->types = types;
    r->simple = simple;
    reduce_dims(r, s, reduced);
    for (uint32_t i = 0; i < count; i++)
        stet_shape_set(&out[i], types[i], dims, rank);
    n = stet_graph_node(l, STET_G_REDUCE, in, 2 * count, out, count);
    if (n)
        n->params = r;
    return n;
}

enum stet_rc stet_lower_reduce(struct stet_lower *l, int arg)
{
    bool reduced[STET_MAX_RANK] = {false};
    struct stet_body *body;
    enum stet_dtype *types;
    struct stet_gval **in;
    struct stet_gnode *n;
    struct stet_graph_ints dims;
    uint32_t count;

    (void)arg;
    TRY(operands_and_inits(l, &in, &types, &count));
    TRY(stet_lower_ints(l, "dimensions", &dims));
    CHECK(stet_lower_dims_ok(dims.v, dims.count, in[0]->shape.rank), "dimensions do not fit");
    CHECK(l->op->region_count == 1, "a body is needed");
    for (uint32_t i = 0; i < dims.count; i++)
        reduced[dims.v[i]] = true;
    {
        enum stet_dtype args[64];

        memcpy(args, types, count * sizeof *args);
        memcpy(args + count, types, count * sizeof *args);
        TRY(stet_lower_body(l, stet_op_region(l->op, 0), args, 2 * count, types, count, &body));
    }
    n = make_reduce(l, in, types, count, reduced, body, count == 1 ? foldable(body, types[0]) : -1);
    if (!n)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < count; i++)
        TRY(stet_lower_out(l, i, n->out[i]));
    return STET_OK;
}

/* Sum over flagged dimensions, for operations defined through it. */
struct stet_gval *stet_lower_sum(struct stet_lower *l, struct stet_gval *a, const bool *reduced)
{
    enum stet_dtype *types = STET_NEW_ARRAY(l->arena, enum stet_dtype, 2);
    struct stet_gval *in[2];
    struct stet_shape scalar;
    struct stet_gnode *n;

    if (!a || !types) {
        stet_lower_memory(l);
        return NULL;
    }
    types[0] = types[1] = a->shape.dtype;
    stet_shape_set(&scalar, a->shape.dtype, NULL, 0);
    in[0] = a;
    if (!(in[1] = stet_graph_number(l, &scalar, 0)))
        return NULL;
    n = make_reduce(l, in, types, 1, reduced, NULL, STET_TILE_ADD);
    return n ? n->out[0] : NULL;
}

/* ---- windows ---- */

static enum stet_rc window_list(struct stet_lower *l, const char *name, uint32_t rank,
                                int64_t otherwise, int64_t *out)
{
    struct stet_graph_ints v;

    TRY(stet_lower_ints(l, name, &v));
    CHECK(v.count == 0 || v.count == rank, "%s does not fit", name);
    for (uint32_t i = 0; i < rank; i++) {
        out[i] = v.count ? v.v[i] : otherwise;
        CHECK(out[i] >= 1 && out[i] < (int64_t)1 << 31, "%s is out of range", name);
    }
    return STET_OK;
}

static enum stet_rc window_params(struct stet_lower *l, struct stet_window *w, int64_t *high)
{
    struct stet_graph_ints padding, size;
    uint32_t rank = w->in.rank;

    TRY(stet_lower_ints(l, "window_dimensions", &size));
    CHECK(size.count == rank || stet_op_attr(l->op, "window_dimensions") == NULL,
          "window_dimensions do not fit");
    TRY(window_list(l, "window_dimensions", rank, 1, w->size));
    TRY(window_list(l, "window_strides", rank, 1, w->stride));
    TRY(window_list(l, "base_dilations", rank, 1, w->base_dilation));
    TRY(window_list(l, "window_dilations", rank, 1, w->window_dilation));
    TRY(stet_lower_ints(l, "padding", &padding));
    CHECK(padding.count == 0 || padding.count == 2 * rank, "padding does not fit");
    for (uint32_t i = 0; i < rank; i++) {
        w->low[i] = padding.count ? padding.v[2 * i] : 0;
        high[i] = padding.count ? padding.v[2 * i + 1] : 0;
        CHECK(w->low[i] > -((int64_t)1 << 31) && w->low[i] < (int64_t)1 << 31 &&
                  high[i] > -((int64_t)1 << 31) && high[i] < (int64_t)1 << 31,
              "padding is out of range");
    }
    w->rank = rank;
    return STET_OK;
}

static int64_t window_out(const struct stet_window *w, uint32_t d, int64_t high)
{
    int64_t wide = w->in.dims[d] ? (w->in.dims[d] - 1) * w->base_dilation[d] + 1 : 0;
    int64_t window = (w->size[d] - 1) * w->window_dilation[d] + 1;
    int64_t room = wide + w->low[d] + high - window;

    return room < 0 ? 0 : room / w->stride[d] + 1;
}

/* A window that reaches to the beginning (or end) of one dimension is a running total. */
static bool is_scan(struct stet_window *w, const int64_t *high)
{
    uint32_t found = 0;

    for (uint32_t d = 0; d < w->rank; d++) {
        int64_t n = w->in.dims[d];

        if (w->stride[d] != 1 || w->base_dilation[d] != 1 || w->window_dilation[d] != 1)
            return false;
        if (w->size[d] == 1 && w->low[d] == 0 && high[d] == 0)
            continue;
        if (w->size[d] != n || (w->low[d] != n - 1 && high[d] != n - 1) ||
            w->low[d] + high[d] != n - 1)
            return false;
        w->scan_dim = d;
        w->backwards = w->low[d] == 0;
        found++;
    }
    return found == 1;
}

enum stet_rc stet_lower_reduce_window(struct stet_lower *l, int arg)
{
    struct stet_window *w = STET_NEW(l->arena, struct stet_window);
    int64_t high[STET_MAX_RANK] = {0};
    enum stet_dtype args[64];
    struct stet_shape *out;
    struct stet_gval **in;
    struct stet_gnode *n;

    (void)arg;
    if (!w)
        return stet_lower_memory(l);
    TRY(operands_and_inits(l, &in, &w->types, &w->count));
    CHECK(l->op->region_count == 1, "a body is needed");
    if (!(out = STET_NEW_ARRAY(l->arena, struct stet_shape, w->count)))
        return stet_lower_memory(l);
    w->in = in[0]->shape;
    TRY(window_params(l, w, high));
    for (uint32_t i = 0; i < w->count; i++) {
        TRY(stet_lower_shape(l, i, &out[i]));
        CHECK(out[i].rank == w->rank && out[i].dtype == w->types[i], "result %u does not fit", i);
        for (uint32_t d = 0; d < w->rank; d++)
            CHECK(out[i].dims[d] == window_out(w, d, high[d]),
                  "dimension %u of the result does not fit the window", d);
    }
    w->out = out[0];
    memcpy(args, w->types, w->count * sizeof *args);
    memcpy(args + w->count, w->types, w->count * sizeof *args);
    TRY(stet_lower_body(l, stet_op_region(l->op, 0), args, 2 * w->count, w->types, w->count,
                        &w->body));
    w->simple = w->count == 1 ? foldable(w->body, w->types[0]) : -1;
    n = stet_graph_call(l,
                        is_scan(w, high) && w->count == 1 ? &stet_kernel_scan : &stet_kernel_window,
                        w, in, 2 * w->count, out, w->count);
    if (!n)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < w->count; i++)
        TRY(stet_lower_out(l, i, n->out[i]));
    return STET_OK;
}

enum stet_rc stet_lower_select_and_scatter(struct stet_lower *l, int arg)
{
    struct stet_window *w = STET_NEW(l->arena, struct stet_window);
    enum stet_dtype t, args[2], pred = STET_DT_PRED;
    int64_t high[STET_MAX_RANK] = {0};
    struct stet_gval *in[3];
    struct stet_gnode *n;

    (void)arg;
    for (uint32_t i = 0; i < 3; i++)
        OPERAND(in[i], i);
    CHECK(l->op->region_count == 2, "two bodies are needed");
    if (!w || !(w->types = STET_NEW_ARRAY(l->arena, enum stet_dtype, 1)))
        return stet_lower_memory(l);
    t = args[0] = args[1] = w->types[0] = in[0]->shape.dtype;
    CHECK(in[1]->shape.dtype == t && in[2]->shape.dtype == t && in[2]->shape.rank == 0 &&
              in[1]->shape.rank == in[0]->shape.rank && t != STET_DT_TOKEN,
          "operands do not fit each other");
    w->count = 1;
    w->in = in[0]->shape;
    w->out = in[1]->shape; /* the source: one element a window */
    TRY(window_params(l, w, high));
    for (uint32_t d = 0; d < w->rank; d++)
        CHECK(w->out.dims[d] == window_out(w, d, high[d]),
              "dimension %u of the source does not fit the window", d);
    TRY(stet_lower_body(l, stet_op_region(l->op, 0), args, 2, &pred, 1, &w->body));
    TRY(stet_lower_body(l, stet_op_region(l->op, 1), args, 2, &t, 1, &w->scatter));
    w->simple = w->body->simple;
    w->scatter_simple = w->scatter->simple;
    n = stet_graph_call(l, &stet_kernel_select_and_scatter, w, in, 3, &in[0]->shape, 1);
    return stet_lower_out(l, 0, n ? n->out[0] : NULL);
}

/* ---- sort ---- */

enum { LANES = 16 };

static void sort_lanes(struct stet_sort *s)
{
    int64_t lines = s->outer * s->inner;
    uint64_t n = (uint64_t)s->length;

    s->lanes = lines < LANES ? (uint32_t)(lines ? lines : 1) : LANES;
    /* two index arrays, keys, and one line of the widest type */
    s->lane_bytes = (n * (8 + 8 + 8 + 16) + 1024 + 63) / 64 * 64;
}

/* The first `count` operands along `dim` in the order of `comparator`. */
static enum stet_rc sorted(struct stet_lower *l, uint32_t count, int64_t dim,
                           const struct stet_region *comparator, struct stet_gnode **node)
{
    struct stet_sort *s = STET_NEW(l->arena, struct stet_sort);
    enum stet_dtype args[64], pred = STET_DT_PRED;
    struct stet_shape *out;
    struct stet_gval **in;

    in = STET_NEW_ARRAY(l->arena, struct stet_gval *, count);
    out = STET_NEW_ARRAY(l->arena, struct stet_shape, count);
    if (!s || !in || !out || !(s->bytes = STET_NEW_ARRAY(l->arena, size_t, count)) ||
        !(s->types = STET_NEW_ARRAY(l->arena, enum stet_dtype, count)))
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < count; i++) {
        OPERAND(in[i], i);
        out[i] = in[i]->shape;
        CHECK(stet_shape_same_dims(&in[i]->shape, &in[0]->shape) && out[i].dtype != STET_DT_TOKEN,
              "operands differ in shape");
        s->types[i] = args[2 * i] = args[2 * i + 1] = out[i].dtype;
        s->bytes[i] = stet_dtype_bytes(out[i].dtype);
    }
    if (dim < 0)
        dim += out[0].rank;
    CHECK(dim >= 0 && dim < out[0].rank, "dimension is out of range");
    s->count = count;
    s->outer = s->inner = 1;
    for (uint32_t d = 0; d < out[0].rank; d++)
        *(d < dim ? &s->outer : d == dim ? &s->length : &s->inner) *= d == dim ? 1 : out[0].dims[d];
    s->length = out[0].dims[dim];
    TRY(stet_lower_body(l, comparator, args, 2 * count, &pred, 1, &s->body));
    s->key = -1;
    TRY(stet_lower_sort_key(l, comparator, s));
    sort_lanes(s);
    if (!(*node = stet_graph_call(l, &stet_kernel_sort, s, in, count, out, count)))
        return stet_lower_memory(l);
    (*node)->scratch = s->lane_bytes * s->lanes;
    return STET_OK;
}

enum stet_rc stet_lower_sort(struct stet_lower *l, int arg)
{
    uint32_t count = l->op->operand_count;
    struct stet_gnode *n = NULL;

    (void)arg;
    CHECK(count >= 1 && count <= 32 && l->op->region_count == 1 && l->op->result_count == count,
          "operands do not fit");
    TRY(sorted(l, count, stet_lower_int(l, "dimension", -1), stet_op_region(l->op, 0), &n));
    for (uint32_t i = 0; i < count; i++)
        TRY(stet_lower_out(l, i, n->out[i]));
    return STET_OK;
}

/* XLA's ApproxTopK: the operands, one initial value for each, and a comparison function. The caller
 * asks for more results than it needs, so that the best ones are probably among them. These are the
 * exact best ones. */
enum stet_rc stet_lower_approx_top_k(struct stet_lower *l)
{
    const struct stet_attr *config = stet_op_attr(l->op, "mhlo.backend_config");
    const struct stet_attr *calls = stet_op_attr(l->op, "called_computations");
    uint32_t count = l->op->operand_count / 2;
    const struct stet_op *comparator = NULL;
    struct stet_graph_ints dim;
    struct stet_gnode *n = NULL;

    CHECK(count >= 1 && count <= 32 && l->op->operand_count == 2 * count &&
              l->op->result_count == count,
          "operands do not fit");
    TRY(stet_lower_field(l, config, "reduction_dim", &dim));
    CHECK(dim.count == 1, "reduction_dim is missing");
    if (calls && calls->kind == STET_ATTR_ARRAY && calls->count == 1 &&
        calls->items[0]->kind == STET_ATTR_SYMBOL)
        comparator = stet_program_function(l->program, stet_attr_text(calls->items[0]));
    CHECK(comparator && comparator->region_count == 1, "the operation has no comparator");
    TRY(sorted(l, count, dim.v[0], stet_op_region(comparator, 0), &n));
    for (uint32_t i = 0; i < count; i++) {
        int64_t in_dim[STET_MAX_RANK], step[STET_MAX_RANK], start[STET_MAX_RANK] = {0};
        const struct stet_shape *from = &n->out[i]->shape;
        struct stet_shape s;

        TRY(stet_lower_shape(l, i, &s));
        CHECK(s.rank == from->rank && s.dtype == from->dtype, "result %u does not fit", i);
        for (uint32_t d = 0; d < s.rank; d++) {
            CHECK(s.dims[d] <= from->dims[d], "result %u does not fit", i);
            in_dim[d] = d;
            step[d] = 1;
        }
        TRY(stet_lower_out(l, i, stet_graph_view(l, n->out[i], &s, in_dim, step, start)));
    }
    return STET_OK;
}

enum stet_rc stet_lower_top_k_of(struct stet_lower *l, int64_t k, bool largest)
{
    struct stet_sort *s = STET_NEW(l->arena, struct stet_sort);
    struct stet_shape out[2];
    struct stet_gval *a, *parts[2];
    struct stet_gnode *n;
    int64_t dims[STET_MAX_RANK];

    OPERAND(a, 0);
    CHECK(a->shape.rank >= 1 && k >= 0 && k <= a->shape.dims[a->shape.rank - 1],
          "k is out of range");
    CHECK(stet_dtype_is_float(a->shape.dtype) || stet_dtype_is_int(a->shape.dtype),
          "not defined for this type");
    if (!s || !(s->bytes = STET_NEW_ARRAY(l->arena, size_t, 1)) ||
        !(s->types = STET_NEW_ARRAY(l->arena, enum stet_dtype, 1)))
        return stet_lower_memory(l);
    memcpy(dims, a->shape.dims, sizeof dims);
    s->count = 1;
    s->length = dims[a->shape.rank - 1];
    s->inner = 1;
    s->outer = 1;
    for (uint32_t d = 0; d + 1 < a->shape.rank; d++)
        s->outer *= dims[d];
    s->k = k;
    s->types[0] = a->shape.dtype;
    s->bytes[0] = stet_dtype_bytes(a->shape.dtype);
    s->descending = largest;
    sort_lanes(s);
    dims[a->shape.rank - 1] = k;
    stet_shape_set(&out[0], a->shape.dtype, dims, a->shape.rank);
    stet_shape_set(&out[1], STET_DT_S32, dims, a->shape.rank);
    n = stet_graph_call(l, &stet_kernel_top_k, s, &a, 1, out, 2);
    if (!n)
        return stet_lower_memory(l);
    n->scratch = s->lane_bytes * s->lanes;
    parts[0] = n->out[0], parts[1] = n->out[1];
    if (l->op->result_count == 1) /* a custom call's tuple */
        return stet_lower_bind(l, &l->op->results[0], parts, 2);
    TRY(stet_lower_out(l, 0, parts[0]));
    return stet_lower_out(l, 1, parts[1]);
}

enum stet_rc stet_lower_top_k(struct stet_lower *l, int arg)
{
    (void)arg;
    return stet_lower_top_k_of(l, stet_lower_int(l, "k", -1), true);
}
