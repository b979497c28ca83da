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

static const struct element {
    const char *name, *python;
    enum stet_element id;
    struct stet_type type;
} elements[] = {
#define INTEGER(name, text, python, bits, signedness)                                              \
    {text,                                                                                         \
     python,                                                                                       \
     STET_ELEMENT_##name,                                                                          \
     {.kind = STET_TYPE_INTEGER, .width = bits, .sign = STET_##signedness}},
#define FLOAT(name, text, python, bits)                                                            \
    {text, python, STET_ELEMENT_##name, {.kind = STET_TYPE_FLOAT, .flavour = STET_##name}},
#define COMPLEX(name, text, python, bits, parts)                                                   \
    {text, python, STET_ELEMENT_##name, {.kind = STET_TYPE_COMPLEX, .flavour = STET_##parts}},
#include "program/elements.def"
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

/* NULL if HLO has no such type. */
static const struct element *find_element(const struct stet_type *t)
{
    bool is_complex = t->kind == STET_TYPE_COMPLEX;
    enum stet_float flavour = is_complex ? t->element->flavour : t->flavour;
    /* HLO's signed integers are MLIR's signless ones */
    enum stet_sign sign = t->sign == STET_SIGNED && t->width > 1 ? STET_SIGNLESS : t->sign;

    if (is_complex && t->element->kind != STET_TYPE_FLOAT)
        return NULL;
    for (const struct element *e = elements; e < elements + COUNT(elements); e++)
        if (e->type.kind == t->kind &&
            (t->kind == STET_TYPE_INTEGER ? e->type.width == t->width && e->type.sign == sign
                                          : e->type.flavour == flavour))
            return e;
    return NULL;
}

enum stet_element stet_hlo_element_of(const struct stet_type *t)
{
    const struct element *e = find_element(t);

    return e ? e->id : STET_ELEMENT_NONE;
}

const char *stet_hlo_element_name(const struct stet_type *t)
{
    const struct element *e = find_element(t);

    return e ? e->name : NULL;
}

const char *stet_hlo_element_python(const struct stet_type *t)
{
    const struct element *e = find_element(t);

    return e ? e->python : NULL;
}

const char *stet_hlo_element_python_of(struct stet_view name)
{
    for (const struct element *e = elements; e < elements + COUNT(elements); e++)
        if (stet_view_is(name, e->name))
            return e->python;
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
    for (const struct element *e = elements; e < elements + COUNT(elements); e++) {
        if (!stet_view_is(name, e->name))
            continue;
        switch (e->type.kind) {
        case STET_TYPE_FLOAT:
            return stet_type_float(e->type.flavour);
        case STET_TYPE_COMPLEX:
            return complex_of(a, e->type.flavour);
        default:
            return stet_type_integer(a, e->type.width, e->type.sign);
        }
    }
    return NULL;
}
