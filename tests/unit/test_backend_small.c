/* Floats of one byte and less: every code, every pair, and what numbers of other types become. */
#include "backend_help.h"

#define NAME(name, e, f, b, k) STET_DT_##name,
static const enum stet_dtype types[] = {STET_SMALL_FLOATS(NAME) STET_DT_F8E8M0FNU};
enum { KINDS = sizeof types / sizeof types[0] };

/* All codes, `times` times; `columns`: each code so often before the next. */
static struct stet_ref all_codes(enum stet_dtype t, int64_t times, bool columns)
{
    int64_t codes = 1 << stet_dtype_bits(t), n = codes * times;
    struct stet_ref r = tensor(t, &n, 1);

    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)r.data)[i] = (uint8_t)(columns ? i / times : i % codes);
    return r;
}

TEST(every_code_is_loaded_and_stored_as_by_the_reference)
{
    const struct stet_tile_set *k = stet_tile_kernels();

    for (int i = 0; i < KINDS; i++) {
        struct stet_ref a = all_codes(types[i], 1, false), back = like(&a, types[i]);
        struct stet_ref want = like(&a, STET_DT_F32), got = like(&a, STET_DT_F32);

        stet_ref_convert(&want, &a);
        k->load[types[i]](got.data, a.data, NULL, NULL, (size_t)a.shape.elements);
        EXPECT(same(&want, &got, 0, "load"));
        stet_ref_convert(&back, &want);
        k->store[types[i]](a.data, got.data, NULL, NULL, (size_t)a.shape.elements);
        EXPECT(same(&back, &a, 0, "store"));
        free(a.data), free(back.data), free(want.data), free(got.data);
    }
}

/* Any bits of a float, and floats around the middle between two codes. */
static struct stet_ref hard_floats(enum stet_dtype t, enum stet_dtype wide)
{
    int64_t n = 20000, codes = 1 << stet_dtype_bits(t);
    struct stet_ref r = tensor(wide, &n, 1), all = all_codes(t, 1, false);

    for (int64_t i = 0; i < n; i++) {
        double a = stet_ref_get(&all, (uint64_t)(i % codes)).f,
               b = stet_ref_get(&all, (uint64_t)((i + 1) % codes)).f, mid = (a + b) / 2;
        uint32_t bits = (uint32_t)next();
        float any;

        memcpy(&any, &bits, sizeof any);
        if (i % 3 == 1) /* one unit in the last place beside it, of the wide type */
            mid = wide == STET_DT_F64
                      ? nextafter(mid, i % 2 ? INFINITY : -INFINITY)
                      : (double)nextafterf((float)mid, i % 2 ? INFINITY : -INFINITY);
        stet_ref_set(&r, (uint64_t)i,
                     (struct stet_ref_scalar){0, i % 3 == 2 ? (double)any : mid, 0});
    }
    free(all.data);
    return r;
}

TEST(floats_are_rounded_to_the_nearest_code)
{
    static const enum stet_dtype from[] = {STET_DT_F32, STET_DT_F64};

    for (int i = 0; i < 2 * KINDS; i++) {
        enum stet_dtype t = types[i / 2];
        struct stet_ref a = hard_floats(t, from[i % 2]);
        struct stet_ref want = like(&a, t), got = like(&a, t);
        const struct stet_ref *in[1] = {&a};

        stet_ref_convert(&want, &a);
        EXPECT(run_op(&got, "convert", "", in, 1) && same(&want, &got, 0, stet_dtype_name(t)));
        free(a.data), free(want.data), free(got.data);
    }
}

TEST(every_pair_agrees_with_the_reference)
{
    static const struct named ops[] = {
        {"add", STET_TILE_ADD, 2, 'f'},      {"subtract", STET_TILE_SUB, 2, 'f'},
        {"multiply", STET_TILE_MUL, 2, 'f'}, {"divide", STET_TILE_DIV, 2, 'f'},
        {"negate", STET_TILE_NEG, 1, 'f'},   {"abs", STET_TILE_ABS, 1, 'f'},
        {"sqrt", STET_TILE_SQRT, 1, 'f'},
    };

    for (size_t i = 0; i < KINDS * sizeof ops / sizeof ops[0]; i++) {
        const struct named *n = &ops[i / KINDS];
        enum stet_dtype t = types[i % KINDS];
        bool narrow = t == STET_DT_F8E8M0FNU && (n->op == STET_TILE_MUL || n->op == STET_TILE_DIV);
        struct stet_ref a = all_codes(t, 1 << stet_dtype_bits(t), false);
        struct stet_ref b = all_codes(t, 1 << stet_dtype_bits(t), true);
        struct stet_ref want = like(&a, t), got = like(&a, t);
        const struct stet_ref *in[2] = {&a, &b};

        stet_ref_elementwise(&want, n->op, in, n->operands);
        /* f32, in which XLA computes too, has no number for some results there: they are NaN */
        EXPECT(run_op(&got, n->name, "", in, n->operands));
        EXPECT(narrow || same(&want, &got, 0, n->name));
        free(a.data), free(b.data), free(want.data), free(got.data);
    }
}

TEST(sums_and_products_go_through_f32)
{
    static const char *const program =
        "func.func @main(%a: tensor<2x3xf8E4M3FN>, %b: tensor<3x2xf8E5M2>) -> (tensor<2x2xf32>, "
        "tensor<2x2xf8E4M3FN>, tensor<2xf8E4M3FN>) {\n"
        "  %x = \"stablehlo.dot_general\"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<"
        "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : "
        "(tensor<2x3xf8E4M3FN>, tensor<3x2xf8E5M2>) -> tensor<2x2xf32>\n"
        "  %y = \"stablehlo.dot_general\"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<"
        "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : "
        "(tensor<2x3xf8E4M3FN>, tensor<3x2xf8E5M2>) -> tensor<2x2xf8E4M3FN>\n"
        "  %z = stablehlo.constant dense<0.0> : tensor<f8E4M3FN>\n"
        "  %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : "
        "(tensor<2x3xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<2xf8E4M3FN>\n"
        "  return %x, %y, %s : tensor<2x2xf32>, tensor<2x2xf8E4M3FN>, tensor<2xf8E4M3FN>\n}\n";
    static const uint8_t a[] = {0x38, 0x40, 0x44, 0x30, 0xb8, 0x48}; /* 1 2 3, 0.5 -1 4 */
    static const uint8_t b[] = {0x3c, 0x40, 0x44, 0x38, 0x3c, 0x3c}; /* 1 2, 4 0.5, 1 1 */
    static const float want[] = {12, 6, 0.5F, 4.5F};
    static const uint8_t rounded[] = {0x54, 0x4c, 0x30, 0x49}, sums[] = {0x4c, 0x46};
    const void *in[] = {a, b};
    struct text t = {.n = 0};
    uint8_t y[4], s[2];
    float x[4];
    void *out[] = {x, y, s};

    put(&t, "%s", program);
    EXPECT(run_text(&t, in, out, 1));
    EXPECT(memcmp(x, want, sizeof x) == 0);
    EXPECT(memcmp(y, rounded, sizeof y) == 0);
    EXPECT(memcmp(s, sums, sizeof s) == 0);
}
