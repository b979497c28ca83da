/* Functions that libm lacks, in double. They are not compiled per instruction set. */
#ifndef STET_BACKEND_KERNELS_SPECIAL_H
#define STET_BACKEND_KERNELS_SPECIAL_H

double stet_backend_lgamma(double x); /* thread-safe, unlike lgamma */
double stet_backend_digamma(double x);
double stet_backend_erf_inv(double x);
double stet_backend_bessel_i1e(double x);

#endif
