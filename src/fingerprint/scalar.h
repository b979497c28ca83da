/* Represents one number of any element type as the shortest decimal that reads back as itself. */
#ifndef STET_FINGERPRINT_SCALAR_H
#define STET_FINGERPRINT_SCALAR_H

#include "program/program.h"

/* Sign, digits without trailing zeros, decimal exponent: value = ±0.d1d2… × 10^exponent. The same
 * literal gives the same digits in every type that can represent it: 0.001 as f32 and as bf16 are
 * both "1" × 10^-2, although the bits are different numbers. A change of dtype therefore does not
 * look like a change of constants. */
struct stet_scalar {
    enum { STET_SCALAR_FINITE, STET_SCALAR_INF, STET_SCALAR_NAN, STET_SCALAR_RAW } kind;
    bool negative;
    uint8_t count; /* digits; 0 for zero */
    int16_t exponent;
    char digits[40];
    double value; /* nearest; 0 when not FINITE */
    uint64_t raw; /* the bits, for NaN payloads and RAW */
};

enum { STET_SCALAR_TEXT = 64 };

/* `bytes` is one element as MLIR stores it in dense attributes. False if the element type has no
 * numeric meaning here (opaque, quantized, wider than 64 bits). */
bool stet_scalar_read(struct stet_scalar *out, const struct stet_type *element,
                      struct stet_view bytes);
bool stet_scalar_eq(const struct stet_scalar *a, const struct stet_scalar *b);
/* Do two numbers differ by at most `tolerance` times their sizes? */
bool stet_scalar_close(double x, double y, double tolerance);
/* The number that its shortest decimal means: 0.1 for an f32 that was written as 0.1, though the
 * f32 itself is a little more. False for NaN and for what is not a number. */
bool stet_scalar_decimal(const struct stet_scalar *s, double *out);
/* "0.001", "-1e+30", "8", "inf". Terminated. */
void stet_scalar_format(const struct stet_scalar *s, char text[STET_SCALAR_TEXT]);

#endif
