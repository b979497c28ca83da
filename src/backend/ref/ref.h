/* The reference: one plain loop per operation family, the truth that the fast kernels are compared
 * with (tests/unit/test_backend.c). Slow, obvious, sharing nothing with the kernels. */
#ifndef STET_BACKEND_REF_REF_H
#define STET_BACKEND_REF_REF_H

#include "backend/tile_kernel.h"

/* A dense tensor somewhere in memory. */
struct stet_ref {
    struct stet_shape shape;
    void *data;
};

/* An element: `i` of pred and integers, `f` of floats, `f` and `im` of complex numbers. */
struct stet_scalar {
    int64_t i;
    double f, im;
};

struct stet_scalar stet_ref_get(const struct stet_ref *t, uint64_t i);
void stet_ref_set(struct stet_ref *t, uint64_t i, struct stet_scalar v);
uint64_t stet_ref_at(const struct stet_shape *s, const int64_t *index);
void stet_ref_index(const struct stet_shape *s, uint64_t at, int64_t *index);

/* elementwise.c: `op` (enum stet_tile_op) of elements of type `t`. */
struct stet_scalar stet_ref_op(int op, enum stet_dtype t, const struct stet_scalar *x);
void stet_ref_elementwise(struct stet_ref *out, int op, const struct stet_ref *const *in,
                          uint32_t count);
void stet_ref_convert(struct stet_ref *out, const struct stet_ref *a);
/* As if stored with so many bits of exponent and of fraction; normal numbers. */
void stet_ref_reduce_precision(struct stet_ref *out, const struct stet_ref *a, int exponent,
                               int fraction);
/* complex.c */
struct stet_scalar stet_ref_complex_op(int op, const struct stet_scalar *x);

/* shape.c: dimension d of the result walks in_dim[d] of `a` (-1: none) from start by step. */
void stet_ref_view(struct stet_ref *out, const struct stet_ref *a, const int64_t *in_dim,
                   const int64_t *step, const int64_t *start);
void stet_ref_pad(struct stet_ref *out, const struct stet_ref *a, struct stet_scalar value,
                  const int64_t *low, const int64_t *inner);
void stet_ref_concatenate(struct stet_ref *out, const struct stet_ref *const *in, uint32_t count,
                          uint32_t dim);

/* reduce.c: by an operation, from an initial value. */
struct stet_ref_window {
    int64_t size[STET_MAX_RANK], stride[STET_MAX_RANK], low[STET_MAX_RANK];
    int64_t base_dilation[STET_MAX_RANK], window_dilation[STET_MAX_RANK];
};
void stet_ref_reduce(struct stet_ref *out, const struct stet_ref *a, struct stet_scalar init,
                     const bool *reduced, int op);
void stet_ref_reduce_window(struct stet_ref *out, const struct stet_ref *a, struct stet_scalar init,
                            const struct stet_ref_window *w, int op);

/* `source` has an element for each window of `a`: it goes to the first one of the window that no
 * other one beats by `select` (GE or LE), added to what is there. */
void stet_ref_select_and_scatter(struct stet_ref *out, const struct stet_ref *a,
                                 const struct stet_ref *source, struct stet_scalar init,
                                 const struct stet_ref_window *w, int select);

/* dot.c: out[m, n] = a[m, k] b[k, n]; NHWC by HWIO. */
void stet_ref_dot(struct stet_ref *out, const struct stet_ref *a, const struct stet_ref *b);
void stet_ref_conv(struct stet_ref *out, const struct stet_ref *x, const struct stet_ref *w,
                   const struct stet_ref_window *window, int64_t groups);

/* index.c: rows by clamped index; rows combined into rows, those outside skipped; a stable sort. */
void stet_ref_take(struct stet_ref *out, const struct stet_ref *a, const struct stet_ref *index);
void stet_ref_scatter(struct stet_ref *out, const struct stet_ref *index,
                      const struct stet_ref *update, int op);
void stet_ref_sort(struct stet_ref *out, const struct stet_ref *a, bool descending);
/* The order of a stable sort: s32. */
void stet_ref_order(struct stet_ref *out, const struct stet_ref *a, bool descending);
/* `update` over `out`, at a start that is clamped so that it fits. */
void stet_ref_update_slice(struct stet_ref *out, const struct stet_ref *update,
                           const int64_t *start);

/* linalg.c: square matrices [n, n], each in double complex. */
void stet_ref_cholesky(struct stet_ref *out, const struct stet_ref *a, bool lower);
/* How far op(a) x (or x op(a)) is from b, where op(a) has one triangle: the largest difference. */
struct stet_ref_triangle {
    bool left, lower, unit, transpose, conjugate;
};
double stet_ref_solved(const struct stet_ref *a, const struct stet_ref *x, const struct stet_ref *b,
                       const struct stet_ref_triangle *t);
/* By the definition, along the last dimension; sign of the exponent -1 or 1. */
void stet_ref_fourier(struct stet_ref *out, const struct stet_ref *a, int sign);

#endif
