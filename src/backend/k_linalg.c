/* Cholesky and triangular solve: plain loops. Twin: ref/linalg.c. */
#include <complex.h>
#include <math.h>

#include "backend/params.h"

/* The strict other triangle of the input is not read; that of the result is 0. A matrix that is not
 * positive definite gives NaN, as XLA does. */
#define CHOLESKY(T, CONJ, REAL, SQRT)                                                              \
    do {                                                                                           \
        const T *a = (const T *)bufs[0] + b * n * n;                                               \
        T *l = (T *)bufs[1] + b * n * n;                                                           \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int64_t j = 0; j <= i; j++) {                                                     \
                T sum = m->lower ? a[i * n + j] : CONJ(a[j * n + i]);                              \
                for (int64_t k = 0; k < j; k++)                                                    \
                    sum -= L(i, k) * CONJ(L(j, k));                                                \
                L(i, j) = i == j ? (T)SQRT(REAL(sum)) : sum / L(j, j);                             \
                if (i != j)                                                                        \
                    l[m->lower ? j * n + i : i * n + j] = 0;                                       \
            }                                                                                      \
        if (!m->lower)                                                                             \
            for (int64_t i = 0; i < n * n; i++)                                                    \
                l[i] = CONJ(l[i]);                                                                 \
    } while (0)
#define L(i, j) l[m->lower ? (i) * n + (j) : (j) * n + (i)]
#define SAME(x) (x)

static void k_cholesky(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_linalg *m = params;
    int64_t n = m->n;

    (void)pool;
    for (int64_t b = 0; b < m->batch; b++)
        switch (m->dtype) {
        case STET_DT_F32:
            CHOLESKY(float, SAME, SAME, sqrtf);
            break;
        case STET_DT_F64:
            CHOLESKY(double, SAME, SAME, sqrt);
            break;
        case STET_DT_C64:
            CHOLESKY(float complex, conjf, crealf, sqrtf);
            break;
        default:
            CHOLESKY(double complex, conj, creal, sqrt);
            break;
        }
}
#undef L

/* Solves op(a) x = b or x op(a) = b, with x in place of b. For the right side, rows of x are used
 * as columns, and op(a) is transposed. */
#define SOLVE(T, CONJ)                                                                             \
    do {                                                                                           \
        const T *a = (const T *)bufs[0] + batch * n * n;                                           \
        T *x = (T *)bufs[2] + batch * m->m * m->n;                                                 \
        for (int64_t c = 0; c < cols; c++)                                                         \
            for (int64_t s = 0; s < n; s++) {                                                      \
                int64_t i = forward ? s : n - 1 - s;                                               \
                T sum = X(i, c);                                                                   \
                for (int64_t k = forward ? 0 : i + 1; k < (forward ? i : n); k++) {                \
                    T e = a[flip ? k * n + i : i * n + k];                                         \
                    sum -= (m->conjugate ? CONJ(e) : e) * X(k, c);                                 \
                }                                                                                  \
                if (!m->unit) {                                                                    \
                    T e = a[i * n + i];                                                            \
                    sum /= m->conjugate ? CONJ(e) : e;                                             \
                }                                                                                  \
                X(i, c) = sum;                                                                     \
            }                                                                                      \
    } while (0)
#define X(i, c) x[m->left ? (i) * m->n + (c) : (c) * m->n + (i)]

static void k_triangular_solve(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_linalg *m = params;
    int64_t n = m->left ? m->m : m->n, cols = m->left ? m->n : m->m;
    bool flip = m->transpose == m->left, forward = m->lower != flip;

    (void)pool;
    if (m->batch == 0)
        return;
    if (bufs[1] != bufs[2])
        memcpy(bufs[2], bufs[1], (size_t)(m->batch * m->m * m->n) * stet_dtype_bytes(m->dtype));
    for (int64_t batch = 0; batch < m->batch; batch++)
        switch (m->dtype) {
        case STET_DT_F32:
            SOLVE(float, SAME);
            break;
        case STET_DT_F64:
            SOLVE(double, SAME);
            break;
        case STET_DT_C64:
            SOLVE(float complex, conjf);
            break;
        default:
            SOLVE(double complex, conj);
            break;
        }
}
#undef X

const struct stet_kernel stet_kernel_cholesky = {"cholesky", k_cholesky};
const struct stet_kernel stet_kernel_triangular_solve = {"triangular_solve", k_triangular_solve};
