/* Reference: folds, over dimensions and over windows. Half-width floats are rounded once, at the
 * end, as the kernels do. */
#include "backend/ref/ref.h"

void stet_ref_reduce(struct stet_ref *out, const struct stet_ref *a, struct stet_ref_scalar init,
                     const bool *reduced, int op)
{
    for (uint64_t i = 0; i < out->shape.elements; i++) {
        struct stet_ref_scalar x[3] = {init, {0, 0, 0}, {0, 0, 0}};
        int64_t want[STET_MAX_RANK], at[STET_MAX_RANK];

        stet_ref_index(&out->shape, i, want);
        for (uint64_t j = 0; j < a->shape.elements; j++) {
            bool mine = true;
            uint32_t n = 0;

            stet_ref_index(&a->shape, j, at);
            for (uint32_t d = 0; d < a->shape.rank; d++)
                mine &= reduced[d] || at[d] == want[n++];
            x[1] = stet_ref_get(a, j);
            if (mine)
                x[0] = stet_ref_op(op, a->shape.dtype, x);
        }
        stet_ref_set(out, i, x[0]);
    }
}

void stet_ref_reduce_window(struct stet_ref *out, const struct stet_ref *a,
                            struct stet_ref_scalar init, const struct stet_ref_window *w, int op)
{
    struct stet_shape taps;

    stet_shape_set(&taps, STET_DT_S8, w->size, a->shape.rank);
    for (uint64_t i = 0; i < out->shape.elements; i++) {
        struct stet_ref_scalar x[3] = {init, {0, 0, 0}, {0, 0, 0}};
        int64_t at[STET_MAX_RANK], tap[STET_MAX_RANK], from[STET_MAX_RANK];

        stet_ref_index(&out->shape, i, at);
        for (uint64_t k = 0; k < taps.elements; k++) {
            bool inside = true;

            stet_ref_index(&taps, k, tap);
            for (uint32_t d = 0; d < a->shape.rank; d++) {
                int64_t p = at[d] * w->stride[d] + tap[d] * w->window_dilation[d] - w->low[d];

                inside &= p >= 0 && p % w->base_dilation[d] == 0 &&
                          p / w->base_dilation[d] < a->shape.dims[d];
                from[d] = p / w->base_dilation[d];
            }
            if (!inside)
                continue;
            x[1] = stet_ref_get(a, stet_ref_at(&a->shape, from));
            x[0] = stet_ref_op(op, a->shape.dtype, x);
        }
        stet_ref_set(out, i, x[0]);
    }
}

void stet_ref_select_and_scatter(struct stet_ref *out, const struct stet_ref *a,
                                 const struct stet_ref *source, struct stet_ref_scalar init,
                                 const struct stet_ref_window *w, int select)
{
    struct stet_shape taps;

    stet_shape_set(&taps, STET_DT_S8, w->size, a->shape.rank);
    for (uint64_t i = 0; i < out->shape.elements; i++)
        stet_ref_set(out, i, init);
    for (uint64_t i = 0; i < source->shape.elements; i++) {
        int64_t at[STET_MAX_RANK], tap[STET_MAX_RANK], from[STET_MAX_RANK], best = -1;
        struct stet_ref_scalar x[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};

        stet_ref_index(&source->shape, i, at);
        for (uint64_t k = 0; k < taps.elements; k++) {
            bool inside = true;

            stet_ref_index(&taps, k, tap);
            for (uint32_t d = 0; d < a->shape.rank; d++) {
                from[d] = at[d] * w->stride[d] + tap[d] - w->low[d];
                inside &= from[d] >= 0 && from[d] < a->shape.dims[d];
            }
            if (!inside)
                continue;
            x[1] = stet_ref_get(a, stet_ref_at(&a->shape, from));
            if (best < 0 || !stet_ref_op(select, a->shape.dtype, x).i) {
                best = (int64_t)stet_ref_at(&a->shape, from);
                x[0] = x[1];
            }
        }
        if (best >= 0) {
            struct stet_ref_scalar y[3] = {
                stet_ref_get(out, (uint64_t)best), stet_ref_get(source, i), {0, 0, 0}};

            stet_ref_set(out, (uint64_t)best, stet_ref_op(STET_TILE_ADD, out->shape.dtype, y));
        }
    }
}
