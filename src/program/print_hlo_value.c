/* Prints HLO's shapes and literals as XLA does (shape_util.cc, layout.cc, literal.cc). */
#include "program/print_hlo.h"

#include "program/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- shapes ---- */

void stet_print_dims(struct stet_buf *out, const struct stet_type *t)
{
    stet_buf_char(out, '[');
    for (uint32_t i = 0; i < t->rank; i++) {
        if (i)
            stet_buf_char(out, ',');
        if (t->dims[i] != STET_DYNAMIC)
            stet_buf_printf(out, "%lld", (long long)t->dims[i]);
        else if (stet_type_rest(t)->bounds && stet_type_rest(t)->bounds[i] != STET_DYNAMIC)
            stet_buf_printf(out, "<=%lld", (long long)stet_type_rest(t)->bounds[i]);
        else
            stet_buf_char(out, '?');
    }
    stet_buf_char(out, ']');
}

static void print_layout(struct stet_buf *out, const struct stet_type *t)
{
    if (!stet_type_rest(t)->layout || (!t->rank && !stet_type_rest(t)->layout_extra.len))
        return;
    stet_buf_char(out, '{');
    for (uint32_t i = 0; i < t->rank; i++)
        stet_buf_printf(out, "%s%lld", i ? "," : "", (long long)stet_type_rest(t)->layout[i]);
    if (stet_type_rest(t)->layout_extra.len)
        stet_buf_char(out, ':');
    stet_buf_view(out, stet_type_rest(t)->layout_extra);
    stet_buf_char(out, '}');
}

void stet_print_hlo_comma(struct stet_buf *out, uint32_t i)
{
    if (i && i % 5 == 0)
        stet_buf_printf(out, ", /*index=%u*/", i);
    else if (i)
        stet_buf_str(out, ", ");
}

static void print_members(struct stet_buf *out, const struct stet_type *t, bool layout)
{
    stet_buf_char(out, '(');
    for (uint32_t i = 0; i < t->member_count; i++) {
        stet_print_hlo_comma(out, i);
        stet_print_hlo_type(out, t->members[i], layout);
    }
    stet_buf_char(out, ')');
}

void stet_print_hlo_type(struct stet_buf *out, const struct stet_type *t, bool layout)
{
    const char *name;

    switch (t->kind) {
    case STET_TYPE_TUPLE:
        print_members(out, t, layout);
        return;
    case STET_TYPE_TOKEN:
        stet_buf_str(out, "token[]");
        return;
    case STET_TYPE_MEMREF:
        stet_buf_str(out, "b(");
        stet_print_hlo_type(out, t->element, layout);
        stet_buf_char(out, ')');
        return;
    case STET_TYPE_TENSOR:
        name = stet_hlo_element_name(t->element);
        stet_buf_str(out, name ? name : "invalid");
        stet_print_dims(out, t);
        if (layout)
            print_layout(out, t);
        return;
    default:
        stet_buf_view(out, stet_type_rest(t)->text);
    }
}

/* ---- numbers ---- */

static void print_short(struct stet_buf *out, double v, int digits, int enough, bool narrow)
{
    char text[40];

    snprintf(text, sizeof text, "%.*g", digits, v);
    if (digits != enough && !isnan(v) &&
        (narrow ? (double)strtof(text, NULL) : strtod(text, NULL)) != v)
        snprintf(text, sizeof text, "%.*g", enough, v);
    stet_buf_str(out, text);
}

/* The payload is printed if it differs from the default quiet NaN's. */
static void print_payload(struct stet_buf *out, enum stet_float f, uint64_t bits)
{
    uint64_t payload = bits & ((1ull << stet_float_mantissa(f)) - 1);

    if (stet_float_is_ieee(f) && payload != 1ull << (stet_float_mantissa(f) - 1))
        stet_buf_printf(out, "(0x%llx)", (unsigned long long)payload);
}

static void print_float(struct stet_buf *out, enum stet_float f, uint64_t bits)
{
    double v = stet_float_value(f, bits);
    int digits = stet_float_digits(f);

    if (f == STET_F32)
        print_short(out, v, 6, digits, true);
    else if (f == STET_F64)
        print_short(out, v, 15, digits, false);
    else
        print_short(out, v, digits, digits, false);
    if (isnan(v))
        print_payload(out, f, bits);
}

static void print_element(struct stet_buf *out, const struct stet_type *e, const char *p,
                          bool scalar)
{
    unsigned bytes = stet_type_storage_bits(e) / 8;

    switch (e->kind) {
    case STET_TYPE_FLOAT:
        print_float(out, e->flavour, stet_number_bits_at(p, bytes));
        return;
    case STET_TYPE_COMPLEX:
        stet_buf_char(out, '(');
        print_float(out, e->element->flavour, stet_number_bits_at(p, bytes / 2));
        stet_buf_str(out, ", ");
        print_float(out, e->element->flavour, stet_number_bits_at(p + bytes / 2, bytes / 2));
        stet_buf_char(out, ')');
        return;
    default:
        if (e->width == 1 && e->sign == STET_SIGNLESS && scalar)
            stet_buf_str(out, *p ? "true" : "false");
        else if (e->sign == STET_UNSIGNED)
            stet_buf_printf(out, "%llu", (unsigned long long)stet_number_at(e, p));
        else
            stet_buf_printf(out, "%lld", (long long)stet_number_at(e, p));
    }
}

/* ---- literals ---- */

struct literal {
    struct stet_buf *out;
    const struct stet_type *t;
    const char *next;
    size_t width;
    bool splat;
};

static void open_brace(struct literal *l, uint32_t depth, int64_t index)
{
    uint32_t left = l->t->rank - depth;

    if (l->t->rank == 1)
        stet_buf_char(l->out, '{');
    else if (left == 1)
        stet_buf_str(l->out, l->t->dims[depth] <= 1 ? "{" : "{ ");
    else if (l->t->rank > 3 && depth)
        stet_buf_printf(l->out, "{ /*i%u=%lld*/%s", depth - 1, (long long)index,
                        l->t->dims[depth] > 0 ? " " : "");
    else
        stet_buf_str(l->out, "{ ");
}

static void close_brace(struct literal *l, uint32_t depth)
{
    uint32_t left = l->t->rank - depth;

    if (l->t->rank != 1 && (left != 1 || l->t->dims[depth] > 1))
        stet_buf_char(l->out, ' ');
    stet_buf_char(l->out, '}');
}

static void print_level(struct literal *l, uint32_t depth, int64_t index)
{
    if (depth == l->t->rank) {
        print_element(l->out, l->t->element, l->next, l->t->rank == 0);
        if (!l->splat)
            l->next += l->width;
        return;
    }
    open_brace(l, depth, index);
    for (int64_t i = 0; i < l->t->dims[depth] && !l->out->failed; i++) {
        if (i)
            stet_buf_str(l->out, ", ");
        print_level(l, depth + 1, i);
    }
    close_brace(l, depth);
}

void stet_print_hlo_literal(struct stet_buf *out, const struct stet_attr *a, bool shape)
{
    struct literal l = {
        .out = out, .t = stet_attr_type(a), .next = stet_attr_bytes(a).ptr, .splat = a->splat};

    if (a->kind == STET_ATTR_ARRAY) {
        stet_buf_str(out, "( ");
        for (uint32_t i = 0; i < a->count; i++) {
            if (i)
                stet_buf_str(out, ", ");
            stet_print_hlo_literal(out, a->items[i], shape);
        }
        stet_buf_str(out, " )");
        return;
    }
    if (a->kind != STET_ATTR_DENSE)
        return;
    if (shape) {
        stet_print_hlo_type(out, stet_attr_type(a), true);
        stet_buf_char(out, ' ');
    }
    l.width = stet_type_storage_bits(stet_attr_type(a)->element) / 8;
    print_level(&l, 0, 0);
}
