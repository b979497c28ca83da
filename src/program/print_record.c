/* Prints the structured attributes of StableHLO and Shardy, each in its own syntax. */
#include "program/print.h"
#include "program/records.h"

static const struct stet_attr *field(const struct stet_attr *a, const char *name)
{
    return stet_attr_field(a, name);
}

static uint32_t count_of(const struct stet_attr *a)
{
    return a ? a->count : 0;
}

/* A hostile file may put another kind of attribute where a list belongs; it has no members. */
static uint32_t ints_in(const struct stet_attr *a)
{
    return a && a->kind == STET_ATTR_INTS ? a->count : 0;
}

static uint32_t items_in(const struct stet_attr *a)
{
    return a && a->kind == STET_ATTR_ARRAY ? a->count : 0;
}

static int64_t integer_of(const struct stet_attr *a)
{
    return a ? stet_attr_int(a) : 0;
}

/* ---- StableHLO ---- */

static void print_field(struct stet_buf *out, const struct stet_attr *value)
{
    switch (value->kind) {
    case STET_ATTR_INTEGER:
        stet_buf_printf(out, "%lld", (long long)stet_attr_int(value));
        break;
    case STET_ATTR_RECORD: /* nested ones are written without their "#dialect.mnemonic" */
        stet_print_record(out, value);
        break;
    default:
        stet_print_attr(out, value);
        break;
    }
}

/* <name = value, …>; `sparse` leaves zeros and empty lists out. */
static void print_struct(struct stet_buf *out, const struct stet_attr *a, bool sparse)
{
    const char *separator = "";

    stet_buf_char(out, '<');
    for (uint32_t i = 0; i < a->count; i++) {
        const struct stet_attr *value = a->named[i].value;

        if (sparse && (value->kind == STET_ATTR_INTS ? !value->count : !stet_attr_int(value)))
            continue;
        stet_buf_str(out, separator);
        stet_buf_view(out, a->named[i].name);
        stet_buf_str(out, " = ");
        print_field(out, value);
        separator = ", ";
    }
    stet_buf_char(out, '>');
}

/* [b, 0, 1, f]: which dimension is batch, feature or the n-th spatial one. */
static void print_conv_part(struct stet_buf *out, const struct stet_attr *spatial, int64_t first,
                            char first_name, int64_t second, char second_name)
{
    uint32_t n = ints_in(spatial) + 2;

    stet_buf_char(out, '[');
    for (uint32_t d = 0; d < n; d++) {
        if (d)
            stet_buf_str(out, ", ");
        if ((int64_t)d == first)
            stet_buf_char(out, first_name);
        else if ((int64_t)d == second)
            stet_buf_char(out, second_name);
        for (uint32_t i = 0; i < ints_in(spatial); i++)
            if (spatial->ints[i] == (int64_t)d)
                stet_buf_printf(out, "%u", i);
    }
    stet_buf_char(out, ']');
}

static void print_conv(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_char(out, '<');
    print_conv_part(out, field(a, "input_spatial_dimensions"),
                    integer_of(field(a, "input_batch_dimension")), 'b',
                    integer_of(field(a, "input_feature_dimension")), 'f');
    stet_buf_char(out, 'x');
    print_conv_part(out, field(a, "kernel_spatial_dimensions"),
                    integer_of(field(a, "kernel_input_feature_dimension")), 'i',
                    integer_of(field(a, "kernel_output_feature_dimension")), 'o');
    stet_buf_str(out, "->");
    print_conv_part(out, field(a, "output_spatial_dimensions"),
                    integer_of(field(a, "output_batch_dimension")), 'b',
                    integer_of(field(a, "output_feature_dimension")), 'f');
    stet_buf_char(out, '>');
}

static void print_bounds(struct stet_buf *out, const struct stet_attr *a)
{
    const struct stet_attr *bounds = field(a, "bounds");

    stet_buf_char(out, '<');
    for (uint32_t i = 0; i < ints_in(bounds); i++) {
        stet_buf_str(out, i ? ", " : "");
        if (bounds->ints[i] == STET_DYNAMIC)
            stet_buf_char(out, '?');
        else
            stet_buf_printf(out, "%lld", (long long)bounds->ints[i]);
    }
    stet_buf_char(out, '>');
}

static bool is_zero(const struct stet_attr *f)
{
    for (size_t i = 0; f && i < stet_attr_bytes(f).len; i++)
        if (stet_attr_bytes(f).ptr[i])
            return false;
    return true;
}

static void print_accuracy(struct stet_buf *out, const struct stet_attr *a)
{
    static const char *const tolerances[] = {"atol", "rtol"};

    stet_buf_char(out, '<');
    for (unsigned i = 0; i < 2; i++) {
        const struct stet_attr *f = field(a, tolerances[i]);

        if (is_zero(f))
            continue;
        stet_buf_printf(out, "%s = ", tolerances[i]);
        stet_print_float(out, STET_F64, stet_attr_bytes(f).ptr);
        stet_buf_str(out, ", ");
    }
    if (integer_of(field(a, "ulps")))
        stet_buf_printf(out, "ulps = %lld, ", (long long)stet_attr_int(field(a, "ulps")));
    stet_buf_str(out, "mode = ");
    if (field(a, "mode"))
        stet_print_attr(out, field(a, "mode"));
    stet_buf_char(out, '>');
}

static void print_list(struct stet_buf *out, const struct stet_attr *list, const char *separator)
{
    for (uint32_t i = 0; i < items_in(list); i++) {
        stet_buf_str(out, i ? separator : "");
        print_field(out, list->items[i]);
    }
}

static void print_mesh(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_str(out, "<axes=[");
    print_list(out, field(a, "axes"), ", ");
    stet_buf_char(out, ']');
    if (field(a, "device_ids")) {
        stet_buf_str(out, ", device_ids=");
        stet_print_attr(out, field(a, "device_ids"));
    }
    stet_buf_char(out, '>');
}

static void print_sub_axis(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_printf(out, "(%lld)%lld", (long long)integer_of(field(a, "pre_size")),
                    (long long)integer_of(field(a, "size")));
}

/* ---- Shardy ---- */

static void print_enclosed(struct stet_buf *out, char open, const struct stet_attr *list,
                           char close)
{
    stet_buf_char(out, open);
    print_list(out, list, ", ");
    stet_buf_char(out, close);
}

static void print_sdy_mesh(struct stet_buf *out, const struct stet_attr *a)
{
    const struct stet_attr *ids = field(a, "device_ids");

    stet_buf_char(out, '<');
    print_enclosed(out, '[', field(a, "axes"), ']');
    if (count_of(ids)) {
        stet_buf_str(out, ", device_ids=");
        stet_print_attr(out, ids);
    }
    stet_buf_char(out, '>');
}

static void print_axis(struct stet_buf *out, const struct stet_attr *a)
{
    const struct stet_attr *sub = field(a, "sub_axis_info");

    if (field(a, "name"))
        stet_print_string(out, stet_attr_text(field(a, "name")));
    if (sub) {
        stet_buf_char(out, ':');
        print_sub_axis(out, sub);
    }
}

static void print_dimension(struct stet_buf *out, const struct stet_attr *a)
{
    const struct stet_attr *axes = field(a, "axes"), *priority = field(a, "priority");

    stet_buf_char(out, '{');
    print_list(out, axes, ", ");
    if (!integer_of(field(a, "is_closed")))
        stet_buf_str(out, items_in(axes) ? ", ?" : "?");
    stet_buf_char(out, '}');
    if (priority)
        stet_buf_printf(out, "p%lld", (long long)stet_attr_int(priority));
}

static void print_sharding(struct stet_buf *out, const struct stet_attr *a)
{
    const struct stet_attr *mesh = field(a, "mesh_or_ref"), *reduction = field(a, "reduction_op");
    const struct stet_attr *replicated = field(a, "replicated_axes");
    const struct stet_attr *unreduced = field(a, "unreduced_axes");

    stet_buf_char(out, '<');
    if (mesh && mesh->kind == STET_ATTR_RECORD)
        stet_buf_str(out, "mesh");
    if (mesh)
        print_field(out, mesh);
    stet_buf_str(out, ", ");
    print_enclosed(out, '[', field(a, "dim_shardings"), ']');
    if (items_in(replicated)) {
        stet_buf_str(out, ", replicated=");
        print_enclosed(out, '{', replicated, '}');
    }
    if (items_in(unreduced)) {
        stet_buf_str(out, ", unreduced=");
        if (reduction)
            stet_buf_view(out, stet_attr_text(reduction));
        print_enclosed(out, '{', unreduced, '}');
    }
    stet_buf_char(out, '>');
}

/* Factors are i, j, … z, z_1, z_2, … */
static void print_factor(struct stet_buf *out, int64_t factor)
{
    enum { LAST_LETTER = 'z' - 'i' };

    if (factor <= LAST_LETTER)
        stet_buf_char(out, (char)('i' + factor));
    else
        stet_buf_printf(out, "z_%lld", (long long)(factor - LAST_LETTER));
}

static void print_factors(struct stet_buf *out, const char *name, const struct stet_attr *factors)
{
    if (!ints_in(factors))
        return;
    stet_buf_printf(out, " %s={", name);
    for (uint32_t i = 0; i < factors->count; i++) {
        stet_buf_str(out, i ? ", " : "");
        print_factor(out, factors->ints[i]);
    }
    stet_buf_char(out, '}');
}

static void print_rule(struct stet_buf *out, const struct stet_attr *a)
{
    const struct stet_attr *sizes = field(a, "factor_sizes");

    stet_buf_char(out, '<');
    print_enclosed(out, '(', field(a, "operand_mappings"), ')');
    stet_buf_str(out, "->");
    print_enclosed(out, '(', field(a, "result_mappings"), ')');
    if (ints_in(sizes)) {
        stet_buf_str(out, " {");
        for (uint32_t i = 0; i < sizes->count; i++) {
            stet_buf_str(out, i ? ", " : "");
            print_factor(out, i);
            stet_buf_printf(out, "=%lld", (long long)sizes->ints[i]);
        }
        stet_buf_char(out, '}');
    }
    print_factors(out, "reduction", field(a, "reduction_factors"));
    print_factors(out, "need_replication", field(a, "need_replication_factors"));
    print_factors(out, "permutation", field(a, "permutation_factors"));
    print_factors(out, "blocked_propagation", field(a, "blocked_propagation_factors"));
    stet_buf_str(out, integer_of(field(a, "is_custom_rule")) ? ", custom>" : ">");
}

static void print_all_to_all(struct stet_buf *out, const struct stet_attr *a)
{
    print_enclosed(out, '{', field(a, "axes"), '}');
    stet_buf_printf(out, ": %lld->%lld", (long long)integer_of(field(a, "src_dim")),
                    (long long)integer_of(field(a, "tgt_dim")));
}

static void print_dim_mapping(struct stet_buf *out, const struct stet_attr *a)
{
    const struct stet_attr *factors = field(a, "factor_indices");

    for (uint32_t i = 0; i < ints_in(factors); i++)
        print_factor(out, factors->ints[i]);
}

static const struct stet_attr *only_field(const struct stet_attr *a)
{
    return a->count ? a->named[0].value : NULL;
}

static void print_mesh_axis(struct stet_buf *out, const struct stet_attr *a)
{
    print_axis(out, a);
    stet_buf_printf(out, "=%lld", (long long)integer_of(field(a, "size")));
}

static void print_per_value(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_char(out, '<');
    print_enclosed(out, '[', only_field(a), ']');
    stet_buf_char(out, '>');
}

void stet_print_record(struct stet_buf *out, const struct stet_attr *a)
{
    const struct stet_attr_record *record =
        stet_attr_record_find(stet_attr_dialect(a), stet_attr_mnemonic(a));

    switch (record ? record->style : STET_STYLE_STRUCT) {
    case STET_STYLE_STRUCT:
        print_struct(out, a, false);
        break;
    case STET_STYLE_SPARSE:
        print_struct(out, a, true);
        break;
    case STET_STYLE_CONV:
        print_conv(out, a);
        break;
    case STET_STYLE_BOUNDS:
        print_bounds(out, a);
        break;
    case STET_STYLE_ACCURACY:
        print_accuracy(out, a);
        break;
    case STET_STYLE_MESH:
        print_mesh(out, a);
        break;
    case STET_STYLE_SUB_AXIS:
        print_sub_axis(out, a);
        break;
    case STET_STYLE_SDY_BRACES:
        print_enclosed(out, '{', only_field(a), '}');
        break;
    case STET_STYLE_SDY_BRACKETS:
        print_enclosed(out, '[', only_field(a), ']');
        break;
    case STET_STYLE_SDY_MESH_AXIS:
        print_mesh_axis(out, a);
        break;
    case STET_STYLE_SDY_MESH:
        print_sdy_mesh(out, a);
        break;
    case STET_STYLE_SDY_AXIS:
        print_axis(out, a);
        break;
    case STET_STYLE_SDY_DIMENSION:
        print_dimension(out, a);
        break;
    case STET_STYLE_SDY_SHARDING:
        print_sharding(out, a);
        break;
    case STET_STYLE_SDY_PER_VALUE:
        print_per_value(out, a);
        break;
    case STET_STYLE_SDY_DIM_MAPPING:
        print_dim_mapping(out, a);
        break;
    case STET_STYLE_SDY_RULE:
        print_rule(out, a);
        break;
    case STET_STYLE_SDY_ALL_TO_ALL:
        print_all_to_all(out, a);
        break;
    }
}
