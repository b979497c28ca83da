/* Numbers in MLIR text: decimal and hexadecimal, as integers of any width and floats of any format.
 */
#include "decode/mlir/mlir_text.h"
#include "program/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDEST = 4096 }; /* bits of an integer; the arithmetic is quadratic in them */

static bool digit(const struct mlir *p)
{
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

/* Exact rounding of digits * 10^scale, for numbers that the fast path cannot handle. Without a
 * decimal point strtod does not depend on the locale. */
static double slow_decimal(struct mlir *p, const char *from, const char *to, int scale)
{
    struct stet_buf text = STET_BUF_INIT;
    double v = 0;

    for (const char *c = from; c < to; c++)
        if (*c >= '0' && *c <= '9')
            stet_buf_char(&text, *c);
    stet_buf_printf(&text, "e%d", scale);
    if (text.failed)
        stet_mlir_no_memory(p);
    else
        v = strtod(text.ptr, NULL);
    stet_buf_release(&text);
    return v;
}

double stet_mlir_decimal(struct mlir *p)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *from = p->at, *to;
    uint64_t digits = 0;
    int scale = 0, exponent = 0;
    bool exact = true, fraction = false;

    for (; digit(p) || (p->at < p->end && *p->at == '.' && !fraction); p->at++) {
        if (*p->at == '.') {
            fraction = true;
            continue;
        }
        exact &= digits < ((uint64_t)1 << 53) / 10 - 1;
        digits = digits * 10 + (uint64_t)(*p->at - '0');
        scale -= fraction;
        if (scale < -1000000)
            break;
    }
    to = p->at;
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        p->at++;
        bool negative = p->at < p->end && *p->at == '-';

        p->at += p->at < p->end && (*p->at == '-' || *p->at == '+');
        if (!digit(p))
            stet_mlir_fail(p, p->at, "expected the digits of an exponent");
        for (; digit(p); p->at++)
            exponent = exponent > 100000 ? exponent : exponent * 10 + (*p->at - '0');
        scale += negative ? -exponent : exponent;
    }
    if (exact && scale >= -22 && scale <= 22)
        return scale < 0 ? (double)digits / tens[-scale] : (double)digits * tens[scale];
    return slow_decimal(p, from, to, scale);
}

/* ---- a number and the type it is for ---- */

struct number {
    bool negative, real, hex, wide; /* wide: does not fit 64 bits */
    uint64_t digits;
    double value;
    const char *where, *end;
};

static struct number hexadecimal(struct mlir *p, struct number n)
{
    n.hex = true;
    for (p->at += 2; p->at < p->end; p->at++) {
        char c = *p->at;
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;

        if (d < 0)
            break;
        n.wide |= n.digits >> 60 != 0;
        n.digits = n.digits << 4 | (uint64_t)d;
    }
    return n;
}

static struct number read_number(struct mlir *p)
{
    struct number n = {0};
    const char *c;

    n.negative = stet_mlir_accept(p, "-");
    stet_mlir_space(p);
    n.where = p->at;
    if (!digit(p)) {
        stet_mlir_fail(p, p->at, "expected a number");
        return n;
    }
    if (*p->at == '0' && p->end - p->at > 2 && p->at[1] == 'x') {
        n = hexadecimal(p, n);
        n.end = p->at;
        return n;
    }
    for (c = p->at; c < p->end && *c >= '0' && *c <= '9'; c++) {
        n.wide |= __builtin_mul_overflow(n.digits, 10, &n.digits);
        n.wide |= __builtin_add_overflow(n.digits, (uint64_t)(*c - '0'), &n.digits);
    }
    n.real = c < p->end && *c == '.';
    if (n.real)
        n.value = stet_mlir_decimal(p);
    else
        p->at = c;
    n.end = p->at;
    return n;
}

/* Two's complement in `width` bits, sign-extended; fails if it does not fit. */
static int64_t integer_of(struct mlir *p, const struct number *n, uint32_t width)
{
    uint64_t largest = width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    uint64_t v = n->digits;

    if (n->real || n->wide || width > 64 ||
        v > (n->negative ? (uint64_t)1 << (width > 63 ? 63 : width - 1) : largest)) {
        stet_mlir_fail(p, n->where, n->real ? "expected an integer" : "integer too large");
        return 0;
    }
    v = n->negative ? 0 - v : v;
    if (width < 64)
        v = (uint64_t)((int64_t)(v << (64 - width)) >> (64 - width));
    return (int64_t)v;
}

static uint64_t float_of(struct mlir *p, const struct number *n, enum stet_float flavour)
{
    uint32_t width = stet_float_bits(flavour);

    if (n->hex) { /* the bits themselves, not a value */
        if (n->negative || n->wide || (width < 64 && n->digits >> width))
            stet_mlir_fail(p, n->where, "too many bits for %s", stet_float_name(flavour));
        return n->digits;
    }
    if (!n->real) {
        stet_mlir_fail(p, n->where, "expected a floating-point number");
        return 0;
    }
    if (stet_float_format(flavour)->exponent == 0) {
        stet_mlir_fail_rc(p, STET_UNSUPPORTED, n->where, "decimal numbers of type %s are not read",
                          stet_float_name(flavour));
        return 0;
    }
    return stet_float_bits_of(flavour, n->negative ? -n->value : n->value);
}

static void little_endian(uint64_t v, size_t size, char *out)
{
    for (size_t i = 0; i < size; i++, v = i < 8 ? v >> 8 : 0)
        out[i] = (char)(v & 0xff);
}

/* A number of more than 64 bits: schoolbook arithmetic on its bytes, two's complement. */
static void wide_of(struct mlir *p, const struct number *n, uint32_t width, size_t size, char *out)
{
    unsigned base = n->hex ? 16 : 10, carry;
    const char *c = n->where + (n->hex ? 2 : 0);

    if (n->real || width > WIDEST) {
        stet_mlir_fail(p, n->where, n->real ? "expected an integer" : "integer type too wide");
        return;
    }
    memset(out, 0, size);
    for (; c < n->end && mlir_ok(p); c++) {
        carry = (unsigned)(*c <= '9' ? *c - '0' : (*c | 0x20) - 'a' + 10);
        for (size_t i = 0; i < size; i++, carry >>= 8) {
            carry += (unsigned char)out[i] * base;
            out[i] = (char)(carry & 0xff);
        }
        if (carry)
            stet_mlir_fail(p, n->where, "integer too large");
    }
    carry = n->negative;
    for (size_t i = 0; i < size && n->negative; i++, carry >>= 8) {
        carry += (unsigned char)~out[i];
        out[i] = (char)(carry & 0xff);
    }
}

/* One element of a dense attribute, at least `size` bytes of `out`. */
static void scalar(struct mlir *p, const struct stet_type *type, size_t size, char *out)
{
    struct number n;
    uint64_t v = 0;

    if (type->kind == STET_TYPE_INTEGER && type->width == 1 && stet_mlir_peek(p) >= 'a') {
        v = stet_mlir_accept_word(p, "true");
        if (!v)
            stet_mlir_expect_word(p, "false");
        little_endian(v, size, out);
        return;
    }
    n = read_number(p);
    if (!mlir_ok(p))
        return;
    if (size > sizeof(v) && (type->kind == STET_TYPE_INTEGER || n.hex)) {
        wide_of(p, &n, (uint32_t)size * 8, size, out);
        return;
    }
    if (type->kind == STET_TYPE_FLOAT)
        v = float_of(p, &n, type->flavour);
    else
        v = (uint64_t)integer_of(p, &n, type->kind == STET_TYPE_INDEX ? 64 : type->width);
    if (type->kind == STET_TYPE_INTEGER && type->width < 64) /* unused bits are zero */
        v &= ((uint64_t)1 << type->width) - 1;
    little_endian(v, size, out);
}

void stet_mlir_element(struct mlir *p, const struct stet_type *type, size_t size, char *out)
{
    bool brackets;

    if (type->kind != STET_TYPE_COMPLEX) {
        scalar(p, type, size, out);
        return;
    }
    brackets = stet_mlir_accept(p, "("); /* a splat with equal halves is printed without
                                          * parentheses */
    scalar(p, type->element, size / 2, out);
    if (brackets) {
        stet_mlir_expect(p, ",");
        scalar(p, type->element, size / 2, out + size / 2);
        stet_mlir_expect(p, ")");
    } else {
        stet_mlir_fail(p, p->at, "expected a complex number");
    }
}

/* The bytes of a float, or of an integer wider than a word. */
static struct stet_view number_bytes(struct mlir *p, const struct number *n,
                                     const struct stet_type *type)
{
    size_t size = stet_type_storage_bits(type) / 8;
    char *bytes = stet_arena_raw(p->arena, size, 1);

    if (!bytes)
        stet_mlir_no_memory(p);
    else if (size > sizeof(uint64_t) && (type->kind == STET_TYPE_INTEGER || n->hex))
        wide_of(p, n, (uint32_t)size * 8, size, bytes);
    else
        little_endian(float_of(p, n, type->flavour), size, bytes);
    return stet_view_of(bytes, size);
}

const struct stet_attr *stet_mlir_number(struct mlir *p, const struct stet_type *type)
{
    struct number n = read_number(p);
    struct stet_attr a = {.kind = STET_ATTR_INTEGER};

    if (!type && stet_mlir_accept(p, ":"))
        type = stet_mlir_type(p);
    if (!mlir_ok(p))
        return NULL;
    if (!type)
        type = n.real ? stet_type_float(STET_F64) : stet_type_integer(p->arena, 64, STET_SIGNLESS);
    a.of.type = type;
    if (type->kind == STET_TYPE_FLOAT) {
        a.kind = STET_ATTR_FLOAT;
        stet_attr_set_bytes(&a, number_bytes(p, &n, type));
    } else if (type->kind == STET_TYPE_INTEGER && type->width > 64) {
        stet_attr_set_bytes(&a, type->width > WIDEST ? (struct stet_view){0}
                                                     : number_bytes(p, &n, type));
        if (type->width > WIDEST)
            stet_mlir_fail_rc(p, STET_UNSUPPORTED, n.where, "integers this wide are not read");
    } else if (type->kind == STET_TYPE_INDEX || type->kind == STET_TYPE_INTEGER) {
        a.integer = integer_of(p, &n, type->kind == STET_TYPE_INDEX ? 64 : type->width);
        if (type->width == 1 && type->sign == STET_SIGNLESS)
            a = (struct stet_attr){.kind = STET_ATTR_BOOL, .integer = stet_attr_int(&a) & 1};
    } else {
        stet_mlir_fail(p, n.where, "a number cannot have this type");
    }
    return stet_mlir_make(p, a);
}
