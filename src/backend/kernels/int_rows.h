/* The kernels of one integer type. int.c includes this file with T, U (the unsigned type of the
 * same width), S (the suffix), BITS and IS_SIGNED. Arithmetic wraps, so it uses the unsigned type;
 * types narrower than int are widened to 32 bits first, because C would promote them to int, which
 * could overflow. */
#define W_(x)                     ((WIDE)(U)(x))
#define ROW2(a, b)                STET_ISA_PASTE2(a, b)
#define ROWN(a, b)                ROW2(a, b)
#define UN(N, E)                  ROWX(UNARY, N, S, T, T, E)
#define BI(N, E)                  ROWX(BINARY, N, S, T, T, E)
#define CMP(N, E)                 ROWX(BINARY, N, S, uint8_t, T, E)
#define ROWX(M, N, SUF, D, TT, E) ROWY(M, N, SUF, D, TT, E)
#define ROWY(M, N, SUF, D, TT, E) M(N, SUF, D, TT, E)
#define FO(N, E)                  FOX(N, S, T, E)
#define FOX(N, SUF, TT, E)        FOLD(N, SUF, TT, E)
#define SELX(SUF, TT)             SELECT(SUF, TT)
#define CLAX(SUF, TT)             CLAMP(SUF, TT, PLAIN_LESS)
#define OPX(N)                    OPY(N, S)
#define OPY(N, SUF)               OP(N, SUF)
#define FOPX(N)                   FOPY(N, S)
#define FOPY(N, SUF)              FOLD_OP(N, SUF)
#define POWN                      ROWN(pow, S)

static inline T POWN(T x, T y)
{
    U base = (U)x, result = 1, e = (U)y;

    if (IS_SIGNED && (STYPE)y < 0)
        return (T)(x == (T)1 ? (T)1 : (U)x == (U) ~(U)0 ? (T)((e & 1) ? (T)-1 : (T)1) : (T)0);
    for (; e; e = (U)(e >> 1)) {
        if (e & 1)
            result = (U)(W_(result) * W_(base));
        base = (U)(W_(base) * W_(base));
    }
    return (T)result;
}

UN(COPY, x)
BI(ADD, W_(x) + W_(y))
BI(SUB, W_(x) - W_(y))
BI(MUL, W_(x) * W_(y))
/* as XLA: x / 0 is all ones, MIN / -1 is MIN, x % 0 is x */
#define QUOTIENT (y == 0 ? (T) ~(U)0 : IS_SIGNED && (U)y == (U) ~(U)0 ? (T)(0 - W_(x)) : (T)(x / y))
#define REMAINDER (y == 0 ? x : IS_SIGNED && (U)y == (U) ~(U)0 ? (T)0 : (T)(x % y))
#if BITS == 64
BI(DIV, QUOTIENT)
BI(REM, REMAINDER)
#else
BI(DIV_ANY, QUOTIENT)
BI(REM_ANY, REMAINDER)
/* Machines divide vectors of floats, not of integers. A quotient of two numbers of 32 bits is at
 * least 2^-31 of itself below the next integer, so rounding it to double does not reach that. */
BI(DIV_REAL, (T)((double)x / (double)y))
BI(REM_REAL, W_(x) - W_((T)((double)x / (double)y)) * W_(y))
/* The same by one divisor: its reciprocal is made a little too large, by less than that and by more
 * than the errors of rounding. */
#define ONE_DIVISOR(N, EXPR)                                                                       \
    static void ROWN(N, S)(void *d_, const void *a_, double reciprocal, T y, size_t n)             \
    {                                                                                              \
        const T *a = a_;                                                                           \
        T *d = d_;                                                                                 \
                                                                                                   \
        (void)y, (void)reciprocal;                                                                 \
        EACH                                                                                       \
        {                                                                                          \
            T x = a[i];                                                                            \
            d[i] = (T)(EXPR);                                                                      \
        }                                                                                          \
    }
ONE_DIVISOR(div_by, (double)x *reciprocal)
ONE_DIVISOR(rem_by, W_(x) - W_((T)((double)x * reciprocal)) * W_(y))
/* The same by 2^k, without conversions: y is the mask of k bits. Negative numbers are rounded
 * towards zero, too. */
#define ROUNDED (W_(x) + (IS_SIGNED && (STYPE)x < 0 ? W_(y) : 0))
ONE_DIVISOR(div_power, (STYPE)(U)ROUNDED >> (int)reciprocal)
ONE_DIVISOR(rem_power, W_(x) - (ROUNDED & ~W_(y)))
#undef ROUNDED
#undef ONE_DIVISOR

/* 2: all divisors are the same; 1: all can be divided by; 0: neither. */
static int ROWN(divisors, S)(const T *b, size_t n)
{
    T same = 0, wrong = 0;

    EACH
    {
        T y = b[i];

        same |= (T)(y ^ b[0]);
        wrong |= (T)(y == 0 || (IS_SIGNED && (U)y == (U) ~(U)0));
    }
    return wrong ? 0 : same ? 1 : 2;
}

#define DIVISION(N, BY, POWER)                                                                     \
    static void OPN(N)(ARGS)                                                                       \
    {                                                                                              \
        const T *b = b_;                                                                           \
        int how = ROWN(divisors, S)(b, n);                                                         \
        T y = n ? b[0] : (T)1;                                                                     \
                                                                                                   \
        if (how == 2 && IS_SIGNED && y > 0 && (y & (T)(y - 1)) == 0)                               \
            ROWN(POWER, S)(restrict_d, a_, __builtin_ctz((unsigned)y), (T)(y - 1), n);             \
        else if (how == 2)                                                                         \
            ROWN(BY, S)(restrict_d, a_, 1 / (double)y * (1 + 0x1p-40), y, n);                      \
        else                                                                                       \
            (how ? OPN(N##_REAL) : OPN(N##_ANY))(restrict_d, a_, b_, c_, n);                       \
    }
#define OPN(N)     OPN2(k_##N, S)
#define OPN2(N, S) ROWN(N, S)
DIVISION(DIV, div_by, div_power)
DIVISION(REM, rem_by, rem_power)
#undef DIVISION
#undef OPN
#undef OPN2
#endif
BI(POW, POWN(x, y))
BI(MAX, x > y ? x : y)
BI(MIN, x < y ? x : y)
BI(AND, x &y)
BI(OR, x | y)
BI(XOR, x ^ y)
BI(SHL, (U)y >= BITS ? (WIDE)0 : W_(x) << ((U)y & (BITS - 1)))
BI(SHR_LOGIC, (U)y >= BITS ? (WIDE)0 : W_(x) >> ((U)y & (BITS - 1)))
BI(SHR_ARITH, (STYPE)x >> ((U)y >= BITS ? BITS - 1 : (U)y))
CMP(EQ, x == y)
CMP(NE, x != y)
CMP(LT, x < y)
CMP(LE, x <= y)
CMP(GT, x > y)
CMP(GE, x >= y)
SELX(S, T)
CLAX(S, T)
UN(NEG, 0 - W_(x))
UN(NOT, ~x)
UN(ABS, IS_SIGNED && (STYPE)x < 0 ? 0 - W_(x) : W_(x))
UN(SIGN, IS_SIGNED && (STYPE)x < 0 ? (WIDE)-1 : (WIDE)(x != 0))
UN(POPCNT, __builtin_popcountll((unsigned long long)(U)x))
UN(CLZ, x == 0 ? BITS : __builtin_clzll((unsigned long long)(U)x) - (64 - BITS))

static void ROWN(k_LESS_PRODUCT, S)(ARGS)
{
    T *d = restrict_d;
    const T *a = a_, *b = b_, *c = c_;

    EACH d[i] = (T)(W_(c[i]) - W_(a[i]) * W_(b[i]));
}

#if BITS == 32 && IS_SIGNED
/* Rounded down, by one divisor greater than 0. The quotient that div_by rounds towards zero is one
 * too large if its product with the divisor is above x. */
#define FLOORED(N, POWER, EXPR)                                                                    \
    static void k_##N##_s32(ARGS)                                                                  \
    {                                                                                              \
        int32_t *d = restrict_d;                                                                   \
        const int32_t *a = a_, y = n ? *(const int32_t *)b_ : 1;                                   \
        const double reciprocal = 1 / (double)y * (1 + 0x1p-40);                                   \
        const int bits = __builtin_ctz((unsigned)y);                                               \
                                                                                                   \
        (void)c_, (void)bits;                                                                      \
        if ((y & (y - 1)) == 0) {                                                                  \
            EACH d[i] = POWER;                                                                     \
            return;                                                                                \
        }                                                                                          \
        EACH                                                                                       \
        {                                                                                          \
            int32_t x = a[i], q = (int32_t)((double)x * reciprocal), r = x - q * y;                \
            d[i] = EXPR;                                                                           \
        }                                                                                          \
    }
FLOORED(FLOOR_DIV, a[i] >> bits, q - (r < 0))
FLOORED(FLOOR_REM, a[i] & (y - 1), r < 0 ? r + y : r)
#undef FLOORED
#endif

#if BITS == 32 && !IS_SIGNED
/* By as many bits for all elements. */
#define ROTATED(x, y) ((x) << ((y) & 31) | (x) >> (-(y) & 31))
static void k_ROTATE_u32(ARGS)
{
    uint32_t *d = restrict_d;
    const uint32_t *a = a_, by = *(const uint32_t *)b_;

    (void)c_;
    EACH d[i] = ROTATED(a[i], by);
}
static void k_ROTATE_XOR_u32(ARGS)
{
    uint32_t *d = restrict_d;
    const uint32_t *a = a_, *c = c_, by = *(const uint32_t *)b_;

    EACH d[i] = ROTATED(a[i], by) ^ c[i];
}
#undef ROTATED
#endif

FO(ADD, W_(x) + W_(y))
FO(MUL, W_(x) * W_(y))
FO(MAX, x > y ? x : y)
FO(MIN, x < y ? x : y)
FO(AND, x &y)
FO(OR, x | y)
FO(XOR, x ^ y)

const stet_tile_fn ISA(ROWN(stet_ops, S))[STET_TILE_OPS] = {
    OPX(COPY),      OPX(ADD),        OPX(SUB),       OPX(MUL),    OPX(DIV),   OPX(REM),
    OPX(POW),       OPX(MAX),        OPX(MIN),       OPX(AND),    OPX(OR),    OPX(XOR),
    OPX(SHL),       OPX(SHR_LOGIC),  OPX(SHR_ARITH), OPX(EQ),     OPX(NE),    OPX(LT),
    OPX(LE),        OPX(GT),         OPX(GE),        OPX(SELECT), OPX(CLAMP), OPX(NEG),
    OPX(NOT),       OPX(ABS),        OPX(SIGN),      OPX(POPCNT), OPX(CLZ),   OPX(LESS_PRODUCT),
#if BITS == 32 && !IS_SIGNED
    OPX(ROTATE),    OPX(ROTATE_XOR),
#endif
#if BITS == 32 && IS_SIGNED
    OPX(FLOOR_DIV), OPX(FLOOR_REM),
#endif
};
const stet_fold_fn ISA(ROWN(stet_fold, S))[STET_TILE_OPS] = {
    FOPX(ADD), FOPX(MUL), FOPX(MAX), FOPX(MIN), FOPX(AND), FOPX(OR), FOPX(XOR),
};

#undef QUOTIENT
#undef REMAINDER
#undef W_
#undef ROW2
#undef ROWN
#undef UN
#undef BI
#undef CMP
#undef ROWX
#undef ROWY
#undef FO
#undef FOX
#undef SELX
#undef CLAX
#undef OPX
#undef OPY
#undef FOPX
#undef FOPY
#undef POWN
#undef T
#undef U
#undef S
#undef STYPE
#undef WIDE
#undef BITS
#undef IS_SIGNED
