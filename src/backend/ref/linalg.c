/* Reference: linear algebra and Fourier transforms, by their definitions. */
#include <complex.h>
#include <math.h>

#include "backend/ref/ref.h"

static double complex at(const struct stet_ref *a, int64_t row, int64_t col)
{
    struct stet_scalar v = stet_ref_get(a, (uint64_t)(row * a->shape.dims[1] + col));

    return __builtin_complex(v.f, v.im);
}

static void put(struct stet_ref *a, int64_t row, int64_t col, double complex v)
{
    stet_ref_set(a, (uint64_t)(row * a->shape.dims[1] + col),
                 (struct stet_scalar){0, creal(v), cimag(v)});
}

void stet_ref_cholesky(struct stet_ref *out, const struct stet_ref *a, bool lower)
{
    int64_t n = a->shape.dims[0];

    for (int64_t col = 0; col < n; col++) /* the lower factor, a column at a time */
        for (int64_t row = 0; row < n; row++) {
            double complex sum = lower ? at(a, row, col) : conj(at(a, col, row)), value = 0;

            for (int64_t k = 0; k < col; k++)
                sum -= lower ? at(out, row, k) * conj(at(out, col, k))
                             : conj(at(out, k, row)) * at(out, k, col);
            if (row == col)
                value = sqrt(creal(sum));
            else if (row > col)
                value = sum / (lower ? at(out, col, col) : conj(at(out, col, col)));
            if (lower)
                put(out, row, col, value);
            else
                put(out, col, row, conj(value));
        }
}

static double complex element(const struct stet_ref *a, int64_t row, int64_t col,
                              const struct stet_ref_triangle *t)
{
    int64_t r = t->transpose ? col : row, c = t->transpose ? row : col;
    double complex v = r == c && t->unit ? 1 : (t->lower ? r >= c : r <= c) ? at(a, r, c) : 0;

    return t->conjugate ? conj(v) : v;
}

double stet_ref_solved(const struct stet_ref *a, const struct stet_ref *x, const struct stet_ref *b,
                       const struct stet_ref_triangle *t)
{
    double worst = 0;

    for (int64_t row = 0; row < b->shape.dims[0]; row++)
        for (int64_t col = 0; col < b->shape.dims[1]; col++) {
            double complex sum = 0;

            for (int64_t k = 0; k < a->shape.dims[0]; k++)
                sum += t->left ? element(a, row, k, t) * at(x, k, col)
                               : at(x, row, k) * element(a, k, col, t);
            worst = fmax(worst, cabs(sum - at(b, row, col)));
        }
    return worst;
}

void stet_ref_fourier(struct stet_ref *out, const struct stet_ref *a, int sign)
{
    int64_t rows = a->shape.dims[0], n = a->shape.dims[1];

    for (int64_t row = 0; row < rows; row++)
        for (int64_t k = 0; k < out->shape.dims[1]; k++) {
            double complex sum = 0;

            for (int64_t j = 0; j < n; j++)
                sum += at(a, row, j) * cexp(sign * 2 * M_PI * I * (double)(j * k % n) / (double)n);
            put(out, row, k, sign > 0 ? sum / (double)n : sum);
        }
}
