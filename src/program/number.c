/* Float formats by their parameters; see number.h. */
#include "program/number.h"

#include <math.h>

static const struct stet_float_format formats[STET_FLOATS] = {
    [STET_F16] = {5, 10, 15, STET_FLOAT_IEEE},
    [STET_BF16] = {8, 7, 127, STET_FLOAT_IEEE},
    [STET_F32] = {8, 23, 127, STET_FLOAT_IEEE},
    [STET_F64] = {11, 52, 1023, STET_FLOAT_IEEE},
    [STET_TF32] = {8, 10, 127, STET_FLOAT_IEEE},
    [STET_F8E5M2] = {5, 2, 15, STET_FLOAT_IEEE},
    [STET_F8E4M3] = {4, 3, 7, STET_FLOAT_IEEE},
    [STET_F8E4M3FN] = {4, 3, 7, STET_FLOAT_FN},
    [STET_F8E5M2FNUZ] = {5, 2, 16, STET_FLOAT_FNUZ},
    [STET_F8E4M3FNUZ] = {4, 3, 8, STET_FLOAT_FNUZ},
    [STET_F8E4M3B11FNUZ] = {4, 3, 11, STET_FLOAT_FNUZ},
    [STET_F8E3M4] = {3, 4, 3, STET_FLOAT_IEEE},
    [STET_F8E8M0FNU] = {8, 0, 127, STET_FLOAT_SCALE},
    [STET_F4E2M1FN] = {2, 1, 1, STET_FLOAT_FINITE},
    [STET_F6E2M3FN] = {2, 3, 1, STET_FLOAT_FINITE},
    [STET_F6E3M2FN] = {3, 2, 3, STET_FLOAT_FINITE},
};

const struct stet_float_format *stet_float_format(enum stet_float f)
{
    return &formats[f];
}

unsigned stet_float_mantissa(enum stet_float f)
{
    return formats[f].mantissa;
}

bool stet_float_is_ieee(enum stet_float f)
{
    return formats[f].special == STET_FLOAT_IEEE;
}

/* 1 + ceil(p log10 2) with p the precision, as the C standard defines DECIMAL_DIG. */
int stet_float_digits(enum stet_float f)
{
    return 1 + (int)((30103u * (formats[f].mantissa + 1u) + 99999u) / 100000u);
}

double stet_float_value(enum stet_float f, uint64_t bits)
{
    const struct stet_float_format *t = &formats[f];
    uint64_t ones = (1ull << t->mantissa) - 1, mantissa = bits & ones;
    unsigned top = (1u << t->exponent) - 1;
    unsigned exponent = (unsigned)(bits >> t->mantissa) & top;
    bool negative = bits >> (t->exponent + t->mantissa) & 1;
    double v;

    if (t->special == STET_FLOAT_SCALE)
        return bits == 0xff ? (double)NAN : ldexp(1.0, (int)bits - t->bias);
    if (!t->exponent)
        return (double)NAN;
    if (t->special == STET_FLOAT_IEEE && exponent == top)
        v = mantissa ? (double)NAN : (double)INFINITY;
    else if (t->special == STET_FLOAT_FN && exponent == top && mantissa == ones)
        v = (double)NAN;
    else if (t->special == STET_FLOAT_FNUZ && negative && !exponent && !mantissa)
        return (double)NAN;
    else if (exponent)
        v = ldexp((double)(mantissa | (ones + 1)), (int)exponent - t->bias - t->mantissa);
    else
        v = ldexp((double)mantissa, 1 - t->bias - t->mantissa);
    return copysign(v, negative ? -1.0 : 1.0);
}

static uint64_t nan_bits(const struct stet_float_format *t, uint64_t sign)
{
    uint64_t top = (1ull << t->exponent) - 1;

    switch (t->special) {
    case STET_FLOAT_IEEE:
        return sign | top << t->mantissa | 1ull << (t->mantissa - 1);
    case STET_FLOAT_FN:
        return sign | top << t->mantissa | ((1ull << t->mantissa) - 1);
    case STET_FLOAT_FNUZ:
        return 1ull << (t->exponent + t->mantissa);
    case STET_FLOAT_SCALE:
        return 0xff;
    default:
        return 0;
    }
}

/* The largest finite magnitude as bits. */
static uint64_t largest(const struct stet_float_format *t)
{
    uint64_t all = (1ull << (t->exponent + t->mantissa)) - 1;

    if (t->special == STET_FLOAT_IEEE)
        return all - (1ull << t->mantissa);
    return t->special == STET_FLOAT_FN ? all - 1 : all;
}

static uint64_t scale_bits(const struct stet_float_format *t, double v)
{
    int e = -1;

    if (v > 0 && !isinf(v)) { /* the nearest power of two, the greater of two as near */
        double half = frexp(v, &e);

        e += t->bias - (half < 0.75 ? 1 : 0);
    }
    if (isnan(v) || isinf(v) || v < 0 || e > 254)
        return 0xff;
    return e < 0 ? 0 : (uint64_t)e;
}

uint64_t stet_float_bits_of(enum stet_float f, double v)
{
    const struct stet_float_format *t = &formats[f];
    uint64_t sign = signbit(v) ? 1ull << (t->exponent + t->mantissa) : 0, n;
    int e;
    double scaled;

    if (t->special == STET_FLOAT_SCALE)
        return scale_bits(t, v);
    if (!t->exponent)
        return 0;
    if (isnan(v))
        return nan_bits(t, sign);
    v = fabs(v);
    if (isinf(v))
        return t->special == STET_FLOAT_IEEE     ? sign | ((1ull << t->exponent) - 1) << t->mantissa
               : t->special == STET_FLOAT_FINITE ? sign | largest(t)
                                                 : nan_bits(t, sign);
    if (v == 0)
        return t->special == STET_FLOAT_FNUZ ? 0 : sign;
    frexp(v, &e); /* v = 0.1… * 2^e */
    e = e - 1 + t->bias;
    if (e < 1)
        e = 1;
    /* in units of the last place; rint rounds to even, and a carry goes into the exponent */
    scaled = rint(ldexp(v, t->bias + t->mantissa - e));
    if (scaled >= 18446744073709551616.0 || e > 4096)
        n = UINT64_MAX >> 1;
    else
        n = (uint64_t)scaled + ((uint64_t)(e - 1) << t->mantissa);
    if (n > largest(t))
        return t->special == STET_FLOAT_IEEE     ? sign | ((1ull << t->exponent) - 1) << t->mantissa
               : t->special == STET_FLOAT_FINITE ? sign | largest(t)
                                                 : nan_bits(t, sign);
    return n == 0 && t->special == STET_FLOAT_FNUZ ? 0 : sign | n;
}

uint64_t stet_number_bits_at(const char *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return v;
}

int64_t stet_number_at(const struct stet_type *element, const char *p)
{
    unsigned width = element->width > 64 ? 64 : element->width;
    uint64_t v = stet_number_bits_at(p, (width + 7) / 8);

    if (width < 64)
        v &= (1ull << width) - 1;
    if (element->sign != STET_UNSIGNED && width < 64 && width > 1 && v >> (width - 1))
        v |= UINT64_MAX << width;
    return (int64_t)v;
}
