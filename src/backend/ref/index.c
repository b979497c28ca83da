/* Reference: gather and scatter by StableHLO's definitions, sorting. */
#include "backend/ref/ref.h"

static int find(const struct stet_ref_dims *l, int64_t d)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->v[i] == d)
            return (int)i;
    return -1;
}

/* The position in the operand of the element at `at` of the result (or the update): `start` from
 * the index vector, `offset` in the window, both without the batching dimensions. */
static void place(const struct stet_ref_indexing *n, uint32_t rank, const struct stet_ref *index,
                  const int64_t *at, uint32_t at_rank, int64_t *start, int64_t *offset)
{
    int64_t batch[STET_MAX_RANK] = {0}, window[STET_MAX_RANK] = {0}, vector[STET_MAX_RANK] = {0};
    uint32_t batches = 0, windows = 0, w = 0;

    for (uint32_t d = 0; d < at_rank; d++)
        if (find(&n->window, d) >= 0)
            window[windows++] = at[d];
        else
            batch[batches++] = at[d];
    for (uint32_t d = 0, b = 0; d < index->shape.rank; d++)
        if (d != n->vector)
            vector[d] = batch[b++];
    for (uint32_t d = 0; d < rank; d++) {
        int k = find(&n->map, d), b = find(&n->batching, d);

        start[d] = offset[d] = 0;
        if (k >= 0) {
            if (n->vector < index->shape.rank)
                vector[n->vector] = k;
            start[d] = stet_ref_get(index, stet_ref_at(&index->shape, vector)).i;
        } else if (b >= 0) {
            start[d] = vector[n->index_batching.v[b]];
        }
        if (find(&n->dropped, d) < 0 && b < 0)
            offset[d] = window[w++];
    }
}

void stet_ref_gather(struct stet_ref *out, const struct stet_ref *a, const struct stet_ref *index,
                     const struct stet_ref_indexing *n, const int64_t *sizes)
{
    for (uint64_t i = 0; i < out->shape.elements; i++) {
        int64_t at[STET_MAX_RANK], start[STET_MAX_RANK], offset[STET_MAX_RANK];

        stet_ref_index(&out->shape, i, at);
        place(n, a->shape.rank, index, at, out->shape.rank, start, offset);
        for (uint32_t d = 0; d < a->shape.rank; d++) { /* the whole window is kept inside */
            int64_t most = a->shape.dims[d] - sizes[d];

            at[d] = (start[d] < 0 ? 0 : start[d] > most ? most : start[d]) + offset[d];
        }
        stet_ref_set(out, i, stet_ref_get(a, stet_ref_at(&a->shape, at)));
    }
}

void stet_ref_scatter(struct stet_ref *out, const struct stet_ref *index,
                      const struct stet_ref *update, const struct stet_ref_indexing *n,
                      const int64_t *sizes, int op)
{
    for (uint64_t i = 0; i < update->shape.elements; i++) {
        int64_t at[STET_MAX_RANK], start[STET_MAX_RANK], offset[STET_MAX_RANK];
        bool inside = true;
        uint64_t to;

        stet_ref_index(&update->shape, i, at);
        place(n, out->shape.rank, index, at, update->shape.rank, start, offset);
        for (uint32_t d = 0; d < out->shape.rank; d++) { /* a window is written whole or not */
            inside &= start[d] >= 0 && start[d] <= out->shape.dims[d] - sizes[d];
            at[d] = start[d] + offset[d];
        }
        if (!inside)
            continue;
        to = stet_ref_at(&out->shape, at);
        {
            struct stet_ref_scalar x[3] = {
                stet_ref_get(out, to), stet_ref_get(update, i), {0, 0, 0}};

            stet_ref_set(out, to, op < 0 ? x[1] : stet_ref_op(op, out->shape.dtype, x));
        }
    }
}

void stet_ref_order(struct stet_ref *out, const struct stet_ref *a, bool descending)
{
    for (uint64_t i = 0; i < a->shape.elements; i++) {
        uint64_t j = i;

        for (; j > 0; j--) { /* insertion: stable */
            struct stet_ref_scalar before = stet_ref_get(out, j - 1);
            struct stet_ref_scalar x[3] = {
                stet_ref_get(a, i), stet_ref_get(a, (uint64_t)before.i), {0, 0, 0}};

            if (!stet_ref_op(descending ? STET_TILE_GT : STET_TILE_LT, a->shape.dtype, x).i)
                break;
            stet_ref_set(out, j, before);
        }
        stet_ref_set(out, j, (struct stet_ref_scalar){(int64_t)i, 0, 0});
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
        struct stet_ref_scalar v = stet_ref_get(a, i);
        uint64_t j = i;

        for (; j > 0; j--) { /* insertion: stable */
            struct stet_ref_scalar x[3] = {v, stet_ref_get(out, j - 1), {0, 0, 0}};

            if (!stet_ref_op(descending ? STET_TILE_GT : STET_TILE_LT, a->shape.dtype, x).i)
                break;
            stet_ref_set(out, j, x[1]);
        }
        stet_ref_set(out, j, v);
    }
}
