/* Attributes and types of StableHLO, CHLO, Shardy and VHLO. The first three are read by the tables
 * of records.def. VHLO's are converted to the equivalent builtin and StableHLO ones. */
#include "decode/bytecode/bytecode.h"

/* ---- by table ---- */

/* sdy.sharding has three codes: with unreduced axes, and with another reduction than a sum. */
enum { SHARDING = 6, SHARDING_V2 = 15, PER_VALUE = 7, PER_VALUE_V2 = 16, SHARDING_V3 = 17 };

static const struct stet_attr *read_f64(struct bc *b, struct stet_reader *r)
{
    return stet_decode_bc_read_float(b, r, stet_type_float(STET_F64));
}

static const struct stet_attr *read_type_attr(struct bc *b, struct stet_reader *r)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_TYPE);

    a->of.type = bc_type(b, r);
    return a;
}

/* NULL for an optional field that is absent. */
static const struct stet_attr *read_field(struct bc *b, struct stet_reader *r,
                                          enum stet_attr_field_kind kind, uint64_t code)
{
    const struct stet_type *i64 = stet_type_integer(b->arena, 64, STET_SIGNLESS);
    uint64_t v;

    switch (kind) {
    case STET_FIELD_INT:
        return stet_decode_bc_make_int(b, i64, bc_signed(r));
    case STET_FIELD_INTS:
        return stet_decode_bc_make_ints(b, r);
    case STET_FIELD_STRING:
        return stet_decode_bc_make_string(b, stet_decode_bc_string(b, r));
    case STET_FIELD_TYPE:
        return read_type_attr(b, r);
    case STET_FIELD_BOOL:
        return stet_decode_bc_make_bool(stet_reader_u8(r) & 1);
    case STET_FIELD_F64:
        return read_f64(b, r);
    case STET_FIELD_ATTR:
        return bc_attr(b, r);
    case STET_FIELD_ATTRS:
        return stet_decode_bc_read_array(b, r);
    case STET_FIELD_OPTIONAL_ATTR:
        v = bc_varint(r);
        return v & 1 ? stet_decode_bc_attr_at(b, v >> 1) : NULL;
    case STET_FIELD_BOOL_ATTR:
        return stet_reader_u8(r) & 1 ? bc_attr(b, r) : NULL;
    case STET_FIELD_OPTIONAL_INT:
        v = bc_varint(r);
        return v & 1 ? stet_decode_bc_make_int(b, i64, (int64_t)(v >> 1)) : NULL;
    case STET_FIELD_ATTRS_V2:
        return code == SHARDING ? &bc_no_items : stet_decode_bc_read_array(b, r);
    case STET_FIELD_REDUCTION_V3:
        v = code == SHARDING_V3 ? (uint64_t)bc_signed(r) : 0;
        if (v > 2)
            stet_reader_fail(r, "unknown reduction");
        return v == 1   ? stet_decode_bc_make_string(b, STET_VIEW("max"))
               : v == 2 ? stet_decode_bc_make_string(b, STET_VIEW("min"))
                        : NULL;
    default:
        return NULL;
    }
}

/* Gather and scatter got batching dimensions in 2024; files from before have none. */
static bool is_later_field(struct stet_view name)
{
    return stet_view_ends(name, "_batching_dims");
}

static const struct stet_attr *read_fields(struct bc *b, struct stet_reader *r,
                                           const struct stet_attr_record *record, uint64_t code,
                                           bool with_later)
{
    struct stet_named_attr fields[STET_RECORD_FIELDS];
    uint32_t count = 0;

    for (unsigned i = 0; record->fields[i].kind != STET_FIELD_END; i++) {
        fields[count].name = record->fields[i].name;
        if (with_later || !is_later_field(record->fields[i].name))
            fields[count].value = read_field(b, r, record->fields[i].kind, code);
        else
            fields[count].value = &bc_no_ints;
        count += fields[count].value != NULL;
    }
    return stet_decode_bc_make_record(b, record, fields, count);
}

static const struct stet_attr *read_record(struct bc *b, struct stet_reader *r,
                                           const struct stet_attr_record *record, uint64_t code)
{
    struct stet_reader start = *r;
    const struct stet_attr *a = read_fields(b, r, record, code, true);

    if ((stet_reader_ok(r) && !stet_reader_left(r)) || !bc_ok(b) ||
        !(stet_view_is(record->name.mnemonic, "gather") ||
          stet_view_is(record->name.mnemonic, "scatter")))
        return a;
    *r = start;
    return read_fields(b, r, record, code, false);
}

const struct stet_attr *stet_decode_bc_record_attr(struct bc *b, struct stet_reader *r,
                                                   const struct bc_dialect *dialect, uint64_t code)
{
    const struct stet_attr_record *record;
    const struct stet_enum *e = stet_enum_by_code(dialect->name, code);
    uint64_t table = code;

    if (e)
        return stet_decode_bc_make_enum(b, e, bc_varint(r));
    if (dialect->kind == BC_SDY && (code == SHARDING_V2 || code == SHARDING_V3))
        table = SHARDING;
    if (dialect->kind == BC_SDY && code == PER_VALUE_V2)
        table = PER_VALUE;
    record = stet_attr_record_by_code(dialect->name, table);
    if (record)
        return read_record(b, r, record, code);
    stet_reader_fail(r, "an attribute code this build does not know");
    return &bc_bad_attr;
}

/* ---- VHLO attributes ---- */

enum {
    VHLO_ARRAY = 1,
    VHLO_BOOL,
    VHLO_COMPARISON_DIRECTION,
    VHLO_COMPARISON_TYPE,
    VHLO_API_VERSION,
    VHLO_DICT,
    VHLO_FFT_TYPE,
    VHLO_FLOAT,
    VHLO_INTEGER,
    VHLO_OUTPUT_ALIAS,
    VHLO_PRECISION,
    VHLO_RNG_ALGORITHM,
    VHLO_RNG_DISTRIBUTION,
    VHLO_STRING,
    VHLO_TENSOR,
    VHLO_TRANSPOSE,
    VHLO_TYPE,
    VHLO_EXTENSIONS,
    VHLO_ACCURACY_MODE,
    VHLO_ACCURACY,
    VHLO_SUB_AXIS,
    VHLO_AXIS_REF,
    VHLO_MESH_AXES,
    VHLO_MESH_AXIS,
    VHLO_MESH,
};

/* StableHLO's name for the same attribute, where the bytes after the code are also the same. */
static const char *vhlo_twin(uint64_t code)
{
    switch (code) {
    case VHLO_COMPARISON_DIRECTION:
        return "comparison_direction";
    case VHLO_COMPARISON_TYPE:
        return "comparison_type";
    case VHLO_FFT_TYPE:
        return "fft_type";
    case VHLO_OUTPUT_ALIAS:
        return "output_operand_alias";
    case VHLO_PRECISION:
        return "precision";
    case VHLO_RNG_ALGORITHM:
        return "rng_algorithm";
    case VHLO_RNG_DISTRIBUTION:
        return "rng_distribution";
    case VHLO_TRANSPOSE:
        return "transpose";
    case VHLO_EXTENSIONS:
        return "bounds";
    case VHLO_ACCURACY_MODE:
        return "result_accuracy_mode";
    case VHLO_ACCURACY:
        return "result_accuracy";
    case VHLO_SUB_AXIS:
        return "sub_axis_info";
    default:
        return NULL;
    }
}

static const struct stet_attr *read_twin(struct bc *b, struct stet_reader *r, const char *mnemonic)
{
    struct stet_view dialect = STET_VIEW("stablehlo"), name = stet_view_str(mnemonic);
    const struct stet_enum *e = stet_enum_find(dialect, name);
    const struct stet_attr_record *record = stet_attr_record_find(dialect, name);

    return e ? stet_decode_bc_make_enum(b, e, bc_varint(r)) : read_record(b, r, record, 0);
}

/* Mesh attributes are StableHLO's, with their names as attributes instead of strings. */
static const struct stet_attr *read_mesh_like(struct bc *b, struct stet_reader *r, uint64_t code)
{
    static const char *const mnemonics[] = {"axis_ref", "replica_group_mesh_axes", "mesh_axis",
                                            "mesh"};
    const struct stet_attr_record *record = stet_attr_record_find(
        STET_VIEW("stablehlo"), stet_view_str(mnemonics[code - VHLO_AXIS_REF]));
    const struct stet_attr *first = bc_attr(b, r), *second = NULL;
    uint64_t v;

    if (code == VHLO_MESH_AXES && first->kind == STET_ATTR_STRING)
        first = stet_decode_bc_make_symbol(b, stet_attr_text(first));
    if (code == VHLO_AXIS_REF)
        second = bc_varint(r) ? bc_attr(b, r) : NULL;
    else if (code == VHLO_MESH_AXES)
        second = bc_attr(b, r);
    else if (code == VHLO_MESH_AXIS)
        second = stet_decode_bc_make_int(b, stet_type_integer(b->arena, 64, STET_SIGNLESS),
                                         bc_signed(r));
    else
        second = (v = bc_varint(r)) & 1 ? stet_decode_bc_attr_at(b, v >> 1) : NULL;
    return stet_decode_bc_make_record(b, record,
                                      (struct stet_named_attr[]){{record->fields[0].name, first},
                                                                 {record->fields[1].name, second}},
                                      second ? 2 : 1);
}

static const struct stet_attr *read_tensor(struct bc *b, struct stet_reader *r)
{
    const struct stet_type *type = bc_type(b, r);
    struct stet_view bytes = stet_decode_bc_blob(r);

    return stet_reader_ok(r) && bc_ok(b) ? stet_decode_bc_make_dense(b, type, bytes) : &bc_bad_attr;
}

const struct stet_attr *stet_decode_bc_vhlo_attr(struct bc *b, struct stet_reader *r, uint64_t code)
{
    const char *twin = vhlo_twin(code);

    if (twin)
        return read_twin(b, r, twin);
    switch (code) {
    case VHLO_ARRAY:
        return stet_decode_bc_read_array(b, r);
    case VHLO_BOOL:
        return stet_decode_bc_make_bool(bc_varint(r) & 1);
    case VHLO_API_VERSION: /* a plain i32 in StableHLO */
        return stet_decode_bc_make_int(b, stet_type_integer(b->arena, 32, STET_SIGNLESS),
                                       (int64_t)bc_varint(r));
    case VHLO_DICT:
        return stet_decode_bc_read_dict(b, r);
    case VHLO_FLOAT:
        return stet_decode_bc_read_float(b, r, bc_type(b, r));
    case VHLO_INTEGER:
        return stet_decode_bc_read_integer(b, r, bc_type(b, r));
    case VHLO_STRING:
        return stet_decode_bc_make_string(b, stet_decode_bc_string(b, r));
    case VHLO_TENSOR:
        return read_tensor(b, r);
    case VHLO_TYPE:
        return read_type_attr(b, r);
    case VHLO_AXIS_REF:
    case VHLO_MESH_AXES:
    case VHLO_MESH_AXIS:
    case VHLO_MESH:
        return read_mesh_like(b, r, code);
    default:
        stet_reader_fail(r, "a VHLO attribute this build does not know");
        return &bc_bad_attr;
    }
}

/* ---- VHLO types ---- */

enum {
    VT_COMPLEX = 1,
    VT_FUNCTION = 8,
    VT_INDEX = 9,
    VT_TENSOR = 20,
    VT_TENSOR_ENCODING = 21,
    VT_TOKEN = 22,
    VT_TUPLE = 23,
    VT_QUANTIZED = 24,
    VT_UNRANKED = 25,
    VT_WITNESS = 26,
    VT_QUANTIZED_PER_AXIS = 30,
    VT_NONE = 33,
    VT_BUFFER = 41,
    VT_FUTURE = 42,
    VT_CODES = 43
};

/* Element types: a float flavour or an integer, by code. VHLO's signed integers are MLIR's
 * signless. */
static const struct {
    bool is_float, is_integer;
    enum stet_float flavour;
    uint8_t width;
    enum stet_sign sign;
} vhlo_elements[VT_CODES] = {
#define FLOATING(code, f)          [code] = {true, false, f, 0, 0}
#define INTEGER(code, width, sign) [code] = {false, true, 0, width, sign}
    INTEGER(0, 1, STET_SIGNLESS),   FLOATING(2, STET_BF16),
    FLOATING(3, STET_F16),          FLOATING(4, STET_F32),
    FLOATING(5, STET_F64),          FLOATING(6, STET_F8E4M3FN),
    FLOATING(7, STET_F8E5M2),       INTEGER(10, 4, STET_SIGNLESS),
    INTEGER(11, 8, STET_SIGNLESS),  INTEGER(12, 16, STET_SIGNLESS),
    INTEGER(13, 32, STET_SIGNLESS), INTEGER(14, 64, STET_SIGNLESS),
    INTEGER(15, 4, STET_UNSIGNED),  INTEGER(16, 8, STET_UNSIGNED),
    INTEGER(17, 16, STET_UNSIGNED), INTEGER(18, 32, STET_UNSIGNED),
    INTEGER(19, 64, STET_UNSIGNED), FLOATING(27, STET_F8E4M3FNUZ),
    FLOATING(28, STET_F8E5M2FNUZ),  FLOATING(29, STET_F8E4M3B11FNUZ),
    INTEGER(31, 2, STET_SIGNLESS),  INTEGER(32, 2, STET_UNSIGNED),
    FLOATING(34, STET_TF32),        FLOATING(35, STET_F8E4M3),
    FLOATING(36, STET_F8E3M4),      FLOATING(37, STET_F4E2M1FN),
    FLOATING(38, STET_F6E2M3FN),    FLOATING(39, STET_F6E3M2FN),
    FLOATING(40, STET_F8E8M0FNU),
#undef FLOATING
#undef INTEGER
};

/* Builtin types with the same bytes after their code; their codes in the builtin dialect. */
static int builtin_twin(uint64_t code)
{
    switch (code) {
    case VT_INDEX:
        return 1;
    case VT_FUNCTION:
        return 2;
    case VT_COMPLEX:
        return 9;
    case VT_NONE:
        return 12;
    case VT_TENSOR:
        return 13;
    case VT_TENSOR_ENCODING:
        return 14;
    case VT_TUPLE:
        return 15;
    case VT_UNRANKED:
        return 18;
    default:
        return -1;
    }
}

const struct stet_type *stet_decode_bc_vhlo_type(struct bc *b, struct stet_reader *r, uint64_t code)
{
    int twin = builtin_twin(code);
    struct stet_type *t;

    if (code < VT_CODES && vhlo_elements[code].is_float)
        return stet_type_float(vhlo_elements[code].flavour);
    if (code < VT_CODES && vhlo_elements[code].is_integer)
        return stet_type_integer(b->arena, vhlo_elements[code].width, vhlo_elements[code].sign);
    if (twin >= 0)
        return stet_decode_bc_builtin_type(b, r, (uint64_t)twin);
    switch (code) {
    case VT_TOKEN:
        return &stet_type_token;
    case VT_QUANTIZED:
    case VT_QUANTIZED_PER_AXIS:
        return stet_decode_bc_quant_type(b, r, code == VT_QUANTIZED_PER_AXIS);
    case VT_WITNESS:
        t = stet_decode_bc_new_type(b, STET_TYPE_OPAQUE);
        stet_decode_bc_set_rest(
            b, t,
            &(struct stet_type_rest){.dialect = STET_VIEW("shape"), .text = STET_VIEW(".witness")});
        return t;
    case VT_BUFFER:
        t = stet_decode_bc_new_type(b, STET_TYPE_MEMREF);
        t->dims = stet_decode_bc_read_dims(b, r, &t->rank);
        t->element = bc_type(b, r);
        return t;
    case VT_FUTURE:
        t = stet_decode_bc_new_type(b, STET_TYPE_FUTURE);
        t->members = stet_decode_bc_read_types(b, r, &t->member_count);
        return t;
    default:
        stet_reader_fail(r, "a VHLO type this build does not know");
        return &stet_type_none;
    }
}
