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

/* The kernels of one instruction set; rows of types without computation are NULL. */
struct stet_tile_set {
    const stet_tile_fn *ops[STET_DT_COUNT];
    const stet_tile_fn *convert[STET_DT_COUNT]; /* [from][to] */
    const stet_fold_fn *fold[STET_DT_COUNT];    /* by ADD, MUL, MAX, MIN, AND, OR, XOR */
    /* By type, for those whose form in memory and in registers differ (see tile.h), else NULL:
     * memory to register, register to memory, and the result of an operation to what the type
     * can hold. */
    const stet_tile_fn *load, *store, *round;
    stet_tile_fn f64_to_odd_f32; /* rounded so that rounding it again gives the nearest number */
    /* f32 and f64; `lines` is for operands that are both contiguous along k, with a few rows or
     * columns */
    const stet_gemm_fn *gemm, *gemm_lines;
};

/* The best set this machine can run. */
const struct stet_tile_set *stet_tile_kernels(void);

#endif
