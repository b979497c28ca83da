/* Prints attributes, including dense elements. */
#include "program/print.h"

static void print_attr(struct stet_buf *out, const struct stet_attr *a, unsigned depth);

/* ---- numbers ---- */

static void print_integer(struct stet_buf *out, const struct stet_type *t, int64_t v)
{
    uint32_t bits = t->kind == STET_TYPE_INTEGER ? t->width : 64;
    uint64_t u = bits < 64 ? (uint64_t)v & (((uint64_t)1 << bits) - 1) : (uint64_t)v;

    if (t->kind == STET_TYPE_INTEGER && t->width == 1)
        stet_buf_str(out, v & 1 ? "true" : "false");
    else if (t->kind == STET_TYPE_INTEGER && t->sign == STET_UNSIGNED)
        stet_buf_printf(out, "%llu", (unsigned long long)u);
    else
        stet_buf_printf(out, "%lld", (long long)v);
}

static int64_t load_integer(const struct stet_type *t, const char *bytes)
{
    unsigned size = stet_type_storage_bits(t) / 8;
    uint32_t bits = t->kind == STET_TYPE_INTEGER ? t->width : 64;
    unsigned shift = bits && bits < 64 ? 64 - bits : 0;
    uint64_t v = 0;

    for (unsigned i = 0; i < size && i < 8; i++)
        v |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    return (int64_t)(v << shift) >> shift;
}

static void print_element(struct stet_buf *out, const struct stet_type *t, const char *bytes)
{
    uint32_t size = stet_type_storage_bits(t) / 8;

    switch (t->kind) {
    case STET_TYPE_COMPLEX:
        stet_buf_char(out, '(');
        print_element(out, t->element, bytes);
        stet_buf_char(out, ',');
        print_element(out, t->element, bytes + size / 2);
        stet_buf_char(out, ')');
        break;
    case STET_TYPE_FLOAT:
        stet_print_float(out, t->flavour, bytes);
        break;
    case STET_TYPE_INTEGER:
        if (size > 8) {
            stet_print_wide(out, stet_view_of(bytes, size), t->sign != STET_UNSIGNED);
            break;
        }
        /* fall through */
    default:
        print_integer(out, t, load_integer(t, bytes));
        break;
    }
}

static void print_number(struct stet_buf *out, const struct stet_attr *a)
{
    if (a->kind == STET_ATTR_FLOAT)
        stet_print_float(out, stet_attr_type(a)->flavour, stet_attr_bytes(a).ptr);
    else if (stet_attr_bytes(a).len)
        stet_print_wide(out, stet_attr_bytes(a), stet_attr_type(a)->sign != STET_UNSIGNED);
    else
        print_integer(out, stet_attr_type(a), stet_attr_int(a));
}

/* ---- dense ---- */

enum { HEX_ABOVE = 100 }; /* MLIR's own choice */

static void print_hex(struct stet_buf *out, struct stet_view bytes)
{
    static const char digits[] = "0123456789ABCDEF";
    char *to = stet_buf_reserve(out, 2 * bytes.len + 4);
    size_t n = 0;

    if (!to)
        return;
    memcpy(to, "\"0x", 3);
    n = 3;
    for (size_t i = 0; i < bytes.len; i++) {
        to[n++] = digits[(unsigned char)bytes.ptr[i] >> 4];
        to[n++] = digits[bytes.ptr[i] & 15];
    }
    to[n++] = '"';
    stet_buf_grew(out, n);
}

static const char *print_nested(struct stet_buf *out, const struct stet_type *t,
                                const struct stet_type *element, const char *bytes, uint32_t axis)
{
    if (axis == t->rank) {
        print_element(out, element, bytes);
        return bytes + stet_type_storage_bits(element) / 8;
    }
    stet_buf_char(out, '[');
    for (int64_t i = 0; i < t->dims[axis]; i++) {
        if (i)
            stet_buf_str(out, ", ");
        bytes = print_nested(out, t, element, bytes, axis + 1);
    }
    stet_buf_char(out, ']');
    return bytes;
}

static void print_elements(struct stet_buf *out, const struct stet_attr *a, bool hex)
{
    const struct stet_type *element = stet_attr_type(a)->element;
    uint64_t n = 0;

    if (element->kind == STET_TYPE_QUANTIZED)
        element = element->element;
    stet_type_elements(stet_attr_type(a), &n);
    if (a->splat)
        print_element(out, element, stet_attr_bytes(a).ptr);
    else if (hex && n > HEX_ABOVE)
        print_hex(out, stet_attr_bytes(a));
    else if (n)
        print_nested(out, stet_attr_type(a), element, stet_attr_bytes(a).ptr, 0);
}

static void print_dense(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_str(out, "dense<");
    print_elements(out, a, true);
    stet_buf_str(out, "> : ");
    stet_print_type(out, stet_attr_type(a));
}

/* Positions, then values; nothing if there are none. */
static void print_sparse(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_str(out, "sparse<");
    for (uint32_t i = 0; i < a->count; i++) {
        bool dense = a->items[i]->kind == STET_ATTR_DENSE && stet_attr_type(a->items[i]);

        if (dense && stet_attr_bytes(a->items[i]).len) {
            stet_buf_str(out, i ? ", " : "");
            print_elements(out, a->items[i], i > 0);
        }
    }
    stet_buf_str(out, "> : ");
    stet_print_type(out, stet_attr_type(a));
}

static const struct stet_attr *const *print_string_nest(struct stet_buf *out,
                                                        const struct stet_type *t,
                                                        const struct stet_attr *const *items,
                                                        uint32_t axis)
{
    if (axis == t->rank) {
        stet_print_string(out, stet_attr_text((*items)));
        return items + 1;
    }
    stet_buf_char(out, '[');
    for (int64_t i = 0; i < t->dims[axis]; i++) {
        if (i)
            stet_buf_str(out, ", ");
        items = print_string_nest(out, t, items, axis + 1);
    }
    stet_buf_char(out, ']');
    return items;
}

static void print_dense_strings(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_str(out, "dense<");
    if (a->splat)
        stet_print_string(out, stet_attr_text(a->items[0]));
    else if (a->count)
        print_string_nest(out, stet_attr_type(a), a->items, 0);
    stet_buf_str(out, "> : ");
    stet_print_type(out, stet_attr_type(a));
}

static void print_dense_array(struct stet_buf *out, const struct stet_attr *a)
{
    uint32_t size = stet_type_storage_bits(stet_attr_type(a)) / 8;

    stet_buf_str(out, "array<");
    stet_print_type(out, stet_attr_type(a));
    for (size_t at = 0; size && at + size <= stet_attr_bytes(a).len; at += size) {
        stet_buf_str(out, at ? ", " : ": ");
        print_element(out, stet_attr_type(a), stet_attr_bytes(a).ptr + at);
    }
    stet_buf_char(out, '>');
}

/* ---- the rest ---- */

/* In arrays MLIR leaves out the types i64 and f64, which are its defaults. */
static bool is_plain_number(const struct stet_attr *a)
{
    if (a->kind == STET_ATTR_FLOAT)
        return stet_attr_type(a)->flavour == STET_F64;
    return a->kind == STET_ATTR_INTEGER && stet_attr_type(a)->kind == STET_TYPE_INTEGER &&
           stet_attr_type(a)->width == 64 && stet_attr_type(a)->sign == STET_SIGNLESS;
}

static void print_items(struct stet_buf *out, const struct stet_attr *a, unsigned depth)
{
    stet_buf_char(out, '[');
    for (uint32_t i = 0; i < a->count; i++) {
        if (i)
            stet_buf_str(out, ", ");
        if (is_plain_number(a->items[i]))
            print_number(out, a->items[i]);
        else
            print_attr(out, a->items[i], depth);
    }
    stet_buf_char(out, ']');
}

static void print_dict(struct stet_buf *out, const struct stet_attr *a, unsigned depth)
{
    stet_buf_char(out, '{');
    for (uint32_t i = 0; i < a->count; i++) {
        if (i)
            stet_buf_str(out, ", ");
        stet_print_name(out, a->named[i].name);
        if (a->named[i].value->kind == STET_ATTR_UNIT)
            continue;
        stet_buf_str(out, " = ");
        print_attr(out, a->named[i].value, depth);
    }
    stet_buf_char(out, '}');
}

static void print_symbol(struct stet_buf *out, const struct stet_attr *a)
{
    stet_print_symbol(out, stet_attr_text(a));
    for (uint32_t i = 0; i < a->count; i++) {
        stet_buf_str(out, "::");
        stet_print_symbol(out, stet_attr_text(a->items[i]));
    }
}

static void print_ints(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_char(out, '[');
    for (uint32_t i = 0; i < a->count; i++)
        stet_buf_printf(out, "%s%lld", i ? ", " : "", (long long)a->ints[i]);
    stet_buf_char(out, ']');
}

/* "#dialect.mnemonic<…>" if the text has that shape, otherwise "#dialect<mnemonic…>". */
static void print_dialect_attr(struct stet_buf *out, const struct stet_attr *a)
{
    struct stet_buf body = {.cap = out->cap};
    struct stet_view text;
    bool pretty;

    if (a->kind == STET_ATTR_ENUM) {
        /* The one enum attribute with its own format is written in brackets. */
        bool brackets = stet_view_is(stet_attr_mnemonic(a), "result_accuracy_mode");

        stet_buf_str(&body, brackets ? "<" : " ");
        stet_buf_view(&body, stet_attr_text(a));
        if (brackets)
            stet_buf_char(&body, '>');
    } else {
        stet_print_record(&body, a);
    }
    text = stet_buf_as_view(&body);
    pretty = stet_view_starts(text, "<");
    stet_buf_char(out, '#');
    stet_buf_view(out, stet_attr_dialect(a));
    stet_buf_char(out, pretty ? '.' : '<');
    stet_buf_view(out, stet_attr_mnemonic(a));
    stet_buf_view(out, text);
    if (!pretty)
        stet_buf_char(out, '>');
    out->failed |= body.failed;
    stet_buf_release(&body);
}

static void print_typed(struct stet_buf *out, const struct stet_attr *a)
{
    print_number(out, a);
    stet_buf_str(out, " : ");
    stet_print_type(out, stet_attr_type(a));
}

static void print_text(struct stet_buf *out, const struct stet_attr *a)
{
    stet_print_string(out, stet_attr_text(a));
    if (stet_attr_type(a) && stet_attr_type(a)->kind != STET_TYPE_NONE) {
        stet_buf_str(out, " : ");
        stet_print_type(out, stet_attr_type(a));
    }
}

static void print_resource(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_str(out, "dense_resource<");
    stet_print_name(out, stet_attr_text(a));
    stet_buf_str(out, "> : ");
    stet_print_type(out, stet_attr_type(a));
}

static void print_attr(struct stet_buf *out, const struct stet_attr *a, unsigned depth)
{
    if (depth++ == STET_MAX_DEPTH)
        return;
    switch (a->kind) {
    case STET_ATTR_OPAQUE:
        stet_print_foreign(out, '#', stet_attr_dialect(a),
                           stet_attr_bytes(a).len ? (struct stet_view){0} : stet_attr_text(a));
        break;
    case STET_ATTR_AFFINE_MAP:
        stet_buf_view(out, stet_attr_text(a));
        break;
    case STET_ATTR_UNIT:
        stet_buf_str(out, "unit");
        break;
    case STET_ATTR_BOOL:
        stet_buf_str(out, stet_attr_int(a) ? "true" : "false");
        break;
    case STET_ATTR_INTEGER:
    case STET_ATTR_FLOAT:
        print_typed(out, a);
        break;
    case STET_ATTR_STRING:
        print_text(out, a);
        break;
    case STET_ATTR_SYMBOL:
        print_symbol(out, a);
        break;
    case STET_ATTR_ARRAY:
        print_items(out, a, depth);
        break;
    case STET_ATTR_DICT:
        print_dict(out, a, depth);
        break;
    case STET_ATTR_TYPE:
        stet_print_type(out, stet_attr_type(a));
        break;
    case STET_ATTR_DENSE:
        print_dense(out, a);
        break;
    case STET_ATTR_DENSE_STRINGS:
        print_dense_strings(out, a);
        break;
    case STET_ATTR_DENSE_ARRAY:
        print_dense_array(out, a);
        break;
    case STET_ATTR_RESOURCE:
        print_resource(out, a);
        break;
    case STET_ATTR_SPARSE:
        print_sparse(out, a);
        break;
    case STET_ATTR_ENUM:
    case STET_ATTR_RECORD:
        print_dialect_attr(out, a);
        break;
    case STET_ATTR_INTS:
        print_ints(out, a);
        break;
    case STET_ATTR_LOCATION:
        stet_print_loc(out, a->location);
        break;
    }
}

void stet_print_attr(struct stet_buf *out, const struct stet_attr *a)
{
    print_attr(out, a, 0);
}
