/* Fourier transforms: how a length is split, with its roots of unity. Planned once (fft_plan.c),
 * run by kernels/fft_isa.c and k_fft.c.
 *
 * Kernels transform several lines at once, one in each lane of a vector. An element of such a block
 * is the real parts of all lanes, then the imaginary parts. Every transform here is forward; a
 * backward one exchanges real and imaginary parts before and after. */
#ifndef STET_BACKEND_FFT_H
#define STET_BACKEND_FFT_H

#include "backend/tensor.h"
#include "base/arena.h"

/* Bytes of the real parts of one element of a block: 16 lanes of f32 or 8 of f64. */
enum { STET_FFT_LANES_BYTES = 64 };
enum { STET_FFT_PASSES = 40, STET_FFT_LARGEST_RADIX = 47 };

/* exp(-2 pi i k / n) in double, as a product of two table entries. */
struct stet_fft_roots {
    int64_t n;
    int shift;
    const double *low, *high; /* pairs */
};

struct stet_fft_pass {
    uint32_t radix;
    int64_t done, rest; /* product of the radices before it, and of those after it */
    const void *roots;  /* for each of `rest`: radix - 1 complex factors */
    const void *turns;  /* the roots of the radix itself, where a general loop runs it */
};

/* A transform of all lanes of a block. */
struct stet_fft_line {
    int64_t n;
    int64_t room; /* elements that a block must have */
    uint32_t pass_count;
    struct stet_fft_pass passes[STET_FFT_PASSES];
    /* A length with a large prime factor is a convolution (Bluestein) of a longer line. */
    const struct stet_fft_line *inner;
    const void *chirp, *spectrum;
};

/* A transform of one long line in memory: n = first * second, lines of each in the lanes. */
struct stet_fft_long {
    int64_t n;
    const struct stet_fft_line *first, *second;
    struct stet_fft_roots roots;
    const struct stet_fft_long *inner;
    const void *chirp, *spectrum;
};

struct stet_fft_kernels {
    /* Transforms block x; y is as large. Returns the one that has the result. */
    void *(*line)(const struct stet_fft_line *f, void *x, void *y);
    /* n elements of `count` lines. `step` counts complex numbers: from one element to the next
     * (columns), from one line to the next (rows). */
    void (*load_columns)(void *x, const void *from, int64_t step, int64_t n, int64_t count,
                         bool back);
    void (*store_columns)(void *to, const void *x, int64_t step, int64_t n, int64_t count,
                          bool back, double scale);
    void (*load_rows)(void *x, const void *from, int64_t step, int64_t n, int64_t count, bool back);
    void (*store_rows)(void *to, const void *x, int64_t step, int64_t n, int64_t count, bool back,
                       double scale);
    /* The same of real numbers; `step` counts those. */
    void (*load_real)(void *x, const void *from, int64_t step, int64_t n, int64_t count);
    void (*store_real)(void *to, const void *x, int64_t step, int64_t n, int64_t count,
                       double scale);
    /* The first n / 2 + 1 elements, loaded backward, become n of a transform of real numbers. */
    void (*mirror)(void *x, int64_t n);
    /* Between the transform of n / 2 pairs and the n / 2 + 1 first elements of one of n real
     * numbers; in place. `roots` are those of n. `before` leaves real and imaginary parts
     * exchanged. */
    void (*after_real)(void *x, const struct stet_fft_roots *roots);
    void (*before_real)(void *x, const struct stet_fft_roots *roots);
    /* n elements of the lines number `lane` and up, of roots->n / n: times root(lane * element). */
    void (*turn)(void *x, const struct stet_fft_roots *roots, int64_t lane, int64_t n);
    /* Blocks as lines: `count` lines, each of `n` elements in `blocks` blocks. */
    void (*gather)(void *x, const void *from, int64_t blocks, int64_t n, int64_t count);
    /* One line in memory: what after_real, before_real and mirror do (the last one forward); to
     * complex numbers, and back to the real parts. */
    void (*after_real_row)(void *x, const struct stet_fft_roots *roots);
    void (*before_real_row)(void *x, const struct stet_fft_roots *roots);
    void (*mirror_row)(void *to, const void *from, int64_t n);
    void (*widen)(void *to, const void *from, int64_t n);
    void (*narrow)(void *to, const void *from, int64_t n);
    /* d = a * b * scale for complex numbers in memory; real and imaginary parts of a are exchanged
     * before, those of d after. */
    void (*multiply)(void *d, const void *a, const void *b, int64_t n, bool exchange_a,
                     bool exchange_d, double scale);
};

/* NULL when out of memory or over a cap. `type` is F32 or F64. */
const struct stet_fft_line *stet_fft_line_new(struct stet_arena *arena, int64_t n,
                                              enum stet_dtype type);
const struct stet_fft_long *stet_fft_long_new(struct stet_arena *arena, int64_t n,
                                              enum stet_dtype type);
bool stet_fft_roots_init(struct stet_fft_roots *r, struct stet_arena *arena, int64_t n);
/* Bytes of memory that k_fft's parts need. */
uint64_t stet_fft_line_bytes(const struct stet_fft_line *f);
uint64_t stet_fft_long_bytes(const struct stet_fft_long *f, enum stet_dtype type);

struct stet_pool;
/* One line of complex numbers; `temp` has stet_fft_long_bytes. `to` may be `from`. */
void stet_fft_long_run(const struct stet_fft_long *f, enum stet_dtype type, void *to,
                       const void *from, bool back, double scale, void *temp,
                       struct stet_pool *pool);

static inline void stet_fft_root(const struct stet_fft_roots *r, int64_t k, double *re, double *im)
{
    const double *a = r->low + 2 * (k & (((int64_t)1 << r->shift) - 1));
    const double *b = r->high + 2 * (k >> r->shift);

    *re = a[0] * b[0] - a[1] * b[1];
    *im = a[0] * b[1] + a[1] * b[0];
}

#endif
