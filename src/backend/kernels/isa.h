/* Names per instruction set. The files of kernels/ that include this are compiled once for each
 * set, with STET_ISA as the suffix of what they define. */
#ifndef STET_BACKEND_KERNELS_ISA_H
#define STET_BACKEND_KERNELS_ISA_H

#include "backend/tile_kernel.h"

#ifndef STET_ISA
#define STET_ISA base
#endif
#define STET_ISA_PASTE2(a, b) a##_##b
#define STET_ISA_PASTE(a, b)  STET_ISA_PASTE2(a, b)
#define ISA(name)             STET_ISA_PASTE(name, STET_ISA)

/* Operands are equal or disjoint: iterations never depend on each other. */
#if defined(__clang__)
#define EACH _Pragma("clang loop vectorize(assume_safety)") for (size_t i = 0; i < n; i++)
#else
#define EACH _Pragma("GCC ivdep") for (size_t i = 0; i < n; i++)
#endif

#define ARGS    void *restrict_d, const void *a_, const void *b_, const void *c_, size_t n
#define UNUSED2 (void)b_, (void)c_
/* k_NAME_SUFFIX: d = expression of x, and y for two operands; D is the result's type, T theirs. */
#define UNARY(NAME, SUFFIX, D, T, EXPR)                                                            \
    static void k_##NAME##_##SUFFIX(ARGS)                                                          \
    {                                                                                              \
        D *d = restrict_d;                                                                         \
        const T *a = a_;                                                                           \
        UNUSED2;                                                                                   \
        EACH                                                                                       \
        {                                                                                          \
            T x = a[i];                                                                            \
            d[i] = (D)(EXPR);                                                                      \
        }                                                                                          \
    }
#define BINARY(NAME, SUFFIX, D, T, EXPR)                                                           \
    static void k_##NAME##_##SUFFIX(ARGS)                                                          \
    {                                                                                              \
        D *d = restrict_d;                                                                         \
        const T *a = a_, *b = b_;                                                                  \
        (void)c_;                                                                                  \
        EACH                                                                                       \
        {                                                                                          \
            T x = a[i], y = b[i];                                                                  \
            d[i] = (D)(EXPR);                                                                      \
        }                                                                                          \
    }
#define SELECT(SUFFIX, T)                                                                          \
    static void k_SELECT_##SUFFIX(ARGS)                                                            \
    {                                                                                              \
        T *d = restrict_d;                                                                         \
        const uint8_t *a = a_;                                                                     \
        const T *b = b_, *c = c_;                                                                  \
        EACH                                                                                       \
        {                                                                                          \
            T y = b[i], z = c[i];                                                                  \
            d[i] = a[i] ? y : z;                                                                   \
        }                                                                                          \
    }
/* a is the lower bound, b the value, c the upper one. */
#define CLAMP(SUFFIX, T, LESS)                                                                     \
    static void k_CLAMP_##SUFFIX(ARGS)                                                             \
    {                                                                                              \
        T *d = restrict_d;                                                                         \
        const T *a = a_, *b = b_, *c = c_;                                                         \
        EACH                                                                                       \
        {                                                                                          \
            T x = a[i], y = b[i], z = c[i];                                                        \
            T low = LESS(y, x) ? x : y;                                                            \
            d[i] = LESS(z, low) ? z : low;                                                         \
        }                                                                                          \
    }
#define PLAIN_LESS(x, y) ((x) < (y))

/* Sixteen partial results, then their combination: an order that depends on n alone. */
#define FOLD_LANES(T, EXPR)                                                                        \
    for (int j = 0; j < 16; j++)                                                                   \
        lane[j] = a[j];                                                                            \
    for (i = 16; i + 16 <= n; i += 16)                                                             \
        for (int j = 0; j < 16; j++) {                                                             \
            T x = lane[j], y = a[i + (size_t)j];                                                   \
            lane[j] = (T)(EXPR);                                                                   \
        }
#define FOLD(NAME, SUFFIX, T, EXPR) FOLD_BY(NAME, SUFFIX, T, EXPR, FOLD_LANES(T, EXPR))
#define FOLD_BY(NAME, SUFFIX, T, EXPR, LANES)                                                      \
    static void f_##NAME##_##SUFFIX(void *d_, const void *a_, size_t n)                            \
    {                                                                                              \
        const T *a = a_;                                                                           \
        T lane[16], total;                                                                         \
        size_t i = 0;                                                                              \
        if (n >= 32) {                                                                             \
            LANES                                                                                  \
            for (int w = 8; w > 0; w /= 2)                                                         \
                for (int j = 0; j < w; j++) {                                                      \
                    T x = lane[j], y = lane[j + w];                                                \
                    lane[j] = (T)(EXPR);                                                           \
                }                                                                                  \
            total = lane[0];                                                                       \
        } else {                                                                                   \
            total = a[i++];                                                                        \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            T x = total, y = a[i];                                                                 \
            total = (T)(EXPR);                                                                     \
        }                                                                                          \
        *(T *)d_ = total;                                                                          \
    }

#define OP(NAME, SUFFIX)      [STET_TILE_##NAME] = k_##NAME##_##SUFFIX
#define FOLD_OP(NAME, SUFFIX) [STET_TILE_##NAME] = f_##NAME##_##SUFFIX

extern const stet_tile_fn ISA(stet_halves)[STET_TILE_OPS][5];
/* The rows that each file defines; convert.c combines them. */
#define ROW(suffix)                                                                                \
    extern const stet_tile_fn ISA(stet_ops_##suffix)[STET_TILE_OPS];                               \
    extern const stet_fold_fn ISA(stet_fold_##suffix)[STET_TILE_OPS];
/* clang-format off */
ROW(pred)
ROW(s8)
ROW(s16) ROW(s32) ROW(s64) ROW(u8) ROW(u16) ROW(u32) ROW(u64) ROW(f32) ROW(f64) ROW(c64) ROW(c128)
/* clang-format on */
#undef ROW
#define ROW(suffix) extern const stet_tile_fn ISA(stet_convert_##suffix)[STET_DT_COUNT];
    ROW(pred) ROW(s8) ROW(s16) ROW(s32) ROW(s64) ROW(u8) ROW(u16) ROW(u32) ROW(u64) ROW(f32)
        ROW(f64) ROW(c64) ROW(c128)
#undef ROW
            extern const stet_tile_fn ISA(stet_load)[STET_DT_COUNT],
    ISA(stet_store)[STET_DT_COUNT], ISA(stet_round)[STET_DT_COUNT];
void ISA(stet_f64_to_odd_f32)(void *d, const void *a, const void *b, const void *c, size_t n);
extern const stet_gemm_fn ISA(stet_gemms)[STET_DT_COUNT], ISA(stet_gemm_lines)[STET_DT_COUNT];
extern const stet_gemm_fn ISA(stet_gemm_narrow);
extern const stet_channels_fn ISA(stet_channels);
extern const struct stet_fft_kernels *const ISA(stet_ffts)[STET_DT_COUNT];
extern const struct stet_move_kernels ISA(stet_moves)[5];
extern const stet_count_fn ISA(stet_counts)[STET_DT_COUNT];
extern const struct stet_tile_set ISA(stet_tile_set);

#endif
