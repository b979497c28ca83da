/* The reference: one plain loop per operation family. Tests compare the fast kernels with it
 * (tests/unit/test_backend.c). It is slow and obvious and shares nothing with the kernels. */
#ifndef STET_BACKEND_REF_REF_H
#define STET_BACKEND_REF_REF_H

#include "backend/tile_kernel.h"

/* A dense tensor somewhere in memory. */
struct stet_ref {
    struct stet_shape shape;
    void *data;
};

/* An element: `i` of pred and integers, `f` of floats, `f` and `im` of complex numbers. */
struct stet_ref_scalar {
    int64_t i;
    double f, im;
};

struct stet_ref_scalar stet_ref_get(const struct stet_ref *t, uint64_t i);
void stet_ref_set(struct stet_ref *t, uint64_t i, struct stet_ref_scalar v);
uint64_t stet_ref_at(const struct stet_shape *s, const int64_t *index);
void stet_ref_index(const struct stet_shape *s, uint64_t at, int64_t *index);

/* elementwise.c: `op` (enum stet_tile_op) of elements of type `t`. */
struct stet_ref_scalar stet_ref_op(int op, enum stet_dtype t, const struct stet_ref_scalar *x);
void stet_ref_elementwise(struct stet_ref *out, int op, const struct stet_ref *const *in,
                          uint32_t count);
void stet_ref_convert(struct stet_ref *out, const struct stet_ref *a);
/* As if stored with this many bits of exponent and of fraction; normal numbers. */
void stet_ref_reduce_precision(struct stet_ref *out, const struct stet_ref *a, int exponent,
                               int fraction);
/* ref_special.c: digamma, the inverse of erf, the scaled Bessel function. */
double stet_ref_special(int op, double x);
/* ref_complex.c */
struct stet_ref_scalar stet_ref_complex_op(int op, const struct stet_ref_scalar *x);

/* shape.c: dimension d of the result walks in_dim[d] of `a` (-1: none) from start by step. */
void stet_ref_view(struct stet_ref *out, const struct stet_ref *a, const int64_t *in_dim,
                   const int64_t *step, const int64_t *start);
void stet_ref_pad(struct stet_ref *out, const struct stet_ref *a, struct stet_ref_scalar value,
                  const int64_t *low, const int64_t *inner);
void stet_ref_concatenate(struct stet_ref *out, const struct stet_ref *const *in, uint32_t count,
                          uint32_t dim);

/* reduce.c: by an operation, from an initial value. */
struct stet_ref_window {
    int64_t size[STET_MAX_RANK], stride[STET_MAX_RANK], low[STET_MAX_RANK];
    int64_t base_dilation[STET_MAX_RANK], window_dilation[STET_MAX_RANK];
};
void stet_ref_reduce(struct stet_ref *out, const struct stet_ref *a, struct stet_ref_scalar init,
                     const bool *reduced, int op);
void stet_ref_reduce_window(struct stet_ref *out, const struct stet_ref *a,
                            struct stet_ref_scalar init, const struct stet_ref_window *w, int op);

/* `source` has an element for each window of `a`. It is added to the first element of the window
 * that no other one beats by `select` (GE or LE). */
void stet_ref_select_and_scatter(struct stet_ref *out, const struct stet_ref *a,
                                 const struct stet_ref *source, struct stet_ref_scalar init,
                                 const struct stet_ref_window *w, int select);

/* Some dimensions of a tensor. */
struct stet_ref_dims {
    int64_t v[STET_MAX_RANK];
    uint32_t count;
};

/* dot.c: out[m, n] = a[m, k] b[k, n]; the same over any dimensions, of a then of b. */
void stet_ref_dot(struct stet_ref *out, const struct stet_ref *a, const struct stet_ref *b);
void stet_ref_dot_general(struct stet_ref *out, const struct stet_ref *a, const struct stet_ref *b,
                          const struct stet_ref_dims batch[2], const struct stet_ref_dims over[2]);
/* [n, spatial…, c] by [spatial…, i, o]. */
void stet_ref_conv(struct stet_ref *out, const struct stet_ref *x, const struct stet_ref *w,
                   const struct stet_ref_window *window, int64_t groups, int64_t batch_groups);

/* random.c: bits of state = {key, counter…}; the counters used up are returned. */
uint64_t stet_ref_threefry(struct stet_ref *out, const uint64_t state[2]);
uint64_t stet_ref_philox(struct stet_ref *out, const uint64_t state[3]);

/* index.c. Names are those of StableHLO's gather; scatter has others for the same. */
struct stet_ref_indexing {
    struct stet_ref_dims window;  /* offset_dims: dimensions of the result, or of the updates */
    struct stet_ref_dims dropped; /* collapsed_slice_dims of the operand */
    struct stet_ref_dims batching, index_batching;
    struct stet_ref_dims map; /* start_index_map */
    int64_t vector;           /* index_vector_dim */
};
/* `sizes` of the window in each dimension of the operand. */
void stet_ref_gather(struct stet_ref *out, const struct stet_ref *a, const struct stet_ref *index,
                     const struct stet_ref_indexing *n, const int64_t *sizes);
/* Into `out`, in the order of the updates; op < 0 replaces. */
void stet_ref_scatter(struct stet_ref *out, const struct stet_ref *index,
                      const struct stet_ref *update, const struct stet_ref_indexing *n,
                      const int64_t *sizes, int op);
/* A stable sort. */
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
/* By the definition, along the last `dims` dimensions; sign of the exponent -1 or 1. */
void stet_ref_fourier(struct stet_ref *out, const struct stet_ref *a, uint32_t dims, int sign);
/* The largest difference between a matrix and the product of its factors; infinite if the factors
 * do not have the required form. `order` is the permutation of a's rows from `pivots`. */
double stet_ref_lu_error(const struct stet_ref *a, const struct stet_ref *lu,
                         const struct stet_ref *pivots, const struct stet_ref *order);
double stet_ref_qr_error(const struct stet_ref *a, const struct stet_ref *q,
                         const struct stet_ref *r);
double stet_ref_eigh_error(const struct stet_ref *a, const struct stet_ref *vectors,
                           const struct stet_ref *values);

#endif
