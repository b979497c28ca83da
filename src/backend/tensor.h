/* The content of a buffer: element type and dimensions, dense and row-major. The struct owns
 * nothing. */
#ifndef STET_BACKEND_TENSOR_H
#define STET_BACKEND_TENSOR_H

#include "base/view.h"

/* DTYPE(name, bytes, HLO name, number in xla::PrimitiveType). 4-bit integers are stored one to a
 * byte, as the 8-bit integer of the same value; in data from a host the upper half is undefined. */
#define STET_ELEMENT_DTYPES(DTYPE)                                                                 \
    DTYPE(PRED, 1, "pred", 1)                                                                      \
    DTYPE(S4, 1, "s4", 21)                                                                         \
    DTYPE(S8, 1, "s8", 2)                                                                          \
    DTYPE(S16, 2, "s16", 3)                                                                        \
    DTYPE(S32, 4, "s32", 4)                                                                        \
    DTYPE(S64, 8, "s64", 5)                                                                        \
    DTYPE(U4, 1, "u4", 22)                                                                         \
    DTYPE(U8, 1, "u8", 6)                                                                          \
    DTYPE(U16, 2, "u16", 7)                                                                        \
    DTYPE(U32, 4, "u32", 8)                                                                        \
    DTYPE(U64, 8, "u64", 9)                                                                        \
    DTYPE(BF16, 2, "bf16", 16)                                                                     \
    DTYPE(F16, 2, "f16", 10)                                                                       \
    DTYPE(F32, 4, "f32", 11)                                                                       \
    DTYPE(F64, 8, "f64", 12)                                                                       \
    DTYPE(C64, 8, "c64", 15)                                                                       \
    DTYPE(C128, 16, "c128", 18)
#define STET_DTYPES(DTYPE)                                                                         \
    STET_ELEMENT_DTYPES(DTYPE)                                                                     \
    DTYPE(TOKEN, 0, "token", 17)

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

static inline bool stet_dtype_is_float(enum stet_dtype t)
{
    return t == STET_DT_F32 || t == STET_DT_F64 || t == STET_DT_BF16 || t == STET_DT_F16;
}

static inline bool stet_dtype_is_complex(enum stet_dtype t)
{
    return t == STET_DT_C64 || t == STET_DT_C128;
}

static inline bool stet_dtype_is_signed(enum stet_dtype t)
{
    return t >= STET_DT_S4 && t <= STET_DT_S64;
}

static inline bool stet_dtype_is_unsigned(enum stet_dtype t)
{
    return t >= STET_DT_U4 && t <= STET_DT_U64;
}

static inline bool stet_dtype_is_int(enum stet_dtype t)
{
    return t >= STET_DT_S4 && t <= STET_DT_U64;
}

static inline bool stet_dtype_is_nibble(enum stet_dtype t)
{
    return t == STET_DT_S4 || t == STET_DT_U4;
}

/* The 8-bit type of a 4-bit one; any other type unchanged. */
static inline enum stet_dtype stet_dtype_stored(enum stet_dtype t)
{
    return t == STET_DT_S4 ? STET_DT_S8 : t == STET_DT_U4 ? STET_DT_U8 : t;
}

#endif
