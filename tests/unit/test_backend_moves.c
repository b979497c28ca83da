/* Larger shapes than the random ones elsewhere, about the blocks of transpositions, gathers,
 * scatters, folds and running totals. */
#include "backend_help.h"

/* ---- views ---- */

static void put_two(struct text *t, const struct stet_ref *a, const struct stet_ref *out)
{
    put(t, "module { func.func @main(%%a: "), put_type(t, &a->shape);
    put(t, ", %%b: "), put_type(t, &out->shape), put(t, ") -> "), put_type(t, &out->shape);
    put(t, " { ");
}

/* Of every width: by itself, and read by an elementwise operation beside another operand. */
TEST(transpositions_of_blocks_agree_with_the_reference)
{
    static const enum stet_dtype types[] = {STET_DT_S8,  STET_DT_U16,  STET_DT_F32, STET_DT_S64,
                                            STET_DT_C64, STET_DT_BF16, STET_DT_C128};
    static const int64_t sizes[][3] = {{1, 7, 16},   {2, 16, 8},   {1, 33, 47}, {3, 40, 16},
                                       {1, 300, 17}, {2, 15, 290}, {1, 64, 520}};

    for (size_t i = 0; i < 2 * 7 * 7; i++) {
        enum stet_dtype t = types[i % 7];
        const int64_t *size = sizes[i / 7 % 7];
        int64_t out_dims[3] = {size[0], size[2], size[1]};
        const int64_t in_dim[3] = {0, 2, 1}, step[3] = {1, 1, 1}, start[3] = {0};
        struct stet_ref a = fill(t, size, 3, false), b = fill(t, out_dims, 3, false);
        struct stet_ref turned = tensor(t, out_dims, 3), want = like(&b, t), got = like(&b, t);
        const struct stet_ref *operands[2] = {&turned, &b};
        const void *in[2] = {a.data, b.data};
        struct text m = {.n = 0};

        stet_ref_view(&turned, &a, in_dim, step, start);
        put_two(&m, &a, &b);
        put(&m, "%%0 = \"stablehlo.transpose\"(%%a) <{permutation = array<i64: 0, 2, 1>}> : (");
        put_type(&m, &a.shape), put(&m, ") -> "), put_type(&m, &b.shape);
        if (i < 7 * 7) {
            memcpy(want.data, turned.data, want.shape.bytes);
            put(&m, " return %%0 : ");
        } else {
            stet_ref_elementwise(&want, STET_TILE_ADD, operands, 2);
            put(&m, " %%1 = stablehlo.add %%0, %%b : "), put_type(&m, &b.shape);
            put(&m, " return %%1 : ");
        }
        put_type(&m, &b.shape), put(&m, " } }");
        EXPECT(run_text(&m, in, &got.data, (unsigned)pick(1, 3)));
        EXPECT(same(&want, &got, 1, "transpose"));
        free(a.data), free(b.data), free(turned.data), free(want.data), free(got.data);
    }
}

TEST(reversed_and_strided_views_agree_with_the_reference)
{
    static const enum stet_dtype types[] = {STET_DT_U8, STET_DT_S16, STET_DT_F32, STET_DT_F64,
                                            STET_DT_C128};

    for (size_t i = 0; i < 30; i++) {
        enum stet_dtype t = types[i % 5];
        int64_t dims[2] = {pick(1, 9), pick(600, 1500)}, by = pick(1, 3);
        int64_t out[2] = {dims[0], (dims[1] + by - 1) / by};
        struct stet_ref a = fill(t, dims, 2, false), part = tensor(t, out, 2);
        struct stet_ref want = like(&part, t), got = like(&part, t);
        const int64_t in_dim[2] = {0, 1}, step[2] = {-1, by}, start[2] = {dims[0] - 1, 0};
        const struct stet_ref *operands[2] = {&part, &part};
        const void *in[2] = {a.data, part.data};
        struct text m = {.n = 0};

        stet_ref_view(&part, &a, in_dim, step, start);
        stet_ref_elementwise(&want, STET_TILE_ADD, operands, 2);
        put_two(&m, &a, &part);
        put(&m, "%%0 = \"stablehlo.reverse\"(%%a) <{dimensions = array<i64: 0>}> : (");
        put_type(&m, &a.shape), put(&m, ") -> "), put_type(&m, &a.shape);
        put(&m, " %%1 = stablehlo.slice %%0 [0:%lld, 0:%lld:%lld] : (", (long long)dims[0],
            (long long)dims[1], (long long)by);
        put_type(&m, &a.shape), put(&m, ") -> "), put_type(&m, &part.shape);
        put(&m, " %%2 = stablehlo.add %%1, %%b : "), put_type(&m, &part.shape);
        put(&m, " return %%2 : "), put_type(&m, &part.shape), put(&m, " } }");
        EXPECT(run_text(&m, in, &got.data, 2) && same(&want, &got, 1, "slice of reverse"));
        free(a.data), free(part.data), free(want.data), free(got.data);
    }
}

/* ---- indices ---- */

/* Rows of `a` by index: one index for each row of the result. */
static const char rows_by_index[] =
    "<{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
    "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, %lld>}>";

TEST(many_rows_are_gathered_and_scattered)
{
    static const enum stet_dtype index_types[] = {STET_DT_S32, STET_DT_S64, STET_DT_U32,
                                                  STET_DT_U16};
    static const enum stet_dtype types[] = {STET_DT_F32, STET_DT_BF16, STET_DT_S8, STET_DT_C64};

    for (int i = 0; i < 48; i++) {
        enum stet_dtype t = types[i % 4];
        int64_t rows = pick(1, 300), many = pick(1, 900), width = i % 3 ? pick(1, 40) : 200;
        struct stet_ref a = fill(t, (int64_t[]){rows, width}, 2, false);
        struct stet_ref index = tensor(index_types[i / 4 % 4], (int64_t[]){many}, 1);
        struct stet_ref got = tensor(t, (int64_t[]){many, width}, 2), want = like(&got, t);
        struct stet_ref sums = like(&a, t), got_sums = like(&a, t);
        const struct stet_ref *in[2] = {&a, &index}, *updates[3] = {&a, &index, &want};
        bool add = i % 2;
        char middle[300];
        struct text m = {.n = 0};

        memcpy(sums.data, a.data, a.shape.bytes);
        for (int64_t j = 0; j < many; j++) {
            int64_t at = pick(0, rows + 5), inside = at < rows ? at : rows - 1;

            stet_ref_set(&index, (uint64_t)j, (struct stet_ref_scalar){at, 0, 0});
            for (int64_t c = 0; c < width; c++)
                stet_ref_set(&want, (uint64_t)(j * width + c),
                             stet_ref_get(&a, (uint64_t)(inside * width + c)));
            for (int64_t c = 0; c < width && at < rows; c++) {
                uint64_t to = (uint64_t)(at * width + c);
                struct stet_ref_scalar x[3] = {stet_ref_get(&sums, to),
                                               stet_ref_get(&want, (uint64_t)(j * width + c)),
                                               {0, 0, 0}};

                stet_ref_set(&sums, to, add ? stet_ref_op(STET_TILE_ADD, t, x) : x[1]);
            }
        }
        snprintf(middle, sizeof middle, rows_by_index, (long long)width);
        EXPECT(run_op(&got, "gather", middle, in, 2) && same(&want, &got, 0, "gather"));
        put(&m, "<{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
                "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                "index_vector_dim = 1>}> ");
        if (add) {
            put_body(&m, "add", t);
        } else {
            struct stet_shape s;

            stet_shape_set(&s, t, NULL, 0);
            put(&m, "({ ^bb0(%%x: "), put_type(&m, &s), put(&m, ", %%y: "), put_type(&m, &s);
            put(&m, "): stablehlo.return %%y : "), put_type(&m, &s), put(&m, " })");
        }
        EXPECT(run_op(&got_sums, "scatter", m.s, updates, 3) &&
               same(&sums, &got_sums, 30, "scatter"));
        free(a.data), free(index.data), free(got.data), free(want.data), free(sums.data);
        free(got_sums.data);
    }
}

/* ---- folds ---- */

TEST(long_and_narrow_folds_agree_with_the_reference)
{
    static const struct named folds[] = {{"add", STET_TILE_ADD, 2, 'a'},
                                         {"maximum", STET_TILE_MAX, 2, 'a'},
                                         {"minimum", STET_TILE_MIN, 2, 'a'}};
    static const int64_t shapes[][3] = {{2000, 1, 64}, {700, 50, 3},  {90, 40, 40}, {3, 5000, 7},
                                        {1, 40000, 1}, {5000, 2, 17}, {64, 9, 900}};
    static const enum stet_dtype types[] = {STET_DT_F32, STET_DT_S32, STET_DT_F64, STET_DT_BF16};

    for (int i = 0; i < 3 * 7 * 4; i++) {
        const struct named *f = &folds[i % 3];
        const int64_t *dims = shapes[i / 3 % 7];
        enum stet_dtype t = types[i / 21];
        struct stet_ref a = fill(t, dims, 3, false), init = fill(t, NULL, 0, false);
        struct stet_ref want = tensor(t, dims + 2, 1), got = like(&want, t);
        const struct stet_ref *in[2] = {&a, &init};
        struct text m = {.n = 0};

        put(&m, "<{dimensions = array<i64: 0, 1>}> ");
        put_body(&m, f->name, t);
        for (int64_t c = 0; c < dims[2]; c++)
            stet_ref_set(&want, (uint64_t)c, stet_ref_get(&init, 0));
        for (uint64_t e = 0; e < a.shape.elements; e++) {
            uint64_t c = e % (uint64_t)dims[2];
            struct stet_ref_scalar x[3] = {stet_ref_get(&want, c), stet_ref_get(&a, e), {0, 0, 0}};

            stet_ref_set(&want, c, stet_ref_op(f->op, t, x));
        }
        /* many sums of bf16, each rounded, differ by more than one */
        EXPECT(run_op(&got, "reduce", m.s, in, 2) &&
               (t == STET_DT_BF16 || same(&want, &got, 100, "reduce")));
        free(a.data), free(init.data), free(want.data), free(got.data);
    }
}

/* The greatest and where it is first: two operands, a body of several operations. */
TEST(the_place_of_the_greatest_is_found_in_rows_of_any_length)
{
    static const int64_t lengths[] = {1, 2, 3, 31, 64, 255, 256, 257, 1000, 1024, 1025, 4000};

    for (int i = 0; i < 24; i++) {
        int64_t n = lengths[i / 2], rows = i % 2 ? 1 : 5, dims[2] = {rows, n};
        struct stet_ref a = fill(STET_DT_F32, dims, 2, false), value, place;
        const void *in[1] = {a.data};
        void *out[2];
        struct text m = {.n = 0};

        value = tensor(STET_DT_F32, &rows, 1), place = tensor(STET_DT_S32, &rows, 1);
        out[0] = value.data, out[1] = place.data;
        put(&m, "module { func.func @main(%%a: "), put_type(&m, &a.shape);
        put(&m, ") -> (tensor<%lldxf32>, tensor<%lldxi32>) { ", (long long)rows, (long long)rows);
        put(&m, "%%c = stablehlo.constant dense<0xFF800000> : tensor<f32> %%d = stablehlo.constant "
                "dense<0> : tensor<i32> ");
        put(&m, "%%i = stablehlo.iota dim = 1 : tensor<%lldx%lldxi32> ", (long long)rows,
            (long long)n);
        put(&m,
            "%%0:2 = \"stablehlo.reduce\"(%%a, %%i, %%c, %%d) <{dimensions = array<i64: 1>}> "
            "({ ^bb0(%%x: tensor<f32>, %%p: tensor<i32>, %%y: tensor<f32>, %%q: tensor<i32>): "
            "%%g = stablehlo.compare GT, %%x, %%y : (tensor<f32>, tensor<f32>) -> tensor<i1> "
            "%%e = stablehlo.compare EQ, %%x, %%y : (tensor<f32>, tensor<f32>) -> tensor<i1> "
            "%%l = stablehlo.compare LT, %%p, %%q : (tensor<i32>, tensor<i32>) -> tensor<i1> "
            "%%b = stablehlo.and %%e, %%l : tensor<i1> %%o = stablehlo.or %%g, %%b : tensor<i1> "
            "%%v = stablehlo.select %%g, %%x, %%y : tensor<i1>, tensor<f32> "
            "%%w = stablehlo.select %%o, %%p, %%q : tensor<i1>, tensor<i32> "
            "stablehlo.return %%v, %%w : tensor<f32>, tensor<i32> }) : (");
        put_type(&m, &a.shape);
        put(&m,
            ", tensor<%lldx%lldxi32>, tensor<f32>, tensor<i32>) -> (tensor<%lldxf32>, "
            "tensor<%lldxi32>) return %%0#0, %%0#1 : tensor<%lldxf32>, tensor<%lldxi32> } }",
            (long long)rows, (long long)n, (long long)rows, (long long)rows, (long long)rows,
            (long long)rows);
        EXPECT(run_text(&m, in, out, 2));
        for (int64_t r = 0; r < rows; r++) {
            const float *x = (const float *)a.data + r * n;
            int64_t best = 0;

            for (int64_t j = 1; j < n; j++)
                best = x[j] > x[best] ? j : best;
            EXPECT_INT(best, ((const int32_t *)place.data)[r]);
            EXPECT(x[best] == ((const float *)value.data)[r]);
        }
        free(a.data), free(value.data), free(place.data);
    }
}
