/* LiteralProto → dense attributes. Bytes that already have the program's form stay in the input. */
#include "decode/hlo/hlo_proto.h"

#include "base/mem.h"

#include <endian.h>

/* The field of LiteralProto that contains the elements, and their encoding. */
enum coding { RAW, VARINT };

static const struct {
    const char *element;
    uint32_t field;
    enum coding coding;
} homes[] = {
    {"pred", 2, VARINT},     {"u8", 3, RAW},
    {"s32", 4, VARINT},      {"s64", 5, VARINT},
    {"u32", 6, VARINT},      {"u64", 7, VARINT},
    {"f32", 8, RAW},         {"f64", 9, RAW},
    {"f16", 11, RAW},        {"c64", 12, RAW},
    {"bf16", 13, RAW},       {"s8", 15, RAW},
    {"u16", 16, RAW},        {"s16", 17, RAW},
    {"c128", 18, RAW},       {"f8e5m2", 19, RAW},
    {"f8e4m3fn", 20, RAW},   {"s4", 21, RAW},
    {"u4", 22, RAW},         {"f8e4m3b11fnuz", 23, RAW},
    {"f8e5m2fnuz", 24, RAW}, {"f8e4m3fnuz", 25, RAW},
    {"s2", 26, RAW},         {"u2", 27, RAW},
    {"f8e4m3", 28, RAW},     {"f8e3m4", 29, RAW},
    {"s1", 30, RAW},         {"u1", 31, RAW},
    {"f4e2m1fn", 32, RAW},   {"f8e8m0fnu", 33, RAW},
    {"f6e3m2fn", 35, RAW},   {"f6e2m3fn", 36, RAW},
};
enum { TUPLE_LITERALS = 10, SHAPE = 1 };

static const struct stet_attr *fail(struct stet_hlo_reader *r, enum stet_rc rc,
                                    const struct stet_proto_field *f, const char *what)
{
    stet_proto_fail(&r->fault, rc, f->offset, what);
    return NULL;
}

/* Collects elements one after the other if they cannot be borrowed. */
struct gathered {
    char *to;
    size_t len, room; /* bytes */
};

static void put(struct gathered *g, uint64_t v, size_t width)
{
    for (size_t k = 0; k < width && g->len < g->room; k++)
        g->to[g->len++] = (char)(v >> (8 * k));
}

/* The hot loop of integer constants, which protobuf packs as varints. Writes `width` bytes of each,
 * at most `room` bytes in all. Returns where it stopped: `end` if it read all, NULL for an invalid
 * varint. */
static inline const unsigned char *unpack(const unsigned char *p, const unsigned char *end,
                                          char *to, const char *room, size_t width, char **filled)
{
    while (p < end && (size_t)(room - to) >= width) {
        uint64_t v = *p++;

        if (v & 0x80) {
            unsigned shift = 7;

            v &= 0x7f;
            for (;; shift += 7) {
                if (p == end || shift > 63)
                    return NULL;
                v |= (uint64_t)(*p & 0x7f) << shift;
                if (!(*p++ & 0x80))
                    break;
            }
        }
        v = htole64(v);
        memcpy(to, &v, width);
        to += width;
    }
    *filled = to;
    return p;
}

static void put_varints(struct stet_hlo_reader *r, struct gathered *g,
                        const struct stet_proto_field *f, size_t width)
{
    const unsigned char *start = (const unsigned char *)f->bytes.ptr, *end = start + f->bytes.len;
    const unsigned char *stop;
    char *filled = g->to + g->len;

    switch (width) { /* with a constant width the compiler makes each store one instruction */
    case 1:
        stop = unpack(start, end, filled, g->to + g->room, 1, &filled);
        break;
    case 4:
        stop = unpack(start, end, filled, g->to + g->room, 4, &filled);
        break;
    case 8:
        stop = unpack(start, end, filled, g->to + g->room, 8, &filled);
        break;
    default:
        stop = unpack(start, end, filled, g->to + g->room, width, &filled);
    }
    g->len = (size_t)(filled - g->to);
    if (!stop)
        stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset, "a literal ends inside a number");
    else if (stop != end)
        stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset,
                        "a literal has more elements than its shape");
}

/* All elements in the order of the file; false with a fault. A raw field that contains them all is
 * borrowed; one-byte varints (pred) are raw too. */
static bool gather(struct stet_hlo_reader *r, const struct stet_proto *in,
                   const struct stet_proto_field *f, uint32_t field, enum coding coding,
                   size_t count, size_t width, struct stet_view *out)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct gathered all = {.room = count * width};
    struct stet_proto_field g;

    while (stet_proto_next(&m, &g)) {
        if (g.number != field)
            continue;
        if (g.wire == STET_PROTO_BYTES && g.bytes.len == all.room &&
            (coding == RAW || width == 1)) {
            *out = g.bytes;
            return true;
        }
        /* an element takes at least a byte of input, so a false count cannot exhaust memory */
        if (count > f->bytes.len)
            break;
        if (!all.to && !(all.to = stet_arena_raw(r->b.a, all.room + 1, 1)))
            return false;
        if (g.wire == STET_PROTO_BYTES)
            put_varints(r, &all, &g, width);
        else if (g.wire == STET_PROTO_VARINT)
            put(&all, g.value, width);
        else
            put(&all, g.value, g.wire == STET_PROTO_FIXED64 ? 8 : 4);
    }
    *out = stet_view_of(all.to, all.len);
    if (all.len != all.room)
        stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset,
                        "a literal does not have as many elements as its shape");
    return r->fault.rc == STET_OK;
}

static bool row_major(const struct stet_type *t)
{
    for (uint32_t i = 0; stet_type_rest(t)->layout && i < t->rank; i++)
        if (stet_type_rest(t)->layout[i] != (int64_t)t->rank - 1 - i)
            return false;
    return true;
}

/* Elements in memory order of the literal's own layout → row-major. */
static struct stet_view reorder(struct stet_hlo_reader *r, const struct stet_type *t,
                                struct stet_view from, size_t count, size_t width)
{
    char *to = stet_arena_raw(r->b.a, from.len + 1, 1);
    int64_t *strides = STET_NEW_ARRAY(r->b.a, int64_t, 2 * (size_t)t->rank), *at, step = 1;

    if (!to || !strides)
        return (struct stet_view){0};
    at = strides + t->rank;
    for (uint32_t i = 0; i < t->rank; i++) {
        int64_t d = stet_type_rest(t)->layout[i];

        if (d < 0 || d >= t->rank || strides[d]) {
            stet_proto_fail(&r->fault, STET_BAD_INPUT, 0,
                            "a literal's layout is not a permutation");
            return (struct stet_view){0};
        }
        strides[d] = step;
        step *= t->dims[d];
    }
    for (size_t n = 0; n < count; n++) {
        int64_t offset = 0;

        for (uint32_t d = 0; d < t->rank; d++)
            offset += at[d] * strides[d];
        memcpy(to + n * width, from.ptr + (size_t)offset * width, width);
        for (uint32_t d = t->rank; d > 0; d--) {
            if (++at[d - 1] != t->dims[d - 1])
                break;
            at[d - 1] = 0;
        }
    }
    return stet_view_of(to, from.len);
}

static const struct stet_attr *array_literal(struct stet_hlo_reader *r, const struct stet_proto *in,
                                             const struct stet_proto_field *f,
                                             const struct stet_type *own, const struct stet_type *t)
{
    struct stet_attr *a = stet_build_attr(r->b.a, STET_ATTR_DENSE);
    const char *name = stet_hlo_element_name(t->element);
    size_t width = stet_type_storage_bits(t->element) / 8, home = 0, bytes;
    struct stet_view data;
    uint64_t count;

    if (!a)
        return NULL;
    if (!stet_type_elements(t, &count) || stet_mul_overflows(count, width, &bytes))
        return fail(r, STET_UNSUPPORTED, f, "a literal of dynamic or overflowing shape");
    while (home < sizeof homes / sizeof *homes && strcmp(homes[home].element, name) != 0)
        home++;
    if (home == sizeof homes / sizeof *homes)
        return fail(r, STET_UNSUPPORTED, f, "a literal of an unknown element type");
    if (!gather(r, in, f, homes[home].field, homes[home].coding, count, width, &data))
        return NULL;
    if (t->rank > 1 && count > 1 && stet_type_rest(own)->layout && !row_major(own))
        data = reorder(r, own, data, count, width);
    stet_attr_set_bytes(a, data);
    a->splat = count == 1;
    a->of.type = t;
    r->b.p->constant_bytes += data.len;
    return a;
}

static bool same_array(const struct stet_type *a, const struct stet_type *b)
{
    if (a->kind != STET_TYPE_TENSOR || b->kind != STET_TYPE_TENSOR || a->rank != b->rank ||
        !stet_type_eq(a->element, b->element))
        return false;
    return a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

static const struct stet_attr *tuple_literal(struct stet_hlo_reader *r, const struct stet_proto *in,
                                             const struct stet_proto_field *f,
                                             const struct stet_type *t)
{
    struct stet_proto m = stet_proto_sub(in, f);
    const struct stet_attr **items = stet_arena_alloc(r->b.a, t->member_count, sizeof *items);
    struct stet_proto_field g;
    uint32_t n = 0;

    if (!items)
        return NULL;
    while (stet_proto_next(&m, &g)) {
        if (g.number != TUPLE_LITERALS)
            continue;
        if (n == t->member_count)
            return fail(r, STET_BAD_INPUT, &g, "a tuple literal has too many parts");
        items[n] = stet_decode_hlo_literal_value(r, &m, &g, t->members[n]);
        if (!items[n++])
            return NULL;
    }
    if (n != t->member_count)
        return fail(r, STET_BAD_INPUT, f, "a tuple literal has too few parts");
    return stet_decode_hlo_new_array(r->b.a, items, n);
}

const struct stet_attr *stet_decode_hlo_literal_value(struct stet_hlo_reader *r,
                                                      const struct stet_proto *in,
                                                      const struct stet_proto_field *f,
                                                      const struct stet_type *t)
{
    struct stet_proto m = stet_proto_sub(in, f);
    const struct stet_type *own = NULL;
    struct stet_proto_field g;

    while (!own && stet_proto_next(&m, &g))
        if (g.number == SHAPE)
            own = stet_decode_hlo_shape(r, &m, &g);
    if (r->fault.rc != STET_OK)
        return NULL;
    if (t->kind == STET_TYPE_TUPLE)
        return tuple_literal(r, in, f, t);
    if (!own || !same_array(own, t))
        return fail(r, STET_BAD_INPUT, f, "a literal's shape is not that of its instruction");
    return array_literal(r, in, f, own, t);
}
