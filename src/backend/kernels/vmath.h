/* Branch-free f32 functions that compilers turn into vector code; a few units in the last place.
 * Polynomials after Cephes (exp, log, erfc), Giles (erf_inv), XLA (tanh) and an own fit (erf).
 *
 * a * b + c is rounded once where the machine can, which is everywhere but in the base set of
 * x86-64. It is written out as v_madd, so that all such machines compute the same bits. */
#ifndef STET_BACKEND_KERNELS_VMATH_H
#define STET_BACKEND_KERNELS_VMATH_H

#include <math.h>
#include <stdint.h>

static inline float v_float(uint32_t bits)
{
    union {
        uint32_t u;
        float f;
    } c = {.u = bits};

    return c.f;
}

static inline uint32_t v_bits(float f)
{
    union {
        float f;
        uint32_t u;
    } c = {.f = f};

    return c.u;
}

static inline float v_madd(float a, float b, float c)
{
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

static inline double v_madd64(double a, double b, double c)
{
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

#define V_INF   v_float(0x7f800000)
#define V_NAN   v_float(0x7fc00000)
/* Adding and subtracting this rounds to an integer, whose bits are then the low ones of the sum. */
#define V_ROUND 12582912.0f

/* e^r = 1 + r + r*r*q(r) for |r| <= ln 2 / 2; Cephes' q, which is XLA's too */
static inline float v_exp_tail(float r)
{
    float q = 1.9875691500e-4f;

    q = v_madd(q, r, 1.3981999507e-3f);
    q = v_madd(q, r, 8.3334519073e-3f);
    q = v_madd(q, r, 4.1665795894e-2f);
    q = v_madd(q, r, 1.6666665459e-1f);
    q = v_madd(q, r, 5.0000001201e-1f);
    return v_madd(q, r * r, r);
}

static inline float v_pow2(int32_t n)
{
    return v_float((uint32_t)(n + 127) << 23);
}

static inline float v_exp(float x)
{
    float c = x > 89.0f ? 89.0f : x;
    float t, n, r;
    int32_t i, h;

    c = c < -104.0f ? -104.0f : c;
    t = v_madd(c, 1.44269504f, V_ROUND);
    n = t - V_ROUND;
    i = (int32_t)(v_bits(t) - v_bits(V_ROUND)); /* anything for NaN, which r keeps */
    h = i >> 1;
    r = v_madd(n, -0.693359375f, c);
    r = v_madd(n, 2.12194440e-4f, r);
    /* two factors: the result may be subnormal, or 2^128 times something below 1 */
    return (1.0f + v_exp_tail(r)) * v_pow2(h) * v_pow2(i - h);
}

static inline float v_expm1(float x)
{
    float c = x > 89.0f ? 89.0f : x;
    float t, n, r, s;
    int32_t i;

    c = c < -30.0f ? -30.0f : c;
    t = v_madd(c, 1.44269504f, V_ROUND);
    n = t - V_ROUND;
    i = (int32_t)(v_bits(t) - v_bits(V_ROUND));
    r = v_madd(n, -0.693359375f, c);
    r = v_madd(n, 2.12194440e-4f, r);
    s = v_pow2(i - 1);
    s = v_madd(s, v_exp_tail(r), s - 0.5f) * 2.0f;
    return x == 0.0f ? x : s;
}

static inline float v_log(float x)
{
    float scaled = x < 1.17549435e-38f ? x * 8388608.0f : x;
    float adjust = x < 1.17549435e-38f ? -23.0f : 0.0f;
    uint32_t bits = v_bits(scaled);
    /* mantissa in [sqrt(1/2), sqrt(2)) */
    uint32_t shifted = bits - 0x3f3504f3u;
    float e = (float)((int32_t)shifted >> 23) + adjust;
    float m = v_float((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    /* in three parts and in this order, because XLA's bits depend on it */
    float z = m * m, cube = z * m, y = 7.0376836292e-2f, p = -1.2420140846e-1f,
          q = 2.0000714765e-1f;

    y = v_madd(v_madd(y, m, -1.1514610310e-1f), m, 1.1676998740e-1f);
    p = v_madd(v_madd(p, m, 1.4249322787e-1f), m, -1.6668057665e-1f);
    q = v_madd(v_madd(q, m, -2.4999993993e-1f), m, 3.3333331174e-1f);
    y = v_madd(v_madd(y, cube, p), cube, q);
    y = v_madd(y, cube, e * -2.12194440e-4f);
    y = v_madd(z, -0.5f, m) + y;
    y = v_madd(e, 0.693359375f, y);
    y = x == 0.0f ? -V_INF : y;
    y = x < 0.0f ? V_NAN : y;
    return x == V_INF || x != x ? x : y;
}

static inline float v_log1p(float x)
{
    float u = 1.0f + x;
    float y = v_log(u) - ((u - 1.0f) - x) / u;

    y = u == 1.0f ? x : y;
    return x == V_INF ? x : x == -1.0f ? -V_INF : y;
}

static inline float v_logistic(float x)
{
    return 1.0f / (1.0f + v_exp(-x));
}

/* XLA's own fraction, so that both compute the same bits where the machine fuses. It ends where it
 * reaches 1, which depends on rounding. */
static inline float v_tanh(float x)
{
#if defined(__FMA__) || defined(__aarch64__)
    const float end = 7.99881172f;
#else
    const float end = 7.90531111f;
#endif
    float c = x > end ? end : x, z, p, q;

    c = c < -end ? -end : c;
    z = c * c;
    p = -2.76076847742355e-16f;
    p = v_madd(p, z, 2.00018790482477e-13f);
    p = v_madd(p, z, -8.60467152213735e-11f);
    p = v_madd(p, z, 5.12229709037114e-08f);
    p = v_madd(p, z, 1.48572235717979e-05f);
    p = v_madd(p, z, 6.37261928875436e-04f);
    p = v_madd(p, z, 4.89352455891786e-03f);
    q = 1.19825839466702e-06f;
    q = v_madd(q, z, 1.18534705686654e-04f);
    q = v_madd(q, z, 2.26843463243900e-03f);
    q = v_madd(q, z, 4.89352518554385e-03f);
    return fabsf(x) < 0.0004f ? x : c * p / q;
}

static inline float v_erf(float x)
{
    float c = x > 3.925f ? 3.925f : x, z, p, q, y;

    c = c < -3.925f ? -3.925f : c;
    z = c * c;
    p = -1.28289548e-08f;
    p = v_madd(p, z, 4.61465152e-06f);
    p = v_madd(p, z, 0.000376963639f);
    p = v_madd(p, z, 0.00383947161f);
    p = v_madd(p, z, 0.0542494059f);
    p = v_madd(p, z, 0.185141817f);
    p = v_madd(p, z, 1.12837923f);
    q = 6.24500608e-05f;
    q = v_madd(q, z, 0.00130197045f);
    q = v_madd(q, z, 0.0154324723f);
    q = v_madd(q, z, 0.113880493f);
    q = v_madd(q, z, 0.497411072f);
    q = v_madd(q, z, 1.0f);
    y = c * (p / q);
    y = y > 1.0f ? 1.0f : y;
    return y < -1.0f ? -1.0f : y;
}

/* Beyond 1: e^(-x*x) / x times a polynomial of 1 / x^2, another one from 2 on. What x*x loses by
 * rounding is given back to the exponential. */
static inline float v_erfc(float x)
{
    float size = fabsf(x), far = size < 1.0f ? 1.0f : size, z = far * far;
    float lost = z < 128.0f ? v_madd(far, far, -z) : 0.0f, e = v_exp(-z);
    float q = 1.0f / far, y = q * q, a = 2.326819970068386e-2f, b = -1.047766399936249e+1f, r;

    a = v_madd(a, y, -1.387039388740657e-1f);
    a = v_madd(a, y, 3.687424674597105e-1f);
    a = v_madd(a, y, -5.824733027278666e-1f);
    a = v_madd(a, y, 6.210004621745983e-1f);
    a = v_madd(a, y, -4.944515323274145e-1f);
    a = v_madd(a, y, 3.404879937665872e-1f);
    a = v_madd(a, y, -2.741127028184656e-1f);
    a = v_madd(a, y, 5.638259427386472e-1f);
    b = v_madd(b, y, 1.297719955372516e+1f);
    b = v_madd(b, y, -7.495518717768503e+0f);
    b = v_madd(b, y, 2.921019019210786e+0f);
    b = v_madd(b, y, -1.015265279202700e+0f);
    b = v_madd(b, y, 4.218463358204948e-1f);
    b = v_madd(b, y, -2.820767439740514e-1f);
    b = v_madd(b, y, 5.641895067754075e-1f);
    r = v_madd(e, -lost, e) * (q * (far < 2.0f ? a : b));
    r = x < 0.0f ? 2.0f - r : r;
    r = size < 1.0f ? 1.0f - v_erf(x) : r;
    return x != x ? x : r;
}

static inline float v_erf_inv(float x)
{
    float w = -v_log1p(-(x * x)), s = w < 5.0f ? w - 2.5f : sqrtf(w) - 3.0f;
    float a = 2.81022636e-08f, b = -0.000200214257f, p;

    a = v_madd(a, s, 3.43273939e-07f);
    a = v_madd(a, s, -3.5233877e-06f);
    a = v_madd(a, s, -4.39150654e-06f);
    a = v_madd(a, s, 0.00021858087f);
    a = v_madd(a, s, -0.00125372503f);
    a = v_madd(a, s, -0.00417768164f);
    a = v_madd(a, s, 0.246640727f);
    a = v_madd(a, s, 1.50140941f);
    b = v_madd(b, s, 0.000100950558f);
    b = v_madd(b, s, 0.00134934322f);
    b = v_madd(b, s, -0.00367342844f);
    b = v_madd(b, s, 0.00573950773f);
    b = v_madd(b, s, -0.0076224613f);
    b = v_madd(b, s, 0.00943887047f);
    b = v_madd(b, s, 1.00167406f);
    b = v_madd(b, s, 2.83297682f);
    p = (w < 5.0f ? a : b) * x;
    return fabsf(x) == 1.0f ? x * V_INF : p;
}

/* Sine of x + quarter * pi/2, reduced in double: exact enough below 1e5, where callers stop. */
static inline float v_sin_from(float x, int32_t quarter)
{
    double t = (double)x * 0.63661977236758134308 + 6755399441055744.0;
    double n = t - 6755399441055744.0;
    double r = (double)x - n * 1.57079632679489661923, z = r * r, s, c, y;
    union {
        double d;
        uint64_t u;
    } bits = {.d = t};
    int32_t q = (int32_t)(uint32_t)bits.u + quarter;

    s = 2.75573192239858925110e-6 - z * 2.50521083854417187751e-8;
    s = v_madd64(s, z, -1.98412698412698412526e-4);
    s = v_madd64(s, z, 8.33333333333333321769e-3);
    s = v_madd64(s, z, -1.66666666666666657415e-1);
    s = s * z * r + r;
    c = 2.48015873015873015658e-5 - z * (2.75573192239858906526e-7 - z * 2.08767569878680989792e-9);
    c = v_madd64(c, z, -1.38888888888888894189e-3);
    c = v_madd64(c, z, 4.16666666666666643537e-2);
    c = v_madd64(c, z, -0.5);
    c = v_madd64(c, z, 1.0);
    y = (q & 1) ? c : s;
    return (float)((q & 2) ? -y : y);
}

#endif
