/* Reference: functions that the C library lacks, each by its own definition: a limit, an inverse, a
 * series. */
#include <math.h>

#include "backend/ref/ref.h"

/* digamma(x) = digamma(x + 1) - 1/x, up to where the logarithm with two corrections is exact
 * enough. */
static double digamma(double x)
{
    double sum = 0;

    if (x <= 0 && floor(x) == x)
        return NAN;
    while (x < 3000) {
        sum -= 1 / x;
        x++;
    }
    return sum + log(x) - 1 / (2 * x) - 1 / (12 * x * x);
}

/* The y whose erf is x, by bisection; of the tail where x is close to 1. */
static double erf_inv(double x)
{
    double low = 0, high = 7, a = fabs(x);

    if (!(a < 1))
        return a == 1 ? x * INFINITY : NAN;
    if (a < 1e-8) /* the first term of the series, exact there */
        return x * sqrt(M_PI) / 2;
    for (int i = 0; i < 200; i++) {
        double mid = (low + high) / 2;

        *((a < 0.5 ? erf(mid) < a : erfc(mid) > 1 - a) ? &low : &high) = mid;
    }
    return copysign(low, x);
}

/* e^-x times the power series of I1, all terms positive; far out the asymptotic series. */
static double bessel_i1e(double x)
{
    double a = fabs(x), sum = 0, term = 1;

    if (x != x)
        return x;
    if (a == 0 || isinf(a))
        return copysign(0, x);
    if (a < 500) {
        for (int k = 0; k < 2000; k++)
            sum += exp((2 * k + 1) * log(a / 2) - lgamma(k + 1) - lgamma(k + 2) - a);
        return copysign(sum, x);
    }
    for (int k = 1; k < 8; k++) {
        sum += term;
        term *= -(4 - pow(2 * k - 1, 2)) / (k * 8 * a);
    }
    return copysign(sum / sqrt(2 * M_PI * a), x);
}

double stet_ref_special(int op, double x)
{
    return op == STET_TILE_DIGAMMA   ? digamma(x)
           : op == STET_TILE_ERF_INV ? erf_inv(x)
                                     : bessel_i1e(x);
}
