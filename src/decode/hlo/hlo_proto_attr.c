/* Converts HloInstructionProto's fields to the attributes that XLA's text shows for the opcode, by
 * one table. Values that equal XLA's default are left out, as in the text: text and proto must give
 * the same program. */
#include "decode/hlo/hlo_proto_attr.h"

#include <stdlib.h>

/* ---- enumerations: names as the text prints them, by number ---- */

static const char *const fft_types[] = {"FFT", "IFFT", "RFFT", "IRFFT", NULL};
static const char *const transposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
                                         "ADJOINT", NULL};
static const char *const distributions[] = {"rng_invalid", "rng_uniform", "rng_normal", NULL};
static const char *const rng_algorithms[] = {"rng_default", "rng_three_fry", "rng_philox", NULL};
static const char *const paddings[] = {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME", NULL};
static const char *const schedules[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST",
                                        NULL};
static const char *const api_versions[] = {
    "API_VERSION_UNSPECIFIED",      "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",        NULL};
static const char *const conv_kinds[] = {"unset", "fprop", "dgrad", "wgrad", NULL};
static const char *const precisions[] = {"default", "high", "highest", "packed_nibble", NULL};
static const char *const algorithms[] = {"unset",
                                         "dot_any_f8_any_f8_f32",
                                         "dot_any_f8_any_f8_f32_fast_accum",
                                         "dot_f16_f16_f16",
                                         "dot_f16_f16_f32",
                                         "dot_bf16_bf16_bf16",
                                         "dot_bf16_bf16_f32",
                                         "dot_bf16_bf16_f32_x3",
                                         "dot_bf16_bf16_f32_x6",
                                         "dot_tf32_tf32_f32",
                                         "dot_tf32_tf32_f32_x3",
                                         "dot_f32_f32_f32",
                                         "dot_f64_f64_f64",
                                         "dot_bf16_bf16_f32_x9",
                                         NULL};

/* A number newer than this build's list is written as the number. */
static const struct stet_attr *word(struct stet_hlo_reader *r, enum stet_hlo_attr which,
                                    const char *const *names, int64_t v)
{
    int64_t known = 0;

    while (names[known])
        known++;
    return stet_hlo_new_word(r->b.a, stet_hlo_attr_name(which),
                             v >= 0 && v < known ? stet_view_str(names[v])
                                                 : stet_arena_printf(r->b.a, "%lld", (long long)v));
}

static bool is(const struct stet_hlo_instr *i, const char *opcode)
{
    return stet_view_is(i->opcode, opcode);
}

/* ---- attributes with their own rules ---- */

static const struct stet_attr *operand_precision(struct stet_hlo_reader *r,
                                                 const struct stet_proto *in)
{
    struct stet_ints v = stet_hlo_inner(r, in, STET_HLO_INSTR_PRECISION_CONFIG,
                                        STET_HLO_PRECISION_OPERAND_PRECISION);
    const struct stet_attr **items = stet_arena_alloc(r->b.a, v.count, sizeof *items);
    bool any = false;

    if (!items)
        return NULL;
    for (uint32_t i = 0; i < v.count; i++) {
        any |= v.at[i] != 0;
        items[i] = word(r, STET_HLO_A_OPERAND_PRECISION, precisions, v.at[i]);
    }
    return any ? stet_hlo_new_array(r->b.a, items, v.count) : NULL;
}

static const struct stet_attr *comparison_type(struct stet_hlo_reader *r,
                                               const struct stet_proto *in,
                                               const struct stet_hlo_instr *instr)
{
    (void)in;
    if (!instr->operand_count)
        return NULL;
    return stet_hlo_comparison(r->b.a, r->b.instrs[instr->operands[0]].type,
                               stet_hlo_text(r, STET_HLO_INSTR_COMPARISON_TYPE),
                               stet_hlo_text(r, STET_HLO_INSTR_COMPARISON_ORDER));
}

static int by_id(const void *a, const void *b)
{
    const struct stet_hlo_callable *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static const struct stet_attr *symbol(struct stet_hlo_reader *r, uint64_t id)
{
    struct stet_hlo_callable want = {.id = id}, *found;

    found = r->callable_count ? bsearch(&want, r->callables, r->callable_count, sizeof want, by_id)
                              : NULL;
    if (!found) {
        stet_proto_fail(&r->fault, STET_BAD_INPUT,
                        stet_hlo_field(r, STET_HLO_INSTR_CALLED_COMPUTATION_IDS)->offset,
                        "an instruction calls a computation that is not in the module");
        return NULL;
    }
    return stet_hlo_new_symbol(r->b.a, found->name);
}

/* The n-th called computation, or NULL. */
static const struct stet_attr *call(struct stet_hlo_reader *r, uint32_t n)
{
    struct stet_ints ids = stet_hlo_ints(r, STET_HLO_INSTR_CALLED_COMPUTATION_IDS);

    return n < ids.count ? symbol(r, (uint64_t)ids.at[n]) : NULL;
}

static const struct stet_attr *calls(struct stet_hlo_reader *r)
{
    struct stet_ints ids = stet_hlo_ints(r, STET_HLO_INSTR_CALLED_COMPUTATION_IDS);
    const struct stet_attr **items = stet_arena_alloc(r->b.a, ids.count, sizeof *items);

    if (!items || !ids.count)
        return NULL;
    for (uint32_t i = 0; i < ids.count; i++) {
        items[i] = symbol(r, (uint64_t)ids.at[i]);
        if (!items[i])
            return NULL;
    }
    return stet_hlo_new_array(r->b.a, items, ids.count);
}

/* XLA prints true_computation and false_computation if the selector is a predicate. */
static bool by_predicate(const struct stet_hlo_reader *r, const struct stet_hlo_instr *instr)
{
    const struct stet_type *t = instr->operand_count ? r->b.instrs[instr->operands[0]].type : NULL;

    return t && t->kind == STET_TYPE_TENSOR && t->element->kind == STET_TYPE_INTEGER &&
           t->element->width == 1;
}

static int by_key(const void *a, const void *b)
{
    const struct stet_named_attr *x = a, *y = b;

    return stet_view_cmp(x->name, y->name);
}

const struct stet_attr *stet_hlo_strings(struct stet_hlo_reader *r, const struct stet_proto *in,
                                         const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f), e;
    struct stet_proto_field g, h;
    struct stet_named_attr *named;
    uint32_t n = 0;

    while (stet_proto_next(&m, &g))
        n += g.number == 1;
    if (!n)
        return NULL;
    named = STET_NEW_ARRAY(r->b.a, struct stet_named_attr, n);
    n = 0;
    m = stet_proto_sub(in, f);
    while (named && stet_proto_next(&m, &g)) {
        struct stet_view value = {0};

        if (g.number != 1)
            continue;
        e = stet_proto_sub(&m, &g);
        while (stet_proto_next(&e, &h))
            *(h.number == 1 ? &named[n].name : &value) = stet_proto_text(&r->fault, &h);
        named[n++].value = stet_hlo_new_string(r->b.a, value);
    }
    if (!named)
        return NULL;
    qsort(named, n, sizeof *named, by_key);
    return stet_hlo_new_record(r->b.a, NULL, named, n);
}

static const struct stet_attr *shapes(struct stet_hlo_reader *r, const struct stet_proto *in)
{
    struct stet_build_list items = {0};
    const struct stet_attr *a;
    uint32_t n;

    if (!stet_hlo_number(r, STET_HLO_INSTR_CONSTRAIN_LAYOUT))
        return NULL;
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].number == STET_HLO_INSTR_OPERAND_SHAPES_WITH_LAYOUT)
            stet_build_list_add(&items,
                                stet_hlo_new_type(r->b.a, stet_hlo_shape(r, in, &r->fields[i])));
    n = (uint32_t)items.count;
    a = stet_hlo_new_array(r->b.a, stet_build_list_keep(&items, r->b.a), n);
    stet_build_list_release(&items);
    return a;
}

static const struct stet_attr *backend_config(struct stet_hlo_reader *r,
                                              const struct stet_proto *in)
{
    const struct stet_proto_field *f = stet_hlo_field(r, STET_HLO_INSTR_BACKEND_CONFIG_PAYLOAD);
    struct stet_view v = stet_hlo_text(r, STET_HLO_INSTR_BACKEND_CONFIG);

    if (f) {
        struct stet_proto m = stet_proto_sub(in, f);
        struct stet_proto_field g;

        while (stet_proto_next(&m, &g)) {
            if (g.number == 1)
                v = stet_proto_text(&r->fault, &g);
            else if (g.number == 2 && g.value < r->payload_count)
                v = r->payloads[g.value];
            else if (g.number == 2)
                stet_proto_fail(&r->fault, STET_BAD_INPUT, g.offset, "no such payload");
        }
    }
    return v.len ? stet_hlo_new_string(r->b.a, stet_hlo_sorted_json(r->b.a, v)) : NULL;
}

static const struct stet_attr *result_accuracy(struct stet_hlo_reader *r,
                                               const struct stet_proto *in)
{
    const struct stet_proto_field *f = stet_hlo_field(r, STET_HLO_INSTR_RESULT_ACCURACY);
    struct stet_proto m, t;
    struct stet_proto_field g, h;
    double atol = 0, rtol = 0;
    int64_t ulps = 0;

    if (!f)
        return NULL;
    m = stet_proto_sub(in, f);
    while (stet_proto_next(&m, &g)) {
        if (g.number == 1 && g.value == 1)
            return stet_hlo_new_string(r->b.a, STET_VIEW("mode=highest"));
        if (g.number != 2)
            continue;
        t = stet_proto_sub(&m, &g);
        while (stet_proto_next(&t, &h))
            if (h.number == 3)
                ulps = stet_proto_int(&r->fault, &h);
            else
                *(h.number == 1 ? &atol : &rtol) = stet_proto_double(&h);
        return stet_hlo_new_string(
            r->b.a, stet_arena_printf(r->b.a, "tolerance={atol=%g,rtol=%g,ulps=%lld}", atol, rtol,
                                      (long long)ulps));
    }
    return NULL;
}

static const struct stet_attr *statistics(struct stet_hlo_reader *r, const struct stet_proto *in)
{
    const struct stet_proto_field *f = stet_hlo_field(r, STET_HLO_INSTR_STATISTICS_VIZ);
    struct stet_proto m, s;
    struct stet_proto_field g, h;
    bool any = false;

    if (!f)
        return NULL;
    r->scratch.len = 0;
    stet_buf_printf(&r->scratch, "visualizing_index=%lld",
                    (long long)stet_hlo_inner_number(r, in, STET_HLO_INSTR_STATISTICS_VIZ,
                                                     STET_HLO_STATISTICS_STAT_INDEX_TO_VISUALIZE));
    m = stet_proto_sub(in, f);
    while (stet_proto_next(&m, &g)) {
        struct stet_view name = {0};
        double value = 0;

        if (g.number != 2)
            continue;
        any = true;
        s = stet_proto_sub(&m, &g);
        while (stet_proto_next(&s, &h))
            if (h.number == 1)
                name = stet_proto_text(&r->fault, &h);
            else
                value = stet_proto_double(&h);
        stet_buf_printf(&r->scratch, ",%.*s=%g", STET_FMT(name), value);
    }
    return any ? stet_hlo_new_string(r->b.a, stet_hlo_keep(r)) : NULL;
}

static const struct stet_attr *domain(struct stet_hlo_reader *r, const struct stet_proto *in)
{
    const struct stet_proto_field *entry = stet_hlo_field(r, STET_HLO_INSTR_DOMAIN_ENTRY_SHARDING),
                                  *exit = stet_hlo_field(r, STET_HLO_INSTR_DOMAIN_EXIT_SHARDING);
    const struct stet_attr *a, *b;

    if (!entry || !exit)
        return NULL;
    a = stet_hlo_sharding(r, in, entry);
    b = stet_hlo_sharding(r, in, exit);
    if (!a || !b)
        return NULL;
    return stet_hlo_new_string(
        r->b.a, stet_arena_printf(r->b.a, "kind=\"sharding\", entry=%.*s, exit=%.*s",
                                  STET_FMT(stet_attr_text(a)), STET_FMT(stet_attr_text(b))));
}

/* A ragged dot has the dimension numbers in a nested message. */
static struct stet_ints dot_dims(struct stet_hlo_reader *r, const struct stet_proto *in,
                                 uint32_t inner)
{
    struct stet_ints v = stet_hlo_inner(r, in, STET_HLO_INSTR_DOT_DIMENSION_NUMBERS, inner);
    const struct stet_proto_field *ragged =
        stet_hlo_field(r, STET_HLO_INSTR_RAGGED_DOT_DIMENSION_NUMBERS);

    if (ragged) {
        struct stet_proto m = stet_proto_sub(in, ragged);
        struct stet_proto_field g;

        while (stet_proto_next(&m, &g))
            if (g.number == STET_HLO_RAGGED_DOT_DOT_DIMENSION_NUMBERS)
                v = stet_hlo_inner_of(r, &m, &g, inner);
    }
    return v;
}

static const struct stet_attr *algorithm(struct stet_hlo_reader *r, const struct stet_proto *in,
                                         const struct stet_hlo_instr *instr)
{
    int64_t n;

    if (is(instr, "rng-bit-generator"))
        return word(r, STET_HLO_A_ALGORITHM, rng_algorithms,
                    stet_hlo_number(r, STET_HLO_INSTR_RNG_ALGORITHM));
    n = stet_hlo_inner_number(r, in, STET_HLO_INSTR_PRECISION_CONFIG, STET_HLO_PRECISION_ALGORITHM);
    return n ? word(r, STET_HLO_A_ALGORITHM, algorithms, n) : NULL;
}

static const struct stet_attr *async_thread(struct stet_hlo_reader *r, const struct stet_proto *in)
{
    struct stet_view name = stet_hlo_text(r, STET_HLO_INSTR_ASYNC_EXECUTION_THREAD);

    (void)in;
    return name.len && !stet_view_is(name, "main") ? stet_hlo_new_string(r->b.a, name) : NULL;
}

static const struct stet_attr *branches(struct stet_hlo_reader *r, const struct stet_proto *in,
                                        const struct stet_hlo_instr *instr)
{
    (void)in;
    return by_predicate(r, instr) ? NULL : calls(r);
}

static const struct stet_attr *called(struct stet_hlo_reader *r, const struct stet_proto *in)
{
    (void)in;
    return calls(r);
}

static const struct stet_attr *channel_id(struct stet_hlo_reader *r, const struct stet_proto *in)
{
    int64_t n = stet_hlo_number(r, STET_HLO_INSTR_CHANNEL_ID);

    (void)in;
    if (n <= 0)
        n = stet_hlo_number(r, STET_HLO_INSTR_ALL_REDUCE_ID);
    return n > 0 ? stet_hlo_new_int(r->b.a, n) : NULL;
}

static const struct stet_attr *dimensions(struct stet_hlo_reader *r, const struct stet_proto *in,
                                          const struct stet_hlo_instr *instr)
{
    struct stet_ints v = stet_hlo_ints(r, STET_HLO_INSTR_DIMENSIONS);

    (void)in;
    return v.count || !is(instr, "all-to-all") ? stet_hlo_new_ints(r->b.a, v.at, v.count) : NULL;
}

static const struct stet_attr *epsilon(struct stet_hlo_reader *r, const struct stet_proto *in)
{
    const struct stet_proto_field *f = stet_hlo_field(r, STET_HLO_INSTR_EPSILON);

    (void)in;
    return stet_hlo_new_float(r->b.a, f ? stet_proto_float(f) : 0);
}

static const struct stet_attr *index_vector_dim(struct stet_hlo_reader *r,
                                                const struct stet_proto *in,
                                                const struct stet_hlo_instr *instr)
{
    bool scatter = is(instr, "scatter");

    return stet_hlo_new_int(
        r->b.a, scatter ? stet_hlo_inner_number(r, in, STET_HLO_INSTR_SCATTER_DIMENSION_NUMBERS,
                                                STET_HLO_SCATTER_INDEX_VECTOR_DIM)
                        : stet_hlo_inner_number(r, in, STET_HLO_INSTR_GATHER_DIMENSION_NUMBERS,
                                                STET_HLO_GATHER_INDEX_VECTOR_DIM));
}

static const struct stet_attr *inferred_dimension(struct stet_hlo_reader *r,
                                                  const struct stet_proto *in)
{
    struct stet_ints v = stet_hlo_ints(r, STET_HLO_INSTR_DIMENSIONS);

    (void)in;
    return v.count ? stet_hlo_new_int(r->b.a, v.at[0]) : NULL;
}

static const struct stet_attr *iota_dimension(struct stet_hlo_reader *r,
                                              const struct stet_proto *in)
{
    struct stet_ints v = stet_hlo_ints(r, STET_HLO_INSTR_DIMENSIONS);

    (void)in;
    return stet_hlo_new_int(r->b.a, v.count ? v.at[0] : 0);
}

static const struct stet_attr *is_associative(struct stet_hlo_reader *r,
                                              const struct stet_proto *in)
{
    int64_t n = stet_hlo_number(r, STET_HLO_INSTR_IS_ASSOCIATIVE);

    (void)in;
    return n ? stet_hlo_new_bool(r->b.a, n == 1) : NULL;
}

static const struct stet_attr *literal(struct stet_hlo_reader *r, const struct stet_proto *in,
                                       const struct stet_hlo_instr *instr)
{
    const struct stet_proto_field *f = stet_hlo_field(r, STET_HLO_INSTR_LITERAL);

    return f && instr->type ? stet_hlo_literal(r, in, f, instr->type) : NULL;
}

static const struct stet_attr *lower(struct stet_hlo_reader *r, const struct stet_proto *in)
{
    if (stet_hlo_inner_number(r, in, STET_HLO_INSTR_TRIANGULAR_SOLVE_OPTIONS,
                              STET_HLO_TRIANGULAR_LOWER) |
        stet_hlo_inner_number(r, in, STET_HLO_INSTR_CHOLESKY_OPTIONS, STET_HLO_CHOLESKY_LOWER))
        return stet_hlo_new_bool(r->b.a, true);
    return NULL;
}

static const struct stet_attr *slice_sizes(struct stet_hlo_reader *r, const struct stet_proto *in,
                                           const struct stet_hlo_instr *instr)
{
    bool gather = is(instr, "gather");
    struct stet_ints v = stet_hlo_ints(r, gather ? STET_HLO_INSTR_GATHER_SLICE_SIZES
                                                 : STET_HLO_INSTR_DYNAMIC_SLICE_SIZES);

    (void)in;
    return v.count || gather ? stet_hlo_new_ints(r->b.a, v.at, v.count) : NULL;
}

/* ---- fields of a submessage that is present ---- */

static const struct stet_attr *shape_of(struct stet_hlo_reader *r, const struct stet_proto *in,
                                        const struct stet_proto_field *f)
{
    return stet_hlo_new_type(r->b.a, stet_hlo_shape(r, in, f));
}

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
    CALL,       /* computation number `inner` */
    CALL_IF,    /* the same, of a conditional whose selector is a predicate */
    SUB,        /* made by `sub` of the submessage, when it is there */
    MADE,       /* by `make` */
    SPECIAL,    /* the same, where the instruction itself matters */
};

static const struct {
    enum how how;
    unsigned char field, inner, usual;
    const char *const *names;
    const struct stet_attr *(*make)(struct stet_hlo_reader *r, const struct stet_proto *in);
    const struct stet_attr *(*sub)(struct stet_hlo_reader *r, const struct stet_proto *in,
                                   const struct stet_proto_field *f);
    const struct stet_attr *(*special)(struct stet_hlo_reader *r, const struct stet_proto *in,
                                       const struct stet_hlo_instr *instr);
} rules[STET_HLO_ATTRS] = {
#define RULE(attr)        [STET_HLO_A_##attr]
#define OF(message, name) STET_HLO_##message##_##name
    RULE(ALGORITHM) = {SPECIAL, .special = algorithm},
    RULE(API_VERSION) = {WORD_OTHER, OF(INSTR, CUSTOM_CALL_API_VERSION), .usual = 1,
                         .names = api_versions},
    RULE(ASYNC_EXECUTION_THREAD) = {MADE, .make = async_thread},
    RULE(BACKEND_CONFIG) = {MADE, .make = backend_config},
    RULE(BATCH_GROUP_COUNT) = {INT_OVER1, OF(INSTR, BATCH_GROUP_COUNT)},
    RULE(BODY) = {CALL, .inner = 0},
    RULE(BRANCH_COMPUTATIONS) = {SPECIAL, .special = branches},
    RULE(CALLED_COMPUTATIONS) = {MADE, .make = called},
    RULE(CALLS) = {CALL, .inner = 0},
    RULE(CHANNEL_ID) = {MADE, .make = channel_id},
    RULE(COLLAPSED_SLICE_DIMS) = {INNER, OF(INSTR, GATHER_DIMENSION_NUMBERS),
                                  OF(GATHER, COLLAPSED_SLICE_DIMS)},
    RULE(CONDITION) = {CALL, .inner = 1},
    RULE(CONSTRAIN_LAYOUT) = {TRUE_ONLY, OF(INSTR, CONSTRAIN_LAYOUT)},
    RULE(CONVOLUTION_KIND) = {WORD_OTHER, OF(INSTR, CONVOLUTION_KIND), .names = conv_kinds},
    RULE(CROSS_PROGRAM_PREFETCH_INDEX) = {INT_THERE, OF(INSTR, CROSS_PROGRAM_PREFETCH_INDEX)},
    RULE(CUSTOM_CALL_HAS_SIDE_EFFECT) = {TRUE_ONLY, OF(INSTR, CUSTOM_CALL_HAS_SIDE_EFFECT)},
    RULE(CUSTOM_CALL_TARGET) = {TEXT, OF(INSTR, CUSTOM_CALL_TARGET)},
    RULE(DELTA) = {INT, OF(INSTR, DELTA)},
    RULE(DIMENSIONS) = {SPECIAL, .special = dimensions},
    RULE(DIM_LABELS) = {MADE, .make = stet_hlo_dim_labels},
    RULE(DIRECTION) = {WORD_TEXT, OF(INSTR, COMPARISON_DIRECTION)},
    RULE(DISTRIBUTION) = {WORD, OF(INSTR, DISTRIBUTION), .names = distributions},
    RULE(DOMAIN) = {MADE, .make = domain},
    RULE(DYNAMIC_SLICE_SIZES) = {INTS, OF(INSTR, DYNAMIC_SLICE_SIZES)},
    RULE(EPSILON) = {MADE, .make = epsilon},
    RULE(EXPONENT_BITS) = {INT, OF(INSTR, EXPONENT_BITS)},
    RULE(FALSE_COMPUTATION) = {CALL_IF, .inner = 1},
    RULE(FEATURE_GROUP_COUNT) = {INT_OVER1, OF(INSTR, FEATURE_GROUP_COUNT)},
    RULE(FEATURE_INDEX) = {INT, OF(INSTR, FEATURE_INDEX)},
    RULE(FFT_LENGTH) = {INTS, OF(INSTR, FFT_LENGTH)},
    RULE(FFT_TYPE) = {WORD, OF(INSTR, FFT_TYPE), .names = fft_types},
    RULE(FRONTEND_ATTRIBUTES) = {SUB, OF(INSTR, FRONTEND_ATTRIBUTES), .sub = stet_hlo_strings},
    RULE(HAS_DYNAMIC_ROOT) = {TRUE_ONLY, OF(INSTR, HAS_DYNAMIC_ROOT)},
    RULE(INDEX) = {INT, OF(INSTR, TUPLE_INDEX)},
    RULE(INDEX_VECTOR_DIM) = {SPECIAL, .special = index_vector_dim},
    RULE(INDICES_ARE_SORTED) = {TRUE_ONLY, OF(INSTR, INDICES_ARE_SORTED)},
    RULE(INFEED_CONFIG) = {TEXT_ANY, OF(INSTR, INFEED_CONFIG)},
    RULE(INFERRED_DIMENSION) = {MADE, .make = inferred_dimension},
    RULE(INPUT_BATCHING_DIMS) = {INNER_ANY, OF(INSTR, SCATTER_DIMENSION_NUMBERS),
                                 OF(SCATTER, INPUT_BATCHING_DIMS)},
    RULE(INSERTED_WINDOW_DIMS) = {INNER, OF(INSTR, SCATTER_DIMENSION_NUMBERS),
                                  OF(SCATTER, INSERTED_WINDOW_DIMS)},
    RULE(IOTA_DIMENSION) = {MADE, .make = iota_dimension},
    RULE(IS_ASSOCIATIVE) = {MADE, .make = is_associative},
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
    RULE(LITERAL) = {SPECIAL, .special = literal},
    RULE(LOWER) = {MADE, .make = lower},
    RULE(MANTISSA_BITS) = {INT, OF(INSTR, MANTISSA_BITS)},
    RULE(NUM_CARRIES) = {INT, OF(INSTR, NUM_CARRIES)},
    RULE(OFFSET_DIMS) = {INNER, OF(INSTR, GATHER_DIMENSION_NUMBERS), OF(GATHER, OFFSET_DIMS)},
    RULE(OPERAND_BATCHING_DIMS) = {INNER_ANY, OF(INSTR, GATHER_DIMENSION_NUMBERS),
                                   OF(GATHER, OPERAND_BATCHING_DIMS)},
    RULE(OPERAND_LAYOUT_CONSTRAINTS) = {MADE, .make = shapes},
    RULE(OPERAND_PRECISION) = {MADE, .make = operand_precision},
    RULE(OUTFEED_CONFIG) = {TEXT_ANY, OF(INSTR, OUTFEED_CONFIG)},
    RULE(OUTFEED_SHAPE) = {SUB, OF(INSTR, OUTFEED_SHAPE), .sub = shape_of},
    RULE(OUTPUT_TO_OPERAND_ALIASING) = {MADE, .make = stet_hlo_aliasing},
    RULE(PADDING) = {MADE, .make = stet_hlo_padding},
    RULE(PADDING_TYPE) = {WORD_OTHER, OF(INSTR, PADDING_TYPE), .names = paddings},
    RULE(PARAMETER_REPLICATION) = {INNER_ANY, OF(INSTR, PARAMETER_REPLICATION),
                                   OF(REPLICATION, REPLICATED_AT_LEAF_BUFFERS)},
    RULE(REPLICA_GROUPS) = {MADE, .make = stet_hlo_replica_groups},
    RULE(RESULT_ACCURACY) = {MADE, .make = result_accuracy},
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
    RULE(SHARDING) = {SUB, OF(INSTR, SHARDING), .sub = stet_hlo_sharding},
    RULE(SLICE) = {MADE, .make = stet_hlo_slices},
    RULE(SLICE_SIZES) = {SPECIAL, .special = slice_sizes},
    RULE(SOURCE_TARGET_PAIRS) = {MADE, .make = stet_hlo_pairs},
    RULE(START_INDEX_MAP) = {INNER, OF(INSTR, GATHER_DIMENSION_NUMBERS),
                             OF(GATHER, START_INDEX_MAP)},
    RULE(START_INDICES_BATCHING_DIMS) = {INNER_ANY, OF(INSTR, GATHER_DIMENSION_NUMBERS),
                                         OF(GATHER, START_INDICES_BATCHING_DIMS)},
    RULE(STATISTICS) = {MADE, .make = statistics},
    RULE(TO_APPLY) = {CALL, .inner = 0},
    RULE(TRANSPOSE_A) = {INNER_WORD, OF(INSTR, TRIANGULAR_SOLVE_OPTIONS),
                         OF(TRIANGULAR, TRANSPOSE_A), .names = transposes},
    RULE(TRUE_COMPUTATION) = {CALL_IF, .inner = 0},
    RULE(TYPE) = {SPECIAL, .special = comparison_type},
    RULE(UNIQUE_INDICES) = {TRUE_ONLY, OF(INSTR, UNIQUE_INDICES)},
    RULE(UNIT_DIAGONAL) = {INNER_TRUE, OF(INSTR, TRIANGULAR_SOLVE_OPTIONS),
                           OF(TRIANGULAR, UNIT_DIAGONAL)},
    RULE(UPDATE_WINDOW_DIMS) = {INNER, OF(INSTR, SCATTER_DIMENSION_NUMBERS),
                                OF(SCATTER, UPDATE_WINDOW_DIMS)},
    RULE(USE_GLOBAL_DEVICE_IDS) = {TRUE_ONLY, OF(INSTR, USE_GLOBAL_DEVICE_IDS)},
    RULE(VALUE) = {SPECIAL, .special = literal},
    RULE(WINDOW) = {MADE, .make = stet_hlo_window},
#undef OF
#undef RULE
};

const struct stet_attr *stet_hlo_proto_attr(struct stet_hlo_reader *r, const struct stet_proto *in,
                                            struct stet_hlo_instr *instr, enum stet_hlo_attr which)
{
    uint32_t field = rules[which].field, inner = rules[which].inner;
    enum how how = rules[which].how;
    const struct stet_proto_field *f;
    struct stet_view text;
    struct stet_ints v;
    int64_t n;

    switch (how) {
    case INT:
        return stet_hlo_new_int(r->b.a, stet_hlo_number(r, field));
    case INT_OVER1:
        n = stet_hlo_number(r, field);
        return n > 1 ? stet_hlo_new_int(r->b.a, n) : NULL;
    case INT_THERE:
        return stet_hlo_field(r, field) ? stet_hlo_new_int(r->b.a, stet_hlo_number(r, field))
                                        : NULL;
    case TRUE_ONLY:
    case INNER_TRUE:
        n = how == TRUE_ONLY ? stet_hlo_number(r, field)
                             : stet_hlo_inner_number(r, in, field, inner);
        return n ? stet_hlo_new_bool(r->b.a, true) : NULL;
    case TEXT:
    case TEXT_ANY:
        text = stet_hlo_text(r, field);
        return text.len || how == TEXT ? stet_hlo_new_string(r->b.a, text) : NULL;
    case INTS:
        v = stet_hlo_ints(r, field);
        return stet_hlo_new_ints(r->b.a, v.at, v.count);
    case INNER:
    case INNER_ANY:
        v = stet_hlo_inner(r, in, field, inner);
        return v.count || how == INNER ? stet_hlo_new_ints(r->b.a, v.at, v.count) : NULL;
    case WORD:
    case WORD_OTHER:
        n = stet_hlo_number(r, field);
        return how == WORD || n != rules[which].usual ? word(r, which, rules[which].names, n)
                                                      : NULL;
    case INNER_WORD:
        n = stet_hlo_inner_number(r, in, field, inner);
        return n ? word(r, which, rules[which].names, n) : NULL;
    case WORD_TEXT:
        text = stet_hlo_text(r, field);
        return text.len ? stet_hlo_new_word(r->b.a, stet_hlo_attr_name(which), text) : NULL;
    case DOT:
    case DOT_ANY:
        v = dot_dims(r, in, inner);
        return v.count || how == DOT ? stet_hlo_new_ints(r->b.a, v.at, v.count) : NULL;
    case CALL:
        return call(r, inner);
    case CALL_IF:
        return by_predicate(r, instr) ? call(r, inner) : NULL;
    case SUB:
        f = stet_hlo_field(r, field);
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
