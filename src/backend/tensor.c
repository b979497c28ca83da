/* Element types by table, and sizes with overflow checks. */
#include "backend/tensor.h"

#include <stdio.h>

static const struct {
    const char *name;
    size_t bytes;
    int number;
} dtypes[STET_DT_COUNT] = {
#define DTYPE(name, bytes, hlo, number) [STET_DT_##name] = {hlo, bytes, number},
    STET_DTYPES(DTYPE)
#undef DTYPE
};

size_t stet_dtype_bytes(enum stet_dtype t)
{
    return t < STET_DT_COUNT ? dtypes[t].bytes : 0;
}

const char *stet_dtype_name(enum stet_dtype t)
{
    return t > STET_DT_INVALID && t < STET_DT_COUNT ? dtypes[t].name : "invalid";
}

int stet_dtype_number(enum stet_dtype t)
{
    return t < STET_DT_COUNT ? dtypes[t].number : 0;
}

bool stet_shape_set(struct stet_shape *s, enum stet_dtype t, const int64_t *dims, uint32_t rank)
{
    uint64_t limit = (uint64_t)1 << 47, nonzero = 1;
    bool empty = false;

    if (rank > STET_MAX_RANK)
        return false;
    *s = (struct stet_shape){.dtype = t, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return false;
        s->dims[i] = dims[i];
        empty |= dims[i] == 0;
        /* zeros aside, so that strides of an empty tensor cannot overflow either */
        if (dims[i] && __builtin_mul_overflow(nonzero, (uint64_t)dims[i], &nonzero))
            return false;
        if (nonzero > limit)
            return false;
    }
    s->elements = empty ? 0 : nonzero;
    s->bytes = s->elements * dtypes[t].bytes;
    return nonzero * (dtypes[t].bytes ? dtypes[t].bytes : 1) <= limit;
}

bool stet_shape_same_dims(const struct stet_shape *a, const struct stet_shape *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0;
}

bool stet_shape_eq(const struct stet_shape *a, const struct stet_shape *b)
{
    return a->dtype == b->dtype && stet_shape_same_dims(a, b);
}

struct stet_shape_text stet_shape_text(const struct stet_shape *s)
{
    struct stet_shape_text t;
    size_t at = (size_t)snprintf(t.text, sizeof t.text, "%s[", stet_dtype_name(s->dtype));

    for (uint32_t i = 0; i < s->rank && at < sizeof t.text - 24; i++)
        at += (size_t)snprintf(t.text + at, sizeof t.text - at, i ? ",%lld" : "%lld",
                               (long long)s->dims[i]);
    snprintf(t.text + at, sizeof t.text - at, "]");
    return t;
}
