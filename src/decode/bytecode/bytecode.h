/* Internal to the MLIR bytecode reader: what its files share. Not for other modules.
 *
 * A file has tables (strings, dialects, operation names, attributes, types, resources) and one tree
 * of operations that refers to them by number. Attributes and types are decoded at their first use.
 * The first failure sticks (stet_decode_bc_fail) and drains the readers, so callers continue with
 * harmless placeholders and check once at the end. */
#ifndef STET_DECODE_BYTECODE_H
#define STET_DECODE_BYTECODE_H

#include "base/reader.h"
#include "decode/decode.h"
#include "decode/shared_attrs.h"
#include "program/build.h"
#include "program/ops.h"
#include "program/props.h"
#include "program/records.h"

enum bc_section {
    BC_STRINGS,
    BC_DIALECTS,
    BC_ATTR_TYPE,
    BC_ATTR_TYPE_OFFSETS,
    BC_IR,
    BC_RESOURCES,
    BC_RESOURCE_OFFSETS,
    BC_DIALECT_VERSIONS,
    BC_PROPERTIES,
    BC_SECTIONS
};

/* Format versions that changed the layout (mlir/docs/BytecodeFormat.md and MLIR's Encoding.h). */
enum {
    BC_DIALECT_VERSIONING = 1,
    BC_LAZY_LOADING = 2,
    BC_USE_LIST_ORDERS = 3,
    BC_ELIDE_UNKNOWN_LOCS = 4,
    BC_NATIVE_PROPERTIES = 5,
    BC_NATIVE_SEGMENTS = 6,
    BC_NEWEST = 6,
};

enum bc_dialect_kind {
    BC_OTHER,
    BC_BUILTIN,
    BC_VHLO,
    BC_STABLEHLO,
    BC_CHLO,
    BC_SDY,
    BC_QUANT,
};

struct bc_dialect {
    struct stet_view name;
    enum bc_dialect_kind kind;
};

enum bc_state { BC_WAITING, BC_BUSY, BC_ATTR, BC_LOC };

/* One attribute or type of the table. */
struct bc_entry {
    union {
        const unsigned char *data; /* BC_WAITING, BC_BUSY */
        const void
            *made; /* afterwards: struct stet_attr or stet_type (BC_ATTR), stet_loc (BC_LOC) */
    };
    uint32_t size_low;
    uint32_t size_high : 7;
    uint32_t custom : 1; /* otherwise it is assembly text */
    uint32_t dialect : 16;
    uint32_t state : 8; /* enum bc_state */
};

static inline size_t bc_entry_size(const struct bc_entry *e)
{
    return (size_t)e->size_high << 32 | e->size_low;
}

struct bc_name;

/* The merged properties and dictionary of an operation. */
struct bc_converted {
    const struct bc_name *name; /* NULL: not computed yet */
    const struct stet_attr *dict;
    const struct stet_named_attr *attrs;
    uint32_t count;
    uint32_t properties; /* their number + 1, or 0 for none */
};

struct bc_vhlo_op;
struct bc_vhlo_plan;

/* One operation name of the table. */
struct bc_name {
    struct stet_view name; /* normalised: "stablehlo.add" */
    enum stet_known_op known;
    bool registered;
    bool usual;                    /* a known one of VHLO */
    const struct bc_vhlo_op *vhlo; /* how its attributes are converted to StableHLO's, or NULL */
    const struct bc_vhlo_plan *plan;
    const struct stet_props *props;
    struct bc_converted last; /* without properties, or with properties that another name used
                               * first */
};

struct bc_resource {
    struct stet_view key, blob;
};

struct bc {
    struct stet_program *p;
    struct stet_arena *arena;  /* the program's */
    struct stet_arena scratch; /* tables, released after decoding */
    struct stet_view input;
    const unsigned char *end; /* of the input */
    struct stet_err *err;
    enum stet_rc rc;
    unsigned version;
    unsigned depth;
    uint64_t where; /* the current entry or operation, for failures without a better offset */
    bool has_vhlo;
    struct stet_view tables; /* hash of the tables, once it was needed */
    struct stet_view sections[BC_SECTIONS];
    bool present[BC_SECTIONS];

    uint32_t *strings; /* where each begins in its section, and where the last one ends */
    struct bc_dialect *dialects;
    struct bc_name *names;
    struct bc_entry *attrs, *types;
    struct bc_resource *resources;
    uint32_t *properties;           /* where each begins in its section */
    struct bc_converted *converted; /* beside each of them, for the first name that used them */
    const unsigned char *refill_at; /* positions in the operations and in memory when room was last
                                     * made */
    size_t refill_from;
    const struct stet_type **results; /* of the current operation */
    size_t result_room;
    struct stet_value **spare; /* values visible in an isolated operation, reused by the next one */
    size_t spare_room;
    struct stet_shared_attrs interned;
    struct stet_attr full_attr; /* returned, and ignored, once memory is exhausted */
    struct stet_type full_type;
    size_t string_count, dialect_count, name_count, attr_count, type_count, resource_count,
        property_count;
};

/* ---- failing ---- */

/* Records the first failure; returns false for convenience. STET_NO_OFFSET: the current
 * position. */
bool stet_decode_bc_fail(struct bc *b, enum stet_rc rc, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Converts a reader's failure to the decoder's; true if there is none. */
bool stet_decode_bc_check(struct bc *b, const struct stet_reader *r, const char *context);

static inline bool bc_ok(const struct bc *b)
{
    return b->rc == STET_OK;
}

/* ---- reading ---- */

uint64_t stet_decode_bc_varint_slow(struct stet_reader *r);

/* MLIR's prefix varint: the low zero bits of the first byte count the bytes that follow. */
static inline uint64_t bc_varint(struct stet_reader *r)
{
    const unsigned char *p = r->next;

    if (p != r->end && (*p & 1)) {
        r->next = p + 1;
        return *p >> 1;
    }
    if (r->end - p >= 2 && (*p & 2)) {
        r->next = p + 2;
        return (*p | (unsigned)p[1] << 8) >> 2;
    }
    return stet_decode_bc_varint_slow(r);
}

static inline int64_t bc_signed(struct stet_reader *r)
{
    uint64_t v = bc_varint(r);

    return (int64_t)((v >> 1) ^ (~(v & 1) + 1));
}

/* A count of items that take at least one byte each of the remaining input; a larger count is
 * invalid. */
static inline size_t bc_count(struct stet_reader *r)
{
    uint64_t n = bc_varint(r);

    if (n > stet_reader_left(r)) {
        stet_reader_fail(r, "a count is larger than what is left");
        return 0;
    }
    return (size_t)n;
}

/* The string of that number, which must exist. */
static inline struct stet_view bc_string_at(const struct bc *b, uint64_t index)
{
    uint32_t start = b->strings[index];

    return stet_view_of(b->sections[BC_STRINGS].ptr + start, b->strings[index + 1] - start - 1);
}

struct stet_view stet_decode_bc_string(struct bc *b, struct stet_reader *r); /* by index */
/* The text of the string attribute whose index comes next; creates no attribute. */
struct stet_view stet_decode_bc_text(struct bc *b, struct stet_reader *r);
struct stet_view stet_decode_bc_blob(struct stet_reader *r); /* length, bytes */
/* The properties of that number, which must exist. */
struct stet_view stet_decode_bc_properties_at(const struct bc *b, uint64_t index);
/* A nested section, which must have the expected id. */
struct stet_view stet_decode_bc_nested(struct bc *b, struct stet_reader *r, enum bc_section want);
/* A reader over a part of the input. */
static inline struct stet_reader bc_reader(const struct bc *b, const void *data, size_t size)
{
    const unsigned char *p = size ? data : (const unsigned char *)b->input.ptr;

    return (struct stet_reader){.start = p,
                                .next = p,
                                .end = p + size,
                                .base = (uint64_t)(p - (const unsigned char *)b->input.ptr)};
}

/* ---- tables: by index; placeholders on failure, never NULL ---- */

const struct stet_attr *stet_decode_bc_attr_at(struct bc *b, uint64_t index);
const struct stet_loc *stet_decode_bc_loc_at(struct bc *b, uint64_t index);
const struct stet_type *stet_decode_bc_type_at(struct bc *b, uint64_t index);

static inline const struct stet_attr *bc_attr(struct bc *b, struct stet_reader *r)
{
    uint64_t index = bc_varint(r);

    if (index < b->attr_count && b->attrs[index].state == BC_ATTR)
        return b->attrs[index].made;
    return stet_decode_bc_attr_at(b, stet_reader_ok(r) ? index : UINT64_MAX);
}

static inline const struct stet_loc *bc_loc(struct bc *b, struct stet_reader *r)
{
    uint64_t index = bc_varint(r);

    if (index < b->attr_count && b->attrs[index].state == BC_LOC)
        return b->attrs[index].made;
    return stet_decode_bc_loc_at(b, stet_reader_ok(r) ? index : UINT64_MAX);
}

static inline const struct stet_type *bc_type(struct bc *b, struct stet_reader *r)
{
    uint64_t index = bc_varint(r);

    if (index < b->type_count && b->types[index].state == BC_ATTR)
        return b->types[index].made;
    return stet_decode_bc_type_at(b, stet_reader_ok(r) ? index : UINT64_MAX);
}

/* A number of one or two bytes before `end`; false, with nothing read, for any other. */
static inline bool bc_short(const unsigned char **at, const unsigned char *end, uint32_t *out)
{
    const unsigned char *p = *at;

    if (p < end && (*p & 1)) {
        *out = *p >> 1;
        *at = p + 1;
        return true;
    }
    if (end - p < 2 || !(*p & 2))
        return false;
    *out = (*p | (uint32_t)p[1] << 8) >> 2;
    *at = p + 2;
    return true;
}

/* The text of an attribute that is a string in its common encoding; false for any other. */
static inline bool bc_usual_text(const struct bc *b, const struct bc_entry *e,
                                 struct stet_view *out)
{
    enum { STRING = 2 << 1 | 1, VHLO_STRING = 14 << 1 | 1 };
    const unsigned char *at, *end;
    enum bc_dialect_kind kind = b->dialects[e->dialect].kind;
    uint32_t index;

    if (e->state == BC_ATTR) {
        const struct stet_attr *made = e->made;

        *out = stet_attr_text(made);
        return made->kind == STET_ATTR_STRING && !stet_attr_type(made);
    }
    if (e->state != BC_WAITING || !e->custom || bc_entry_size(e) < 2 ||
        (kind != BC_VHLO && kind != BC_BUILTIN))
        return false;
    at = e->data + 1;
    end = e->data + bc_entry_size(e);
    if (e->data[0] != (kind == BC_VHLO ? VHLO_STRING : STRING) || !bc_short(&at, end, &index) ||
        at != end || index >= b->string_count)
        return false;
    *out = bc_string_at(b, index);
    return true;
}

/* ---- creating attributes (bytecode_make.c); placeholders if the arena is full ---- */

extern const struct stet_attr bc_bad_attr, bc_no_items, bc_no_ints;
extern const struct stet_loc bc_unknown_loc;
extern const struct stet_attr_name bc_builtin_name;

void *stet_decode_bc_no_room(struct bc *b); /* fails, gives NULL */

/* Allocates in the scratch arena. If this needs a new block but the old one has more room left, the
 * old one stays in use. */
void *stet_decode_bc_rows(struct bc *b, size_t count, size_t size);

/* Memory of the program; NULL after stet_decode_bc_fail. */
static inline void *bc_alloc(struct bc *b, size_t count, size_t size)
{
    void *p = stet_arena_raw(b->arena, count, size);

    return p ? p : stet_decode_bc_no_room(b);
}

struct stet_attr *stet_decode_bc_new_attr(struct bc *b, enum stet_attr_kind kind);
/* Stored beside bytes in an encoding that this build does not know. The bytes may refer to anything
 * in the tables of the file, so they equal those of another file only if all tables are equal; this
 * is the hash of the tables. It is stored in place of the text. */
struct stet_view stet_decode_bc_tables(struct bc *b);
const struct stet_attr *stet_decode_bc_make_opaque(struct bc *b, const struct stet_attr_name *name,
                                                   struct stet_view bytes);
struct stet_type *stet_decode_bc_new_type(struct bc *b, enum stet_type_kind kind);
void stet_decode_bc_set_rest(struct bc *b, struct stet_type *t, const struct stet_type_rest *rest);
/* For attributes inside others; a list of them must not be reused (shared_attrs.h). */
const struct stet_attr *stet_decode_bc_intern(struct bc *b, struct stet_attr like);
const struct stet_attr *stet_decode_bc_make_int(struct bc *b, const struct stet_type *type,
                                                int64_t value);
const struct stet_attr *stet_decode_bc_make_bool(bool value);
const struct stet_attr *stet_decode_bc_make_ints(struct bc *b, struct stet_reader *r);
const struct stet_attr *stet_decode_bc_make_string(struct bc *b, struct stet_view text);
const struct stet_attr *stet_decode_bc_make_symbol(struct bc *b, struct stet_view text);
const struct stet_attr *stet_decode_bc_make_enum(struct bc *b, const struct stet_enum *e,
                                                 uint64_t value);
/* Fields are copied. */
const struct stet_attr *stet_decode_bc_make_record(struct bc *b,
                                                   const struct stet_attr_record *record,
                                                   const struct stet_named_attr *fields,
                                                   uint32_t count);
/* Reads the part after the type. */
const struct stet_attr *stet_decode_bc_read_integer(struct bc *b, struct stet_reader *r,
                                                    const struct stet_type *type);
const struct stet_attr *stet_decode_bc_read_float(struct bc *b, struct stet_reader *r,
                                                  const struct stet_type *type);
const struct stet_attr *stet_decode_bc_read_array(struct bc *b, struct stet_reader *r);
const struct stet_attr *stet_decode_bc_read_dict(struct bc *b, struct stet_reader *r);
const struct stet_attr *stet_decode_bc_make_dense(struct bc *b, const struct stet_type *type,
                                                  struct stet_view bytes);
const int64_t *stet_decode_bc_read_dims(struct bc *b, struct stet_reader *r, uint32_t *rank);
const struct stet_type *const *stet_decode_bc_read_types(struct bc *b, struct stet_reader *r,
                                                         uint32_t *count);

/* ---- per dialect ---- */

const struct stet_attr *stet_decode_bc_builtin_attr(struct bc *b, struct stet_reader *r,
                                                    uint64_t code);
const struct stet_loc *stet_decode_bc_builtin_loc(struct bc *b, struct stet_reader *r,
                                                  uint64_t code);
bool stet_decode_bc_builtin_is_loc(uint64_t code);
const struct stet_type *stet_decode_bc_builtin_type(struct bc *b, struct stet_reader *r,
                                                    uint64_t code);
const struct stet_attr *stet_decode_bc_affine_map(struct bc *b, struct stet_reader *r);
bool stet_decode_bc_is_identity_map(const struct stet_attr *a, uint32_t rank);
const struct stet_attr *stet_decode_bc_record_attr(struct bc *b, struct stet_reader *r,
                                                   const struct bc_dialect *dialect, uint64_t code);
const struct stet_attr *stet_decode_bc_vhlo_attr(struct bc *b, struct stet_reader *r,
                                                 uint64_t code);
const struct stet_type *stet_decode_bc_vhlo_type(struct bc *b, struct stet_reader *r,
                                                 uint64_t code);
const struct stet_type *stet_decode_bc_quant_type(struct bc *b, struct stet_reader *r,
                                                  bool per_axis);
/* Assembly text, which dialects without an own encoding use. */
const struct stet_attr *stet_decode_bc_text_attr(struct bc *b, const struct bc_dialect *d,
                                                 struct stet_view text);
const struct stet_type *stet_decode_bc_text_type(struct bc *b, const struct bc_dialect *d,
                                                 struct stet_view text);

/* The full name, a shared constant if this build knows the operation. */
void stet_decode_bc_name_op(struct bc *b, struct stet_view dialect, struct stet_view name,
                            struct bc_name *out);

/* ---- VHLO operations (vhlo.c) ---- */

/* "add_v1" → "stablehlo.add" and its rules; false if this build does not know that version. */
bool stet_decode_bc_vhlo_name(struct bc *b, struct stet_view name, struct bc_name *out);
/* The properties (number + 1, 0 for none) and dictionary of a VHLO operation as StableHLO's
 * attributes, sorted by name. */
bool stet_decode_bc_vhlo_convert(struct bc *b, struct bc_name *name, uint32_t properties,
                                 const struct stet_attr *dict, struct bc_converted *to);

/* Where attributes of an operation are cached: beside the properties, unless another name used
 * these first. */
static inline struct bc_converted *bc_converted_place(struct bc *b, struct bc_name *name,
                                                      uint32_t properties)
{
    struct bc_converted *place = properties ? &b->converted[properties - 1] : NULL;

    return place && (!place->name || place->name == name) ? place : &name->last;
}

/* Is it there? */
static inline bool bc_converted_is(const struct bc_converted *place, const struct bc_name *name,
                                   uint32_t properties, const struct stet_attr *dict)
{
    return place->name == name && place->dict == dict && place->properties == properties;
}

/* ---- the attributes of an operation (bytecode_attrs.c) ---- */

/* The parts that an operation has, from its second byte. */
enum {
    HAS_ATTRS = 0x01,
    HAS_RESULTS = 0x02,
    HAS_OPERANDS = 0x04,
    HAS_SUCCESSORS = 0x08,
    HAS_REGIONS = 0x10,
    HAS_USE_LISTS = 0x20,
    HAS_PROPERTIES = 0x40,
};

struct bc_attr_list {
    const struct stet_named_attr *at;
    uint32_t count;
};

extern const struct stet_attr bc_no_attrs; /* an empty dictionary */

/* The attributes at `r` for an operation of that name and mask. */
struct bc_attr_list stet_decode_bc_read_attrs(struct bc *b, struct stet_reader *r,
                                              struct bc_name *name, unsigned mask);

/* ---- the tree (bytecode_ir.c) ---- */

bool stet_decode_bc_read_ir(struct bc *b);

#endif
