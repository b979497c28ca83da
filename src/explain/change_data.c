/* The numbers and element types of a change, read off the programs while they are there. */
#include "explain/changes.h"

#include "fingerprint/scalar.h"

static bool is_shaped(const struct stet_type *t)
{
    return t->kind == STET_TYPE_TENSOR || t->kind == STET_TYPE_MEMREF ||
           t->kind == STET_TYPE_VECTOR;
}

static struct stet_change_element element_of(const struct stet_type *t)
{
    const struct stet_type *e = t && is_shaped(t) ? t->element : t;

    if (!e || (e->kind != STET_TYPE_INTEGER && e->kind != STET_TYPE_FLOAT))
        return (struct stet_change_element){.known = false};
    return (struct stet_change_element){
        .known = true, .kind = e->kind, .sign = e->sign, .width = e->width, .flavour = e->flavour};
}

/* The first dimension in which two types differ; of HLO's tuples, that of the first such member. */
static bool first_moved_size(const struct stet_type *x, const struct stet_type *y, int64_t sizes[2])
{
    if (x->kind == STET_TYPE_TUPLE && y->kind == STET_TYPE_TUPLE &&
        x->member_count == y->member_count) {
        for (uint32_t i = 0; i < x->member_count; i++)
            if (x->members[i]->kind != STET_TYPE_TUPLE &&
                first_moved_size(x->members[i], y->members[i], sizes))
                return true;
        return false;
    }
    if (!is_shaped(x) || !is_shaped(y) || x->rank != y->rank)
        return false;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (x->dims[i] == y->dims[i] || x->dims[i] == STET_DYNAMIC || y->dims[i] == STET_DYNAMIC)
            continue;
        sizes[0] = x->dims[i];
        sizes[1] = y->dims[i];
        return true;
    }
    return false;
}

struct stet_change_data stet_explain_change_types(const struct stet_type *x,
                                                  const struct stet_type *y)
{
    struct stet_change_data d = {.elements = {element_of(x), element_of(y)}};

    d.has_sizes = x && y && first_moved_size(x, y, d.sizes);
    return d;
}

struct stet_change_data stet_explain_change_sizes(int64_t from, int64_t to)
{
    bool known = from != STET_DYNAMIC && to != STET_DYNAMIC;

    if (!known)
        return (struct stet_change_data){.has_sizes = false};
    return (struct stet_change_data){.has_sizes = true,
                                     .has_values = true,
                                     .sizes = {from, to},
                                     .values = {(double)from, (double)to}};
}

/* Truth values are not numbers. */
static bool number_of(const struct stet_attr *a, double *out)
{
    const struct stet_type *type = a ? stet_attr_type(a) : NULL;
    const struct stet_type *element = type && is_shaped(type) ? type->element : type;
    struct stet_scalar s;

    if (a && a->kind == STET_ATTR_INTEGER) {
        *out = (double)stet_attr_int(a);
        return true;
    }
    if (!a || !element || (element->kind == STET_TYPE_INTEGER && element->width == 1) ||
        (a->kind != STET_ATTR_FLOAT && a->kind != STET_ATTR_DENSE && a->kind != STET_ATTR_RESOURCE))
        return false;
    if (!stet_attr_bytes(a).len || stet_attr_bytes(a).len != stet_type_storage_bits(element) / 8 ||
        !stet_scalar_read(&s, element, stet_attr_bytes(a)))
        return false;
    return stet_scalar_decimal(&s, out);
}

struct stet_change_data stet_explain_change_values(const struct stet_attr *x,
                                                   const struct stet_attr *y)
{
    struct stet_change_data d = {.elements = {element_of(x ? stet_attr_type(x) : NULL),
                                              element_of(y ? stet_attr_type(y) : NULL)}};

    d.has_values = number_of(x, &d.values[0]) && number_of(y, &d.values[1]);
    return d;
}
