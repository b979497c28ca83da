/* Tile kernels of f32 and f64 (bf16 and f16 are computed as f32). Their twins: ref/elementwise.c.
 */
#include "backend/kernels/isa.h"
#include "backend/kernels/special.h"
#include "backend/kernels/vmath.h"

/* NaN takes precedence over any number. */
#define MAX_NAN(x, y) ((x) != (x) || (x) > (y) ? (x) : (y))
#define MIN_NAN(x, y) ((x) != (x) || (x) < (y) ? (x) : (y))
/* The same of sixteen at once: compilers make branches of the conditions. */
#define LANES_NAN(T, I, BETTER)                                                                    \
    typedef T many __attribute__((vector_size(16 * sizeof(T)), aligned(sizeof(T)), may_alias));    \
    typedef I bits __attribute__((vector_size(16 * sizeof(T))));                                   \
    many best = *(const many *)a;                                                                  \
    for (i = 16; i + 16 <= n; i += 16) {                                                           \
        many next = *(const many *)(a + i);                                                        \
        bits keep = (best != best) | (best BETTER next);                                           \
        best = (many)((keep & (bits)best) | (~keep & (bits)next));                                 \
    }                                                                                              \
    memcpy(lane, &best, sizeof lane);
#define SIGN_OF(x) ((x) > 0 ? 1 : (x) < 0 ? -1 : (x))

#define BOTH(S, T, F, I)                                                                           \
    UNARY(COPY, S, T, T, x)                                                                        \
    BINARY(ADD, S, T, T, x + y)                                                                    \
    BINARY(SUB, S, T, T, x - y)                                                                    \
    BINARY(MUL, S, T, T, x *y)                                                                     \
    BINARY(DIV, S, T, T, x / y)                                                                    \
    BINARY(REM, S, T, T, F(fmod)(x, y))                                                            \
    BINARY(POW, S, T, T, F(pow)(x, y))                                                             \
    BINARY(ATAN2, S, T, T, F(atan2)(x, y))                                                         \
    BINARY(NEXTAFTER, S, T, T, F(nextafter)(x, y))                                                 \
    BINARY(MAX, S, T, T, MAX_NAN(x, y))                                                            \
    BINARY(MIN, S, T, T, MIN_NAN(x, y))                                                            \
    BINARY(EQ, S, uint8_t, T, x == y)                                                              \
    BINARY(NE, S, uint8_t, T, x != y)                                                              \
    BINARY(LT, S, uint8_t, T, x < y)                                                               \
    BINARY(LE, S, uint8_t, T, x <= y)                                                              \
    BINARY(GT, S, uint8_t, T, x > y)                                                               \
    BINARY(GE, S, uint8_t, T, x >= y)                                                              \
    SELECT(S, T)                                                                                   \
    UNARY(NEG, S, T, T, -x)                                                                        \
    UNARY(ABS, S, T, T, F(fabs)(x))                                                                \
    UNARY(SIGN, S, T, T, SIGN_OF(x))                                                               \
    UNARY(FLOOR, S, T, T, F(floor)(x))                                                             \
    UNARY(CEIL, S, T, T, F(ceil)(x))                                                               \
    UNARY(ROUND_AFZ, S, T, T, F(round)(x))                                                         \
    UNARY(ROUND_EVEN, S, T, T, F(rint)(x))                                                         \
    UNARY(IS_FINITE, S, uint8_t, T, F(fabs)(x) < (T)INFINITY)                                      \
    UNARY(SQRT, S, T, T, F(sqrt)(x))                                                               \
    UNARY(RSQRT, S, T, T, 1 / F(sqrt)(x))                                                          \
    UNARY(CBRT, S, T, T, F(cbrt)(x))                                                               \
    UNARY(TAN, S, T, T, F(tan)(x))                                                                 \
    UNARY(ASIN, S, T, T, F(asin)(x))                                                               \
    UNARY(ACOS, S, T, T, F(acos)(x))                                                               \
    UNARY(ATAN, S, T, T, F(atan)(x))                                                               \
    UNARY(SINH, S, T, T, F(sinh)(x))                                                               \
    UNARY(COSH, S, T, T, F(cosh)(x))                                                               \
    UNARY(ASINH, S, T, T, F(asinh)(x))                                                             \
    UNARY(ACOSH, S, T, T, F(acosh)(x))                                                             \
    UNARY(ATANH, S, T, T, F(atanh)(x))                                                             \
    UNARY(LGAMMA, S, T, T, stet_backend_lgamma((double)x))                                         \
    UNARY(DIGAMMA, S, T, T, stet_backend_digamma((double)x))                                       \
    UNARY(BESSEL_I1E, S, T, T, stet_backend_bessel_i1e((double)x))                                 \
    FOLD(ADD, S, T, x + y)                                                                         \
    FOLD(MUL, S, T, x *y)                                                                          \
    FOLD_BY(MAX, S, T, MAX_NAN(x, y), LANES_NAN(T, I, >))                                          \
    FOLD_BY(MIN, S, T, MIN_NAN(x, y), LANES_NAN(T, I, <))

#define F32(name) name##f
#define F64(name) name
BOTH(f32, float, F32, int32_t)
BOTH(f64, double, F64, int64_t)

#define CLAMP_FLOAT(S, T)                                                                          \
    static void k_CLAMP_##S(ARGS)                                                                  \
    {                                                                                              \
        T *d = restrict_d;                                                                         \
        const T *a = a_, *b = b_, *c = c_;                                                         \
        EACH                                                                                       \
        {                                                                                          \
            T x = a[i], y = b[i], z = c[i], low = MAX_NAN(x, y);                                   \
            d[i] = MIN_NAN(low, z);                                                                \
        }                                                                                          \
    }
CLAMP_FLOAT(f32, float)
CLAMP_FLOAT(f64, double)

UNARY(EXP, f32, float, float, v_exp(x))
UNARY(EXPM1, f32, float, float, v_expm1(x))
UNARY(LOG, f32, float, float, v_log(x))
UNARY(LOG1P, f32, float, float, v_log1p(x))
UNARY(LOGISTIC, f32, float, float, v_logistic(x))
UNARY(TANH, f32, float, float, v_tanh(x))
UNARY(ERF, f32, float, float, v_erf(x))
UNARY(ERFC, f32, float, float, v_erfc(x))
UNARY(ERF_INV, f32, float, float, v_erf_inv(x))
UNARY(SIN_FAST, f32, float, float, v_sin_from(x, 0))
UNARY(COS_FAST, f32, float, float, v_sin_from(x, 1))
UNARY(SIN_SLOW, f32, float, float, sinf(x))
UNARY(COS_SLOW, f32, float, float, cosf(x))

static int all_small(const float *a, size_t n)
{
    float top = 0;

    for (size_t i = 0; i < n; i++) {
        float x = fabsf(a[i]);

        top = x <= 1e5f ? top : 1; /* NaN too */
    }
    return top == 0;
}

static void k_SIN_f32(ARGS)
{
    (all_small(a_, n) ? k_SIN_FAST_f32 : k_SIN_SLOW_f32)(restrict_d, a_, b_, c_, n);
}

static void k_COS_f32(ARGS)
{
    (all_small(a_, n) ? k_COS_FAST_f32 : k_COS_SLOW_f32)(restrict_d, a_, b_, c_, n);
}

UNARY(EXP, f64, double, double, exp(x))
UNARY(EXPM1, f64, double, double, expm1(x))
UNARY(LOG, f64, double, double, log(x))
UNARY(LOG1P, f64, double, double, log1p(x))
UNARY(LOGISTIC, f64, double, double, 1 / (1 + exp(-x)))
UNARY(TANH, f64, double, double, tanh(x))
UNARY(ERF, f64, double, double, erf(x))
UNARY(ERFC, f64, double, double, erfc(x))
UNARY(ERF_INV, f64, double, double, stet_backend_erf_inv(x))
UNARY(SIN, f64, double, double, sin(x))
UNARY(COS, f64, double, double, cos(x))

#define ORDER(S, I, U, MAXIMUM)                                                                    \
    static void k_ORDER_##S(ARGS)                                                                  \
    {                                                                                              \
        I *d = restrict_d;                                                                         \
        const U *a = a_; /* the bits of the float */                                               \
        UNUSED2;                                                                                   \
        EACH                                                                                       \
        {                                                                                          \
            I x = (I)a[i];                                                                         \
            d[i] = x < 0 ? (I)(x ^ MAXIMUM) : x;                                                   \
        }                                                                                          \
    }
ORDER(f32, int32_t, uint32_t, INT32_MAX)
ORDER(f64, int64_t, uint64_t, INT64_MAX)

#define ROWS(S)                                                                                    \
    const stet_tile_fn ISA(stet_ops_##S)[STET_TILE_OPS] = {                                        \
        OP(COPY, S),       OP(ADD, S),       OP(SUB, S),    OP(MUL, S),        OP(DIV, S),         \
        OP(REM, S),        OP(POW, S),       OP(ATAN2, S),  OP(MAX, S),        OP(MIN, S),         \
        OP(NEXTAFTER, S),  OP(EQ, S),        OP(NE, S),     OP(LT, S),         OP(LE, S),          \
        OP(GT, S),         OP(GE, S),        OP(SELECT, S), OP(CLAMP, S),      OP(NEG, S),         \
        OP(ABS, S),        OP(SIGN, S),      OP(FLOOR, S),  OP(CEIL, S),       OP(ROUND_AFZ, S),   \
        OP(ROUND_EVEN, S), OP(IS_FINITE, S), OP(SQRT, S),   OP(RSQRT, S),      OP(CBRT, S),        \
        OP(TAN, S),        OP(ASIN, S),      OP(ACOS, S),   OP(ATAN, S),       OP(SINH, S),        \
        OP(COSH, S),       OP(ASINH, S),     OP(ACOSH, S),  OP(ATANH, S),      OP(ERFC, S),        \
        OP(LGAMMA, S),     OP(DIGAMMA, S),   OP(EXP, S),    OP(EXPM1, S),      OP(LOG, S),         \
        OP(LOG1P, S),      OP(LOGISTIC, S),  OP(TANH, S),   OP(ERF, S),        OP(ERF_INV, S),     \
        OP(SIN, S),        OP(COS, S),       OP(ORDER, S),  OP(BESSEL_I1E, S),                     \
    };                                                                                             \
    const stet_fold_fn ISA(stet_fold_##S)[STET_TILE_OPS] = {                                       \
        FOLD_OP(ADD, S),                                                                           \
        FOLD_OP(MUL, S),                                                                           \
        FOLD_OP(MAX, S),                                                                           \
        FOLD_OP(MIN, S),                                                                           \
    };
ROWS(f32)
ROWS(f64)
