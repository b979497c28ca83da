/* Creates attributes and types, and reads the parts that several dialects encode alike. */
#include "decode/bytecode/bytecode.h"

const struct stet_attr bc_bad_attr = {.kind = STET_ATTR_UNIT};
const struct stet_attr bc_no_items = {.kind = STET_ATTR_ARRAY};
const struct stet_attr bc_no_ints = {.kind = STET_ATTR_INTS};
const struct stet_loc bc_unknown_loc = {.kind = STET_LOC_UNKNOWN};
const struct stet_attr_name bc_builtin_name = {.dialect = {"builtin", 7}};

void *stet_decode_bc_no_room(struct bc *b)
{
    stet_decode_bc_fail(b, STET_LIMIT, STET_NO_OFFSET,
                        "needs more memory than a file of %zu bytes may use", b->input.len);
    /* After a failure nothing more is allocated, not even a smaller size: placeholders are
     * shared. */
    b->arena->end = b->arena->next;
    b->arena->cap = b->arena->used;
    return NULL;
}

struct stet_attr *stet_decode_bc_new_attr(struct bc *b, enum stet_attr_kind kind)
{
    size_t size = stet_attr_size(kind);
    struct stet_attr *a = bc_alloc(b, 1, size);

    if (!a)
        a = &b->full_attr;
    /* Set field by field: for a struct of this size compilers emit "rep stos", which starts
     * slowly. */
    a->kind = (uint8_t)kind;
    a->splat = false;
    a->count = 0;
    a->items = NULL;
    if (size > offsetof(struct stet_attr, of))
        a->of.type = NULL;
    if (size > offsetof(struct stet_attr, size))
        a->size = 0;
    if (size > offsetof(struct stet_attr, word))
        a->word = (struct stet_view){0};
    return a;
}

struct stet_type *stet_decode_bc_new_type(struct bc *b, enum stet_type_kind kind)
{
    struct stet_type *t = bc_alloc(b, 1, sizeof *t);

    if (!t)
        t = &b->full_type;
    *t = (struct stet_type){.kind = kind};
    return t;
}

void stet_decode_bc_set_rest(struct bc *b, struct stet_type *t, const struct stet_type_rest *rest)
{
    if (!stet_build_rest(b->arena, t, rest))
        stet_decode_bc_no_room(b);
}

const struct stet_attr *stet_decode_bc_intern(struct bc *b, struct stet_attr like)
{
    const struct stet_attr *a = stet_decode_shared_attr(&b->interned, b->arena, &like);

    if (a)
        return a;
    stet_decode_bc_no_room(b);
    return &bc_bad_attr;
}

struct stet_view stet_decode_bc_tables(struct bc *b)
{
    struct stet_hasher h;
    char text[STET_HASH_TEXT];

    if (b->tables.len)
        return b->tables;
    stet_hasher_init(&h);
    for (unsigned i = 0; i < BC_SECTIONS; i++) {
        uint64_t size = b->sections[i].len;

        if (i == BC_IR)
            continue;
        stet_hasher_add(&h, &size, sizeof size);
        stet_hasher_add(&h, b->sections[i].ptr, b->sections[i].len);
    }
    stet_hash_format(stet_hasher_digest(&h), text);
    b->tables = stet_arena_printf(b->arena, "tables %s", text);
    if (!b->tables.ptr)
        stet_decode_bc_no_room(b);
    return b->tables;
}

const struct stet_attr *stet_decode_bc_make_opaque(struct bc *b, const struct stet_attr_name *name,
                                                   struct stet_view bytes)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_OPAQUE);

    a->of.name = name;
    stet_attr_set_bytes(a, bytes);
    stet_attr_set_text(a, stet_decode_bc_tables(b));
    return a;
}

const struct stet_attr *stet_decode_bc_make_int(struct bc *b, const struct stet_type *type,
                                                int64_t value)
{
    return stet_decode_bc_intern(
        b, (struct stet_attr){.kind = STET_ATTR_INTEGER, .of.type = type, .integer = value});
}

const struct stet_attr *stet_decode_bc_make_bool(bool value)
{
    static const struct stet_attr both[2] = {{.kind = STET_ATTR_BOOL},
                                             {.kind = STET_ATTR_BOOL, .integer = 1}};

    return &both[value];
}

const struct stet_attr *stet_decode_bc_make_string(struct bc *b, struct stet_view text)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_STRING);

    stet_attr_set_text(a, text);
    return a;
}

const struct stet_attr *stet_decode_bc_make_symbol(struct bc *b, struct stet_view text)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_SYMBOL);

    stet_attr_set_text(a, text);
    return a;
}

const struct stet_attr *stet_decode_bc_make_enum(struct bc *b, const struct stet_enum *e,
                                                 uint64_t value)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_ENUM);

    a->of.name = &e->name;
    stet_attr_set_text(a, stet_enum_case(e, value));
    if (!stet_attr_text(a).len)
        stet_decode_bc_fail(b, STET_UNSUPPORTED, STET_NO_OFFSET, "%.*s has no case %llu",
                            STET_FMT(e->name.mnemonic), (unsigned long long)value);
    return a;
}

const struct stet_attr *stet_decode_bc_make_record(struct bc *b,
                                                   const struct stet_attr_record *record,
                                                   const struct stet_named_attr *fields,
                                                   uint32_t count)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_RECORD);
    struct stet_named_attr *named = bc_alloc(b, count, sizeof *named);

    a->of.name = &record->name;
    if (!named)
        return a;
    memcpy(named, fields, count * sizeof *named);
    a->named = named;
    a->count = count;
    return a;
}

/* ---- lists ---- */

const int64_t *stet_decode_bc_read_dims(struct bc *b, struct stet_reader *r, uint32_t *rank)
{
    size_t n = bc_count(r);
    int64_t *dims = n > UINT32_MAX ? NULL : bc_alloc(b, n, sizeof *dims);

    *rank = dims ? (uint32_t)n : 0;
    for (uint32_t i = 0; i < *rank; i++)
        dims[i] = bc_signed(r);
    return dims;
}

const struct stet_attr *stet_decode_bc_make_ints(struct bc *b, struct stet_reader *r)
{
    uint32_t count;
    const int64_t *ints = stet_decode_bc_read_dims(b, r, &count);

    if (!count)
        return &bc_no_ints;
    return stet_decode_bc_intern(
        b, (struct stet_attr){.kind = STET_ATTR_INTS, .ints = ints, .count = count});
}

const struct stet_type *const *stet_decode_bc_read_types(struct bc *b, struct stet_reader *r,
                                                         uint32_t *count)
{
    size_t n = bc_count(r);
    const struct stet_type **types = n > UINT32_MAX ? NULL : bc_alloc(b, n, sizeof *types);

    *count = types ? (uint32_t)n : 0;
    for (uint32_t i = 0; i < *count; i++)
        types[i] = bc_type(b, r);
    return types;
}

const struct stet_attr *stet_decode_bc_read_array(struct bc *b, struct stet_reader *r)
{
    size_t n = bc_count(r);
    const struct stet_attr **items = !n || n > UINT32_MAX ? NULL : bc_alloc(b, n, sizeof *items);

    if (!items)
        return &bc_no_items;
    for (size_t i = 0; i < n; i++)
        items[i] = bc_attr(b, r);
    return stet_decode_bc_intern(
        b, (struct stet_attr){.kind = STET_ATTR_ARRAY, .items = items, .count = (uint32_t)n});
}

const struct stet_attr *stet_decode_bc_read_dict(struct bc *b, struct stet_reader *r)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_DICT);
    size_t n = bc_count(r);
    struct stet_named_attr *named = n > UINT32_MAX ? NULL : bc_alloc(b, n, sizeof *named);

    if (!named)
        return a;
    for (size_t i = 0; i < n; i++) {
        named[i].name = stet_decode_bc_text(b, r);
        named[i].value = bc_attr(b, r);
    }
    if (stet_reader_ok(r) && !stet_build_sort(named, n))
        stet_reader_fail(r, "a dictionary has a name twice");
    a->named = named;
    a->count = (uint32_t)n;
    return a;
}

/* ---- numbers ---- */

/* Wide integers are written as their active 64-bit words. */
static struct stet_view read_words(struct bc *b, struct stet_reader *r, uint32_t bits)
{
    size_t words = bc_count(r), size = (bits + 7) / 8;
    unsigned char *bytes = bc_alloc(b, size, 1);

    if (!bytes)
        return (struct stet_view){0};
    memset(bytes, 0, size);
    for (size_t i = 0; i < words; i++) {
        uint64_t word = (uint64_t)bc_signed(r);

        for (size_t k = 0; k < 8 && 8 * i + k < size; k++)
            bytes[8 * i + k] = (unsigned char)(word >> (8 * k));
    }
    return stet_view_of(bytes, size);
}

/* APInt as MLIR writes it if the width is known. */
static uint64_t read_word(struct stet_reader *r, uint32_t bits)
{
    if (bits <= 8)
        return stet_reader_u8(r);
    return (uint64_t)bc_signed(r);
}

static int64_t sign_extend(uint64_t value, uint32_t bits)
{
    unsigned shift = bits && bits < 64 ? 64 - bits : 0;

    return (int64_t)(value << shift) >> shift;
}

enum { WIDEST_INTEGER = 1 << 24 }; /* MLIR's own limit */

const struct stet_attr *stet_decode_bc_read_integer(struct bc *b, struct stet_reader *r,
                                                    const struct stet_type *type)
{
    uint32_t bits = type->kind == STET_TYPE_INTEGER ? type->width : 64;
    struct stet_attr *a;

    if (type->kind != STET_TYPE_INTEGER && type->kind != STET_TYPE_INDEX)
        stet_reader_fail(r, "an integer attribute without an integer type");
    if (bits == 1 && type->sign == STET_SIGNLESS)
        return stet_decode_bc_make_bool(stet_reader_u8(r) & 1);
    a = stet_decode_bc_new_attr(b, STET_ATTR_INTEGER);
    a->of.type = type;
    if (bits > WIDEST_INTEGER)
        stet_reader_fail(r, "an integer wider than MLIR allows");
    else if (bits > 64)
        stet_attr_set_bytes(a, read_words(b, r, bits));
    else
        a->integer = sign_extend(read_word(r, bits), bits);
    return a;
}

const struct stet_attr *stet_decode_bc_read_float(struct bc *b, struct stet_reader *r,
                                                  const struct stet_type *type)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_FLOAT);
    uint32_t bits = type->kind == STET_TYPE_FLOAT ? stet_float_bits(type->flavour) : 0;
    unsigned char *bytes;
    uint64_t word;

    a->of.type = type;
    if (!bits) {
        stet_reader_fail(r, "a float attribute without a float type");
        return a;
    }
    if (bits > 64) {
        stet_attr_set_bytes(a, read_words(b, r, bits));
        return a;
    }
    word = read_word(r, bits);
    bytes = bc_alloc(b, 8, 1);
    for (unsigned i = 0; bytes && i < 8; i++)
        bytes[i] = (unsigned char)(word >> (8 * i));
    stet_attr_set_bytes(a, stet_view_of(bytes, bytes ? (bits + 7) / 8 : 0));
    return a;
}

/* ---- dense elements ---- */

/* i1 elements are packed eight to a byte by most writers; a lone 0xff is "all true". */
static struct stet_view unpack_bools(struct bc *b, struct stet_view bytes, uint64_t elements)
{
    char *out;

    if (bytes.len == 1 && (unsigned char)bytes.ptr[0] == 0xff)
        return STET_VIEW("\1");
    if (bytes.len != (elements + 7) / 8 || bytes.len == elements)
        return bytes;
    out = bc_alloc(b, (size_t)elements, 1);
    if (!out)
        return (struct stet_view){0};
    for (uint64_t i = 0; i < elements; i++)
        out[i] = (char)(bytes.ptr[i / 8] >> (i % 8) & 1);
    return stet_view_of(out, (size_t)elements);
}

const struct stet_attr *stet_decode_bc_make_dense(struct bc *b, const struct stet_type *type,
                                                  struct stet_view bytes)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_DENSE);
    const struct stet_type *element = type->element;
    size_t size = element ? stet_type_storage_bits(element) / 8 : 0;
    uint64_t elements, want;

    a->of.type = type;
    stet_attr_set_bytes(a, bytes);
    if (element && element->kind == STET_TYPE_QUANTIZED)
        size = stet_type_storage_bits(element->element) / 8;
    if (!size || !stet_type_elements(type, &elements) ||
        __builtin_mul_overflow(elements, (uint64_t)size, &want)) {
        stet_decode_bc_fail(b, STET_BAD_INPUT, STET_NO_OFFSET,
                            "dense elements of a type without a size");
        return a;
    }
    if (element->kind == STET_TYPE_INTEGER && element->width == 1)
        bytes = unpack_bools(b, bytes, elements);
    if (!bc_ok(b))
        return a;
    if (bytes.len != want && bytes.len != size)
        stet_decode_bc_fail(b, STET_BAD_INPUT, (uint64_t)(a->at - b->input.ptr),
                            "dense elements: %zu bytes where %llu are expected", bytes.len,
                            (unsigned long long)want);
    /* MLIR stores equal elements as one. Comparing the bytes with themselves shifted by one element
     * finds this fast. */
    else if (bytes.len && memcmp(bytes.ptr, bytes.ptr + size, bytes.len - size) == 0) {
        a->splat = true;
        bytes.len = size;
    }
    stet_attr_set_bytes(a, bytes);
    if (bytes.ptr >= b->input.ptr && bytes.ptr < b->input.ptr + b->input.len)
        b->p->constant_bytes += bytes.len;
    return a;
}
