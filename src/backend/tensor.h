/* The content of a buffer: element type and dimensions, dense and row-major. The struct owns
 * nothing. */
#ifndef STET_BACKEND_TENSOR_H
#define STET_BACKEND_TENSOR_H

#include "base/view.h"

/* DTYPE(name, bytes, HLO name, number in xla::PrimitiveType). Integers of 2 and 4 bits, f4 and f6
 * take a byte each. The bits above are zero in results, as XLA's are; what a host passes in may
 * have anything there. */
#define STET_ELEMENT_DTYPES(DTYPE)                                                                 \
    DTYPE(PRED, 1, "pred", 1)                                                                      \
    DTYPE(S2, 1, "s2", 26)                                                                         \
    DTYPE(S4, 1, "s4", 21)                                                                         \
    DTYPE(S8, 1, "s8", 2)                                                                          \
    DTYPE(S16, 2, "s16", 3)                                                                        \
    DTYPE(S32, 4, "s32", 4)                                                                        \
    DTYPE(S64, 8, "s64", 5)                                                                        \
    DTYPE(U2, 1, "u2", 27)                                                                         \
    DTYPE(U4, 1, "u4", 22)                                                                         \
    DTYPE(U8, 1, "u8", 6)                                                                          \
    DTYPE(U16, 2, "u16", 7)                                                                        \
    DTYPE(U32, 4, "u32", 8)                                                                        \
    DTYPE(U64, 8, "u64", 9)                                                                        \
    DTYPE(F4E2M1FN, 1, "f4e2m1fn", 32)                                                             \
    DTYPE(F6E2M3FN, 1, "f6e2m3fn", 36)                                                             \
    DTYPE(F6E3M2FN, 1, "f6e3m2fn", 35)                                                             \
    DTYPE(F8E3M4, 1, "f8e3m4", 29)                                                                 \
    DTYPE(F8E4M3, 1, "f8e4m3", 28)                                                                 \
    DTYPE(F8E4M3FN, 1, "f8e4m3fn", 20)                                                             \
    DTYPE(F8E4M3FNUZ, 1, "f8e4m3fnuz", 25)                                                         \
    DTYPE(F8E4M3B11FNUZ, 1, "f8e4m3b11fnuz", 23)                                                   \
    DTYPE(F8E5M2, 1, "f8e5m2", 19)                                                                 \
    DTYPE(F8E5M2FNUZ, 1, "f8e5m2fnuz", 24)                                                         \
    DTYPE(F8E8M0FNU, 1, "f8e8m0fnu", 33)                                                           \
    DTYPE(BF16, 2, "bf16", 16)                                                                     \
    DTYPE(F16, 2, "f16", 10)                                                                       \
    DTYPE(F32, 4, "f32", 11)                                                                       \
    DTYPE(F64, 8, "f64", 12)                                                                       \
    DTYPE(C64, 8, "c64", 15)                                                                       \
    DTYPE(C128, 16, "c128", 18)
#define STET_DTYPES(DTYPE)                                                                         \
    STET_ELEMENT_DTYPES(DTYPE)                                                                     \
    DTYPE(TOKEN, 0, "token", 17)

/* SMALL(name, exponent bits, fraction bits, bias, kind) of the floats of one byte. A kind says what
 * the codes after the largest number are:
 *   IEEE  infinity, then NaN
 *   FN    NaN is the last code; there is no infinity
 *   FNUZ  NaN is what would be the negative zero; there is no infinity
 *   SAT   neither: the largest number stays
 * f8e8m0fnu has no sign, no zero and no fraction: its code is the exponent, and NaN the last one.
 */
#define STET_SMALL_FLOATS(SMALL)                                                                   \
    SMALL(F4E2M1FN, 2, 1, 1, SAT)                                                                  \
    SMALL(F6E2M3FN, 2, 3, 1, SAT)                                                                  \
    SMALL(F6E3M2FN, 3, 2, 3, SAT)                                                                  \
    SMALL(F8E3M4, 3, 4, 3, IEEE)                                                                   \
    SMALL(F8E4M3, 4, 3, 7, IEEE)                                                                   \
    SMALL(F8E4M3FN, 4, 3, 7, FN)                                                                   \
    SMALL(F8E4M3FNUZ, 4, 3, 8, FNUZ)                                                               \
    SMALL(F8E4M3B11FNUZ, 4, 3, 11, FNUZ)                                                           \
    SMALL(F8E5M2, 5, 2, 15, IEEE)                                                                  \
    SMALL(F8E5M2FNUZ, 5, 2, 16, FNUZ)
enum { STET_SMALL_IEEE, STET_SMALL_FN, STET_SMALL_FNUZ, STET_SMALL_SAT };

enum stet_dtype {
    STET_DT_INVALID,
#define DTYPE(name, bytes, hlo, number) STET_DT_##name,
    STET_DTYPES(DTYPE)
#undef DTYPE
        STET_DT_COUNT
};

enum { STET_MAX_RANK = 16 };

struct stet_shape {
    enum stet_dtype dtype;
    uint32_t rank;
    int64_t dims[STET_MAX_RANK];
    uint64_t elements;
    uint64_t bytes;
};

size_t stet_dtype_bytes(enum stet_dtype t);
const char *stet_dtype_name(enum stet_dtype t);
/* The number that HLO and XLA's FFI have for it; 0 if it is not valid. */
int stet_dtype_number(enum stet_dtype t);

/* Fills elements and bytes; false if a dimension is negative or the size overflows 2^47 bytes. */
bool stet_shape_set(struct stet_shape *s, enum stet_dtype t, const int64_t *dims, uint32_t rank);
bool stet_shape_eq(const struct stet_shape *a, const struct stet_shape *b);
/* Same dimensions, whatever the element type. */
bool stet_shape_same_dims(const struct stet_shape *a, const struct stet_shape *b);

/* "f32[4,16]", for messages; truncated to the room. */
struct stet_shape_text {
    char text[128];
};
struct stet_shape_text stet_shape_text(const struct stet_shape *s);

/* The next position of a grid, the last dimension first; false after the last one. */
static inline bool stet_shape_next(int64_t *at, const int64_t *dims, uint32_t rank)
{
    for (uint32_t i = rank; i-- > 0;) {
        if (++at[i] < dims[i])
            return true;
        at[i] = 0;
    }
    return false;
}

static inline bool stet_dtype_is_float(enum stet_dtype t)
{
    return t >= STET_DT_F4E2M1FN && t <= STET_DT_F64;
}

static inline bool stet_dtype_is_complex(enum stet_dtype t)
{
    return t == STET_DT_C64 || t == STET_DT_C128;
}

static inline bool stet_dtype_is_signed(enum stet_dtype t)
{
    return t >= STET_DT_S2 && t <= STET_DT_S64;
}

static inline bool stet_dtype_is_unsigned(enum stet_dtype t)
{
    return t >= STET_DT_U2 && t <= STET_DT_U64;
}

static inline bool stet_dtype_is_int(enum stet_dtype t)
{
    return t >= STET_DT_S2 && t <= STET_DT_U64;
}

/* Bits of an element that mean something. */
static inline int stet_dtype_bits(enum stet_dtype t)
{
    if (t == STET_DT_S2 || t == STET_DT_U2)
        return 2;
    if (t == STET_DT_S4 || t == STET_DT_U4 || t == STET_DT_F4E2M1FN)
        return 4;
    if (t == STET_DT_F6E2M3FN || t == STET_DT_F6E3M2FN)
        return 6;
    return (int)stet_dtype_bytes(t) * 8;
}

/* Several elements would fit a byte. */
static inline bool stet_dtype_is_subbyte(enum stet_dtype t)
{
    return stet_dtype_bits(t) && stet_dtype_bits(t) < 8;
}

static inline bool stet_dtype_is_small_int(enum stet_dtype t)
{
    return stet_dtype_is_int(t) && stet_dtype_is_subbyte(t);
}

static inline bool stet_dtype_is_small_float(enum stet_dtype t)
{
    return t >= STET_DT_F4E2M1FN && t <= STET_DT_F8E8M0FNU;
}

/* A type of one byte whose elements are computed in a wider form. */
static inline bool stet_dtype_is_small(enum stet_dtype t)
{
    return stet_dtype_is_small_int(t) || stet_dtype_is_small_float(t);
}

#endif
