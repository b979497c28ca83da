/* Moves between strided and dense memory. Twin: ref/shape.c. */
#include "backend/kernels/isa.h"
#include "backend/kernels/vectors.h"

struct c128_bits {
    uint64_t part[2];
};

/* A dense run from elements that are `stride` apart. */
#define STRIDED(BITS, T)                                                                           \
    static void strided_##BITS(void *d_, const void *s_, int64_t stride, size_t n)                 \
    {                                                                                              \
        T *d = d_;                                                                                 \
        const T *s = s_;                                                                           \
                                                                                                   \
        if (stride == 1) {                                                                         \
            memcpy(d, s, n * sizeof(T));                                                           \
        } else if (stride == 0) {                                                                  \
            T v = *s;                                                                              \
            EACH d[i] = v;                                                                         \
        } else if (stride == -1) {                                                                 \
            const T *last = s - n + 1;                                                             \
            EACH d[i] = last[n - 1 - i];                                                           \
        } else if (stride == 2) {                                                                  \
            EACH d[i] = s[2 * i];                                                                  \
        } else {                                                                                   \
            for (size_t i = 0; i < n; i++)                                                         \
                d[i] = s[(int64_t)i * stride];                                                     \
        }                                                                                          \
    }
/* Rows that repeat or that repeat one element are what broadcasts read. */
#define ROWS(BITS, T)                                                                              \
    static void rows_##BITS(void *d_, const void *s_, int64_t step, size_t rows, int64_t stride,   \
                            size_t n)                                                              \
    {                                                                                              \
        T *d = d_;                                                                                 \
        const T *s = s_;                                                                           \
                                                                                                   \
        if (n < 5) {                                                                               \
            for (size_t r = 0; r < rows; r++, s += step, d += n) {                                 \
                d[0] = s[0];                                                                       \
                if (n > 1)                                                                         \
                    d[1] = s[stride];                                                              \
                if (n > 2)                                                                         \
                    d[2] = s[2 * stride];                                                          \
                if (n > 3)                                                                         \
                    d[3] = s[3 * stride];                                                          \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        if (n == 8 && stride == 0) { /* a loop of any length starts later */                       \
            for (size_t r = 0; r < rows; r++, s += step, d += 8) {                                 \
                T v = *s;                                                                          \
                UNROLL for (int i = 0; i < 8; i++) d[i] = v;                                       \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (size_t r = 0; r < rows; r++, s += step, d += n) {                                     \
            if (stride == 0) {                                                                     \
                T v = *s;                                                                          \
                EACH d[i] = v;                                                                     \
            } else if (stride == 1) {                                                              \
                EACH d[i] = s[i];                                                                  \
            } else {                                                                               \
                strided_##BITS(d, s, stride, n);                                                   \
            }                                                                                      \
        }                                                                                          \
    }
#define STRIDES(BITS, T) STRIDED(BITS, T) ROWS(BITS, T)
STRIDES(8, uint8_t)
STRIDES(16, uint16_t)
STRIDES(32, uint32_t)
STRIDES(64, uint64_t)
STRIDES(128, struct c128_bits)

/* ---- transpositions: blocks of 16, whose lines are whole cache lines for 4 bytes ---- */

enum { BLOCK = 16 };

static inline void block_32(uint32_t *to, int64_t to_step, const uint32_t *from, int64_t from_step)
{
#if defined(__AVX2__)
    typedef uint32_t eight __attribute__((vector_size(32), aligned(4), may_alias));

    for (int x = 0; x < BLOCK; x += 8)
        for (int y = 0; y < BLOCK; y += 8) {
            eight r[8], s[8];

            UNROLL for (int i = 0; i < 8; i++) r[i] =
                *(const eight *)(from + (x + i) * from_step + y);
            UNROLL for (int i = 0; i < 8; i += 2)
            {
                s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
                s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
            }
            UNROLL for (int i = 0; i < 8; i += 4)
            {
                r[i] = __builtin_shufflevector(s[i], s[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
                r[i + 1] = __builtin_shufflevector(s[i], s[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
                r[i + 2] = __builtin_shufflevector(s[i + 1], s[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
                r[i + 3] = __builtin_shufflevector(s[i + 1], s[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
            }
            UNROLL for (int i = 0; i < 4; i++)
            {
                *(eight *)(to + (y + i) * to_step + x) =
                    __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
                *(eight *)(to + (y + i + 4) * to_step + x) =
                    __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
            }
        }
#else
    for (int x = 0; x < BLOCK; x += 4)
        for (int y = 0; y < BLOCK; y += 4) {
            const float *s = (const float *)(const void *)(from + x * from_step + y);

            stet_turn_four((float *)(void *)(to + y * to_step + x), to_step, s, s + from_step,
                           s + 2 * from_step, s + 3 * from_step);
        }
#endif
}

#define BLOCK_OF(BITS, T)                                                                          \
    static inline void block_##BITS(T *to, int64_t to_step, const T *from, int64_t from_step)      \
    {                                                                                              \
        T kept[BLOCK][BLOCK];                                                                      \
                                                                                                   \
        for (int x = 0; x < BLOCK; x++)                                                            \
            for (int y = 0; y < BLOCK; y++)                                                        \
                kept[y][x] = from[x * from_step + y];                                              \
        for (int y = 0; y < BLOCK; y++)                                                            \
            memcpy(to + y * to_step, kept[y], sizeof kept[y]);                                     \
    }
BLOCK_OF(8, uint8_t)
BLOCK_OF(16, uint16_t)
BLOCK_OF(64, uint64_t)
BLOCK_OF(128, struct c128_bits)

#define TURN(BITS, T)                                                                              \
    static void turn_##BITS(void *to_, int64_t to_step, const void *from_, int64_t from_step,      \
                            int64_t n0, int64_t n1)                                                \
    {                                                                                              \
        T *to = to_;                                                                               \
        const T *from = from_;                                                                     \
                                                                                                   \
        for (int64_t y = 0; y < n1; y += BLOCK)                                                    \
            for (int64_t x = 0; x < n0; x += BLOCK) {                                              \
                T *d = to + y * to_step + x;                                                       \
                const T *s = from + x * from_step + y;                                             \
                                                                                                   \
                if (n0 - x >= BLOCK && n1 - y >= BLOCK) {                                          \
                    block_##BITS(d, to_step, s, from_step);                                        \
                    continue;                                                                      \
                }                                                                                  \
                for (int64_t j = 0; j < BLOCK && y + j < n1; j++)                                  \
                    for (int64_t i = 0; i < BLOCK && x + i < n0; i++)                              \
                        d[j * to_step + i] = s[i * from_step + j];                                 \
            }                                                                                      \
    }
TURN(8, uint8_t)
TURN(16, uint16_t)
TURN(32, uint32_t)
TURN(64, uint64_t)
TURN(128, struct c128_bits)

const struct stet_move_kernels ISA(stet_moves)[5] = {
    {strided_8, rows_8, turn_8},       {strided_16, rows_16, turn_16},
    {strided_32, rows_32, turn_32},    {strided_64, rows_64, turn_64},
    {strided_128, rows_128, turn_128},
};

/* ---- counting; twin: ref/shape.c ---- */

#define COUNT(S, T, WIDE)                                                                          \
    static void count_##S(void *d_, uint64_t first, size_t n)                                      \
    {                                                                                              \
        T *d = d_;                                                                                 \
                                                                                                   \
        EACH d[i] = (T)((WIDE)first + (WIDE)i);                                                    \
    }
COUNT(8, uint8_t, uint8_t)
COUNT(16, uint16_t, uint16_t)
COUNT(32, uint32_t, uint32_t)
COUNT(64, uint64_t, uint64_t)
COUNT(f32, float, int64_t)
COUNT(f64, double, int64_t)

const stet_count_fn ISA(stet_counts)[STET_DT_COUNT] = {
    [STET_DT_PRED] = count_8,  [STET_DT_S8] = count_8,    [STET_DT_U8] = count_8,
    [STET_DT_S16] = count_16,  [STET_DT_U16] = count_16,  [STET_DT_S32] = count_32,
    [STET_DT_U32] = count_32,  [STET_DT_S64] = count_64,  [STET_DT_U64] = count_64,
    [STET_DT_F32] = count_f32, [STET_DT_F64] = count_f64,
};
