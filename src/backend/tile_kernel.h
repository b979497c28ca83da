/* The tables of tile kernels: plain loops over at most a few thousand elements, one per operation
 * and element type, compiled once per instruction set.
 *
 * A kernel may write over one of its operands in place, never over a part of one. */
#ifndef STET_BACKEND_TILE_KERNEL_H
#define STET_BACKEND_TILE_KERNEL_H

#include "backend/tensor.h"

enum stet_tile_op {
#define TILE(name, operands) STET_TILE_##name,
#include "backend/tile_ops.def"
#undef TILE
    STET_TILE_OPS
};

typedef void (*stet_tile_fn)(void *d, const void *a, const void *b, const void *c, size_t n);
/* All n elements into one, in a fixed order; n > 0. */
typedef void (*stet_fold_fn)(void *d, const void *a, size_t n);

struct stet_gemm; /* gemm.h */
typedef void (*stet_gemm_fn)(const struct stet_gemm *g);
/* acc[j] = the sum over taps of x[t][j] * w[t][j], which is added to it if `add`. */
typedef void (*stet_channels_fn)(float *acc, const float *const *x, const float *const *w,
                                 int64_t taps, int64_t n, bool add);
struct stet_fft_kernels; /* fft.h */
/* d[i] = first + i */
typedef void (*stet_count_fn)(void *d, uint64_t first, size_t n);

/* Moves of elements of one width. */
struct stet_move_kernels {
    /* n elements that are `stride` apart into a dense run; the same of `rows` rows. */
    void (*strided)(void *d, const void *s, int64_t stride, size_t n);
    void (*rows)(void *d, const void *s, int64_t step, size_t rows, int64_t stride, size_t n);
    /* to[y * to_step + x] = from[x * from_step + y] for x < n0 and y < n1 */
    void (*turn)(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t n0,
                 int64_t n1);
};

/* The kernels of one instruction set; rows of types without computation are NULL. */
struct stet_tile_set {
    const stet_tile_fn *ops[STET_DT_COUNT];
    const stet_tile_fn *convert[STET_DT_COUNT]; /* [from][to] */
    const stet_fold_fn *fold[STET_DT_COUNT];    /* by ADD, MUL, MAX, MIN, AND, OR, XOR */
    /* By ADD, MUL, MAX and MIN, and the logarithm of the number of vectors of 16 f32 at `a`, which
     * are rows of n. n is a power of two and at most 16. Halves of the rows are folded onto each
     * other until n elements are left. Writes 16. */
    const stet_tile_fn (*halves)[5];
    /* By type, for those whose form in memory and in registers differ (see tile.h), else NULL:
     * memory to register, register to memory, and the result of an operation to what the type
     * can hold. */
    const stet_tile_fn *load, *store, *round;
    stet_tile_fn f64_to_odd_f32; /* rounded so that rounding it again gives the nearest number */
    /* f32, f64 and integers of 32 and 64 bits; `lines` is for operands that are both contiguous
     * along k, with a few rows or columns */
    const stet_gemm_fn *gemm, *gemm_lines;
    const stet_gemm_fn *gemm_narrow;
    const stet_channels_fn *channels;
    const struct stet_fft_kernels *const *fft; /* f32 and f64 */
    const struct stet_move_kernels *moves;     /* of 1, 2, 4, 8 and 16 bytes */
    const stet_count_fn *count;                /* of integers, f32 and f64 */
};

static inline const struct stet_move_kernels *stet_tile_moves(const struct stet_tile_set *k,
                                                              size_t bytes)
{
    return &k->moves[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4];
}

/* The best set this machine can run. */
const struct stet_tile_set *stet_tile_kernels(void);

#endif
