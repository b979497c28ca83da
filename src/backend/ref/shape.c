/* Reference: moving elements. */
#include "backend/ref/ref.h"

uint64_t stet_ref_at(const struct stet_shape *s, const int64_t *index)
{
    uint64_t at = 0;

    for (uint32_t d = 0; d < s->rank; d++)
        at = at * (uint64_t)s->dims[d] + (uint64_t)index[d];
    return at;
}

void stet_ref_index(const struct stet_shape *s, uint64_t at, int64_t *index)
{
    for (uint32_t d = s->rank; d-- > 0;) {
        index[d] = (int64_t)(at % (uint64_t)s->dims[d]);
        at /= (uint64_t)s->dims[d];
    }
}

void stet_ref_view(struct stet_ref *out, const struct stet_ref *a, const int64_t *in_dim,
                   const int64_t *step, const int64_t *start)
{
    for (uint64_t i = 0; i < out->shape.elements; i++) {
        int64_t to[STET_MAX_RANK], from[STET_MAX_RANK];

        stet_ref_index(&out->shape, i, to);
        memcpy(from, start, a->shape.rank * sizeof from[0]);
        for (uint32_t d = 0; d < out->shape.rank; d++)
            if (in_dim[d] >= 0)
                from[in_dim[d]] += to[d] * step[d];
        stet_ref_set(out, i, stet_ref_get(a, stet_ref_at(&a->shape, from)));
    }
}

void stet_ref_pad(struct stet_ref *out, const struct stet_ref *a, struct stet_ref_scalar value,
                  const int64_t *low, const int64_t *inner)
{
    for (uint64_t i = 0; i < out->shape.elements; i++)
        stet_ref_set(out, i, value);
    for (uint64_t i = 0; i < a->shape.elements; i++) {
        int64_t at[STET_MAX_RANK];
        bool inside = true;

        stet_ref_index(&a->shape, i, at);
        for (uint32_t d = 0; d < a->shape.rank; d++) {
            at[d] = low[d] + at[d] * (inner[d] + 1);
            inside &= at[d] >= 0 && at[d] < out->shape.dims[d];
        }
        if (inside)
            stet_ref_set(out, stet_ref_at(&out->shape, at), stet_ref_get(a, i));
    }
}

void stet_ref_concatenate(struct stet_ref *out, const struct stet_ref *const *in, uint32_t count,
                          uint32_t dim)
{
    int64_t before = 0;

    for (uint32_t p = 0; p < count; p++) {
        for (uint64_t i = 0; i < in[p]->shape.elements; i++) {
            int64_t at[STET_MAX_RANK];

            stet_ref_index(&in[p]->shape, i, at);
            at[dim] += before;
            stet_ref_set(out, stet_ref_at(&out->shape, at), stet_ref_get(in[p], i));
        }
        before += in[p]->shape.dims[dim];
    }
}
