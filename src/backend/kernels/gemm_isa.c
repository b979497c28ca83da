/* Products of matrices: blocks packed for the caches, and a kernel that keeps as many sums as
 * there are registers. Twin: ref/dot.c. */
#include "backend/gemm.h"

#include "backend/kernels/isa.h"
#include "backend/kernels/vectors.h"

#if defined(__AVX512F__)
enum { MR = 14, MD = 8 };
#define ALL_ROWS(M)    M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14)
#define MEMORY_ROWS(M) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8)
#elif defined(__AVX2__)
enum { MR = 6, MD = 6 };
#define ALL_ROWS(M) M(1) M(2) M(3) M(4) M(5) M(6)
#define MEMORY_ROWS ALL_ROWS
#elif defined(__aarch64__) /* NEON: narrow vectors, but 32 registers */
enum { MR = 12, MD = 8 };
#define ALL_ROWS(M)    M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12)
#define MEMORY_ROWS(M) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8)
#else
enum { MR = 4, MD = 4 };
#define ALL_ROWS(M) M(1) M(2) M(3) M(4)
#define MEMORY_ROWS ALL_ROWS
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

#define CHANNELS
#define T  float
#define S  f32
#define NV (VECTOR_BYTES / 4)
#include "backend/kernels/gemm_rows.h"
#undef CHANNELS

#define T  double
#define S  f64
#define NV (VECTOR_BYTES / 8)
#include "backend/kernels/gemm_rows.h"

/* Integers: unsigned, because they wrap. */
static inline void turn_four_u32(uint32_t *d, int64_t wide, const uint32_t *p, const uint32_t *q,
                                 const uint32_t *r, const uint32_t *t)
{
    stet_turn_four((float *)(void *)d, wide, (const float *)(const void *)p,
                   (const float *)(const void *)q, (const float *)(const void *)r,
                   (const float *)(const void *)t);
}

static inline void turn_four_u64(uint64_t *d, int64_t wide, const uint64_t *p, const uint64_t *q,
                                 const uint64_t *r, const uint64_t *t)
{
    for (int j = 0; j < 4; j++) {
        uint64_t *e = d + j * wide;

        e[0] = p[j], e[1] = q[j], e[2] = r[j], e[3] = t[j];
    }
}

#define T  uint32_t
#define S  u32
#define NV (VECTOR_BYTES / 4)
#include "backend/kernels/gemm_rows.h"

#define T  uint64_t
#define S  u64
#define NV (VECTOR_BYTES / 8)
#include "backend/kernels/gemm_rows.h"

const stet_channels_fn ISA(stet_channels) = channels_f32;
const stet_gemm_fn ISA(stet_gemms)[STET_DT_COUNT] = {
    [STET_DT_F32] = gemm_f32, [STET_DT_F64] = gemm_f64, [STET_DT_S32] = gemm_u32,
    [STET_DT_U32] = gemm_u32, [STET_DT_S64] = gemm_u64, [STET_DT_U64] = gemm_u64,
};
const stet_gemm_fn ISA(stet_gemm_lines)[STET_DT_COUNT] = {
    [STET_DT_F32] = lines_f32, [STET_DT_F64] = lines_f64, [STET_DT_S32] = lines_u32,
    [STET_DT_U32] = lines_u32, [STET_DT_S64] = lines_u64, [STET_DT_U64] = lines_u64,
};
