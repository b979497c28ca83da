/* The CPU backend's kernels against ref/: strided operands, folds by every operation and of several
 * operands at once, sorting along any dimension, transforms of every kind, random bits, factors of
 * matrices. */
#include "backend_help.h"

/* ---- strided operands: an operation on views of its arguments is one fused loop ---- */

enum { TRANSPOSED, SLICED, REVERSED, SPREAD, VIEWS };

/* A tensor and a view of it with `dims`; the op that makes the view goes to `t` as %name. */
static struct stet_ref viewed(struct text *t, const char *name, const char *from,
                              enum stet_dtype type, const int64_t *dims, uint32_t rank,
                              struct stet_ref *seen)
{
    int64_t source[4], in_dim[4], step[4], start[4] = {0}, limit[4];
    uint32_t source_rank = rank, kind = (uint32_t)(next() % VIEWS);
    struct stet_ref a;

    for (uint32_t d = 0; d < rank; d++)
        source[d] = dims[d], in_dim[d] = d, step[d] = 1;
    put(t, "%%%s = \"stablehlo.", name);
    if (kind == TRANSPOSED) {
        for (uint32_t d = 0; d < rank; d++)
            in_dim[d] = rank - 1 - d, source[rank - 1 - d] = dims[d];
        put(t, "transpose\"(%%%s) <{", from), put_array(t, "permutation", in_dim, rank);
    } else if (kind == SLICED) {
        for (uint32_t d = 0; d < rank; d++) {
            start[d] = pick(0, 2), step[d] = pick(1, 3);
            limit[d] = start[d] + (dims[d] ? (dims[d] - 1) * step[d] + 1 : 0);
            source[d] = limit[d] + pick(0, 2);
        }
        put(t, "slice\"(%%%s) <{", from), put_array(t, "start_indices", start, rank);
        put(t, ", "), put_array(t, "limit_indices", limit, rank);
        put(t, ", "), put_array(t, "strides", step, rank);
    } else if (kind == REVERSED) {
        for (uint32_t d = 0; d < rank; d++)
            step[d] = -1, start[d] = dims[d] - 1;
        put(t, "reverse\"(%%%s) <{", from), put_array(t, "dimensions", in_dim, rank);
    } else { /* some dimensions are not the source's, some are but have one element */
        int64_t map[4];

        source_rank = 0;
        for (uint32_t d = 0; d < rank; d++) {
            in_dim[d] = -1;
            if (pick(0, 2) == 0)
                continue;
            in_dim[d] = source_rank, map[source_rank] = d;
            step[d] = pick(0, 2) ? 1 : 0;
            source[source_rank++] = step[d] ? dims[d] : 1;
        }
        put(t, "broadcast_in_dim\"(%%%s) <{", from);
        put_array(t, "broadcast_dimensions", map, source_rank);
    }
    a = fill(type, source, source_rank, true);
    *seen = tensor(type, dims, rank);
    stet_ref_view(seen, &a, in_dim, step, start);
    put(t, "}> : ("), put_type(t, &a.shape), put(t, ") -> "), put_type(t, &seen->shape),
        put(t, " ");
    return a;
}

TEST(operations_on_strided_operands_agree_with_the_reference)
{
    static const struct named ops[] = {{"add", STET_TILE_ADD, 2, 'a'},
                                       {"multiply", STET_TILE_MUL, 2, 'a'},
                                       {"maximum", STET_TILE_MAX, 2, 'a'},
                                       {"subtract", STET_TILE_SUB, 2, 'a'}};

    for (int i = 0; i < 200; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        const struct named *op = &ops[i % 4];
        int64_t dims[4];
        uint32_t rank;
        struct stet_ref a, b, seen[2], want, got;
        const struct stet_ref *list[2] = {&seen[0], &seen[1]};
        struct text views = {.n = 0}, all = {.n = 0};

        some_dims(dims, &rank, i % 5 ? 9 : 40);
        a = viewed(&views, "v", "a", t, dims, rank, &seen[0]);
        b = viewed(&views, "w", "b", t, dims, rank, &seen[1]);
        want = tensor(t, dims, rank), got = tensor(t, dims, rank);
        stet_ref_elementwise(&want, op->op, list, 2);
        put(&all, "module { func.func @main(%%a: "), put_type(&all, &a.shape);
        put(&all, ", %%b: "), put_type(&all, &b.shape), put(&all, ") -> ");
        put_type(&all, &got.shape);
        put(&all, " { %s %%0 = stablehlo.%s %%v, %%w : ", views.s, op->name);
        put_type(&all, &got.shape), put(&all, " return %%0 : "), put_type(&all, &got.shape);
        put(&all, " } }");
        {
            const void *in[2] = {a.data, b.data};

            EXPECT(run_text(&all, in, &got.data, (unsigned)pick(1, 3)) &&
                   same(&want, &got, 1, op->name));
        }
        free(a.data), free(b.data), free(seen[0].data), free(seen[1].data), free(want.data);
        free(got.data);
    }
}

/* ---- folds ---- */

TEST(reductions_by_every_operation_agree_with_the_reference)
{
    static const struct named folds[] = {
        {"add", STET_TILE_ADD, 2, 'a'},     {"multiply", STET_TILE_MUL, 2, 'a'},
        {"maximum", STET_TILE_MAX, 2, 'a'}, {"minimum", STET_TILE_MIN, 2, 'a'},
        {"and", STET_TILE_AND, 2, 'i'},     {"or", STET_TILE_OR, 2, 'i'},
        {"xor", STET_TILE_XOR, 2, 'i'}};

    for (int i = 0; i < 200; i++) {
        const struct named *f = &folds[i % 7];
        enum stet_dtype t =
            all_types[f->types == 'i' ? next() % INTEGERS : 1 + next() % (TYPES - 1)];
        int64_t dims[2] = {pick(0, 9) ? pick(1, 6) : 0, pick(1, f->op == STET_TILE_MUL ? 4 : 90)};
        bool reduced[2] = {next() & 1, next() & 1};
        int64_t list[2], out[2];
        uint32_t count = 0, kept = 0;
        struct stet_ref a, v = fill(t, NULL, 0, false), want, got;
        const struct stet_ref *in[2] = {&a, &v};
        struct text m = {.n = 0};

        a = fill(t, dims, 2, f->op == STET_TILE_MAX || f->op == STET_TILE_MIN || f->types == 'i');
        for (uint32_t d = 0; d < 2; d++)
            if (reduced[d])
                list[count++] = d;
            else
                out[kept++] = dims[d];
        want = tensor(t, out, kept), got = tensor(t, out, kept);
        put(&m, "<{"), put_array(&m, "dimensions", list, count), put(&m, "}> ");
        put_body(&m, f->name, t);
        stet_ref_reduce(&want, &a, stet_ref_get(&v, 0), reduced, f->op);
        EXPECT(run_op(&got, "reduce", m.s, in, 2) && same(&want, &got, 30, f->name));
        free(a.data), free(v.data), free(want.data), free(got.data);
    }
}

/* The largest and where it stands: two operands, a body of several operations. */
TEST(reductions_of_two_operands_agree_with_a_plain_loop)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        int64_t dims[2] = {pick(1, 9), pick(1, 70)}, along = pick(0, 1), kept = dims[1 - along];
        struct stet_ref a = fill(t, dims, 2, false), at = tensor(STET_DT_S32, dims, 2);
        struct stet_ref low = tensor(t, NULL, 0), none = tensor(STET_DT_S32, NULL, 0);
        struct stet_ref value = tensor(t, &kept, 1), index = tensor(STET_DT_S32, &kept, 1);
        struct stet_ref best = tensor(t, &kept, 1), where = tensor(STET_DT_S32, &kept, 1);
        const struct stet_ref *in[4] = {&a, &at, &low, &none};
        struct stet_ref *out[2] = {&value, &index};
        struct text m = {.n = 0};
        struct stet_shape s;

        stet_shape_set(&s, t, NULL, 0);
        stet_ref_set(&low, 0,
                     (struct stet_ref_scalar){stet_dtype_is_unsigned(t) ? 0
                                              : t == STET_DT_S4         ? -8
                                                                        : -100,
                                              -100, 0});
        for (uint64_t j = 0; j < a.shape.elements; j++) {
            int64_t index_of[STET_MAX_RANK], line;
            struct stet_ref_scalar x[2];

            stet_ref_index(&a.shape, j, index_of);
            line = index_of[1 - along];
            stet_ref_set(&at, j, (struct stet_ref_scalar){index_of[along], 0, 0});
            x[0] = stet_ref_get(&a, j), x[1] = stet_ref_get(&best, (uint64_t)line);
            if (index_of[along] && !stet_ref_op(STET_TILE_GT, t, x).i)
                continue;
            stet_ref_set(&best, (uint64_t)line, x[0]);
            stet_ref_set(&where, (uint64_t)line, (struct stet_ref_scalar){index_of[along], 0, 0});
        }
        put(&m, "<{"), put_array(&m, "dimensions", &along, 1), put(&m, "}> ({ ^bb0(%%x: ");
        put_type(&m, &s), put(&m, ", %%i: tensor<i32>, %%y: "), put_type(&m, &s);
        put(&m, ", %%j: tensor<i32>): ");
        for (int part = 0; part < 2; part++) { /* larger, or as large and earlier */
            put(&m,
                "%%%c = \"stablehlo.compare\"(%%x, %%y) <{comparison_direction = "
                "#stablehlo<comparison_direction %s>}> : (",
                part ? 'e' : 'g', part ? "EQ" : "GT");
            put_type(&m, &s), put(&m, ", "), put_type(&m, &s), put(&m, ") -> tensor<i1> ");
        }
        put(&m,
            "%%b = \"stablehlo.compare\"(%%i, %%j) <{comparison_direction = "
            "#stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1> "
            "%%c = stablehlo.and %%e, %%b : tensor<i1> %%d = stablehlo.or %%g, %%c : tensor<i1> "
            "%%v = \"stablehlo.select\"(%%d, %%x, %%y) : (tensor<i1>, ");
        put_type(&m, &s), put(&m, ", "), put_type(&m, &s), put(&m, ") -> "), put_type(&m, &s);
        put(&m, " %%k = \"stablehlo.select\"(%%d, %%i, %%j) : (tensor<i1>, tensor<i32>, "
                "tensor<i32>) -> tensor<i32> stablehlo.return %%v, %%k : ");
        put_type(&m, &s), put(&m, ", tensor<i32> })");
        EXPECT(run_ops(out, 2, "reduce", m.s, in, 4) && same(&best, &value, 0, "largest") &&
               same(&where, &index, 0, "its place"));
        free(a.data), free(at.data), free(low.data), free(none.data), free(value.data);
        free(index.data), free(best.data), free(where.data);
    }
}

/* ---- order ---- */

/* Line `i` along `dim` of `a`, copied in or out. */
static void line_of(struct stet_ref *a, uint32_t dim, uint64_t i, struct stet_ref *line, bool out)
{
    int64_t at[STET_MAX_RANK];
    struct stet_shape others = a->shape;

    others.dims[dim] = 1;
    for (int64_t k = 0; k < a->shape.dims[dim]; k++) {
        uint64_t e;

        stet_ref_index(&others, i, at);
        at[dim] = k;
        e = stet_ref_at(&a->shape, at);
        if (out)
            stet_ref_set(a, e, stet_ref_get(line, (uint64_t)k));
        else
            stet_ref_set(line, (uint64_t)k, stet_ref_get(a, e));
    }
}

TEST(sorting_along_any_dimension_agrees_with_the_reference)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        int64_t dims[3] = {pick(1, 4), pick(1, 20), pick(1, 5)};
        uint32_t dim = (uint32_t)pick(0, 2);
        struct stet_ref a = fill(t, dims, 3, false), want = like(&a, t), got = like(&a, t);
        struct stet_ref line = tensor(t, &dims[dim], 1), sorted = like(&line, t);
        const struct stet_ref *in[1] = {&a};
        struct text m = {.n = 0};
        struct stet_shape s;

        for (uint64_t j = 0; j < a.shape.elements / (uint64_t)dims[dim]; j++) {
            line_of(&a, dim, j, &line, false);
            stet_ref_sort(&sorted, &line, i % 2);
            line_of(&want, dim, j, &sorted, true);
        }
        stet_shape_set(&s, t, NULL, 0);
        put(&m, "<{dimension = %u : i64, is_stable = %s}> ({ ^bb0(%%x: ", dim,
            i % 3 ? "true" : "false");
        put_type(&m, &s), put(&m, ", %%y: "), put_type(&m, &s);
        put(&m,
            "): %%z = \"stablehlo.compare\"(%%x, %%y) <{comparison_direction = "
            "#stablehlo<comparison_direction %s>}> : (",
            i % 2 ? "GT" : "LT");
        put_type(&m, &s), put(&m, ", "), put_type(&m, &s);
        put(&m, ") -> tensor<i1> stablehlo.return %%z : tensor<i1> })");
        EXPECT(run_op(&got, "sort", m.s, in, 1) && same(&want, &got, 0, "sort"));
        free(a.data), free(want.data), free(got.data), free(line.data), free(sorted.data);
    }
}

/* ---- transforms ---- */

TEST(transforms_of_every_kind_agree_with_the_definition)
{
    for (int i = 0; i < 60; i++) {
        bool wide = next() & 1, back = i % 2;
        enum stet_dtype real = wide ? STET_DT_F64 : STET_DT_F32,
                        c = wide ? STET_DT_C128 : STET_DT_C64;
        uint32_t dims = (uint32_t)pick(1, 3);
        int64_t full[4] = {pick(1, 3), pick(1, 5), pick(1, 6), pick(1, 9)}, half[4],
                at[STET_MAX_RANK];
        uint32_t rank = 4, first = rank - dims;
        struct stet_ref a, whole, want, got;
        const struct stet_ref *in[1] = {&a};
        struct text m = {.n = 0};

        memcpy(half, full, sizeof half);
        half[3] = full[3] / 2 + 1;
        if (back) { /* the half that was not kept is the other's mirror image */
            struct stet_ref source = fill(real, full, rank, false),
                            spectrum = tensor(c, full, rank);

            stet_ref_fourier(&spectrum, &source, dims, -1);
            a = tensor(c, half, rank);
            for (uint64_t j = 0; j < a.shape.elements; j++) {
                stet_ref_index(&a.shape, j, at);
                stet_ref_set(&a, j, stet_ref_get(&spectrum, stet_ref_at(&spectrum.shape, at)));
            }
            whole = spectrum;
            want = tensor(real, full, rank);
            free(source.data);
        } else {
            a = fill(real, full, rank, false);
            whole = a;
            want = tensor(c, half, rank);
        }
        got = like(&want, want.shape.dtype);
        stet_ref_fourier(&want, &whole, dims, back ? 1 : -1);
        put(&m, "<{fft_type = #stablehlo<fft_type %s>, ", back ? "IRFFT" : "RFFT");
        put_array(&m, "fft_length", full + first, dims), put(&m, "}>");
        EXPECT(run_op(&got, "fft", m.s, in, 1) && same(&want, &got, 100, "fft"));
        if (back)
            free(whole.data);
        free(a.data), free(want.data), free(got.data);
    }
}

/* ---- random bits ---- */

TEST(random_bits_of_any_shape_agree_with_the_reference)
{
    static const enum stet_dtype types[] = {STET_DT_U8, STET_DT_U16, STET_DT_U32, STET_DT_U64};

    for (int i = 0; i < 120; i++) {
        bool philox = i % 2;
        int64_t words = philox ? 3 : 2, dims[4];
        uint32_t rank;
        uint64_t used;
        struct stet_ref state = tensor(STET_DT_U64, &words, 1), after = like(&state, STET_DT_U64);
        struct stet_ref want, got, left = like(&state, STET_DT_U64);
        struct stet_ref *out[2] = {&after, &got};
        const struct stet_ref *in[1] = {&state};
        uint64_t s[3] = {next(), pick(0, 3) ? next() : ~0ull - 2, next()};
        char middle[96];

        some_dims(dims, &rank, 9);
        want = tensor(types[i / 2 % 4], dims, rank), got = like(&want, want.shape.dtype);
        memcpy(state.data, s, state.shape.bytes);
        used = philox ? stet_ref_philox(&want, s) : stet_ref_threefry(&want, s);
        if (philox && s[1] + used < s[1])
            s[2]++;
        s[1] += used;
        memcpy(left.data, s, left.shape.bytes);
        snprintf(middle, sizeof middle, "<{rng_algorithm = #stablehlo<rng_algorithm %s>}>",
                 philox ? "PHILOX" : "THREE_FRY");
        EXPECT(run_ops(out, 2, "rng_bit_generator", middle, in, 1) &&
               same(&want, &got, 0, "random bits") && same(&left, &after, 0, "the state after"));
        free(state.data), free(after.data), free(want.data), free(got.data), free(left.data);
    }
}

/* ---- factors ---- */

static const enum stet_dtype fields[] = {STET_DT_F32, STET_DT_F64, STET_DT_C64, STET_DT_C128};

/* Row `i` of a list of matrices, or of vectors. */
static struct stet_ref member(const struct stet_ref *all, int64_t i)
{
    struct stet_ref one = *all;

    stet_shape_set(&one.shape, all->shape.dtype, all->shape.dims + 1, all->shape.rank - 1);
    one.data = (char *)all->data + (size_t)i * one.shape.bytes;
    return one;
}

#define CALL(target, how) "<{call_target_name = \"" target "\", backend_config = \"" how "\"}>"

TEST(rows_exchanged_are_the_product_of_their_factors)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = fields[i % 4];
        int64_t dims[3] = {pick(0, 3), pick(1, 9), pick(1, 9)};
        int64_t least[2] = {dims[0], dims[1] < dims[2] ? dims[1] : dims[2]};
        struct stet_ref a = fill(t, dims, 3, false), lu = like(&a, t);
        struct stet_ref pivots = tensor(STET_DT_S32, least, 2),
                        order = tensor(STET_DT_S32, dims, 2);
        struct stet_ref *out[3] = {&lu, &pivots, &order};
        const struct stet_ref *in[1] = {&a};

        EXPECT(run_ops(out, 3, "custom_call", CALL("LuDecomposition", ""), in, 1));
        for (int64_t b = 0; b < dims[0]; b++) {
            struct stet_ref one = member(&a, b), f = member(&lu, b), p = member(&pivots, b),
                            o = member(&order, b);

            EXPECT(stet_ref_lu_error(&one, &f, &p, &o) < 100 * tolerance(t));
        }
        free(a.data), free(lu.data), free(pivots.data), free(order.data);
    }
}

TEST(reflectors_make_orthogonal_columns)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = fields[i % 4];
        int64_t cols = pick(1, 7), dims[3] = {pick(1, 3), cols + pick(0, 4), cols};
        struct stet_ref a = fill(t, dims, 3, false), r = like(&a, t), q = like(&a, t);
        struct stet_ref tau = tensor(t, (int64_t[]){dims[0], cols}, 2);
        struct stet_ref *out[2] = {&r, &tau};
        const struct stet_ref *in[1] = {&a}, *both[2] = {&r, &tau};

        EXPECT(run_ops(out, 2, "custom_call", CALL("Qr", ""), in, 1));
        EXPECT(run_op(&q, "custom_call", CALL("ProductOfElementaryHouseholderReflectors", ""), both,
                      2));
        for (int64_t b = 0; b < dims[0]; b++) {
            struct stet_ref one = member(&a, b), left = member(&q, b), right = member(&r, b);

            EXPECT(stet_ref_qr_error(&one, &left, &right) < 100 * tolerance(t));
        }
        free(a.data), free(r.data), free(q.data), free(tau.data);
    }
}

TEST(eigenvectors_are_scaled_by_their_eigenvalues)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = fields[i % 4], real = t == STET_DT_C64    ? STET_DT_F32
                                                  : t == STET_DT_C128 ? STET_DT_F64
                                                                      : t;
        int64_t n = pick(1, 9), dims[3] = {pick(1, 3), n, n};
        struct stet_ref a = fill(t, dims, 3, false), v = like(&a, t), w = tensor(real, dims, 2);
        struct stet_ref *out[2] = {&v, &w};
        const struct stet_ref *in[1] = {&a};
        bool lower = i / 4 % 2;

        EXPECT(run_ops(out, 2, "custom_call",
                       lower ? CALL("Eigh", "1,1,100,1e-6") : CALL("Eigh", "0,1,100,1e-6"), in, 1));
        for (int64_t b = 0; b < dims[0]; b++) {
            struct stet_ref one = member(&a, b), vectors = member(&v, b), values = member(&w, b);

            for (int64_t row = 0; row < n; row++) /* what the other triangle stands for */
                for (int64_t col = 0; col <= row; col++) {
                    uint64_t there = (uint64_t)(row * n + col), here = (uint64_t)(col * n + row);
                    struct stet_ref_scalar x = stet_ref_get(&one, lower ? there : here);

                    x.im = row == col ? 0 : x.im;
                    stet_ref_set(&one, lower ? there : here, x);
                    x.im = -x.im;
                    stet_ref_set(&one, lower ? here : there, x);
                }
            EXPECT(stet_ref_eigh_error(&one, &vectors, &values) < 100 * tolerance(t));
        }
        free(a.data), free(v.data), free(w.data);
    }
}

TEST(a_buffer_that_nothing_filled_is_zero)
{
    for (int i = 0; i < 8; i++) {
        enum stet_dtype t = fields[i % 4];
        int64_t dims[2] = {i < 4 ? pick(1, 5) : 0, pick(1, 5)};
        struct stet_ref out = tensor(t, dims, 2);
        struct stet_ref_scalar x;

        EXPECT(run_op(&out, "custom_call", CALL("AllocateBuffer", ""), NULL, 0));
        for (int64_t k = 0; k < dims[0] * dims[1]; k++) {
            x = stet_ref_get(&out, (uint64_t)k);
            EXPECT(x.f == 0 && x.im == 0);
        }
        free(out.data);
    }
}
