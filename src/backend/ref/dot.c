/* Reference: products of tensors, convolution. */
#include "backend/ref/ref.h"

static void add_product(struct stet_ref_scalar *sum, struct stet_ref_scalar x,
                        struct stet_ref_scalar y)
{
    sum->i = (int64_t)((uint64_t)sum->i + (uint64_t)x.i * (uint64_t)y.i);
    sum->f += x.f * y.f - x.im * y.im;
    sum->im += x.f * y.im + x.im * y.f;
}

static bool listed(const struct stet_ref_dims *l, uint32_t d)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->v[i] == d)
            return true;
    return false;
}

/* The index of an operand's element: `at` in its batch dimensions, then (from `*used` on) in those
 * that are neither batch nor contracting, `k` in the contracting ones. */
static uint64_t element(const struct stet_ref *a, const struct stet_ref_dims *batch,
                        const struct stet_ref_dims *over, const int64_t *at, uint32_t *used,
                        const int64_t *k)
{
    int64_t index[STET_MAX_RANK];

    for (uint32_t i = 0; i < batch->count; i++)
        index[batch->v[i]] = at[i];
    for (uint32_t i = 0; i < over->count; i++)
        index[over->v[i]] = k[i];
    for (uint32_t d = 0; d < a->shape.rank; d++)
        if (!listed(batch, d) && !listed(over, d))
            index[d] = at[(*used)++];
    return stet_ref_at(&a->shape, index);
}

void stet_ref_dot_general(struct stet_ref *out, const struct stet_ref *a, const struct stet_ref *b,
                          const struct stet_ref_dims batch[2], const struct stet_ref_dims over[2])
{
    struct stet_shape sum_over;
    int64_t dims[STET_MAX_RANK], at[STET_MAX_RANK], k[STET_MAX_RANK];

    for (uint32_t i = 0; i < over[0].count; i++)
        dims[i] = a->shape.dims[over[0].v[i]];
    stet_shape_set(&sum_over, STET_DT_S8, dims, over[0].count);
    for (uint64_t i = 0; i < out->shape.elements; i++) {
        struct stet_ref_scalar sum = {0, 0, 0};

        stet_ref_index(&out->shape, i, at);
        for (uint64_t j = 0; j < sum_over.elements; j++) {
            uint32_t used = batch[0].count;
            uint64_t x, y;

            stet_ref_index(&sum_over, j, k);
            x = element(a, &batch[0], &over[0], at, &used, k);
            y = element(b, &batch[1], &over[1], at, &used, k);
            add_product(&sum, stet_ref_get(a, x), stet_ref_get(b, y));
        }
        stet_ref_set(out, i, sum);
    }
}

void stet_ref_dot(struct stet_ref *out, const struct stet_ref *a, const struct stet_ref *b)
{
    int64_t m = a->shape.dims[0], k = a->shape.dims[1], n = b->shape.dims[1];

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            struct stet_ref_scalar sum = {0, 0, 0};

            for (int64_t x = 0; x < k; x++)
                add_product(&sum, stet_ref_get(a, (uint64_t)(i * k + x)),
                            stet_ref_get(b, (uint64_t)(x * n + j)));
            stet_ref_set(out, (uint64_t)(i * n + j), sum);
        }
}

void stet_ref_conv(struct stet_ref *out, const struct stet_ref *x, const struct stet_ref *w,
                   const struct stet_ref_window *window, int64_t groups, int64_t batch_groups)
{
    uint32_t c = out->shape.rank - 1; /* channels are last, in features before them in w */
    int64_t per = w->shape.dims[c - 1], outs = out->shape.dims[c] / groups / batch_groups;

    for (uint64_t i = 0; i < out->shape.elements; i++) {
        struct stet_ref_scalar sum = {0, 0, 0};
        int64_t at[STET_MAX_RANK], k[STET_MAX_RANK], from[STET_MAX_RANK], group;

        stet_ref_index(&out->shape, i, at);
        group = at[c] / outs; /* of the features, or of the batch */
        for (uint64_t j = 0; j < w->shape.elements; j++) {
            bool inside;

            stet_ref_index(&w->shape, j, k);
            inside = k[c] == at[c];
            from[0] = batch_groups > 1 ? group * out->shape.dims[0] + at[0] : at[0];
            from[c] = (groups > 1 ? group * per : 0) + k[c - 1];
            for (uint32_t d = 0; d + 1 < c; d++) {
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
