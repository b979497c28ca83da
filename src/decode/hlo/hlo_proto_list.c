/* Instruction attributes that are lists of small messages: windows, slices, groups … */
#include "decode/hlo/hlo_proto_attr.h"

static void field(struct stet_named_attr *fields, uint32_t *n, const char *name,
                  const struct stet_attr *v)
{
    fields[(*n)++] = (struct stet_named_attr){stet_view_str(name), v};
}

const struct stet_attr *stet_decode_hlo_slices(struct stet_hlo_reader *r,
                                               const struct stet_proto *in)
{
    struct stet_ints parts[3] = {{0}};
    struct stet_named_attr *fields = STET_NEW_ARRAY(r->b.a, struct stet_named_attr, 3);
    uint32_t n = 0;

    if (!fields)
        return NULL;
    for (size_t i = 0; i < r->field_count; i++) {
        int64_t v[4] = {0};
        struct stet_proto_field g;
        struct stet_proto m;

        if (r->fields[i].number != STET_HLO_INSTR_SLICE_DIMENSIONS)
            continue;
        m = stet_proto_sub(in, &r->fields[i]);
        while (stet_proto_next(&m, &g))
            if (g.number <= STET_HLO_SLICE_STRIDE)
                v[g.number] = stet_proto_int(&r->fault, &g);
        for (int k = 0; k < 3; k++)
            stet_decode_ints_add(&parts[k], r->b.a, v[k + 1]);
    }
    field(fields, &n, "start_indices",
          stet_decode_hlo_new_ints(r->b.a, parts[0].at, parts[0].count));
    field(fields, &n, "limit_indices",
          stet_decode_hlo_new_ints(r->b.a, parts[1].at, parts[1].count));
    field(fields, &n, "strides", stet_decode_hlo_new_ints(r->b.a, parts[2].at, parts[2].count));
    return stet_decode_hlo_new_record(r->b.a, "slice", fields, n);
}

/* A message with one repeated submessage of integers 1 to `width`, by column. */
static uint32_t columns(struct stet_hlo_reader *r, const struct stet_proto *in,
                        const struct stet_proto_field *f, struct stet_ints *out, unsigned width)
{
    struct stet_proto m = stet_proto_sub(in, f), d;
    struct stet_proto_field g, h;
    uint32_t rows = 0;

    while (stet_proto_next(&m, &g)) {
        int64_t v[8] = {0};

        if (g.number != STET_HLO_WINDOW_DIMENSIONS)
            continue;
        d = stet_proto_sub(&m, &g);
        while (stet_proto_next(&d, &h))
            if (h.number <= width)
                v[h.number] = stet_proto_int(&r->fault, &h);
        for (unsigned k = 0; k < width; k++)
            stet_decode_ints_add(&out[k], r->b.a, v[k + 1]);
        rows++;
    }
    return rows;
}

const struct stet_attr *stet_decode_hlo_padding(struct stet_hlo_reader *r,
                                                const struct stet_proto *in)
{
    static const char *const names[] = {"edge_padding_low", "edge_padding_high",
                                        "interior_padding"};
    const struct stet_proto_field *f = stet_decode_hlo_field(r, STET_HLO_INSTR_PADDING_CONFIG);
    struct stet_named_attr *fields = STET_NEW_ARRAY(r->b.a, struct stet_named_attr, 3);
    struct stet_ints parts[3] = {{0}};
    uint32_t n = 0;

    if (!fields)
        return NULL;
    if (f)
        columns(r, in, f, parts, 3);
    for (unsigned k = 0; k < 3; k++)
        field(fields, &n, names[k], stet_decode_hlo_new_ints(r->b.a, parts[k].at, parts[k].count));
    return stet_decode_hlo_new_record(r->b.a, "padding", fields, n);
}

/* Columns with only the default are left out, as in text. */
const struct stet_attr *stet_decode_hlo_window(struct stet_hlo_reader *r,
                                               const struct stet_proto *in)
{
    static const struct {
        const char *name;
        unsigned column;
        int64_t usual;
    } parts[] = {{"window_dimensions", 0, INT64_MIN},
                 {"stride", 1, 1},
                 {"pad_low", 2, 0},
                 {"pad_high", 3, 0},
                 {"lhs_dilate", 5, 1},
                 {"rhs_dilate", 4, 1},
                 {"rhs_reversal", 6, 0}};
    const struct stet_proto_field *f = stet_decode_hlo_field(r, STET_HLO_INSTR_WINDOW);
    struct stet_named_attr *fields = STET_NEW_ARRAY(r->b.a, struct stet_named_attr, 7);
    struct stet_ints v[7] = {{0}};
    uint32_t n = 0;
    bool any[7] = {false};

    if (!fields || !f || !columns(r, in, f, v, 7))
        return NULL;
    for (unsigned k = 0; k < 7; k++)
        for (uint32_t i = 0; i < v[parts[k].column].count; i++)
            any[k] |= v[parts[k].column].at[i] != parts[k].usual;
    any[2] = any[3] = any[2] || any[3];
    for (unsigned k = 0; k < 7; k++)
        if (any[k])
            field(
                fields, &n, parts[k].name,
                stet_decode_hlo_new_ints(r->b.a, v[parts[k].column].at, v[parts[k].column].count));
    return stet_decode_hlo_new_record(r->b.a, "window", fields, n);
}

/* bf01_oi01->bf01; XLA prints unassigned positions as '?'. */
static bool labels(struct stet_hlo_reader *r, char first, int64_t a, char second, int64_t b,
                   const struct stet_ints *spatial, uint64_t where)
{
    int64_t length = (a > b ? a : b) + 1;
    size_t start = r->scratch.len;

    for (uint32_t i = 0; i < spatial->count; i++)
        if (spatial->at[i] + 1 > length)
            length = spatial->at[i] + 1;
    if (a < 0 || b < 0 || length > 64) {
        stet_proto_fail(&r->fault, STET_BAD_INPUT, where, "convolution dimensions out of range");
        return false;
    }
    for (int64_t i = 0; i < length; i++) {
        char c = '?';

        for (uint32_t k = 0; k < spatial->count; k++)
            if (spatial->at[k] == i)
                c = (char)('0' + k % 10);
        stet_buf_char(&r->scratch, i == b ? second : i == a ? first : c);
    }
    return r->scratch.len > start;
}

const struct stet_attr *stet_decode_hlo_dim_labels(struct stet_hlo_reader *r,
                                                   const struct stet_proto *in)
{
    enum { DIMS = STET_HLO_INSTR_CONVOLUTION_DIMENSION_NUMBERS };
    const struct stet_proto_field *f = stet_decode_hlo_field(r, DIMS);
    struct stet_ints lhs = stet_decode_hlo_inner(r, in, DIMS,
                                                 STET_HLO_CONVOLUTION_INPUT_SPATIAL_DIMENSIONS),
                     rhs = stet_decode_hlo_inner(r, in, DIMS,
                                                 STET_HLO_CONVOLUTION_KERNEL_SPATIAL_DIMENSIONS);
    struct stet_ints out =
        stet_decode_hlo_inner(r, in, DIMS, STET_HLO_CONVOLUTION_OUTPUT_SPATIAL_DIMENSIONS);

    if (!f)
        return NULL;
    r->scratch.len = 0;
    labels(r, 'b',
           stet_decode_hlo_inner_number(r, in, DIMS, STET_HLO_CONVOLUTION_INPUT_BATCH_DIMENSION),
           'f',
           stet_decode_hlo_inner_number(r, in, DIMS, STET_HLO_CONVOLUTION_INPUT_FEATURE_DIMENSION),
           &lhs, f->offset);
    stet_buf_char(&r->scratch, '_');
    labels(r, 'i',
           stet_decode_hlo_inner_number(r, in, DIMS,
                                        STET_HLO_CONVOLUTION_KERNEL_INPUT_FEATURE_DIMENSION),
           'o',
           stet_decode_hlo_inner_number(r, in, DIMS,
                                        STET_HLO_CONVOLUTION_KERNEL_OUTPUT_FEATURE_DIMENSION),
           &rhs, f->offset);
    stet_buf_str(&r->scratch, "->");
    labels(r, 'b',
           stet_decode_hlo_inner_number(r, in, DIMS, STET_HLO_CONVOLUTION_OUTPUT_BATCH_DIMENSION),
           'f',
           stet_decode_hlo_inner_number(r, in, DIMS, STET_HLO_CONVOLUTION_OUTPUT_FEATURE_DIMENSION),
           &out, f->offset);
    return stet_decode_hlo_new_string(r->b.a, stet_decode_hlo_keep(r));
}

/* ---- collectives ---- */

/* Every field `number` of a message is itself a message with integers in field 1. */
static const struct stet_attr *group_list(struct stet_hlo_reader *r, const struct stet_proto *in,
                                          const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f), d;
    struct stet_build_list items = {0};
    struct stet_proto_field g, h;

    while (stet_proto_next(&m, &g)) {
        struct stet_ints ids = {0};

        if (g.number != STET_HLO_DEVICE_LIST_REPLICA_GROUPS)
            continue;
        d = stet_proto_sub(&m, &g);
        while (stet_proto_next(&d, &h))
            if (h.number == STET_HLO_GROUP_REPLICA_IDS)
                stet_proto_ints(&r->fault, &h, r->b.a, &ids);
        stet_build_list_add(&items, stet_decode_hlo_new_ints(r->b.a, ids.at, ids.count));
    }
    return stet_decode_hlo_array_of(r->b.a, &items);
}

static const struct stet_attr *iota_groups(struct stet_hlo_reader *r, const struct stet_proto *in,
                                           const struct stet_proto_field *f)
{
    struct stet_ints groups = stet_decode_hlo_inner_of(r, in, f,
                                                       STET_HLO_IOTA_GROUPS_NUM_REPLICA_GROUPS),
                     each = stet_decode_hlo_inner_of(r, in, f,
                                                     STET_HLO_IOTA_GROUPS_NUM_DEVICES_PER_GROUP);
    struct stet_ints dims =
                         stet_decode_hlo_inner_of(r, in, f, STET_HLO_IOTA_GROUPS_IOTA_RESHAPE_DIMS),
                     perm = stet_decode_hlo_inner_of(r, in, f,
                                                     STET_HLO_IOTA_GROUPS_IOTA_TRANSPOSE_PERM);

    r->scratch.len = 0;
    stet_decode_hlo_join(&r->scratch, "[", &groups, ",");
    stet_decode_hlo_join(&r->scratch, "", &each, "]");
    stet_decode_hlo_join(&r->scratch, "<=[", &dims, "]");
    if (dims.count > 1)
        stet_decode_hlo_join(&r->scratch, "T(", &perm, ")");
    return stet_decode_hlo_new_string(r->b.a, stet_decode_hlo_keep(r));
}

/* The field of the device list changed over the years: 49, then 87 (where XLA of 2024 and 2025 had
 * an iota list as field 2), then 92 with 93 beside it. */
const struct stet_attr *stet_decode_hlo_replica_groups(struct stet_hlo_reader *r,
                                                       const struct stet_proto *in)
{
    const struct stet_proto_field *f;
    struct stet_build_list items = {0};

    if ((f = stet_decode_hlo_field(r, STET_HLO_INSTR_MESH_AXES_REPLICA_GROUP_LIST))) {
        r->scratch.len = 0;
        stet_decode_hlo_mesh_groups(r, in, f);
        return stet_decode_hlo_new_string(r->b.a, stet_decode_hlo_keep(r));
    }
    if ((f = stet_decode_hlo_field(r, STET_HLO_INSTR_IOTA_COLLECTIVE_DEVICE_LIST)))
        return iota_groups(r, in, f);
    if ((f = stet_decode_hlo_field(r, STET_HLO_INSTR_COLLECTIVE_DEVICE_LIST))) {
        struct stet_proto m = stet_proto_sub(in, f);
        struct stet_proto_field g;

        while (stet_proto_next(&m, &g))
            if (g.number == STET_HLO_DEVICE_LIST_IOTA_REPLICA_GROUP_LIST)
                return iota_groups(r, &m, &g);
        return group_list(r, in, f);
    }
    for (size_t i = 0; i < r->field_count; i++) {
        struct stet_ints ids = {0};
        struct stet_proto_field g;
        struct stet_proto m;

        if (r->fields[i].number != STET_HLO_INSTR_REPLICA_GROUPS)
            continue;
        m = stet_proto_sub(in, &r->fields[i]);
        while (stet_proto_next(&m, &g))
            if (g.number == STET_HLO_GROUP_REPLICA_IDS)
                stet_proto_ints(&r->fault, &g, r->b.a, &ids);
        stet_build_list_add(&items, stet_decode_hlo_new_ints(r->b.a, ids.at, ids.count));
    }
    return stet_decode_hlo_array_of(r->b.a, &items);
}

const struct stet_attr *stet_decode_hlo_pairs(struct stet_hlo_reader *r,
                                              const struct stet_proto *in)
{
    struct stet_build_list items = {0};

    for (size_t i = 0; i < r->field_count; i++) {
        int64_t *v;
        struct stet_proto_field g;
        struct stet_proto m;

        if (r->fields[i].number != STET_HLO_INSTR_SOURCE_TARGET_PAIRS)
            continue;
        v = STET_NEW_ARRAY(r->b.a, int64_t, 2);
        m = stet_proto_sub(in, &r->fields[i]);
        while (v && stet_proto_next(&m, &g))
            if (g.number <= STET_HLO_PAIR_TARGET)
                v[g.number - STET_HLO_PAIR_SOURCE] = stet_proto_int(&r->fault, &g);
        stet_build_list_add(&items, stet_decode_hlo_new_ints(r->b.a, v, 2));
    }
    return stet_decode_hlo_array_of(r->b.a, &items);
}

const struct stet_attr *stet_decode_hlo_aliasing(struct stet_hlo_reader *r,
                                                 const struct stet_proto *in)
{
    struct stet_build_list items = {0};
    uint32_t n;

    for (size_t i = 0; i < r->field_count; i++) {
        struct stet_named_attr *f;
        struct stet_ints output = {0}, index = {0};
        struct stet_proto_field g;
        struct stet_proto m;
        int64_t operand = 0;

        if (r->fields[i].number != STET_HLO_INSTR_OUTPUT_OPERAND_ALIASING)
            continue;
        m = stet_proto_sub(in, &r->fields[i]);
        while (stet_proto_next(&m, &g))
            if (g.number == STET_HLO_ALIASING_OUTPUT_SHAPE_INDEX)
                stet_proto_ints(&r->fault, &g, r->b.a, &output);
            else if (g.number == STET_HLO_ALIASING_OPERAND_INDEX)
                operand = stet_proto_int(&r->fault, &g);
            else if (g.number == STET_HLO_ALIASING_OPERAND_SHAPE_INDEX)
                stet_proto_ints(&r->fault, &g, r->b.a, &index);
        f = STET_NEW_ARRAY(r->b.a, struct stet_named_attr, 3);
        n = 0;
        if (f) {
            field(f, &n, "output", stet_decode_hlo_new_ints(r->b.a, output.at, output.count));
            field(f, &n, "operand", stet_decode_hlo_new_int(r->b.a, operand));
            field(f, &n, "index", stet_decode_hlo_new_ints(r->b.a, index.at, index.count));
        }
        stet_build_list_add(&items, stet_decode_hlo_new_record(r->b.a, "aliasing", f, n));
    }
    return items.count || items.failed ? stet_decode_hlo_array_of(r->b.a, &items) : NULL;
}
