/* Reference: linear algebra and Fourier transforms, by their definitions. */
#include <complex.h>
#include <math.h>

#include "backend/ref/ref.h"

static double complex at(const struct stet_ref *a, int64_t row, int64_t col)
{
    struct stet_ref_scalar v = stet_ref_get(a, (uint64_t)(row * a->shape.dims[1] + col));

    return __builtin_complex(v.f, v.im);
}

static void put(struct stet_ref *a, int64_t row, int64_t col, double complex v)
{
    stet_ref_set(a, (uint64_t)(row * a->shape.dims[1] + col),
                 (struct stet_ref_scalar){0, creal(v), cimag(v)});
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

void stet_ref_fourier(struct stet_ref *out, const struct stet_ref *a, uint32_t dims, int sign)
{
    struct stet_shape all;
    uint32_t first = a->shape.rank - dims;
    int64_t k[STET_MAX_RANK], j[STET_MAX_RANK];

    stet_shape_set(&all, STET_DT_S8, a->shape.dims + first, dims);
    for (uint64_t i = 0; i < out->shape.elements; i++) {
        double complex sum = 0;

        stet_ref_index(&out->shape, i, k);
        memcpy(j, k, first * sizeof j[0]);
        for (uint64_t n = 0; n < all.elements; n++) {
            struct stet_ref_scalar x;
            double turns = 0;

            stet_ref_index(&all, n, j + first);
            for (uint32_t d = 0; d < dims; d++)
                turns += (double)(j[first + d] * k[first + d] % all.dims[d]) / (double)all.dims[d];
            x = stet_ref_get(a, stet_ref_at(&a->shape, j));
            sum += __builtin_complex(x.f, x.im) * cexp(sign * 2 * M_PI * I * turns);
        }
        sum /= sign > 0 ? (double)all.elements : 1;
        stet_ref_set(out, i, (struct stet_ref_scalar){0, creal(sum), cimag(sum)});
    }
}

/* ---- factors: how far a product of them is from what it should be ---- */

static double complex product(const struct stet_ref *x, const struct stet_ref *y, int64_t row,
                              int64_t col, int64_t inner)
{
    double complex sum = 0;

    for (int64_t k = 0; k < inner; k++)
        sum += at(x, row, k) * at(y, k, col);
    return sum;
}

/* |conj(q)' q - 1|, the columns of q. */
static double skewness(const struct stet_ref *q)
{
    double worst = 0;

    for (int64_t a = 0; a < q->shape.dims[1]; a++)
        for (int64_t b = 0; b < q->shape.dims[1]; b++) {
            double complex sum = 0;

            for (int64_t k = 0; k < q->shape.dims[0]; k++)
                sum += conj(at(q, k, a)) * at(q, k, b);
            worst = fmax(worst, cabs(sum - (a == b)));
        }
    return worst;
}

double stet_ref_lu_error(const struct stet_ref *a, const struct stet_ref *lu,
                         const struct stet_ref *pivots, const struct stet_ref *order)
{
    int64_t rows = a->shape.dims[0], cols = a->shape.dims[1], least = rows < cols ? rows : cols;
    double worst = 0;

    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < cols; col++) {
            double complex sum = 0;

            for (int64_t k = 0; k <= row && k <= col && k < least; k++)
                sum += (k == row ? 1 : at(lu, row, k)) * at(lu, k, col);
            worst = fmax(worst, cabs(sum - at(a, stet_ref_get(order, (uint64_t)row).i, col)));
            if (col < row && cabs(at(lu, row, col)) > 1.5) /* rows were not chosen by size */
                return INFINITY;
        }
    for (int64_t row = 0; row < rows;
         row++) { /* the swaps, done one after another, are the order */
        int64_t now = row;

        for (int64_t k = least - 1; k >= 0; k--) {
            int64_t p = stet_ref_get(pivots, (uint64_t)k).i;

            now = now == k ? p : now == p ? k : now;
        }
        if (now != stet_ref_get(order, (uint64_t)row).i)
            return INFINITY;
    }
    return worst;
}

double stet_ref_qr_error(const struct stet_ref *a, const struct stet_ref *q,
                         const struct stet_ref *r)
{
    double worst = skewness(q);

    for (int64_t row = 0; row < a->shape.dims[0]; row++)
        for (int64_t col = 0; col < a->shape.dims[1]; col++) {
            double complex sum = 0;

            for (int64_t k = 0; k <= col && k < q->shape.dims[1]; k++) /* r is upper triangular */
                sum += at(q, row, k) * at(r, k, col);
            worst = fmax(worst, cabs(sum - at(a, row, col)));
        }
    return worst;
}

double stet_ref_eigh_error(const struct stet_ref *a, const struct stet_ref *vectors,
                           const struct stet_ref *values)
{
    int64_t n = a->shape.dims[0];
    double worst = skewness(vectors);

    for (int64_t col = 0; col < n; col++) {
        double value = stet_ref_get(values, (uint64_t)col).f;

        if (col && value < stet_ref_get(values, (uint64_t)col - 1).f)
            return INFINITY;
        for (int64_t row = 0; row < n; row++)
            worst =
                fmax(worst, cabs(product(a, vectors, row, col, n) - value * at(vectors, row, col)));
    }
    return worst;
}
