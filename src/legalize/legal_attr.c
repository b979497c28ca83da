/* Converts attributes of HLO instructions to StableHLO; a table row where only names differ. */
#include "legalize/legal.h"

#include "program/number.h"

#include <ctype.h>

/* Fields of the same names in the instruction; those it lacks are empty. `index` is NULL or a
 * number. */
static const struct stet_attr *numbers(struct stet_legal *l, const struct stet_op *op,
                                       const char *mnemonic, const char *const (*names)[2],
                                       uint32_t n)
{
    static const struct stet_attr empty = {.kind = STET_ATTR_INTS};
    struct stet_named_attr *f = STET_NEW_ARRAY(l->a, struct stet_named_attr, n);

    for (uint32_t i = 0; f && i < n; i++) {
        const struct stet_attr *v = stet_op_attr(op, names[i][0]);

        f[i] = (struct stet_named_attr){stet_view_str(names[i][1]), v ? v : &empty};
    }
    return f ? stet_legalize_record(l, mnemonic, f, n) : NULL;
}

static const struct stet_attr *gather_numbers(struct stet_legal *l, const struct stet_op *op)
{
    static const char *const names[][2] = {
        {"offset_dims", "offset_dims"},
        {"collapsed_slice_dims", "collapsed_slice_dims"},
        {"operand_batching_dims", "operand_batching_dims"},
        {"start_indices_batching_dims", "start_indices_batching_dims"},
        {"start_index_map", "start_index_map"},
        {"index_vector_dim", "index_vector_dim"}};

    return numbers(l, op, "gather", names, 6);
}

static const struct stet_attr *scatter_numbers(struct stet_legal *l, const struct stet_op *op)
{
    static const char *const names[][2] = {
        {"update_window_dims", "update_window_dims"},
        {"inserted_window_dims", "inserted_window_dims"},
        {"input_batching_dims", "input_batching_dims"},
        {"scatter_indices_batching_dims", "scatter_indices_batching_dims"},
        {"scatter_dims_to_operand_dims", "scatter_dims_to_operand_dims"},
        {"index_vector_dim", "index_vector_dim"}};

    return numbers(l, op, "scatter", names, 6);
}

static const struct stet_attr *dot_numbers(struct stet_legal *l, const struct stet_op *op)
{
    static const char *const names[][2] = {{"lhs_batch_dims", "lhs_batching_dimensions"},
                                           {"rhs_batch_dims", "rhs_batching_dimensions"},
                                           {"lhs_contracting_dims", "lhs_contracting_dimensions"},
                                           {"rhs_contracting_dims", "rhs_contracting_dimensions"}};

    return numbers(l, op, "dot", names, 4);
}

/* "bf01" → the positions of b, f and the numbers. */
static bool positions(struct stet_legal *l, struct stet_view labels, char first, char second,
                      struct stet_named_attr *out, const char *const *names)
{
    struct stet_attr *spatial = stet_legalize_attr(l, STET_ATTR_INTS);
    int64_t *dims = STET_NEW_ARRAY(l->a, int64_t, labels.len), a = -1, b = -1;

    if (!spatial || !dims)
        return false;
    spatial->ints = dims;
    for (size_t i = 0; i < labels.len; i++) {
        char c = labels.ptr[i];

        if (c == first)
            a = (int64_t)i;
        else if (c == second)
            b = (int64_t)i;
        else if (c >= '0' && c <= '9' && (size_t)(c - '0') + 2 < labels.len) {
            dims[c - '0'] = (int64_t)i;
            spatial->count++;
        } else {
            return false;
        }
    }
    out[0] = (struct stet_named_attr){stet_view_str(names[0]), stet_legalize_int(l, a, 64)};
    out[1] = (struct stet_named_attr){stet_view_str(names[1]), stet_legalize_int(l, b, 64)};
    out[2] = (struct stet_named_attr){stet_view_str(names[2]), spatial};
    return a >= 0 && b >= 0;
}

static const struct stet_attr *conv_numbers(struct stet_legal *l, const struct stet_op *op)
{
    static const char *const names[3][3] = {
        {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
        {"kernel_input_feature_dimension", "kernel_output_feature_dimension",
         "kernel_spatial_dimensions"},
        {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"}};
    struct stet_named_attr *f = STET_NEW_ARRAY(l->a, struct stet_named_attr, 9);
    const struct stet_attr *labels = stet_op_attr(op, "dim_labels");
    struct stet_view v = labels ? stet_attr_text(labels) : (struct stet_view){0};
    const char *bar = v.len ? memchr(v.ptr, '_', v.len) : NULL;
    const char *arrow = bar ? memchr(bar, '>', v.len - (size_t)(bar - v.ptr)) : NULL;
    bool ok = f && arrow && arrow > bar + 1;

    ok = ok && positions(l, stet_view_of(v.ptr, (size_t)(bar - v.ptr)), 'b', 'f', f, names[0]);
    ok = ok &&
         positions(l, stet_view_of(bar + 1, (size_t)(arrow - bar) - 2), 'i', 'o', f + 3, names[1]);
    ok = ok && positions(l, stet_view_of(arrow + 1, v.len - (size_t)(arrow + 1 - v.ptr)), 'b', 'f',
                         f + 6, names[2]);
    if (!ok) {
        stet_legalize_fail(l, STET_UNSUPPORTED, op, "convolution dimensions");
        return NULL;
    }
    return stet_legalize_record(l, "conv", f, 9);
}

/* ---- windows and precision ---- */

/* A part of the window as array<i64>, NULL if it is the default. */
static const struct stet_attr *window_part(struct stet_legal *l, const struct stet_op *op,
                                           const char *part)
{
    const struct stet_attr *w = stet_op_attr(op, "window"), *v = stet_attr_field(w, part);

    return v ? stet_legalize_array(l, v) : NULL;
}

static const struct stet_attr *window_padding(struct stet_legal *l, const struct stet_op *op)
{
    const struct stet_attr *w = stet_op_attr(op, "window");
    const struct stet_attr *low = stet_attr_field(w, "pad_low");
    const struct stet_attr *high = stet_attr_field(w, "pad_high");
    int64_t *both;

    if (!low || !high)
        return NULL;
    both = STET_NEW_ARRAY(l->a, int64_t, 2 * (size_t)low->count);
    if (!both)
        return NULL;
    for (uint32_t i = 0; i < low->count; i++) {
        both[2 * i] = low->ints[i];
        both[2 * i + 1] = high->ints[i];
    }
    return stet_legalize_matrix(l, both, low->count, 2);
}

static void convolution(struct stet_legal *l, const struct stet_op *op, struct stet_attrs *out)
{
    const struct stet_attr *w = stet_op_attr(op, "window");
    const struct stet_attr *reversed = stet_attr_field(w, "rhs_reversal");
    const struct stet_attr *features = stet_op_attr(op, "feature_group_count");
    const struct stet_attr *batches = stet_op_attr(op, "batch_group_count");

    stet_legalize_put(out, "dimension_numbers", conv_numbers(l, op));
    stet_legalize_put(out, "feature_group_count",
                      stet_legalize_int(l, features ? stet_attr_int(features) : 1, 64));
    stet_legalize_put(out, "batch_group_count",
                      stet_legalize_int(l, batches ? stet_attr_int(batches) : 1, 64));
    stet_legalize_put(out, "window_strides", window_part(l, op, "stride"));
    stet_legalize_put(out, "padding", window_padding(l, op));
    stet_legalize_put(out, "lhs_dilation", window_part(l, op, "lhs_dilate"));
    stet_legalize_put(out, "rhs_dilation", window_part(l, op, "rhs_dilate"));
    if (reversed)
        stet_legalize_put(out, "window_reversal",
                          stet_legalize_dense(l, reversed->ints, reversed->count, 1));
}

static void reduce_window(struct stet_legal *l, const struct stet_op *op, struct stet_attrs *out)
{
    stet_legalize_put(out, "window_dimensions",
                      stet_legalize_array(l, stet_op_attr(op, "window_dimensions")));
    stet_legalize_put(out, "window_strides", window_part(l, op, "stride"));
    stet_legalize_put(out, "padding", window_padding(l, op));
    if (op->known == STET_HLO_REDUCE_WINDOW) {
        stet_legalize_put(out, "base_dilations", window_part(l, op, "lhs_dilate"));
        stet_legalize_put(out, "window_dilations", window_part(l, op, "rhs_dilate"));
    }
}

/* "highest" → HIGHEST. */
static struct stet_view upper(struct stet_legal *l, struct stet_view v)
{
    char *to = stet_arena_raw(l->a, v.len + 1, 1);

    for (size_t i = 0; to && i < v.len; i++)
        to[i] = (char)toupper((unsigned char)v.ptr[i]);
    return stet_view_of(to, to ? v.len : 0);
}

static const struct stet_attr *precision(struct stet_legal *l, const struct stet_op *op)
{
    const struct stet_attr *p = stet_op_attr(op, "operand_precision");
    const struct stet_attr **items;
    struct stet_attr *a;

    if (!p)
        return NULL;
    items = stet_arena_alloc(l->a, p->count, sizeof *items);
    a = stet_legalize_attr(l, STET_ATTR_ARRAY);
    if (!items || !a)
        return NULL;
    for (uint32_t i = 0; i < p->count; i++)
        items[i] = stet_legalize_enum(l, "precision", upper(l, stet_attr_text(p->items[i])));
    a->items = items;
    a->count = p->count;
    return a;
}

/* dot_bf16_bf16_f32_x3: types of the operands and of the sum, and the number of products. */
static const struct stet_attr *algorithm(struct stet_legal *l, const struct stet_op *op)
{
    static const struct {
        const char *name;
        enum stet_float in, sum;
        int64_t parts, products;
        bool imprecise;
    } known[] = {
        {"dot_f16_f16_f16", STET_F16, STET_F16, 1, 1, false},
        {"dot_f16_f16_f32", STET_F16, STET_F32, 1, 1, false},
        {"dot_bf16_bf16_bf16", STET_BF16, STET_BF16, 1, 1, false},
        {"dot_bf16_bf16_f32", STET_BF16, STET_F32, 1, 1, false},
        {"dot_bf16_bf16_f32_x3", STET_BF16, STET_F32, 1, 3, false},
        {"dot_bf16_bf16_f32_x6", STET_BF16, STET_F32, 1, 6, false},
        {"dot_bf16_bf16_f32_x9", STET_BF16, STET_F32, 1, 9, false},
        {"dot_tf32_tf32_f32", STET_TF32, STET_F32, 1, 1, false},
        {"dot_tf32_tf32_f32_x3", STET_TF32, STET_F32, 1, 3, false},
        {"dot_f32_f32_f32", STET_F32, STET_F32, 1, 1, false},
        {"dot_f64_f64_f64", STET_F64, STET_F64, 1, 1, false},
        {"dot_any_f8_any_f8_f32", STET_F8E5M2, STET_F32, 1, 1, false},
        {"dot_any_f8_any_f8_f32_fast_accum", STET_F8E5M2, STET_F32, 1, 1, true},
    };
    static const char *const names[] = {"lhs_precision_type",  "rhs_precision_type",
                                        "accumulation_type",   "lhs_component_count",
                                        "rhs_component_count", "num_primitive_operations"};
    const struct stet_attr *said = stet_op_attr(op, "algorithm");
    struct stet_named_attr *f;
    size_t k = 0;

    if (!said)
        return NULL;
    while (k < sizeof known / sizeof *known && !stet_view_is(stet_attr_text(said), known[k].name))
        k++;
    f = STET_NEW_ARRAY(l->a, struct stet_named_attr, 7);
    if (k == sizeof known / sizeof *known || !f) {
        stet_legalize_fail(l, STET_UNSUPPORTED, op, "dot algorithm");
        return NULL;
    }
    for (int i = 0; i < 6; i++) {
        struct stet_attr *t = stet_legalize_attr(l, STET_ATTR_TYPE);

        if (t)
            t->of.type = stet_type_float(i == 2 ? known[k].sum : known[k].in);
        f[i] = (struct stet_named_attr){
            stet_view_str(names[i]),
            i < 3 ? t : stet_legalize_int(l, i < 5 ? known[k].parts : known[k].products, 64)};
    }
    f[6] = (struct stet_named_attr){STET_VIEW("allow_imprecise_accumulation"),
                                    stet_legalize_bool(l, known[k].imprecise)};
    return stet_legalize_record(l, "dot_algorithm", f, 7);
}

/* ---- custom calls ---- */

static void custom_call(struct stet_legal *l, const struct stet_op *op, struct stet_attrs *out)
{
    static const char *const versions[] = {
        "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
    const struct stet_attr *api = stet_op_attr(op, "api_version");
    const struct stet_attr *config = stet_op_attr(op, "backend_config");
    int64_t version = 1;

    for (int64_t i = 0; api && i < 5; i++)
        if (stet_view_is(stet_attr_text(api), versions[i]))
            version = i;
    stet_legalize_put(out, "call_target_name", stet_op_attr(op, "custom_call_target"));
    if (stet_op_attr(op, "custom_call_has_side_effect"))
        stet_legalize_put(out, "has_side_effect", stet_legalize_bool(l, true));
    stet_legalize_put(out, "api_version", stet_legalize_int(l, version, 32));
    if (config && version == 4) {
        config = stet_legalize_dictionary(l, stet_attr_text(config));
        if (!config)
            stet_legalize_fail(l, STET_UNSUPPORTED, op, "attributes of a typed custom call");
    }
    stet_legalize_put(out, "backend_config", config);
}

/* ---- all of them ---- */

/* Writes HLO's single-element list of dimensions as a number. */
static const struct stet_attr *one_dimension(struct stet_legal *l, const struct stet_op *op)
{
    const struct stet_attr *v = stet_op_attr(op, "dimensions");

    return stet_legalize_int(l, v && v->count ? v->ints[0] : 0, 64);
}

static const struct stet_attr *as_i32(struct stet_legal *l, const struct stet_op *op,
                                      const char *name)
{
    const struct stet_attr *v = stet_op_attr(op, name);

    return stet_legalize_int(l, v ? stet_attr_int(v) : 0, 32);
}

static struct stet_view word_of(struct stet_legal *l, const struct stet_op *op, const char *name,
                                size_t prefix)
{
    const struct stet_attr *v = stet_op_attr(op, name);

    if (!v || stet_attr_text(v).len < prefix)
        return (struct stet_view){0};
    return upper(l, stet_view_of(stet_attr_text(v).ptr + prefix, stet_attr_text(v).len - prefix));
}

static void flag(struct stet_legal *l, const struct stet_op *op, const char *name,
                 struct stet_attrs *out)
{
    stet_legalize_put(out, name, stet_legalize_bool(l, stet_op_attr(op, name) != NULL));
}

static void compare(struct stet_legal *l, const struct stet_op *op, struct stet_attrs *out)
{
    const struct stet_type *t = stet_op_operand(op, 0)->type;
    struct stet_view type = word_of(l, op, "type", 0);

    if (!type.len)
        type = t->kind != STET_TYPE_TENSOR || t->element->kind != STET_TYPE_INTEGER
                   ? STET_VIEW("FLOAT")
               : t->element->sign == STET_UNSIGNED || t->element->width == 1 ? STET_VIEW("UNSIGNED")
                                                                             : STET_VIEW("SIGNED");
    stet_legalize_put(
        out, "comparison_direction",
        stet_legalize_enum(l, "comparison_direction", word_of(l, op, "direction", 0)));
    stet_legalize_put(out, "compare_type", stet_legalize_enum(l, "comparison_type", type));
}

static void triangular(struct stet_legal *l, const struct stet_op *op, struct stet_attrs *out)
{
    struct stet_view t = word_of(l, op, "transpose_a", 0);

    flag(l, op, "left_side", out);
    flag(l, op, "lower", out);
    flag(l, op, "unit_diagonal", out);
    stet_legalize_put(
        out, "transpose_a",
        stet_legalize_enum(l, "transpose", t.len ? t : STET_VIEW("TRANSPOSE_INVALID")));
}

static void dimensioned(struct stet_legal *l, const struct stet_op *op, struct stet_attrs *out)
{
    const struct stet_attr *dims = stet_op_attr(op, "dimensions");

    switch (op->known) {
    case STET_HLO_BROADCAST:
        stet_legalize_put(out, "broadcast_dimensions", stet_legalize_array(l, dims));
        break;
    case STET_HLO_TRANSPOSE:
        stet_legalize_put(out, "permutation", stet_legalize_array(l, dims));
        break;
    case STET_HLO_REDUCE:
    case STET_HLO_REVERSE:
    case STET_HLO_MAP:
        stet_legalize_put(out, "dimensions", stet_legalize_array(l, dims));
        break;
    case STET_HLO_ALL_GATHER:
        stet_legalize_put(out, "all_gather_dim", one_dimension(l, op));
        break;
    case STET_HLO_REDUCE_SCATTER:
        stet_legalize_put(out, "scatter_dimension", one_dimension(l, op));
        break;
    case STET_HLO_CONCATENATE:
    case STET_HLO_SORT:
    case STET_HLO_GET_DIMENSION_SIZE:
    case STET_HLO_SET_DIMENSION_SIZE:
        stet_legalize_put(out, "dimension", one_dimension(l, op));
        break;
    default:
        break;
    }
}

static void numbered(struct stet_legal *l, const struct stet_op *op, struct stet_attrs *out)
{
    switch (op->known) {
    case STET_HLO_SLICE:
        stet_legalize_put(out, "start_indices",
                          stet_legalize_array(l, stet_op_attr(op, "start_indices")));
        stet_legalize_put(out, "limit_indices",
                          stet_legalize_array(l, stet_op_attr(op, "limit_indices")));
        stet_legalize_put(out, "strides", stet_legalize_array(l, stet_op_attr(op, "strides")));
        break;
    case STET_HLO_PAD:
        stet_legalize_put(out, "edge_padding_low",
                          stet_legalize_array(l, stet_op_attr(op, "edge_padding_low")));
        stet_legalize_put(out, "edge_padding_high",
                          stet_legalize_array(l, stet_op_attr(op, "edge_padding_high")));
        stet_legalize_put(out, "interior_padding",
                          stet_legalize_array(l, stet_op_attr(op, "interior_padding")));
        break;
    case STET_HLO_DYNAMIC_SLICE:
        stet_legalize_put(out, "slice_sizes",
                          stet_legalize_array(l, stet_op_attr(op, "dynamic_slice_sizes")));
        break;
    case STET_HLO_GATHER:
        stet_legalize_put(out, "dimension_numbers", gather_numbers(l, op));
        stet_legalize_put(out, "slice_sizes",
                          stet_legalize_array(l, stet_op_attr(op, "slice_sizes")));
        flag(l, op, "indices_are_sorted", out);
        break;
    case STET_HLO_SCATTER:
        stet_legalize_put(out, "scatter_dimension_numbers", scatter_numbers(l, op));
        flag(l, op, "indices_are_sorted", out);
        flag(l, op, "unique_indices", out);
        break;
    case STET_HLO_DOT:
        stet_legalize_put(out, "dot_dimension_numbers", dot_numbers(l, op));
        stet_legalize_put(out, "precision_config", precision(l, op));
        stet_legalize_put(out, "algorithm", algorithm(l, op));
        break;
    case STET_HLO_CONVOLUTION:
        convolution(l, op, out);
        stet_legalize_put(out, "precision_config", precision(l, op));
        break;
    case STET_HLO_REDUCE_WINDOW:
    case STET_HLO_SELECT_AND_SCATTER:
        reduce_window(l, op, out);
        break;
    case STET_HLO_IOTA:
        stet_legalize_put(out, "iota_dimension", stet_op_attr(op, "iota_dimension"));
        break;
    case STET_HLO_REDUCE_PRECISION:
        stet_legalize_put(out, "exponent_bits", as_i32(l, op, "exponent_bits"));
        stet_legalize_put(out, "mantissa_bits", as_i32(l, op, "mantissa_bits"));
        break;
    case STET_HLO_BATCH_NORM_GRAD:
    case STET_HLO_BATCH_NORM_INFERENCE:
    case STET_HLO_BATCH_NORM_TRAINING:
        stet_legalize_put(out, "epsilon", stet_op_attr(op, "epsilon"));
        stet_legalize_put(out, "feature_index", stet_op_attr(op, "feature_index"));
        break;
    default:
        break;
    }
}

void stet_legalize_attrs(struct stet_legal *l, const struct stet_op *op, struct stet_attrs *out)
{
    const struct stet_attr *pairs;

    dimensioned(l, op, out);
    numbered(l, op, out);
    if (stet_op_facts(op) & STET_OP_COLLECTIVE)
        stet_legalize_collective(l, op, out);
    switch (op->known) {
    case STET_HLO_COMPARE:
        compare(l, op, out);
        break;
    case STET_HLO_SORT:
        flag(l, op, "is_stable", out);
        break;
    case STET_HLO_TRIANGULAR_SOLVE:
        triangular(l, op, out);
        break;
    case STET_HLO_CHOLESKY:
        flag(l, op, "lower", out);
        break;
    case STET_HLO_FFT:
        stet_legalize_put(out, "fft_type",
                          stet_legalize_enum(l, "fft_type", word_of(l, op, "fft_type", 0)));
        stet_legalize_put(out, "fft_length",
                          stet_legalize_array(l, stet_op_attr(op, "fft_length")));
        break;
    case STET_HLO_RNG:
        stet_legalize_put(
            out, "rng_distribution",
            stet_legalize_enum(l, "rng_distribution", word_of(l, op, "distribution", 4)));
        break;
    case STET_HLO_RNG_BIT_GENERATOR:
        stet_legalize_put(out, "rng_algorithm",
                          stet_legalize_enum(l, "rng_algorithm", word_of(l, op, "algorithm", 4)));
        break;
    case STET_HLO_COLLECTIVE_PERMUTE:
        pairs = stet_op_attr(op, "source_target_pairs");
        stet_legalize_put(out, "source_target_pairs", pairs ? stet_legalize_lists(l, pairs) : NULL);
        break;
    case STET_HLO_CUSTOM_CALL:
        custom_call(l, op, out);
        break;
    default:
        break;
    }
    stet_legalize_put(out, "mhlo.sharding", stet_op_attr(op, "sharding"));
    stet_legalize_put(out, "mhlo.frontend_attributes", stet_op_attr(op, "frontend_attributes"));
}
