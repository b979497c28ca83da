/* The CPU backend's kernels against ref/: products, sorting. */
#include "backend_help.h"

/* ---- products ---- */

TEST(products_agree_with_the_reference)
{
    for (int i = 0; i < 60; i++)
        expect_product(all_types[1 + next() % (TYPES - 1)], "dot");
}

static struct stet_ref turned(const struct stet_ref *a)
{
    struct stet_ref r = tensor(a->shape.dtype, (int64_t[]){a->shape.dims[1], a->shape.dims[0]}, 2);
    const int64_t in_dim[2] = {1, 0}, step[2] = {1, 1}, start[2] = {0, 0};

    stet_ref_view(&r, a, in_dim, step, start);
    return r;
}

/* Sizes about the blocks of kernels/gemm.c, operands lying either way. */
TEST(products_of_all_sizes_agree_with_the_reference)
{
    static const int64_t sizes[] = {1,  2,  3,  4,  5,  6,  7,  13,  14,
                                    15, 16, 17, 31, 32, 33, 63, 100, 300};
    static const int64_t depths[] = {1, 2, 3, 5, 8, 31, 32, 33, 64, 255, 256, 257, 300, 520};

    for (int i = 0; i < 300; i++) {
        enum stet_dtype t = i % 3 ? STET_DT_F32 : STET_DT_F64;
        int64_t m = sizes[next() % 18], n = sizes[next() % 18], k = depths[next() % 14];
        int ac = next() & 1, bc = next() & 1;
        struct stet_ref a = fill(t, (int64_t[]){m, k}, 2, false), at = turned(&a);
        struct stet_ref b = fill(t, (int64_t[]){k, n}, 2, false), bt = turned(&b);
        struct stet_ref want = tensor(t, (int64_t[]){m, n}, 2), got = like(&want, t);
        const struct stet_ref *in[2] = {ac ? &a : &at, bc ? &bt : &b};
        char middle[160];

        snprintf(middle, sizeof middle,
                 "<{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [%d], "
                 "rhs_contracting_dimensions = [%d]>}>",
                 ac, bc);
        stet_ref_dot(&want, &a, &b);
        EXPECT(run_op(&got, "dot_general", middle, in, 2) && same(&want, &got, 30, "dot"));
        free(a.data), free(at.data), free(b.data), free(bt.data), free(want.data), free(got.data);
    }
}

TEST(convolutions_agree_with_the_reference)
{
    for (int i = 0; i < 40; i++) {
        enum stet_dtype t = i % 3 ? STET_DT_F32 : i % 2 ? STET_DT_BF16 : STET_DT_S32;
        int64_t groups = pick(1, 2), c = groups * pick(1, 3), o = groups * pick(1, 3),
                n = pick(1, 2);
        int64_t in_dims[4] = {n, pick(1, 7), pick(1, 7), c},
                w_dims[4] = {pick(1, 3), pick(1, 3), c / groups, o};
        int64_t out[4] = {n, 0, 0, o}, high[2];
        struct stet_ref_window w;
        struct stet_ref a = fill(t, in_dims, 4, false), b = fill(t, w_dims, 4, false), want, got;
        const struct stet_ref *in[2] = {&a, &b};
        struct text m = {.n = 0};

        for (int d = 0; d < 2; d++) {
            int64_t room;

            w.stride[d] = pick(1, 2), w.low[d] = pick(-1, 2), high[d] = pick(-1, 2);
            w.base_dilation[d] = pick(1, 2), w.window_dilation[d] = pick(1, 2);
            room = (in_dims[d + 1] - 1) * w.base_dilation[d] + 1 + w.low[d] + high[d] -
                   ((w_dims[d] - 1) * w.window_dilation[d] + 1);
            out[d + 1] = room < 0 ? 0 : room / w.stride[d] + 1;
        }
        put(&m,
            "<{batch_group_count = 1 : i64, feature_group_count = %lld : i64, dimension_numbers = "
            "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, padding = dense<[[%lld, "
            "%lld], "
            "[%lld, %lld]]> : tensor<2x2xi64>, ",
            (long long)groups, (long long)w.low[0], (long long)high[0], (long long)w.low[1],
            (long long)high[1]);
        put_array(&m, "window_strides", w.stride, 2), put(&m, ", ");
        put_array(&m, "lhs_dilation", w.base_dilation, 2), put(&m, ", ");
        put_array(&m, "rhs_dilation", w.window_dilation, 2), put(&m, "}>");
        want = tensor(t, out, 4), got = tensor(t, out, 4);
        stet_ref_conv(&want, &a, &b, &w, groups, 1);
        EXPECT(run_op(&got, "convolution", m.s, in, 2) && same(&want, &got, 30, "convolution"));
        free(a.data), free(b.data), free(want.data), free(got.data);
    }
}

/* ---- order ---- */

TEST(sorting_agrees_with_the_reference)
{
    for (int i = 0; i < 40; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        struct stet_ref a = fill(t, (int64_t[]){pick(0, 90)}, 1, false), want = like(&a, t),
                        got = like(&a, t);
        const struct stet_ref *in[1] = {&a};
        struct text m = {.n = 0};
        struct stet_shape s;

        stet_shape_set(&s, t, NULL, 0);
        put(&m, "<{dimension = 0 : i64, is_stable = true}> ({ ^bb0(%%x: ");
        put_type(&m, &s), put(&m, ", %%y: "), put_type(&m, &s);
        put(&m,
            "): %%z = \"stablehlo.compare\"(%%x, %%y) <{comparison_direction = "
            "#stablehlo<comparison_direction %s>}> : (",
            i % 2 ? "GT" : "LT");
        put_type(&m, &s), put(&m, ", "), put_type(&m, &s);
        put(&m, ") -> tensor<i1> stablehlo.return %%z : tensor<i1> })");
        stet_ref_sort(&want, &a, i % 2);
        EXPECT(run_op(&got, "sort", m.s, in, 1) && same(&want, &got, 0, "sort"));
        free(a.data), free(want.data), free(got.data);
    }
}
