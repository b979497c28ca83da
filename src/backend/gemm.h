/* One matrix product, row-major: c = a * b, where each operand may be transposed.
 *
 * The order in which an element's products are added depends only on the shape of the whole
 * product. */
#ifndef STET_BACKEND_GEMM_H
#define STET_BACKEND_GEMM_H

#include "backend/pool.h"
#include "backend/tensor.h"

struct stet_gemm {
    enum stet_dtype
        type; /* f32 and f64 have kernels/gemm_isa.c; integers and complex plain loops */
    int64_t m, n, k, lda, ldb, ldc;
    bool a_trans, b_trans;
    const void *a, *b;
    void *c;
};

void stet_gemm(const struct stet_gemm *g);
/* The same, in blocks on the pool; gives the same bits. */
void stet_gemm_blocks(const struct stet_gemm *g, struct stet_pool *pool);

#endif
