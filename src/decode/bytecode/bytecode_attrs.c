/* Reads the attributes of one operation: properties and dictionary as one sorted list. */
#include "decode/bytecode/bytecode.h"

/* Segment sizes (format 6): the leading ones up to the last non-zero one, or pairs of index and
 * value if few are not zero. */
static const struct stet_attr *read_segments(struct bc *b, struct stet_reader *r, unsigned segments)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_DENSE_ARRAY);
    uint64_t head = bc_varint(r), bits = 0;
    unsigned char *bytes = bc_alloc(b, segments, 4);

    a->of.type = stet_type_integer(b->arena, 32, STET_SIGNLESS);
    if (!bytes)
        return a;
    memset(bytes, 0, 4 * segments);
    if (head & 1)
        bits = bc_varint(r);
    for (uint64_t i = 0; i < head >> 1 && stet_reader_ok(r); i++) {
        uint64_t value = bc_varint(r), index = head & 1 ? value & ((1u << (bits & 15)) - 1) : i;

        if (index >= segments || bits > 8) {
            stet_reader_fail(r, "too many segments");
            break;
        }
        for (unsigned k = 0; k < 4; k++)
            bytes[4 * index + k] = (unsigned char)(value >> bits >> (8 * k));
    }
    stet_attr_set_bytes(a, stet_view_of(bytes, 4 * segments));
    return a;
}

/* Reads the declared attributes one after the other; false if the bytes do not fit the list. */
static bool try_properties(struct bc *b, struct stet_view bytes, const struct stet_props *props,
                           bool with_later, struct stet_named_attr *out, uint32_t *count)
{
    struct stet_reader r = bc_reader(b, bytes.ptr, bytes.len);
    bool native = b->version >= BC_NATIVE_SEGMENTS; /* then they come last */
    uint32_t n = 0;

    for (unsigned i = 0; i < STET_PROPS_NAMES && props->names[i].name.len; i++) {
        uint64_t index;

        if ((props->names[i].later && !with_later) || (props->names[i].segments && native))
            continue;
        index = bc_varint(&r);
        if (props->names[i].optional && !(index & 1))
            continue;
        if (props->names[i].optional)
            index >>= 1;
        if (!stet_reader_ok(&r) || index >= b->attr_count)
            return false;
        out[n++] = (struct stet_named_attr){props->names[i].name, stet_decode_bc_attr_at(b, index)};
    }
    for (unsigned i = 0; i < STET_PROPS_NAMES && props->names[i].name.len; i++)
        if (props->names[i].segments && native)
            out[n++] = (struct stet_named_attr){props->names[i].name,
                                                read_segments(b, &r, props->names[i].segments)};
    *count = n;
    return stet_reader_ok(&r) && stet_reader_left(&r) == 0;
}

/* Properties of an operation that this build does not know stay one opaque attribute. */
static void keep_properties(struct bc *b, struct stet_view bytes, struct stet_named_attr *out,
                            uint32_t *count)
{
    out[0] = (struct stet_named_attr){STET_VIEW("properties"),
                                      stet_decode_bc_make_opaque(b, &bc_builtin_name, bytes)};
    *count = 1;
}

static void read_properties(struct bc *b, struct stet_view bytes, const struct bc_name *name,
                            struct stet_named_attr *out, uint32_t *count)
{
    if (!name->props)
        keep_properties(b, bytes, out, count);
    else if (!try_properties(b, bytes, name->props, true, out, count) &&
             !try_properties(b, bytes, name->props, false, out, count))
        keep_properties(b, bytes, out, count);
}

/* Merges both kinds of attributes into one sorted list. */
static bool merge(struct bc *b, const struct stet_named_attr *properties, uint32_t count,
                  const struct stet_attr *dict, struct stet_named_attr *all)
{
    if (count)
        memcpy(all, properties, count * sizeof *all);
    if (dict->count)
        memcpy(all + count, dict->named, dict->count * sizeof *all);
    if (!stet_build_sort(all, (size_t)dict->count + count))
        return stet_decode_bc_fail(b, STET_BAD_INPUT, STET_NO_OFFSET, "an attribute occurs twice");
    return true;
}

const struct stet_attr bc_no_attrs = {.kind = STET_ATTR_DICT};

static struct bc_attr_list read_vhlo_attrs(struct bc *b, struct stet_reader *r,
                                           struct bc_name *name, const struct stet_attr *dict,
                                           bool has_properties)
{
    uint64_t index = has_properties ? bc_varint(r) : 0;
    struct bc_converted *known;
    uint32_t properties;

    if (has_properties && index >= b->property_count) {
        stet_reader_fail(r, "no such properties");
        return (struct bc_attr_list){0};
    }
    properties = has_properties ? (uint32_t)index + 1 : 0;
    known = bc_converted_place(b, name, properties);
    if (!bc_converted_is(known, name, properties, dict) &&
        !stet_decode_bc_vhlo_convert(b, name, properties, dict, known))
        return (struct bc_attr_list){0};
    return (struct bc_attr_list){known->attrs, known->count};
}

/* For an operation whose properties are an attribute like any other. */
static struct bc_attr_list read_loose_attrs(struct bc *b, struct stet_reader *r,
                                            const struct stet_attr *dict)
{
    const struct stet_named_attr properties = {STET_VIEW("properties"), bc_attr(b, r)};
    struct stet_named_attr *all = bc_alloc(b, (size_t)dict->count + 1, sizeof *all);

    if (!all || !stet_reader_ok(r) || !merge(b, &properties, 1, dict, all))
        return (struct bc_attr_list){0};
    return (struct bc_attr_list){all, dict->count + 1};
}

/* Equal properties beside an equal dictionary give the same list. */
static struct bc_attr_list read_own_attrs(struct bc *b, struct stet_reader *r, struct bc_name *name,
                                          const struct stet_attr *dict)
{
    struct stet_named_attr own[STET_PROPS_NAMES], *all;
    uint64_t index = bc_varint(r);
    struct bc_converted *known;
    uint32_t count = 0, properties;

    if (index >= b->property_count) {
        stet_reader_fail(r, "no such properties");
        return (struct bc_attr_list){0};
    }
    properties = (uint32_t)index + 1;
    known = bc_converted_place(b, name, properties);
    if (!bc_converted_is(known, name, properties, dict)) {
        read_properties(b, stet_decode_bc_properties_at(b, index), name, own, &count);
        all = count ? bc_alloc(b, (size_t)dict->count + count, sizeof *all) : NULL;
        if (count && (!all || !merge(b, own, count, dict, all)))
            return (struct bc_attr_list){0};
        *known = (struct bc_converted){name, dict, count ? all : dict->named, dict->count + count,
                                       properties};
    }
    return (struct bc_attr_list){known->attrs, known->count};
}

struct bc_attr_list stet_decode_bc_read_attrs(struct bc *b, struct stet_reader *r,
                                              struct bc_name *name, unsigned mask)
{
    const struct stet_attr *dict = mask & HAS_ATTRS ? bc_attr(b, r) : &bc_no_attrs;

    if (dict->kind != STET_ATTR_DICT) {
        stet_reader_fail(r, "the attributes of an operation are not a dictionary");
        return (struct bc_attr_list){0};
    }
    if (name->vhlo)
        return read_vhlo_attrs(b, r, name, dict, mask & HAS_PROPERTIES);
    if (!(mask & HAS_PROPERTIES))
        return (struct bc_attr_list){dict->named, dict->count};
    return name->registered ? read_own_attrs(b, r, name, dict) : read_loose_attrs(b, r, dict);
}
