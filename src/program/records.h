/* Structured attributes as tables: what fields a #stablehlo.dot<...> has, in which order and kind.
 *
 * All readers make the same form of one attribute, so that a program read from text and from
 * bytecode is the same program:
 *  - RECORD attributes carry every field of their table in its order; a field whose kind is
 * OPTIONAL_* or BOOL_ATTR (and reduction_op, when it is the sum) is left out when absent. Empty
 * lists are there, empty.
 *  - INT is an INTEGER attribute of type i64, INTS is STET_ATTR_INTS, BOOL is BOOL, F64 is FLOAT of
 *    type f64, STRING is STRING, TYPE is TYPE, ATTRS is an ARRAY of the nested attributes.
 *  - "?" in bounds is STET_DYNAMIC.
 *  - Shardy's nested attributes are RECORDs too ("sdy", "axis_ref"), also where their text is
 *    stripped: {"x"} inside a sharding.
 *  - ENUM attributes have dialect, mnemonic and the case name as `text`.
 *  - i1 IntegerAttr is BOOL with no type; other integers are INTEGER, sign-extended, with a type.
 *  - What StableHLO declares as DenseI64ArrayAttr is DENSE_ARRAY with element type i64 and
 *    little-endian bytes; DenseBoolArrayAttr has element type i1 and one byte each.
 *  - DENSE has the shaped type; bytes are one element when `splat`, otherwise all of them, and i1
 * takes one byte an element (0 or 1), as MLIR prints and not as older bytecode packs it. A dense
 *    attribute with one element is splat; hex text and lists give the same bytes. */
#ifndef STET_PROGRAM_RECORDS_H
#define STET_PROGRAM_RECORDS_H

#include "program/program.h"

enum stet_attr_field_kind {
    STET_FIELD_END = 0,
    STET_FIELD_INT,
    STET_FIELD_INTS,
    STET_FIELD_STRING,
    STET_FIELD_TYPE,
    STET_FIELD_BOOL,
    STET_FIELD_F64,
    STET_FIELD_ATTR,
    STET_FIELD_ATTRS,
    STET_FIELD_OPTIONAL_ATTR, /* bytecode: index and flag in one varint */
    STET_FIELD_BOOL_ATTR,     /* optional; bytecode: a byte, then the index */
    STET_FIELD_OPTIONAL_INT,  /* bytecode: value and flag in one varint */
    STET_FIELD_ATTRS_V2,      /* sdy.sharding: in bytecode only from its second code on */
    STET_FIELD_REDUCTION_V3,  /* sdy.sharding: "max" or "min" as STRING; left out for the sum */
};

/* How the text looks after "#dialect.mnemonic". */
enum stet_record_style {
    STET_STYLE_STRUCT, /* <name = value, …> with every field */
    STET_STYLE_SPARSE, /* the same without zeros and empty lists */
    STET_STYLE_CONV,
    STET_STYLE_BOUNDS,
    STET_STYLE_ACCURACY,
    STET_STYLE_MESH,
    STET_STYLE_SUB_AXIS,
    STET_STYLE_SDY_BRACES,
    STET_STYLE_SDY_BRACKETS,
    STET_STYLE_SDY_MESH_AXIS,
    STET_STYLE_SDY_MESH,
    STET_STYLE_SDY_AXIS,
    STET_STYLE_SDY_DIMENSION,
    STET_STYLE_SDY_SHARDING,
    STET_STYLE_SDY_PER_VALUE,
    STET_STYLE_SDY_DIM_MAPPING,
    STET_STYLE_SDY_RULE,
    STET_STYLE_SDY_ALL_TO_ALL,
};

enum { STET_RECORD_FIELDS = 10, STET_ENUM_CASES = 7 };

struct stet_attr_record {
    struct stet_attr_name name;
    int code; /* in the dialect's bytecode, -1 for none */
    enum stet_record_style style;
    struct {
        struct stet_view name;
        enum stet_attr_field_kind kind;
    } fields[STET_RECORD_FIELDS + 1]; /* ended by STET_FIELD_END */
};

struct stet_enum {
    struct stet_attr_name name;
    int code;
    struct {
        struct stet_view name;
        uint32_t value;
    } cases[STET_ENUM_CASES]; /* ended by an empty name */
};

/* By name or by bytecode code; NULL if unknown. */
const struct stet_attr_record *stet_attr_record_find(struct stet_view dialect,
                                                     struct stet_view mnemonic);
const struct stet_attr_record *stet_attr_record_by_code(struct stet_view dialect, uint64_t code);
const struct stet_enum *stet_enum_find(struct stet_view dialect, struct stet_view mnemonic);
const struct stet_enum *stet_enum_by_code(struct stet_view dialect, uint64_t code);
/* The name of a case; an empty view for a value that this build does not know. */
struct stet_view stet_enum_case(const struct stet_enum *e, uint64_t value);

#endif
