/* Lowering: elements of 2 and 4 bits, where the arithmetic of the 8-bit type that holds them is not
 * enough. */
#include "backend/lower.h"

const void *stet_lower_subbyte_constant(struct stet_lower *l, enum stet_dtype t,
                                        const void *elements, size_t bytes)
{
    unsigned char *copy;
    unsigned mask;

    if (!stet_dtype_is_subbyte(t))
        return elements;
    mask = (1u << stet_dtype_bits(t)) - 1;
    copy = stet_arena_raw(l->arena, bytes, 1);
    for (size_t i = 0; copy && i < bytes; i++)
        copy[i] = (unsigned char)(((const unsigned char *)elements)[i] & mask);
    return copy;
}

/* a op number; NULL when out of memory, with the error set. */
static struct stet_gval *with(struct stet_lower *l, int op, struct stet_gval *a, double number)
{
    struct stet_gval *b = a ? stet_graph_number(l, &a->shape, number) : NULL;

    return b ? stet_graph_ew(l, op, a->shape.dtype, a, b, NULL) : NULL;
}

/* In s8. A shift by as many bits as the type has, or more, or by a negative amount, gives the same
 * as one by 8. */
struct stet_gval *stet_lower_subbyte_bits(struct stet_lower *l, int op, struct stet_gval *a,
                                          struct stet_gval *b)
{
    enum stet_dtype t = a->shape.dtype, sign = stet_dtype_bits(t) == 2 ? STET_DT_S2 : STET_DT_S4;
    struct stet_gval *v = stet_graph_convert(l, a, op == STET_TILE_SHR_ARITH ? sign : t);

    /* an arithmetic shift has a sign to keep, also of an unsigned type */
    v = stet_graph_convert(l, v, STET_DT_S8);
    if (op != STET_TILE_SHR_ARITH)
        v = with(l, STET_TILE_AND, v, (1 << stet_dtype_bits(t)) - 1);
    if (b && !(b = stet_graph_convert(l, b, STET_DT_S8)))
        return NULL;
    v = stet_graph_ew(l, op, STET_DT_S8, v, b, NULL);
    if (op == STET_TILE_CLZ)
        v = with(l, STET_TILE_SUB, v, 8 - stet_dtype_bits(t));
    return stet_graph_convert(l, v, t);
}

/* ---- bitcast ---- */

static enum stet_dtype unsigned_of(enum stet_dtype t)
{
    switch (t == STET_DT_PRED ? 0 : stet_dtype_bytes(t)) {
    case 1:
        return STET_DT_U8;
    case 2:
        return STET_DT_U16;
    case 4:
        return STET_DT_U32;
    case 8:
        return STET_DT_U64;
    default:
        return STET_DT_INVALID;
    }
}

/* `many` is `one` with a last dimension more, of as many elements as fit one of `one`. */
static bool fits(const struct stet_shape *one, const struct stet_shape *many)
{
    return many->rank == one->rank + 1 &&
           many->dims[one->rank] * stet_dtype_bits(many->dtype) == stet_dtype_bits(one->dtype) &&
           memcmp(one->dims, many->dims, one->rank * sizeof one->dims[0]) == 0;
}

/* Each element once per part, shifted down to it; the lowest comes first. */
static struct stet_gval *split(struct stet_lower *l, struct stet_gval *a,
                               const struct stet_shape *s, enum stet_dtype bits)
{
    int64_t dims[STET_MAX_RANK];
    struct stet_shape plain, wide;
    struct stet_gval *v, *shift;

    for (uint32_t i = 0; i < STET_MAX_RANK; i++)
        dims[i] = i;
    stet_shape_set(&plain, bits, a->shape.dims, a->shape.rank);
    if (!stet_shape_set(&wide, bits, s->dims, s->rank)) {
        stet_lower_fail(l, STET_LIMIT, "the result is too large");
        return NULL;
    }
    v = stet_graph_broadcast(l, stet_lower_bits_as(l, a, &plain), &wide, dims);
    shift =
        with(l, STET_TILE_MUL, stet_graph_iota(l, &wide, s->rank - 1), stet_dtype_bits(s->dtype));
    if (!shift)
        return NULL;
    return stet_graph_convert(l, stet_graph_ew(l, STET_TILE_SHR_LOGIC, bits, v, shift, NULL),
                              s->dtype);
}

static struct stet_gval *join(struct stet_lower *l, struct stet_gval *a, const struct stet_shape *s,
                              enum stet_dtype bits)
{
    int64_t in_dim[STET_MAX_RANK], step[STET_MAX_RANK], start[STET_MAX_RANK] = {0};
    int width = stet_dtype_bits(a->shape.dtype);
    struct stet_gval *all = NULL, *v;
    struct stet_shape part;

    for (uint32_t i = 0; i < s->rank; i++)
        in_dim[i] = i, step[i] = 1;
    stet_shape_set(&part, a->shape.dtype, s->dims, s->rank);
    for (int64_t i = 0; i < a->shape.dims[s->rank]; i++) {
        start[s->rank] = i;
        v = stet_graph_convert(l, stet_graph_view(l, a, &part, in_dim, step, start), bits);
        v = with(l, STET_TILE_SHL, with(l, STET_TILE_AND, v, (1 << width) - 1), width * (double)i);
        if (!v)
            return NULL;
        all = all ? stet_graph_ew(l, STET_TILE_OR, bits, all, v, NULL) : v;
        if (!all)
            return NULL;
    }
    return stet_lower_bits_as(l, all, s);
}

/* The bits of a value as the unsigned integer of their width; of anything else the value itself. */
static struct stet_gval *as_bits(struct stet_lower *l, struct stet_gval *a)
{
    struct stet_shape s = a->shape;

    if (a->shape.dtype != STET_DT_F4E2M1FN)
        return a;
    s.dtype = STET_DT_U4;
    return stet_lower_bits_as(l, a, &s);
}

enum stet_rc stet_lower_subbyte_bitcast(struct stet_lower *l, struct stet_gval *a,
                                        const struct stet_shape *s)
{
    struct stet_shape to = *s;
    struct stet_gval *v;
    enum stet_dtype bits;
    bool down;

    CHECK(a->shape.dtype == s->dtype ||
              (stet_dtype_bits(a->shape.dtype) != 6 && stet_dtype_bits(s->dtype) != 6),
          "there is no integer with the bits of an f6");
    if (s->dtype == STET_DT_F4E2M1FN)
        to.dtype = STET_DT_U4;
    if (!(a = as_bits(l, a)))
        return l->err && l->err->rc ? l->err->rc : STET_NO_MEMORY;
    down = stet_dtype_bits(to.dtype) < stet_dtype_bits(a->shape.dtype);
    bits = down ? a->shape.dtype : to.dtype;
    bits = stet_dtype_is_subbyte(bits) ? STET_DT_U8 : unsigned_of(bits);
    if (stet_dtype_bits(to.dtype) == stet_dtype_bits(a->shape.dtype)) {
        CHECK(stet_shape_same_dims(&a->shape, s), "the sizes do not agree");
        v = stet_graph_convert(l, a, to.dtype);
    } else {
        CHECK(bits != STET_DT_INVALID, "not defined between these types");
        CHECK(down ? fits(&a->shape, &to) : fits(&to, &a->shape), "the sizes do not agree");
        v = down ? split(l, a, &to, bits) : join(l, a, &to, bits);
    }
    return stet_lower_out(l, 0, to.dtype == s->dtype || !v ? v : stet_lower_bits_as(l, v, s));
}
