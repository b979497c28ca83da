/* Reference: rows by index, sorting. */
#include "backend/ref/ref.h"

void stet_ref_take(struct stet_ref *out, const struct stet_ref *a, const struct stet_ref *index)
{
    uint64_t row = a->shape.elements / (uint64_t)a->shape.dims[0];

    for (uint64_t i = 0; i < index->shape.elements; i++) {
        int64_t at = stet_ref_get(index, i).i, most = a->shape.dims[0] - 1;

        at = at < 0 ? 0 : at > most ? most : at;
        for (uint64_t j = 0; j < row; j++)
            stet_ref_set(out, i * row + j, stet_ref_get(a, (uint64_t)at * row + j));
    }
}

void stet_ref_scatter(struct stet_ref *out, const struct stet_ref *index,
                      const struct stet_ref *update, int op)
{
    uint64_t row = out->shape.elements / (uint64_t)out->shape.dims[0];

    for (uint64_t i = 0; i < index->shape.elements; i++) {
        int64_t at = stet_ref_get(index, i).i;

        for (uint64_t j = 0; at >= 0 && at < out->shape.dims[0] && j < row; j++) {
            struct stet_scalar x[3] = {stet_ref_get(out, (uint64_t)at * row + j),
                                       stet_ref_get(update, i * row + j),
                                       {0, 0, 0}};

            stet_ref_set(out, (uint64_t)at * row + j, stet_ref_op(op, out->shape.dtype, x));
        }
    }
}

void stet_ref_order(struct stet_ref *out, const struct stet_ref *a, bool descending)
{
    for (uint64_t i = 0; i < a->shape.elements; i++) {
        uint64_t j = i;

        for (; j > 0; j--) { /* insertion: stable */
            struct stet_scalar before = stet_ref_get(out, j - 1);
            struct stet_scalar x[3] = {
                stet_ref_get(a, i), stet_ref_get(a, (uint64_t)before.i), {0, 0, 0}};

            if (!stet_ref_op(descending ? STET_TILE_GT : STET_TILE_LT, a->shape.dtype, x).i)
                break;
            stet_ref_set(out, j, before);
        }
        stet_ref_set(out, j, (struct stet_scalar){(int64_t)i, 0, 0});
    }
}

void stet_ref_update_slice(struct stet_ref *out, const struct stet_ref *update,
                           const int64_t *start)
{
    for (uint64_t i = 0; i < update->shape.elements; i++) {
        int64_t at[STET_MAX_RANK];

        stet_ref_index(&update->shape, i, at);
        for (uint32_t d = 0; d < out->shape.rank; d++) {
            int64_t most = out->shape.dims[d] - update->shape.dims[d];

            at[d] += start[d] < 0 ? 0 : start[d] > most ? most : start[d];
        }
        stet_ref_set(out, stet_ref_at(&out->shape, at), stet_ref_get(update, i));
    }
}

void stet_ref_sort(struct stet_ref *out, const struct stet_ref *a, bool descending)
{
    for (uint64_t i = 0; i < a->shape.elements; i++) {
        struct stet_scalar v = stet_ref_get(a, i);
        uint64_t j = i;

        for (; j > 0; j--) { /* insertion: stable */
            struct stet_scalar x[3] = {v, stet_ref_get(out, j - 1), {0, 0, 0}};

            if (!stet_ref_op(descending ? STET_TILE_GT : STET_TILE_LT, a->shape.dtype, x).i)
                break;
            stet_ref_set(out, j, x[1]);
        }
        stet_ref_set(out, j, v);
    }
}
