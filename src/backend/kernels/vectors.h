/* Vectors of the instruction set that is compiled for, and exchanges between them. */
#ifndef STET_BACKEND_KERNELS_VECTORS_H
#define STET_BACKEND_KERNELS_VECTORS_H

#include <stdint.h>

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

typedef float stet_four __attribute__((vector_size(16), aligned(4), may_alias));

/* Four lines of four into four columns, `wide` apart. */
static inline void stet_turn_four(float *d, int64_t wide, const float *p, const float *q,
                                  const float *r, const float *t)
{
    stet_four a = *(const stet_four *)p, b = *(const stet_four *)q;
    stet_four c = *(const stet_four *)r, e = *(const stet_four *)t;
    stet_four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    stet_four ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    stet_four ce = __builtin_shufflevector(c, e, 0, 4, 1, 5);
    stet_four ce2 = __builtin_shufflevector(c, e, 2, 6, 3, 7);

    *(stet_four *)d = __builtin_shufflevector(ab, ce, 0, 1, 4, 5);
    *(stet_four *)(d + wide) = __builtin_shufflevector(ab, ce, 2, 3, 6, 7);
    *(stet_four *)(d + 2 * wide) = __builtin_shufflevector(ab2, ce2, 0, 1, 4, 5);
    *(stet_four *)(d + 3 * wide) = __builtin_shufflevector(ab2, ce2, 2, 3, 6, 7);
}

#endif
