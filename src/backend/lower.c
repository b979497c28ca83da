/* Lowering: what the functions of all operations share: errors, types, attributes, the dispatch. */
#include "backend/lower.h"

#include <stdarg.h>
#include <stdio.h>

#include "program/build.h"
#include "program/hlo.h"

/* ---- errors ---- */

void stet_lower_describe(struct stet_lower *l, enum stet_rc rc, const char *fmt, ...)
{
    char text[160], place[120] = "";
    const struct stet_loc *loc = l->op ? stet_loc_file(l->op->loc) : NULL;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (loc && loc->text.len) {
        struct stet_view file = loc->text;
        size_t keep = file.len > 80 ? 80 : file.len; /* the end of a path is the most useful part */

        snprintf(place, sizeof place, " (%.*s:%u)", (int)keep, file.ptr + (file.len - keep),
                 loc->line);
    }
    if (l->op)
        stet_fail(l->err, rc, "%.*s%s: %s", STET_FMT(stet_op_name(l->op)), place, text);
    else
        stet_fail(l->err, rc, "%s", text);
}

/* ---- types ---- */

enum stet_dtype stet_lower_dtype(const struct stet_type *t)
{
    static const enum stet_dtype dtypes[STET_ELEMENTS] = {
#define DTYPE(name, bytes, hlo, number) [STET_ELEMENT_##name] = STET_DT_##name,
        STET_ELEMENT_DTYPES(DTYPE)
#undef DTYPE
    };

    return t->kind == STET_TYPE_INDEX ? STET_DT_S64 : dtypes[stet_hlo_element_of(t)];
}

enum stet_rc stet_lower_type(struct stet_lower *l, const struct stet_type *t,
                             struct stet_shape *out)
{
    enum stet_dtype d;

    if (!t)
        return stet_lower_fail(l, STET_BAD_INPUT, "a value has no type");
    if (t->kind == STET_TYPE_TOKEN) {
        stet_shape_set(out, STET_DT_TOKEN, NULL, 0);
        return STET_OK;
    }
    if (t->kind != STET_TYPE_TENSOR || !t->element)
        return stet_lower_fail(l, STET_UNSUPPORTED, "a value is not a ranked tensor");
    d = t->element->kind == STET_TYPE_QUANTIZED ? stet_lower_quant_dtype(t->element, l->expressed)
                                                : stet_lower_dtype(t->element);
    if (d == STET_DT_INVALID)
        return stet_lower_fail(l, STET_UNSUPPORTED, "element type %s is not supported",
                               t->element->kind == STET_TYPE_FLOAT
                                   ? stet_float_name(t->element->flavour)
                                   : "of this kind");
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] == STET_DYNAMIC)
            return stet_lower_fail(l, STET_UNSUPPORTED,
                                   "dimension %u is dynamic; only static shapes can be run", i);
    if (t->rank > STET_MAX_RANK)
        return stet_lower_fail(l, STET_UNSUPPORTED, "rank %u is above %d", t->rank, STET_MAX_RANK);
    if (!stet_shape_set(out, d, t->dims, t->rank))
        return stet_lower_fail(l, STET_LIMIT, "a tensor is larger than can be addressed");
    return STET_OK;
}

enum stet_rc stet_lower_shape(struct stet_lower *l, uint32_t i, struct stet_shape *out)
{
    if (i >= l->op->result_count)
        return stet_lower_fail(l, STET_BAD_INPUT, "result %u is missing", i);
    return stet_lower_type(l, l->op->results[i].type, out);
}

/* ---- operands and results ---- */

/* An invalid program could use a value of a region that is not around it. */
bool stet_lower_visible(const struct stet_lower *l, const struct stet_lowered *v)
{
    const struct stet_gblock *b;

    if (!v->parts)
        return false;
    for (uint32_t i = 0; i < v->count; i++) {
        for (b = l->block; b && b != v->parts[i]->block; b = b->parent)
            ;
        if (!b)
            return false;
    }
    return true;
}

struct stet_gval *stet_lower_in(struct stet_lower *l, uint32_t i)
{
    const struct stet_lowered *v;

    if (i >= l->op->operand_count) {
        stet_lower_describe(l, STET_BAD_INPUT, "operand %u is missing", i);
        return NULL;
    }
    v = &l->map[stet_op_operand(l->op, i)->id];
    if (!stet_lower_visible(l, v)) {
        stet_lower_describe(l, STET_BAD_INPUT, "operand %u is not defined before its use", i);
        return NULL;
    }
    if (v->count != 1) {
        stet_lower_describe(l, STET_UNSUPPORTED, "operand %u is a tuple", i);
        return NULL;
    }
    return v->parts[0];
}

enum stet_rc stet_lower_bind(struct stet_lower *l, const struct stet_value *v,
                             struct stet_gval **parts, uint32_t count)
{
    struct stet_gval **copy = STET_NEW_ARRAY(l->arena, struct stet_gval *, count ? count : 1);

    if (!copy)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < count; i++)
        copy[i] = parts[i];
    l->map[v->id] = (struct stet_lowered){copy, count};
    return STET_OK;
}

enum stet_rc stet_lower_out(struct stet_lower *l, uint32_t i, struct stet_gval *v)
{
    struct stet_shape s;
    enum stet_rc rc;

    if (!v)
        return l->err && l->err->rc ? l->err->rc : stet_lower_memory(l);
    if ((rc = stet_lower_shape(l, i, &s)))
        return rc;
    if (!stet_shape_eq(&s, &v->shape))
        return stet_lower_fail(l, STET_BAD_INPUT, "result %u is declared %s but is %s", i,
                               stet_shape_text(&s).text, stet_shape_text(&v->shape).text);
    return stet_lower_bind(l, &l->op->results[i], &v, 1);
}

/* ---- attributes ---- */

static bool dense_ints(const struct stet_attr *a, uint32_t width, uint64_t count,
                       struct stet_graph_ints *out)
{
    uint64_t have = width ? stet_attr_bytes(a).len / width : 0;

    if (count > 2 * STET_MAX_RANK || (have < count && !(a->splat && have >= 1)))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        const char *at = stet_attr_bytes(a).ptr + (a->splat ? 0 : i * width);
        int64_t v = 0;

        if (width > 8)
            return false;
        memcpy(&v, at, width); /* little-endian; sign-extended below */
        if (width < 8)
            v = (int64_t)((uint64_t)v << (64 - 8 * width)) >> (64 - 8 * width);
        out->v[i] = v;
    }
    out->count = (uint32_t)count;
    return true;
}

bool stet_lower_ints_of(const struct stet_attr *a, struct stet_graph_ints *out)
{
    uint64_t count;

    out->count = 0;
    if (!a)
        return true;
    switch (a->kind) {
    case STET_ATTR_INTS:
        if (a->count > 2 * STET_MAX_RANK)
            return false;
        for (uint32_t i = 0; i < a->count; i++)
            out->v[i] = a->ints[i];
        out->count = a->count;
        return true;
    case STET_ATTR_INTEGER:
    case STET_ATTR_BOOL:
        out->v[0] = stet_attr_int(a);
        out->count = 1;
        return true;
    case STET_ATTR_ARRAY:
        if (a->count > 2 * STET_MAX_RANK)
            return false;
        for (uint32_t i = 0; i < a->count; i++) {
            if (a->items[i]->kind != STET_ATTR_INTEGER && a->items[i]->kind != STET_ATTR_BOOL)
                return false;
            out->v[i] = stet_attr_int(a->items[i]);
        }
        out->count = a->count;
        return true;
    case STET_ATTR_DENSE_ARRAY: {
        uint32_t width = stet_attr_type(a) ? stet_type_storage_bits(stet_attr_type(a)) / 8 : 8;

        return width && dense_ints(a, width, stet_attr_bytes(a).len / width, out);
    }
    case STET_ATTR_DENSE:
        if (!stet_attr_type(a) || !stet_attr_type(a)->element ||
            !stet_type_elements(stet_attr_type(a), &count))
            return false;
        return dense_ints(a, stet_type_storage_bits(stet_attr_type(a)->element) / 8, count, out);
    default:
        return false;
    }
}

enum stet_rc stet_lower_ints(struct stet_lower *l, const char *name, struct stet_graph_ints *out)
{
    if (!stet_lower_ints_of(stet_op_attr(l->op, name), out))
        return stet_lower_fail(l, STET_BAD_INPUT, "%s is not a list of integers", name);
    return STET_OK;
}

enum stet_rc stet_lower_field(struct stet_lower *l, const struct stet_attr *record,
                              const char *name, struct stet_graph_ints *out)
{
    if (!stet_lower_ints_of(record ? stet_attr_field(record, name) : NULL, out))
        return stet_lower_fail(l, STET_BAD_INPUT, "%s is not a list of integers", name);
    return STET_OK;
}

int64_t stet_lower_int(struct stet_lower *l, const char *name, int64_t otherwise)
{
    struct stet_graph_ints v;

    if (!stet_lower_ints_of(stet_op_attr(l->op, name), &v) || v.count != 1)
        return otherwise;
    return v.v[0];
}

struct stet_view stet_lower_text(struct stet_lower *l, const char *name)
{
    const struct stet_attr *a = stet_op_attr(l->op, name);

    if (!a ||
        (a->kind != STET_ATTR_STRING && a->kind != STET_ATTR_ENUM && a->kind != STET_ATTR_SYMBOL))
        return (struct stet_view){0};
    return stet_attr_text(a);
}

bool stet_lower_dims_ok(const int64_t *dims, uint32_t count, uint32_t rank)
{
    uint32_t seen = 0;

    if (count > rank)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (dims[i] < 0 || dims[i] >= rank || (seen & 1u << dims[i]))
            return false;
        seen |= 1u << dims[i];
    }
    return true;
}

/* The elements of a value that is constant when planned. */
static bool constant_ints(struct stet_gval *v, struct stet_graph_ints *out)
{
    const void *splat = stet_graph_splat_value(v);
    size_t width = stet_dtype_bytes(v->shape.dtype);
    int shift = 64 - 8 * (int)width;

    v = stet_graph_root(v);
    if (!stet_dtype_is_int(v->shape.dtype) || v->shape.elements > 2 * STET_MAX_RANK ||
        (!splat && (!v->def || v->def->kind != STET_G_CONST)))
        return false;
    out->count = (uint32_t)v->shape.elements;
    for (uint32_t i = 0; i < out->count; i++) {
        uint64_t bits = 0;

        memcpy(&bits, splat ? splat : (const char *)v->def->bytes + i * width, width);
        out->v[i] = stet_dtype_is_signed(v->shape.dtype) ? (int64_t)(bits << shift) >> shift
                                                         : (int64_t)bits;
    }
    return true;
}

enum stet_rc stet_lower_operand_ints(struct stet_lower *l, uint32_t i, struct stet_graph_ints *out)
{
    struct stet_gval *v;

    OPERAND(v, i);
    if (!constant_ints(v, out))
        return stet_lower_fail(l, STET_UNSUPPORTED, "operand %u is not a constant list of integers",
                               i);
    return STET_OK;
}

/* ---- dispatch ---- */

struct lowering {
    enum stet_rc (*lower)(struct stet_lower *l, int arg);
    int arg;
};

static const struct lowering lowerings[STET_KNOWN_OPS] = {
#define LOWER(op, function, arg) [STET_##op] = {stet_lower_##function, arg},
#include "backend/ops.def"
#undef LOWER
};

/* An operation that computes with quantized values. */
static enum stet_rc lower_quantized(struct stet_lower *l, int arg)
{
    return stet_lower_quantized(l, lowerings[l->op->known].lower, arg);
}

enum stet_rc stet_lower_op(struct stet_lower *l, const struct stet_op *op)
{
    const struct lowering *w = op->known < STET_KNOWN_OPS ? &lowerings[op->known] : NULL;
    enum stet_rc (*lower)(struct stet_lower *, int) = w ? w->lower : NULL;
    const struct stet_op *before = l->op;
    enum stet_rc rc;

    l->op = op;
    if (op->operand_count > STET_MAX_OPERANDS || op->result_count > STET_MAX_OPERANDS)
        rc = stet_lower_fail(l, STET_LIMIT, "too many operands");
    else if (!lower)
        rc = stet_lower_fail(l, STET_UNSUPPORTED,
                             "this operation is not supported by the CPU backend");
    else {
        if (stet_lower_is_quantized(op))
            lower = lower_quantized;
        rc = l->single ? lower(l, w->arg) : stet_lower_lanes(l, lower, w->arg);
    }
    if (rc == STET_OK)
        l->op = before;
    return rc;
}
