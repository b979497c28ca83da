/* The CPU backend's kernels against ref/ and published values: complex numbers, special functions,
 * random bits, linear algebra, and the rarer ways to move and to choose elements. */
#include "backend_help.h"

TEST(special_functions_agree_with_the_reference)
{
    static const struct named ops[] = {{"stablehlo.tan", STET_TILE_TAN, 1, 'f'},
                                       {"chlo.erf", STET_TILE_ERF, 1, 'f'},
                                       {"chlo.erfc", STET_TILE_ERFC, 1, 'f'},
                                       {"chlo.asin", STET_TILE_ASIN, 1, 'f'},
                                       {"chlo.acos", STET_TILE_ACOS, 1, 'f'},
                                       {"chlo.atan", STET_TILE_ATAN, 1, 'f'},
                                       {"chlo.sinh", STET_TILE_SINH, 1, 'f'},
                                       {"chlo.cosh", STET_TILE_COSH, 1, 'f'},
                                       {"chlo.asinh", STET_TILE_ASINH, 1, 'f'},
                                       {"chlo.acosh", STET_TILE_ACOSH, 1, 'f'},
                                       {"chlo.atanh", STET_TILE_ATANH, 1, 'f'},
                                       {"chlo.lgamma", STET_TILE_LGAMMA, 1, 'f'},
                                       {"chlo.digamma", STET_TILE_DIGAMMA, 1, 'f'},
                                       {"chlo.erf_inv", STET_TILE_ERF_INV, 1, 'f'},
                                       {"chlo.bessel_i1e", STET_TILE_BESSEL_I1E, 1, 'f'},
                                       {"chlo.next_after", STET_TILE_NEXTAFTER, 2, 'f'}};
    static const enum stet_dtype types[] = {STET_DT_BF16, STET_DT_F16, STET_DT_F32, STET_DT_F64};

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        for (int t = 0; t < 4; t++) {
            struct stet_ref a = fill(types[t], (int64_t[]){70}, 1, true),
                            b = fill(types[t], (int64_t[]){70}, 1, true);
            struct stet_ref want = like(&a, types[t]), got = like(&a, types[t]);
            const struct stet_ref *in[2] = {&a, &b};

            /* the tangent of 3e38 says more about pi than about the kernel */
            for (uint64_t j = 0; j < a.shape.elements && ops[i].op == STET_TILE_TAN; j++)
                if (fabs(stet_ref_get(&a, j).f) > 1e4)
                    stet_ref_set(&a, j, (struct stet_ref_scalar){0, 1, 0});
            stet_ref_elementwise(&want, ops[i].op, in, ops[i].operands);
            EXPECT(run_op(&got, ops[i].name, "", in, ops[i].operands) &&
                   same(&want, &got, ops[i].operands == 2 ? 0 : 1, ops[i].name));
            free(a.data), free(b.data), free(want.data), free(got.data);
        }
}

TEST(complex_numbers_agree_with_the_reference)
{
    static const struct named ops[] = {{"add", STET_TILE_ADD, 2, 'c'},
                                       {"subtract", STET_TILE_SUB, 2, 'c'},
                                       {"multiply", STET_TILE_MUL, 2, 'c'},
                                       {"divide", STET_TILE_DIV, 2, 'c'},
                                       {"power", STET_TILE_POW, 2, 'c'},
                                       {"negate", STET_TILE_NEG, 1, 'c'},
                                       {"sign", STET_TILE_SIGN, 1, 'c'},
                                       {"exponential", STET_TILE_EXP, 1, 'c'},
                                       {"exponential_minus_one", STET_TILE_EXPM1, 1, 'c'},
                                       {"log", STET_TILE_LOG, 1, 'c'},
                                       {"log_plus_one", STET_TILE_LOG1P, 1, 'c'},
                                       {"tanh", STET_TILE_TANH, 1, 'c'},
                                       {"logistic", STET_TILE_LOGISTIC, 1, 'c'},
                                       {"sine", STET_TILE_SIN, 1, 'c'},
                                       {"cosine", STET_TILE_COS, 1, 'c'},
                                       {"sqrt", STET_TILE_SQRT, 1, 'c'},
                                       {"rsqrt", STET_TILE_RSQRT, 1, 'c'},
                                       {"abs", STET_TILE_ABS, 1, 'r'},
                                       {"real", STET_TILE_REAL, 1, 'r'},
                                       {"imag", STET_TILE_IMAG, 1, 'r'}};

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        for (int t = 0; t < 2; t++) {
            enum stet_dtype type = t ? STET_DT_C128 : STET_DT_C64;
            enum stet_dtype result = ops[i].types == 'c' ? type : t ? STET_DT_F64 : STET_DT_F32;
            int64_t dims[4];
            uint32_t rank;
            struct stet_ref a, b, want, got;
            const struct stet_ref *in[2] = {&a, &b};

            some_dims(dims, &rank, 9);
            a = fill(type, dims, rank, false), b = fill(type, dims, rank, false);
            want = like(&a, result), got = like(&a, result);
            stet_ref_elementwise(&want, ops[i].op, in, ops[i].operands);
            EXPECT(run_op(&got, ops[i].name, "", in, ops[i].operands) &&
                   same(&want, &got, 10, ops[i].name));
            free(a.data), free(b.data), free(want.data), free(got.data);
        }
}

TEST(complex_products_agree_with_the_reference)
{
    for (int i = 0; i < 20; i++)
        expect_product(i % 2 ? STET_DT_C128 : STET_DT_C64, "complex dot");
}

TEST(reduced_precision_agrees_with_the_reference)
{
    static const int bits[][2] = {{8, 7}, {5, 10}, {4, 3}, {5, 2}, {8, 10}};

    for (int i = 0; i < 5; i++) {
        struct stet_ref a = fill(STET_DT_F32, (int64_t[]){300}, 1, false);
        struct stet_ref want = like(&a, STET_DT_F32), got = like(&a, STET_DT_F32);
        const struct stet_ref *in[1] = {&a};
        char middle[96];

        for (uint64_t j = 0; j < 300; j++) /* normal numbers of every format here */
            if (fabs(stet_ref_get(&a, j).f) < 0.1)
                stet_ref_set(&a, j, (struct stet_ref_scalar){0, 0.5, 0});
        snprintf(middle, sizeof middle, "<{exponent_bits = %d : i32, mantissa_bits = %d : i32}>",
                 bits[i][0], bits[i][1]);
        stet_ref_reduce_precision(&want, &a, bits[i][0], bits[i][1]);
        EXPECT(run_op(&got, "reduce_precision", middle, in, 1) &&
               same(&want, &got, 0, "reduce_precision"));
        free(a.data), free(want.data), free(got.data);
    }
}

/* ---- random bits: the known answers of Random123 1.14 (kat_vectors) ---- */

TEST(random_bits_are_the_published_ones)
{
    static const struct {
        const char *algorithm;
        uint32_t words; /* of the state */
        uint64_t state[3];
        uint32_t bits[4];
    } known[] = {
        {"THREE_FRY", 2, {0, 0}, {0x6b200159, 0x99ba4efe}},
        {"THREE_FRY", 2, {~0ull, ~0ull}, {0x1cb996fc, 0xbb002be7}},
        {"THREE_FRY", 2, {0x0370734413198a2e, 0x85a308d3243f6a88}, {0xc4923a9c, 0x483df7a0}},
        {"PHILOX", 3, {0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {"PHILOX", 3, {~0ull, ~0ull, ~0ull}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {"PHILOX",
         3,
         {0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        int64_t words = known[i].words, count = words == 2 ? 2 : 4;
        struct stet_ref state = tensor(STET_DT_U64, &words, 1), after = like(&state, STET_DT_U64);
        struct stet_ref bits = tensor(STET_DT_U32, &count, 1);
        struct stet_ref *out[2] = {&after, &bits};
        const struct stet_ref *in[1] = {&state};
        char middle[96];

        memcpy(state.data, known[i].state, state.shape.bytes);
        snprintf(middle, sizeof middle, "<{rng_algorithm = #stablehlo<rng_algorithm %s>}>",
                 known[i].algorithm);
        EXPECT(run_ops(out, 2, "rng_bit_generator", middle, in, 1));
        EXPECT(memcmp(bits.data, known[i].bits, bits.shape.bytes) == 0);
        EXPECT(stet_ref_get(&after, 0).i == (int64_t)known[i].state[0]);
        EXPECT(stet_ref_get(&after, 1).i == (int64_t)(known[i].state[1] + 1));
        free(state.data), free(after.data), free(bits.data);
    }
}

/* ---- linear algebra ---- */

static const enum stet_dtype fields[] = {STET_DT_F32, STET_DT_F64, STET_DT_C64, STET_DT_C128};

TEST(cholesky_agrees_with_the_reference)
{
    for (int i = 0; i < 32; i++) {
        enum stet_dtype t = fields[i % 4];
        int64_t n = pick(0, 9);
        struct stet_ref a = fill(t, (int64_t[]){n, n}, 2, false);
        struct stet_ref want = like(&a, t), got = like(&a, t);
        const struct stet_ref *in[1] = {&a};
        bool lower = i / 4 % 2;

        for (int64_t j = 0; j < n; j++) /* heavy diagonal: positive definite by one triangle */
            stet_ref_set(&a, (uint64_t)(j * n + j), (struct stet_ref_scalar){0, 40, 0});
        stet_ref_cholesky(&want, &a, lower);
        EXPECT(run_op(&got, "cholesky", lower ? "<{lower = true}>" : "<{lower = false}>", in, 1) &&
               same(&want, &got, 10, "cholesky"));
        free(a.data), free(want.data), free(got.data);
    }
}

TEST(triangular_solutions_solve)
{
    static const char *const kinds[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};

    for (int i = 0; i < 96; i++) {
        enum stet_dtype t = fields[i % 4];
        int kind = (int)(next() % 3);
        struct stet_ref_triangle how = {next() & 1, next() & 1, next() & 1, kind > 0, kind == 2};
        int64_t n = pick(1, 7), cols = pick(0, 5);
        struct stet_ref a = fill(t, (int64_t[]){n, n}, 2, false);
        struct stet_ref b =
            fill(t, (int64_t[]){how.left ? n : cols, how.left ? cols : n}, 2, false);
        struct stet_ref x = like(&b, t);
        const struct stet_ref *in[2] = {&a, &b};
        char middle[160];

        for (int64_t j = 0; j < n; j++)
            stet_ref_set(&a, (uint64_t)(j * n + j), (struct stet_ref_scalar){0, 9, 1});
        snprintf(middle, sizeof middle,
                 "<{left_side = %s, lower = %s, unit_diagonal = %s, transpose_a = "
                 "#stablehlo<transpose %s>}>",
                 how.left ? "true" : "false", how.lower ? "true" : "false",
                 how.unit ? "true" : "false", kinds[kind]);
        EXPECT(run_op(&x, "triangular_solve", middle, in, 2));
        /* a unit diagonal under large elements makes large solutions */
        EXPECT(stet_ref_solved(&a, &x, &b, &how) <=
               tolerance(t) * (how.unit ? pow(5, (double)n) : 10));
        free(a.data), free(b.data), free(x.data);
    }
}

TEST(fourier_transforms_agree_with_the_definition)
{
    for (int64_t n = 1; n < 40; n++) {
        enum stet_dtype t = n % 2 ? STET_DT_C128 : STET_DT_C64;
        struct stet_ref a = fill(t, (int64_t[]){3, n}, 2, false);
        struct stet_ref want = like(&a, t), got = like(&a, t);
        const struct stet_ref *in[1] = {&a};
        char middle[96];

        for (int back = 0; back < 2; back++) {
            snprintf(middle, sizeof middle,
                     "<{fft_type = #stablehlo<fft_type %s>, fft_length = array<i64: %lld>}>",
                     back ? "IFFT" : "FFT", (long long)n);
            stet_ref_fourier(&want, &a, 1, back ? 1 : -1);
            EXPECT(run_op(&got, "fft", middle, in, 1) && same(&want, &got, 30, "fft"));
        }
        free(a.data), free(want.data), free(got.data);
    }
}

/* ---- windows ---- */

TEST(select_and_scatter_agrees_with_the_reference)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = i % 2 ? STET_DT_F32 : all_types[1 + next() % (TYPES - 1)];
        int select = next() & 1 ? STET_TILE_GE : STET_TILE_LE;
        int64_t dims[3], many[3], high[3];
        uint32_t rank = (uint32_t)pick(1, 3);
        struct stet_ref_window w;
        struct stet_ref a, source, init = fill(t, NULL, 0, false), want, got;
        const struct stet_ref *in[3] = {&a, &source, &init};
        struct text m = {.n = 0};
        struct stet_shape s;

        put(&m, "<{padding = dense<[");
        for (uint32_t d = 0; d < rank; d++) {
            dims[d] = pick(3, 8), w.size[d] = pick(1, 3), w.stride[d] = pick(1, 2);
            w.low[d] = pick(0, w.size[d] - 1), high[d] = pick(0, w.size[d] - 1);
            many[d] = (dims[d] + w.low[d] + high[d] - w.size[d]) / w.stride[d] + 1;
            put(&m, "%s[%lld, %lld]", d ? ", " : "", (long long)w.low[d], (long long)high[d]);
        }
        put(&m, "]> : tensor<%ux2xi64>, ", rank);
        put_array(&m, "window_dimensions", w.size, rank), put(&m, ", ");
        put_array(&m, "window_strides", w.stride, rank), put(&m, "}> ");
        stet_shape_set(&s, t, NULL, 0);
        put(&m, "({ ^bb0(%%x: "), put_type(&m, &s), put(&m, ", %%y: "), put_type(&m, &s);
        put(&m,
            "): %%z = \"stablehlo.compare\"(%%x, %%y) <{comparison_direction = "
            "#stablehlo<comparison_direction %s>}> : (",
            select == STET_TILE_GE ? "GE" : "LE");
        put_type(&m, &s), put(&m, ", "), put_type(&m, &s);
        put(&m, ") -> tensor<i1> stablehlo.return %%z : tensor<i1> }, ");
        {
            struct text body = {.n = 0};

            put_body(&body, "add", t);
            put(&m, "%s", body.s + 1); /* the second region of the same list */
        }
        a = fill(t, dims, rank, false), source = fill(t, many, rank, false);
        want = like(&a, t), got = like(&a, t);
        stet_ref_select_and_scatter(&want, &a, &source, stet_ref_get(&init, 0), &w, select);
        EXPECT(run_op(&got, "select_and_scatter", m.s, in, 3) &&
               same(&want, &got, 30, "select_and_scatter"));
        free(a.data), free(source.data), free(init.data), free(want.data), free(got.data);
    }
}

/* A window as long as its dimension that ends at each element: how a cumulative sum arrives. */
TEST(running_folds_agree_with_the_reference)
{
    static const struct named folds[] = {{"add", STET_TILE_ADD, 2, 'a'},
                                         {"multiply", STET_TILE_MUL, 2, 'a'},
                                         {"maximum", STET_TILE_MAX, 2, 'a'},
                                         {"minimum", STET_TILE_MIN, 2, 'a'}};

    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        const struct named *f = &folds[i % 4];
        int64_t dims[2] = {pick(1, 9), pick(1, 40)};
        uint32_t along = (uint32_t)pick(0, 1);
        bool backwards = next() & 1;
        struct stet_ref_window w = {{1, 1}, {1, 1}, {0, 0}, {1, 1}, {1, 1}};
        struct stet_ref a, v = tensor(t, NULL, 0), want, got;
        const struct stet_ref *in[2] = {&a, &v};
        struct text m = {.n = 0};

        if (f->op == STET_TILE_MUL)
            dims[1] = pick(1, 5), dims[0] = pick(1, 5);
        a = fill(t, dims, 2, false);
        stet_ref_set(&v, 0,
                     (struct stet_ref_scalar){f->op == STET_TILE_MUL, f->op == STET_TILE_MUL, 0});
        w.size[along] = dims[along];
        w.low[along] = backwards ? 0 : dims[along] - 1;
        put(&m, "<{padding = dense<[");
        for (uint32_t d = 0; d < 2; d++)
            put(&m, "%s[%lld, %lld]", d ? ", " : "", (long long)w.low[d],
                (long long)(d == along && backwards ? dims[d] - 1 : 0));
        put(&m, "]> : tensor<2x2xi64>, "), put_array(&m, "window_dimensions", w.size, 2);
        put(&m, "}> "), put_body(&m, f->name, t);
        want = like(&a, t), got = like(&a, t);
        stet_ref_reduce_window(&want, &a, stet_ref_get(&v, 0), &w, f->op);
        EXPECT(run_op(&got, "reduce_window", m.s, in, 2) && same(&want, &got, 30, f->name));
        free(a.data), free(v.data), free(want.data), free(got.data);
    }
}

/* ---- choosing and placing ---- */

TEST(sorting_carries_other_operands_along)
{
    for (int i = 0; i < 40; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        int64_t n = pick(0, 90);
        struct stet_ref key = fill(t, &n, 1, false), order = tensor(STET_DT_S32, &n, 1);
        struct stet_ref place = tensor(STET_DT_S32, &n, 1), moved = like(&place, STET_DT_S32);
        struct stet_ref sorted = like(&key, t), want = like(&key, t);
        const struct stet_ref *in[2] = {&key, &place};
        struct stet_ref *out[2] = {&sorted, &moved};
        struct text m = {.n = 0};
        struct stet_shape s;

        for (int64_t j = 0; j < n; j++)
            stet_ref_set(&place, (uint64_t)j, (struct stet_ref_scalar){j, 0, 0});
        stet_shape_set(&s, t, NULL, 0);
        put(&m, "<{dimension = 0 : i64, is_stable = true}> ({ ^bb0(%%x: ");
        put_type(&m, &s), put(&m, ", %%y: "), put_type(&m, &s);
        put(&m, ", %%p: tensor<i32>, %%q: tensor<i32>): %%z = \"stablehlo.compare\"(%%x, %%y) "
                "<{comparison_direction = #stablehlo<comparison_direction ");
        put(&m, "%s>}> : (", i % 2 ? "GT" : "LT");
        put_type(&m, &s), put(&m, ", "), put_type(&m, &s);
        put(&m, ") -> tensor<i1> stablehlo.return %%z : tensor<i1> })");
        stet_ref_order(&order, &key, i % 2);
        stet_ref_sort(&want, &key, i % 2);
        EXPECT(run_ops(out, 2, "sort", m.s, in, 2) && same(&want, &sorted, 0, "sort's keys") &&
               same(&order, &moved, 0, "sort's payload"));
        free(key.data), free(order.data), free(place.data), free(moved.data), free(sorted.data);
        free(want.data);
    }
}

TEST(the_largest_agree_with_the_reference)
{
    for (int i = 0; i < 40; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        int64_t n = pick(1, 60), k = pick(1, n);
        struct stet_ref a = fill(t, &n, 1, false), order = tensor(STET_DT_S32, &n, 1);
        struct stet_ref sorted = like(&a, t);
        struct stet_ref value = tensor(t, &k, 1), index = tensor(STET_DT_S32, &k, 1);
        struct stet_ref *out[2] = {&value, &index};
        const struct stet_ref *in[1] = {&a};
        char middle[32];

        snprintf(middle, sizeof middle, "<{k = %lld : i64}>", (long long)k);
        stet_ref_order(&order, &a, true);
        stet_ref_sort(&sorted, &a, true);
        stet_shape_set(&order.shape, STET_DT_S32, &k, 1); /* the first k */
        stet_shape_set(&sorted.shape, t, &k, 1);
        EXPECT(run_ops(out, 2, "chlo.top_k", middle, in, 1) &&
               same(&sorted, &value, 0, "top_k's values") &&
               same(&order, &index, 0, "top_k's indices"));
        free(a.data), free(order.data), free(sorted.data), free(value.data), free(index.data);
    }
}

TEST(dynamic_slices_agree_with_the_reference)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = all_types[next() % TYPES];
        int64_t dims[2] = {pick(1, 9), pick(1, 30)}, part[2], start[2], clamped[2];
        const int64_t in_dim[2] = {0, 1}, step[2] = {1, 1};
        struct stet_ref a = fill(t, dims, 2, false), at[2], want, got, whole = like(&a, t);
        const struct stet_ref *in[3] = {&a, &at[0], &at[1]};
        const struct stet_ref *update[4] = {&a, &want, &at[0], &at[1]};
        struct text m = {.n = 0};

        for (int d = 0; d < 2; d++) {
            part[d] = pick(0, dims[d]), start[d] = pick(-3, dims[d] + 3);
            clamped[d] = start[d] > dims[d] - part[d] ? dims[d] - part[d] : start[d];
            clamped[d] = clamped[d] < 0 ? 0 : clamped[d];
            at[d] = tensor(STET_DT_S32, NULL, 0);
            stet_ref_set(&at[d], 0, (struct stet_ref_scalar){start[d], 0, 0});
        }
        want = tensor(t, part, 2), got = tensor(t, part, 2);
        put(&m, "<{"), put_array(&m, "slice_sizes", part, 2), put(&m, "}>");
        stet_ref_view(&want, &a, in_dim, step, clamped);
        EXPECT(run_op(&got, "dynamic_slice", m.s, in, 3) && same(&want, &got, 0, "dynamic_slice"));
        free(want.data), free(got.data);
        want = fill(t, part, 2, false), got = like(&a, t);
        memcpy(whole.data, a.data, a.shape.bytes);
        stet_ref_update_slice(&whole, &want, start);
        EXPECT(run_op(&got, "dynamic_update_slice", "", update, 4) &&
               same(&whole, &got, 0, "dynamic_update_slice"));
        free(a.data), free(at[0].data), free(at[1].data), free(want.data), free(got.data);
        free(whole.data);
    }
}

TEST(counting_agrees_with_its_definition)
{
    for (int i = 0; i < 40; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        int64_t dims[4] = {pick(0, 4), pick(1, 9), pick(1, 30)}, at[STET_MAX_RANK];
        uint32_t dim = (uint32_t)pick(0, 2);
        struct stet_ref want = tensor(t, dims, 3), got = tensor(t, dims, 3);
        char middle[48];

        snprintf(middle, sizeof middle, "<{iota_dimension = %u : i64}>", dim);
        for (uint64_t j = 0; j < want.shape.elements; j++) {
            stet_ref_index(&want.shape, j, at);
            stet_ref_set(&want, j, (struct stet_ref_scalar){at[dim], (double)at[dim], 0});
        }
        EXPECT(run_op(&got, "iota", middle, NULL, 0) && same(&want, &got, 0, "iota"));
        free(want.data), free(got.data);
    }
}
