/* See copied.h. */
#include "journal/copied.h"

#include <math.h>
#include <string.h>

void stet_journal_copied_read(const struct stet_rec_compile_copy *r,
                              struct stet_journal_copied *out)
{
    out->to_host = r->to_host != 0;
    out->count = r->count;
    out->dtype = r->dtype;
    out->value = r->value;
    out->shape_known = r->rank && r->rank - 1 <= STET_COPIED_RANK && r->rank - 1 == r->dims.count;
    out->rank = out->shape_known ? (uint32_t)(r->rank - 1) : 0;
    for (uint32_t i = 0; i < out->rank; i++)
        out->dims[i] = (int64_t)r->dims.items[i];
}

/* The upper half of a float32, and half precision. */
static double wide(uint16_t bits, bool brain)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    uint32_t single = (uint32_t)bits << 16;
    float value;

    if (brain) {
        memcpy(&value, &single, sizeof value);
        return (double)value;
    }
    if (exponent == 31)
        return mantissa ? (double)NAN : (double)INFINITY;
    return (bits >> 15 ? -1 : 1) *
           (exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24));
}

#define AS(type)                                                                                   \
    do {                                                                                           \
        type value;                                                                                \
        if (c->value.len != sizeof value)                                                          \
            return false;                                                                          \
        memcpy(&value, c->value.ptr, sizeof value);                                                \
        *out = (double)value;                                                                      \
        return true;                                                                               \
    } while (0)

bool stet_journal_copied_number(const struct stet_journal_copied *c, double *out)
{
    uint16_t bits;

    if (stet_view_is(c->dtype, "bool") || stet_view_is(c->dtype, "uint8"))
        AS(uint8_t);
    if (stet_view_is(c->dtype, "int8"))
        AS(int8_t);
    if (stet_view_is(c->dtype, "int16"))
        AS(int16_t);
    if (stet_view_is(c->dtype, "uint16"))
        AS(uint16_t);
    if (stet_view_is(c->dtype, "int32"))
        AS(int32_t);
    if (stet_view_is(c->dtype, "uint32"))
        AS(uint32_t);
    if (stet_view_is(c->dtype, "int64"))
        AS(int64_t);
    if (stet_view_is(c->dtype, "uint64"))
        AS(uint64_t);
    if (stet_view_is(c->dtype, "float32"))
        AS(float);
    if (stet_view_is(c->dtype, "float64"))
        AS(double);
    if (c->value.len != sizeof bits ||
        (!stet_view_is(c->dtype, "float16") && !stet_view_is(c->dtype, "bfloat16")))
        return false;
    memcpy(&bits, c->value.ptr, sizeof bits);
    *out = wide(bits, stet_view_is(c->dtype, "bfloat16"));
    return true;
}
