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
STRIDED(8, uint8_t)
STRIDED(16, uint16_t)
STRIDED(32, uint32_t)
STRIDED(64, uint64_t)
STRIDED(128, struct c128_bits)

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
    {strided_8, turn_8},   {strided_16, turn_16},   {strided_32, turn_32},
    {strided_64, turn_64}, {strided_128, turn_128},
};
