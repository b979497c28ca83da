/* Reference: elements, and operations on them. */
#include <math.h>

#include "backend/ref/ref.h"

/* A format of small floats; kind is STET_SMALL_*. */
struct format {
    int exponent, fraction, bias, kind;
};

static struct format format_of(enum stet_dtype t)
{
    switch (t) {
    case STET_DT_BF16:
        return (struct format){8, 7, 127, STET_SMALL_IEEE};
    case STET_DT_F16:
        return (struct format){5, 10, 15, STET_SMALL_IEEE};
#define SMALL(name, e, f, b, k)                                                                    \
    case STET_DT_##name:                                                                           \
        return (struct format){e, f, b, STET_SMALL_##k};
        STET_SMALL_FLOATS(SMALL)
#undef SMALL
    default:
        return (struct format){0, 0, 0, 0};
    }
}

/* The code after that of the largest number, without the sign. */
static uint32_t end_of(struct format s)
{
    uint32_t codes = 1u << (s.exponent + s.fraction);

    return s.kind == STET_SMALL_IEEE ? codes - (1u << s.fraction)
           : s.kind == STET_SMALL_FN ? codes - 1
                                     : codes;
}

/* As if all codes were numbers. */
static double number_of(uint32_t code, struct format s)
{
    uint32_t e = code >> s.fraction, f = code & ((1u << s.fraction) - 1);

    return e == 0 ? ldexp(f, 1 - s.bias - s.fraction)
                  : ldexp(f + (1u << s.fraction), (int)e - s.bias - s.fraction);
}

static double value_of(uint32_t bits, struct format s)
{
    uint32_t sign = 1u << (s.exponent + s.fraction), code = bits & (sign - 1);
    double v = code < end_of(s)                                 ? number_of(code, s)
               : s.kind == STET_SMALL_IEEE && code == end_of(s) ? INFINITY
                                                                : NAN;

    if (s.kind == STET_SMALL_FNUZ && bits == sign)
        return NAN;
    return bits & sign ? -v : v;
}

/* The bits of the nearest such number, ties to even, found by bisection. */
static uint32_t nearest(double x, struct format s)
{
    uint32_t half = 1u << (s.exponent + s.fraction), sign = signbit(x) ? half : 0, end = end_of(s);
    uint32_t none = s.kind == STET_SMALL_IEEE ? sign | end | 1u << (s.fraction - 1)
                    : s.kind == STET_SMALL_FN ? sign | end
                                              : half; /* a float of 4 bits has no better answer */
    uint32_t low = 0, high = end;
    double a = fabs(x), below, above;

    if (x != x)
        return none;
    while (high - low > 1) {
        uint32_t mid = (low + high) / 2;

        *(number_of(mid, s) <= a ? &low : &high) = mid;
    }
    below = number_of(low, s), above = number_of(high, s);
    if (isinf(a) || a - below > above - a || (a - below == above - a && low & 1))
        low = high;
    if (low == end && s.kind == STET_SMALL_SAT)
        low = end - 1;
    else if (low == end && s.kind != STET_SMALL_IEEE)
        return none;
    if (low == 0 && s.kind == STET_SMALL_FNUZ)
        return 0;
    return sign | low;
}

/* f8e8m0fnu: powers of two, halves upwards. */
static uint32_t nearest_power(double x)
{
    int e;

    if (!(x > 0) || isinf(x))
        return 255;
    e = ilogb(x);
    if (x >= 1.5 * ldexp(1, e))
        e++;
    return e > 127 ? 255 : e < -127 ? 0 : (uint32_t)(e + 127);
}

/* As an integer type would hold it. */
static int64_t wrapped(enum stet_dtype t, uint64_t v)
{
    int unused = 64 - stet_dtype_bits(t);

    return stet_dtype_is_signed(t) ? (int64_t)(v << unused) >> unused
                                   : (int64_t)(v << unused >> unused);
}

struct stet_ref_scalar stet_ref_get(const struct stet_ref *t, uint64_t i)
{
    size_t bytes = stet_dtype_bytes(t->shape.dtype);
    struct stet_ref_scalar v = {0, 0, 0};
    uint64_t raw = 0;
    float f, pair[2];

    if (t->shape.dtype == STET_DT_C128) {
        memcpy(&v.f, (const char *)t->data + i * bytes, 8);
        memcpy(&v.im, (const char *)t->data + i * bytes + 8, 8);
        return v;
    }
    memcpy(&raw, (const char *)t->data + i * bytes, bytes); /* little-endian */
    switch (t->shape.dtype) {
    case STET_DT_F8E8M0FNU:
        v.f = raw == 255 ? NAN : ldexp(1, (int)raw - 127);
        break;
    case STET_DT_F32:
        memcpy(&f, &raw, 4);
        v.f = (double)f;
        break;
    case STET_DT_F64:
        memcpy(&v.f, &raw, 8);
        break;
    case STET_DT_C64:
        memcpy(pair, &raw, 8);
        v.f = (double)pair[0], v.im = (double)pair[1];
        break;
    default:
        if (stet_dtype_is_float(t->shape.dtype))
            v.f = value_of((uint32_t)raw, format_of(t->shape.dtype));
        else if (stet_dtype_is_small_int(t->shape.dtype) && raw >> stet_dtype_bits(t->shape.dtype))
            v.i = (int64_t)raw; /* bits that should be zero are visible */
        else
            v.i = wrapped(t->shape.dtype, raw);
        break;
    }
    return v;
}

void stet_ref_set(struct stet_ref *t, uint64_t i, struct stet_ref_scalar v)
{
    size_t bytes = stet_dtype_bytes(t->shape.dtype);
    uint64_t raw = (uint64_t)v.i;
    float f = (float)v.f, pair[2] = {(float)v.f, (float)v.im};

    switch (t->shape.dtype) {
    case STET_DT_F8E8M0FNU:
        raw = nearest_power(v.f);
        break;
    case STET_DT_F32:
        memcpy(&raw, &f, 4);
        break;
    case STET_DT_F64:
        memcpy(&raw, &v.f, 8);
        break;
    case STET_DT_C64:
        memcpy(&raw, pair, 8);
        break;
    case STET_DT_C128:
        memcpy((char *)t->data + i * bytes, &v.f, 8);
        memcpy((char *)t->data + i * bytes + 8, &v.im, 8);
        return;
    default:
        if (stet_dtype_is_float(t->shape.dtype))
            raw = nearest(v.f, format_of(t->shape.dtype));
        else if (stet_dtype_is_small_int(t->shape.dtype))
            raw &= (1u << stet_dtype_bits(t->shape.dtype)) - 1;
        break;
    }
    memcpy((char *)t->data + i * bytes, &raw, bytes);
}

static bool int_less(enum stet_dtype t, int64_t x, int64_t y)
{
    return stet_dtype_is_signed(t) ? x < y : (uint64_t)x < (uint64_t)y;
}

/* Multiplied out; a negative power of anything but 1 and -1 is 0. */
static int64_t int_power(enum stet_dtype t, int64_t x, int64_t y)
{
    uint64_t result = 1, base = (uint64_t)x, e = (uint64_t)y;

    if (stet_dtype_is_signed(t) && y < 0)
        return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
    for (int bit = 63; bit >= 0; bit--) {
        result *= result;
        if (e >> bit & 1)
            result *= base;
    }
    return wrapped(t, result);
}

/* Division by zero gives all ones, and the smallest number divided by -1 itself. */
static int64_t int_divide(enum stet_dtype t, int64_t x, int64_t y)
{
    if (y == 0)
        return wrapped(t, ~0ull);
    if (!stet_dtype_is_signed(t))
        return (int64_t)((uint64_t)x / (uint64_t)y);
    return y == -1 ? wrapped(t, 0 - (uint64_t)x) : x / y;
}

static int64_t int_remainder(enum stet_dtype t, int64_t x, int64_t y)
{
    if (y == 0)
        return x;
    if (!stet_dtype_is_signed(t))
        return (int64_t)((uint64_t)x % (uint64_t)y);
    return y == -1 ? 0 : x % y;
}

static int64_t int_op(int op, enum stet_dtype t, int64_t x, int64_t y)
{
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    uint64_t mask = stet_dtype_bits(t) == 64 ? ~0ull : (1ull << stet_dtype_bits(t)) - 1,
             shift = b & mask;
    bool sign = stet_dtype_is_signed(t), far = shift >= (uint64_t)stet_dtype_bits(t);
    int unused = 64 - stet_dtype_bits(t);

    switch (op) {
    case STET_TILE_ADD:
        return t == STET_DT_PRED ? x | y : wrapped(t, a + b);
    case STET_TILE_SUB:
        return wrapped(t, a - b);
    case STET_TILE_MUL:
        return wrapped(t, a * b);
    case STET_TILE_DIV:
        return int_divide(t, x, y);
    case STET_TILE_REM:
        return int_remainder(t, x, y);
    case STET_TILE_FLOOR_DIV:
        return x / y - (x % y < 0);
    case STET_TILE_FLOOR_REM:
        return x % y + (x % y < 0 ? y : 0);
    case STET_TILE_MAX:
        return int_less(t, x, y) ? y : x;
    case STET_TILE_MIN:
        return int_less(t, x, y) ? x : y;
    case STET_TILE_AND:
        return x & y;
    case STET_TILE_OR:
        return x | y;
    case STET_TILE_XOR:
        return x ^ y;
    case STET_TILE_SHL:
        return far ? 0 : wrapped(t, a << shift);
    case STET_TILE_SHR_LOGIC:
        return far ? 0 : wrapped(t, (a & mask) >> shift);
    case STET_TILE_ROTATE:
        return wrapped(t, a << (b & 31) | (a & mask) >> (-b & 31));
    case STET_TILE_SHR_ARITH:
        return wrapped(t,
                       (uint64_t)(((int64_t)(a << unused) >> unused) >> (far ? 63 : (int)shift)));
    case STET_TILE_NEG:
        return wrapped(t, 0 - a);
    case STET_TILE_NOT:
        return t == STET_DT_PRED ? !x : wrapped(t, ~a);
    case STET_TILE_ABS:
        return sign && x < 0 ? wrapped(t, 0 - a) : x;
    case STET_TILE_SIGN:
        return sign && x < 0 ? -1 : x != 0;
    case STET_TILE_POPCNT:
        return __builtin_popcountll(a & mask);
    case STET_TILE_CLZ:
        return (a & mask) ? __builtin_clzll(a & mask) - unused : stet_dtype_bits(t);
    case STET_TILE_POW:
        return int_power(t, x, y);
    default:
        return 0;
    }
}

static double float_op(int op, double x, double y)
{
    switch (op) {
#define F1(NAME, F)                                                                                \
    case STET_TILE_##NAME:                                                                         \
        return F(x);
        F1(ABS, fabs)
        F1(FLOOR, floor)
        F1(CEIL, ceil)
        F1(ROUND_AFZ, round)
        F1(ROUND_EVEN, nearbyint)
        F1(SQRT, sqrt)
        F1(RSQRT, 1 / sqrt)
        F1(CBRT, cbrt)
        F1(EXP, exp)
        F1(EXPM1, expm1)
        F1(LOG, log)
        F1(LOG1P, log1p)
        F1(SIN, sin)
        F1(COS, cos)
        F1(TAN, tan)
        F1(TANH, tanh)
        F1(ERF, erf)
        F1(ERFC, erfc)
        F1(ASIN, asin)
        F1(ACOS, acos)
        F1(ATAN, atan)
        F1(SINH, sinh)
        F1(COSH, cosh)
        F1(ASINH, asinh)
        F1(ACOSH, acosh)
        F1(ATANH, atanh)
        F1(LGAMMA, lgamma)
        F1(NEG, -)
#undef F1
    case STET_TILE_ADD:
        return x + y;
    case STET_TILE_SUB:
        return x - y;
    case STET_TILE_MUL:
        return x * y;
    case STET_TILE_DIV:
        return x / y;
    case STET_TILE_REM:
        return fmod(x, y);
    case STET_TILE_POW:
        return pow(x, y);
    case STET_TILE_ATAN2:
        return atan2(x, y);
    case STET_TILE_MAX:
        return x != x || y != y ? NAN : x > y ? x : y;
    case STET_TILE_MIN:
        return x != x || y != y ? NAN : x < y ? x : y;
    case STET_TILE_SIGN:
        return x > 0 ? 1 : x < 0 ? -1 : x;
    case STET_TILE_LOGISTIC:
        return 1 / (1 + exp(-x));
    default:
        return stet_ref_special(op, x);
    }
}

static bool compare(int op, bool less, bool equal, bool ordered)
{
    switch (op) {
    case STET_TILE_EQ:
        return equal;
    case STET_TILE_NE:
        return !equal;
    case STET_TILE_LT:
        return less;
    case STET_TILE_LE:
        return less || equal;
    case STET_TILE_GT:
        return ordered && !less && !equal;
    default:
        return ordered && !less;
    }
}

/* The next number of the type from x towards y, by walking the type's own numbers in order. */
static struct stet_ref_scalar next_after(enum stet_dtype t, double x, double y)
{
    struct stet_ref_scalar v = {0, x + y, 0};
    struct stet_ref one = {.data = &(uint64_t){0}};
    uint64_t bits = 0;

    if (x != x || y != y)
        return v;
    v.f = y;
    if (x == y)
        return v;
    stet_shape_set(&one.shape, t, NULL, 0);
    v.f = fabs(x);
    stet_ref_set(&one, 0, v);
    memcpy(&bits, one.data, one.shape.bytes);
    bits = x == 0 ? 1 : (x < y) == (x > 0) ? bits + 1 : bits - 1;
    memcpy(one.data, &bits, one.shape.bytes);
    v = stet_ref_get(&one, 0);
    v.f = x < 0 || (x == 0 && y < 0) ? -v.f : v.f;
    return v;
}

struct stet_ref_scalar stet_ref_op(int op, enum stet_dtype t, const struct stet_ref_scalar *x)
{
    struct stet_ref_scalar v = {0, 0, 0};
    bool f = stet_dtype_is_float(t);

    if (op == STET_TILE_SELECT)
        return x[0].i ? x[1] : x[2];
    if (op == STET_TILE_COPY)
        return x[0];
    if (op == STET_TILE_ROTATE_XOR) {
        struct stet_ref_scalar both[2] = {stet_ref_op(STET_TILE_ROTATE, t, x), x[2]};

        return stet_ref_op(STET_TILE_XOR, t, both);
    }
    if (op == STET_TILE_LESS_PRODUCT) {
        struct stet_ref_scalar both[2] = {x[2], stet_ref_op(STET_TILE_MUL, t, x)};

        return stet_ref_op(STET_TILE_SUB, t, both);
    }
    if (op == STET_TILE_CLAMP) { /* lower bound, value, upper bound */
        struct stet_ref_scalar low[2] = {x[1], x[0]}, both[2] = {{0, 0, 0}, x[2]};

        if (f && (x[0].f != x[0].f || x[1].f != x[1].f || x[2].f != x[2].f))
            return (struct stet_ref_scalar){0, NAN, 0};
        both[0] = stet_ref_op(STET_TILE_MAX, t, low);
        return stet_ref_op(STET_TILE_MIN, t, both);
    }
    if (op == STET_TILE_NEXTAFTER)
        return next_after(t, x[0].f, x[1].f);
    if (stet_dtype_is_complex(t))
        return stet_ref_complex_op(op, x);
    if (op >= STET_TILE_EQ && op <= STET_TILE_GE)
        v.i =
            f ? compare(op, x[0].f < x[1].f, x[0].f == x[1].f, x[0].f == x[0].f && x[1].f == x[1].f)
              : compare(op, int_less(t, x[0].i, x[1].i), x[0].i == x[1].i, true);
    else if (op == STET_TILE_IS_FINITE)
        v.i = isfinite(x[0].f);
    else if (op == STET_TILE_COMPLEX)
        v.f = x[0].f, v.im = x[1].f;
    else if (f)
        v.f = float_op(op, x[0].f, x[1].f);
    else
        v.i = int_op(op, t, x[0].i, x[1].i);
    return v;
}

void stet_ref_elementwise(struct stet_ref *out, int op, const struct stet_ref *const *in,
                          uint32_t count)
{
    enum stet_dtype t = in[op == STET_TILE_SELECT ? 1 : 0]->shape.dtype;

    for (uint64_t i = 0; i < out->shape.elements; i++) {
        struct stet_ref_scalar x[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};

        for (uint32_t j = 0; j < count; j++)
            x[j] = stet_ref_get(in[j], i);
        stet_ref_set(out, i, stet_ref_op(op, t, x));
    }
}

static int64_t saturated(enum stet_dtype t, double x)
{
    int bits = stet_dtype_bits(t) - (stet_dtype_is_signed(t) ? 1 : 0);
    double top = ldexp(1, bits);

    if (x != x)
        return 0;
    if (x >= top)
        return bits == 64 ? -1 : (int64_t)((1ull << bits) - 1);
    if (x <= (stet_dtype_is_signed(t) ? -top : 0))
        return stet_dtype_is_signed(t) ? -(int64_t)((1ull << bits) - 1) - 1 : 0;
    return x >= 0x1p63 ? (int64_t)(uint64_t)x : (int64_t)x;
}

void stet_ref_convert(struct stet_ref *out, const struct stet_ref *a)
{
    enum stet_dtype from = a->shape.dtype, to = out->shape.dtype;
    bool was = stet_dtype_is_float(from) || stet_dtype_is_complex(from);
    bool is = stet_dtype_is_float(to) || stet_dtype_is_complex(to);

    for (uint64_t i = 0; i < out->shape.elements; i++) {
        struct stet_ref_scalar v = stet_ref_get(a, i);

        if (to == STET_DT_PRED)
            v.i = was ? v.f != 0 : v.i != 0; /* of the real part */
        else if (!was && is)
            v.f = from == STET_DT_U64 ? (double)(uint64_t)v.i : (double)v.i;
        else if (was && !is)
            v.i = saturated(to, v.f);
        stet_ref_set(out, i, v);
    }
}

void stet_ref_reduce_precision(struct stet_ref *out, const struct stet_ref *a, int exponent,
                               int fraction)
{
    struct format s = {exponent, fraction, (1 << (exponent - 1)) - 1, STET_SMALL_IEEE};

    for (uint64_t i = 0; i < out->shape.elements; i++) {
        struct stet_ref_scalar v = stet_ref_get(a, i);

        v.f = value_of(nearest(v.f, s), s);
        stet_ref_set(out, i, v);
    }
}
