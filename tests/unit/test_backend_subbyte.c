/* Integers of 2 and 4 bits of the CPU backend: every pair of them, and what no other type has:
 * elements that share a byte. */
#include "backend_help.h"

static const enum stet_dtype types[] = {STET_DT_S4, STET_DT_U4, STET_DT_S2, STET_DT_U2};
enum { KINDS = sizeof types / sizeof types[0] };

/* x in rows and y in columns, or the other way round. */
static struct stet_ref all_pairs(enum stet_dtype t, bool columns)
{
    static const int64_t dims[] = {16, 16};
    struct stet_ref r = tensor(t, dims, 2);

    for (uint64_t i = 0; i < 256; i++)
        stet_ref_set(&r, i, (struct stet_ref_scalar){(int64_t)(columns ? i % 16 : i / 16), 0, 0});
    return r;
}

TEST(every_pair_agrees_with_the_reference)
{
    static const struct named ops[] = {
        {"add", STET_TILE_ADD, 2, 'i'},
        {"subtract", STET_TILE_SUB, 2, 'i'},
        {"multiply", STET_TILE_MUL, 2, 'i'},
        {"divide", STET_TILE_DIV, 2, 'i'},
        {"remainder", STET_TILE_REM, 2, 'i'},
        {"maximum", STET_TILE_MAX, 2, 'i'},
        {"minimum", STET_TILE_MIN, 2, 'i'},
        {"power", STET_TILE_POW, 2, 'i'},
        {"and", STET_TILE_AND, 2, 'i'},
        {"or", STET_TILE_OR, 2, 'i'},
        {"xor", STET_TILE_XOR, 2, 'i'},
        {"shift_left", STET_TILE_SHL, 2, 'i'},
        {"shift_right_logical", STET_TILE_SHR_LOGIC, 2, 'i'},
        {"shift_right_arithmetic", STET_TILE_SHR_ARITH, 2, 'i'},
        {"not", STET_TILE_NOT, 1, 'i'},
        {"popcnt", STET_TILE_POPCNT, 1, 'i'},
        {"count_leading_zeros", STET_TILE_CLZ, 1, 'i'},
        {"negate", STET_TILE_NEG, 1, 'i'},
        {"abs", STET_TILE_ABS, 1, 'i'},
        {"sign", STET_TILE_SIGN, 1, 'i'},
    };

    for (size_t i = 0; i < KINDS * sizeof ops / sizeof ops[0]; i++) {
        const struct named *n = &ops[i / KINDS];
        struct stet_ref a = all_pairs(types[i % KINDS], false),
                        b = all_pairs(types[i % KINDS], true);
        struct stet_ref want = like(&a, types[i % KINDS]), got = like(&a, types[i % KINDS]);
        const struct stet_ref *in[2] = {&a, &b};

        if (n->op != STET_TILE_NEG || stet_dtype_is_signed(types[i % KINDS])) {
            stet_ref_elementwise(&want, n->op, in, n->operands);
            EXPECT(run_op(&got, n->name, "", in, n->operands) && same(&want, &got, 0, n->name));
        }
        free(a.data), free(b.data), free(want.data), free(got.data);
    }
}

TEST(floats_stop_at_the_ends)
{
    static const enum stet_dtype from[] = {STET_DT_F64, STET_DT_F32, STET_DT_BF16, STET_DT_F16,
                                           STET_DT_C64};
    int64_t n = 101;

    for (size_t i = 0; i < 5 * KINDS; i++) {
        struct stet_ref a = tensor(from[i / KINDS], &n, 1);
        struct stet_ref want = like(&a, types[i % KINDS]), got = like(&a, types[i % KINDS]);
        const struct stet_ref *in[1] = {&a};

        for (uint64_t j = 0; j < 100; j++)
            stet_ref_set(&a, j, (struct stet_ref_scalar){0, (double)j / 2 - 25, 0});
        stet_ref_set(&a, 100, (struct stet_ref_scalar){0, NAN, 0});
        stet_ref_convert(&want, &a);
        EXPECT(run_op(&got, "convert", "", in, 1) && same(&want, &got, 0, "convert"));
        free(a.data), free(want.data), free(got.data);
    }
}

TEST(constants_have_a_sign)
{
    static const char *const program =
        "func.func @main() -> (tensor<4xi32>, tensor<2xi32>, tensor<2xi32>) {\n"
        "  %a = stablehlo.constant dense<[-1, 7, -8, 3]> : tensor<4xi4>\n"
        "  %b = stablehlo.constant dense<-3> : tensor<2xi4>\n"
        "  %c = stablehlo.constant dense<13> : tensor<2xui4>\n"
        "  %x = stablehlo.convert %a : (tensor<4xi4>) -> tensor<4xi32>\n"
        "  %y = stablehlo.convert %b : (tensor<2xi4>) -> tensor<2xi32>\n"
        "  %z = stablehlo.convert %c : (tensor<2xui4>) -> tensor<2xi32>\n"
        "  return %x, %y, %z : tensor<4xi32>, tensor<2xi32>, tensor<2xi32>\n"
        "}\n";
    static const int32_t want[] = {-1, 7, -8, 3};
    struct text t = {.n = 0};
    int32_t x[4], y[2], z[2];
    void *out[] = {x, y, z};

    put(&t, "%s", program);
    EXPECT(run_text(&t, NULL, out, 1));
    for (int i = 0; i < 4; i++)
        EXPECT_INT(want[i], x[i]);
    EXPECT(y[0] == -3 && y[1] == -3 && z[0] == 13 && z[1] == 13);
}

static enum stet_dtype random_wide(void)
{
    static const enum stet_dtype wide[] = {STET_DT_S8,  STET_DT_U8,  STET_DT_S16, STET_DT_BF16,
                                           STET_DT_S32, STET_DT_U32, STET_DT_F32, STET_DT_S64,
                                           STET_DT_U64, STET_DT_F64};

    return wide[next() % 10];
}

TEST(bits_are_cast_lowest_first)
{
    for (int i = 0; i < 80; i++) {
        enum stet_dtype wide = random_wide(), narrow = types[i % KINDS];
        int bits = stet_dtype_bits(narrow), parts = 8 / bits;
        int64_t dims[3] = {pick(0, 3), pick(1, 5), parts * (int64_t)stet_dtype_bytes(wide)};
        struct stet_ref one = tensor(wide, dims, 2), back = like(&one, wide);
        struct stet_ref many = tensor(narrow, dims, 3), got = like(&many, narrow);
        const struct stet_ref *down[1] = {&one}, *up[1] = {&many};

        for (uint64_t j = 0; j < one.shape.bytes; j++) { /* little-endian */
            uint8_t byte = (uint8_t)next();

            ((uint8_t *)one.data)[j] = byte;
            for (int part = 0; part < parts; part++)
                stet_ref_set(&many, (uint64_t)parts * j + (uint64_t)part,
                             (struct stet_ref_scalar){byte >> bits * part, 0, 0});
        }
        EXPECT(run_op(&got, "bitcast_convert", "", down, 1) && same(&many, &got, 0, "split"));
        EXPECT(run_op(&back, "bitcast_convert", "", up, 1));
        EXPECT(memcmp(one.data, back.data, one.shape.bytes) == 0);
        free(one.data), free(back.data), free(many.data), free(got.data);
    }
    for (int i = 0; i < KINDS; i++) { /* and between signed and unsigned */
        struct stet_ref a = all_pairs(types[i], false), want = all_pairs(types[i ^ 1], false);
        struct stet_ref got = like(&want, types[i ^ 1]);
        const struct stet_ref *in[1] = {&a};

        EXPECT(run_op(&got, "bitcast_convert", "", in, 1) && same(&want, &got, 0, "bitcast"));
        free(a.data), free(want.data), free(got.data);
    }
}

TEST(bits_that_do_not_fit_are_refused)
{
    static const char *const programs[] = {
        "func.func @main(%a: tensor<4x3xi4>) -> tensor<4xi8> {\n"
        "  %x = stablehlo.bitcast_convert %a : (tensor<4x3xi4>) -> tensor<4xi8>\n"
        "  return %x : tensor<4xi8>\n}\n",
        "func.func @main(%a: tensor<4xi4>) -> tensor<4xi1> {\n"
        "  %x = stablehlo.bitcast_convert %a : (tensor<4xi4>) -> tensor<4xi1>\n"
        "  return %x : tensor<4xi1>\n}\n",
        "func.func @main(%a: tensor<4xi16>) -> tensor<4x2xi4> {\n"
        "  %x = stablehlo.bitcast_convert %a : (tensor<4xi16>) -> tensor<4x2xi4>\n"
        "  return %x : tensor<4x2xi4>\n}\n",
    };

    for (int i = 0; i < 3; i++) {
        struct stet_err err = STET_ERR_INIT;
        struct stet_program p;
        struct stet_plan *plan;

        EXPECT_INT(STET_OK, stet_decode(&p, stet_view_of(programs[i], strlen(programs[i])), &err));
        EXPECT_INT(STET_BAD_INPUT, stet_plan_new(&plan, &p, &err));
        EXPECT(strstr(err.text, "bitcast_convert"));
        stet_program_release(&p);
    }
}
