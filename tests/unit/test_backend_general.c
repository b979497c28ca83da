/* The CPU backend's kernels against ref/ in their general forms: any dimension numbers of gather,
 * scatter, products and convolutions, folds of several operands, strided operands, random bits and
 * factors of matrices. */
#include "backend_help.h"

static void shuffle(int64_t *v, uint32_t n)
{
    for (uint32_t i = n; i-- > 1;) {
        uint32_t o = (uint32_t)pick(0, i);
        int64_t swap = v[i];

        v[i] = v[o], v[o] = swap;
    }
}

static void put_list(struct text *t, const char *name, const struct stet_ref_dims *l)
{
    put(t, "%s = [", name);
    for (uint32_t i = 0; i < l->count; i++)
        put(t, "%s%lld", i ? ", " : "", (long long)l->v[i]);
    put(t, "]");
}

static void add(struct stet_ref_dims *l, int64_t d)
{
    l->v[l->count++] = d;
}

/* ---- gather and scatter ---- */

struct indexed {
    struct stet_ref_indexing n;
    struct stet_ref operand, index, window; /* of the result's, or the updates', shape */
    int64_t sizes[STET_MAX_RANK];
};

/* An operand, indices into it (some outside) and windows of any kind. */
static struct indexed some_indexing(enum stet_dtype t)
{
    struct indexed x = {.n = {.vector = 0}};
    int64_t dims[4], batch[4], index[5], out[STET_MAX_RANK], window[4];
    uint32_t rank = (uint32_t)pick(1, 4), batches = (uint32_t)pick(0, 2), rest, windows = 0;
    uint32_t index_rank, out_rank, b = 0, w = 0;

    for (uint32_t d = 0; d < batches; d++)
        batch[d] = pick(0, 9) ? pick(1, 4) : 0;
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = pick(1, d + 1 == rank ? 40 : 6);
        if (x.n.batching.count < batches && pick(0, 3) == 0) { /* goes along with a batch */
            add(&x.n.batching, d), add(&x.n.index_batching, x.n.batching.count - 1);
            dims[d] = batch[x.n.batching.count - 1];
            x.sizes[d] = dims[d] ? 1 : 0;
            continue;
        }
        if (pick(0, 2))
            add(&x.n.map, d);
        x.sizes[d] = pick(0, 7) ? pick(1, dims[d]) : dims[d];
        if (pick(0, 2) == 0)
            x.sizes[d] = 1, add(&x.n.dropped, d);
        else
            window[windows++] = x.sizes[d];
    }
    shuffle(x.n.map.v, x.n.map.count);
    x.operand = fill(t, dims, rank, false);
    /* the index vector stands anywhere; past the end it is a single number */
    x.n.vector = x.n.map.count == 1 && pick(0, 1) ? batches : pick(0, batches);
    index_rank = batches + (x.n.map.count == 1 && x.n.vector == batches && pick(0, 1) ? 0 : 1);
    for (uint32_t d = 0; d < index_rank; d++)
        index[d] = d == x.n.vector ? x.n.map.count : batch[b++];
    for (uint32_t i = 0; i < x.n.index_batching.count; i++) /* counted without the vector */
        x.n.index_batching.v[i] += index_rank > batches && x.n.index_batching.v[i] >= x.n.vector;
    x.index = tensor(pick(0, 1) ? STET_DT_S32 : STET_DT_S64, index, index_rank);
    for (uint64_t i = 0; i < x.index.shape.elements; i++)
        stet_ref_set(&x.index, i,
                     (struct stet_ref_scalar){pick(0, 9) ? pick(-1, 5) : INT32_MAX, 0, 0});
    out_rank = batches + windows;
    for (rest = 0; rest < out_rank; rest++) /* windows lie among the batches, in order */
        if (x.n.window.count < windows &&
            pick(0, (int64_t)(out_rank - rest) - 1) < (int64_t)(windows - x.n.window.count))
            add(&x.n.window, rest);
    for (uint32_t d = 0, at = 0; d < out_rank; d++)
        out[d] = w < windows && x.n.window.v[w] == d ? window[w++] : batch[at++];
    x.window = fill(t, out, out_rank, false);
    return x;
}

static void free_indexing(struct indexed *x)
{
    free(x->operand.data), free(x->index.data), free(x->window.data);
}

TEST(gathers_of_every_form_agree_with_the_reference)
{
    for (int i = 0; i < 400; i++) {
        struct indexed x = some_indexing(all_types[next() % TYPES]);
        struct stet_ref got = like(&x.window, x.window.shape.dtype);
        const struct stet_ref *in[2] = {&x.operand, &x.index};
        struct text m = {.n = 0};

        put(&m, "<{dimension_numbers = #stablehlo.gather<");
        put_list(&m, "offset_dims", &x.n.window), put(&m, ", ");
        put_list(&m, "collapsed_slice_dims", &x.n.dropped), put(&m, ", ");
        put_list(&m, "operand_batching_dims", &x.n.batching), put(&m, ", ");
        put_list(&m, "start_indices_batching_dims", &x.n.index_batching), put(&m, ", ");
        put_list(&m, "start_index_map", &x.n.map);
        put(&m, ", index_vector_dim = %lld>, ", (long long)x.n.vector);
        put_array(&m, "slice_sizes", x.sizes, x.operand.shape.rank), put(&m, "}>");
        stet_ref_gather(&x.window, &x.operand, &x.index, &x.n, x.sizes);
        EXPECT(run_op(&got, "gather", m.s, in, 2) && same(&x.window, &got, 0, "gather"));
        free(got.data), free_indexing(&x);
    }
}

TEST(scatters_of_every_form_agree_with_the_reference)
{
    static const struct named bodies[] = {
        {"add", STET_TILE_ADD, 2, 'a'},      {"maximum", STET_TILE_MAX, 2, 'a'},
        {"minimum", STET_TILE_MIN, 2, 'a'},  {"multiply", STET_TILE_MUL, 2, 'a'},
        {"subtract", STET_TILE_SUB, 2, 'a'}, {NULL, -1, 2, 'a'}};

    for (int i = 0; i < 400; i++) {
        struct indexed x = some_indexing(all_types[1 + next() % (TYPES - 1)]);
        enum stet_dtype t = x.operand.shape.dtype;
        const struct named *f = &bodies[i % 6];
        struct stet_ref want = like(&x.operand, t), got = like(&x.operand, t);
        const struct stet_ref *in[3] = {&x.operand, &x.index, &x.window};
        struct text m = {.n = 0};
        struct stet_shape s;

        put(&m, "<{scatter_dimension_numbers = #stablehlo.scatter<");
        put_list(&m, "update_window_dims", &x.n.window), put(&m, ", ");
        put_list(&m, "inserted_window_dims", &x.n.dropped), put(&m, ", ");
        put_list(&m, "input_batching_dims", &x.n.batching), put(&m, ", ");
        put_list(&m, "scatter_indices_batching_dims", &x.n.index_batching), put(&m, ", ");
        put_list(&m, "scatter_dims_to_operand_dims", &x.n.map);
        put(&m, ", index_vector_dim = %lld>}> ", (long long)x.n.vector);
        if (f->name) {
            put_body(&m, f->name, t);
        } else { /* the update as it is */
            stet_shape_set(&s, t, NULL, 0);
            put(&m, "({ ^bb0(%%x: "), put_type(&m, &s), put(&m, ", %%y: "), put_type(&m, &s);
            put(&m, "): stablehlo.return %%y : "), put_type(&m, &s), put(&m, " })");
        }
        memcpy(want.data, x.operand.data, want.shape.bytes);
        stet_ref_scatter(&want, &x.index, &x.window, &x.n, x.sizes, f->op);
        EXPECT(run_op(&got, "scatter", m.s, in, 3) && same(&want, &got, 10, "scatter"));
        free(want.data), free(got.data), free_indexing(&x);
    }
}

/* ---- products ---- */

TEST(products_over_any_dimensions_agree_with_the_reference)
{
    for (int i = 0; i < 200; i++) {
        enum stet_dtype t = i % 5 == 4 ? STET_DT_C64 : all_types[1 + next() % (TYPES - 1)];
        uint32_t count[4] = {(uint32_t)pick(0, 2), (uint32_t)pick(0, 2), (uint32_t)pick(0, 2),
                             (uint32_t)pick(0, 2)}; /* batch, contracting, free of each */
        struct stet_ref_dims batch[2] = {{.count = 0}, {.count = 0}},
                             over[2] = {{.count = 0}, {.count = 0}};
        int64_t shared[4], dims[2][6], out[STET_MAX_RANK];
        uint32_t ranks[2], out_rank = 0;
        struct stet_ref in[2], want, got;
        const struct stet_ref *list[2] = {&in[0], &in[1]};
        struct text m = {.n = 0};

        for (uint32_t d = 0; d < count[0] + count[1]; d++)
            shared[d] = pick(0, 12) ? pick(1, 5) : 0;
        for (int side = 0; side < 2; side++) { /* dimensions in any order */
            int64_t order[6] = {0, 1, 2, 3, 4, 5};

            ranks[side] = count[0] + count[1] + count[2 + side];
            shuffle(order, ranks[side]);
            for (uint32_t d = 0; d < count[0]; d++)
                add(&batch[side], order[d]), dims[side][order[d]] = shared[d];
            for (uint32_t d = 0; d < count[1]; d++)
                add(&over[side], order[count[0] + d]),
                    dims[side][order[count[0] + d]] = shared[count[0] + d];
            for (uint32_t d = count[0] + count[1]; d < ranks[side]; d++)
                dims[side][order[d]] = pick(1, 7);
            in[side] = fill(t, dims[side], ranks[side], false);
        }
        for (uint32_t d = 0; d < count[0]; d++)
            out[out_rank++] = shared[d];
        for (int side = 0; side < 2; side++)
            for (uint32_t d = 0; d < ranks[side]; d++) {
                bool taken = false;

                for (uint32_t k = 0; k < count[0] + count[1]; k++)
                    taken |= (k < count[0] ? batch[side].v[k] : over[side].v[k - count[0]]) == d;
                if (!taken)
                    out[out_rank++] = dims[side][d];
            }
        want = tensor(t, out, out_rank), got = tensor(t, out, out_rank);
        put(&m, "<{dot_dimension_numbers = #stablehlo.dot<");
        put_list(&m, "lhs_batching_dimensions", &batch[0]), put(&m, ", ");
        put_list(&m, "rhs_batching_dimensions", &batch[1]), put(&m, ", ");
        put_list(&m, "lhs_contracting_dimensions", &over[0]), put(&m, ", ");
        put_list(&m, "rhs_contracting_dimensions", &over[1]), put(&m, ">}>");
        stet_ref_dot_general(&want, &in[0], &in[1], batch, over);
        EXPECT(run_op(&got, "dot_general", m.s, list, 2) && same(&want, &got, 30, "dot_general"));
        free(in[0].data), free(in[1].data), free(want.data), free(got.data);
    }
}

/* `a` with its dimensions in another order: dimension d of the result is order[d] of `a`. */
static struct stet_ref reordered(const struct stet_ref *a, const int64_t *order)
{
    int64_t dims[STET_MAX_RANK], step[STET_MAX_RANK], start[STET_MAX_RANK] = {0};
    struct stet_ref r;

    for (uint32_t d = 0; d < a->shape.rank; d++)
        dims[d] = a->shape.dims[order[d]], step[d] = 1;
    r = tensor(a->shape.dtype, dims, a->shape.rank);
    stet_ref_view(&r, a, order, step, start);
    return r;
}

/* "[b, 0, f]" for dimensions named in canonical order by `names`. */
static void put_layout(struct text *t, const int64_t *order, uint32_t rank, const char *names)
{
    put(t, "[");
    for (uint32_t d = 0; d < rank; d++)
        put(t, "%s%c", d ? ", " : "", names[order[d]]);
    put(t, "]");
}

/* A convolution in canonical layout, and the order of dimensions in which it is run. */
struct convolution {
    uint32_t spatial;
    int64_t n, per, outs, groups, batch_groups; /* features: per group; of the result */
    int64_t x[3], w[3], high[3];
    struct stet_ref_window win;
    int64_t order[3][5];
};

static bool convolution_agrees(const struct convolution *c, enum stet_dtype t)
{
    static const char *const input[] = {"b0f", "b01f", "b012f"}, *const kernel[] = {"0io", "01io",
                                                                                    "012io"};
    uint32_t rank = c->spatial + 2;
    int64_t x[5] = {c->n * c->batch_groups}, w[5], out[5] = {c->n};
    struct stet_ref a, b, want, in[2], result, got;
    const struct stet_ref *list[2] = {&in[0], &in[1]};
    struct text m = {.n = 0};
    bool ok;

    for (uint32_t d = 0; d < c->spatial; d++) {
        int64_t room = (c->x[d] ? (c->x[d] - 1) * c->win.base_dilation[d] + 1 : 0) + c->win.low[d] +
                       c->high[d] - ((c->w[d] - 1) * c->win.window_dilation[d] + 1);

        x[d + 1] = c->x[d], w[d] = c->w[d];
        out[d + 1] = room < 0 ? 0 : room / c->win.stride[d] + 1;
    }
    x[rank - 1] = c->groups * c->per, w[c->spatial] = c->per;
    w[rank - 1] = out[rank - 1] = c->outs;
    a = fill(t, x, rank, false), b = fill(t, w, rank, false), want = tensor(t, out, rank);
    stet_ref_conv(&want, &a, &b, &c->win, c->groups, c->batch_groups);
    in[0] = reordered(&a, c->order[0]), in[1] = reordered(&b, c->order[1]);
    result = reordered(&want, c->order[2]), got = like(&result, t);
    put(&m,
        "<{batch_group_count = %lld : i64, feature_group_count = %lld : i64, "
        "dimension_numbers = #stablehlo.conv<",
        (long long)c->batch_groups, (long long)c->groups);
    put_layout(&m, c->order[0], rank, input[c->spatial - 1]), put(&m, "x");
    put_layout(&m, c->order[1], rank, kernel[c->spatial - 1]), put(&m, "->");
    put_layout(&m, c->order[2], rank, input[c->spatial - 1]), put(&m, ">, padding = dense<[");
    for (uint32_t d = 0; d < c->spatial; d++)
        put(&m, "%s[%lld, %lld]", d ? ", " : "", (long long)c->win.low[d], (long long)c->high[d]);
    put(&m, "]> : tensor<%ux2xi64>, ", c->spatial);
    put_array(&m, "window_strides", c->win.stride, c->spatial), put(&m, ", ");
    put_array(&m, "lhs_dilation", c->win.base_dilation, c->spatial), put(&m, ", ");
    put_array(&m, "rhs_dilation", c->win.window_dilation, c->spatial), put(&m, "}>");
    ok = run_op(&got, "convolution", m.s, list, 2) && same(&result, &got, 30, "convolution");
    free(a.data), free(b.data), free(want.data), free(in[0].data), free(in[1].data);
    free(result.data), free(got.data);
    return ok;
}

TEST(convolutions_of_every_layout_agree_with_the_reference)
{
    for (int i = 0; i < 150; i++) {
        enum stet_dtype t = i % 3 ? STET_DT_F32 : all_types[1 + next() % (TYPES - 1)];
        struct convolution c = {
            .spatial = (uint32_t)pick(1, 3), .n = pick(1, 2), .per = pick(1, 4)};

        c.groups = pick(0, 2) ? 1 : pick(1, 3);
        c.batch_groups = c.groups == 1 && pick(0, 3) == 0 ? 2 : 1;
        c.outs = c.groups * c.batch_groups * pick(1, 4);
        for (uint32_t d = 0; d < c.spatial; d++) {
            c.x[d] = pick(0, 15) ? pick(1, 6) : 0, c.w[d] = pick(1, 3);
            c.win.stride[d] = pick(1, 3), c.win.low[d] = pick(-1, 2), c.high[d] = pick(-1, 2);
            c.win.base_dilation[d] = pick(1, 2), c.win.window_dilation[d] = pick(1, 2);
        }
        for (int k = 0; k < 3; k++) {
            for (uint32_t d = 0; d < c.spatial + 2; d++)
                c.order[k][d] = d;
            if (i % 4)
                shuffle(c.order[k], c.spatial + 2);
        }
        EXPECT(convolution_agrees(&c, t));
    }
}

static void some_window(struct convolution *c, int64_t most, int64_t dilation)
{
    for (uint32_t d = 0; d < c->spatial; d++) {
        c->x[d] = pick(1, most), c->w[d] = pick(1, 4);
        c->win.stride[d] = pick(1, 2), c->win.low[d] = pick(0, 3), c->high[d] = pick(0, 3);
        c->win.base_dilation[d] = pick(1, dilation), c->win.window_dilation[d] = pick(1, 2);
    }
}

/* Each feature by itself, and its gradient, in which the batch is what groups are. */
TEST(convolutions_of_single_features_agree_with_the_reference)
{
    for (int i = 0; i < 40; i++) {
        bool grad = i % 2;
        int64_t channels = i % 5 ? pick(2, 12) : pick(30, 40);
        struct convolution c = {.spatial = 2,
                                .n = grad ? 1 : pick(1, 3),
                                .per = grad ? pick(1, 9) : 1,
                                .outs = channels,
                                .groups = grad ? 1 : channels,
                                .batch_groups = grad ? channels : 1,
                                .order = {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}}};

        some_window(&c, 7, 2);
        if (grad)
            memcpy(c.order[0], (int64_t[]){3, 1, 2, 0}, 4 * sizeof(int64_t));
        EXPECT(convolution_agrees(&c, STET_DT_F32));
    }
}

/* The images are adjacent elements, as in the gradient of a kernel. */
TEST(convolutions_with_the_batch_last_agree_with_the_reference)
{
    for (int i = 0; i < 24; i++) {
        struct convolution c = {.spatial = 2,
                                .n = i % 8 ? pick(8, 20) : 70,
                                .per = pick(2, 6),
                                .outs = pick(1, 5),
                                .groups = 1,
                                .batch_groups = 1,
                                .order = {{3, 1, 2, 0}, {2, 0, 1, 3}, {1, 2, 0, 3}}};

        some_window(&c, 12, i % 3 ? 1 : 2);
        for (uint32_t d = 0; d < 2; d++)
            c.w[d] = pick(6, 8), c.x[d] = pick(4, 9), c.win.low[d] = c.high[d] = pick(0, 2);
        EXPECT(convolution_agrees(&c, i % 2 ? STET_DT_F32 : STET_DT_F64));
    }
}

/* Larger than a block, the taps adjacent in memory, elements of the input apart. */
TEST(convolutions_of_larger_images_agree_with_the_reference)
{
    for (int i = 0; i < 12; i++) {
        enum stet_dtype t = i % 4 == 3 ? STET_DT_BF16 : STET_DT_F32;
        struct convolution c = {.spatial = 1 + (uint32_t)i % 2,
                                .n = 2,
                                .per = pick(1, 6),
                                .outs = pick(1, 8),
                                .groups = 1,
                                .batch_groups = 1,
                                .order = {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}}};

        some_window(&c, 14, 4);
        for (uint32_t d = 0; d < c.spatial; d++)
            c.win.stride[d] = pick(1, 6);
        EXPECT(convolution_agrees(&c, t));
    }
}
