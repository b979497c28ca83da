/* Matrix products of a training step, beside OpenBLAS's on one thread. */
#include "bench.h"

#include "backend/gemm.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    int m, n, k, a_trans, b_trans;
} sizes[] = {{512, 512, 512, 0, 0},
             {512, 384, 128, 0, 0},
             {64, 256, 256, 0, 1},
             {288, 64, 3136, 1, 0},
             {1, 256, 256, 0, 0}};

static float *some(size_t count)
{
    float *v = aligned_alloc(64, (count * sizeof *v + 63) / 64 * 64);

    for (size_t i = 0; i < count; i++)
        v[i] = (float)(rand() % 2001 - 1000) / 1000;
    return v;
}

static void measure(size_t size)
{
    int m = sizes[size].m, n = sizes[size].n, k = sizes[size].k;
    int lda = sizes[size].a_trans ? m : k, ldb = sizes[size].b_trans ? k : n;
    float *a = some((size_t)m * (size_t)k), *b = some((size_t)k * (size_t)n);
    float *c = some((size_t)m * (size_t)n);
    struct stet_gemm g = {.type = STET_DT_F32,
                          .m = m,
                          .n = n,
                          .k = k,
                          .lda = lda,
                          .ldb = ldb,
                          .ldc = n,
                          .a_trans = sizes[size].a_trans,
                          .b_trans = sizes[size].b_trans,
                          .a = a,
                          .b = b,
                          .c = c};
    double ours[31], theirs[31];
    int times = 1 + (int)(2e7 / ((double)m * n * k));
    char name[64];

    for (int i = 0; i < 31; i++) {
        double start = bench_now_ns(), middle;

        for (int j = 0; j < times; j++)
            stet_gemm(&g);
        middle = bench_now_ns();
        for (int j = 0; j < times; j++)
            cblas_sgemm(CblasRowMajor, g.a_trans ? CblasTrans : CblasNoTrans,
                        g.b_trans ? CblasTrans : CblasNoTrans, m, n, k, 1, a, lda, b, ldb, 0, c, n);
        ours[i] = (middle - start) / times / 1e3;
        theirs[i] = (bench_now_ns() - middle) / times / 1e3;
    }
    snprintf(name, sizeof name, "gemm.f32-%dx%dx%d%s%s", m, n, k, g.a_trans ? "-ta" : "",
             g.b_trans ? "-tb" : "");
    bench_print(name, "us", bench_quantile(ours, 31, 0.5), bench_quantile(ours, 31, 0.1),
                bench_quantile(ours, 31, 0.9), "OpenBLAS, one thread",
                bench_quantile(theirs, 31, 0.5), 0);
    free(a), free(b), free(c);
}

int main(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        measure(i);
    return 0;
}
