/* Lookups over hlo.def. */
#include "program/hlo.h"

#include "program/build.h"
#include "program/ops.h"

#define L(identifier) STET_HLO_A_##identifier,

static const struct stet_hlo_op hlo_ops[] = {
#define HLO_OP(identifier, opcode, facts, attrs) {opcode, {attrs STET_HLO_A_NONE}},
#include "program/hlo.def"
#undef HLO_OP
};

static const uint32_t hlo_known[] = {
#define HLO_OP(identifier, opcode, facts, attrs) STET_HLO_##identifier,
#include "program/hlo.def"
#undef HLO_OP
};

enum { HLO_OPS = sizeof hlo_ops / sizeof *hlo_ops };

const unsigned char stet_hlo_tail[] = {
#define HLO_TAIL(attrs) attrs STET_HLO_A_NONE
#include "program/hlo.def"
#undef HLO_TAIL
};

static const struct {
    const char *name;
    enum stet_hlo_form form;
} hlo_attrs[] = {
    {"", STET_HLO_F_INT},
#define HLO_ATTR(identifier, name, form) {name, STET_HLO_F_##form},
#include "program/hlo.def"
#undef HLO_ATTR
};

const struct stet_hlo_op *stet_hlo_op(struct stet_view opcode)
{
    size_t low = 0, high = HLO_OPS;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = stet_view_cmp(opcode, stet_view_str(hlo_ops[middle].opcode));

        if (order == 0)
            return &hlo_ops[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct stet_hlo_op *stet_hlo_op_of(const struct stet_op *op)
{
    if (!stet_view_starts(stet_op_name(op), "hlo."))
        return NULL;
    return stet_hlo_op(stet_view_of(stet_op_name(op).ptr + 4, stet_op_name(op).len - 4));
}

uint32_t stet_hlo_known(const struct stet_hlo_op *op)
{
    return hlo_known[op - hlo_ops];
}

const char *stet_hlo_attr_name(enum stet_hlo_attr a)
{
    return hlo_attrs[a].name;
}

enum stet_hlo_form stet_hlo_attr_form(enum stet_hlo_attr a)
{
    return hlo_attrs[a].form;
}

enum stet_hlo_attr stet_hlo_attr_by_name(struct stet_view name)
{
    for (unsigned i = 1; i < STET_HLO_ATTRS; i++)
        if (stet_view_is(name, hlo_attrs[i].name))
            return (enum stet_hlo_attr)i;
    return STET_HLO_A_NONE;
}

/* ---- element types ---- */

static const struct {
    const char *name;
    unsigned char width;
    enum stet_sign sign;
} integers[] = {
    {"pred", 1, STET_SIGNLESS}, {"s1", 1, STET_SIGNED},     {"u1", 1, STET_UNSIGNED},
    {"s2", 2, STET_SIGNLESS},   {"u2", 2, STET_UNSIGNED},   {"s4", 4, STET_SIGNLESS},
    {"u4", 4, STET_UNSIGNED},   {"s8", 8, STET_SIGNLESS},   {"u8", 8, STET_UNSIGNED},
    {"s16", 16, STET_SIGNLESS}, {"u16", 16, STET_UNSIGNED}, {"s32", 32, STET_SIGNLESS},
    {"u32", 32, STET_UNSIGNED}, {"s64", 64, STET_SIGNLESS}, {"u64", 64, STET_UNSIGNED},
};

static const struct {
    const char *name;
    enum stet_float flavour;
} floats[] = {
    {"f16", STET_F16},
    {"bf16", STET_BF16},
    {"f32", STET_F32},
    {"f64", STET_F64},
    {"f8e5m2", STET_F8E5M2},
    {"f8e4m3", STET_F8E4M3},
    {"f8e4m3fn", STET_F8E4M3FN},
    {"f8e5m2fnuz", STET_F8E5M2FNUZ},
    {"f8e4m3fnuz", STET_F8E4M3FNUZ},
    {"f8e4m3b11fnuz", STET_F8E4M3B11FNUZ},
    {"f8e3m4", STET_F8E3M4},
    {"f8e8m0fnu", STET_F8E8M0FNU},
    {"f4e2m1fn", STET_F4E2M1FN},
    {"f6e2m3fn", STET_F6E2M3FN},
    {"f6e3m2fn", STET_F6E3M2FN},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

const char *const stet_hlo_options[] = {"alias_passthrough_params",
                                        "allow_spmd_sharding_propagation_to_output",
                                        "allow_spmd_sharding_propagation_to_parameters",
                                        "num_partitions",
                                        "replica_count",
                                        NULL};

bool stet_hlo_is_option(struct stet_view attr)
{
    for (const char *const *name = stet_hlo_options; *name; name++)
        if (stet_view_is(attr, *name))
            return true;
    return false;
}

const char *stet_hlo_element_name(const struct stet_type *t)
{
    if (t->kind == STET_TYPE_COMPLEX)
        return t->element->flavour == STET_F64 ? "c128" : "c64";
    if (t->kind == STET_TYPE_INTEGER)
        for (size_t i = 0; i < COUNT(integers); i++)
            if (integers[i].width == t->width && integers[i].sign == t->sign)
                return integers[i].name;
    if (t->kind == STET_TYPE_FLOAT)
        for (size_t i = 0; i < COUNT(floats); i++)
            if (floats[i].flavour == t->flavour)
                return floats[i].name;
    return NULL;
}

static const struct stet_type *complex_of(struct stet_arena *a, enum stet_float flavour)
{
    struct stet_type *t = STET_NEW(a, struct stet_type);

    if (t) {
        t->kind = STET_TYPE_COMPLEX;
        t->element = stet_type_float(flavour);
    }
    return t;
}

const struct stet_type *stet_hlo_element(struct stet_arena *a, struct stet_view name)
{
    for (size_t i = 0; i < COUNT(floats); i++)
        if (stet_view_is(name, floats[i].name))
            return stet_type_float(floats[i].flavour);
    for (size_t i = 0; i < COUNT(integers); i++)
        if (stet_view_is(name, integers[i].name))
            return stet_type_integer(a, integers[i].width, integers[i].sign);
    if (stet_view_is(name, "c64"))
        return complex_of(a, STET_F32);
    if (stet_view_is(name, "c128"))
        return complex_of(a, STET_F64);
    return NULL;
}
