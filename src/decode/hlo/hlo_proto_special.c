/* Attributes of HLO instructions that no entry of the table in hlo_proto_attr.c describes: each has
 * a function. */
#include "decode/hlo/hlo_proto_attr.h"

#include <stdlib.h>

/* Names of enumerations as the text prints them, by number. */
static const char *const rng_algorithms[] = {"rng_default", "rng_three_fry", "rng_philox", NULL};
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
const struct stet_attr *stet_decode_hlo_word(struct stet_hlo_reader *r, enum stet_hlo_attr which,
                                             const char *const *names, int64_t v)
{
    int64_t known = 0;

    while (names[known])
        known++;
    return stet_decode_hlo_new_word(r->b.a, stet_hlo_attr_name(which),
                                    v >= 0 && v < known
                                        ? stet_view_str(names[v])
                                        : stet_arena_printf(r->b.a, "%lld", (long long)v));
}

static bool is(const struct stet_hlo_instr *i, const char *opcode)
{
    return stet_view_is(i->opcode, opcode);
}

/* ---- attributes with their own rules ---- */

const struct stet_attr *stet_decode_hlo_operand_precision(struct stet_hlo_reader *r,
                                                          const struct stet_proto *in)
{
    struct stet_ints v = stet_decode_hlo_inner(r, in, STET_HLO_INSTR_PRECISION_CONFIG,
                                               STET_HLO_PRECISION_OPERAND_PRECISION);
    const struct stet_attr **items = stet_arena_alloc(r->b.a, v.count, sizeof *items);
    bool any = false;

    if (!items)
        return NULL;
    for (uint32_t i = 0; i < v.count; i++) {
        any |= v.at[i] != 0;
        items[i] = stet_decode_hlo_word(r, STET_HLO_A_OPERAND_PRECISION, precisions, v.at[i]);
    }
    return any ? stet_decode_hlo_new_array(r->b.a, items, v.count) : NULL;
}

const struct stet_attr *stet_decode_hlo_comparison_type(struct stet_hlo_reader *r,
                                                        const struct stet_proto *in,
                                                        const struct stet_hlo_instr *instr)
{
    (void)in;
    if (!instr->operand_count)
        return NULL;
    return stet_decode_hlo_comparison(
        r->b.a, r->b.instrs[instr->operands[0]].type,
        stet_decode_hlo_field_text(r, STET_HLO_INSTR_COMPARISON_TYPE),
        stet_decode_hlo_field_text(r, STET_HLO_INSTR_COMPARISON_ORDER));
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
                        stet_decode_hlo_field(r, STET_HLO_INSTR_CALLED_COMPUTATION_IDS)->offset,
                        "an instruction calls a computation that is not in the module");
        return NULL;
    }
    return stet_decode_hlo_new_symbol(r->b.a, found->name);
}

/* The n-th called computation, or NULL. */
const struct stet_attr *stet_decode_hlo_call(struct stet_hlo_reader *r, uint32_t n)
{
    struct stet_ints ids = stet_decode_hlo_ints(r, STET_HLO_INSTR_CALLED_COMPUTATION_IDS);

    return n < ids.count ? symbol(r, (uint64_t)ids.at[n]) : NULL;
}

static const struct stet_attr *calls(struct stet_hlo_reader *r)
{
    struct stet_ints ids = stet_decode_hlo_ints(r, STET_HLO_INSTR_CALLED_COMPUTATION_IDS);
    const struct stet_attr **items = stet_arena_alloc(r->b.a, ids.count, sizeof *items);

    if (!items || !ids.count)
        return NULL;
    for (uint32_t i = 0; i < ids.count; i++) {
        items[i] = symbol(r, (uint64_t)ids.at[i]);
        if (!items[i])
            return NULL;
    }
    return stet_decode_hlo_new_array(r->b.a, items, ids.count);
}

/* XLA prints true_computation and false_computation if the selector is a predicate. */
bool stet_decode_hlo_by_predicate(const struct stet_hlo_reader *r,
                                  const struct stet_hlo_instr *instr)
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

const struct stet_attr *stet_decode_hlo_strings(struct stet_hlo_reader *r,
                                                const struct stet_proto *in,
                                                const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f), e;
    struct stet_proto_field g, h;
    struct stet_named_attr *named;
    uint32_t n = 0;

    while (stet_proto_next(&m, &g))
        n += g.number == STET_HLO_FRONTEND_MAP;
    if (!n)
        return NULL;
    named = STET_NEW_ARRAY(r->b.a, struct stet_named_attr, n);
    n = 0;
    m = stet_proto_sub(in, f);
    while (named && stet_proto_next(&m, &g)) {
        struct stet_view value = {0};

        if (g.number != STET_HLO_FRONTEND_MAP)
            continue;
        e = stet_proto_sub(&m, &g);
        while (stet_proto_next(&e, &h))
            *(h.number == STET_HLO_MAP_KEY ? &named[n].name : &value) =
                stet_proto_text(&r->fault, &h);
        named[n++].value = stet_decode_hlo_new_string(r->b.a, value);
    }
    if (!named)
        return NULL;
    qsort(named, n, sizeof *named, by_key);
    return stet_decode_hlo_new_record(r->b.a, NULL, named, n);
}

const struct stet_attr *stet_decode_hlo_shapes(struct stet_hlo_reader *r,
                                               const struct stet_proto *in)
{
    struct stet_build_list items = {0};

    if (!stet_decode_hlo_number(r, STET_HLO_INSTR_CONSTRAIN_LAYOUT))
        return NULL;
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].number == STET_HLO_INSTR_OPERAND_SHAPES_WITH_LAYOUT)
            stet_build_list_add(&items, stet_decode_hlo_new_type(
                                            r->b.a, stet_decode_hlo_shape(r, in, &r->fields[i])));
    return stet_decode_hlo_array_of(r->b.a, &items);
}

const struct stet_attr *stet_decode_hlo_backend_config(struct stet_hlo_reader *r,
                                                       const struct stet_proto *in)
{
    const struct stet_proto_field *f =
        stet_decode_hlo_field(r, STET_HLO_INSTR_BACKEND_CONFIG_PAYLOAD);
    struct stet_view v = stet_decode_hlo_field_text(r, STET_HLO_INSTR_BACKEND_CONFIG);

    if (f) {
        struct stet_proto m = stet_proto_sub(in, f);
        struct stet_proto_field g;

        while (stet_proto_next(&m, &g)) {
            if (g.number == STET_HLO_PAYLOAD_VALUE)
                v = stet_proto_text(&r->fault, &g);
            else if (g.number == STET_HLO_PAYLOAD_ID && g.value < r->payload_count)
                v = r->payloads[g.value];
            else if (g.number == STET_HLO_PAYLOAD_ID)
                stet_proto_fail(&r->fault, STET_BAD_INPUT, g.offset, "no such payload");
        }
    }
    return v.len ? stet_decode_hlo_new_string(r->b.a, stet_decode_hlo_sorted_json(r->b.a, v))
                 : NULL;
}

const struct stet_attr *stet_decode_hlo_result_accuracy(struct stet_hlo_reader *r,
                                                        const struct stet_proto *in)
{
    const struct stet_proto_field *f = stet_decode_hlo_field(r, STET_HLO_INSTR_RESULT_ACCURACY);
    struct stet_proto m, t;
    struct stet_proto_field g, h;
    double atol = 0, rtol = 0;
    int64_t ulps = 0;

    if (!f)
        return NULL;
    m = stet_proto_sub(in, f);
    while (stet_proto_next(&m, &g)) {
        if (g.number == STET_HLO_ACCURACY_MODE && g.value == 1)
            return stet_decode_hlo_new_string(r->b.a, STET_VIEW("mode=highest"));
        if (g.number != STET_HLO_ACCURACY_TOLERANCE)
            continue;
        t = stet_proto_sub(&m, &g);
        while (stet_proto_next(&t, &h))
            if (h.number == STET_HLO_TOLERANCE_ULPS)
                ulps = stet_proto_int(&r->fault, &h);
            else
                *(h.number == STET_HLO_TOLERANCE_ATOL ? &atol : &rtol) = stet_proto_double(&h);
        return stet_decode_hlo_new_string(
            r->b.a, stet_arena_printf(r->b.a, "tolerance={atol=%g,rtol=%g,ulps=%lld}", atol, rtol,
                                      (long long)ulps));
    }
    return NULL;
}

const struct stet_attr *stet_decode_hlo_statistics(struct stet_hlo_reader *r,
                                                   const struct stet_proto *in)
{
    const struct stet_proto_field *f = stet_decode_hlo_field(r, STET_HLO_INSTR_STATISTICS_VIZ);
    struct stet_proto m, s;
    struct stet_proto_field g, h;
    bool any = false;

    if (!f)
        return NULL;
    r->scratch.len = 0;
    stet_buf_printf(
        &r->scratch, "visualizing_index=%lld",
        (long long)stet_decode_hlo_inner_number(r, in, STET_HLO_INSTR_STATISTICS_VIZ,
                                                STET_HLO_STATISTICS_STAT_INDEX_TO_VISUALIZE));
    m = stet_proto_sub(in, f);
    while (stet_proto_next(&m, &g)) {
        struct stet_view name = {0};
        double value = 0;

        if (g.number != STET_HLO_STATISTICS_STATISTICS)
            continue;
        any = true;
        s = stet_proto_sub(&m, &g);
        while (stet_proto_next(&s, &h))
            if (h.number == STET_HLO_STATISTIC_STAT_NAME)
                name = stet_proto_text(&r->fault, &h);
            else
                value = stet_proto_double(&h);
        stet_buf_printf(&r->scratch, ",%.*s=%g", STET_FMT(name), value);
    }
    return any ? stet_decode_hlo_new_string(r->b.a, stet_decode_hlo_keep(r)) : NULL;
}

const struct stet_attr *stet_decode_hlo_domain(struct stet_hlo_reader *r,
                                               const struct stet_proto *in)
{
    const struct stet_proto_field *entry = stet_decode_hlo_field(
                                      r, STET_HLO_INSTR_DOMAIN_ENTRY_SHARDING),
                                  *exit =
                                      stet_decode_hlo_field(r, STET_HLO_INSTR_DOMAIN_EXIT_SHARDING);
    const struct stet_attr *a, *b;

    if (!entry || !exit)
        return NULL;
    a = stet_decode_hlo_sharding(r, in, entry);
    b = stet_decode_hlo_sharding(r, in, exit);
    if (!a || !b)
        return NULL;
    return stet_decode_hlo_new_string(
        r->b.a, stet_arena_printf(r->b.a, "kind=\"sharding\", entry=%.*s, exit=%.*s",
                                  STET_FMT(stet_attr_text(a)), STET_FMT(stet_attr_text(b))));
}

/* A ragged dot has the dimension numbers in a nested message. */
struct stet_ints stet_decode_hlo_dot_dims(struct stet_hlo_reader *r, const struct stet_proto *in,
                                          uint32_t inner)
{
    struct stet_ints v = stet_decode_hlo_inner(r, in, STET_HLO_INSTR_DOT_DIMENSION_NUMBERS, inner);
    const struct stet_proto_field *ragged =
        stet_decode_hlo_field(r, STET_HLO_INSTR_RAGGED_DOT_DIMENSION_NUMBERS);

    if (ragged) {
        struct stet_proto m = stet_proto_sub(in, ragged);
        struct stet_proto_field g;

        while (stet_proto_next(&m, &g))
            if (g.number == STET_HLO_RAGGED_DOT_DOT_DIMENSION_NUMBERS)
                v = stet_decode_hlo_inner_of(r, &m, &g, inner);
    }
    return v;
}

const struct stet_attr *stet_decode_hlo_algorithm(struct stet_hlo_reader *r,
                                                  const struct stet_proto *in,
                                                  const struct stet_hlo_instr *instr)
{
    int64_t n;

    if (is(instr, "rng-bit-generator"))
        return stet_decode_hlo_word(r, STET_HLO_A_ALGORITHM, rng_algorithms,
                                    stet_decode_hlo_number(r, STET_HLO_INSTR_RNG_ALGORITHM));
    n = stet_decode_hlo_inner_number(r, in, STET_HLO_INSTR_PRECISION_CONFIG,
                                     STET_HLO_PRECISION_ALGORITHM);
    return n ? stet_decode_hlo_word(r, STET_HLO_A_ALGORITHM, algorithms, n) : NULL;
}

const struct stet_attr *stet_decode_hlo_async_thread(struct stet_hlo_reader *r,
                                                     const struct stet_proto *in)
{
    struct stet_view name = stet_decode_hlo_field_text(r, STET_HLO_INSTR_ASYNC_EXECUTION_THREAD);

    (void)in;
    return name.len && !stet_view_is(name, "main") ? stet_decode_hlo_new_string(r->b.a, name)
                                                   : NULL;
}

const struct stet_attr *stet_decode_hlo_branches(struct stet_hlo_reader *r,
                                                 const struct stet_proto *in,
                                                 const struct stet_hlo_instr *instr)
{
    (void)in;
    return stet_decode_hlo_by_predicate(r, instr) ? NULL : calls(r);
}

const struct stet_attr *stet_decode_hlo_called(struct stet_hlo_reader *r,
                                               const struct stet_proto *in)
{
    (void)in;
    return calls(r);
}

const struct stet_attr *stet_decode_hlo_channel_id(struct stet_hlo_reader *r,
                                                   const struct stet_proto *in)
{
    int64_t n = stet_decode_hlo_number(r, STET_HLO_INSTR_CHANNEL_ID);

    (void)in;
    if (n <= 0)
        n = stet_decode_hlo_number(r, STET_HLO_INSTR_ALL_REDUCE_ID);
    return n > 0 ? stet_decode_hlo_new_int(r->b.a, n) : NULL;
}

const struct stet_attr *stet_decode_hlo_dimensions(struct stet_hlo_reader *r,
                                                   const struct stet_proto *in,
                                                   const struct stet_hlo_instr *instr)
{
    struct stet_ints v = stet_decode_hlo_ints(r, STET_HLO_INSTR_DIMENSIONS);

    (void)in;
    return v.count || !is(instr, "all-to-all") ? stet_decode_hlo_new_ints(r->b.a, v.at, v.count)
                                               : NULL;
}

const struct stet_attr *stet_decode_hlo_epsilon(struct stet_hlo_reader *r,
                                                const struct stet_proto *in)
{
    const struct stet_proto_field *f = stet_decode_hlo_field(r, STET_HLO_INSTR_EPSILON);

    (void)in;
    return stet_decode_hlo_new_float(r->b.a, f ? stet_proto_float(f) : 0);
}

const struct stet_attr *stet_decode_hlo_index_vector_dim(struct stet_hlo_reader *r,
                                                         const struct stet_proto *in,
                                                         const struct stet_hlo_instr *instr)
{
    bool scatter = is(instr, "scatter");

    return stet_decode_hlo_new_int(
        r->b.a, scatter
                    ? stet_decode_hlo_inner_number(r, in, STET_HLO_INSTR_SCATTER_DIMENSION_NUMBERS,
                                                   STET_HLO_SCATTER_INDEX_VECTOR_DIM)
                    : stet_decode_hlo_inner_number(r, in, STET_HLO_INSTR_GATHER_DIMENSION_NUMBERS,
                                                   STET_HLO_GATHER_INDEX_VECTOR_DIM));
}

const struct stet_attr *stet_decode_hlo_inferred_dimension(struct stet_hlo_reader *r,
                                                           const struct stet_proto *in)
{
    struct stet_ints v = stet_decode_hlo_ints(r, STET_HLO_INSTR_DIMENSIONS);

    (void)in;
    return v.count ? stet_decode_hlo_new_int(r->b.a, v.at[0]) : NULL;
}

const struct stet_attr *stet_decode_hlo_iota_dimension(struct stet_hlo_reader *r,
                                                       const struct stet_proto *in)
{
    struct stet_ints v = stet_decode_hlo_ints(r, STET_HLO_INSTR_DIMENSIONS);

    (void)in;
    return stet_decode_hlo_new_int(r->b.a, v.count ? v.at[0] : 0);
}

const struct stet_attr *stet_decode_hlo_is_associative(struct stet_hlo_reader *r,
                                                       const struct stet_proto *in)
{
    int64_t n = stet_decode_hlo_number(r, STET_HLO_INSTR_IS_ASSOCIATIVE);

    (void)in;
    return n ? stet_decode_hlo_new_bool(r->b.a, n == 1) : NULL;
}

const struct stet_attr *stet_decode_hlo_literal(struct stet_hlo_reader *r,
                                                const struct stet_proto *in,
                                                const struct stet_hlo_instr *instr)
{
    const struct stet_proto_field *f = stet_decode_hlo_field(r, STET_HLO_INSTR_LITERAL);

    return f && instr->type ? stet_decode_hlo_literal_value(r, in, f, instr->type) : NULL;
}

const struct stet_attr *stet_decode_hlo_lower(struct stet_hlo_reader *r,
                                              const struct stet_proto *in)
{
    if (stet_decode_hlo_inner_number(r, in, STET_HLO_INSTR_TRIANGULAR_SOLVE_OPTIONS,
                                     STET_HLO_TRIANGULAR_LOWER) |
        stet_decode_hlo_inner_number(r, in, STET_HLO_INSTR_CHOLESKY_OPTIONS,
                                     STET_HLO_CHOLESKY_LOWER))
        return stet_decode_hlo_new_bool(r->b.a, true);
    return NULL;
}

const struct stet_attr *stet_decode_hlo_slice_sizes(struct stet_hlo_reader *r,
                                                    const struct stet_proto *in,
                                                    const struct stet_hlo_instr *instr)
{
    bool gather = is(instr, "gather");
    struct stet_ints v = stet_decode_hlo_ints(r, gather ? STET_HLO_INSTR_GATHER_SLICE_SIZES
                                                        : STET_HLO_INSTR_DYNAMIC_SLICE_SIZES);

    (void)in;
    return v.count || gather ? stet_decode_hlo_new_ints(r->b.a, v.at, v.count) : NULL;
}

/* ---- fields of a submessage that is present ---- */

const struct stet_attr *stet_decode_hlo_shape_of(struct stet_hlo_reader *r,
                                                 const struct stet_proto *in,
                                                 const struct stet_proto_field *f)
{
    return stet_decode_hlo_new_type(r->b.a, stet_decode_hlo_shape(r, in, f));
}
