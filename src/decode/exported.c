/* The output of jax.export: a FlatBuffer around the bytecode. It looks only for the bytecode, in
 * any field of the root table, so that the schema may grow. */
#include "decode/decode.h"

static uint64_t number_at(struct stet_view v, uint64_t at, unsigned size)
{
    uint64_t n = 0;

    if (at > v.len || v.len - at < size)
        return UINT32_MAX; /* as an offset: past any end */
    for (unsigned i = size; i-- > 0;)
        n = n << 8 | (unsigned char)v.ptr[at + i];
    return n;
}

/* The vector of bytes that the field at `at` refers to, if that is bytecode. */
static struct stet_view bytecode_at(struct stet_view v, uint64_t at)
{
    uint64_t from = at + number_at(v, at, 4), n = number_at(v, from, 4);
    struct stet_view bytes = {0};

    if (from + 4 <= v.len && n <= v.len - (from + 4))
        bytes = stet_view_of(v.ptr + from + 4, (size_t)n);
    return stet_view_starts(bytes, "ML\xefR") ? bytes : (struct stet_view){0};
}

struct stet_view stet_decode_exported(struct stet_view v)
{
    uint64_t root = number_at(v, 0, 4), table, size;

    table = root - (uint64_t)(int32_t)number_at(v, root, 4); /* a sum that wraps is past the end */
    size = number_at(v, table, 2);
    for (uint64_t i = 4; v.len < UINT32_MAX && size < UINT16_MAX && i + 2 <= size; i += 2) {
        uint64_t field = number_at(v, table + i, 2);
        struct stet_view found = {0};

        if (field && field != UINT32_MAX)
            found = bytecode_at(v, root + field);
        if (found.len)
            return found;
    }
    return (struct stet_view){0};
}
