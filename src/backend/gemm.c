/* OpenBLAS where it has the type; otherwise loops that wrap as XLA's integers do. */
#include "backend/gemm.h"

#include <cblas.h>
#include <limits.h>
#include <pthread.h>

/* Debian's serial OpenBLAS shares its packing buffers among callers: two products at the same time
 * give wrong results. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* BLAS counts in int; what is longer is far beyond memory but for thin matrices. */
static bool fits(const struct stet_gemm *g)
{
    return g->m <= INT_MAX && g->n <= INT_MAX && g->k <= INT_MAX && g->lda <= INT_MAX &&
           g->ldb <= INT_MAX && g->ldc <= INT_MAX;
}

#define PLAIN(T, W)                                                                                \
    do {                                                                                           \
        const T *a = g->a, *b = g->b;                                                              \
        T *c = g->c;                                                                               \
        int64_t am = g->a_trans ? 1 : g->lda, ak = g->a_trans ? g->lda : 1;                        \
        int64_t bk = g->b_trans ? 1 : g->ldb, bn = g->b_trans ? g->ldb : 1;                        \
        for (int64_t i = 0; i < g->m; i++)                                                         \
            for (int64_t j = 0; j < g->n; j++) {                                                   \
                W sum = 0;                                                                         \
                for (int64_t k = 0; k < g->k; k++)                                                 \
                    sum += (W)a[i * am + k * ak] * (W)b[k * bk + j * bn];                          \
                c[i * g->ldc + j] = (T)sum;                                                        \
            }                                                                                      \
    } while (0)

static void plain(const struct stet_gemm *g)
{
    switch (g->type) {
    case STET_DT_S4:
    case STET_DT_S8:
        PLAIN(int8_t, uint32_t);
        break;
    case STET_DT_U4:
    case STET_DT_U8:
        PLAIN(uint8_t, uint32_t);
        break;
    case STET_DT_S16:
        PLAIN(int16_t, uint32_t);
        break;
    case STET_DT_U16:
        PLAIN(uint16_t, uint32_t);
        break;
    case STET_DT_S32:
        PLAIN(int32_t, uint32_t);
        break;
    case STET_DT_U32:
        PLAIN(uint32_t, uint32_t);
        break;
    case STET_DT_S64:
        PLAIN(int64_t, uint64_t);
        break;
    case STET_DT_U64:
        PLAIN(uint64_t, uint64_t);
        break;
    case STET_DT_F32:
        PLAIN(float, float);
        break;
    case STET_DT_F64:
        PLAIN(double, double);
        break;
    default:
        break;
    }
}

static void zero(const struct stet_gemm *g)
{
    size_t width = stet_dtype_bytes(g->type);

    for (int64_t i = 0; i < g->m; i++)
        memset((char *)g->c + (size_t)(i * g->ldc) * width, 0, (size_t)g->n * width);
}

void stet_gemm(const struct stet_gemm *g)
{
    CBLAS_TRANSPOSE ta = g->a_trans ? CblasTrans : CblasNoTrans;
    CBLAS_TRANSPOSE tb = g->b_trans ? CblasTrans : CblasNoTrans;
    int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    int lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
    const float one[2] = {1, 0}, none[2] = {0, 0};
    const double one2[2] = {1, 0}, none2[2] = {0, 0};

    if (g->m == 0 || g->n == 0)
        return;
    if (g->k == 0) {
        zero(g);
        return;
    }
    if (!fits(g) || stet_dtype_is_int(g->type)) {
        plain(g);
        return;
    }
    pthread_mutex_lock(&one_at_a_time);
    switch (g->type) {
    case STET_DT_F32:
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, g->a, lda, g->b, ldb, 0, g->c, ldc);
        break;
    case STET_DT_F64:
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, g->a, lda, g->b, ldb, 0, g->c, ldc);
        break;
    case STET_DT_C64:
        cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, one, g->a, lda, g->b, ldb, none, g->c, ldc);
        break;
    case STET_DT_C128:
        cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, one2, g->a, lda, g->b, ldb, none2, g->c, ldc);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&one_at_a_time);
}
