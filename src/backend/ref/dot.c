/* Reference: products of matrices, convolution. */
#include "backend/ref/ref.h"

static void add_product(struct stet_scalar *sum, struct stet_scalar x, struct stet_scalar y)
{
    sum->i = (int64_t)((uint64_t)sum->i + (uint64_t)x.i * (uint64_t)y.i);
    sum->f += x.f * y.f - x.im * y.im;
    sum->im += x.f * y.im + x.im * y.f;
}

void stet_ref_dot(struct stet_ref *out, const struct stet_ref *a, const struct stet_ref *b)
{
    int64_t m = a->shape.dims[0], k = a->shape.dims[1], n = b->shape.dims[1];

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            struct stet_scalar sum = {0, 0, 0};

            for (int64_t x = 0; x < k; x++)
                add_product(&sum, stet_ref_get(a, (uint64_t)(i * k + x)),
                            stet_ref_get(b, (uint64_t)(x * n + j)));
            stet_ref_set(out, (uint64_t)(i * n + j), sum);
        }
}

void stet_ref_conv(struct stet_ref *out, const struct stet_ref *x, const struct stet_ref *w,
                   const struct stet_ref_window *window, int64_t groups)
{
    int64_t per = w->shape.dims[2], outs = out->shape.dims[3] / groups;

    for (uint64_t i = 0; i < out->shape.elements; i++) {
        struct stet_scalar sum = {0, 0, 0};
        int64_t at[STET_MAX_RANK], k[STET_MAX_RANK];

        stet_ref_index(&out->shape, i, at);
        for (uint64_t j = 0; j < w->shape.elements; j++) {
            int64_t from[STET_MAX_RANK] = {at[0]};
            bool inside;

            stet_ref_index(&w->shape, j, k);
            inside = k[3] == at[3];
            from[3] = at[3] / outs * per + k[2];
            for (int d = 0; d < 2; d++) {
                int64_t p = at[d + 1] * window->stride[d] + k[d] * window->window_dilation[d] -
                            window->low[d];

                inside &= p >= 0 && p % window->base_dilation[d] == 0 &&
                          p / window->base_dilation[d] < x->shape.dims[d + 1];
                from[d + 1] = p / window->base_dilation[d];
            }
            if (inside)
                add_product(&sum, stet_ref_get(x, stet_ref_at(&x->shape, from)),
                            stet_ref_get(w, j));
        }
        stet_ref_set(out, i, sum);
    }
}
