/* Columns of few rows of f32, folded in registers. Twin: fold_columns of tiny.c, which makes a call
 * of each addition. */
#include "backend/kernels/isa.h"
#include "backend/kernels/vectors.h"

#include <string.h>

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t bits __attribute__((vector_size(64)));

/* Lane i of the result is lane i + by; those of the end are not used. */
#define DOWN8(x) __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 0, 0, 0, 0, 0, 0, 0)
#define DOWN4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define DOWN2(x) __builtin_shufflevector(x, x, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define DOWN1(x) __builtin_shufflevector(x, x, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

#define HALVES(NAME, EXPR)                                                                         \
    static inline __attribute__((always_inline)) void op_##NAME(lanes *d, const lanes *other)      \
    {                                                                                              \
        lanes x = *d, y = *other;                                                                  \
                                                                                                   \
        *d = EXPR;                                                                                 \
    }                                                                                              \
    static inline __attribute__((always_inline)) void halves_##NAME(float *d, const float *a,      \
                                                                    size_t n, const int vectors)   \
    {                                                                                              \
        lanes v[16], w;                                                                            \
                                                                                                   \
        UNROLL for (int i = 0; i < vectors; i++) v[i] = *(const lanes *)(a + 16 * i);              \
        UNROLL for (int half = vectors / 2; half; half /= 2)                                       \
        {                                                                                          \
            UNROLL for (int i = 0; i < half; i++) op_##NAME(&v[i], &v[i + half]);                  \
        }                                                                                          \
        if (n <= 8) {                                                                              \
            w = DOWN8(v[0]);                                                                       \
            op_##NAME(&v[0], &w);                                                                  \
        }                                                                                          \
        if (n <= 4) {                                                                              \
            w = DOWN4(v[0]);                                                                       \
            op_##NAME(&v[0], &w);                                                                  \
        }                                                                                          \
        if (n <= 2) {                                                                              \
            w = DOWN2(v[0]);                                                                       \
            op_##NAME(&v[0], &w);                                                                  \
        }                                                                                          \
        if (n <= 1) {                                                                              \
            w = DOWN1(v[0]);                                                                       \
            op_##NAME(&v[0], &w);                                                                  \
        }                                                                                          \
        memcpy(d, &v[0], sizeof v[0]);                                                             \
    }                                                                                              \
    OF(NAME, 1) OF(NAME, 2) OF(NAME, 4) OF(NAME, 8) OF(NAME, 16)

#define OF(NAME, V)                                                                                \
    static void k_##NAME##_##V(ARGS)                                                               \
    {                                                                                              \
        UNUSED2;                                                                                   \
        halves_##NAME(restrict_d, a_, n, V);                                                       \
    }

/* NaN takes precedence over any number. */
#define FIRST_IF(first) ((lanes)(((first) & (bits)x) | (~(first) & (bits)y)))
HALVES(ADD, x + y)
HALVES(MUL, x *y)
HALVES(MAX, FIRST_IF((x != x) | (x > y)))
HALVES(MIN, FIRST_IF((x != x) | (x < y)))

#define ALL(NAME)                                                                                  \
    [STET_TILE_##NAME] = {k_##NAME##_1, k_##NAME##_2, k_##NAME##_4, k_##NAME##_8, k_##NAME##_16}
const stet_tile_fn ISA(stet_halves)[STET_TILE_OPS][5] = {ALL(ADD), ALL(MUL), ALL(MAX), ALL(MIN)};
