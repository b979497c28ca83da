/* Products of float matrices: blocks packed for the caches, and a kernel that keeps as many sums as
 * there are registers. Twin: ref/dot.c. */
#include "backend/gemm.h"

#include "backend/kernels/isa.h"
#include "backend/kernels/vectors.h"

#if defined(__AVX512F__)
enum { MR = 14 };
#define ALL_ROWS(M) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14)
#elif defined(__AVX2__)
enum { MR = 6 };
#define ALL_ROWS(M) M(1) M(2) M(3) M(4) M(5) M(6)
#elif defined(__aarch64__) /* NEON: narrow vectors, but 32 registers */
enum { MR = 12 };
#define ALL_ROWS(M) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12)
#else
enum { MR = 4 };
#define ALL_ROWS(M) M(1) M(2) M(3) M(4)
#endif
/* The same on every machine. KC of k are packed at a time. A sum of more than KS products is made
 * of parts: rounding grows with the number of additions in a row. */
enum { KS = 48, KC = 5 * KS };

/* Four lines of four into four columns. */
static inline void turn_four_f32(float *d, int64_t wide, const float *p, const float *q,
                                 const float *r, const float *t)
{
    stet_turn_four(d, wide, p, q, r, t);
}

static inline void turn_four_f64(double *d, int64_t wide, const double *p, const double *q,
                                 const double *r, const double *t)
{
    for (int j = 0; j < 4; j++) {
        double *e = d + j * wide;

        e[0] = p[j], e[1] = q[j], e[2] = r[j], e[3] = t[j];
    }
}

#define T  float
#define S  f32
#define NV (VECTOR_BYTES / 4)
#include "backend/kernels/gemm_rows.h"

#define T  double
#define S  f64
#define NV (VECTOR_BYTES / 8)
#include "backend/kernels/gemm_rows.h"

const stet_gemm_fn ISA(stet_gemms)[STET_DT_COUNT] = {
    [STET_DT_F32] = gemm_f32,
    [STET_DT_F64] = gemm_f64,
};
const stet_gemm_fn ISA(stet_gemm_lines)[STET_DT_COUNT] = {
    [STET_DT_F32] = lines_f32,
    [STET_DT_F64] = lines_f64,
};
