/* Lowering: custom calls of functions that a library registered (ffi.h). Attributes become what
 * the interface passes. Operands and results in another layout than row-major are transposed. */
#include "backend/ffi.h"
#include "backend/lower.h"

#include "program/hlo.h"

#include <stdlib.h>

enum { MOST_ATTRIBUTES = 1024, MOST_DEPTH = 8 };

/* ---- attributes ---- */

static enum stet_rc attributes(struct stet_lower *l, const struct stet_attr *dict, uint32_t depth,
                               XLA_FFI_Attrs *out);

static const void *copy(struct stet_lower *l, const void *bytes, size_t size)
{
    void *p = stet_arena_raw(l->arena, size ? size : 1, 16);

    if (p && size)
        memcpy(p, bytes, size);
    return p;
}

static XLA_FFI_DataType type_of(const struct stet_type *t)
{
    return t ? stet_dtype_number(stet_lower_dtype(t)) : 0;
}

static enum stet_rc scalar(struct stet_lower *l, XLA_FFI_DataType type, const void *bytes,
                           size_t size, void **out)
{
    XLA_FFI_Scalar *s = STET_NEW(l->arena, XLA_FFI_Scalar);
    const void *value = copy(l, bytes, size);

    if (!s || !value)
        return stet_lower_memory(l);
    CHECK(type, "an attribute has a type that cannot be passed");
    *s = (XLA_FFI_Scalar){type, (void *)(uintptr_t)value};
    *out = s;
    return STET_OK;
}

/* `bytes` has `count` elements, or one for all. */
static enum stet_rc array(struct stet_lower *l, const struct stet_type *element,
                          struct stet_view bytes, bool splat, uint64_t count, void **out)
{
    size_t width = stet_dtype_bytes(stet_lower_dtype(element));
    XLA_FFI_Array *a = STET_NEW(l->arena, XLA_FFI_Array);
    char *data;

    CHECK(width && type_of(element), "an attribute has a type that cannot be passed");
    CHECK(count <= ((uint64_t)1 << 30) / width && bytes.len >= (splat ? width : width * count),
          "an attribute has too few elements");
    data = stet_arena_raw(l->arena, width * count + 1, 16);
    if (!a || !data)
        return stet_lower_memory(l);
    for (uint64_t i = 0; i < count; i++)
        memcpy(data + i * width, bytes.ptr + (splat ? 0 : i * width), width);
    *a = (XLA_FFI_Array){type_of(element), count, data};
    *out = a;
    return STET_OK;
}

static enum stet_rc dense(struct stet_lower *l, const struct stet_attr *a, void **out)
{
    const struct stet_type *t = stet_attr_type(a);
    uint64_t count;

    CHECK(t && t->element && stet_type_elements(t, &count), "an attribute has no elements");
    return array(l, t->element, stet_attr_bytes(a), a->splat, count, out);
}

static enum stet_rc text(struct stet_lower *l, struct stet_view v, void **out)
{
    XLA_FFI_ByteSpan *s = STET_NEW(l->arena, XLA_FFI_ByteSpan);

    if (!s)
        return stet_lower_memory(l);
    *s = (XLA_FFI_ByteSpan){v.ptr, v.len};
    *out = s;
    return STET_OK;
}

static enum stet_rc dictionary(struct stet_lower *l, const struct stet_attr *a, uint32_t depth,
                               void **out)
{
    XLA_FFI_Attrs *d = STET_NEW(l->arena, XLA_FFI_Attrs);

    if (!d)
        return stet_lower_memory(l);
    TRY(attributes(l, a, depth + 1, d));
    *out = d;
    return STET_OK;
}

static enum stet_rc attribute(struct stet_lower *l, const struct stet_attr *a, uint32_t depth,
                              XLA_FFI_AttrType *type, void **out)
{
    int64_t number = stet_attr_int(a);
    uint8_t truth = number != 0;

    *type = XLA_FFI_AttrType_SCALAR;
    switch (a->kind) {
    case STET_ATTR_BOOL:
        return scalar(l, stet_dtype_number(STET_DT_PRED), &truth, 1, out);
    case STET_ATTR_INTEGER:
        if (type_of(stet_attr_type(a)) == stet_dtype_number(STET_DT_PRED))
            return scalar(l, stet_dtype_number(STET_DT_PRED), &truth, 1, out);
        return scalar(l, type_of(stet_attr_type(a)), &number, sizeof number, out);
    case STET_ATTR_FLOAT:
        return scalar(l, type_of(stet_attr_type(a)), stet_attr_bytes(a).ptr, stet_attr_bytes(a).len,
                      out);
    case STET_ATTR_STRING:
        *type = XLA_FFI_AttrType_STRING;
        return text(l, stet_attr_text(a), out);
    case STET_ATTR_DENSE_ARRAY: {
        const struct stet_type *t = stet_attr_type(a);
        size_t width = t ? stet_dtype_bytes(stet_lower_dtype(t)) : 0;

        *type = XLA_FFI_AttrType_ARRAY;
        CHECK(width, "an attribute has a type that cannot be passed");
        return array(l, t, stet_attr_bytes(a), false, stet_attr_bytes(a).len / width, out);
    }
    case STET_ATTR_DENSE:
        *type = XLA_FFI_AttrType_ARRAY;
        return dense(l, a, out);
    case STET_ATTR_DICT:
        *type = XLA_FFI_AttrType_DICTIONARY;
        return dictionary(l, a, depth, out);
    default:
        return stet_lower_fail(l, STET_UNSUPPORTED, "an attribute cannot be passed to a function");
    }
}

static int by_name(const void *a, const void *b)
{
    const struct stet_named_attr *x = a, *y = b;
    size_t n = x->name.len < y->name.len ? x->name.len : y->name.len;
    int c = n ? memcmp(x->name.ptr, y->name.ptr, n) : 0;

    return c ? c : (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

static enum stet_rc attributes(struct stet_lower *l, const struct stet_attr *dict, uint32_t depth,
                               XLA_FFI_Attrs *out)
{
    uint32_t n = dict ? dict->count : 0;
    struct stet_named_attr *sorted = STET_NEW_ARRAY(l->arena, struct stet_named_attr, n + 1);
    XLA_FFI_ByteSpan *names = STET_NEW_ARRAY(l->arena, XLA_FFI_ByteSpan, n + 1);

    *out = (XLA_FFI_Attrs){.struct_size = XLA_FFI_Attrs_STRUCT_SIZE, .size = n};
    CHECK(n <= MOST_ATTRIBUTES && depth < MOST_DEPTH, "too many attributes");
    out->types = STET_NEW_ARRAY(l->arena, XLA_FFI_AttrType, n + 1);
    out->names = STET_NEW_ARRAY(l->arena, XLA_FFI_ByteSpan *, n + 1);
    out->attrs = STET_NEW_ARRAY(l->arena, void *, n + 1);
    if (!sorted || !names || !out->types || !out->names || !out->attrs)
        return stet_lower_memory(l);
    if (n)
        memcpy(sorted, dict->named, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_name);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = (XLA_FFI_ByteSpan){sorted[i].name.ptr, sorted[i].name.len};
        out->names[i] = &names[i];
        TRY(attribute(l, sorted[i].value, depth, &out->types[i], &out->attrs[i]));
    }
    return STET_OK;
}

/* ---- layouts ---- */

/* Layout i of a list: dimensions from minor to major. Row-major if there is no list. */
static enum stet_rc layout_of(struct stet_lower *l, const char *list, uint32_t i, uint32_t rank,
                              int64_t *minor_to_major)
{
    const struct stet_attr *all = stet_op_attr(l->op, list);
    struct stet_graph_ints given;

    for (uint32_t d = 0; d < rank; d++)
        minor_to_major[d] = (int64_t)(rank - 1 - d);
    if (!all || all->kind != STET_ATTR_ARRAY || !all->count)
        return STET_OK;
    CHECK(i < all->count && stet_lower_ints_of(all->items[i], &given) && given.count == rank &&
              stet_lower_dims_ok(given.v, rank, rank),
          "%s do not fit", list);
    memcpy(minor_to_major, given.v, rank * sizeof *minor_to_major);
    return STET_OK;
}

/* The dimensions in the order of memory. */
static void in_memory(const struct stet_shape *s, const int64_t *minor_to_major,
                      struct stet_shape *out)
{
    int64_t dims[STET_MAX_RANK];

    for (uint32_t d = 0; d < s->rank; d++)
        dims[d] = s->dims[minor_to_major[s->rank - 1 - d]];
    stet_shape_set(out, s->dtype, dims, s->rank);
}

static struct stet_gval *to_layout(struct stet_lower *l, struct stet_gval *v,
                                   const int64_t *minor_to_major)
{
    int64_t in_dim[STET_MAX_RANK], step[STET_MAX_RANK], start[STET_MAX_RANK] = {0};
    uint32_t rank = v->shape.rank;
    struct stet_shape s;

    in_memory(&v->shape, minor_to_major, &s);
    for (uint32_t d = 0; d < rank; d++) {
        in_dim[d] = minor_to_major[rank - 1 - d];
        step[d] = 1;
    }
    return stet_graph_view(l, v, &s, in_dim, step, start);
}

static struct stet_gval *from_layout(struct stet_lower *l, struct stet_gval *v,
                                     const struct stet_shape *s, const int64_t *minor_to_major)
{
    int64_t in_dim[STET_MAX_RANK], step[STET_MAX_RANK], start[STET_MAX_RANK] = {0};

    for (uint32_t d = 0; d < s->rank; d++) {
        in_dim[minor_to_major[s->rank - 1 - d]] = d;
        step[d] = 1;
    }
    return stet_graph_view(l, v, s, in_dim, step, start);
}

/* ---- the call ---- */

/* Results that must have the memory of an operand. */
static enum stet_rc aliases(struct stet_lower *l, struct stet_ffi_site *site)
{
    const struct stet_attr *all = stet_op_attr(l->op, "output_operand_aliases");

    for (uint32_t i = 0; all && all->kind == STET_ATTR_ARRAY && i < all->count; i++) {
        struct stet_graph_ints output, operand, inside;
        int64_t out;

        TRY(stet_lower_field(l, all->items[i], "output_tuple_indices", &output));
        TRY(stet_lower_field(l, all->items[i], "operand_index", &operand));
        TRY(stet_lower_field(l, all->items[i], "operand_tuple_indices", &inside));
        out = output.count ? output.v[0] : 0;
        CHECK(output.count <= 1 && operand.count == 1 && !inside.count && out >= 0 &&
                  out < site->ret_count && operand.v[0] >= 0 && operand.v[0] < site->arg_count,
              "output_operand_aliases do not fit");
        CHECK(stet_shape_eq(site->rets[out].shape, site->args[operand.v[0]].shape),
              "an aliased operand has another type than its result");
        site->rets[out].same_as = (int32_t)operand.v[0];
    }
    return STET_OK;
}

static enum stet_rc buffers(struct stet_lower *l, struct stet_ffi_site *site,
                            const struct stet_shape *results)
{
    site->args = STET_NEW_ARRAY(l->arena, struct stet_ffi_buffer, site->arg_count + 1);
    site->rets = STET_NEW_ARRAY(l->arena, struct stet_ffi_buffer, site->ret_count + 1);
    if (!site->args || !site->rets)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < site->arg_count; i++) {
        struct stet_gval *v;

        OPERAND(v, i);
        site->args[i] = (struct stet_ffi_buffer){&v->shape, -1};
    }
    for (uint32_t i = 0; i < site->ret_count; i++)
        site->rets[i] = (struct stet_ffi_buffer){&results[i], -1};
    return aliases(l, site);
}

static enum stet_rc site_of(struct stet_lower *l, struct stet_view name,
                            const XLA_FFI_Handler_Bundle *bundle, const struct stet_shape *results,
                            struct stet_ffi_site **out)
{
    const struct stet_attr *config = stet_op_attr(l->op, "mhlo.backend_config");
    struct stet_ffi_site *site = STET_NEW(l->arena, struct stet_ffi_site);

    if (!site)
        return stet_lower_memory(l);
    if (!config || config->kind != STET_ATTR_DICT)
        config = stet_op_attr(l->op, "backend_config");
    if (config && config->kind != STET_ATTR_DICT)
        config = NULL;
    *site = (struct stet_ffi_site){.name = name,
                                   .bundle = *bundle,
                                   .arg_count = l->op->operand_count,
                                   .ret_count = l->op->result_count,
                                   .lane = l->lane};
    TRY(attributes(l, config, 0, &site->attrs));
    TRY(buffers(l, site, results));
    if (stet_ffi_instantiate(site, l->err) != STET_OK)
        return l->err ? l->err->rc : STET_REFUSED;
    site->next = *l->sites;
    *l->sites = site;
    *out = site;
    return STET_OK;
}

static enum stet_rc result_values(struct stet_lower *l, struct stet_gnode *n,
                                  const struct stet_shape *shapes)
{
    int64_t order[STET_MAX_RANK];

    for (uint32_t i = 0; i < n->out_count; i++) {
        TRY(layout_of(l, "result_layouts", i, shapes[i].rank, order));
        TRY(stet_lower_out(l, i, from_layout(l, n->out[i], &shapes[i], order)));
    }
    return STET_OK;
}

enum stet_rc stet_lower_ffi(struct stet_lower *l, struct stet_view name, bool *known)
{
    uint32_t ins = l->op->operand_count, outs = l->op->result_count;
    struct stet_gval **in = STET_NEW_ARRAY(l->arena, struct stet_gval *, ins + 1);
    struct stet_shape *shapes = STET_NEW_ARRAY(l->arena, struct stet_shape, outs + 1);
    struct stet_shape *memory = STET_NEW_ARRAY(l->arena, struct stet_shape, outs + 1);
    int64_t order[STET_MAX_RANK];
    XLA_FFI_Handler_Bundle bundle;
    struct stet_ffi_site *site = NULL;
    struct stet_gnode *n;

    *known = stet_ffi_find(name, &bundle);
    if (!*known)
        return STET_OK;
    if (!in || !shapes || !memory)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < outs; i++) {
        TRY(stet_lower_shape(l, i, &shapes[i]));
        TRY(layout_of(l, "result_layouts", i, shapes[i].rank, order));
        in_memory(&shapes[i], order, &memory[i]);
    }
    TRY(site_of(l, name, &bundle, shapes, &site));
    for (uint32_t i = 0; i < ins; i++) {
        OPERAND(in[i], i);
        TRY(layout_of(l, "operand_layouts", i, in[i]->shape.rank, order));
        in[i] = to_layout(l, in[i], order);
    }
    if (!(n = stet_graph_node(l, STET_G_FFI, in, ins, memory, outs)))
        return l->err ? l->err->rc : STET_NO_MEMORY;
    n->params = site;
    n->scratch = stet_ffi_frame_bytes(site);
    if (stet_lower_int(l, "has_side_effect", 0))
        n->live = l->block->talks = true;
    return result_values(l, n, shapes);
}
