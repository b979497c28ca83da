/* Shapes and literals of HLO text. */
#include "base/mem.h"
#include "decode/hlo/hlo_text.h"
#include "program/number.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_RANK = 64 };

/* ---- shapes ---- */

static void dims(struct stet_hlo_text *t, struct stet_type *type)
{
    struct stet_ints sizes = {0}, bounds = {0};
    bool dynamic = false;

    stet_hlo_expect(t, "[");
    while (!t->failed && stet_hlo_peek(t) != ']') {
        if (stet_hlo_take(t, "?")) {
            stet_decode_ints_add(&sizes, t->b.a, STET_DYNAMIC);
            stet_decode_ints_add(&bounds, t->b.a, STET_DYNAMIC);
        } else if (stet_hlo_take(t, "<=")) {
            dynamic = true;
            stet_decode_ints_add(&sizes, t->b.a, STET_DYNAMIC);
            stet_decode_ints_add(&bounds, t->b.a, stet_hlo_int(t));
        } else {
            stet_decode_ints_add(&sizes, t->b.a, stet_hlo_int(t));
            stet_decode_ints_add(&bounds, t->b.a, STET_DYNAMIC);
            if (sizes.count && sizes.at[sizes.count - 1] < 0)
                stet_decode_hlo_text_fail(t, "a negative dimension");
        }
        if (sizes.count > MOST_RANK)
            stet_decode_hlo_text_fail(t, "more than %d dimensions", MOST_RANK);
        if (!stet_hlo_take(t, ","))
            break;
    }
    stet_hlo_expect(t, "]");
    type->rank = sizes.count;
    type->dims = sizes.at;
    if (dynamic)
        stet_build_rest(t->b.a, type, &(struct stet_type_rest){.bounds = bounds.at});
}

/* Directly after the dimensions: {1,0:T(8,128)}. */
static void layout(struct stet_hlo_text *t, struct stet_type *type)
{
    struct stet_type_rest rest = *stet_type_rest(type);
    struct stet_ints order = {0};
    size_t start = t->at, from;

    if (t->failed || t->at >= t->src.len || t->src.ptr[t->at] != '{')
        return;
    t->at++;
    while (!t->failed && stet_hlo_peek(t) != '}' && stet_hlo_peek(t) != ':') {
        stet_decode_ints_add(&order, t->b.a, stet_hlo_int(t));
        if (!stet_hlo_take(t, ","))
            break;
    }
    if (stet_hlo_take(t, ":")) {
        size_t depth = 0;

        for (from = t->at; t->at < t->src.len; t->at++) {
            char c = t->src.ptr[t->at];

            depth += c == '(';
            depth -= c == ')' && depth;
            if (c == '}' && !depth)
                break;
        }
        rest.layout_extra = stet_view_of(t->src.ptr + from, t->at - from);
    }
    stet_hlo_expect(t, "}");
    if (!t->failed && order.count != type->rank)
        stet_decode_hlo_text_fail_at(t, start, "the layout has %u entries for %u dimensions",
                                     order.count, type->rank);
    if (!type->rank && !rest.layout_extra.len)
        return;
    rest.layout = order.at ? order.at : STET_NEW_ARRAY(t->b.a, int64_t, 1);
    stet_build_rest(t->b.a, type, &rest);
}

void stet_decode_hlo_text_shapes(struct stet_hlo_text *t, struct stet_build_list *out)
{
    stet_hlo_expect(t, "(");
    while (!t->failed && stet_hlo_peek(t) != ')') {
        stet_build_list_add(out, stet_decode_hlo_text_shape(t));
        if (!stet_hlo_take(t, ","))
            break;
    }
    stet_hlo_expect(t, ")");
}

static void tuple(struct stet_hlo_text *t, struct stet_type *type)
{
    struct stet_build_list members = {0};

    type->kind = STET_TYPE_TUPLE;
    stet_decode_hlo_text_shapes(t, &members);
    type->member_count = (uint32_t)members.count;
    type->members = stet_build_list_keep(&members, t->b.a);
    t->b.a->failed |= members.failed;
    stet_build_list_release(&members);
}

static void named(struct stet_hlo_text *t, struct stet_type *type)
{
    size_t start = t->at;
    struct stet_view name = stet_hlo_word(t);

    if (stet_view_is(name, "b") && stet_hlo_take(t, "(")) {
        type->kind = STET_TYPE_MEMREF;
        type->element = stet_decode_hlo_text_shape(t);
        stet_hlo_expect(t, ")");
        return;
    }
    if (stet_view_is(name, "token") || stet_view_is(name, "opaque")) {
        stet_hlo_expect(t, "[");
        stet_hlo_expect(t, "]");
        type->kind = *name.ptr == 't' ? STET_TYPE_TOKEN : STET_TYPE_OPAQUE;
        if (type->kind == STET_TYPE_OPAQUE) {
            stet_build_rest(t->b.a, type,
                            &(struct stet_type_rest){.dialect = STET_VIEW("hlo"),
                                                     .text = STET_VIEW("opaque[]")});
        }
        return;
    }
    type->kind = STET_TYPE_TENSOR;
    type->element = stet_hlo_element(t->b.a, name);
    if (!type->element && !t->failed)
        stet_decode_hlo_text_fail_at(t, start, "'%.*s' is not an element type",
                                     (int)(name.len > 40 ? 40 : name.len), name.ptr);
    dims(t, type);
    layout(t, type);
}

/* The end of the shape that begins here, if it is a simple one; 0 otherwise. */
static size_t simple_end(const struct stet_hlo_text *t)
{
    size_t i = t->at;

    while (i < t->src.len && t->src.ptr[i] != ']' && t->src.ptr[i] != '(' && t->src.ptr[i] != '\n')
        i++;
    if (i >= t->src.len || t->src.ptr[i] != ']')
        return 0;
    i++;
    if (i < t->src.len && t->src.ptr[i] == '{') {
        while (i < t->src.len && t->src.ptr[i] != '}' && t->src.ptr[i] != '\n')
            i++;
        return i < t->src.len && t->src.ptr[i] == '}' ? i + 1 : 0;
    }
    return i;
}

const struct stet_type *stet_decode_hlo_text_shape(struct stet_hlo_text *t)
{
    static const struct stet_type nothing = {.kind = STET_TYPE_NONE};
    const struct stet_type *known;
    struct stet_type *type;
    struct stet_view raw = {0};
    size_t end = 0;

    stet_decode_hlo_skip(t);
    if (!t->failed && (end = simple_end(t))) {
        raw = stet_view_of(t->src.ptr + t->at, end - t->at);
        known = stet_decode_hlo_recall(&t->b, raw);
        if (known) {
            t->at = end;
            return known;
        }
    }
    type = STET_NEW(t->b.a, struct stet_type);
    if (!type || t->failed)
        return &nothing;
    if (++t->depth > STET_HLO_TEXT_DEPTH)
        stet_decode_hlo_text_fail(t, "shapes nest too deeply");
    else if (stet_hlo_peek(t) == '(')
        tuple(t, type);
    else
        named(t, type);
    t->depth--;
    if (raw.len && !t->failed && t->at == end)
        stet_decode_hlo_remember(&t->b, raw, type);
    return t->failed ? &nothing : type;
}

/* ---- literals ---- */

struct filling {
    char *to;
    size_t len, room;
};

static void put(struct filling *f, uint64_t bits, size_t width)
{
    for (size_t k = 0; k < width && f->len < f->room; k++)
        f->to[f->len++] = (char)(bits >> (8 * k));
}

/* -1.5e3, inf, nan, nan(0x7) as written; the token's text in `text`. */
static bool number_text(struct stet_hlo_text *t, char *text, size_t size)
{
    size_t n = 0;

    stet_decode_hlo_skip(t);
    while (t->at + n < t->src.len && n + 1 < size) {
        char c = t->src.ptr[t->at + n];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' ||
              c == '+' || c == 'E'))
            break;
        text[n++] = c;
    }
    text[n] = '\0';
    if (!n)
        stet_decode_hlo_text_fail(t, "expected a number");
    else
        t->at += n;
    return n != 0;
}

static uint64_t nan_of(struct stet_hlo_text *t, enum stet_float f, bool negative)
{
    uint64_t bits = stet_float_bits_of(f, negative ? -(double)NAN : (double)NAN), payload = 0;
    uint64_t mask = (1ull << stet_float_mantissa(f)) - 1;
    char digits[24];

    /* a NaN without its payload is the quiet one; negating NAN sets its sign */
    if (!stet_hlo_take(t, "(0x"))
        return bits;
    if (number_text(t, digits, sizeof digits))
        payload = strtoull(digits, NULL, 16);
    stet_hlo_expect(t, ")");
    return stet_float_is_ieee(f) ? (bits & ~mask) | (payload & mask) : bits;
}

static void float_element(struct stet_hlo_text *t, enum stet_float f, struct filling *out)
{
    char text[64], *end;
    size_t start = (stet_decode_hlo_skip(t), t->at), width = (stet_float_bits(f) + 7) / 8;
    double v;

    if (!number_text(t, text, sizeof text))
        return;
    if (strcmp(text, "nan") == 0 || strcmp(text, "-nan") == 0) {
        put(out, nan_of(t, f, *text == '-'), width);
        return;
    }
    v = strtod(text, &end);
    if (*end || strchr(text, 'x') || strchr(text, 'n') != strstr(text, "nf"))
        stet_decode_hlo_text_fail_at(t, start, "'%s' is not a number", text);
    put(out, stet_float_bits_of(f, v), width);
}

static void integer_element(struct stet_hlo_text *t, const struct stet_type *e, struct filling *out)
{
    char text[64], *end;
    size_t start = (stet_decode_hlo_skip(t), t->at);
    uint64_t v, largest = e->width >= 64 ? UINT64_MAX : (1ull << e->width) - 1;
    bool is_signed = e->sign != STET_UNSIGNED;
    int64_t s;

    if (e->width == 1 && e->sign == STET_SIGNLESS) {
        struct stet_view word = stet_hlo_word(t);

        if (!stet_view_is(word, "true") && !stet_view_is(word, "1") &&
            !stet_view_is(word, "false") && !stet_view_is(word, "0") && !t->failed)
            stet_decode_hlo_text_fail_at(t, start, "expected true, false, 1 or 0");
        put(out, stet_view_is(word, "true") || stet_view_is(word, "1"), 1);
        return;
    }
    if (!number_text(t, text, sizeof text))
        return;
    v = strtoull(text + (*text == '-'), &end, 10);
    s = (int64_t)(*text == '-' ? 0 - v : v);
    if (*end || (!is_signed && (*text == '-' || v > largest)) ||
        (is_signed && v > largest / 2 + (*text == '-')))
        stet_decode_hlo_text_fail_at(t, start, "'%s' is not a number of this type", text);
    put(out, (uint64_t)s & largest, (e->width + 7) / 8);
}

static void element(struct stet_hlo_text *t, const struct stet_type *e, struct filling *out)
{
    if (e->kind == STET_TYPE_FLOAT) {
        float_element(t, e->flavour, out);
    } else if (e->kind == STET_TYPE_COMPLEX) {
        stet_hlo_expect(t, "(");
        float_element(t, e->element->flavour, out);
        stet_hlo_expect(t, ",");
        float_element(t, e->element->flavour, out);
        stet_hlo_expect(t, ")");
    } else {
        integer_element(t, e, out);
    }
}

static void level(struct stet_hlo_text *t, const struct stet_type *type, uint32_t depth,
                  struct filling *out)
{
    if (depth == type->rank) {
        element(t, type->element, out);
        return;
    }
    stet_hlo_expect(t, "{");
    for (int64_t i = 0; i < type->dims[depth] && !t->failed; i++) {
        if (i)
            stet_hlo_expect(t, ",");
        level(t, type, depth + 1, out);
    }
    stet_hlo_expect(t, "}");
}

static const struct stet_attr *tuple_literal(struct stet_hlo_text *t, const struct stet_type *type)
{
    const struct stet_attr **items = stet_arena_alloc(t->b.a, type->member_count, sizeof *items);

    stet_hlo_expect(t, "(");
    for (uint32_t i = 0; items && i < type->member_count && !t->failed; i++) {
        if (i)
            stet_hlo_expect(t, ",");
        items[i] = stet_decode_hlo_text_literal(t, type->members[i]);
    }
    stet_hlo_expect(t, ")");
    return items && !t->failed ? stet_decode_hlo_new_array(t->b.a, items, type->member_count)
                               : NULL;
}

const struct stet_attr *stet_decode_hlo_text_literal(struct stet_hlo_text *t,
                                                     const struct stet_type *type)
{
    struct stet_attr *a;
    struct filling f = {0};
    uint64_t count;

    if (stet_hlo_take(t, "{...}")) {
        stet_decode_hlo_text_fail_at(
            t, t->at - 5,
            "a constant was left out when this text was printed; print it with "
            "large constants (--xla_dump_large_constants)");
        return NULL;
    }
    if (type->kind == STET_TYPE_TUPLE)
        return tuple_literal(t, type);
    if (type->kind != STET_TYPE_TENSOR || !stet_type_elements(type, &count) ||
        stet_mul_overflows(count, stet_type_storage_bits(type->element) / 8, &f.room)) {
        stet_decode_hlo_text_fail(t, "a literal of dynamic or overflowing shape");
        return NULL;
    }
    /* an element takes at least a digit and a comma */
    if (count > (t->src.len - t->at) / 2 + 1) {
        stet_decode_hlo_text_fail(t, "a literal with fewer elements than its shape");
        return NULL;
    }
    a = stet_build_attr(t->b.a, STET_ATTR_DENSE);
    f.to = stet_arena_raw(t->b.a, f.room + 1, 1);
    if (!a || !f.to)
        return NULL;
    level(t, type, 0, &f);
    a->splat = count == 1;
    a->of.type = type;
    stet_attr_set_bytes(a, stet_view_of(f.to, f.len));
    t->b.p->constant_bytes += f.len;
    return t->failed ? NULL : a;
}
