/* lgamma, digamma, the inverse of erf, the scaled Bessel function I1. Twin: ref/ref_special.c. */
#include "backend/kernels/special.h"

#include <math.h>

double stet_backend_lgamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

double stet_backend_digamma(double x)
{
    double shift = 0, z;

    if (x <= 0 && floor(x) == x)
        return NAN;
    if (x < 0)
        return stet_backend_digamma(1 - x) - M_PI / tan(M_PI * x);
    while (x < 10) {
        shift -= 1 / x;
        x++;
    }
    z = 1 / (x * x);
    /* the asymptotic series, Bernoulli numbers over 2k */
    return shift + log(x) - 0.5 / x -
           z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132)))));
}

/* Newton's method on erfc of the nearer tail, from Giles's single-precision start. */
double stet_backend_erf_inv(double x)
{
    double w, y, a = fabs(x);

    if (!(a < 1))
        return a == 1 ? x * INFINITY : NAN;
    w = -log1p(-x * x);
    if (w < 5) {
        w -= 2.5;
        y = 1.50140941 + w * (0.246640727 + w * (-0.00417768164 + w * -0.00125372503));
    } else {
        w = sqrt(w) - 3;
        y = 2.83297682 + w * (1.00167406 + w * (0.00943887047 + w * -0.0076224613));
    }
    y *= a;
    for (int i = 0; i < 4; i++) {
        double slope = M_2_SQRTPI * exp(-y * y);
        double miss = a < 0.5 ? erf(y) - a : (1 - a) - erfc(y);

        if (slope == 0)
            break;
        y -= miss / slope / (1 + y * miss / slope);
    }
    return copysign(y, x);
}

/* (1/pi) * integral of e^(x(cos t - 1)) cos t over a half circle; the trapezoid rule on a periodic
 * function converges faster than any power. */
double stet_backend_bessel_i1e(double x)
{
    double a = fabs(x), sum = 0;
    int n = a > 1e6 ? 0 : 32 + (int)(8 * sqrt(a));

    if (x != x)
        return x;
    if (n == 0)
        return copysign((1 - 0.375 / a) / sqrt(2 * M_PI * a), x);
    for (int i = 0; i <= n; i++) {
        double t = M_PI * i / n, f = exp(a * (cos(t) - 1)) * cos(t);

        sum += i == 0 || i == n ? f / 2 : f;
    }
    return copysign(sum / n, x);
}
