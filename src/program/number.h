/* Converts every float format of the portable formats to and from double. */
#ifndef STET_PROGRAM_NUMBER_H
#define STET_PROGRAM_NUMBER_H

#include "program/program.h"

/* What a format has beside its finite numbers. */
enum stet_float_special {
    STET_FLOAT_IEEE,   /* the highest exponent is infinity and NaN */
    STET_FLOAT_FN,     /* no infinity; NaN is all ones */
    STET_FLOAT_FNUZ,   /* no infinity, no negative zero; NaN is where negative zero would be */
    STET_FLOAT_FINITE, /* every code is a number */
    STET_FLOAT_SCALE,  /* f8E8M0FNU: unsigned powers of two, all ones is NaN */
};

struct stet_float_format {
    unsigned char exponent, mantissa; /* bits; no exponent: not supported (F80, F128) */
    short bias;
    enum stet_float_special special;
};

const struct stet_float_format *stet_float_format(enum stet_float f);

/* The value of `bits`. Exact, because double can represent every finite value of these formats (F80
 * and F128 are not supported and give NaN). */
double stet_float_value(enum stet_float f, uint64_t bits);
/* The nearest bits, ties to even. A value that is too large gives infinity, the format's NaN if it
 * has no infinity, or its largest value if it has neither. */
uint64_t stet_float_bits_of(enum stet_float f, double v);
/* The number of decimal digits that distinguish any two values. */
int stet_float_digits(enum stet_float f);
/* Bits of the mantissa, 0 for those without one. */
unsigned stet_float_mantissa(enum stet_float f);
/* Does it have NaNs with a payload, as in IEEE 754? */
bool stet_float_is_ieee(enum stet_float f);

/* The integer at `p` of an element type, sign-extended when it is not unsigned; little-endian. */
int64_t stet_number_at(const struct stet_type *element, const char *p);
/* Bits at `p`, little-endian, 1 to 8 bytes. */
uint64_t stet_number_bits_at(const char *p, unsigned bytes);

#endif
