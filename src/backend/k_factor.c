/* LU, QR and eigenvalue decompositions, as XLA's custom calls of these names define them: plain
 * loops, row by row. Twin: ref/linalg.c, which multiplies the factors. */
#include <complex.h>
#include <math.h>

#include "backend/params.h"

#define SELF(x) (x)

/* How LAPACK, and so XLA:CPU, compares complex numbers to find the largest. */
static float size_c64(float complex x)
{
    return fabsf(crealf(x)) + fabsf(cimagf(x));
}

static double size_c128(double complex x)
{
    return fabs(creal(x)) + fabs(cimag(x));
}

#define T    float
#define R    float
#define S    f32
#define ABS  fabsf
#define SQRT sqrtf
#define CONJ SELF
#define REAL SELF
#include "backend/factor_rows.h"

#define T    double
#define R    double
#define S    f64
#define ABS  fabs
#define SQRT sqrt
#define CONJ SELF
#define REAL SELF
#include "backend/factor_rows.h"

#define T    float complex
#define R    float
#define S    c64
#define ABS  size_c64
#define SQRT sqrtf
#define CONJ conjf
#define REAL crealf
#include "backend/factor_rows.h"

#define T    double complex
#define R    double
#define S    c128
#define ABS  size_c128
#define SQRT sqrt
#define CONJ conj
#define REAL creal
#include "backend/factor_rows.h"

/* CALL(suffix, element type) for the matrix's type. */
#define BY_TYPE(m, CALL)                                                                           \
    do {                                                                                           \
        if ((m)->dtype == STET_DT_F32)                                                             \
            CALL(f32, float);                                                                      \
        else if ((m)->dtype == STET_DT_F64)                                                        \
            CALL(f64, double);                                                                     \
        else if ((m)->dtype == STET_DT_C64)                                                        \
            CALL(c64, float complex);                                                              \
        else                                                                                       \
            CALL(c128, double complex);                                                            \
    } while (0)

static void k_lu(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_linalg *m = params;
    int64_t rows = m->m, cols = m->n, least = rows < cols ? rows : cols;

    (void)pool;
    memcpy(bufs[1], bufs[0], (size_t)(m->batch * rows * cols) * stet_dtype_bytes(m->dtype));
    for (int64_t b = 0; b < m->batch; b++) {
#define LU(S, T)                                                                                   \
    lu_##S((T *)bufs[1] + b * rows * cols, rows, cols, (int32_t *)bufs[2] + b * least,             \
           (int32_t *)bufs[3] + b * rows)
        BY_TYPE(m, LU);
    }
}

static void k_qr(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_linalg *m = params;
    int64_t rows = m->m, cols = m->n, least = rows < cols ? rows : cols;

    (void)pool;
    memcpy(bufs[1], bufs[0], (size_t)(m->batch * rows * cols) * stet_dtype_bytes(m->dtype));
    for (int64_t b = 0; b < m->batch; b++) {
#define QR(S, T) qr_##S((T *)bufs[1] + b * rows * cols, rows, cols, (T *)bufs[2] + b * least)
        BY_TYPE(m, QR);
    }
}

static void k_reflectors(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_linalg *m = params;
    int64_t rows = m->m, cols = m->n;

    (void)pool;
    for (int64_t b = 0; b < m->batch; b++) {
#define PRODUCT(S, T)                                                                              \
    reflectors_##S((const T *)bufs[0] + b * rows * cols, (const T *)bufs[1] + b * m->reflectors,   \
                   (T *)bufs[2] + b * rows * cols, rows, cols, m->reflectors)
        BY_TYPE(m, PRODUCT);
    }
}

/* ---- eigenvalues of a Hermitian matrix, in double complex ---- */

/* Turns rows and columns p and q of `a`, and rows of `v`, so that a[p,q] becomes 0: first column q
 * by a phase that makes a[p,q] real, then both as a real matrix would be. */
static void rotate(double complex *a, double complex *v, int64_t n, int64_t p, int64_t q)
{
    double size = cabs(a[p * n + q]);
    double complex phase = a[p * n + q] / size;
    double half = (creal(a[q * n + q]) - creal(a[p * n + p])) / (2 * size);
    double t = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(half * half + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;

    for (int64_t i = 0; i < n; i++) {
        double complex x = a[i * n + p], y = a[i * n + q] * conj(phase);

        a[i * n + p] = c * x - s * y;
        a[i * n + q] = s * x + c * y;
    }
    for (int64_t i = 0; i < n; i++) {
        double complex x = a[p * n + i], y = a[q * n + i] * phase;
        double complex z = v[p * n + i], w = v[q * n + i] * conj(phase);

        a[p * n + i] = c * x - s * y;
        a[q * n + i] = s * x + c * y;
        v[p * n + i] = c * z - s * w;
        v[q * n + i] = s * z + c * w;
    }
}

static void sweep_once(double complex *a, double complex *v, int64_t n)
{
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++)
            if (cabs(a[p * n + q]) > 0)
                rotate(a, v, n, p, q);
}

static double square(double complex x)
{
    return creal(x) * creal(x) + cimag(x) * cimag(x);
}

/* Jacobi's sweeps converge quadratically once the matrix is nearly diagonal, so few are enough. */
static void diagonalise(double complex *a, double complex *v, int64_t n)
{
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, all = 0;

        for (int64_t i = 0; i < n * n; i++) {
            all += square(a[i]);
            off += i / n == i % n ? 0 : square(a[i]);
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

static double complex element(const struct stet_linalg *m, const void *from, int64_t at)
{
#define ELEMENT(S, T) return ((const T *)from)[at]
    BY_TYPE(m, ELEMENT);
}

static void set_element(const struct stet_linalg *m, void *to, int64_t at, double complex value)
{
    switch (m->dtype) {
    case STET_DT_F32:
        ((float *)to)[at] = (float)creal(value);
        break;
    case STET_DT_F64:
        ((double *)to)[at] = creal(value);
        break;
    case STET_DT_C64:
        ((float complex *)to)[at] = (float complex)value;
        break;
    default:
        ((double complex *)to)[at] = value;
        break;
    }
}

static void set_value(const struct stet_linalg *m, void *to, int64_t at, double value)
{
    if (m->dtype == STET_DT_F32 || m->dtype == STET_DT_C64)
        ((float *)to)[at] = (float)value;
    else
        ((double *)to)[at] = value;
}

/* One triangle is read; the diagonal is real. */
static void read_hermitian(const struct stet_linalg *m, const void *from, int64_t b,
                           double complex *a, double complex *v)
{
    int64_t n = m->n;

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            bool here = m->lower ? j <= i : i <= j;
            double complex x = element(m, from, b * n * n + (here ? i * n + j : j * n + i));

            a[i * n + j] = i == j ? creal(x) : here ? x : conj(x);
            v[i * n + j] = i == j;
        }
}

static void k_eigh(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_linalg *m = params;
    int64_t n = m->n;
    double complex *a = bufs[3], *v = a + n * n;

    (void)pool;
    for (int64_t b = 0; b < m->batch; b++) {
        read_hermitian(m, bufs[0], b, a, v);
        diagonalise(a, v, n);
        for (int64_t k = 0; k < n; k++) {
            int64_t least = k; /* by selection: those before k are out of the way */

            for (int64_t i = k + 1; i < n && m->sort; i++)
                least = creal(a[i * n + i]) < creal(a[least * n + least]) ? i : least;
            set_value(m, bufs[2], b * n + k, creal(a[least * n + least]));
            for (int64_t i = 0; i < n; i++) {
                double complex x = v[least * n + i];

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
