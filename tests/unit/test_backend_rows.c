/* Every row kernel there is (each operation, fold and conversion of each type, in the instruction
 * set of this run) against ref/: a kernel without a twin fails here. */
#include "backend/tile.h"
#include "backend_help.h"

static const int operands[] = {
#define TILE(name, count) count,
#include "backend/tile_ops.def"
#undef TILE
};
static const char *const op_names[] = {
#define TILE(name, count) #name,
#include "backend/tile_ops.def"
#undef TILE
};

static enum stet_dtype part_of(enum stet_dtype t)
{
    return t == STET_DT_C64 ? STET_DT_F32 : t == STET_DT_C128 ? STET_DT_F64 : t;
}

static enum stet_dtype result_of(int op, enum stet_dtype t)
{
    if ((op >= STET_TILE_EQ && op <= STET_TILE_GE) || op == STET_TILE_IS_FINITE)
        return STET_DT_PRED;
    if (op == STET_TILE_ORDER)
        return t == STET_DT_F64 ? STET_DT_S64 : STET_DT_S32;
    return op == STET_TILE_REAL || op == STET_TILE_IMAG || op == STET_TILE_ABS ? part_of(t) : t;
}

static enum stet_dtype operand_of(int op, enum stet_dtype t, int i)
{
    return op == STET_TILE_SELECT && i == 0 ? STET_DT_PRED
           : op == STET_TILE_COMPLEX        ? part_of(t)
                                            : t;
}

/* Arguments no two libraries agree on: a tangent of 3e38 says more about pi than about a kernel. */
static void tame(struct stet_ref *a, int op)
{
    for (uint64_t i = 0; i < a->shape.elements; i++) {
        struct stet_ref_scalar v = stet_ref_get(a, i);

        if ((op == STET_TILE_TAN && fabs(v.f) > 1e4) ||
            (stet_dtype_is_complex(a->shape.dtype) && !(fabs(v.f) < 1e3 && fabs(v.im) < 1e3)))
            stet_ref_set(a, i, (struct stet_ref_scalar){0, 1, 0.5});
    }
}

/* -0 < 0, NaN beyond infinity: the order of the bits, by sign. */
static bool ordered(const struct stet_ref *a, const struct stet_ref *order)
{
    for (uint64_t i = 0; i < a->shape.elements; i++)
        for (uint64_t j = 0; j < a->shape.elements; j++) {
            double x = stet_ref_get(a, i).f, y = stet_ref_get(a, j).f;
            int64_t p = stet_ref_get(order, i).i, q = stet_ref_get(order, j).i;
            bool below = x != x || y != y
                             ? (signbit(x) && !signbit(y)) || (x != x && signbit(x) && y == y) ||
                                   (y != y && !signbit(y) && x == x)
                             : x < y || (x == y && signbit(x) && !signbit(y));

            if (below && !(p < q))
                return false;
        }
    return true;
}

/* Has the second operand one value for all elements? */
static bool by_one(int op)
{
    return op == STET_TILE_ROTATE || op == STET_TILE_ROTATE_XOR || op == STET_TILE_FLOOR_DIV ||
           op == STET_TILE_FLOOR_REM;
}

static int64_t divisor(void)
{
    int64_t power = (int64_t)1 << pick(0, 30);

    return pick(0, 1) ? power : pick(1, power);
}

static bool row_agrees(int op, enum stet_dtype t, stet_tile_fn kernel, bool in_place)
{
    int64_t n = next() % 4 ? pick(0, 70) : pick(0, 3);
    struct stet_ref in[3], want, got;
    const struct stet_ref *list[3] = {&in[0], &in[1], &in[2]};
    bool ok;

    for (int i = 0; i < 3; i++) {
        in[i] = fill(operand_of(op, t, i), &n, 1, true);
        tame(&in[i], op);
    }
    if (n && (op == STET_TILE_FLOOR_DIV || op == STET_TILE_FLOOR_REM))
        stet_ref_set(&in[1], 0, (struct stet_ref_scalar){divisor(), 0, 0});
    for (int64_t i = 1; i < n && by_one(op); i++)
        stet_ref_set(&in[1], (uint64_t)i, stet_ref_get(&in[1], 0));
    want = tensor(result_of(op, t), &n, 1), got = tensor(result_of(op, t), &n, 1);
    if (op != STET_TILE_ORDER)
        stet_ref_elementwise(&want, op, list, (uint32_t)operands[op]);
    in_place &= want.shape.dtype == in[0].shape.dtype; /* an operand may be written over */
    kernel(in_place ? in[0].data : got.data, in[0].data, operands[op] > 1 ? in[1].data : NULL,
           operands[op] > 2 ? in[2].data : NULL, (size_t)n);
    ok = op == STET_TILE_ORDER ? ordered(&in[0], &got)
                               : same(&want, in_place ? &in[0] : &got, 10, op_names[op]);
    free(in[0].data), free(in[1].data), free(in[2].data), free(want.data), free(got.data);
    return ok;
}

TEST(every_operation_of_every_type_agrees_with_the_reference)
{
    const struct stet_tile_set *set = stet_tile_kernels();
    int kernels = 0;

    for (int t = 0; t < STET_DT_COUNT; t++)
        for (int op = 0; set->ops[t] && op < STET_TILE_OPS; op++) {
            if (!set->ops[t][op])
                continue;
            kernels++;
            for (int round = 0; round < 6; round++)
                EXPECT(row_agrees(op, (enum stet_dtype)t, set->ops[t][op], round & 1));
        }
    EXPECT(kernels > 400);
}

TEST(every_fold_of_every_type_agrees_with_the_reference)
{
    const struct stet_tile_set *set = stet_tile_kernels();

    for (int t = 0; t < STET_DT_COUNT; t++)
        for (int op = 0; set->fold[t] && op < STET_TILE_OPS; op++)
            for (int64_t n = 1; set->fold[t][op] && n < 80; n += pick(1, 9)) {
                struct stet_ref a =
                    fill((enum stet_dtype)t, &n, 1, op != STET_TILE_ADD && op != STET_TILE_MUL);
                struct stet_ref want = tensor((enum stet_dtype)t, NULL, 0),
                                got = like(&want, want.shape.dtype);
                struct stet_ref_scalar x[3] = {stet_ref_get(&a, 0), {0, 0, 0}, {0, 0, 0}};

                for (uint64_t i = 1; i < (uint64_t)n; i++) {
                    x[1] = stet_ref_get(&a, i);
                    x[0] = stet_ref_op(op, (enum stet_dtype)t, x);
                }
                stet_ref_set(&want, 0, x[0]);
                set->fold[t][op](got.data, a.data, (size_t)n);
                if (op == STET_TILE_MUL && isinf(stet_ref_get(&want, 0).f))
                    memcpy(got.data, want.data, got.shape.bytes);
                EXPECT(same(&want, &got, 100, op_names[op]));
                free(a.data), free(want.data), free(got.data);
            }
}

TEST(every_conversion_agrees_with_the_reference)
{
    const struct stet_tile_set *set = stet_tile_kernels();

    for (int from = 0; from < STET_DT_COUNT; from++)
        for (int to = 0; set->convert[from] && to < STET_DT_COUNT; to++) {
            int64_t n = pick(0, 70);
            struct stet_ref a, want, got;

            if (!set->convert[from][to])
                continue;
            a = fill((enum stet_dtype)from, &n, 1, true);
            want = tensor((enum stet_dtype)to, &n, 1), got = tensor((enum stet_dtype)to, &n, 1);
            stet_ref_convert(&want, &a);
            set->convert[from][to](got.data, a.data, NULL, NULL, (size_t)n);
            EXPECT(same(&want, &got, 1, stet_dtype_name((enum stet_dtype)from)));
            free(a.data), free(want.data), free(got.data);
        }
}

/* All 65536 of each half-width type there and back, and floats on their way into one. */
TEST(half_width_floats_agree_with_the_reference)
{
    static const enum stet_dtype types[] = {STET_DT_BF16, STET_DT_F16};
    const struct stet_tile_set *k = stet_tile_kernels();
    int64_t n = 1 << 16;

    for (int i = 0; i < 2; i++) {
        struct stet_ref half = tensor(types[i], &n, 1), back = like(&half, types[i]);
        struct stet_ref wide = like(&half, STET_DT_F32), want = like(&half, STET_DT_F32);

        for (uint64_t j = 0; j < (uint64_t)n; j++)
            memcpy((char *)half.data + 2 * j, &(uint16_t){(uint16_t)j}, 2);
        k->load[types[i]](wide.data, half.data, NULL, NULL, (size_t)n);
        stet_ref_convert(&want, &half);
        EXPECT(same(&want, &wide, 0, "load"));
        k->store[types[i]](back.data, wide.data, NULL, NULL, (size_t)n);
        EXPECT(same(&half, &back, 0, "store"));
        for (uint64_t j = 0; j < (uint64_t)n; j++) { /* any bits of a float */
            uint32_t bits = (uint32_t)next();

            memcpy((char *)wide.data + 4 * j, &bits, 4);
        }
        stet_ref_convert(&back, &wide), stet_ref_convert(&want, &back);
        k->store[types[i]](half.data, wide.data, NULL, NULL, (size_t)n);
        EXPECT(same(&back, &half, 0, "rounded store"));
        k->round[types[i]](wide.data, wide.data, NULL, NULL, (size_t)n);
        EXPECT(same(&want, &wide, 0, "round"));
        free(half.data), free(back.data), free(wide.data), free(want.data);
    }
}

/* One divisor for the whole row has a way of its own. */
TEST(division_by_one_number_agrees_with_the_reference)
{
    static const int ops[] = {STET_TILE_DIV, STET_TILE_REM, STET_TILE_FLOOR_DIV,
                              STET_TILE_FLOOR_REM};
    static const int64_t divisors[] = {1, 2,   3,   7,     10,         -1,        -2,        -3,
                                       0, 127, 128, 65536, 1000000007, INT32_MAX, INT32_MIN, 255};
    static const int64_t edges[] = {0,
                                    1,
                                    -1,
                                    INT32_MAX,
                                    INT32_MIN,
                                    INT32_MIN + 1,
                                    UINT32_MAX,
                                    1 << 30,
                                    7 * 306783378LL,
                                    7 * 306783378LL - 1};

    for (size_t i = 0; i < 16 * INTEGERS; i++) {
        enum stet_dtype t = all_types[i % INTEGERS];
        int64_t n = pick(1, 200);
        struct stet_ref a = fill(t, &n, 1, true), b = tensor(t, &n, 1);
        struct stet_ref want = like(&a, t), got = like(&a, t);
        const struct stet_ref *in[2] = {&a, &b};

        if (!stet_tile_kernels()->ops[stet_tile_ctype(t)][STET_TILE_DIV]) {
            free(a.data), free(b.data), free(want.data), free(got.data);
            continue;
        }
        for (int64_t j = 0; j < n; j++)
            stet_ref_set(&b, (uint64_t)j, (struct stet_ref_scalar){divisors[i / INTEGERS], 0, 0});
        for (int64_t j = 0; j < n && j < 10; j++)
            stet_ref_set(&a, (uint64_t)j, (struct stet_ref_scalar){edges[j], 0, 0});
        for (size_t k = 0; k < (divisors[i / INTEGERS] > 0 ? 4 : 2); k++) {
            int op = ops[k];
            stet_tile_fn kernel = stet_tile_kernels()->ops[stet_tile_ctype(t)][op];

            if (!kernel)
                continue;
            stet_ref_elementwise(&want, op, in, 2);
            kernel(got.data, a.data, b.data, NULL, (size_t)n);
            EXPECT(stet_dtype_is_subbyte(t) || same(&want, &got, 0, op_names[op]));
        }
        free(a.data), free(b.data), free(want.data), free(got.data);
    }
}
