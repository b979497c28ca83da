/* What the CPU backend computes once, and what it must compute again. */
#include "backend_help.h"

static struct stet_plan_cost text_cost(const struct text *t)
{
    struct stet_plan_cost cost = {-1, -1, -1};
    struct stet_program p;
    struct stet_plan *plan;

    last = (struct stet_err)STET_ERR_INIT;
    if (stet_decode(&p, stet_view_of(t->s, t->n), &last) == STET_OK) {
        if (stet_plan_new(&plan, &p, &last) == STET_OK) {
            cost = stet_plan_info(plan)->cost;
            stet_plan_free(plan);
        }
        stet_program_release(&p);
    }
    if (cost.flops < 0)
        fprintf(stderr, "%s\n%s\n", last.text, t->s);
    return cost;
}

/* The cost of a function of %a and %b, f32[4,8], as planned. */
static struct stet_plan_cost cost_of(const char *body)
{
    struct text t = {.n = 0};

    put(&t,
        "module { func.func @main(%%a: tensor<4x8xf32>, %%b: tensor<4x8xf32>) -> tensor<4x8xf32> "
        "{ %s return %%r : tensor<4x8xf32> } }",
        body);
    return text_cost(&t);
}

TEST(what_is_computed_twice_is_computed_once)
{
    EXPECT(cost_of("%x = stablehlo.exponential %a : tensor<4x8xf32> "
                   "%y = stablehlo.exponential %a : tensor<4x8xf32> "
                   "%r = stablehlo.add %x, %y : tensor<4x8xf32>")
               .transcendentals == 32);
    /* products, and what is computed from what is equal */
    EXPECT(cost_of("%x = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : "
                   "(tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32> "
                   "%y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : "
                   "(tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32> "
                   "%z = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : "
                   "(tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> "
                   "%w = stablehlo.dot_general %y, %a, contracting_dims = [1] x [0] : "
                   "(tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> "
                   "%r = stablehlo.add %z, %w : tensor<4x8xf32>")
               .flops == 2 * 4 * 4 * 8 + 2 * 4 * 4 * 8 + 32);
    /* a branch uses what was computed before it */
    EXPECT(cost_of("%x = stablehlo.exponential %a : tensor<4x8xf32> %i = stablehlo.constant "
                   "dense<0> : tensor<i32> %y = \"stablehlo.case\"(%i) ({ %p = "
                   "stablehlo.exponential %a : tensor<4x8xf32> stablehlo.return %p : "
                   "tensor<4x8xf32> }, { stablehlo.return %b : tensor<4x8xf32> }) : "
                   "(tensor<i32>) -> tensor<4x8xf32> %r = stablehlo.add %x, %y : tensor<4x8xf32>")
               .transcendentals == 32);
}

TEST(what_differs_is_computed_again)
{
    /* another operation, other operands, another order of operands */
    EXPECT(cost_of("%x = stablehlo.exponential %a : tensor<4x8xf32> "
                   "%y = stablehlo.exponential %b : tensor<4x8xf32> "
                   "%z = stablehlo.tanh %a : tensor<4x8xf32> "
                   "%p = stablehlo.power %x, %y : tensor<4x8xf32> "
                   "%q = stablehlo.power %y, %x : tensor<4x8xf32> "
                   "%s = stablehlo.add %p, %q : tensor<4x8xf32> "
                   "%r = stablehlo.add %s, %z : tensor<4x8xf32>")
               .transcendentals == 5 * 32);
    /* behind a barrier: a program that computes again to save memory */
    EXPECT(cost_of("%x = stablehlo.exponential %a : tensor<4x8xf32> "
                   "%c = stablehlo.optimization_barrier %a : tensor<4x8xf32> "
                   "%y = stablehlo.exponential %c : tensor<4x8xf32> "
                   "%r = stablehlo.add %x, %y : tensor<4x8xf32>")
               .transcendentals == 64);
    /* in branches beside each other */
    EXPECT(cost_of("%i = stablehlo.constant dense<0> : tensor<i32> %r = \"stablehlo.case\"(%i) "
                   "({ %p = stablehlo.exponential %a : tensor<4x8xf32> stablehlo.return %p : "
                   "tensor<4x8xf32> }, { %q = stablehlo.exponential %a : tensor<4x8xf32> "
                   "stablehlo.return %q : tensor<4x8xf32> }) : (tensor<i32>) -> tensor<4x8xf32>")
               .transcendentals == 64);
}

static uint32_t shifted(uint32_t x, uint32_t by, bool left)
{
    return by > 31 ? 0 : left ? x << by : x >> by;
}

/* x << l | x >> r, and that ^ y, whether it is a rotation or not. */
TEST(rotations_of_bits_agree_with_shifts)
{
    for (int round = 0; round < 300; round++) {
        uint32_t left = (uint32_t)pick(0, 33);
        uint32_t right = next() % 3 ? 32 - left : (uint32_t)pick(0, 33);
        bool swapped = next() & 1, beside = next() & 1;
        uint32_t x[37], y[37], rotated[37], mixed[37];
        const void *in[2] = {x, y};
        void *out[2] = {rotated, mixed};
        struct text t = {.n = 0};

        for (int i = 0; i < 37; i++)
            x[i] = (uint32_t)next(), y[i] = (uint32_t)next();
        put(&t,
            "module { func.func @main(%%x: tensor<37xui32>, %%y: tensor<37xui32>) -> "
            "(tensor<37xui32>, tensor<37xui32>) { %%l = stablehlo.constant dense<%u> : "
            "tensor<37xui32> %%r = stablehlo.constant dense<%u> : tensor<37xui32> %%a = "
            "stablehlo.shift_left %%x, %%l : tensor<37xui32> %%b = "
            "stablehlo.shift_right_logical %%x, %%r : tensor<37xui32> %%c = stablehlo.or %s : "
            "tensor<37xui32> %%d = stablehlo.xor %s : tensor<37xui32> return %%c, %%d : "
            "tensor<37xui32>, tensor<37xui32> } }",
            left, right, swapped ? "%b, %a" : "%a, %b", beside ? "%c, %y" : "%y, %c");
        bool ran = run_text(&t, in, out, 1);

        EXPECT(ran);
        if (!ran)
            return;
        for (int i = 0; i < 37; i++) {
            uint32_t want = shifted(x[i], left, true) | shifted(x[i], right, false);

            EXPECT(rotated[i] == want && mixed[i] == (want ^ y[i]));
        }
    }
}

/* Quotient and remainder by one constant, together and alone. */
TEST(remainders_that_use_the_quotient_are_the_remainders)
{
    static const int64_t divisors[] = {1, 2, 7, 64, 1 << 20, 3, -1, -7, -64, 0, 127, 100};
    static const enum stet_dtype types[] = {STET_DT_S8, STET_DT_S16, STET_DT_S32, STET_DT_S64,
                                            STET_DT_U8, STET_DT_U16, STET_DT_U32, STET_DT_U64};

    for (size_t i = 0; i < 8 * sizeof divisors / sizeof divisors[0]; i++) {
        enum stet_dtype t = types[i % 8];
        int64_t n = 70, y = divisors[i / 8];
        bool fits = stet_dtype_is_signed(t) ? stet_dtype_bytes(t) > 2 || (y <= 127 && y >= -128)
                                            : y >= 0 && (y <= 127 || stet_dtype_bytes(t) > 2);
        struct stet_ref a = fill(t, &n, 1, true), b = like(&a, t);
        struct stet_ref q = like(&a, t), r = like(&a, t), wanted_q = like(&a, t),
                        wanted_r = like(&a, t);
        const struct stet_ref *in[2] = {&a, &b};
        struct text m = {.n = 0};

        for (uint64_t k = 0; fits && k < (uint64_t)n; k++)
            stet_ref_set(&b, k, (struct stet_ref_scalar){y, 0, 0});
        put(&m, "func.func @main(%%x: "), put_type(&m, &a.shape), put(&m, ") -> (");
        put_type(&m, &a.shape), put(&m, ", "), put_type(&m, &a.shape);
        put(&m, ") { %%y = stablehlo.constant dense<%lld> : ", (long long)y);
        put_type(&m, &a.shape), put(&m, " %%q = stablehlo.divide %%x, %%y : ");
        put_type(&m, &a.shape), put(&m, " %%r = stablehlo.remainder %%x, %%y : ");
        put_type(&m, &a.shape), put(&m, " return %%q, %%r : "), put_type(&m, &a.shape);
        put(&m, ", "), put_type(&m, &a.shape), put(&m, " }");
        if (fits) {
            stet_ref_elementwise(&wanted_q, STET_TILE_DIV, in, 2);
            stet_ref_elementwise(&wanted_r, STET_TILE_REM, in, 2);
            EXPECT(run_text(&m, (const void *[]){a.data}, (void *[]){q.data, r.data}, 1));
            EXPECT(same(&wanted_q, &q, 0, "quotient") && same(&wanted_r, &r, 0, "remainder"));
        }
        free(a.data), free(b.data), free(q.data), free(r.data);
        free(wanted_q.data), free(wanted_r.data);
    }
}

/* Division by y that rounds down, as JAX writes it. `near_miss` has another constant in it, so that
 * it is something else. */
static void put_floored(struct text *m, bool remainder, int y, bool near_miss)
{
#define T "tensor<70xi32>"
#define P "tensor<70xi1>"
    put(m,
        "func.func @main(%%x: " T ") -> " T " { %%y = stablehlo.constant dense<%d> : " T
        " %%0 = stablehlo.constant dense<0> : " T " %%1 = stablehlo.constant dense<1> : " T
        " %%c = stablehlo.constant dense<%d> : " T " %%r = stablehlo.remainder %%x, %%y : " T
        " %%inexact = stablehlo.compare NE, %%r, %%0, SIGNED : (" T ", " T ") -> " P,
        y, remainder ? near_miss : 1 + near_miss);
    if (remainder)
        put(m, " %%f = stablehlo.constant dense<false> : " P
               " %%l = stablehlo.compare LT, %%r, %%c, SIGNED : (" T ", " T ") -> " P
               " %%n = stablehlo.compare NE, %%l, %%f, UNSIGNED : (" P ", " P ") -> " P
               " %%and = stablehlo.and %%n, %%inexact : " P " %%less = stablehlo.add %%r, %%y : " T
               " %%v = stablehlo.select %%and, %%less, %%r : " P ", " T);
    else
        put(m, " %%q = stablehlo.divide %%x, %%y : " T " %%s = stablehlo.sign %%x : " T
               " %%n = stablehlo.compare NE, %%s, %%1, SIGNED : (" T ", " T ") -> " P
               " %%and = stablehlo.and %%n, %%inexact : " P
               " %%less = stablehlo.subtract %%q, %%c : " T
               " %%v = stablehlo.select %%and, %%less, %%q : " P ", " T);
    put(m, " return %%v : " T " }");
#undef T
#undef P
}

/* What the text above says, for y that can be divided by. */
static int64_t floored(bool remainder, int64_t x, int64_t y, bool near_miss)
{
    int64_t q = x / y, r = x % y;

    if (remainder)
        return r < near_miss && r != 0 ? r + y : r;
    return x <= 0 && r != 0 ? q - 1 - near_miss : q;
}

TEST(division_that_rounds_down_rounds_down)
{
    static const int divisors[] = {1, 2, 3, 7, 100, 65536, 1 << 30, INT32_MAX, -2, -7, -65536};

    for (size_t i = 0; i < 4 * sizeof divisors / sizeof divisors[0]; i++) {
        bool remainder = i & 1, near_miss = i & 2;
        int y = divisors[i / 4];
        int32_t x[70], got[70];
        struct text m = {.n = 0};

        for (int k = 0; k < 70; k++)
            x[k] = k < 40 ? k - 20 : (int32_t)(uint32_t)next();
        x[0] = INT32_MIN, x[1] = INT32_MAX, x[2] = INT32_MIN + 1;
        put_floored(&m, remainder, y, near_miss);
        EXPECT(run_text(&m, (const void *[]){x}, (void *[]){got}, 1));
        for (int k = 0; k < 70; k++)
            EXPECT(got[k] == (int32_t)floored(remainder, x[k], y, near_miss));
        /* one operation, if it is that */
        EXPECT((text_cost(&m).flops == 70) == (y > 0 && !near_miss));
    }
}
