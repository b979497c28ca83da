/* The builtin dialect: plain attributes, locations and types (MLIR's BuiltinDialectBytecode.td),
 * and the lazily decoded table that contains them. */
#include "decode/bytecode/bytecode.h"

enum {
    ATTR_ARRAY,
    ATTR_DICT,
    ATTR_STRING,
    ATTR_TYPED_STRING,
    ATTR_FLAT_SYMBOL,
    ATTR_SYMBOL,
    ATTR_TYPE,
    ATTR_UNIT,
    ATTR_INTEGER,
    ATTR_FLOAT,
    LOC_CALLSITE,
    LOC_FILE,
    LOC_FUSED,
    LOC_FUSED_METADATA,
    LOC_NAME,
    LOC_UNKNOWN,
    ATTR_RESOURCE,
    ATTR_DENSE_ARRAY,
    ATTR_DENSE,
    ATTR_DENSE_STRINGS,
    ATTR_SPARSE,
    ATTR_DISTINCT,
    LOC_FILE_RANGE,
    ATTR_AFFINE_MAP,
};

bool stet_decode_bc_builtin_is_loc(uint64_t code)
{
    return (code >= LOC_CALLSITE && code <= LOC_UNKNOWN) || code == LOC_FILE_RANGE;
}

/* ---- attributes ---- */

static const struct stet_attr *read_symbol(struct bc *b, struct stet_reader *r)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_SYMBOL);
    const struct stet_attr *nested;

    stet_attr_set_text(a, stet_decode_bc_text(b, r));
    nested = stet_decode_bc_read_array(b, r);
    a->items = nested->items;
    a->count = nested->count;
    return a;
}

static const struct stet_attr *read_resource(struct bc *b, struct stet_reader *r)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_RESOURCE);
    uint64_t handle;

    a->of.type = bc_type(b, r);
    handle = bc_varint(r);
    if (handle >= b->resource_count) {
        stet_reader_fail(r, "no such resource");
        return a;
    }
    stet_attr_set_text(a, b->resources[handle].key);
    stet_attr_set_bytes(a, b->resources[handle].blob);
    b->p->constant_bytes += stet_attr_bytes(a).len;
    b->p->left_out += !stet_attr_bytes(a).len;
    return a;
}

static const struct stet_attr *read_dense_array(struct bc *b, struct stet_reader *r)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_DENSE_ARRAY);

    a->of.type = bc_type(b, r);
    bc_varint(r); /* the number of elements, which also follows from the bytes */
    stet_attr_set_bytes(a, stet_decode_bc_blob(r));
    return a;
}

static const struct stet_attr *read_dense(struct bc *b, struct stet_reader *r)
{
    const struct stet_type *type = bc_type(b, r);
    struct stet_view bytes = stet_decode_bc_blob(r);

    return stet_reader_ok(r) && bc_ok(b) ? stet_decode_bc_make_dense(b, type, bytes) : &bc_bad_attr;
}

static const struct stet_attr *read_dense_strings(struct bc *b, struct stet_reader *r)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_DENSE_STRINGS);
    const struct stet_attr **items;
    uint64_t n;

    a->of.type = bc_type(b, r);
    a->splat = bc_varint(r) & 1;
    n = 1;
    if (!a->splat && !stet_type_elements(stet_attr_type(a), &n))
        stet_reader_fail(r, "dense strings of a dynamic shape");
    if (n > stet_reader_left(r) || n > UINT32_MAX) {
        stet_reader_fail(r, "more strings than bytes");
        return a;
    }
    items = bc_alloc(b, (size_t)n, sizeof *items);
    if (!items)
        return a;
    for (uint64_t i = 0; i < n; i++)
        items[i] = stet_decode_bc_make_string(b, stet_decode_bc_string(b, r));
    a->items = items;
    a->count = (uint32_t)n;
    return a;
}

static const struct stet_attr *read_sparse(struct bc *b, struct stet_reader *r)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_SPARSE);
    const struct stet_attr **items = bc_alloc(b, 2, sizeof *items);

    a->of.type = bc_type(b, r);
    if (!items)
        return a;
    items[0] = bc_attr(b, r);
    items[1] = bc_attr(b, r);
    a->items = items;
    a->count = 2;
    return a;
}

/* Not interpreted, only kept. */
static const struct stet_attr *keep_rest(struct bc *b, struct stet_reader *r)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_OPAQUE);

    a->of.name = &bc_builtin_name;
    stet_attr_set_bytes(a, stet_reader_bytes(r, stet_reader_left(r)));
    return a;
}

const struct stet_attr *stet_decode_bc_builtin_attr(struct bc *b, struct stet_reader *r,
                                                    uint64_t code)
{
    static const struct stet_attr unit = {.kind = STET_ATTR_UNIT};
    struct stet_attr *a;

    switch (code) {
    case ATTR_ARRAY:
        return stet_decode_bc_read_array(b, r);
    case ATTR_DICT:
        return stet_decode_bc_read_dict(b, r);
    case ATTR_STRING:
        return stet_decode_bc_make_string(b, stet_decode_bc_string(b, r));
    case ATTR_TYPED_STRING:
        a = stet_decode_bc_new_attr(b, STET_ATTR_STRING);
        stet_attr_set_text(a, stet_decode_bc_string(b, r));
        a->of.type = bc_type(b, r);
        return a;
    case ATTR_FLAT_SYMBOL:
        return stet_decode_bc_make_symbol(b, stet_decode_bc_text(b, r));
    case ATTR_SYMBOL:
        return read_symbol(b, r);
    case ATTR_TYPE:
        a = stet_decode_bc_new_attr(b, STET_ATTR_TYPE);
        a->of.type = bc_type(b, r);
        return a;
    case ATTR_UNIT:
        return &unit;
    case ATTR_INTEGER:
        return stet_decode_bc_read_integer(b, r, bc_type(b, r));
    case ATTR_FLOAT:
        return stet_decode_bc_read_float(b, r, bc_type(b, r));
    case ATTR_RESOURCE:
        return read_resource(b, r);
    case ATTR_DENSE_ARRAY:
        return read_dense_array(b, r);
    case ATTR_DENSE:
        return read_dense(b, r);
    case ATTR_DENSE_STRINGS:
        return read_dense_strings(b, r);
    case ATTR_SPARSE:
        return read_sparse(b, r);
    case ATTR_DISTINCT:
        return keep_rest(b, r);
    case ATTR_AFFINE_MAP:
        return stet_decode_bc_affine_map(b, r);
    default:
        stet_reader_fail(r, "unknown builtin attribute");
        return &bc_bad_attr;
    }
}

/* ---- locations ---- */

static uint32_t read_line(struct stet_reader *r)
{
    uint64_t v = bc_varint(r);

    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* File, then line, column, end line, end column as far as they are known. */
static void read_range(struct stet_reader *r, struct stet_loc *loc)
{
    uint64_t n = bc_varint(r);
    uint32_t v[4] = {0};

    if (n > 4)
        stet_reader_fail(r, "a file range with more than four numbers");
    for (uint64_t i = 0; i < n && i < 4; i++)
        v[i] = read_line(r);
    loc->line = v[0];
    loc->column = v[1];
    /* MLIR's constructors: with three numbers the range ends on the same line. */
    loc->end.line = n == 4 ? v[2] : n == 3 ? v[0] : 0;
    loc->end.column = n == 4 ? v[3] : n == 3 ? v[2] : 0;
}

static void read_parts(struct bc *b, struct stet_reader *r, struct stet_loc *loc, size_t n)
{
    const struct stet_loc **parts = n > UINT32_MAX ? NULL : bc_alloc(b, n, sizeof *parts);

    if (!parts)
        return;
    for (size_t i = 0; i < n; i++)
        parts[i] = bc_loc(b, r);
    loc->parts = parts;
    loc->count = (uint32_t)n;
}

static enum stet_loc_kind loc_kind(uint64_t code)
{
    switch (code) {
    case LOC_CALLSITE:
        return STET_LOC_CALLSITE;
    case LOC_FILE:
    case LOC_FILE_RANGE:
        return STET_LOC_FILE;
    case LOC_NAME:
        return STET_LOC_NAME;
    default:
        return STET_LOC_FUSED;
    }
}

const struct stet_loc *stet_decode_bc_builtin_loc(struct bc *b, struct stet_reader *r,
                                                  uint64_t code)
{
    struct stet_loc *loc;

    if (code == LOC_UNKNOWN)
        return &bc_unknown_loc;
    loc = stet_build_loc(b->arena, loc_kind(code), code == LOC_FILE_RANGE);
    if (!loc) {
        stet_decode_bc_no_room(b);
        return &bc_unknown_loc;
    }
    switch (code) {
    case LOC_CALLSITE:
        read_parts(b, r, loc, 2);
        break;
    case LOC_FILE:
        loc->text = stet_decode_bc_text(b, r);
        loc->line = read_line(r);
        loc->column = read_line(r);
        break;
    case LOC_FILE_RANGE:
        loc->text = stet_decode_bc_text(b, r);
        read_range(r, loc);
        break;
    case LOC_NAME:
        loc->text = stet_decode_bc_text(b, r);
        read_parts(b, r, loc, 1);
        break;
    default:
        read_parts(b, r, loc, bc_count(r));
        if (code == LOC_FUSED_METADATA)
            loc->metadata = bc_attr(b, r);
        break;
    }
    return loc;
}

/* ---- types ---- */

enum {
    TYPE_INTEGER,
    TYPE_INDEX,
    TYPE_FUNCTION,
    TYPE_BF16,
    TYPE_F16,
    TYPE_F32,
    TYPE_F64,
    TYPE_F80,
    TYPE_F128,
    TYPE_COMPLEX,
    TYPE_MEMREF,
    TYPE_MEMREF_SPACE,
    TYPE_NONE,
    TYPE_TENSOR,
    TYPE_TENSOR_ENCODING,
    TYPE_TUPLE,
    TYPE_UNRANKED_MEMREF,
    TYPE_UNRANKED_MEMREF_SPACE,
    TYPE_UNRANKED_TENSOR,
    TYPE_VECTOR,
    TYPE_SCALABLE_VECTOR,
    TYPE_FLOATS, /* the narrow float formats, in the order of narrow_floats */
};

static const struct stet_type *read_integer_type(struct bc *b, struct stet_reader *r)
{
    uint64_t v = bc_varint(r);

    if ((v & 3) > STET_UNSIGNED || v >> 2 > UINT32_MAX) {
        stet_reader_fail(r, "bad integer type");
        return &stet_type_none;
    }
    /* MLIR's order is signless, signed, unsigned, as it is here. */
    return stet_type_integer(b->arena, (uint32_t)(v >> 2), (enum stet_sign)(v & 3));
}

static const struct stet_type *read_shaped(struct bc *b, struct stet_reader *r,
                                           enum stet_type_kind kind, bool encoded)
{
    struct stet_type *t = stet_decode_bc_new_type(b, kind);
    struct stet_type_rest rest = {0};
    const struct stet_attr *bounds;

    if (encoded)
        rest.encoding = bc_attr(b, r);
    t->dims = stet_decode_bc_read_dims(b, r, &t->rank);
    t->element = bc_type(b, r);
    bounds = stet_attr_field(rest.encoding, "bounds");
    if (bounds && bounds->kind == STET_ATTR_INTS && bounds->count == t->rank)
        rest.bounds = bounds->ints;
    if (encoded)
        stet_decode_bc_set_rest(b, t, &rest);
    return t;
}

/* A layout, which text omits if it is the identity, and a memory space (NULL for none). */
static const struct stet_type *read_memref(struct bc *b, struct stet_reader *r, bool spaced)
{
    const struct stet_attr *space = spaced ? bc_attr(b, r) : NULL, *layout, **both;
    struct stet_type *t = (struct stet_type *)(uintptr_t)read_shaped(b, r, STET_TYPE_MEMREF, false);
    struct stet_type_rest rest = {0};
    struct stet_attr *pair;

    layout = bc_attr(b, r);
    rest.encoding = stet_decode_bc_is_identity_map(layout, t->rank) ? space : layout;
    if (space && rest.encoding == layout) {
        pair = stet_decode_bc_new_attr(b, STET_ATTR_ARRAY);
        both = bc_alloc(b, 2, sizeof *both);
        if (!both)
            return t;
        both[0] = layout;
        both[1] = space;
        pair->items = both;
        pair->count = 2;
        rest.encoding = pair;
    }
    if (rest.encoding)
        stet_decode_bc_set_rest(b, t, &rest);
    return t;
}

static const struct stet_type *read_unranked_memref(struct bc *b, struct stet_reader *r,
                                                    bool spaced)
{
    struct stet_type *t = stet_decode_bc_new_type(b, STET_TYPE_UNRANKED_MEMREF);

    if (spaced)
        stet_decode_bc_set_rest(b, t, &(struct stet_type_rest){.encoding = bc_attr(b, r)});
    t->element = bc_type(b, r);
    return t;
}

/* Whether each dimension scales, a byte each, then the vector. */
static const struct stet_type *read_scalable(struct bc *b, struct stet_reader *r)
{
    struct stet_attr *which = stet_decode_bc_new_attr(b, STET_ATTR_DENSE_ARRAY);
    struct stet_view flags = stet_reader_bytes(r, bc_count(r));
    struct stet_type *t = (struct stet_type *)(uintptr_t)read_shaped(b, r, STET_TYPE_VECTOR, false);

    for (size_t i = 0; i < flags.len; i++)
        if (flags.ptr[i] & ~1)
            stet_reader_fail(r, "a flag of a dimension is neither 0 nor 1");
    if (t->rank != flags.len)
        stet_reader_fail(r, "not one scale for each dimension");
    which->of.type = stet_type_integer(b->arena, 1, STET_SIGNLESS);
    stet_attr_set_bytes(which, flags);
    stet_decode_bc_set_rest(b, t, &(struct stet_type_rest){.encoding = which});
    return t;
}

static const struct stet_type *read_function(struct bc *b, struct stet_reader *r)
{
    struct stet_type *t = stet_decode_bc_new_type(b, STET_TYPE_FUNCTION);
    const struct stet_type *const *inputs, *const *results, **members;
    uint32_t in, out;

    inputs = stet_decode_bc_read_types(b, r, &in);
    results = stet_decode_bc_read_types(b, r, &out);
    members = bc_alloc(b, (size_t)in + out, sizeof *members);
    if (!members)
        return t;
    if (in)
        memcpy(members, inputs, in * sizeof *members);
    if (out)
        memcpy(members + in, results, out * sizeof *members);
    t->members = members;
    t->input_count = in;
    t->member_count = in + out;
    return t;
}

const struct stet_type *stet_decode_bc_builtin_type(struct bc *b, struct stet_reader *r,
                                                    uint64_t code)
{
    static const enum stet_float floats[] = {STET_BF16, STET_F16, STET_F32,
                                             STET_F64,  STET_F80, STET_F128};
    static const enum stet_float narrow_floats[] = {
        STET_TF32,       STET_F8E5M2,     STET_F8E4M3,        STET_F8E4M3FN,
        STET_F8E5M2FNUZ, STET_F8E4M3FNUZ, STET_F8E4M3B11FNUZ, STET_F8E3M4,
        STET_F4E2M1FN,   STET_F6E2M3FN,   STET_F6E3M2FN,      STET_F8E8M0FNU};
    struct stet_type *t;

    if (code >= TYPE_FLOATS && code - TYPE_FLOATS < sizeof narrow_floats / sizeof *narrow_floats)
        return stet_type_float(narrow_floats[code - TYPE_FLOATS]);
    switch (code) {
    case TYPE_INTEGER:
        return read_integer_type(b, r);
    case TYPE_INDEX:
        return &stet_type_index;
    case TYPE_FUNCTION:
        return read_function(b, r);
    case TYPE_BF16:
    case TYPE_F16:
    case TYPE_F32:
    case TYPE_F64:
    case TYPE_F80:
    case TYPE_F128:
        return stet_type_float(floats[code - TYPE_BF16]);
    case TYPE_COMPLEX:
        t = stet_decode_bc_new_type(b, STET_TYPE_COMPLEX);
        t->element = bc_type(b, r);
        return t;
    case TYPE_NONE:
        return &stet_type_none;
    case TYPE_TENSOR:
    case TYPE_TENSOR_ENCODING:
        return read_shaped(b, r, STET_TYPE_TENSOR, code == TYPE_TENSOR_ENCODING);
    case TYPE_MEMREF:
    case TYPE_MEMREF_SPACE:
        return read_memref(b, r, code == TYPE_MEMREF_SPACE);
    case TYPE_UNRANKED_MEMREF:
    case TYPE_UNRANKED_MEMREF_SPACE:
        return read_unranked_memref(b, r, code == TYPE_UNRANKED_MEMREF_SPACE);
    case TYPE_VECTOR:
        return read_shaped(b, r, STET_TYPE_VECTOR, false);
    case TYPE_SCALABLE_VECTOR:
        return read_scalable(b, r);
    case TYPE_TUPLE:
        t = stet_decode_bc_new_type(b, STET_TYPE_TUPLE);
        t->members = stet_decode_bc_read_types(b, r, &t->member_count);
        return t;
    case TYPE_UNRANKED_TENSOR:
        t = stet_decode_bc_new_type(b, STET_TYPE_UNRANKED);
        t->element = bc_type(b, r);
        return t;
    default:
        stet_reader_fail(r, "unknown builtin type");
        return &stet_type_none;
    }
}
