/* Tile kernels of c64 and c128. Their twins: ref/elementwise.c. */
#include "backend/kernels/isa.h"

#include <complex.h>
#include <math.h>

#define LESS(S, R, C, F)                                                                           \
    static inline C make_##S(R re, R im)                                                           \
    {                                                                                              \
        union {                                                                                    \
            R part[2];                                                                             \
            C whole;                                                                               \
        } u = {{re, im}};                                                                          \
        return u.whole;                                                                            \
    }                                                                                              \
    static inline C sign_##S(C x)                                                                  \
    {                                                                                              \
        R size = F(cabs)(x);                                                                       \
        return size == 0 ? (C)0 : make_##S(F(creal)(x) / size, F(cimag)(x) / size);                \
    }                                                                                              \
    static inline C pow_##S(C x, C y)                                                              \
    {                                                                                              \
        if (x == 0)                                                                                \
            return y == 0 ? (C)1 : F(creal)(y) > 0 ? (C)0 : make_##S((R)INFINITY, (R)NAN);         \
        return F(cpow)(x, y);                                                                      \
    }                                                                                              \
    static inline C log1p_##S(C x)                                                                 \
    {                                                                                              \
        R re = F(creal)(x), im = F(cimag)(x);                                                      \
        return make_##S(F(log1p)(re * (2 + re) + im * im) / 2, F(atan2)(im, 1 + re));              \
    }                                                                                              \
    static inline C expm1_##S(C x)                                                                 \
    {                                                                                              \
        R re = F(creal)(x), im = F(cimag)(x), e = F(expm1)(re), h = F(sin)(im / 2);                \
        return make_##S(e * F(cos)(im) - 2 * h * h, (e + 1) * F(sin)(im));                         \
    }                                                                                              \
    /* by the real part, then by the imaginary one */                                              \
    static inline int less_##S(C x, C y)                                                           \
    {                                                                                              \
        return F(creal)(x) != F(creal)(y) ? F(creal)(x) < F(creal)(y) : F(cimag)(x) < F(cimag)(y); \
    }                                                                                              \
    /* -i log((y + i x) / sqrt(x² + y²)); in double, because the terms cancel */                   \
    static inline C atan2_##S(C x, C y)                                                            \
    {                                                                                              \
        double complex a = x, b = y,                                                               \
                       log = clog((b + (double complex)I * a) / csqrt(a * a + b * b));             \
        return make_##S((R)cimag(log), (R) - creal(log));                                          \
    }                                                                                              \
    static inline C cbrt_##S(C x)                                                                  \
    {                                                                                              \
        return x == 0 ? x : (C)cpow(x, 1.0 / 3);                                                   \
    }

#define FC(name) name##f
#define FD(name) name
LESS(c64, float, float complex, FC)
LESS(c128, double, double complex, FD)

#define BOTH(S, R, C, F)                                                                           \
    UNARY(COPY, S, C, C, x)                                                                        \
    BINARY(ADD, S, C, C, x + y)                                                                    \
    BINARY(SUB, S, C, C, x - y)                                                                    \
    BINARY(MUL, S, C, C, x *y)                                                                     \
    BINARY(DIV, S, C, C, x / y)                                                                    \
    BINARY(POW, S, C, C, pow_##S(x, y))                                                            \
    BINARY(ATAN2, S, C, C, atan2_##S(x, y))                                                        \
    BINARY(MAX, S, C, C, less_##S(x, y) ? y : x)                                                   \
    BINARY(MIN, S, C, C, less_##S(x, y) ? x : y)                                                   \
    BINARY(EQ, S, uint8_t, C, x == y)                                                              \
    BINARY(NE, S, uint8_t, C, x != y)                                                              \
    BINARY(COMPLEX, S, C, R, make_##S(x, y))                                                       \
    SELECT(S, C)                                                                                   \
    UNARY(NEG, S, C, C, -x)                                                                        \
    UNARY(SIGN, S, C, C, sign_##S(x))                                                              \
    UNARY(ABS, S, R, C, F(cabs)(x))                                                                \
    UNARY(REAL, S, R, C, F(creal)(x))                                                              \
    UNARY(IMAG, S, R, C, F(cimag)(x))                                                              \
    UNARY(CONJ, S, C, C, F(conj)(x))                                                               \
    UNARY(EXP, S, C, C, F(cexp)(x))                                                                \
    UNARY(EXPM1, S, C, C, expm1_##S(x))                                                            \
    UNARY(LOG, S, C, C, F(clog)(x))                                                                \
    UNARY(LOG1P, S, C, C, log1p_##S(x))                                                            \
    UNARY(LOGISTIC, S, C, C, 1 / (1 + F(cexp)(-x)))                                                \
    UNARY(SQRT, S, C, C, F(csqrt)(x))                                                              \
    UNARY(RSQRT, S, C, C, 1 / F(csqrt)(x))                                                         \
    UNARY(CBRT, S, C, C, cbrt_##S(x))                                                              \
    UNARY(SIN, S, C, C, F(csin)(x))                                                                \
    UNARY(COS, S, C, C, F(ccos)(x))                                                                \
    UNARY(TAN, S, C, C, F(ctan)(x))                                                                \
    UNARY(ASIN, S, C, C, F(casin)(x))                                                              \
    UNARY(ACOS, S, C, C, F(cacos)(x))                                                              \
    UNARY(ATAN, S, C, C, F(catan)(x))                                                              \
    UNARY(SINH, S, C, C, F(csinh)(x))                                                              \
    UNARY(COSH, S, C, C, F(ccosh)(x))                                                              \
    UNARY(TANH, S, C, C, F(ctanh)(x))                                                              \
    UNARY(ASINH, S, C, C, F(casinh)(x))                                                            \
    UNARY(ACOSH, S, C, C, F(cacosh)(x))                                                            \
    UNARY(ATANH, S, C, C, F(catanh)(x))                                                            \
    FOLD(ADD, S, C, x + y)                                                                         \
    FOLD(MUL, S, C, x *y)

BOTH(c64, float, float complex, FC)
BOTH(c128, double, double complex, FD)

#define ROWS(S)                                                                                    \
    const stet_tile_fn ISA(stet_ops_##S)[STET_TILE_OPS] = {                                        \
        OP(COPY, S), OP(ADD, S),   OP(SUB, S),      OP(MUL, S),    OP(DIV, S),   OP(POW, S),       \
        OP(EQ, S),   OP(NE, S),    OP(COMPLEX, S),  OP(SELECT, S), OP(NEG, S),   OP(SIGN, S),      \
        OP(ABS, S),  OP(REAL, S),  OP(IMAG, S),     OP(CONJ, S),   OP(EXP, S),   OP(EXPM1, S),     \
        OP(LOG, S),  OP(LOG1P, S), OP(LOGISTIC, S), OP(SQRT, S),   OP(RSQRT, S), OP(SIN, S),       \
        OP(COS, S),  OP(TAN, S),   OP(ASIN, S),     OP(ACOS, S),   OP(ATAN, S),  OP(SINH, S),      \
        OP(COSH, S), OP(TANH, S),  OP(ASINH, S),    OP(ACOSH, S),  OP(ATANH, S), OP(ATAN2, S),     \
        OP(MAX, S),  OP(MIN, S),   OP(CBRT, S),                                                    \
    };                                                                                             \
    const stet_fold_fn ISA(stet_fold_##S)[STET_TILE_OPS] = {FOLD_OP(ADD, S), FOLD_OP(MUL, S)};
ROWS(c64)
ROWS(c128)
