/* See defaults.h; the table is defaults.def. */
#include "program/defaults.h"

#include "program/ops.h"

enum meaning {
    EMPTY,
    FALSE,
    TRUE,
    ZERO,
    ONE,
    MINUS_ONE,
    ZEROS,
    ONES,
    NOTYPE,
    PRECISION,
    ACCURACY,
    CHANNEL,
    LAYOUTS,
    NO_DICTS,
};

static const struct {
    struct stet_view attr;
    enum stet_known_op op;
    enum meaning meaning;
} defaults[] = {
#define DEFAULT(operation, name, meaning) {{name, sizeof(name) - 1}, STET_##operation, meaning},
#include "program/defaults.def"
#undef DEFAULT
};

static bool is_empty(const struct stet_attr *a)
{
    switch (a->kind) {
    case STET_ATTR_STRING:
        return stet_attr_text(a).len == 0;
    case STET_ATTR_DENSE:
    case STET_ATTR_DENSE_ARRAY:
        return stet_attr_bytes(a).len == 0;
    case STET_ATTR_ARRAY:
    case STET_ATTR_DICT:
        return a->count == 0;
    default:
        return false;
    }
}

/* Every element is the number `value`, 0 or 1. */
static bool is_all(const struct stet_attr *a, char value)
{
    size_t size;

    if (a->kind != STET_ATTR_DENSE && a->kind != STET_ATTR_DENSE_ARRAY)
        return false;
    size = stet_type_storage_bits(a->kind == STET_ATTR_DENSE ? stet_attr_type(a)->element
                                                             : stet_attr_type(a)) /
           8;
    if (size == 0)
        return false;
    for (size_t i = 0; i < stet_attr_bytes(a).len; i++)
        if (stet_attr_bytes(a).ptr[i] != (i % size ? 0 : value))
            return false;
    return true;
}

static bool each_is(const struct stet_attr *a, const char *word)
{
    if (a->kind != STET_ATTR_ARRAY)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!stet_view_is(stet_attr_text(a->items[i]), word))
            return false;
    return true;
}

static bool no_entries(const struct stet_attr *a)
{
    if (a->kind != STET_ATTR_ARRAY)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i]->kind != STET_ATTR_DICT || a->items[i]->count)
            return false;
    return true;
}

static bool is_zero(const struct stet_attr *record, const char *field)
{
    const struct stet_attr *a = stet_attr_field(record, field);

    for (size_t i = 0; a && i + 1 < stet_attr_bytes(a).len; i++) /* the sign does not count */
        if (stet_attr_bytes(a).ptr[i])
            return false;
    return a && stet_attr_int(a) == 0 &&
           (stet_attr_bytes(a).len == 0 ||
            (stet_attr_bytes(a).ptr[stet_attr_bytes(a).len - 1] & 0x7f) == 0);
}

static bool is_number(const struct stet_attr *a, int64_t v)
{
    return a->kind == STET_ATTR_INTEGER && stet_attr_int(a) == v;
}

/* VHLO has both lists, or none that counts. */
static bool no_layouts(const struct stet_op *op)
{
    const struct stet_attr *operands = stet_op_attr(op, "operand_layouts");
    const struct stet_attr *results = stet_op_attr(op, "result_layouts");

    return (!operands || is_empty(operands)) && (!results || is_empty(results));
}

static bool means(const struct stet_op *op, const struct stet_attr *a, enum meaning meaning)
{
    const struct stet_attr *mode;

    switch (meaning) {
    case EMPTY:
        return is_empty(a);
    case FALSE:
        return a->kind == STET_ATTR_BOOL && !stet_attr_int(a);
    case TRUE:
        return a->kind == STET_ATTR_BOOL && stet_attr_int(a);
    case ZERO:
        return is_number(a, 0);
    case ONE:
        return is_number(a, 1);
    case MINUS_ONE:
        return is_number(a, -1);
    case ZEROS:
        return is_all(a, 0);
    case ONES:
        return is_all(a, 1);
    case NOTYPE:
        return a->kind == STET_ATTR_ENUM && stet_view_is(stet_attr_text(a), "NOTYPE");
    case PRECISION:
        return each_is(a, "DEFAULT");
    case ACCURACY:
        mode = stet_attr_field(a, "mode");
        return mode && stet_view_is(stet_attr_text(mode), "DEFAULT") && is_zero(a, "atol") &&
               is_zero(a, "rtol") && is_zero(a, "ulps");
    case CHANNEL:
        return is_zero(a, "handle");
    case LAYOUTS:
        return no_layouts(op);
    case NO_DICTS:
        return no_entries(a);
    }
    return false;
}

/* Called for every attribute of every operation, so it bisects: the table is in the order of
 * operations. */
static bool find(const struct stet_op *op, struct stet_view name, enum meaning *out)
{
    size_t count = sizeof(defaults) / sizeof(*defaults), low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (defaults[middle].op < op->known)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && defaults[low].op == op->known; low++)
        if (stet_view_eq(defaults[low].attr, name)) {
            *out = defaults[low].meaning;
            return true;
        }
    return false;
}

bool stet_defaults_in_order(void)
{
    for (size_t i = 1; i < sizeof(defaults) / sizeof(*defaults); i++)
        if (defaults[i - 1].op > defaults[i].op)
            return false;
    return true;
}

bool stet_attr_is_default(const struct stet_op *op, const struct stet_named_attr *attr)
{
    enum meaning meaning;

    return op->known && find(op, attr->name, &meaning) && means(op, attr->value, meaning);
}

bool stet_attr_same(const struct stet_op *op, const struct stet_named_attr *a,
                    const struct stet_named_attr *b)
{
    enum meaning meaning;

    if (stet_attr_eq(a->value, b->value))
        return true;
    return find(op, a->name, &meaning) && meaning == CHANNEL &&
           stet_attr_eq(stet_attr_field(a->value, "handle"), stet_attr_field(b->value, "handle"));
}

struct stet_view stet_op_portable_name(const struct stet_op *op)
{
    if (op->known == STET_STABLEHLO_RETURN && op->parent &&
        op->parent->parent->known == STET_FUNC_FUNC)
        return stet_view_str(stet_known_op_name(STET_FUNC_RETURN));
    return stet_op_name(op);
}
