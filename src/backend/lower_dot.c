/* Lowering: matrix products and convolutions, with operands read as strided views. */
#include "backend/lower.h"
#include "backend/params.h"

/* The type in which products of `t` are computed. */
static enum stet_dtype product_type(enum stet_dtype t)
{
    return t == STET_DT_BF16 || t == STET_DT_F16 ? STET_DT_F32 : t;
}

/* The type that operands and results of products have in memory: small types are converted, and a
 * product of pred counts, because it is true if any pair is. */
static enum stet_dtype wide_type(enum stet_dtype t)
{
    if (t == STET_DT_PRED)
        return STET_DT_S32;
    return stet_dtype_is_small(t) ? stet_tile_ctype(t) : t;
}

static struct stet_gval *widened(struct stet_lower *l, struct stet_gval *a)
{
    return stet_graph_convert(l, a, wide_type(a->shape.dtype));
}

/* The dimensions of `map` not in either list. */
static void free_dims(const struct stet_tile_view *map, const struct stet_graph_ints *x,
                      const struct stet_graph_ints *y, struct stet_tile_view *out)
{
    out->rank = 0;
    out->offset = 0;
    for (uint32_t d = 0; d < map->rank; d++) {
        bool used = false;

        for (uint32_t i = 0; i < x->count; i++)
            used |= x->v[i] == (int64_t)d;
        for (uint32_t i = 0; i < y->count; i++)
            used |= y->v[i] == (int64_t)d;
        if (used)
            continue;
        out->dims[out->rank] = map->dims[d];
        out->strides[out->rank++] = map->strides[d];
    }
}

static void pick_dims(const struct stet_tile_view *map, const struct stet_graph_ints *x,
                      struct stet_tile_view *out)
{
    out->rank = x->count;
    out->offset = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        out->dims[i] = map->dims[x->v[i]];
        out->strides[i] = map->strides[x->v[i]];
    }
}

static int64_t product(const struct stet_tile_view *m)
{
    int64_t n = 1;

    for (uint32_t i = 0; i < m->rank; i++)
        n *= m->dims[i];
    return n;
}

/* Is rows x cols stored as a matrix? Returns its leading dimension, else 0. */
static int64_t leading(const struct stet_tile_view *rows, const struct stet_tile_view *cols,
                       bool *transposed)
{
    struct stet_tile_view r = *rows, c = *cols;
    int64_t rn, cn, rs, cs;

    stet_tile_view_simplify(&r);
    stet_tile_view_simplify(&c);
    if (r.rank > 1 || c.rank > 1)
        return 0;
    rn = r.rank ? r.dims[0] : 1, rs = r.rank ? r.strides[0] : 0;
    cn = c.rank ? c.dims[0] : 1, cs = c.rank ? c.strides[0] : 0;
    if ((cs == 1 || cn == 1) && (rs >= cn || rn == 1)) {
        *transposed = false;
        return rn == 1 ? cn : rs;
    }
    if ((rs == 1 || rn == 1) && (cs >= rn || cn == 1)) {
        *transposed = true;
        return cn == 1 ? rn : cs;
    }
    return 0;
}

enum { LANES = 16 };

static void plan_packing(struct stet_dot *d)
{
    uint64_t width = stet_dtype_bytes(d->operand), product_width = stet_dtype_bytes(d->dtype);

    d->lda = d->a_type == d->operand ? leading(&d->a_rows, &d->a_cols, &d->a_trans) : 0;
    d->ldb = d->b_type == d->operand ? leading(&d->b_rows, &d->b_cols, &d->b_trans) : 0;
    d->pack_a = d->lda ? 0 : ((uint64_t)(d->m * d->k) * width + 63) / 64 * 64;
    d->pack_b = d->ldb ? 0 : ((uint64_t)(d->k * d->n) * width + 63) / 64 * 64;
    d->pack_c =
        d->out_type == d->dtype ? 0 : ((uint64_t)(d->m * d->n) * product_width + 63) / 64 * 64;
    d->lanes = d->batch < LANES ? (uint32_t)(d->batch ? d->batch : 1) : LANES;
}

/* a[batch, free, contracting] and b[...] into out[batch, a free, b free], element type `out`. 4-bit
 * products are truncated 8-bit ones. */
static struct stet_gval *make_dot(struct stet_lower *l, struct stet_gval *a, struct stet_gval *b,
                                  const struct stet_graph_ints *ab,
                                  const struct stet_graph_ints *bb,
                                  const struct stet_graph_ints *ac,
                                  const struct stet_graph_ints *bc, enum stet_dtype out_type)
{
    struct stet_dot *d = STET_NEW(l->arena, struct stet_dot);
    struct stet_tile_view am, bm, batch;
    struct stet_gval *in[2];
    int64_t dims[2 * STET_MAX_RANK];
    struct stet_shape s;
    struct stet_gnode *n;
    uint32_t rank = 0;

    if (!d) {
        stet_lower_memory(l);
        return NULL;
    }
    if (!(a = widened(l, a)) || !(b = widened(l, b)))
        return NULL;
    in[0] = stet_graph_strided(a, &am);
    in[1] = stet_graph_strided(b, &bm);
    pick_dims(&am, ab, &batch);
    d->batch_rank = batch.rank;
    memcpy(d->batch_dims, batch.dims, batch.rank * sizeof batch.dims[0]);
    memcpy(d->a_batch, batch.strides, batch.rank * sizeof batch.strides[0]);
    d->batch = product(&batch);
    pick_dims(&bm, bb, &batch);
    memcpy(d->b_batch, batch.strides, batch.rank * sizeof batch.strides[0]);
    free_dims(&am, ab, ac, &d->a_rows);
    pick_dims(&am, ac, &d->a_cols);
    pick_dims(&bm, bc, &d->b_rows);
    free_dims(&bm, bb, bc, &d->b_cols);
    d->a_offset = am.offset;
    d->b_offset = bm.offset;
    d->m = product(&d->a_rows), d->k = product(&d->a_cols), d->n = product(&d->b_cols);
    d->a_type = a->shape.dtype, d->b_type = b->shape.dtype;
    d->out_type = wide_type(out_type);
    /* f32 from bf16 operands, s32 from s8: the wider of what comes in and what goes out */
    d->dtype = product_type(d->out_type);
    if (stet_dtype_bytes(product_type(d->a_type)) > stet_dtype_bytes(d->dtype))
        d->dtype = product_type(d->a_type);
    d->operand = d->dtype;
    if ((d->dtype == STET_DT_S32 || d->dtype == STET_DT_U32) && stet_dtype_bytes(d->a_type) == 1 &&
        stet_dtype_bytes(d->b_type) == 1)
        d->operand = STET_DT_S16;
    for (uint32_t i = 0; i < d->batch_rank; i++)
        dims[rank++] = d->batch_dims[i];
    for (uint32_t i = 0; i < d->a_rows.rank; i++)
        dims[rank++] = d->a_rows.dims[i];
    for (uint32_t i = 0; i < d->b_cols.rank; i++)
        dims[rank++] = d->b_cols.dims[i];
    if (!stet_shape_set(&s, d->out_type, dims, rank)) {
        stet_lower_fail(l, STET_LIMIT, "the result is too large");
        return NULL;
    }
    plan_packing(d);
    n = stet_graph_call(l, &stet_kernel_dot, d, in, 2, &s, 1);
    if (n)
        n->scratch = (d->pack_a + d->pack_b + d->pack_c) * d->lanes;
    return n ? stet_graph_convert(l, n->out[0], out_type) : NULL;
}

static bool dot_type(enum stet_dtype t)
{
    return t != STET_DT_TOKEN;
}

static enum stet_rc check_dot(struct stet_lower *l, struct stet_gval *a, struct stet_gval *b,
                              const struct stet_graph_ints *ab, const struct stet_graph_ints *bb,
                              const struct stet_graph_ints *ac, const struct stet_graph_ints *bc)
{
    struct stet_graph_ints all;

    CHECK(ab->count == bb->count && ac->count == bc->count, "dimension lists differ in length");
    CHECK(ab->count + ac->count <= STET_MAX_RANK && bb->count + bc->count <= STET_MAX_RANK,
          "too many dimensions");
    memcpy(all.v, ab->v, sizeof all.v);
    memcpy(all.v + ab->count, ac->v, ac->count * sizeof all.v[0]);
    CHECK(stet_lower_dims_ok(all.v, ab->count + ac->count, a->shape.rank),
          "dimensions of the left operand are out of range");
    memcpy(all.v, bb->v, sizeof all.v);
    memcpy(all.v + bb->count, bc->v, bc->count * sizeof all.v[0]);
    CHECK(stet_lower_dims_ok(all.v, bb->count + bc->count, b->shape.rank),
          "dimensions of the right operand are out of range");
    for (uint32_t i = 0; i < ab->count; i++)
        CHECK(a->shape.dims[ab->v[i]] == b->shape.dims[bb->v[i]], "batch dimension %u differs", i);
    for (uint32_t i = 0; i < ac->count; i++)
        CHECK(a->shape.dims[ac->v[i]] == b->shape.dims[bc->v[i]],
              "contracting dimension %u differs", i);
    CHECK(dot_type(a->shape.dtype) && dot_type(b->shape.dtype), "not defined for this type");
    CHECK(stet_dtype_is_complex(a->shape.dtype) == stet_dtype_is_complex(b->shape.dtype),
          "operands have different types");
    return STET_OK;
}

static enum stet_rc dot_with(struct stet_lower *l, const struct stet_graph_ints *ab,
                             const struct stet_graph_ints *bb, const struct stet_graph_ints *ac,
                             const struct stet_graph_ints *bc)
{
    struct stet_gval *a, *b;
    struct stet_shape s;

    OPERAND(a, 0);
    OPERAND(b, 1);
    TRY(stet_lower_shape(l, 0, &s));
    TRY(check_dot(l, a, b, ab, bb, ac, bc));
    CHECK(dot_type(s.dtype) &&
              stet_dtype_is_complex(s.dtype) == stet_dtype_is_complex(a->shape.dtype),
          "the result has another type");
    return stet_lower_out(l, 0, make_dot(l, a, b, ab, bb, ac, bc, s.dtype));
}

enum stet_rc stet_lower_dot_general(struct stet_lower *l, int arg)
{
    const struct stet_attr *n = stet_op_attr(l->op, "dot_dimension_numbers");
    struct stet_graph_ints ab, bb, ac, bc;

    (void)arg;
    TRY(stet_lower_field(l, n, "lhs_batching_dimensions", &ab));
    TRY(stet_lower_field(l, n, "rhs_batching_dimensions", &bb));
    TRY(stet_lower_field(l, n, "lhs_contracting_dimensions", &ac));
    TRY(stet_lower_field(l, n, "rhs_contracting_dimensions", &bc));
    CHECK(n, "dot_dimension_numbers is missing");
    return dot_with(l, &ab, &bb, &ac, &bc);
}

enum stet_rc stet_lower_dot(struct stet_lower *l, int arg)
{
    struct stet_graph_ints none = {.count = 0}, ac = {.count = 1}, bc = {.count = 1};
    struct stet_gval *a;

    (void)arg;
    OPERAND(a, 0);
    CHECK(a->shape.rank >= 1, "the operands have no dimension to contract");
    ac.v[0] = (int64_t)a->shape.rank - 1;
    bc.v[0] = 0;
    return dot_with(l, &none, &none, &ac, &bc);
}

/* "ij,jk->ik": batch letters are in both and the result, contracted ones only in both. The unary
 * form, and diagonals or sums in one operand, are rejected: no framework here sends them. */
enum stet_rc stet_lower_einsum(struct stet_lower *l, int unary)
{
    struct stet_view c = stet_lower_text(l, "einsum_config");
    struct stet_graph_ints ab = {.count = 0}, bb = {.count = 0}, ac = {.count = 0},
                           bc = {.count = 0};
    const char *comma = c.len ? memchr(c.ptr, ',', c.len) : NULL;
    const char *arrow = c.len ? memmem(c.ptr, c.len, "->", 2) : NULL;
    char order[2 * STET_MAX_RANK];
    int64_t perm[STET_MAX_RANK], step[STET_MAX_RANK], start[STET_MAX_RANK] = {0};
    struct stet_view a, b, out;
    struct stet_gval *x, *y, *v;
    struct stet_shape s;
    uint32_t n = 0;

    CHECK(!unary && comma && arrow && comma < arrow, "this einsum_config is not supported");
    OPERAND(x, 0);
    OPERAND(y, 1);
    TRY(stet_lower_shape(l, 0, &s));
    a = stet_view_of(c.ptr, (size_t)(comma - c.ptr));
    b = stet_view_of(comma + 1, (size_t)(arrow - comma - 1));
    out = stet_view_of(arrow + 2, (size_t)(c.ptr + c.len - arrow - 2));
    CHECK(a.len == x->shape.rank && b.len == y->shape.rank && out.len == s.rank,
          "einsum_config does not fit the operands");
    for (size_t i = 0; i < a.len; i++) {
        const char *in_b = memchr(b.ptr, a.ptr[i], b.len);
        bool kept = out.len && memchr(out.ptr, a.ptr[i], out.len);
        struct stet_graph_ints *p = kept ? &ab : &ac, *q = kept ? &bb : &bc;

        if (!in_b) {
            CHECK(kept, "this einsum_config is not supported");
            continue;
        }
        p->v[p->count++] = (int64_t)i;
        q->v[q->count++] = in_b - b.ptr;
    }
    TRY(check_dot(l, x, y, &ab, &bb, &ac, &bc));
    for (uint32_t i = 0; i < ab.count; i++)
        order[n++] = a.ptr[ab.v[i]];
    for (size_t i = 0; i < a.len; i++)
        if (!memchr(b.ptr, a.ptr[i], b.len))
            order[n++] = a.ptr[i];
    for (size_t i = 0; i < b.len; i++)
        if (!a.len || !memchr(a.ptr, b.ptr[i], a.len))
            order[n++] = b.ptr[i];
    CHECK(n == out.len, "this einsum_config is not supported");
    for (uint32_t i = 0; i < n; i++) {
        const char *at = memchr(order, out.ptr[i], n);

        CHECK(at, "this einsum_config is not supported");
        perm[i] = at - order, step[i] = 1;
    }
    if (!(v = make_dot(l, x, y, &ab, &bb, &ac, &bc, s.dtype)))
        return stet_lower_memory(l);
    CHECK(stet_lower_dims_ok(perm, n, v->shape.rank), "this einsum_config is not supported");
    return stet_lower_out(l, 0, stet_graph_view(l, v, &s, perm, step, start));
}

/* ---- convolution ---- */

struct conv_numbers {
    struct stet_graph_ints x, w, y; /* spatial */
    int64_t xb, xf, wi, wo, yb, yf;
};

static enum stet_rc one_field(struct stet_lower *l, const struct stet_attr *a, const char *name,
                              int64_t *out)
{
    struct stet_graph_ints v;

    TRY(stet_lower_field(l, a, name, &v));
    CHECK(v.count == 1, "%s is missing", name);
    *out = v.v[0];
    return STET_OK;
}

static bool numbers_ok(const struct stet_graph_ints *spatial, int64_t a, int64_t b, uint32_t rank)
{
    int64_t all[2 * STET_MAX_RANK + 2];

    if (spatial->count + 2 != rank)
        return false;
    memcpy(all, spatial->v, spatial->count * sizeof all[0]);
    all[spatial->count] = a, all[spatial->count + 1] = b;
    return stet_lower_dims_ok(all, rank, rank);
}

static enum stet_rc conv_dims(struct stet_lower *l, struct conv_numbers *c, uint32_t rank)
{
    const struct stet_attr *a = stet_op_attr(l->op, "dimension_numbers");

    CHECK(a, "dimension_numbers is missing");
    TRY(one_field(l, a, "input_batch_dimension", &c->xb));
    TRY(one_field(l, a, "input_feature_dimension", &c->xf));
    TRY(stet_lower_field(l, a, "input_spatial_dimensions", &c->x));
    TRY(one_field(l, a, "kernel_input_feature_dimension", &c->wi));
    TRY(one_field(l, a, "kernel_output_feature_dimension", &c->wo));
    TRY(stet_lower_field(l, a, "kernel_spatial_dimensions", &c->w));
    TRY(one_field(l, a, "output_batch_dimension", &c->yb));
    TRY(one_field(l, a, "output_feature_dimension", &c->yf));
    TRY(stet_lower_field(l, a, "output_spatial_dimensions", &c->y));
    CHECK(numbers_ok(&c->x, c->xb, c->xf, rank) && numbers_ok(&c->w, c->wi, c->wo, rank) &&
              numbers_ok(&c->y, c->yb, c->yf, rank),
          "dimension_numbers do not fit the operands");
    return STET_OK;
}

/* One entry per spatial dimension; absent means `otherwise` for all. */
static enum stet_rc spatial_list(struct stet_lower *l, const char *name, uint32_t count,
                                 int64_t otherwise, int64_t least, int64_t *out)
{
    struct stet_graph_ints v;

    TRY(stet_lower_ints(l, name, &v));
    CHECK(v.count == 0 || v.count == count, "%s does not fit", name);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = v.count ? v.v[i] : otherwise;
        CHECK(out[i] >= least && out[i] < (int64_t)1 << 31, "%s is out of range", name);
    }
    return STET_OK;
}

static enum stet_rc conv_window(struct stet_lower *l, struct stet_conv *c, int64_t *high,
                                bool dynamic)
{
    struct stet_graph_ints padding, reversal;
    uint32_t n = c->spatial;

    TRY(spatial_list(l, "window_strides", n, 1, 1, c->stride));
    TRY(spatial_list(l, "lhs_dilation", n, 1, 1, c->in_dilation));
    TRY(spatial_list(l, "rhs_dilation", n, 1, 1, c->window_dilation));
    TRY(dynamic ? stet_lower_operand_ints(l, 2, &padding)
                : stet_lower_ints(l, "padding", &padding));
    TRY(stet_lower_ints(l, "window_reversal", &reversal));
    CHECK((padding.count == 0 || padding.count == 2 * n) &&
              (reversal.count == 0 || reversal.count == n),
          "padding or window_reversal does not fit");
    for (uint32_t i = 0; i < n; i++) {
        c->low[i] = padding.count ? padding.v[2 * i] : 0;
        high[i] = padding.count ? padding.v[2 * i + 1] : 0;
        c->reversal[i] = reversal.count && reversal.v[i];
        CHECK(c->low[i] > -((int64_t)1 << 31) && c->low[i] < (int64_t)1 << 31 &&
                  high[i] > -((int64_t)1 << 31) && high[i] < (int64_t)1 << 31,
              "padding is out of range");
    }
    return STET_OK;
}

static enum stet_rc conv_strides(struct stet_lower *l, struct stet_conv *c,
                                 const struct conv_numbers *d, struct stet_gval **in,
                                 struct stet_gval *x, struct stet_gval *w,
                                 const struct stet_shape *y)
{
    struct stet_tile_view xm, wm;
    int64_t ys[STET_MAX_RANK];

    in[0] = stet_graph_strided(x, &xm);
    in[1] = stet_graph_strided(w, &wm);
    stet_graph_dense_strides(y, ys);
    c->x_offset = xm.offset, c->w_offset = wm.offset;
    c->x_batch = xm.strides[d->xb], c->x_feature = xm.strides[d->xf];
    c->w_in = wm.strides[d->wi], c->w_out = wm.strides[d->wo];
    c->y_batch = ys[d->yb], c->y_feature = ys[d->yf];
    c->positions = c->taps = 1;
    for (uint32_t i = 0; i < c->spatial; i++) {
        c->in[i] = x->shape.dims[d->x.v[i]];
        c->window[i] = w->shape.dims[d->w.v[i]];
        c->out[i] = y->dims[d->y.v[i]];
        c->x_spatial[i] = xm.strides[d->x.v[i]];
        c->w_spatial[i] = wm.strides[d->w.v[i]];
        c->y_spatial[i] = ys[d->y.v[i]];
        c->positions *= c->out[i];
        c->taps *= c->window[i];
    }
    CHECK(c->positions < (int64_t)1 << 40 && c->taps < (int64_t)1 << 40, "too large");
    return STET_OK;
}

static enum stet_conv_way conv_way(const struct stet_conv *c)
{
    bool same = c->dtype == c->memory && c->dtype == c->out_type;

    if (same && c->dtype == STET_DT_F32 && c->out_features == 1 && c->groups > 1 && c->w_out == 1 &&
        c->y_feature == 1 &&
        (c->batch_groups > 1 ? c->batch == 1 && c->x_batch == 1
                             : c->in_features == 1 && c->x_feature == 1))
        return STET_CONV_CHANNELS;
    if (same && (c->dtype == STET_DT_F32 || c->dtype == STET_DT_F64) && c->groups == 1 &&
        c->x_batch == 1 && c->x_feature != 1 && c->w_out == 1 && c->y_feature == 1 &&
        c->batch >= 8 && c->taps * c->in_features >= 64)
        return STET_CONV_SWAPPED;
    return STET_CONV_COLUMNS;
}

enum { SWAPPED_ROWS = 256, SWAPPED_IMAGES = 64 };

/* Computes everything for a dot of [out features, taps * in features] with a block of positions. */
static void conv_blocks(struct stet_conv *c)
{
    int64_t depth = c->taps * c->in_features;
    uint64_t width = stet_dtype_bytes(c->dtype);
    int64_t tasks;

    c->way = conv_way(c);
    /* a block's columns take about half a megabyte */
    c->block = depth ? (int64_t)(512 * 1024 / width) / depth : c->positions;
    c->block = c->block / 16 * 16;
    if (c->block < 16)
        c->block = 16;
    if (c->block > c->positions)
        c->block = c->positions ? c->positions : 1;
    tasks = c->batch * c->groups * ((c->positions + c->block - 1) / c->block);
    c->pack_w = ((uint64_t)(c->groups * c->out_features * depth) * width + 63) / 64 * 64;
    c->pack_x = ((uint64_t)(c->block * depth) * width + 63) / 64 * 64;
    c->pack_y = ((uint64_t)(c->block * c->out_features) * width + 63) / 64 * 64;
    for (uint32_t i = 0; i < c->spatial; i++)
        c->lists += 2 * (uint64_t)c->window[i] * sizeof(int64_t);
    c->lists = (c->lists + 63) / 64 * 64;
    if (c->way == STET_CONV_SWAPPED) {
        c->block = c->batch < SWAPPED_IMAGES ? c->batch : SWAPPED_IMAGES;
        tasks = c->positions * ((c->batch + c->block - 1) / c->block);
        c->pack_w = 0;
        c->pack_x = ((uint64_t)(SWAPPED_ROWS * c->block) * width + 63) / 64 * 64;
        c->pack_y = ((uint64_t)(SWAPPED_ROWS * c->out_features) * width + 63) / 64 * 64;
    } else if (c->way == STET_CONV_CHANNELS) {
        tasks = c->batch * c->positions;
        c->pack_w = c->pack_x = c->pack_y = 0;
    }
    c->lanes = tasks < LANES ? (uint32_t)(tasks ? tasks : 1) : LANES;
}

enum stet_rc stet_lower_convolution(struct stet_lower *l, int dynamic)
{
    int64_t groups = stet_lower_int(l, "feature_group_count", 1);
    int64_t batch_groups = stet_lower_int(l, "batch_group_count", 1);
    int64_t high[STET_MAX_SPATIAL], features, batch;
    struct stet_conv *c = STET_NEW(l->arena, struct stet_conv);
    struct stet_gval *x, *w, *in[2];
    enum stet_dtype out_type;
    struct conv_numbers d;
    struct stet_gnode *n;
    struct stet_shape s;

    OPERAND(x, 0);
    OPERAND(w, 1);
    TRY(stet_lower_shape(l, 0, &s));
    if (!c)
        return stet_lower_memory(l);
    CHECK(x->shape.rank >= 2 && x->shape.rank == w->shape.rank && s.rank == x->shape.rank,
          "operands and result differ in rank");
    CHECK(x->shape.dtype == w->shape.dtype && dot_type(x->shape.dtype) && dot_type(s.dtype) &&
              stet_dtype_is_complex(s.dtype) == stet_dtype_is_complex(x->shape.dtype),
          "operands and result do not fit each other");
    if (!(x = widened(l, x)) || !(w = widened(l, w)))
        return l->err && l->err->rc ? l->err->rc : STET_NO_MEMORY;
    TRY(conv_dims(l, &d, x->shape.rank));
    c->spatial = x->shape.rank - 2;
    TRY(conv_window(l, c, high, dynamic));
    features = x->shape.dims[d.xf], batch = x->shape.dims[d.xb];
    CHECK(groups >= 1 && batch_groups >= 1 && (groups == 1 || batch_groups == 1),
          "group counts are out of range");
    CHECK(features % groups == 0 && batch % batch_groups == 0 &&
              w->shape.dims[d.wo] % groups == 0 && w->shape.dims[d.wo] % batch_groups == 0,
          "group counts do not divide the features");
    CHECK(w->shape.dims[d.wi] == features / groups, "the kernel has other input features");
    CHECK(s.dims[d.yb] == batch / batch_groups && s.dims[d.yf] == w->shape.dims[d.wo],
          "the result has other features or another batch");
    c->batch = batch / batch_groups;
    c->groups = groups * batch_groups;
    c->batch_groups = batch_groups;
    c->in_features = features / groups;
    c->out_features = w->shape.dims[d.wo] / c->groups;
    c->memory = x->shape.dtype, c->out_type = wide_type(s.dtype);
    c->dtype = product_type(c->out_type);
    if (stet_dtype_bytes(product_type(c->memory)) > stet_dtype_bytes(c->dtype))
        c->dtype = product_type(c->memory);
    TRY(conv_strides(l, c, &d, in, x, w, &s));
    for (uint32_t i = 0; i < c->spatial; i++) {
        int64_t wide = c->in[i] ? (c->in[i] - 1) * c->in_dilation[i] + 1 : 0;
        int64_t window = c->window[i] ? (c->window[i] - 1) * c->window_dilation[i] + 1 : 0;
        int64_t room = wide + c->low[i] + high[i] - window;

        CHECK(c->out[i] == (room < 0 ? 0 : room / c->stride[i] + 1),
              "spatial dimension %u of the result does not fit the window", i);
    }
    conv_blocks(c);
    out_type = s.dtype, s.dtype = c->out_type;
    n = stet_graph_call(l, &stet_kernel_conv, c, in, 2, &s, 1);
    if (n)
        n->scratch = c->pack_w + c->lists + (c->pack_x + c->pack_y) * c->lanes;
    return stet_lower_out(l, 0, n ? stet_graph_convert(l, n->out[0], out_type) : NULL);
}
