/* LU, QR and eigenvalue decompositions, as XLA's custom calls of these names give them: plain
 * loops, row by row. Compared with torch in tests/backend/torch_ops.py. */
#include <math.h>

#include "backend/params.h"

/* Rows are exchanged so that the largest of what is left of a column stands on the diagonal; a
 * column of zeros is left as it is. */
#define LU(T, ABS)                                                                                 \
    do {                                                                                           \
        T *a = (T *)bufs[1] + b * rows * cols;                                                     \
        for (int64_t k = 0; k < least; k++) {                                                      \
            int64_t p = k;                                                                         \
            for (int64_t i = k + 1; i < rows; i++)                                                 \
                p = ABS(a[i * cols + k]) > ABS(a[p * cols + k]) ? i : p;                           \
            pivots[k] = (int32_t)p;                                                                \
            if (p != k) {                                                                          \
                int32_t t = order[k];                                                              \
                order[k] = order[p];                                                               \
                order[p] = t;                                                                      \
                for (int64_t j = 0; j < cols; j++) {                                               \
                    T x = a[k * cols + j];                                                         \
                    a[k * cols + j] = a[p * cols + j];                                             \
                    a[p * cols + j] = x;                                                           \
                }                                                                                  \
            }                                                                                      \
            for (int64_t i = k + 1; i < rows && ABS(a[k * cols + k]) > 0; i++) {                   \
                T f = a[i * cols + k] /= a[k * cols + k];                                          \
                for (int64_t j = k + 1; j < cols; j++)                                             \
                    a[i * cols + j] -= f * a[k * cols + j];                                        \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void k_lu(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_matrix *m = params;
    int64_t rows = m->m, cols = m->n, least = rows < cols ? rows : cols;

    (void)pool;
    memcpy(bufs[1], bufs[0], (size_t)(m->batch * rows * cols) * stet_dtype_bytes(m->dtype));
    for (int64_t b = 0; b < m->batch; b++) {
        int32_t *pivots = (int32_t *)bufs[2] + b * least, *order = (int32_t *)bufs[3] + b * rows;

        for (int64_t i = 0; i < rows; i++)
            order[i] = (int32_t)i;
        if (m->dtype == STET_DT_F32)
            LU(float, fabsf);
        else
            LU(double, fabs);
    }
}

/* Column j of `x` (`wide` columns) through I - tau v v', v = (1, a[k+1..rows, k]). */
#define REFLECT(T, x, wide, j)                                                                     \
    do {                                                                                           \
        T w = (x)[k * (wide) + (j)];                                                               \
        for (int64_t i = k + 1; i < rows; i++)                                                     \
            w += a[i * cols + k] * (x)[i * (wide) + (j)];                                          \
        w *= tau[k];                                                                               \
        (x)[k * (wide) + (j)] -= w;                                                                \
        for (int64_t i = k + 1; i < rows; i++)                                                     \
            (x)[i * (wide) + (j)] -= w * a[i * cols + k];                                          \
    } while (0)

/* R above the diagonal, the reflectors below it, their factors beside it: LAPACK's geqrf. */
#define QR(T, SQRT)                                                                                \
    do {                                                                                           \
        T *a = (T *)bufs[1] + b * rows * cols, *tau = (T *)bufs[2] + b * least;                    \
        for (int64_t k = 0; k < least; k++) {                                                      \
            T alpha = a[k * cols + k], below = 0, beta;                                            \
            for (int64_t i = k + 1; i < rows; i++)                                                 \
                below += a[i * cols + k] * a[i * cols + k];                                        \
            tau[k] = 0;                                                                            \
            if (below == 0)                                                                        \
                continue;                                                                          \
            beta = SQRT(alpha * alpha + below);                                                    \
            beta = alpha < 0 ? beta : -beta;                                                       \
            tau[k] = (beta - alpha) / beta;                                                        \
            for (int64_t i = k + 1; i < rows; i++)                                                 \
                a[i * cols + k] /= alpha - beta;                                                   \
            a[k * cols + k] = beta;                                                                \
            for (int64_t j = k + 1; j < cols; j++)                                                 \
                REFLECT(T, a, cols, j);                                                            \
        }                                                                                          \
    } while (0)

static void k_qr(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_matrix *m = params;
    int64_t rows = m->m, cols = m->n, least = rows < cols ? rows : cols;

    (void)pool;
    memcpy(bufs[1], bufs[0], (size_t)(m->batch * rows * cols) * stet_dtype_bytes(m->dtype));
    for (int64_t b = 0; b < m->batch; b++)
        if (m->dtype == STET_DT_F32)
            QR(float, sqrtf);
        else
            QR(double, sqrt);
}

/* The first columns of the product of the reflectors: LAPACK's orgqr. */
#define PRODUCT(T)                                                                                 \
    do {                                                                                           \
        const T *a = (const T *)bufs[0] + b * rows * cols,                                         \
                *tau = (const T *)bufs[1] + b * m->reflectors;                                     \
        T *q = (T *)bufs[2] + b * rows * cols;                                                     \
        for (int64_t i = 0; i < rows; i++)                                                         \
            for (int64_t j = 0; j < cols; j++)                                                     \
                q[i * cols + j] = i == j;                                                          \
        for (int64_t k = m->reflectors - 1; k >= 0; k--)                                           \
            for (int64_t j = 0; j < cols; j++)                                                     \
                REFLECT(T, q, cols, j);                                                            \
    } while (0)

static void k_reflectors(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_matrix *m = params;
    int64_t rows = m->m, cols = m->n;

    (void)pool;
    for (int64_t b = 0; b < m->batch; b++)
        if (m->dtype == STET_DT_F32)
            PRODUCT(float);
        else
            PRODUCT(double);
}

/* ---- eigenvalues of a symmetric matrix ---- */

/* Turns rows and columns p and q of `a`, and rows of `v`, so that a[p,q] becomes 0. */
static void rotate(double *a, double *v, int64_t n, int64_t p, int64_t q)
{
    double half = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(half * half + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;

    for (int64_t i = 0; i < n; i++) {
        double x = a[i * n + p], y = a[i * n + q];

        a[i * n + p] = c * x - s * y;
        a[i * n + q] = s * x + c * y;
    }
    for (int64_t i = 0; i < n; i++) {
        double x = a[p * n + i], y = a[q * n + i], z = v[p * n + i], w = v[q * n + i];

        a[p * n + i] = c * x - s * y;
        a[q * n + i] = s * x + c * y;
        v[p * n + i] = c * z - s * w;
        v[q * n + i] = s * z + c * w;
    }
}

static void sweep_once(double *a, double *v, int64_t n)
{
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++)
            if (fabs(a[p * n + q]) > 0)
                rotate(a, v, n, p, q);
}

/* Jacobi's sweeps: quadratic once the matrix is nearly diagonal, so few are enough. */
static void diagonalise(double *a, double *v, int64_t n)
{
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, all = 0;

        for (int64_t i = 0; i < n * n; i++) {
            all += a[i] * a[i];
            off += i / n == i % n ? 0 : a[i] * a[i];
        }
        if (off > 1e-30 * all) {
            sweep_once(a, v, n);
            continue;
        }
        for (int64_t i = 0; i < n * n && isnan(all); i++)
            v[i] = NAN;
        return;
    }
}

static double element(const struct stet_matrix *m, const void *from, int64_t at)
{
    return m->dtype == STET_DT_F32 ? (double)((const float *)from)[at] : ((const double *)from)[at];
}

static void set_element(const struct stet_matrix *m, void *to, int64_t at, double value)
{
    if (m->dtype == STET_DT_F32)
        ((float *)to)[at] = (float)value;
    else
        ((double *)to)[at] = value;
}

static void k_eigh(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_matrix *m = params;
    int64_t n = m->n;
    double *a = bufs[3], *v = a + n * n;

    (void)pool;
    for (int64_t b = 0; b < m->batch; b++) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                bool here = m->lower ? j <= i : i <= j;

                a[i * n + j] = element(m, bufs[0], b * n * n + (here ? i * n + j : j * n + i));
                v[i * n + j] = i == j;
            }
        diagonalise(a, v, n);
        for (int64_t k = 0; k < n; k++) {
            int64_t least = k; /* by selection: those before k are out of the way */

            for (int64_t i = k + 1; i < n && m->sort; i++)
                least = a[i * n + i] < a[least * n + least] ? i : least;
            set_element(m, bufs[2], b * n + k, a[least * n + least]);
            for (int64_t i = 0; i < n; i++) {
                double x = v[least * n + i];

                set_element(m, bufs[1], b * n * n + i * n + k, x);
                v[least * n + i] = v[k * n + i];
                v[k * n + i] = x;
            }
            a[least * n + least] = a[k * n + k];
        }
    }
}

const struct stet_kernel stet_kernel_eigh = {"eigh", k_eigh};
const struct stet_kernel stet_kernel_lu = {"lu", k_lu};
const struct stet_kernel stet_kernel_qr = {"qr", k_qr};
const struct stet_kernel stet_kernel_reflectors = {"reflectors", k_reflectors};
