/* Tagged, length-prefixed and recursive. The tags belong to this file, because enum values may
 * change between releases. */
#include "fingerprint/content.h"

#include "fingerprint/scalar.h"

/* Deeper content is hostile (readers stop at STET_MAX_DEPTH); a mark replaces the rest. */
enum { DEEPEST = 2 * STET_MAX_DEPTH };

static const char type_tags[] = {
    [STET_TYPE_OPAQUE] = 'O',   [STET_TYPE_INTEGER] = 'i',
    [STET_TYPE_FLOAT] = 'f',    [STET_TYPE_INDEX] = 'x',
    [STET_TYPE_COMPLEX] = 'c',  [STET_TYPE_TENSOR] = 't',
    [STET_TYPE_UNRANKED] = '*', [STET_TYPE_MEMREF] = 'm',
    [STET_TYPE_VECTOR] = 'v',   [STET_TYPE_TUPLE] = '(',
    [STET_TYPE_FUNCTION] = '>', [STET_TYPE_TOKEN] = '!',
    [STET_TYPE_NONE] = 'n',     [STET_TYPE_QUANTIZED] = 'q',
    [STET_TYPE_FUTURE] = 'F',   [STET_TYPE_UNRANKED_MEMREF] = 'M',
};

static const char attr_tags[] = {
    [STET_ATTR_OPAQUE] = 'O',      [STET_ATTR_UNIT] = 'u',       [STET_ATTR_BOOL] = 'b',
    [STET_ATTR_INTEGER] = 'i',     [STET_ATTR_FLOAT] = 'f',      [STET_ATTR_STRING] = 's',
    [STET_ATTR_SYMBOL] = '@',      [STET_ATTR_ARRAY] = '[',      [STET_ATTR_DICT] = '{',
    [STET_ATTR_TYPE] = 't',        [STET_ATTR_DENSE] = 'd',      [STET_ATTR_DENSE_STRINGS] = 'S',
    [STET_ATTR_DENSE_ARRAY] = 'a', [STET_ATTR_RESOURCE] = 'd',   [STET_ATTR_SPARSE] = 'p',
    [STET_ATTR_ENUM] = 'e',        [STET_ATTR_RECORD] = 'r',     [STET_ATTR_INTS] = 'I',
    [STET_ATTR_LOCATION] = 'l',    [STET_ATTR_AFFINE_MAP] = 'm',
};

static void attr_at(struct stet_sink *s, const struct stet_attr *a,
                    const struct stet_symbol_writer *symbols, unsigned depth);

bool stet_content_layout_is_plain(const struct stet_type *t)
{
    if (stet_type_rest(t)->layout_extra.len)
        return false;
    for (uint32_t i = 0; stet_type_rest(t)->layout && i < t->rank; i++)
        if (stet_type_rest(t)->layout[i] != (int64_t)(t->rank - 1 - i))
            return false;
    return true;
}

static void shaped(struct stet_sink *s, const struct stet_type *t, unsigned depth)
{
    stet_sink_varint(s, t->rank);
    for (uint32_t i = 0; i < t->rank; i++)
        stet_sink_int(s, t->dims[i]);
    stet_sink_u8(s, stet_type_rest(t)->encoding ? 'e' : 0);
    if (stet_type_rest(t)->encoding)
        attr_at(s, stet_type_rest(t)->encoding, NULL, depth + 1);
    else if (stet_type_rest(t)->bounds)
        for (uint32_t i = 0; i < t->rank; i++)
            stet_sink_int(s, stet_type_rest(t)->bounds[i]);
    if (!stet_content_layout_is_plain(t)) {
        stet_sink_u8(s, 'L');
        for (uint32_t i = 0; stet_type_rest(t)->layout && i < t->rank; i++)
            stet_sink_int(s, stet_type_rest(t)->layout[i]);
        stet_sink_view(s, stet_type_rest(t)->layout_extra);
    }
}

static void type_at(struct stet_sink *s, const struct stet_type *t, unsigned depth)
{
    if (!t || depth > DEEPEST) {
        stet_sink_u8(s, t ? '.' : 0);
        return;
    }
    stet_sink_u8(s, (unsigned char)type_tags[t->kind]);
    switch (t->kind) {
    case STET_TYPE_INTEGER:
        stet_sink_u8(s, (unsigned char)"-su"[t->sign]);
        stet_sink_varint(s, t->width);
        break;
    case STET_TYPE_FLOAT:
        stet_sink_view(s, stet_view_str(stet_float_name(t->flavour)));
        break;
    case STET_TYPE_TENSOR:
    case STET_TYPE_MEMREF:
    case STET_TYPE_UNRANKED_MEMREF:
    case STET_TYPE_VECTOR:
        shaped(s, t, depth);
        break;
    case STET_TYPE_TUPLE:
    case STET_TYPE_FUNCTION:
    case STET_TYPE_FUTURE:
        stet_sink_varint(s, t->member_count);
        stet_sink_varint(s, t->input_count);
        for (uint32_t i = 0; i < t->member_count; i++)
            type_at(s, t->members[i], depth + 1);
        break;
    case STET_TYPE_OPAQUE:
    case STET_TYPE_QUANTIZED:
        stet_sink_view(s, stet_type_rest(t)->dialect);
        stet_sink_view(s, stet_type_rest(t)->text);
        stet_sink_content(s, stet_type_rest(t)->bytes);
        break;
    default:
        break;
    }
    if (t->element)
        type_at(s, t->element, depth + 1);
}

void stet_content_type(struct stet_sink *s, const struct stet_type *t)
{
    type_at(s, t, 0);
}

/* The fields of a dictionary in order of their names, because readers keep the order of their
 * input. Returns the next name above `last`, or NULL; dictionaries are short. */
static const struct stet_named_attr *next_field(const struct stet_attr *dict,
                                                const struct stet_named_attr *last)
{
    const struct stet_named_attr *best = NULL;

    for (uint32_t i = 0; i < dict->count; i++) {
        const struct stet_named_attr *n = &dict->named[i];

        if (last && stet_view_cmp(n->name, last->name) <= 0)
            continue;
        if (!best || stet_view_cmp(n->name, best->name) < 0)
            best = n;
    }
    return best;
}

static bool in_order(const struct stet_attr *dict)
{
    for (uint32_t i = 1; i < dict->count; i++)
        if (stet_view_cmp(dict->named[i - 1].name, dict->named[i].name) >= 0)
            return false;
    return true;
}

static void field(struct stet_sink *s, const struct stet_named_attr *n,
                  const struct stet_symbol_writer *symbols, unsigned depth)
{
    stet_sink_view(s, n->name);
    attr_at(s, n->value, symbols, depth + 1);
}

static void dict(struct stet_sink *s, const struct stet_attr *a,
                 const struct stet_symbol_writer *symbols, unsigned depth)
{
    const struct stet_named_attr *n = NULL;

    stet_sink_varint(s, a->count);
    if (a->kind == STET_ATTR_RECORD || in_order(a) || a->count > 256) {
        for (uint32_t i = 0; i < a->count; i++)
            field(s, &a->named[i], symbols, depth);
        return;
    }
    while ((n = next_field(a, n)))
        field(s, n, symbols, depth);
}

static void items(struct stet_sink *s, const struct stet_attr *a,
                  const struct stet_symbol_writer *symbols, unsigned depth)
{
    stet_sink_varint(s, a->count);
    for (uint32_t i = 0; i < a->count; i++)
        attr_at(s, a->items[i], symbols, depth + 1);
}

static void attr_at(struct stet_sink *s, const struct stet_attr *a,
                    const struct stet_symbol_writer *symbols, unsigned depth)
{
    if (!a || depth > DEEPEST) {
        stet_sink_u8(s, a ? '.' : 0);
        return;
    }
    stet_sink_u8(s, (unsigned char)attr_tags[a->kind]);
    switch (a->kind) {
    case STET_ATTR_BOOL:
        stet_sink_u8(s, stet_attr_int(a) != 0);
        return;
    case STET_ATTR_INTEGER:
        stet_sink_int(s, stet_attr_int(a));
        stet_sink_view(s, stet_attr_bytes(a));
        break;
    case STET_ATTR_SYMBOL:
        if (!symbols || !symbols->write(s, stet_attr_text(a), symbols->context))
            stet_sink_view(s, stet_attr_text(a));
        items(s, a, symbols, depth);
        return;
    case STET_ATTR_ARRAY:
    case STET_ATTR_DENSE_STRINGS:
    case STET_ATTR_SPARSE:
        items(s, a, symbols, depth);
        break;
    case STET_ATTR_RECORD:
        stet_sink_view(s, stet_attr_dialect(a));
        stet_sink_view(s, stet_attr_mnemonic(a));
        dict(s, a, symbols, depth);
        return;
    case STET_ATTR_DICT:
        dict(s, a, symbols, depth);
        return;
    case STET_ATTR_DENSE:
    case STET_ATTR_RESOURCE: /* the location of the elements and the blob's name do not matter */
        stet_sink_u8(s, a->splat);
        stet_sink_content(s, stet_attr_bytes(a));
        if (!stet_attr_bytes(a).len)
            stet_sink_view(s, stet_attr_text(a));
        break;
    case STET_ATTR_INTS:
        stet_sink_varint(s, a->count);
        for (uint32_t i = 0; i < a->count; i++)
            stet_sink_int(s, a->ints[i]);
        return;
    case STET_ATTR_LOCATION:
        return;
    default:
        stet_sink_view(s, stet_attr_dialect(a));
        stet_sink_view(s, stet_attr_mnemonic(a));
        stet_sink_view(s, stet_attr_text(a));
        stet_sink_content(s, stet_attr_bytes(a));
        break;
    }
    type_at(s, stet_attr_type(a), depth);
}

void stet_content_attr(struct stet_sink *s, const struct stet_attr *a,
                       const struct stet_symbol_writer *symbols)
{
    attr_at(s, a, symbols, 0);
}

/* Arrays up to this long are written number by number. */
enum { BY_NUMBER = 16 };

static bool numbers(struct stet_sink *s, const struct stet_type *element, const struct stet_attr *a)
{
    size_t size = stet_type_storage_bits(element) / 8,
           count = size ? stet_attr_bytes(a).len / size : 0;
    struct stet_scalar number;

    if (!count || count > BY_NUMBER || size > 8 ||
        (element->kind != STET_TYPE_INTEGER && element->kind != STET_TYPE_FLOAT))
        return false;
    stet_sink_varint(s, count);
    for (size_t i = 0; i < count; i++) {
        if (!stet_scalar_read(&number, element,
                              stet_view_of(stet_attr_bytes(a).ptr + i * size, size)))
            return false;
        stet_sink_u8(s, (unsigned)number.kind << 1 | number.negative);
        stet_sink_view(s, stet_view_of(number.digits, number.count));
        stet_sink_int(s, number.exponent);
        stet_sink_varint(s, number.raw);
    }
    return true;
}

void stet_content_number(struct stet_sink *s, const struct stet_attr *a)
{
    const struct stet_type *element = stet_attr_type(a) ? stet_attr_type(a)->element : NULL;

    stet_sink_u8(s, a->splat);
    if (!stet_attr_bytes(a).len)
        attr_at(s, a, NULL, 0);
    else if (!element || !numbers(s, element, a))
        stet_sink_content(s, stet_attr_bytes(a));
}
