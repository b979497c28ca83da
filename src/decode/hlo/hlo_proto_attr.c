/* HloInstructionProto's fields → the attributes XLA's text shows for the opcode, by one table. What
 * equals XLA's default is left out, as the text leaves it out: text and proto must give the same
 * program. */
#include "decode/hlo/hlo_proto_attr.h"

#include <stdlib.h>

const struct stet_proto_field *stet_hlo_field(const struct stet_hlo_reader *r, uint32_t number)
{
    for (size_t i = r->field_count; i-- > 0;)
        if (r->fields[i].number == number)
            return &r->fields[i];
    return NULL;
}

int64_t stet_hlo_number(struct stet_hlo_reader *r, uint32_t field)
{
    const struct stet_proto_field *f = stet_hlo_field(r, field);

    return f ? stet_proto_int(&r->fault, f) : 0;
}

struct stet_view stet_hlo_text(struct stet_hlo_reader *r, uint32_t field)
{
    const struct stet_proto_field *f = stet_hlo_field(r, field);

    return f ? stet_proto_text(&r->fault, f) : (struct stet_view){0};
}

struct stet_ints stet_hlo_ints_in(struct stet_hlo_reader *r, struct stet_arena *a, uint32_t field)
{
    struct stet_ints v = {0};

    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].number == field)
            stet_proto_ints(&r->fault, &r->fields[i], a, &v);
    return v;
}

struct stet_ints stet_hlo_ints(struct stet_hlo_reader *r, uint32_t field)
{
    return stet_hlo_ints_in(r, r->b.a, field);
}

struct stet_ints stet_hlo_inner_of(struct stet_hlo_reader *r, const struct stet_proto *in,
                                   const struct stet_proto_field *outer, uint32_t inner)
{
    struct stet_proto m = stet_proto_sub(in, outer);
    struct stet_ints v = {0};
    struct stet_proto_field g;

    while (stet_proto_next(&m, &g))
        if (g.number == inner)
            stet_proto_ints(&r->fault, &g, r->b.a, &v);
    return v;
}

struct stet_ints stet_hlo_inner(struct stet_hlo_reader *r, const struct stet_proto *in,
                                uint32_t outer, uint32_t inner)
{
    const struct stet_proto_field *f = stet_hlo_field(r, outer);

    return f ? stet_hlo_inner_of(r, in, f, inner) : (struct stet_ints){0};
}

int64_t stet_hlo_inner_number(struct stet_hlo_reader *r, const struct stet_proto *in,
                              uint32_t outer, uint32_t inner)
{
    struct stet_ints v = stet_hlo_inner(r, in, outer, inner);

    return v.count ? v.at[v.count - 1] : 0;
}

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

/* A number newer than this build's list keeps its number as the word. */
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

enum { PRECISION_CONFIG = 51, GATHER = 33, SCATTER = 48, TRIANGULAR = 59 };

static bool is(const struct stet_hlo_instr *i, const char *opcode)
{
    return stet_view_is(i->opcode, opcode);
}

/* ---- attributes with a rule of their own ---- */

static const struct stet_attr *operand_precision(struct stet_hlo_reader *r,
                                                 const struct stet_proto *in)
{
    struct stet_ints v = stet_hlo_inner(r, in, PRECISION_CONFIG, 1);
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
                                               const struct stet_hlo_instr *instr)
{
    if (!instr->operand_count)
        return NULL;
    return stet_hlo_comparison(r->b.a, r->b.instrs[instr->operands[0]].type, stet_hlo_text(r, 72),
                               stet_hlo_text(r, STET_HLO_COMPARISON_ORDER));
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
        stet_proto_fail(&r->fault, STET_BAD_INPUT, stet_hlo_field(r, 38)->offset,
                        "an instruction calls a computation that is not in the module");
        return NULL;
    }
    return stet_hlo_new_symbol(r->b.a, found->name);
}

/* The n-th called computation, or NULL. */
static const struct stet_attr *call(struct stet_hlo_reader *r, uint32_t n)
{
    struct stet_ints ids = stet_hlo_ints(r, 38);

    return n < ids.count ? symbol(r, (uint64_t)ids.at[n]) : NULL;
}

static const struct stet_attr *calls(struct stet_hlo_reader *r)
{
    struct stet_ints ids = stet_hlo_ints(r, 38);
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

/* XLA prints true_computation and false_computation when the selector is a predicate. */
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

    if (!stet_hlo_number(r, 56)) /* constrain_layout */
        return NULL;
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].number == 57)
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
    const struct stet_proto_field *f = stet_hlo_field(r, 99);
    struct stet_view v = stet_hlo_text(r, 43);

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
    const struct stet_proto_field *f = stet_hlo_field(r, 91);
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
    const struct stet_proto_field *f = stet_hlo_field(r, 82);
    struct stet_proto m, s;
    struct stet_proto_field g, h;
    bool any = false;

    if (!f)
        return NULL;
    r->scratch.len = 0;
    stet_buf_printf(&r->scratch, "visualizing_index=%lld",
                    (long long)stet_hlo_inner_number(r, in, 82, 1));
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
    const struct stet_proto_field *entry = stet_hlo_field(r, 54), *exit = stet_hlo_field(r, 55);
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

/* Dot dimensions are field 30, and for ragged dots field 1 of field 90. */
static const struct stet_attr *dot_dims(struct stet_hlo_reader *r, const struct stet_proto *in,
                                        uint32_t inner, bool even_if_empty)
{
    struct stet_ints v = stet_hlo_inner(r, in, 30, inner);
    const struct stet_proto_field *ragged = stet_hlo_field(r, 90);

    if (ragged) {
        struct stet_proto m = stet_proto_sub(in, ragged);
        struct stet_proto_field g;

        while (stet_proto_next(&m, &g))
            if (g.number == 1)
                v = stet_hlo_inner_of(r, &m, &g, inner);
    }
    return v.count || even_if_empty ? stet_hlo_new_ints(r->b.a, v.at, v.count) : NULL;
}

/* What no rule below says. NULL when absent. */
static const struct stet_attr *special(struct stet_hlo_reader *r, const struct stet_proto *in,
                                       const struct stet_hlo_instr *instr, enum stet_hlo_attr which)
{
    const struct stet_proto_field *f;
    struct stet_ints v;
    int64_t n;

    switch (which) {
    case STET_HLO_A_ALGORITHM:
        if (is(instr, "rng-bit-generator"))
            return word(r, which, rng_algorithms, stet_hlo_number(r, 70));
        n = stet_hlo_inner_number(r, in, PRECISION_CONFIG, 2);
        return n ? word(r, which, algorithms, n) : NULL;
    case STET_HLO_A_ASYNC_EXECUTION_THREAD:
        if (!stet_hlo_text(r, 79).len || stet_view_is(stet_hlo_text(r, 79), "main"))
            return NULL;
        return stet_hlo_new_string(r->b.a, stet_hlo_text(r, 79));
    case STET_HLO_A_BACKEND_CONFIG:
        return backend_config(r, in);
    case STET_HLO_A_BRANCH_COMPUTATIONS:
        return by_predicate(r, instr) ? NULL : calls(r);
    case STET_HLO_A_CALLED_COMPUTATIONS:
        return calls(r);
    case STET_HLO_A_CHANNEL_ID:
        n = stet_hlo_number(r, 26);
        if (n <= 0)
            n = stet_hlo_number(r, 45); /* all_reduce_id, its name before 2019 */
        return n > 0 ? stet_hlo_new_int(r->b.a, n) : NULL;
    case STET_HLO_A_CROSS_PROGRAM_PREFETCH_INDEX:
        return stet_hlo_field(r, 80) ? stet_hlo_new_int(r->b.a, stet_hlo_number(r, 80)) : NULL;
    case STET_HLO_A_DIMENSIONS:
        v = stet_hlo_ints(r, 14);
        if (!v.count && is(instr, "all-to-all"))
            return NULL;
        return stet_hlo_new_ints(r->b.a, v.at, v.count);
    case STET_HLO_A_DOMAIN:
        return domain(r, in);
    case STET_HLO_A_EPSILON:
        f = stet_hlo_field(r, 24);
        return stet_hlo_new_float(r->b.a, f ? stet_proto_float(f) : 0);
    case STET_HLO_A_FALSE_COMPUTATION:
        return by_predicate(r, instr) ? call(r, 1) : NULL;
    case STET_HLO_A_FRONTEND_ATTRIBUTES:
        f = stet_hlo_field(r, 68);
        return f ? stet_hlo_strings(r, in, f) : NULL;
    case STET_HLO_A_INDEX_VECTOR_DIM:
        n = stet_hlo_inner_number(r, in, is(instr, "scatter") ? SCATTER : GATHER, 4);
        return stet_hlo_new_int(r->b.a, n);
    case STET_HLO_A_INFERRED_DIMENSION:
        v = stet_hlo_ints(r, 14);
        return v.count ? stet_hlo_new_int(r->b.a, v.at[0]) : NULL;
    case STET_HLO_A_IOTA_DIMENSION:
        v = stet_hlo_ints(r, 14);
        return stet_hlo_new_int(r->b.a, v.count ? v.at[0] : 0);
    case STET_HLO_A_IS_ASSOCIATIVE:
        n = stet_hlo_number(r, 96);
        return n ? stet_hlo_new_bool(r->b.a, n == 1) : NULL;
    case STET_HLO_A_LHS_BATCH_DIMS:
        return dot_dims(r, in, 3, false);
    case STET_HLO_A_LHS_CONTRACTING_DIMS:
        return dot_dims(r, in, 1, true);
    case STET_HLO_A_LITERAL:
    case STET_HLO_A_VALUE:
        f = stet_hlo_field(r, 8);
        return f && instr->type ? stet_hlo_literal(r, in, f, instr->type) : NULL;
    case STET_HLO_A_LOWER:
        n = stet_hlo_inner_number(r, in, 59, 2) | stet_hlo_inner_number(r, in, 62, 1);
        return n ? stet_hlo_new_bool(r->b.a, true) : NULL;
    case STET_HLO_A_OPERAND_LAYOUT_CONSTRAINTS:
        return shapes(r, in);
    case STET_HLO_A_OPERAND_PRECISION:
        return operand_precision(r, in);
    case STET_HLO_A_OUTFEED_SHAPE:
        f = stet_hlo_field(r, 29);
        return f ? stet_hlo_new_type(r->b.a, stet_hlo_shape(r, in, f)) : NULL;
    case STET_HLO_A_RESULT_ACCURACY:
        return result_accuracy(r, in);
    case STET_HLO_A_RHS_BATCH_DIMS:
        return dot_dims(r, in, 4, false);
    case STET_HLO_A_RHS_CONTRACTING_DIMS:
        return dot_dims(r, in, 2, true);
    case STET_HLO_A_SHARDING:
        f = stet_hlo_field(r, 40);
        return f ? stet_hlo_sharding(r, in, f) : NULL;
    case STET_HLO_A_SLICE_SIZES:
        v = stet_hlo_ints(r, is(instr, "gather") ? 34 : 20);
        return v.count || is(instr, "gather") ? stet_hlo_new_ints(r->b.a, v.at, v.count) : NULL;
    case STET_HLO_A_STATISTICS:
        return statistics(r, in);
    case STET_HLO_A_TRANSPOSE_A:
        n = stet_hlo_inner_number(r, in, 59, 4);
        return n ? word(r, which, transposes, n) : NULL;
    case STET_HLO_A_TRUE_COMPUTATION:
        return by_predicate(r, instr) ? call(r, 0) : NULL;
    case STET_HLO_A_TYPE:
        return comparison_type(r, instr);
    default:
        return NULL;
    }
}

/* ---- the table ---- */

enum how {
    SPECIAL = 0,
    INT,       /* always */
    INT_OVER1, /* when above 1 */
    TRUE_ONLY,
    TEXT,
    TEXT_ANY, /* when not empty */
    INTS,
    INNER,     /* integers of a submessage, always */
    INNER_ANY, /* when there are any */
    INNER_TRUE,
    WORD,       /* an enumeration, always */
    WORD_OTHER, /* unless it is `usual` */
    WORD_TEXT,  /* the word is text in the proto */
    CALL,       /* computation number `inner` */
    LIST,
};

static const struct {
    enum how how;
    unsigned char field, inner, usual;
    const char *const *names;
    const struct stet_attr *(*list)(struct stet_hlo_reader *r, const struct stet_proto *in);
} rules[STET_HLO_ATTRS] = {
#define RULE(attr) [STET_HLO_A_##attr]
    RULE(API_VERSION) = {WORD_OTHER, 77, .usual = 1, .names = api_versions},
    RULE(BATCH_GROUP_COUNT) = {INT_OVER1, 58},
    RULE(BODY) = {CALL, .inner = 0},
    RULE(CALLS) = {CALL, .inner = 0},
    RULE(COLLAPSED_SLICE_DIMS) = {INNER, GATHER, 2},
    RULE(CONDITION) = {CALL, .inner = 1},
    RULE(CONSTRAIN_LAYOUT) = {TRUE_ONLY, 56},
    RULE(CONVOLUTION_KIND) = {WORD_OTHER, 97, .names = conv_kinds},
    RULE(CUSTOM_CALL_HAS_SIDE_EFFECT) = {TRUE_ONLY, 65},
    RULE(CUSTOM_CALL_TARGET) = {TEXT, 28},
    RULE(DELTA) = {INT, 66},
    RULE(DIM_LABELS) = {LIST, .list = stet_hlo_dim_labels},
    RULE(DIRECTION) = {WORD_TEXT, 63},
    RULE(DISTRIBUTION) = {WORD, 23, .names = distributions},
    RULE(DYNAMIC_SLICE_SIZES) = {INTS, 20},
    RULE(EXPONENT_BITS) = {INT, 18},
    RULE(FEATURE_GROUP_COUNT) = {INT_OVER1, 50},
    RULE(FEATURE_INDEX) = {INT, 25},
    RULE(FFT_LENGTH) = {INTS, 32},
    RULE(FFT_TYPE) = {WORD, 31, .names = fft_types},
    RULE(HAS_DYNAMIC_ROOT) = {TRUE_ONLY, 100},
    RULE(INDEX) = {INT, 13},
    RULE(INDICES_ARE_SORTED) = {TRUE_ONLY, 67},
    RULE(INFEED_CONFIG) = {TEXT_ANY, 27},
    RULE(INPUT_BATCHING_DIMS) = {INNER_ANY, SCATTER, 5},
    RULE(INSERTED_WINDOW_DIMS) = {INNER, SCATTER, 2},
    RULE(IS_COMPOSITE) = {TRUE_ONLY, 89},
    RULE(IS_HOST_TRANSFER) = {TRUE_ONLY, 47},
    RULE(IS_REVERSE) = {TRUE_ONLY, 94},
    RULE(IS_STABLE) = {TRUE_ONLY, 60},
    RULE(K) = {INT, 81},
    RULE(KIND) = {WORD_TEXT, 11},
    RULE(LARGEST) = {TRUE_ONLY, 85},
    RULE(LEFT_SIDE) = {INNER_TRUE, TRIANGULAR, 1},
    RULE(LHS_RAGGED_DIMS) = {INNER_ANY, 90, 2},
    RULE(MANTISSA_BITS) = {INT, 19},
    RULE(NUM_CARRIES) = {INT, 95},
    RULE(OFFSET_DIMS) = {INNER, GATHER, 1},
    RULE(OPERAND_BATCHING_DIMS) = {INNER_ANY, GATHER, 5},
    RULE(OUTFEED_CONFIG) = {TEXT_ANY, 22},
    RULE(OUTPUT_TO_OPERAND_ALIASING) = {LIST, .list = stet_hlo_aliasing},
    RULE(PADDING) = {LIST, .list = stet_hlo_padding},
    RULE(PADDING_TYPE) = {WORD_OTHER, 75, .names = paddings},
    RULE(PARAMETER_REPLICATION) = {INNER_ANY, 61, 1},
    RULE(REPLICA_GROUPS) = {LIST, .list = stet_hlo_replica_groups},
    RULE(RHS_GROUP_DIMS) = {INNER_ANY, 90, 3},
    RULE(SCATTER) = {CALL, .inner = 1},
    RULE(SCATTER_DIMS_TO_OPERAND_DIMS) = {INNER, SCATTER, 3},
    RULE(SCATTER_INDICES_BATCHING_DIMS) = {INNER_ANY, SCATTER, 6},
    RULE(SCHEDULE) = {WORD_OTHER, 76, .names = schedules},
    RULE(SELECT) = {CALL, .inner = 0},
    RULE(SLICE) = {LIST, .list = stet_hlo_slices},
    RULE(SOURCE_TARGET_PAIRS) = {LIST, .list = stet_hlo_pairs},
    RULE(START_INDEX_MAP) = {INNER, GATHER, 3},
    RULE(START_INDICES_BATCHING_DIMS) = {INNER_ANY, GATHER, 6},
    RULE(TO_APPLY) = {CALL, .inner = 0},
    RULE(UNIQUE_INDICES) = {TRUE_ONLY, 69},
    RULE(UNIT_DIAGONAL) = {INNER_TRUE, TRIANGULAR, 3},
    RULE(UPDATE_WINDOW_DIMS) = {INNER, SCATTER, 1},
    RULE(USE_GLOBAL_DEVICE_IDS) = {TRUE_ONLY, 71},
    RULE(WINDOW) = {LIST, .list = stet_hlo_window},
#undef RULE
};

const struct stet_attr *stet_hlo_proto_attr(struct stet_hlo_reader *r, const struct stet_proto *in,
                                            struct stet_hlo_instr *instr, enum stet_hlo_attr which)
{
    uint32_t field = rules[which].field, inner = rules[which].inner;
    enum how how = rules[which].how;
    struct stet_ints v;
    struct stet_view text;
    int64_t n;

    switch (how) {
    case INT:
        return stet_hlo_new_int(r->b.a, stet_hlo_number(r, field));
    case INT_OVER1:
        n = stet_hlo_number(r, field);
        return n > 1 ? stet_hlo_new_int(r->b.a, n) : NULL;
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
    case WORD_TEXT:
        text = stet_hlo_text(r, field);
        return text.len ? stet_hlo_new_word(r->b.a, stet_hlo_attr_name(which), text) : NULL;
    case CALL:
        return call(r, inner);
    case LIST:
        return rules[which].list(r, in);
    case SPECIAL:
        break;
    }
    return special(r, in, instr, which);
}
