/* Fourier transforms of several lines at once. Twin: ref/linalg.c. */
#include "backend/fft.h"

#include "backend/kernels/isa.h"
#include "backend/kernels/vectors.h"

/* Four lines of four, `step` apart, into four columns, `wide` apart. */
static inline void turn_four_f32(float *d, int64_t wide, const float *s, int64_t step)
{
    stet_turn_four(d, wide, s, s + step, s + 2 * step, s + 3 * step);
}

static inline void turn_four_f64(double *d, int64_t wide, const double *s, int64_t step)
{
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            d[j * wide + i] = s[i * step + j];
}

/* Four lines of four complex numbers into columns of real and of imaginary parts, and back. */
static inline void turn_in_f32(float *re, float *im, int64_t wide, const float *s, int64_t step)
{
    stet_four r[4], i[4];

    UNROLL for (int l = 0; l < 4; l++)
    {
        stet_four a = *(const stet_four *)(s + l * step),
                  b = *(const stet_four *)(s + l * step + 4);

        r[l] = __builtin_shufflevector(a, b, 0, 2, 4, 6);
        i[l] = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    }
    stet_turn_four(re, wide, (float *)&r[0], (float *)&r[1], (float *)&r[2], (float *)&r[3]);
    stet_turn_four(im, wide, (float *)&i[0], (float *)&i[1], (float *)&i[2], (float *)&i[3]);
}

static inline void turn_out_f32(float *d, int64_t step, const float *re, const float *im,
                                int64_t wide, float scale)
{
    float r[16], i[16];

    turn_four_f32(r, 4, re, wide);
    turn_four_f32(i, 4, im, wide);
    UNROLL for (int l = 0; l < 4; l++)
    {
        stet_four a = *(stet_four *)(r + 4 * l) * scale, b = *(stet_four *)(i + 4 * l) * scale;

        *(stet_four *)(d + l * step) = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        *(stet_four *)(d + l * step + 4) = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    }
}

static inline void turn_in_f64(double *re, double *im, int64_t wide, const double *s, int64_t step)
{
    for (int j = 0; j < 4; j++)
        for (int l = 0; l < 4; l++) {
            re[j * wide + l] = s[l * step + 2 * j];
            im[j * wide + l] = s[l * step + 2 * j + 1];
        }
}

static inline void turn_out_f64(double *d, int64_t step, const double *re, const double *im,
                                int64_t wide, double scale)
{
    for (int l = 0; l < 4; l++)
        for (int j = 0; j < 4; j++) {
            d[l * step + 2 * j] = re[j * wide + l] * scale;
            d[l * step + 2 * j + 1] = im[j * wide + l] * scale;
        }
}

#define T  float
#define S  f32
#define W  (STET_FFT_LANES_BYTES / 4)
#define NV (VECTOR_BYTES / 4)
#include "backend/kernels/fft_rows.h"

#define T  double
#define S  f64
#define W  (STET_FFT_LANES_BYTES / 8)
#define NV (VECTOR_BYTES / 8)
#include "backend/kernels/fft_rows.h"

#define KERNELS(S)                                                                                 \
    {                                                                                              \
        .line = line_##S,                                                                          \
        .load_columns = load_columns_##S,                                                          \
        .store_columns = store_columns_##S,                                                        \
        .load_rows = load_rows_##S,                                                                \
        .store_rows = store_rows_##S,                                                              \
        .load_real = load_real_##S,                                                                \
        .store_real = store_real_##S,                                                              \
        .mirror = mirror_##S,                                                                      \
        .after_real = after_real_##S,                                                              \
        .before_real = before_real_##S,                                                            \
        .turn = turn_##S,                                                                          \
        .gather = gather_##S,                                                                      \
        .after_real_row = after_real_row_##S,                                                      \
        .before_real_row = before_real_row_##S,                                                    \
        .mirror_row = mirror_row_##S,                                                              \
        .widen = widen_##S,                                                                        \
        .narrow = narrow_##S,                                                                      \
        .multiply = multiply_##S,                                                                  \
    }
static const struct stet_fft_kernels kernels_f32 = KERNELS(f32), kernels_f64 = KERNELS(f64);

const struct stet_fft_kernels *const ISA(stet_ffts)[STET_DT_COUNT] = {
    [STET_DT_F32] = &kernels_f32,
    [STET_DT_F64] = &kernels_f64,
};
