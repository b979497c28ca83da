/* Converts HloInstructionProto's fields to the attributes that XLA's text shows for the opcode, by
 * one table. Values that equal XLA's default are left out, as in the text: text and proto must give
 * the same program. */
#include "decode/hlo/hlo_proto_attr.h"

/* ---- enumerations: names as the text prints them, by number ---- */

static const char *const fft_types[] = {"FFT", "IFFT", "RFFT", "IRFFT", NULL};
static const char *const transposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
                                         "ADJOINT", NULL};
static const char *const distributions[] = {"rng_invalid", "rng_uniform", "rng_normal", NULL};
static const char *const paddings[] = {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME", NULL};
static const char *const schedules[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST",
                                        NULL};
static const char *const api_versions[] = {
    "API_VERSION_UNSPECIFIED",      "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",        NULL};
static const char *const conv_kinds[] = {"unset", "fprop", "dgrad", "wgrad", NULL};

/* ---- the table ---- */

enum how {
    NEVER = 0, /* no field has it */
    INT,       /* always */
    INT_OVER1, /* when above 1 */
    INT_THERE, /* when the field is there */
    TRUE_ONLY,
    TEXT,
    TEXT_ANY, /* when not empty */
    INTS,
    INNER,     /* integers of a submessage, always */
    INNER_ANY, /* when there are any */
    INNER_TRUE,
    WORD,       /* an enumeration, always */
    WORD_OTHER, /* unless it is `usual` */
    INNER_WORD, /* an enumeration of a submessage, unless it is 0 */
    WORD_TEXT,  /* the word is text in the proto */
    DOT,        /* dimensions of a dot, always */
    DOT_ANY,    /* when there are any */
    CALL,       /* the called computation with the index `inner` */
    CALL_IF,    /* the same, of a conditional whose selector is a predicate */
    SUB,        /* made by `sub` of the submessage, when it is there */
    MADE,       /* by `make` */
    SPECIAL,    /* the same, where the instruction itself matters */
};

static const struct {
    enum how how;
    unsigned char field, inner, usual;
    const char *const *names;
    stet_hlo_made *make;
    stet_hlo_sub *sub;
    stet_hlo_special *special;
} rules[STET_HLO_ATTRS] = {
#define RULE(attr)        [STET_HLO_A_##attr]
#define OF(message, name) STET_HLO_##message##_##name
    RULE(ALGORITHM) = {SPECIAL, .special = stet_decode_hlo_algorithm},
    RULE(API_VERSION) = {WORD_OTHER, OF(INSTR, CUSTOM_CALL_API_VERSION), .usual = 1,
                         .names = api_versions},
    RULE(ASYNC_EXECUTION_THREAD) = {MADE, .make = stet_decode_hlo_async_thread},
    RULE(BACKEND_CONFIG) = {MADE, .make = stet_decode_hlo_backend_config},
    RULE(BATCH_GROUP_COUNT) = {INT_OVER1, OF(INSTR, BATCH_GROUP_COUNT)},
    RULE(BODY) = {CALL, .inner = 0},
    RULE(BRANCH_COMPUTATIONS) = {SPECIAL, .special = stet_decode_hlo_branches},
    RULE(CALLED_COMPUTATIONS) = {MADE, .make = stet_decode_hlo_called},
    RULE(CALLS) = {CALL, .inner = 0},
    RULE(CHANNEL_ID) = {MADE, .make = stet_decode_hlo_channel_id},
    RULE(COLLAPSED_SLICE_DIMS) = {INNER, OF(INSTR, GATHER_DIMENSION_NUMBERS),
                                  OF(GATHER, COLLAPSED_SLICE_DIMS)},
    RULE(CONDITION) = {CALL, .inner = 1},
    RULE(CONSTRAIN_LAYOUT) = {TRUE_ONLY, OF(INSTR, CONSTRAIN_LAYOUT)},
    RULE(CONVOLUTION_KIND) = {WORD_OTHER, OF(INSTR, CONVOLUTION_KIND), .names = conv_kinds},
    RULE(CROSS_PROGRAM_PREFETCH_INDEX) = {INT_THERE, OF(INSTR, CROSS_PROGRAM_PREFETCH_INDEX)},
    RULE(CUSTOM_CALL_HAS_SIDE_EFFECT) = {TRUE_ONLY, OF(INSTR, CUSTOM_CALL_HAS_SIDE_EFFECT)},
    RULE(CUSTOM_CALL_TARGET) = {TEXT, OF(INSTR, CUSTOM_CALL_TARGET)},
    RULE(DELTA) = {INT, OF(INSTR, DELTA)},
    RULE(DIMENSIONS) = {SPECIAL, .special = stet_decode_hlo_dimensions},
    RULE(DIM_LABELS) = {MADE, .make = stet_decode_hlo_dim_labels},
    RULE(DIRECTION) = {WORD_TEXT, OF(INSTR, COMPARISON_DIRECTION)},
    RULE(DISTRIBUTION) = {WORD, OF(INSTR, DISTRIBUTION), .names = distributions},
    RULE(DOMAIN) = {MADE, .make = stet_decode_hlo_domain},
    RULE(DYNAMIC_SLICE_SIZES) = {INTS, OF(INSTR, DYNAMIC_SLICE_SIZES)},
    RULE(EPSILON) = {MADE, .make = stet_decode_hlo_epsilon},
    RULE(EXPONENT_BITS) = {INT, OF(INSTR, EXPONENT_BITS)},
    RULE(FALSE_COMPUTATION) = {CALL_IF, .inner = 1},
    RULE(FEATURE_GROUP_COUNT) = {INT_OVER1, OF(INSTR, FEATURE_GROUP_COUNT)},
    RULE(FEATURE_INDEX) = {INT, OF(INSTR, FEATURE_INDEX)},
    RULE(FFT_LENGTH) = {INTS, OF(INSTR, FFT_LENGTH)},
    RULE(FFT_TYPE) = {WORD, OF(INSTR, FFT_TYPE), .names = fft_types},
    RULE(FRONTEND_ATTRIBUTES) = {SUB, OF(INSTR, FRONTEND_ATTRIBUTES),
                                 .sub = stet_decode_hlo_strings},
    RULE(HAS_DYNAMIC_ROOT) = {TRUE_ONLY, OF(INSTR, HAS_DYNAMIC_ROOT)},
    RULE(INDEX) = {INT, OF(INSTR, TUPLE_INDEX)},
    RULE(INDEX_VECTOR_DIM) = {SPECIAL, .special = stet_decode_hlo_index_vector_dim},
    RULE(INDICES_ARE_SORTED) = {TRUE_ONLY, OF(INSTR, INDICES_ARE_SORTED)},
    RULE(INFEED_CONFIG) = {TEXT_ANY, OF(INSTR, INFEED_CONFIG)},
    RULE(INFERRED_DIMENSION) = {MADE, .make = stet_decode_hlo_inferred_dimension},
    RULE(INPUT_BATCHING_DIMS) = {INNER_ANY, OF(INSTR, SCATTER_DIMENSION_NUMBERS),
                                 OF(SCATTER, INPUT_BATCHING_DIMS)},
    RULE(INSERTED_WINDOW_DIMS) = {INNER, OF(INSTR, SCATTER_DIMENSION_NUMBERS),
                                  OF(SCATTER, INSERTED_WINDOW_DIMS)},
    RULE(IOTA_DIMENSION) = {MADE, .make = stet_decode_hlo_iota_dimension},
    RULE(IS_ASSOCIATIVE) = {MADE, .make = stet_decode_hlo_is_associative},
    RULE(IS_COMPOSITE) = {TRUE_ONLY, OF(INSTR, IS_COMPOSITE)},
    RULE(IS_HOST_TRANSFER) = {TRUE_ONLY, OF(INSTR, IS_HOST_TRANSFER)},
    RULE(IS_REVERSE) = {TRUE_ONLY, OF(INSTR, IS_REVERSE)},
    RULE(IS_STABLE) = {TRUE_ONLY, OF(INSTR, IS_STABLE)},
    RULE(K) = {INT, OF(INSTR, K)},
    RULE(KIND) = {WORD_TEXT, OF(INSTR, FUSION_KIND)},
    RULE(LARGEST) = {TRUE_ONLY, OF(INSTR, LARGEST)},
    RULE(LEFT_SIDE) = {INNER_TRUE, OF(INSTR, TRIANGULAR_SOLVE_OPTIONS), OF(TRIANGULAR, LEFT_SIDE)},
    RULE(LHS_BATCH_DIMS) = {DOT_ANY, .inner = OF(DOT, LHS_BATCH_DIMENSIONS)},
    RULE(LHS_CONTRACTING_DIMS) = {DOT, .inner = OF(DOT, LHS_CONTRACTING_DIMENSIONS)},
    RULE(LHS_RAGGED_DIMS) = {INNER_ANY, OF(INSTR, RAGGED_DOT_DIMENSION_NUMBERS),
                             OF(RAGGED_DOT, LHS_RAGGED_DIMENSIONS)},
    RULE(LITERAL) = {SPECIAL, .special = stet_decode_hlo_literal},
    RULE(LOWER) = {MADE, .make = stet_decode_hlo_lower},
    RULE(MANTISSA_BITS) = {INT, OF(INSTR, MANTISSA_BITS)},
    RULE(NUM_CARRIES) = {INT, OF(INSTR, NUM_CARRIES)},
    RULE(OFFSET_DIMS) = {INNER, OF(INSTR, GATHER_DIMENSION_NUMBERS), OF(GATHER, OFFSET_DIMS)},
    RULE(OPERAND_BATCHING_DIMS) = {INNER_ANY, OF(INSTR, GATHER_DIMENSION_NUMBERS),
                                   OF(GATHER, OPERAND_BATCHING_DIMS)},
    RULE(OPERAND_LAYOUT_CONSTRAINTS) = {MADE, .make = stet_decode_hlo_shapes},
    RULE(OPERAND_PRECISION) = {MADE, .make = stet_decode_hlo_operand_precision},
    RULE(OUTFEED_CONFIG) = {TEXT_ANY, OF(INSTR, OUTFEED_CONFIG)},
    RULE(OUTFEED_SHAPE) = {SUB, OF(INSTR, OUTFEED_SHAPE), .sub = stet_decode_hlo_shape_of},
    RULE(OUTPUT_TO_OPERAND_ALIASING) = {MADE, .make = stet_decode_hlo_aliasing},
    RULE(PADDING) = {MADE, .make = stet_decode_hlo_padding},
    RULE(PADDING_TYPE) = {WORD_OTHER, OF(INSTR, PADDING_TYPE), .names = paddings},
    RULE(PARAMETER_REPLICATION) = {INNER_ANY, OF(INSTR, PARAMETER_REPLICATION),
                                   OF(REPLICATION, REPLICATED_AT_LEAF_BUFFERS)},
    RULE(REPLICA_GROUPS) = {MADE, .make = stet_decode_hlo_replica_groups},
    RULE(RESULT_ACCURACY) = {MADE, .make = stet_decode_hlo_result_accuracy},
    RULE(RHS_BATCH_DIMS) = {DOT_ANY, .inner = OF(DOT, RHS_BATCH_DIMENSIONS)},
    RULE(RHS_CONTRACTING_DIMS) = {DOT, .inner = OF(DOT, RHS_CONTRACTING_DIMENSIONS)},
    RULE(RHS_GROUP_DIMS) = {INNER_ANY, OF(INSTR, RAGGED_DOT_DIMENSION_NUMBERS),
                            OF(RAGGED_DOT, RHS_GROUP_DIMENSIONS)},
    RULE(SCATTER) = {CALL, .inner = 1},
    RULE(SCATTER_DIMS_TO_OPERAND_DIMS) = {INNER, OF(INSTR, SCATTER_DIMENSION_NUMBERS),
                                          OF(SCATTER, SCATTER_DIMS_TO_OPERAND_DIMS)},
    RULE(SCATTER_INDICES_BATCHING_DIMS) = {INNER_ANY, OF(INSTR, SCATTER_DIMENSION_NUMBERS),
                                           OF(SCATTER, SCATTER_INDICES_BATCHING_DIMS)},
    RULE(SCHEDULE) = {WORD_OTHER, OF(INSTR, CUSTOM_CALL_SCHEDULE), .names = schedules},
    RULE(SELECT) = {CALL, .inner = 0},
    RULE(SHARDING) = {SUB, OF(INSTR, SHARDING), .sub = stet_decode_hlo_sharding},
    RULE(SLICE) = {MADE, .make = stet_decode_hlo_slices},
    RULE(SLICE_SIZES) = {SPECIAL, .special = stet_decode_hlo_slice_sizes},
    RULE(SOURCE_TARGET_PAIRS) = {MADE, .make = stet_decode_hlo_pairs},
    RULE(START_INDEX_MAP) = {INNER, OF(INSTR, GATHER_DIMENSION_NUMBERS),
                             OF(GATHER, START_INDEX_MAP)},
    RULE(START_INDICES_BATCHING_DIMS) = {INNER_ANY, OF(INSTR, GATHER_DIMENSION_NUMBERS),
                                         OF(GATHER, START_INDICES_BATCHING_DIMS)},
    RULE(STATISTICS) = {MADE, .make = stet_decode_hlo_statistics},
    RULE(TO_APPLY) = {CALL, .inner = 0},
    RULE(TRANSPOSE_A) = {INNER_WORD, OF(INSTR, TRIANGULAR_SOLVE_OPTIONS),
                         OF(TRIANGULAR, TRANSPOSE_A), .names = transposes},
    RULE(TRUE_COMPUTATION) = {CALL_IF, .inner = 0},
    RULE(TYPE) = {SPECIAL, .special = stet_decode_hlo_comparison_type},
    RULE(UNIQUE_INDICES) = {TRUE_ONLY, OF(INSTR, UNIQUE_INDICES)},
    RULE(UNIT_DIAGONAL) = {INNER_TRUE, OF(INSTR, TRIANGULAR_SOLVE_OPTIONS),
                           OF(TRIANGULAR, UNIT_DIAGONAL)},
    RULE(UPDATE_WINDOW_DIMS) = {INNER, OF(INSTR, SCATTER_DIMENSION_NUMBERS),
                                OF(SCATTER, UPDATE_WINDOW_DIMS)},
    RULE(USE_GLOBAL_DEVICE_IDS) = {TRUE_ONLY, OF(INSTR, USE_GLOBAL_DEVICE_IDS)},
    RULE(VALUE) = {SPECIAL, .special = stet_decode_hlo_literal},
    RULE(WINDOW) = {MADE, .make = stet_decode_hlo_window},
#undef OF
#undef RULE
};

const struct stet_attr *stet_decode_hlo_proto_attr(struct stet_hlo_reader *r,
                                                   const struct stet_proto *in,
                                                   struct stet_hlo_instr *instr,
                                                   enum stet_hlo_attr which)
{
    uint32_t field = rules[which].field, inner = rules[which].inner;
    enum how how = rules[which].how;
    const struct stet_proto_field *f;
    struct stet_view text;
    struct stet_ints v;
    int64_t n;

    switch (how) {
    case INT:
        return stet_decode_hlo_new_int(r->b.a, stet_decode_hlo_number(r, field));
    case INT_OVER1:
        n = stet_decode_hlo_number(r, field);
        return n > 1 ? stet_decode_hlo_new_int(r->b.a, n) : NULL;
    case INT_THERE:
        return stet_decode_hlo_field(r, field)
                   ? stet_decode_hlo_new_int(r->b.a, stet_decode_hlo_number(r, field))
                   : NULL;
    case TRUE_ONLY:
    case INNER_TRUE:
        n = how == TRUE_ONLY ? stet_decode_hlo_number(r, field)
                             : stet_decode_hlo_inner_number(r, in, field, inner);
        return n ? stet_decode_hlo_new_bool(r->b.a, true) : NULL;
    case TEXT:
    case TEXT_ANY:
        text = stet_decode_hlo_field_text(r, field);
        return text.len || how == TEXT ? stet_decode_hlo_new_string(r->b.a, text) : NULL;
    case INTS:
        v = stet_decode_hlo_ints(r, field);
        return stet_decode_hlo_new_ints(r->b.a, v.at, v.count);
    case INNER:
    case INNER_ANY:
        v = stet_decode_hlo_inner(r, in, field, inner);
        return v.count || how == INNER ? stet_decode_hlo_new_ints(r->b.a, v.at, v.count) : NULL;
    case WORD:
    case WORD_OTHER:
        n = stet_decode_hlo_number(r, field);
        return how == WORD || n != rules[which].usual
                   ? stet_decode_hlo_word(r, which, rules[which].names, n)
                   : NULL;
    case INNER_WORD:
        n = stet_decode_hlo_inner_number(r, in, field, inner);
        return n ? stet_decode_hlo_word(r, which, rules[which].names, n) : NULL;
    case WORD_TEXT:
        text = stet_decode_hlo_field_text(r, field);
        return text.len ? stet_decode_hlo_new_word(r->b.a, stet_hlo_attr_name(which), text) : NULL;
    case DOT:
    case DOT_ANY:
        v = stet_decode_hlo_dot_dims(r, in, inner);
        return v.count || how == DOT ? stet_decode_hlo_new_ints(r->b.a, v.at, v.count) : NULL;
    case CALL:
        return stet_decode_hlo_call(r, inner);
    case CALL_IF:
        return stet_decode_hlo_by_predicate(r, instr) ? stet_decode_hlo_call(r, inner) : NULL;
    case SUB:
        f = stet_decode_hlo_field(r, field);
        return f ? rules[which].sub(r, in, f) : NULL;
    case MADE:
        return rules[which].make(r, in);
    case SPECIAL:
        return rules[which].special(r, in, instr);
    case NEVER:
        break;
    }
    return NULL;
}
