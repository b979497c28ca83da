/* Float formats by their parameters; see number.h. */
#include "program/number.h"

#include <math.h>

enum special {
    IEEE, /* the highest exponent is infinity and NaN */
    FN,   /* no infinity; NaN is all ones */
    FNUZ, /* no infinity, no negative zero; NaN is where negative zero would be */
    FINITE,
    SCALE, /* f8E8M0FNU: unsigned powers of two */
};

static const struct format {
    unsigned char exponent, mantissa;
    short bias;
    enum special special;
} formats[STET_FLOATS] = {
    [STET_F16] = {5, 10, 15, IEEE},          [STET_BF16] = {8, 7, 127, IEEE},
    [STET_F32] = {8, 23, 127, IEEE},         [STET_F64] = {11, 52, 1023, IEEE},
    [STET_TF32] = {8, 10, 127, IEEE},        [STET_F8E5M2] = {5, 2, 15, IEEE},
    [STET_F8E4M3] = {4, 3, 7, IEEE},         [STET_F8E4M3FN] = {4, 3, 7, FN},
    [STET_F8E5M2FNUZ] = {5, 2, 16, FNUZ},    [STET_F8E4M3FNUZ] = {4, 3, 8, FNUZ},
    [STET_F8E4M3B11FNUZ] = {4, 3, 11, FNUZ}, [STET_F8E3M4] = {3, 4, 3, IEEE},
    [STET_F8E8M0FNU] = {8, 0, 127, SCALE},   [STET_F4E2M1FN] = {2, 1, 1, FINITE},
    [STET_F6E2M3FN] = {2, 3, 1, FINITE},     [STET_F6E3M2FN] = {3, 2, 3, FINITE},
};

unsigned stet_float_mantissa(enum stet_float f)
{
    return formats[f].mantissa;
}

bool stet_float_is_ieee(enum stet_float f)
{
    return formats[f].special == IEEE;
}

/* 1 + ceil(p log10 2) with p the precision, as the C standard defines DECIMAL_DIG. */
int stet_float_digits(enum stet_float f)
{
    return 1 + (int)((30103u * (formats[f].mantissa + 1u) + 99999u) / 100000u);
}

double stet_float_value(enum stet_float f, uint64_t bits)
{
    const struct format *t = &formats[f];
    uint64_t ones = (1ull << t->mantissa) - 1, mantissa = bits & ones;
    unsigned top = (1u << t->exponent) - 1;
    unsigned exponent = (unsigned)(bits >> t->mantissa) & top;
    bool negative = bits >> (t->exponent + t->mantissa) & 1;
    double v;

    if (t->special == SCALE)
        return bits == 0xff ? (double)NAN : ldexp(1.0, (int)bits - t->bias);
    if (!t->exponent)
        return (double)NAN;
    if (t->special == IEEE && exponent == top)
        v = mantissa ? (double)NAN : (double)INFINITY;
    else if (t->special == FN && exponent == top && mantissa == ones)
        v = (double)NAN;
    else if (t->special == FNUZ && negative && !exponent && !mantissa)
        return (double)NAN;
    else if (exponent)
        v = ldexp((double)(mantissa | (ones + 1)), (int)exponent - t->bias - t->mantissa);
    else
        v = ldexp((double)mantissa, 1 - t->bias - t->mantissa);
    return copysign(v, negative ? -1.0 : 1.0);
}

static uint64_t nan_bits(const struct format *t, uint64_t sign)
{
    uint64_t top = (1ull << t->exponent) - 1;

    switch (t->special) {
    case IEEE:
        return sign | top << t->mantissa | 1ull << (t->mantissa - 1);
    case FN:
        return sign | top << t->mantissa | ((1ull << t->mantissa) - 1);
    case FNUZ:
        return 1ull << (t->exponent + t->mantissa);
    case SCALE:
        return 0xff;
    default:
        return 0;
    }
}

/* The largest finite magnitude as bits. */
static uint64_t largest(const struct format *t)
{
    uint64_t all = (1ull << (t->exponent + t->mantissa)) - 1;

    if (t->special == IEEE)
        return all - (1ull << t->mantissa);
    return t->special == FN ? all - 1 : all;
}

static uint64_t scale_bits(const struct format *t, double v)
{
    int e = -1;

    if (v > 0) { /* the nearest power of two; log2 would make the layer need libm */
        double half = frexp(v, &e);

        e += t->bias - (half < 0.70710678118654752440 ? 1 : 0);
    }
    if (isnan(v) || v < 0 || e > 254)
        return 0xff;
    return e < 0 ? 0 : (uint64_t)e;
}

uint64_t stet_float_bits_of(enum stet_float f, double v)
{
    const struct format *t = &formats[f];
    uint64_t sign = signbit(v) ? 1ull << (t->exponent + t->mantissa) : 0, n;
    int e;
    double scaled;

    if (t->special == SCALE)
        return scale_bits(t, v);
    if (!t->exponent)
        return 0;
    if (isnan(v))
        return nan_bits(t, sign);
    v = fabs(v);
    if (isinf(v))
        return t->special == IEEE     ? sign | ((1ull << t->exponent) - 1) << t->mantissa
               : t->special == FINITE ? sign | largest(t)
                                      : nan_bits(t, sign);
    if (v == 0)
        return t->special == FNUZ ? 0 : sign;
    frexp(v, &e); /* v = 0.1… * 2^e */
    e = e - 1 + t->bias;
    if (e < 1)
        e = 1;
    /* in units of the last place; rint rounds to even, and a carry walks into the exponent */
    scaled = rint(ldexp(v, t->bias + t->mantissa - e));
    if (scaled >= 18446744073709551616.0 || e > 4096)
        n = UINT64_MAX >> 1;
    else
        n = (uint64_t)scaled + ((uint64_t)(e - 1) << t->mantissa);
    if (n > largest(t))
        return t->special == IEEE     ? sign | ((1ull << t->exponent) - 1) << t->mantissa
               : t->special == FINITE ? sign | largest(t)
                                      : nan_bits(t, sign);
    return n == 0 && t->special == FNUZ ? 0 : sign | n;
}

uint64_t stet_bits_at(const char *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return v;
}

int64_t stet_number_at(const struct stet_type *element, const char *p)
{
    unsigned width = element->width > 64 ? 64 : element->width;
    uint64_t v = stet_bits_at(p, (width + 7) / 8);

    if (width < 64)
        v &= (1ull << width) - 1;
    if (element->sign != STET_UNSIGNED && width < 64 && width > 1 && v >> (width - 1))
        v |= UINT64_MAX << width;
    return (int64_t)v;
}
