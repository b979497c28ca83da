/* Cholesky, triangular solve, Fourier transforms: plain loops in double complex or the matrix's own
 * type. Twin: ref/linalg.c. */
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

/* ---- Fourier transforms ---- */

static int64_t smallest_factor(int64_t n)
{
    for (int64_t f = 2; f * f <= n; f++)
        if (n % f == 0)
            return f;
    return n;
}

/* x of length n, stride `step`, into y; recursion on the smallest prime factor. `sign` of the
 * exponent. */
static void transform(const double complex *x, double complex *y, int64_t n, int64_t step, int sign,
                      double complex *temp)
{
    int64_t f, m;

    if (n == 1) {
        y[0] = x[0];
        return;
    }
    f = smallest_factor(n);
    m = n / f;
    for (int64_t r = 0; r < f; r++)
        transform(x + r * step, y + r * m, m, step * f, sign, temp);
    for (int64_t q = 0; q < m; q++) {
        for (int64_t k = 0; k < f; k++) {
            double complex sum = 0;

            for (int64_t r = 0; r < f; r++) {
                int64_t turns = r * (q + k * m) % n;

                sum += y[r * m + q] * cexp(sign * 2 * M_PI * I * (double)turns / (double)n);
            }
            temp[k] = sum;
        }
        for (int64_t k = 0; k < f; k++)
            y[q + k * m] = temp[k]; /* the places read for this q, and no other */
    }
}

static double complex read_at(const void *p, enum stet_dtype t, int64_t i)
{
    switch (t) {
    case STET_DT_F32:
        return ((const float *)p)[i];
    case STET_DT_F64:
        return ((const double *)p)[i];
    case STET_DT_C64:
        return ((const float complex *)p)[i];
    default:
        return ((const double complex *)p)[i];
    }
}

static void write_at(void *p, enum stet_dtype t, int64_t i, double complex v)
{
    switch (t) {
    case STET_DT_F32:
        ((float *)p)[i] = (float)creal(v);
        break;
    case STET_DT_F64:
        ((double *)p)[i] = creal(v);
        break;
    case STET_DT_C64:
        ((float complex *)p)[i] = (float complex)v;
        break;
    default:
        ((double complex *)p)[i] = v;
        break;
    }
}

/* The missing half of a spectrum is the conjugate of the mirrored one. */
static double complex mirrored(const struct stet_fft *f, const void *in, int64_t line, int64_t i)
{
    int64_t at[3] = {0}, rest = i, index = 0;
    bool flip;

    for (uint32_t d = f->rank; d-- > 0;) {
        at[d] = rest % f->dims[d];
        rest /= f->dims[d];
    }
    flip = at[f->rank - 1] >= f->in_last;
    for (uint32_t d = 0; d < f->rank; d++) {
        int64_t x = flip && at[d] ? f->dims[d] - at[d] : at[d];

        index = index * (d + 1 == f->rank ? f->in_last : f->dims[d]) + x;
    }
    index += line * (f->size / f->dims[f->rank - 1] * f->in_last);
    return flip ? conj(read_at(in, f->in, index)) : read_at(in, f->in, index);
}

static void along(const struct stet_fft *f, double complex *x, uint32_t dim, int sign,
                  double complex *work)
{
    int64_t n = f->dims[dim], inner = 1;

    for (uint32_t d = dim + 1; d < f->rank; d++)
        inner *= f->dims[d];
    for (int64_t i = 0; i < f->size / n; i++) {
        double complex *base = x + i / inner * inner * n + i % inner;

        for (int64_t k = 0; k < n; k++)
            work[k] = base[k * inner];
        transform(work, work + n, n, 1, sign, work + 2 * n);
        for (int64_t k = 0; k < n; k++)
            base[k * inner] = work[n + k];
    }
}

static void k_fft(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_fft *f = params;
    double complex *x = bufs[2];
    bool inverse = f->kind == 1 || f->kind == 3;
    int64_t last = f->dims[f->rank - 1];

    (void)pool;
    for (int64_t line = 0; line < f->outer; line++) {
        for (int64_t i = 0; i < f->size; i++)
            x[i] = f->kind == 3 ? mirrored(f, bufs[0], line, i)
                                : read_at(bufs[0], f->in, line * f->size + i);
        for (uint32_t d = 0; d < f->rank; d++)
            along(f, x, d, inverse ? 1 : -1, x + f->size);
        for (int64_t i = 0; i < f->size; i++) {
            int64_t col = i % last, row = i / last;

            if (col < f->out_last)
                write_at(bufs[1], f->out, (line * (f->size / last) + row) * f->out_last + col,
                         inverse ? x[i] / (double)f->size : x[i]);
        }
    }
}

const struct stet_kernel stet_kernel_cholesky = {"cholesky", k_cholesky};
const struct stet_kernel stet_kernel_triangular_solve = {"triangular_solve", k_triangular_solve};
const struct stet_kernel stet_kernel_fft = {"fft", k_fft};
