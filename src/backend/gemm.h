/* One matrix product, row-major: c = a * b, each operand as it lies or transposed. */
#ifndef STET_BACKEND_GEMM_H
#define STET_BACKEND_GEMM_H

#include "backend/pool.h"
#include "backend/tensor.h"

struct stet_gemm {
    enum stet_dtype type; /* f32, f64, c64, c128: BLAS; integers: plain loops */
    int64_t m, n, k, lda, ldb, ldc;
    bool a_trans, b_trans;
    const void *a, *b;
    void *c;
};

void stet_gemm(const struct stet_gemm *g);
/* The same, in blocks on the pool. */
void stet_gemm_blocks(const struct stet_gemm *g, struct stet_pool *pool);

#endif
