/* Reference: operations on complex numbers, by their definitions in double precision. */
#include <complex.h>
#include <math.h>

#include "backend/ref/ref.h"

static double complex whole(struct stet_ref_scalar x)
{
    return __builtin_complex(x.f, x.im);
}

static struct stet_ref_scalar parts(double complex x)
{
    return (struct stet_ref_scalar){0, creal(x), cimag(x)};
}

struct stet_ref_scalar stet_ref_complex_op(int op, const struct stet_ref_scalar *x)
{
    double complex a = whole(x[0]), b = whole(x[1]);

    switch (op) {
    case STET_TILE_ADD:
        return parts(a + b);
    case STET_TILE_SUB:
        return parts(a - b);
    case STET_TILE_MUL:
        return parts(a * b);
    case STET_TILE_DIV:
        return parts(a / b);
    case STET_TILE_POW:
        return parts(cpow(a, b));
    case STET_TILE_ATAN2:
        return parts(-(double complex)I * clog((b + (double complex)I * a) / csqrt(a * a + b * b)));
    case STET_TILE_MAX:
        return parts(creal(a) < creal(b) || (creal(a) == creal(b) && cimag(a) < cimag(b)) ? b : a);
    case STET_TILE_MIN:
        return parts(creal(a) < creal(b) || (creal(a) == creal(b) && cimag(a) < cimag(b)) ? a : b);
    case STET_TILE_CBRT:
        return parts(a == 0 ? a : cexp(clog(a) / 3));
    case STET_TILE_NEG:
        return parts(-a);
    case STET_TILE_SIGN:
        return parts(a == 0 ? 0 : a / cabs(a));
    case STET_TILE_EXP:
        return parts(cexp(a));
    case STET_TILE_EXPM1:
        return parts(cexp(a) - 1);
    case STET_TILE_LOG:
        return parts(clog(a));
    case STET_TILE_LOG1P:
        return parts(clog(1 + a));
    case STET_TILE_TANH:
        return parts(ctanh(a));
    case STET_TILE_LOGISTIC:
        return parts(1 / (1 + cexp(-a)));
    case STET_TILE_SIN:
        return parts(csin(a));
    case STET_TILE_COS:
        return parts(ccos(a));
    case STET_TILE_SQRT:
        return parts(csqrt(a));
    case STET_TILE_RSQRT:
        return parts(1 / csqrt(a));
    case STET_TILE_TAN:
        return parts(ctan(a));
    case STET_TILE_ASIN:
        return parts(casin(a));
    case STET_TILE_ACOS:
        return parts(cacos(a));
    case STET_TILE_ATAN:
        return parts(catan(a));
    case STET_TILE_SINH:
        return parts(csinh(a));
    case STET_TILE_COSH:
        return parts(ccosh(a));
    case STET_TILE_ASINH:
        return parts(casinh(a));
    case STET_TILE_ACOSH:
        return parts(cacosh(a));
    case STET_TILE_ATANH:
        return parts(catanh(a));
    case STET_TILE_CONJ:
        return parts(conj(a));
    case STET_TILE_COMPLEX: /* of two real numbers */
        return (struct stet_ref_scalar){0, x[0].f, x[1].f};
    case STET_TILE_EQ:
        return (struct stet_ref_scalar){a == b, 0, 0};
    case STET_TILE_NE:
        return (struct stet_ref_scalar){a != b, 0, 0};
    case STET_TILE_ABS:
        return (struct stet_ref_scalar){0, cabs(a), 0};
    case STET_TILE_REAL:
        return (struct stet_ref_scalar){0, x[0].f, 0};
    case STET_TILE_IMAG:
        return (struct stet_ref_scalar){0, x[0].im, 0};
    default:
        return (struct stet_ref_scalar){0, NAN, NAN};
    }
}
