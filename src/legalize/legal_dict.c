/* The small part of MLIR's attribute text that typed custom calls use in HLO. */
#include "legalize/legal.h"

#include "program/number.h"

#include <stdlib.h>

enum { MOST_ENTRIES = 256 };

struct dict {
    struct stet_legal *l;
    const char *at, *end;
};

static void skip(struct dict *d)
{
    while (d->at < d->end && (*d->at == ' ' || *d->at == '\n' || *d->at == '\t'))
        d->at++;
}

static bool take(struct dict *d, const char *literal)
{
    size_t n = strlen(literal);

    skip(d);
    if ((size_t)(d->end - d->at) < n || memcmp(d->at, literal, n) != 0)
        return false;
    d->at += n;
    return true;
}

static struct stet_view word(struct dict *d)
{
    const char *start;

    skip(d);
    for (start = d->at; d->at < d->end && *d->at && !strchr(" \t\n,=:<>{}\"", *d->at);)
        d->at++;
    return stet_view_of(start, (size_t)(d->at - start));
}

static int hex(char c)
{
    const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c | 0x20) : NULL;

    return found ? (int)(found - digits) : -1;
}

/* After the opening quote; MLIR escapes \n, \t, \\, \" and two hex digits. */
static bool string(struct dict *d, struct stet_view *out)
{
    char *to = stet_arena_raw(d->l->a, (size_t)(d->end - d->at) + 1, 1);
    size_t n = 0;

    if (!to)
        return false;
    for (; d->at < d->end && *d->at != '"'; d->at++) {
        if (*d->at != '\\') {
            to[n++] = *d->at;
            continue;
        }
        if (++d->at + 1 >= d->end)
            return false;
        if (*d->at == 'n' || *d->at == 't') {
            to[n++] = *d->at == 'n' ? '\n' : '\t';
        } else if (hex(d->at[0]) >= 0 && hex(d->at[1]) >= 0) {
            to[n++] = (char)(hex(d->at[0]) * 16 + hex(d->at[1]));
            d->at++;
        } else {
            to[n++] = *d->at;
        }
    }
    *out = stet_view_of(to, n);
    return take(d, "\"");
}

static const struct stet_type *type_named(struct dict *d, struct stet_view name)
{
    enum stet_sign sign = stet_view_starts(name, "ui")   ? STET_UNSIGNED
                          : stet_view_starts(name, "si") ? STET_SIGNED
                                                         : STET_SIGNLESS;
    size_t skipped = sign == STET_SIGNLESS ? 1 : 2;
    enum stet_float f;
    int width = 0;

    if (stet_float_by_name(name, &f)) {
        const struct stet_type *t = stet_type_float(f);

        return stet_type_storage_bits(t) <= 64 ? t : NULL; /* f80, f128: bits_of has no more */
    }
    if (name.len <= skipped || name.len > skipped + 2 || name.ptr[skipped - 1] != 'i')
        return NULL;
    for (size_t i = skipped; i < name.len; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return NULL;
        width = width * 10 + (name.ptr[i] - '0');
    }
    return width >= 1 && width <= 64 ? stet_type_integer(d->l->a, (uint32_t)width, sign) : NULL;
}

/* The bits of a number of that type. */
static bool bits_of(struct stet_view text, const struct stet_type *t, uint64_t *out)
{
    char copy[64], *end;

    if (!text.len || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (t->kind == STET_TYPE_FLOAT && strncmp(copy, "0x", 2) != 0)
        *out = stet_float_bits_of(t->flavour, strtod(copy, &end));
    else
        *out = *copy == '-' ? (uint64_t)strtoll(copy, &end, 0) : strtoull(copy, &end, 0);
    return !*end;
}

static struct stet_view little(struct dict *d, uint64_t bits, size_t width)
{
    char bytes[8];

    for (size_t i = 0; i < 8; i++)
        bytes[i] = (char)(bits >> (8 * i));
    return stet_arena_copy(d->l->a, stet_view_of(bytes, width));
}

static const struct stet_attr *number(struct dict *d)
{
    struct stet_attr *a = STET_NEW(d->l->a, struct stet_attr);
    struct stet_view text = word(d);
    const struct stet_type *type;
    uint64_t bits;

    if (!a || !take(d, ":"))
        return NULL;
    type = type_named(d, word(d));
    if (!type || !bits_of(text, type, &bits))
        return NULL;
    a->kind = type->kind == STET_TYPE_FLOAT ? STET_ATTR_FLOAT : STET_ATTR_INTEGER;
    a->of.type = type;
    if (a->kind == STET_ATTR_FLOAT)
        stet_attr_set_bytes(a, little(d, bits, stet_type_storage_bits(type) / 8));
    else
        a->integer = (int64_t)bits;
    return a;
}

static const struct stet_attr *array(struct dict *d)
{
    struct stet_attr *a = STET_NEW(d->l->a, struct stet_attr);
    char bytes[512];
    size_t n = 0, width;
    uint64_t bits;

    if (!a)
        return NULL;
    a->kind = STET_ATTR_DENSE_ARRAY;
    a->of.type = type_named(d, word(d));
    if (!stet_attr_type(a))
        return NULL;
    width = stet_type_storage_bits(stet_attr_type(a)) / 8;
    if (take(d, ":"))
        do {
            struct stet_view text = word(d);

            if (n + width > sizeof bytes)
                return NULL;
            if (stet_view_is(text, "true") || stet_view_is(text, "false"))
                bits = stet_view_is(text, "true");
            else if (!bits_of(text, stet_attr_type(a), &bits))
                return NULL;
            for (size_t k = 0; k < width; k++)
                bytes[n++] = (char)(bits >> (8 * k));
        } while (take(d, ","));
    stet_attr_set_bytes(a, stet_arena_copy(d->l->a, stet_view_of(bytes, n)));
    return take(d, ">") ? a : NULL;
}

static const struct stet_attr *value(struct dict *d)
{
    struct stet_view text;

    if (take(d, "\""))
        return string(d, &text) ? stet_legalize_string(d->l, text) : NULL;
    if (take(d, "true"))
        return stet_legalize_bool(d->l, true);
    if (take(d, "false"))
        return stet_legalize_bool(d->l, false);
    if (take(d, "array<"))
        return array(d);
    return number(d);
}

const struct stet_attr *stet_legalize_dictionary(struct stet_legal *l, struct stet_view text)
{
    struct dict d = {l, text.ptr, text.ptr + text.len};
    struct stet_named_attr *named = STET_NEW_ARRAY(l->a, struct stet_named_attr, MOST_ENTRIES);
    struct stet_attr *a = STET_NEW(l->a, struct stet_attr);

    if (!named || !a || !take(&d, "{"))
        return NULL;
    a->kind = STET_ATTR_DICT;
    a->named = named;
    while (!take(&d, "}")) {
        struct stet_named_attr *n = &named[a->count];

        if (a->count == MOST_ENTRIES || (a->count && !take(&d, ",")))
            return NULL;
        if (take(&d, "\"") ? !string(&d, &n->name) : !(n->name = word(&d)).len)
            return NULL;
        if (!take(&d, "=") || !(n->value = value(&d)))
            return NULL;
        a->count++;
    }
    skip(&d);
    return d.at == d.end && stet_build_sort(named, a->count) ? a : NULL;
}
