/* Finds the shortest round-trip decimal by trial: at most 17 digits, and most literals need
 * three. */
#include "fingerprint/scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The layout of a small float format. `special` gives which codes are not numbers. */
struct format {
    uint8_t exponent_bits, mantissa_bits;
    int16_t bias;
    enum { IEEE, FN, FNUZ, FINITE_ONLY, UNSIGNED_SCALE, NOT_SMALL } special;
};

static const struct format formats[STET_FLOATS] = {
    [STET_F16] = {5, 10, 15, IEEE},
    [STET_BF16] = {8, 7, 127, IEEE},
    [STET_F32] = {8, 23, 127, IEEE},
    [STET_F64] = {11, 52, 1023, IEEE},
    [STET_TF32] = {8, 10, 127, IEEE},
    [STET_F80] = {0, 0, 0, NOT_SMALL},
    [STET_F128] = {0, 0, 0, NOT_SMALL},
    [STET_F8E5M2] = {5, 2, 15, IEEE},
    [STET_F8E4M3] = {4, 3, 7, IEEE},
    [STET_F8E4M3FN] = {4, 3, 7, FN},
    [STET_F8E5M2FNUZ] = {5, 2, 16, FNUZ},
    [STET_F8E4M3FNUZ] = {4, 3, 8, FNUZ},
    [STET_F8E4M3B11FNUZ] = {4, 3, 11, FNUZ},
    [STET_F8E3M4] = {3, 4, 3, IEEE},
    [STET_F8E8M0FNU] = {8, 0, 127, UNSIGNED_SCALE},
    [STET_F4E2M1FN] = {2, 1, 1, FINITE_ONLY},
    [STET_F6E2M3FN] = {2, 3, 1, FINITE_ONLY},
    [STET_F6E3M2FN] = {3, 2, 3, FINITE_ONLY},
};

static double double_of(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof d);
    return d;
}

static uint64_t bits_of(double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* 2^e for exponents of normal doubles. */
static double power_of_two(int e)
{
    return double_of((uint64_t)(e + 1023) << 52);
}

/* The magnitude of a code; *kind is set if it is not a number. */
static double decode(const struct format *f, uint64_t bits, struct stet_scalar *out)
{
    uint64_t mantissa = bits & ((UINT64_C(1) << f->mantissa_bits) - 1);
    uint64_t top = (UINT64_C(1) << f->exponent_bits) - 1;
    uint64_t exponent = bits >> f->mantissa_bits & top;

    out->negative =
        f->special != UNSIGNED_SCALE && (bits >> (f->mantissa_bits + f->exponent_bits) & 1);
    if (f->special == UNSIGNED_SCALE) {
        if (exponent == top)
            out->kind = STET_SCALAR_NAN;
        return out->kind == STET_SCALAR_NAN ? 0 : power_of_two((int)exponent - f->bias);
    }
    if (f->special == FNUZ && out->negative && !exponent && !mantissa)
        out->kind = STET_SCALAR_NAN;
    else if (f->special == IEEE && exponent == top)
        out->kind = mantissa ? STET_SCALAR_NAN : STET_SCALAR_INF;
    else if (f->special == FN && exponent == top &&
             mantissa == (UINT64_C(1) << f->mantissa_bits) - 1)
        out->kind = STET_SCALAR_NAN;
    if (out->kind != STET_SCALAR_FINITE)
        return 0;
    if (f->exponent_bits == 11)
        return double_of(bits & INT64_MAX);
    if (!exponent)
        return (double)mantissa * power_of_two(1 - f->bias - f->mantissa_bits);
    return (double)(mantissa | UINT64_C(1) << f->mantissa_bits) *
           power_of_two((int)exponent - f->bias - f->mantissa_bits);
}

/* Nearest, ties to even; exact for magnitudes below 2^51. Not rint(): its speed depends on flags.
 */
static double nearest(double x)
{
    volatile double shifted = x + 0x1.8p52;

    return shifted - 0x1.8p52;
}

/* `c` rounded as the format would store it. */
static double rounded(const struct format *f, double c)
{
    int e = (int)(bits_of(c) >> 52 & 0x7ff) - 1023, ulp = e - f->mantissa_bits;
    int smallest = 1 - f->bias - f->mantissa_bits;

    if (f->exponent_bits == 11)
        return c;
    if (ulp < smallest)
        ulp = smallest;
    return nearest(c * power_of_two(-ulp)) * power_of_two(ulp);
}

static const double tens[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
    1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38, 1e39, 1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46, 1e47,
    1e48, 1e49, 1e50, 1e51, 1e52, 1e53, 1e54, 1e55, 1e56, 1e57, 1e58, 1e59, 1e60, 1e61, 1e62, 1e63,
};

enum { TENS = sizeof tens / sizeof *tens };

static void set_integer(struct stet_scalar *out, uint64_t v, int exponent)
{
    char reversed[24];
    int n = 0, skip = 0;

    for (; v; v /= 10)
        reversed[n++] = (char)('0' + v % 10);
    while (skip < n && reversed[skip] == '0')
        skip++;
    for (int i = n - 1; i >= skip; i--)
        out->digits[out->count++] = reversed[i];
    out->exponent = (int16_t)(n ? exponent + n : 0);
}

/* Tries 1, 2, … digits; false if the range of the table or of doubles is too small. */
static bool shorten(struct stet_scalar *out, const struct format *f, double v)
{
    int e10 = 0;

    if (v >= 1) {
        while (e10 + 1 < TENS && tens[e10 + 1] <= v)
            e10++;
    } else {
        while (e10 > 1 - TENS && v * tens[-e10] < 1)
            e10--;
    }
    for (int digits = 1; digits <= 15; digits++) {
        int shift = digits - 1 - e10;
        double m, candidate;

        if (shift >= TENS || -shift >= TENS)
            return false;
        m = nearest(shift >= 0 ? v * tens[shift] : v / tens[-shift]);
        if (m >= 1e16) /* beyond the table: digits would be lost */
            return false;
        candidate = shift >= 0 ? m / tens[shift] : m * tens[-shift];
        if (rounded(f, candidate) == v) {
            set_integer(out, (uint64_t)m, -shift);
            return true;
        }
    }
    return false;
}

static bool read_float(struct stet_scalar *out, enum stet_float flavour, uint64_t bits)
{
    const struct format *f = &formats[flavour];
    double v;

    if (f->special == NOT_SMALL)
        return false;
    v = decode(f, bits, out);
    if (out->kind != STET_SCALAR_FINITE || v == 0) {
        if (out->kind == STET_SCALAR_NAN) /* the payload may matter: keep it within one type */
            out->raw = bits & ((UINT64_C(1) << f->mantissa_bits) - 1);
        return true;
    }
    out->value = out->negative ? -v : v;
    if (!shorten(out, f, v)) {
        out->kind = STET_SCALAR_RAW;
        out->raw = bits_of(v);
    }
    return true;
}

static bool read_integer(struct stet_scalar *out, const struct stet_type *t, uint64_t bits)
{
    uint64_t sign;

    if (t->width == 0 || t->width > 64)
        return false;
    if (t->width < 64)
        bits &= (UINT64_C(1) << t->width) - 1;
    sign = UINT64_C(1) << (t->width - 1);
    out->negative = t->sign != STET_UNSIGNED && t->width > 1 && (bits & sign);
    if (out->negative)
        bits = (~bits + 1) & (sign | (sign - 1));
    set_integer(out, bits, 0);
    out->value = out->negative ? -(double)bits : (double)bits;
    return true;
}

bool stet_scalar_read(struct stet_scalar *out, const struct stet_type *element,
                      struct stet_view bytes)
{
    uint64_t bits = 0;

    *out = (struct stet_scalar){.kind = STET_SCALAR_FINITE};
    if (!element || bytes.len > sizeof bits || !bytes.len)
        return false;
    for (size_t i = bytes.len; i-- > 0;)
        bits = bits << 8 | (unsigned char)bytes.ptr[i];
    if (element->kind == STET_TYPE_INTEGER)
        return read_integer(out, element, bits);
    return element->kind == STET_TYPE_FLOAT && read_float(out, element->flavour, bits);
}

bool stet_scalar_close(double x, double y, double tolerance)
{
    return fabs(x - y) <= tolerance * (fabs(x) + fabs(y));
}

bool stet_scalar_eq(const struct stet_scalar *a, const struct stet_scalar *b)
{
    return a->kind == b->kind && a->negative == b->negative && a->raw == b->raw &&
           a->count == b->count && a->exponent == b->exponent &&
           memcmp(a->digits, b->digits, a->count) == 0;
}

void stet_scalar_format(const struct stet_scalar *s, char text[STET_SCALAR_TEXT])
{
    const char *sign = s->negative ? "-" : "";
    int point = s->exponent, count = s->count;

    if (s->kind == STET_SCALAR_INF || s->kind == STET_SCALAR_NAN)
        snprintf(text, STET_SCALAR_TEXT, "%s%s", sign, s->kind == STET_SCALAR_INF ? "inf" : "nan");
    else if (s->kind == STET_SCALAR_RAW)
        snprintf(text, STET_SCALAR_TEXT, "%.17g", s->value);
    else if (!count)
        snprintf(text, STET_SCALAR_TEXT, "%s0", sign);
    else if (point > 21 || point < -4)
        snprintf(text, STET_SCALAR_TEXT, "%s%c%s%.*se%+d", sign, s->digits[0], count > 1 ? "." : "",
                 count - 1, s->digits + 1, point - 1);
    else if (point <= 0)
        snprintf(text, STET_SCALAR_TEXT, "%s0.%.*s%.*s", sign, -point, "0000", count, s->digits);
    else if (point >= count)
        snprintf(text, STET_SCALAR_TEXT, "%s%.*s%.*s", sign, count, s->digits, point - count,
                 "000000000000000000000");
    else
        snprintf(text, STET_SCALAR_TEXT, "%s%.*s.%.*s", sign, point, s->digits, count - point,
                 s->digits + point);
}

bool stet_scalar_decimal(const struct stet_scalar *s, double *out)
{
    char text[STET_SCALAR_TEXT + 32];

    if (s->kind == STET_SCALAR_INF) {
        *out = s->negative ? -INFINITY : INFINITY;
        return true;
    }
    if (s->kind != STET_SCALAR_FINITE)
        return false;
    snprintf(text, sizeof text, "%s0.%.*se%d", s->negative ? "-" : "", (int)s->count, s->digits,
             s->exponent);
    *out = strtod(text, NULL);
    return true;
}
