/* Prints floats as MLIR does: six digits if they read back as the same value, otherwise as many as
 * the format has, otherwise (infinities, NaNs, and digits without a point) the bits in
 * hexadecimal. */
#include "program/number.h"
#include "program/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A finite value as mantissa × 2^exponent. */
struct parts {
    uint64_t mantissa;
    int exponent;
    bool negative;
};

/* False for infinities, NaNs and formats wider than a double. */
static bool take_apart(enum stet_float f, uint64_t bits, struct parts *out)
{
    const struct stet_float_format *t = stet_float_format(f);
    unsigned m = t->mantissa, e = t->exponent;
    uint64_t ones = ((uint64_t)1 << e) - 1;
    uint64_t mantissa = bits & (((uint64_t)1 << m) - 1), exponent = bits >> m & ones;

    out->negative = t->special != STET_FLOAT_SCALE && (bits >> (m + e) & 1);
    if (e == 0)
        return false;
    if (t->special == STET_FLOAT_IEEE && exponent == ones)
        return false;
    if (t->special == STET_FLOAT_FN && exponent == ones && mantissa == ((uint64_t)1 << m) - 1)
        return false;
    if (t->special == STET_FLOAT_FNUZ && out->negative && !mantissa && !exponent)
        return false;
    if (t->special == STET_FLOAT_SCALE && exponent == ones)
        return false;
    if (exponent || t->special == STET_FLOAT_SCALE)
        mantissa |= (uint64_t)1 << m;
    else
        exponent = 1;
    out->mantissa = mantissa;
    out->exponent = (int)exponent - t->bias - (int)m;
    return true;
}

/* ---- whole numbers of any size ---- */

enum { LIMBS = 96 }; /* a double's smallest value times its power of ten takes 80 */

struct big {
    uint32_t limb[LIMBS];
    int count;
};

static void big_set(struct big *b, uint64_t v)
{
    b->limb[0] = (uint32_t)v;
    b->limb[1] = (uint32_t)(v >> 32);
    b->count = b->limb[1] ? 2 : b->limb[0] ? 1 : 0;
}

static void big_multiply(struct big *b, uint32_t by)
{
    uint64_t carry = 0;

    for (int i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * by;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && b->count < LIMBS)
        b->limb[b->count++] = (uint32_t)carry;
}

static uint32_t big_divide(struct big *b, uint32_t by)
{
    uint64_t rest = 0;

    for (int i = b->count; i-- > 0;) {
        rest = rest << 32 | b->limb[i];
        b->limb[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    while (b->count && !b->limb[b->count - 1])
        b->count--;
    return (uint32_t)rest;
}

static int big_bits(const struct big *b)
{
    return b->count ? 32 * b->count - __builtin_clz(b->limb[b->count - 1]) : 0;
}

/* ---- decimal digits ---- */

/* value = 0.d1d2…dn × 10^point without trailing zeros. */
struct digits {
    char d[32];
    int count, point;
};

enum { MOST_DIGITS = 20 };

/* LLVM's APFloat::toString: first truncates the exact number to slightly more digits than needed,
 * then rounds half up. Both steps are visible in its output. */
static void round_digits(const struct parts *v, int n, struct digits *out)
{
    struct big b;
    int exponent = v->exponent, ten = 0, bits, needed = (n * 196 + 58) / 59, count = 0;
    int zeros = __builtin_ctzll(v->mantissa);
    char all[MOST_DIGITS + 12]; /* last digit first */

    big_set(&b, v->mantissa >> zeros);
    exponent += zeros;
    for (; exponent > 0; exponent--)
        big_multiply(&b, 2);
    for (; exponent < 0; exponent++, ten--)
        big_multiply(&b, 5);
    bits = big_bits(&b);
    if (bits > needed) {
        int cut = (bits - needed) * 59 / 196;

        for (int i = 0; i < cut; i++, ten++)
            big_divide(&b, 10);
    }
    while (b.count && count < (int)sizeof all)
        all[count++] = (char)('0' + big_divide(&b, 10));
    out->point = ten + count;
    out->count = count < n ? count : n;
    for (int i = 0; i < out->count; i++)
        out->d[i] = all[count - 1 - i];
    if (count > n && all[count - 1 - n] >= '5') {
        int i = n - 1;

        while (i >= 0 && out->d[i] == '9')
            i--;
        if (i < 0) {
            out->d[0] = '1';
            out->point++;
        } else {
            out->d[i]++;
        }
        out->count = i < 0 ? 1 : i + 1;
    }
    while (out->count > 1 && out->d[out->count - 1] == '0')
        out->count--;
}

/* d.dddddd e±dd, six digits after the point of which the sixth is always 0. */
static void format_short(const struct parts *v, char text[32])
{
    struct digits g = {.count = 1};
    char six[8] = "000000";

    if (v->mantissa == 0) {
        snprintf(text, 32, "%s0.000000e+00", v->negative ? "-" : "");
        return;
    }
    round_digits(v, 6, &g);
    memcpy(six, g.d + 1, (size_t)g.count - 1);
    snprintf(text, 32, "%s%c.%se%c%02d", v->negative ? "-" : "", g.d[0], six,
             g.point > 0 ? '+' : '-', abs(g.point - 1));
}

static bool reads_back(enum stet_float f, const char *text, const struct parts *v)
{
    double exact = ldexp((double)v->mantissa, v->exponent);

    exact = v->negative ? -exact : exact;
    if (f == STET_F32)
        return strtof(text, NULL) == (float)exact;
    if (f == STET_F64)
        return strtod(text, NULL) == exact;
    return true; /* narrower formats have fewer than six digits */
}

/* APFloat's own choice between plain and scientific, with at most three padding zeros. */
static bool format_long(enum stet_float f, const struct parts *v, struct stet_buf *out)
{
    int precision = 2 + (stet_float_format(f)->mantissa + 1) * 59 / 196, exponent, whole;
    struct digits g = {0};

    round_digits(v, precision, &g);
    exponent = g.point - g.count; /* of the last digit */
    whole = g.point;
    if (exponent >= 0 && !(exponent > 3 || g.count + exponent > precision))
        return false; /* digits without a point do not read back as a float */
    if (v->negative)
        stet_buf_char(out, '-');
    if (exponent >= 0 || (whole <= 0 && 1 - whole > 3)) {
        stet_buf_printf(out, "%c.%.*sE%c%d", g.d[0], g.count > 1 ? g.count - 1 : 1,
                        g.count > 1 ? g.d + 1 : "0", whole > 0 ? '+' : '-', abs(whole - 1));
    } else if (whole > 0) {
        stet_buf_printf(out, "%.*s.%.*s", whole, g.d, g.count - whole, g.d + whole);
    } else {
        stet_buf_str(out, "0.");
        for (int i = whole; i < 0; i++)
            stet_buf_char(out, '0');
        stet_buf_printf(out, "%.*s", g.count, g.d);
    }
    return true;
}

static void format_bits(struct stet_buf *out, const char *bytes, unsigned bits)
{
    unsigned digits = (bits + 3) / 4;
    bool leading = true;

    stet_buf_str(out, "0x");
    for (unsigned i = digits; i-- > 0;) {
        unsigned digit = (unsigned char)bytes[i / 2] >> (i % 2 * 4) & 15;

        leading = leading && digit == 0 && i > 0;
        if (!leading)
            stet_buf_printf(out, "%X", digit);
    }
}

void stet_print_float(struct stet_buf *out, enum stet_float flavour, const char *bytes)
{
    unsigned bits = stet_float_bits(flavour);
    char text[32];
    struct parts v;

    if (bits <= 64 && take_apart(flavour, stet_number_bits_at(bytes, (bits + 7) / 8), &v)) {
        format_short(&v, text);
        if (reads_back(flavour, text, &v)) {
            stet_buf_str(out, text);
            return;
        }
        if (format_long(flavour, &v, out))
            return;
    }
    format_bits(out, bytes, bits);
}

void stet_print_wide(struct stet_buf *out, struct stet_view bytes, bool is_signed)
{
    struct big b = {.count = 0};
    bool negative = is_signed && bytes.len && (bytes.ptr[bytes.len - 1] & 0x80);
    char digits[32 * LIMBS / 3];
    size_t n = 0;
    unsigned carry = negative;

    if (bytes.len > sizeof b.limb) { /* not a number that a person writes; MLIR accepts this form as
                                      * well */
        format_bits(out, bytes.ptr, (unsigned)(8 * bytes.len));
        return;
    }
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned byte = (unsigned char)bytes.ptr[i] ^ (negative ? 0xff : 0);

        byte += carry;
        carry = byte >> 8;
        if (i % 4 == 0)
            b.limb[b.count++] = 0;
        b.limb[i / 4] |= (uint32_t)(byte & 0xff) << (8 * (i % 4));
    }
    while (b.count && !b.limb[b.count - 1])
        b.count--;
    do
        digits[n++] = (char)('0' + big_divide(&b, 10));
    while (b.count);
    if (negative)
        stet_buf_char(out, '-');
    while (n-- > 0)
        stet_buf_char(out, digits[n]);
}
