/* The CPU backend's kernels against ref/, over random shapes, types and edge values: elements,
 * views and folds. */
#include "backend_help.h"

/* ---- elementwise ---- */

static const struct named elementwise[] = {{"add", STET_TILE_ADD, 2, 'a'},
                                           {"subtract", STET_TILE_SUB, 2, 'a'},
                                           {"multiply", STET_TILE_MUL, 2, 'a'},
                                           {"divide", STET_TILE_DIV, 2, 'a'},
                                           {"remainder", STET_TILE_REM, 2, 'a'},
                                           {"maximum", STET_TILE_MAX, 2, 'a'},
                                           {"minimum", STET_TILE_MIN, 2, 'a'},
                                           {"and", STET_TILE_AND, 2, 'i'},
                                           {"or", STET_TILE_OR, 2, 'i'},
                                           {"xor", STET_TILE_XOR, 2, 'i'},
                                           {"shift_left", STET_TILE_SHL, 2, 'i'},
                                           {"shift_right_logical", STET_TILE_SHR_LOGIC, 2, 'i'},
                                           {"shift_right_arithmetic", STET_TILE_SHR_ARITH, 2, 'i'},
                                           {"not", STET_TILE_NOT, 1, 'i'},
                                           {"popcnt", STET_TILE_POPCNT, 1, 'i'},
                                           {"count_leading_zeros", STET_TILE_CLZ, 1, 'i'},
                                           {"negate", STET_TILE_NEG, 1, 'a'},
                                           {"abs", STET_TILE_ABS, 1, 'a'},
                                           {"sign", STET_TILE_SIGN, 1, 'a'},
                                           {"floor", STET_TILE_FLOOR, 1, 'f'},
                                           {"ceil", STET_TILE_CEIL, 1, 'f'},
                                           {"round_nearest_afz", STET_TILE_ROUND_AFZ, 1, 'f'},
                                           {"round_nearest_even", STET_TILE_ROUND_EVEN, 1, 'f'},
                                           {"sqrt", STET_TILE_SQRT, 1, 'f'},
                                           {"rsqrt", STET_TILE_RSQRT, 1, 'f'},
                                           {"cbrt", STET_TILE_CBRT, 1, 'f'},
                                           {"exponential", STET_TILE_EXP, 1, 'f'},
                                           {"exponential_minus_one", STET_TILE_EXPM1, 1, 'f'},
                                           {"log", STET_TILE_LOG, 1, 'f'},
                                           {"log_plus_one", STET_TILE_LOG1P, 1, 'f'},
                                           {"logistic", STET_TILE_LOGISTIC, 1, 'f'},
                                           {"tanh", STET_TILE_TANH, 1, 'f'},
                                           {"sine", STET_TILE_SIN, 1, 'f'},
                                           {"cosine", STET_TILE_COS, 1, 'f'},
                                           {"power", STET_TILE_POW, 2, 'f'},
                                           {"atan2", STET_TILE_ATAN2, 2, 'f'}};

static bool fits(const struct named *n, enum stet_dtype t)
{
    if (t == STET_DT_PRED)
        return n->op == STET_TILE_AND || n->op == STET_TILE_OR || n->op == STET_TILE_NOT;
    if (stet_dtype_is_float(t))
        return n->types != 'i';
    return n->types != 'f' && !(n->op == STET_TILE_NEG && stet_dtype_is_unsigned(t));
}

TEST(elementwise_kernels_agree_with_the_reference)
{
    for (size_t i = 0; i < sizeof elementwise / sizeof elementwise[0]; i++)
        for (int t = 0; t < TYPES; t++) {
            const struct named *n = &elementwise[i];
            int64_t dims[4];
            uint32_t rank;
            struct stet_ref a, b, want, got;
            const struct stet_ref *in[2] = {&a, &b};

            if (!fits(n, all_types[t]))
                continue;
            some_dims(dims, &rank, 9);
            a = fill(all_types[t], dims, rank, true);
            b = fill(all_types[t], dims, rank, true);
            want = like(&a, all_types[t]), got = like(&a, all_types[t]);
            stet_ref_elementwise(&want, n->op, in, n->operands);
            EXPECT(run_op(&got, n->name, "", in, n->operands) && same(&want, &got, 1, n->name));
            free(a.data), free(b.data), free(want.data), free(got.data);
        }
}

TEST(comparisons_and_selection_agree_with_the_reference)
{
    static const char *const names[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};

    for (int op = STET_TILE_EQ; op <= STET_TILE_GE; op++)
        for (int t = 0; t < TYPES; t++) {
            int64_t dims[1] = {pick(0, 70)};
            struct stet_ref a = fill(all_types[t], dims, 1, true),
                            b = fill(all_types[t], dims, 1, true);
            struct stet_ref p = like(&a, STET_DT_PRED), q = like(&a, STET_DT_PRED);
            struct stet_ref want = like(&a, all_types[t]), got = like(&a, all_types[t]);
            const struct stet_ref *in[2] = {&a, &b}, *choice[3] = {&p, &a, &b};
            char middle[128];

            snprintf(middle, sizeof middle,
                     "<{comparison_direction = #stablehlo<comparison_direction %s>}>",
                     names[op - STET_TILE_EQ]);
            stet_ref_elementwise(&p, op, in, 2);
            EXPECT(run_op(&q, "compare", middle, in, 2) && same(&p, &q, 1, "compare"));
            stet_ref_elementwise(&want, STET_TILE_SELECT, choice, 3);
            EXPECT(run_op(&got, "select", "", choice, 3) && same(&want, &got, 0, "select"));
            free(a.data), free(b.data), free(p.data), free(q.data), free(want.data), free(got.data);
        }
}

TEST(conversions_agree_with_the_reference)
{
    for (int f = 0; f < TYPES; f++)
        for (int t = 0; t < TYPES; t++) {
            int64_t dims[1] = {60};
            struct stet_ref a = fill(all_types[f], dims, 1, true);
            struct stet_ref want = like(&a, all_types[t]), got = like(&a, all_types[t]);
            const struct stet_ref *in[1] = {&a};

            stet_ref_convert(&want, &a);
            EXPECT(run_op(&got, "convert", "", in, 1) && same(&want, &got, 1, "convert"));
            free(a.data), free(want.data), free(got.data);
        }
}

/* ---- shapes ---- */

TEST(views_agree_with_the_reference)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = all_types[next() % TYPES];
        int64_t dims[4], out[4], in_dim[4], step[4], start[4] = {0}, limit[4];
        uint32_t rank;
        struct stet_ref a, want, got;
        const struct stet_ref *in[1] = {&a};
        struct text m = {.n = 0};

        some_dims(dims, &rank, 20);
        a = fill(t, dims, rank, false);
        for (uint32_t d = 0; d < rank; d++)
            in_dim[d] = d, step[d] = 1, out[d] = dims[d];
        if (i % 3 == 0) { /* transpose */
            for (uint32_t d = rank; d-- > 1;) {
                uint32_t o = (uint32_t)pick(0, d);
                int64_t swap = in_dim[d];

                in_dim[d] = in_dim[o], in_dim[o] = swap;
            }
            for (uint32_t d = 0; d < rank; d++)
                out[d] = dims[in_dim[d]];
            put(&m, "<{"), put_array(&m, "permutation", in_dim, rank), put(&m, "}>");
        } else if (i % 3 == 1) { /* slice */
            for (uint32_t d = 0; d < rank; d++) {
                start[d] = pick(0, dims[d]), limit[d] = pick(start[d], dims[d]),
                step[d] = pick(1, 3);
                out[d] = (limit[d] - start[d] + step[d] - 1) / step[d];
            }
            put(&m, "<{"), put_array(&m, "start_indices", start, rank), put(&m, ", ");
            put_array(&m, "limit_indices", limit, rank), put(&m, ", ");
            put_array(&m, "strides", step, rank), put(&m, "}>");
        } else { /* reverse all */
            for (uint32_t d = 0; d < rank; d++)
                step[d] = -1, start[d] = dims[d] - 1;
            put(&m, "<{"), put_array(&m, "dimensions", in_dim, rank), put(&m, "}>");
        }
        want = tensor(t, out, rank), got = tensor(t, out, rank);
        stet_ref_view(&want, &a, in_dim, step, start);
        EXPECT(run_op(&got,
                      i % 3 == 0   ? "transpose"
                      : i % 3 == 1 ? "slice"
                                   : "reverse",
                      m.s, in, 1) &&
               same(&want, &got, 0, "view"));
        free(a.data), free(want.data), free(got.data);
    }
}

TEST(pad_and_concatenate_agree_with_the_reference)
{
    for (int i = 0; i < 40; i++) {
        enum stet_dtype t = all_types[next() % TYPES];
        int64_t dims[4], low[4], high[4], inner[4], out[4];
        uint32_t rank, dim;
        struct stet_ref a, b, v = fill(t, NULL, 0, false), want, got;
        const struct stet_ref *in[2] = {&a, &v}, *both[2] = {&a, &b};
        struct text m = {.n = 0};

        some_dims(dims, &rank, 7);
        a = fill(t, dims, rank, false);
        for (uint32_t d = 0; d < rank; d++) {
            low[d] = pick(-2, 3), high[d] = pick(-2, 3), inner[d] = pick(0, 2);
            out[d] = low[d] + high[d] + dims[d] + (dims[d] ? (dims[d] - 1) * inner[d] : 0);
            if (out[d] < 0)
                low[d] = high[d] = 0, out[d] = dims[d] + (dims[d] ? (dims[d] - 1) * inner[d] : 0);
        }
        want = tensor(t, out, rank), got = tensor(t, out, rank);
        put(&m, "<{"), put_array(&m, "edge_padding_low", low, rank), put(&m, ", ");
        put_array(&m, "edge_padding_high", high, rank), put(&m, ", ");
        put_array(&m, "interior_padding", inner, rank), put(&m, "}>");
        stet_ref_pad(&want, &a, stet_ref_get(&v, 0), low, inner);
        EXPECT(run_op(&got, "pad", m.s, in, 2) && same(&want, &got, 0, "pad"));
        free(want.data), free(got.data);
        if (rank) {
            dim = (uint32_t)pick(0, rank - 1);
            memcpy(out, dims, sizeof out);
            out[dim] = pick(0, 5);
            b = fill(t, out, rank, false);
            out[dim] += dims[dim];
            want = tensor(t, out, rank), got = tensor(t, out, rank);
            m.n = 0;
            put(&m, "<{dimension = %u : i64}>", dim);
            stet_ref_concatenate(&want, both, 2, dim);
            EXPECT(run_op(&got, "concatenate", m.s, both, 2) &&
                   same(&want, &got, 0, "concatenate"));
            free(b.data), free(want.data), free(got.data);
        }
        free(a.data), free(v.data);
    }
}

/* ---- folds ---- */

static const struct named folds[] = {{"add", STET_TILE_ADD, 2, 'a'},
                                     {"maximum", STET_TILE_MAX, 2, 'a'},
                                     {"minimum", STET_TILE_MIN, 2, 'a'}};

TEST(reductions_agree_with_the_reference)
{
    for (int i = 0; i < 80; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        const struct named *f = &folds[next() % 3];
        int64_t dims[4], out[4], list[4];
        bool reduced[4];
        uint32_t rank, kept = 0, count = 0;
        struct stet_ref a, v = fill(t, NULL, 0, false), want, got;
        const struct stet_ref *in[2] = {&a, &v};
        struct text m = {.n = 0};

        some_dims(dims, &rank, i % 4 == 0 ? 90 : 9);
        if (rank > 2)
            dims[0] = pick(0, 3), dims[2] = pick(1, 5);
        a = fill(t, dims, rank, false);
        for (uint32_t d = 0; d < rank; d++)
            if ((reduced[d] = next() & 1))
                list[count++] = d;
            else
                out[kept++] = dims[d];
        want = tensor(t, out, kept), got = tensor(t, out, kept);
        put(&m, "<{"), put_array(&m, "dimensions", list, count), put(&m, "}> ");
        put_body(&m, f->name, t);
        stet_ref_reduce(&want, &a, stet_ref_get(&v, 0), reduced, f->op);
        EXPECT(run_op(&got, "reduce", m.s, in, 2) && same(&want, &got, 30, "reduce"));
        free(a.data), free(v.data), free(want.data), free(got.data);
    }
}

TEST(windows_agree_with_the_reference)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = i % 2 ? STET_DT_F32 : all_types[1 + next() % (TYPES - 1)];
        const struct named *f = &folds[next() % 3];
        int64_t dims[3], out[3], high[3];
        uint32_t rank = (uint32_t)pick(1, 3);
        struct stet_ref_window w;
        struct stet_ref a, v = fill(t, NULL, 0, false), want, got;
        const struct stet_ref *in[2] = {&a, &v};
        struct text m = {.n = 0};

        put(&m, "<{padding = dense<[");
        for (uint32_t d = 0; d < rank; d++) {
            int64_t room;

            dims[d] = pick(1, 8), w.size[d] = pick(1, 3), w.stride[d] = pick(1, 2);
            w.low[d] = pick(-1, 2), high[d] = pick(-1, 2);
            w.base_dilation[d] = pick(1, 2), w.window_dilation[d] = pick(1, 2);
            room = (dims[d] - 1) * w.base_dilation[d] + 1 + w.low[d] + high[d] -
                   ((w.size[d] - 1) * w.window_dilation[d] + 1);
            out[d] = room < 0 ? 0 : room / w.stride[d] + 1;
            put(&m, "%s[%lld, %lld]", d ? ", " : "", (long long)w.low[d], (long long)high[d]);
        }
        put(&m, "]> : tensor<%ux2xi64>, ", rank);
        put_array(&m, "window_dimensions", w.size, rank), put(&m, ", ");
        put_array(&m, "window_strides", w.stride, rank), put(&m, ", ");
        put_array(&m, "base_dilations", w.base_dilation, rank), put(&m, ", ");
        put_array(&m, "window_dilations", w.window_dilation, rank), put(&m, "}> ");
        put_body(&m, f->name, t);
        a = fill(t, dims, rank, false);
        want = tensor(t, out, rank), got = tensor(t, out, rank);
        stet_ref_reduce_window(&want, &a, stet_ref_get(&v, 0), &w, f->op);
        EXPECT(run_op(&got, "reduce_window", m.s, in, 2) && same(&want, &got, 30, "reduce_window"));
        free(a.data), free(v.data), free(want.data), free(got.data);
    }
}
