/* Types whose elements are wider in registers than in memory: floats of 4 to 16 bits, integers of 2
 * and 4 bits. */
#include "backend/kernels/isa.h"
#include "backend/kernels/vmath.h"

/* ---- two bytes ---- */

static inline uint32_t bf16_of(uint32_t f)
{
    uint32_t rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;

    return (f & 0x7fffffffu) > 0x7f800000u ? (f >> 16) | 0x40u : rounded;
}

static inline uint32_t f16_of(uint32_t f)
{
    uint32_t sign = (f >> 16) & 0x8000u, a = f & 0x7fffffffu;
    uint32_t normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
    uint32_t tiny = v_bits(v_float(a) + 0.5f) - 0x3f000000u; /* the addition rounds */
    uint32_t huge = a > 0x7f800000u ? 0x7e00u : 0x7c00u;

    return sign | (a >= 0x47800000u ? huge : a < 0x38800000u ? tiny : normal);
}

static inline uint32_t f32_of_f16(uint32_t h)
{
    uint32_t shifted = (h & 0x7fffu) << 13;
    uint32_t number = v_bits(v_float(shifted) * 0x1p112f);

    number = (h & 0x7c00u) == 0x7c00u ? shifted | 0x7f800000u : number;
    return number | (h & 0x8000u) << 16;
}

UNARY(bf16_load, f32, uint32_t, uint16_t, (uint32_t)x << 16)
UNARY(bf16_store, f32, uint16_t, uint32_t, bf16_of(x))
UNARY(bf16_round, f32, uint32_t, uint32_t, bf16_of(x) << 16)
UNARY(f16_load, f32, uint32_t, uint16_t, f32_of_f16(x))
UNARY(f16_store, f32, uint16_t, uint32_t, f16_of(x))
UNARY(f16_round, f32, uint32_t, uint32_t, f32_of_f16(f16_of(x)))
/* ---- floats of one byte ---- */

struct small {
    int exponent, fraction, bias, kind;
};

/* The code after that of the largest number. */
static inline uint32_t past_largest(struct small s)
{
    uint32_t codes = 1u << (s.exponent + s.fraction);

    return s.kind == STET_SMALL_IEEE ? codes - (1u << s.fraction)
           : s.kind == STET_SMALL_FN ? codes - 1
                                     : codes;
}

static inline uint32_t nan_code(struct small s)
{
    uint32_t codes = 1u << (s.exponent + s.fraction);

    return s.kind == STET_SMALL_IEEE ? codes - (1u << (s.fraction - 1))
           : s.kind == STET_SMALL_FN ? codes - 1
                                     : codes; /* the sign alone */
}

static inline uint32_t small_of(uint32_t f, struct small s)
{
    uint32_t sign = f >> 31 << (s.exponent + s.fraction), a = f & 0x7fffffffu;
    uint32_t cut = 23u - (uint32_t)s.fraction, last = past_largest(s);
    /* rounding in the exponent of f32, then the bias of this one */
    uint32_t normal = ((a + (1u << (cut - 1)) - 1 + (a >> cut & 1u)) >> cut) -
                      ((uint32_t)(127 - s.bias) << s.fraction);
    /* the addition rounds to a multiple of the smallest number */
    uint32_t unit = (uint32_t)(127 + 24 - s.bias - s.fraction) << 23;
    uint32_t tiny = v_bits(v_float(a) + v_float(unit)) - unit;
    uint32_t code = a < (uint32_t)(128 - s.bias) << 23 ? tiny : normal;

    if (s.kind == STET_SMALL_SAT)
        code = code >= last ? last - 1 : code;
    else
        code = code >= last ? (s.kind == STET_SMALL_IEEE ? last : nan_code(s)) : code;
    code = a > 0x7f800000u ? (s.kind == STET_SMALL_SAT ? 0 : nan_code(s)) : code;
    if (s.kind == STET_SMALL_SAT) /* XLA makes a negative zero of NaN */
        sign = a > 0x7f800000u ? 1u << (s.exponent + s.fraction) : sign;
    if (s.kind == STET_SMALL_FNUZ)
        sign = code == 0 || code == nan_code(s) ? 0 : sign;
    return sign | code;
}

static inline uint32_t f32_of_small(uint32_t h, struct small s)
{
    uint32_t bits = (uint32_t)(s.exponent + s.fraction);
    uint32_t code = h & ((1u << bits) - 1), sign = (h >> bits & 1u) << 31;
    uint32_t number = v_bits(v_float(code << (23u - (uint32_t)s.fraction)) *
                             v_float((uint32_t)(254 - s.bias) << 23));

    if (s.kind == STET_SMALL_IEEE)
        number = code > past_largest(s)    ? 0x7fc00000u
                 : code == past_largest(s) ? 0x7f800000u
                                           : number;
    if (s.kind == STET_SMALL_FN)
        number = code == nan_code(s) ? 0x7fc00000u : number;
    if (s.kind == STET_SMALL_FNUZ)
        return sign && !code ? 0x7fc00000u : number | sign;
    return number | sign;
}

/* A power of two. Halves round up; what is not a positive number is NaN. */
static inline uint32_t e8m0_of(uint32_t f)
{
    uint32_t code = f < 0x00600000u ? 0 : (f + 0x00400000u) >> 23;

    return f == 0 || f >= 0x7f400000u ? 0xffu : code;
}

static inline uint32_t f32_of_e8m0(uint32_t h)
{
    return h == 0xffu ? 0x7fc00000u : h ? h << 23 : 0x00400000u;
}

#define SMALL(NAME, E, F, B, K)                                                                    \
    UNARY(NAME##_load, f32, uint32_t, uint8_t,                                                     \
          f32_of_small(x, ((struct small){E, F, B, STET_SMALL_##K})))                              \
    UNARY(NAME##_store, f32, uint8_t, uint32_t,                                                    \
          small_of(x, ((struct small){E, F, B, STET_SMALL_##K})))                                  \
    UNARY(NAME##_round, f32, uint32_t, uint32_t,                                                   \
          f32_of_small(small_of(x, ((struct small){E, F, B, STET_SMALL_##K})),                     \
                       ((struct small){E, F, B, STET_SMALL_##K})))
STET_SMALL_FLOATS(SMALL)
#undef SMALL
UNARY(e8m0_load, f32, uint32_t, uint8_t, f32_of_e8m0(x))
UNARY(e8m0_store, f32, uint8_t, uint32_t, e8m0_of(x))
UNARY(e8m0_round, f32, uint32_t, uint32_t, f32_of_e8m0(e8m0_of(x)))

/* ---- integers of 2 and 4 bits ---- */

UNARY(wrap, s2, int8_t, int8_t, (int8_t)((((uint8_t)x & 3u) ^ 2u) - 2u))
UNARY(wrap, s4, int8_t, int8_t, (int8_t)((((uint8_t)x & 15u) ^ 8u) - 8u))
UNARY(wrap, u2, uint8_t, uint8_t, x & 3)
UNARY(wrap, u4, uint8_t, uint8_t, x & 15)

/* ---- f64 ---- */

/* Rounds towards zero and sets the last bit if anything was cut off. */
static void k_odd_f64(ARGS)
{
    const double *a = a_;
    float *d = restrict_d;

    UNUSED2;
    for (size_t i = 0; i < n; i++) {
        float near = (float)a[i];
        uint32_t bits = v_bits(near);

        if ((double)near != a[i] && a[i] == a[i]) {
            bool away = fabs((double)near) > fabs(a[i]);

            bits = (away ? bits - 1 : bits) | 1u;
        }
        d[i] = v_float(bits);
    }
}

void ISA(stet_f64_to_odd_f32)(ARGS)
{
    k_odd_f64(restrict_d, a_, b_, c_, n);
}

/* ---- the tables ---- */

#define ROWS(WHAT, S4, S2, U4, U2)                                                                 \
    [STET_DT_BF16] = k_bf16_##WHAT##_f32, [STET_DT_F16] = k_f16_##WHAT##_f32,                      \
    [STET_DT_F8E8M0FNU] = k_e8m0_##WHAT##_f32, [STET_DT_S4] = S4, [STET_DT_S2] = S2,               \
    [STET_DT_U4] = U4, [STET_DT_U2] = U2
#define SMALL_ROW(NAME, WHAT) [STET_DT_##NAME] = k_##NAME##_##WHAT##_f32,

const stet_tile_fn ISA(stet_load)[STET_DT_COUNT] = {
#define SMALL(NAME, E, F, B, K) SMALL_ROW(NAME, load)
    STET_SMALL_FLOATS(SMALL)
#undef SMALL
        ROWS(load, k_wrap_s4, k_wrap_s2, k_wrap_u4, k_wrap_u2),
};

const stet_tile_fn ISA(stet_store)[STET_DT_COUNT] = {
#define SMALL(NAME, E, F, B, K) SMALL_ROW(NAME, store)
    STET_SMALL_FLOATS(SMALL)
#undef SMALL
        ROWS(store, k_wrap_u4, k_wrap_u2, k_wrap_u4, k_wrap_u2),
};

const stet_tile_fn ISA(stet_round)[STET_DT_COUNT] = {
#define SMALL(NAME, E, F, B, K) SMALL_ROW(NAME, round)
    STET_SMALL_FLOATS(SMALL)
#undef SMALL
        ROWS(round, k_wrap_s4, k_wrap_s2, k_wrap_u4, k_wrap_u2),
};
