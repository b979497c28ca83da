/* The one in-memory form of a compiled program. Every decoder creates it and every later stage
 * reads it.
 *
 * It has MLIR's own form (operations with operands, results, attributes, regions, a location),
 * because HLO can be mapped to it but not the other way round. VHLO is normalised while it is read:
 * "vhlo.add_v1" becomes "stablehlo.add" with StableHLO's attribute names, so the same program in
 * any version of the portable format is the same program here. HLO keeps its own dialect,
 * "hlo.add", with called computations as functions; hlo_to_stablehlo.h converts it where a stage
 * needs that.
 *
 * Everything is in the program's arena and is immutable once decoded. Types, attributes and
 * locations are interned per program: equal pointers mean equal, but different pointers may still
 * be equal, because decoders intern by table slot and not by value. Views may point into the input
 * bytes, which must outlive the program: large constants are never copied. */
#ifndef STET_PROGRAM_PROGRAM_H
#define STET_PROGRAM_PROGRAM_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/view.h"

/* ---- types ---- */

enum stet_type_kind {
    STET_TYPE_OPAQUE,  /* a dialect that this build does not know: `text` and/or `bytes` */
    STET_TYPE_INTEGER, /* width, signedness; i1 is width 1 */
    STET_TYPE_FLOAT,   /* flavour */
    STET_TYPE_INDEX,
    STET_TYPE_COMPLEX,  /* element */
    STET_TYPE_TENSOR,   /* element, dims, encoding */
    STET_TYPE_UNRANKED, /* element; tensor<*xT> */
    STET_TYPE_MEMREF,   /* element, dims, encoding = layout, memory space or both in an array */
    STET_TYPE_VECTOR,   /* element, dims, encoding = which of them scale, array<i1>; or NULL */
    STET_TYPE_TUPLE,    /* members */
    STET_TYPE_FUNCTION, /* members: inputs first, then results; inputs counts the first part */
    STET_TYPE_TOKEN,    /* !stablehlo.token */
    STET_TYPE_NONE,
    STET_TYPE_QUANTIZED,       /* element = storage; `text` holds the rest */
    STET_TYPE_FUTURE,          /* !stablehlo.future: members */
    STET_TYPE_UNRANKED_MEMREF, /* element, encoding = memory space; memref<*xT> */
};

enum stet_sign { STET_SIGNLESS, STET_SIGNED, STET_UNSIGNED };

/* Every float format of the portable formats; names as MLIR prints them (stet_float_name). */
enum stet_float {
    STET_F16,
    STET_BF16,
    STET_F32,
    STET_F64,
    STET_TF32,
    STET_F80,
    STET_F128,
    STET_F8E5M2,
    STET_F8E4M3,
    STET_F8E4M3FN,
    STET_F8E5M2FNUZ,
    STET_F8E4M3FNUZ,
    STET_F8E4M3B11FNUZ,
    STET_F8E3M4,
    STET_F8E8M0FNU,
    STET_F4E2M1FN,
    STET_F6E2M3FN,
    STET_F6E3M2FN,
    STET_FLOATS
};

#define STET_DYNAMIC INT64_MIN /* a '?' dimension */

struct stet_attr;

/* The fields that few types have. */
struct stet_type_rest {
    const struct stet_attr *encoding; /* of a TENSOR: #stablehlo.bounds<...> has bounds, below */
    const int64_t *bounds;            /* rank entries, STET_DYNAMIC for none; or NULL */
    const int64_t *layout;            /* HLO: minor-to-major, rank entries; NULL is default */
    struct stet_view layout_extra;    /* HLO: tiles, memory space… as HLO text prints them */
    struct stet_view text, bytes;     /* OPAQUE, QUANTIZED */
    struct stet_view dialect;         /* OPAQUE */
};

struct stet_type {
    enum stet_type_kind kind : 8;
    enum stet_sign sign : 8;     /* INTEGER */
    enum stet_float flavour : 8; /* FLOAT */
    uint32_t width;              /* INTEGER: bits */
    uint32_t rank;               /* dims */
    uint32_t member_count, input_count;
    const struct stet_type *element;
    union { /* no kind has both; the other's count is 0 */
        const int64_t *dims;
        const struct stet_type *const *members; /* TUPLE, FUNCTION, FUTURE */
    };
    const struct stet_type_rest *rest; /* NULL if the type has none: stet_type_rest */
};

extern const struct stet_type_rest stet_type_no_rest;

static inline const struct stet_type_rest *stet_type_rest(const struct stet_type *t)
{
    return t->rest ? t->rest : &stet_type_no_rest;
}

/* ---- attributes ---- */

enum stet_attr_kind {
    STET_ATTR_OPAQUE, /* unknown dialect: dialect, `text` and/or `bytes` */
    STET_ATTR_UNIT,
    STET_ATTR_BOOL,    /* integer 0 or 1 (MLIR's i1 IntegerAttr) */
    STET_ATTR_INTEGER, /* type, integer; wider than 64 bits: bytes, little-endian */
    STET_ATTR_FLOAT,   /* type, bits in bytes (little-endian, width of the type) */
    STET_ATTR_STRING,  /* text; type when not none */
    STET_ATTR_SYMBOL,  /* text = root name without '@'; items = nested references */
    STET_ATTR_ARRAY,   /* items */
    STET_ATTR_DICT,    /* named, in the order of the input */
    STET_ATTR_TYPE,    /* type */
    STET_ATTR_DENSE,   /* type = shaped; bytes = elements, little-endian, whole bytes; splat */
    STET_ATTR_DENSE_STRINGS, /* type = shaped; items = STRING attributes */
    STET_ATTR_DENSE_ARRAY,   /* type = element; bytes */
    STET_ATTR_RESOURCE,   /* dense_resource<text> : type; bytes = the blob when it is in the file */
    STET_ATTR_SPARSE,     /* items = indices, values */
    STET_ATTR_ENUM,       /* dialect, mnemonic = "comparison_direction", text = "GT" */
    STET_ATTR_RECORD,     /* dialect, mnemonic = "dot", named fields; e.g. #stablehlo.dot<...> */
    STET_ATTR_INTS,       /* a list of int64 inside records and HLO attributes: ints, count */
    STET_ATTR_LOCATION,   /* location */
    STET_ATTR_AFFINE_MAP, /* text; kept and compared, but not interpreted */
};

struct stet_named_attr {
    struct stet_view name;
    const struct stet_attr *value;
};

struct stet_loc;

/* The dialect of an attribute, and its name there. */
struct stet_attr_name {
    struct stet_view dialect, mnemonic;
};

/* Allocated only as large as its kind needs (stet_attr_size), because half of a small program is
 * attributes. Fields that some kinds lack are read through the functions below, which return
 * nothing for those kinds. Never copy an attribute as a whole. */
struct stet_attr {
    uint8_t kind; /* enum stet_attr_kind */
    bool splat;
    uint32_t count; /* items, named or ints */
    union {         /* no kind has two of these */
        const struct stet_attr *const *items;
        const struct stet_named_attr *named;
        const int64_t *ints;
        const struct stet_loc *location;
        int64_t integer;
        const char *at; /* bytes, or the text of a kind that has no bytes */
    };
    union {
        const struct stet_type *type;
        const struct stet_attr_name *name; /* OPAQUE, ENUM, RECORD */
    } of;
    size_t size;           /* of the data at `at` */
    struct stet_view word; /* the text of SYMBOL, RESOURCE, OPAQUE */
};

#define STET_ATTR_IN(kind, kinds) ((kinds) >> (kind) & 1)

enum {
    STET_ATTR_HAS_TYPE = 1 << STET_ATTR_INTEGER | 1 << STET_ATTR_FLOAT | 1 << STET_ATTR_STRING |
        1 << STET_ATTR_TYPE | 1 << STET_ATTR_DENSE | 1 << STET_ATTR_DENSE_STRINGS |
        1 << STET_ATTR_DENSE_ARRAY | 1 << STET_ATTR_RESOURCE | 1 << STET_ATTR_SPARSE,
    STET_ATTR_HAS_NAME = 1 << STET_ATTR_OPAQUE | 1 << STET_ATTR_ENUM | 1 << STET_ATTR_RECORD,
    STET_ATTR_HAS_BYTES = 1 << STET_ATTR_INTEGER | 1 << STET_ATTR_FLOAT | 1 << STET_ATTR_DENSE |
        1 << STET_ATTR_DENSE_ARRAY | 1 << STET_ATTR_RESOURCE | 1 << STET_ATTR_OPAQUE,
    STET_ATTR_IS_TEXT = 1 << STET_ATTR_STRING | 1 << STET_ATTR_ENUM | 1 << STET_ATTR_AFFINE_MAP,
    STET_ATTR_HAS_TEXT = 1 << STET_ATTR_SYMBOL | 1 << STET_ATTR_RESOURCE | 1 << STET_ATTR_OPAQUE,
};

/* Bytes of an attribute of that kind. */
static inline size_t stet_attr_size(unsigned kind)
{
    if (STET_ATTR_IN(kind, STET_ATTR_HAS_TEXT))
        return sizeof(struct stet_attr);
    if (STET_ATTR_IN(kind, STET_ATTR_HAS_BYTES | STET_ATTR_IS_TEXT))
        return offsetof(struct stet_attr, word);
    return STET_ATTR_IN(kind, STET_ATTR_HAS_TYPE | STET_ATTR_HAS_NAME)
               ? offsetof(struct stet_attr, size)
               : offsetof(struct stet_attr, of);
}

/* NULL for none. */
static inline const struct stet_type *stet_attr_type(const struct stet_attr *a)
{
    return STET_ATTR_IN(a->kind, STET_ATTR_HAS_TYPE) ? a->of.type : NULL;
}

static inline struct stet_view stet_attr_bytes(const struct stet_attr *a)
{
    if (!STET_ATTR_IN(a->kind, STET_ATTR_HAS_BYTES) || (a->kind == STET_ATTR_INTEGER && !a->size))
        return (struct stet_view){0};
    return stet_view_of(a->at, a->size);
}

static inline struct stet_view stet_attr_text(const struct stet_attr *a)
{
    if (STET_ATTR_IN(a->kind, STET_ATTR_IS_TEXT))
        return stet_view_of(a->at, a->size);
    return STET_ATTR_IN(a->kind, STET_ATTR_HAS_TEXT) ? a->word : (struct stet_view){0};
}

/* 0 for a kind without a number, and for a number wider than 64 bits. */
static inline int64_t stet_attr_int(const struct stet_attr *a)
{
    return a->kind == STET_ATTR_BOOL || (a->kind == STET_ATTR_INTEGER && !a->size) ? a->integer : 0;
}

/* NULL for builtin attributes. */
static inline const struct stet_attr_name *stet_attr_name(const struct stet_attr *a)
{
    return STET_ATTR_IN(a->kind, STET_ATTR_HAS_NAME) ? a->of.name : NULL;
}

static inline struct stet_view stet_attr_dialect(const struct stet_attr *a)
{
    const struct stet_attr_name *name = stet_attr_name(a);

    return name ? name->dialect : (struct stet_view){0};
}

static inline struct stet_view stet_attr_mnemonic(const struct stet_attr *a)
{
    const struct stet_attr_name *name = stet_attr_name(a);

    return name ? name->mnemonic : (struct stet_view){0};
}

/* For code that creates an attribute of a kind that has it. */
static inline void stet_attr_set_bytes(struct stet_attr *a, struct stet_view bytes)
{
    a->at = bytes.ptr;
    a->size = bytes.len;
}

static inline void stet_attr_set_text(struct stet_attr *a, struct stet_view text)
{
    if (STET_ATTR_IN(a->kind, STET_ATTR_IS_TEXT))
        stet_attr_set_bytes(a, text);
    else
        a->word = text;
}

/* ---- locations ---- */

enum stet_loc_kind {
    STET_LOC_UNKNOWN,
    STET_LOC_FILE,     /* text = file, line, column, end (0: none) */
    STET_LOC_NAME,     /* text, parts[0] = child */
    STET_LOC_CALLSITE, /* parts[0] = callee, parts[1] = caller */
    STET_LOC_FUSED,    /* parts; metadata */
    STET_LOC_OPAQUE,
};

/* Allocated only as large as its kind needs (stet_loc_size); never copy a location as a whole. */
struct stet_loc {
    enum stet_loc_kind kind : 8;
    bool ends;      /* FILE: has an end, read with stet_loc_end */
    bool called;    /* has a `frame` */
    uint32_t count; /* parts */
    struct stet_view text;
    union {
        struct { /* FILE */
            uint32_t line, column;
            struct stet_loc_end {
                uint32_t line, column;
            } end;
        };
        struct { /* all others */
            const struct stet_loc *const *parts;
            const struct stet_attr *metadata; /* FUSED, OPAQUE; read with stet_loc_metadata */
        };
    };
    const struct stet_view *frame; /* HLO stack frames: the Python function */
};

/* Size in bytes of a location of that kind without a frame. */
static inline size_t stet_loc_size(enum stet_loc_kind kind, bool ends)
{
    return kind == STET_LOC_NAME || kind == STET_LOC_CALLSITE || (kind == STET_LOC_FILE && !ends)
               ? offsetof(struct stet_loc, metadata)
               : offsetof(struct stet_loc, frame);
}

static inline struct stet_loc_end stet_loc_end(const struct stet_loc *l)
{
    return l->ends ? l->end : (struct stet_loc_end){0};
}

static inline const struct stet_attr *stet_loc_metadata(const struct stet_loc *l)
{
    return l->kind == STET_LOC_FUSED || l->kind == STET_LOC_OPAQUE ? l->metadata : NULL;
}

/* The Python function of an HLO stack frame; empty for other locations. */
static inline struct stet_view stet_loc_frame(const struct stet_loc *l)
{
    return l->called ? *l->frame : (struct stet_view){0};
}

/* ---- values, operations, blocks, regions ---- */

struct stet_op;
struct stet_block;

/* A result is stored in its operation and an argument in the list of its block, so each finds its
 * owner by its address: stet_value_def, stet_value_block. */
struct stet_value {
    const struct stet_type *type;
    uint32_t id;           /* dense, unique in the program; stages index side tables by it */
    uint32_t index : 31;   /* among the results or the arguments */
    uint32_t argument : 1; /* of a block; otherwise a result */
};

struct stet_region {
    struct stet_block **blocks;
    uint32_t block_count;
};

/* Created by stet_build_op and, for common ones, by the bytecode reader. After the results come the
 * operands, the regions and the fields that few operations have, each as long as its count
 * (stet_op_operands, stet_op_regions, …). A program has one operation for every ten bytes, so the
 * size of this struct matters. */
struct stet_op {
    const struct stet_loc *loc;
    struct stet_block *parent;           /* NULL for the module */
    const struct stet_named_attr *attrs; /* sorted by name; properties are merged in */
    uint32_t id;                         /* dense, in order of appearance */
    uint32_t operand_count, result_count;
    uint32_t known : 10; /* enum stet_known_op (ops.h), 0 if this build does not know it */
    uint32_t attr_count : 10;
    uint32_t region_count : 10;
    uint32_t branches : 1; /* has successors */
    struct stet_value results[];
};

/* The limits of the bit fields above; more is STET_LIMIT. */
enum { STET_MAX_ATTRS = 1023, STET_MAX_REGIONS = 1023 };

struct stet_block {
    struct stet_value *args; /* contiguous; made by stet_build_args */
    struct stet_op **ops;
    struct stet_op *parent; /* the operation whose region this is */
    uint32_t arg_count, op_count;
};

static inline struct stet_value **stet_op_operands(const struct stet_op *op)
{
    return (struct stet_value **)((uintptr_t)op->results +
                                  op->result_count * sizeof(struct stet_value));
}

static inline struct stet_value *stet_op_operand(const struct stet_op *op, uint32_t i)
{
    return stet_op_operands(op)[i];
}

static inline struct stet_region *stet_op_regions(const struct stet_op *op)
{
    return (struct stet_region *)(uintptr_t)(stet_op_operands(op) + op->operand_count);
}

static inline struct stet_region *stet_op_region(const struct stet_op *op, uint32_t i)
{
    return stet_op_regions(op) + i;
}

/* "stablehlo.add", "func.func", "hlo.add" */
struct stet_view stet_op_name(const struct stet_op *op);
uint32_t stet_op_successor_count(const struct stet_op *op);
struct stet_block **stet_op_successors(const struct stet_op *op);
/* The index of a successor among the blocks of its region, from 1; 0 if it is not there. */
uint32_t stet_op_successor_place(const struct stet_op *op, uint32_t i);

/* The operation that a value is a result of; NULL for a block argument. */
static inline struct stet_op *stet_value_def(const struct stet_value *v)
{
    if (v->argument)
        return NULL;
    return (struct stet_op *)((uintptr_t)(v - v->index) - sizeof(struct stet_op));
}

/* The header before a block's arguments; their locations follow them. */
struct stet_block_args {
    struct stet_block *block;
    struct stet_value values[];
};

/* The block of an argument; NULL for a result. */
static inline struct stet_block *stet_value_block(const struct stet_value *v)
{
    if (!v->argument)
        return NULL;
    return ((const struct stet_block_args *)((uintptr_t)(v - v->index) -
                                             sizeof(struct stet_block_args)))
        ->block;
}

/* The locations of a block's arguments, one each; NULL for none. */
static inline const struct stet_loc **stet_block_locs(const struct stet_block *b)
{
    return (const struct stet_loc **)(uintptr_t)(b->args + b->arg_count);
}

/* The location of a block argument; NULL for results. */
static inline const struct stet_loc *stet_value_loc(const struct stet_value *v)
{
    return v->argument ? stet_block_locs(stet_value_block(v))[v->index] : NULL;
}

/* An argument of the entry function, with what frameworks record about it. */
struct stet_argument {
    struct stet_view name; /* "params['w']" from the location, "" if unknown */
    const struct stet_value *value;
    const struct stet_attr *sharding; /* mhlo.sharding, sdy.sharding or the HLO one; or NULL */
    int32_t alias;                    /* result it is aliased with (tf.aliasing_output), or -1 */
    bool donor;                       /* jax.buffer_donor, or a donor of the HLO module */
    const struct stet_attr *attrs;    /* its whole dictionary, or NULL */
};

struct stet_result {
    struct stet_view name; /* jax.result_info, "" if unknown */
    const struct stet_type *type;
    const struct stet_attr *sharding;
    const struct stet_attr *attrs;
};

enum stet_source {
    STET_SOURCE_BYTECODE,
    STET_SOURCE_MLIR_TEXT,
    STET_SOURCE_HLO,
    STET_SOURCE_HLO_TEXT
};

struct stet_program {
    struct stet_arena arena;
    enum stet_source source;
    struct stet_view producer;  /* "StableHLO_v1.13.7"; "" if the format has none */
    struct stet_op *module;     /* builtin.module (or hlo.module) */
    struct stet_op **functions; /* function-like operations in order; names are unique */
    uint32_t function_count;
    struct stet_op *entry; /* @main / the HLO entry computation */
    struct stet_argument *arguments;
    struct stet_result *outputs;
    uint32_t argument_count, output_count;
    uint32_t op_count, value_count; /* ids are below these */
    uint64_t constant_bytes;        /* bytes of constants that stay in the input */
    uint32_t left_out;              /* constants that were left out when the input was printed */
};

/* Limits shared by all decoders. */
enum { STET_MAX_DEPTH = 256 };

void stet_program_release(struct stet_program *p);

/* Called after a decoder has built the module and the ids: finds functions, entry, arguments and
 * outputs (reads the attributes named in struct stet_argument). STET_BAD_INPUT if there is no
 * module. */
enum stet_rc stet_program_index(struct stet_program *p, struct stet_err *err);

/* ---- looking things up ---- */

/* NULL if absent. `attrs` are sorted, so this is a binary search. */
const struct stet_attr *stet_op_attr(const struct stet_op *op, const char *name);
/* A field of a RECORD or DICT (linear), or NULL. */
const struct stet_attr *stet_attr_field(const struct stet_attr *a, const char *name);
/* The symbol of a function-like operation; empty if it has none. */
struct stet_view stet_op_symbol(const struct stet_op *op);
struct stet_op *stet_program_function(const struct stet_program *p, struct stet_view symbol);

/* The source position to show to a person: the innermost file location (callee side of call sites,
 * first usable part of fused ones, child of names), or NULL. */
const struct stet_loc *stet_loc_file(const struct stet_loc *loc);
/* The function name of that position (from NAME locations around it or HLO frames); may be
 * empty. */
struct stet_view stet_loc_function(const struct stet_loc *loc);

/* The number of elements of a shaped type; false if it is dynamic or overflows. */
bool stet_type_elements(const struct stet_type *t, uint64_t *out);
/* Bits of an element as dense attributes store it here (i1: 8, i4: 8 …; records.h); 0 if it cannot
 * be stored. */
uint32_t stet_type_storage_bits(const struct stet_type *t);
const char *stet_float_name(enum stet_float f);
uint32_t stet_float_bits(enum stet_float f);

bool stet_type_eq(const struct stet_type *a, const struct stet_type *b);
bool stet_attr_eq(const struct stet_attr *a, const struct stet_attr *b);

/* Visits every operation in order, parents before children. Return false from `visit` to stop. */
bool stet_program_walk(const struct stet_program *p,
                       bool (*visit)(const struct stet_op *op, void *context), void *context);

/* May its devices need each other's values? They do not if no operation communicates and nothing in
 * the program has a sharding: then each device computes by itself. */
bool stet_program_meets(const struct stet_program *p);

#endif
