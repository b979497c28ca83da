/* The Fourier transforms of one element type, included by fft_isa.c: T, its suffix S, W lanes, and
 * NV elements of a machine vector.
 *
 * Passes are Stockham's: each reads one block and writes the other, and the result is in order. */
#define NAME2(a, b) a##_##b
#define NAME1(a, b) NAME2(a, b)
#define NAME(a)     NAME1(a, S)
#define VEC         NAME(vec)
#define E           (2 * W) /* numbers of an element */

typedef T VEC __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

/* A complex number in each lane of a machine vector. */
struct NAME(pair) {
    VEC re, im;
};
#define PAIR struct NAME(pair)

static inline PAIR NAME(get)(const T *x, int64_t at)
{
    return (PAIR){*(const VEC *)(x + at * E), *(const VEC *)(x + at * E + W)};
}

static inline void NAME(put)(T *x, int64_t at, PAIR v)
{
    *(VEC *)(x + at * E) = v.re;
    *(VEC *)(x + at * E + W) = v.im;
}

static inline PAIR NAME(plus)(PAIR a, PAIR b)
{
    return (PAIR){a.re + b.re, a.im + b.im};
}

static inline PAIR NAME(minus)(PAIR a, PAIR b)
{
    return (PAIR){a.re - b.re, a.im - b.im};
}

/* a - i b */
static inline PAIR NAME(minus_i)(PAIR a, PAIR b)
{
    return (PAIR){a.re + b.im, a.im - b.re};
}

/* a + i b */
static inline PAIR NAME(plus_i)(PAIR a, PAIR b)
{
    return (PAIR){a.re - b.im, a.im + b.re};
}

static inline PAIR NAME(times)(PAIR a, const T *w)
{
    return (PAIR){a.re * w[0] - a.im * w[1], a.re * w[1] + a.im * w[0]};
}

static inline PAIR NAME(scaled)(PAIR a, T f)
{
    return (PAIR){a.re * f, a.im * f};
}

/* ---- the transforms of a few elements, in place ---- */

static inline __attribute__((always_inline)) void NAME(small_2)(PAIR *a)
{
    PAIR x = a[0];

    a[0] = NAME(plus)(x, a[1]);
    a[1] = NAME(minus)(x, a[1]);
}

static inline __attribute__((always_inline)) void NAME(small_3)(PAIR *a)
{
    PAIR sum = NAME(plus)(a[1], a[2]), difference = NAME(minus)(a[1], a[2]);
    PAIR middle = NAME(plus)(a[0], NAME(scaled)(sum, (T)-0.5));
    PAIR side = NAME(scaled)(difference, (T)0.86602540378443864676);

    a[0] = NAME(plus)(a[0], sum);
    a[1] = NAME(minus_i)(middle, side);
    a[2] = NAME(plus_i)(middle, side);
}

static inline __attribute__((always_inline)) void NAME(small_4)(PAIR *a)
{
    PAIR x = NAME(plus)(a[0], a[2]), y = NAME(minus)(a[0], a[2]);
    PAIR z = NAME(plus)(a[1], a[3]), w = NAME(minus)(a[1], a[3]);

    a[0] = NAME(plus)(x, z);
    a[1] = NAME(minus_i)(y, w);
    a[2] = NAME(minus)(x, z);
    a[3] = NAME(plus_i)(y, w);
}

static inline __attribute__((always_inline)) void NAME(small_5)(PAIR *a)
{
    const T c1 = (T)0.30901699437494742410, c2 = (T)-0.80901699437494742410;
    const T s1 = (T)0.95105651629515357212, s2 = (T)0.58778525229247312917;
    PAIR s14 = NAME(plus)(a[1], a[4]), d14 = NAME(minus)(a[1], a[4]);
    PAIR s23 = NAME(plus)(a[2], a[3]), d23 = NAME(minus)(a[2], a[3]);
    PAIR m1 = NAME(plus)(a[0], NAME(plus)(NAME(scaled)(s14, c1), NAME(scaled)(s23, c2)));
    PAIR m2 = NAME(plus)(a[0], NAME(plus)(NAME(scaled)(s14, c2), NAME(scaled)(s23, c1)));
    PAIR t1 = NAME(plus)(NAME(scaled)(d14, s1), NAME(scaled)(d23, s2));
    PAIR t2 = NAME(minus)(NAME(scaled)(d14, s2), NAME(scaled)(d23, s1));

    a[0] = NAME(plus)(a[0], NAME(plus)(s14, s23));
    a[1] = NAME(minus_i)(m1, t1);
    a[2] = NAME(minus_i)(m2, t2);
    a[3] = NAME(plus_i)(m2, t2);
    a[4] = NAME(plus_i)(m1, t1);
}

static inline __attribute__((always_inline)) void NAME(small_7)(PAIR *a)
{
    const T c[3] = {(T)0.62348980185873353053, (T)-0.22252093395631440429,
                    (T)-0.90096886790241912624};
    const T s[3] = {(T)0.78183148246802980871, (T)0.97492791218182360702,
                    (T)0.43388373911755812048};
    PAIR p[3], d[3], first = a[0];

    UNROLL for (int i = 0; i < 3; i++)
    {
        p[i] = NAME(plus)(a[i + 1], a[6 - i]);
        d[i] = NAME(minus)(a[i + 1], a[6 - i]);
    }
    a[0] = NAME(plus)(NAME(plus)(first, p[0]), NAME(plus)(p[1], p[2]));
    UNROLL for (int k = 1; k < 4; k++)
    {
        PAIR m = first, t = {0};

        UNROLL for (int j = 1; j < 4; j++)
        {
            int turn = j * k % 7, half = turn < 4 ? turn - 1 : 6 - turn;

            m = NAME(plus)(m, NAME(scaled)(p[j - 1], c[half]));
            t = NAME(plus)(t, NAME(scaled)(d[j - 1], turn < 4 ? s[half] : -s[half]));
        }
        a[k] = NAME(minus_i)(m, t);
        a[7 - k] = NAME(plus_i)(m, t);
    }
}

static inline __attribute__((always_inline)) void NAME(small_8)(PAIR *a)
{
    const T h = (T)0.70710678118654752440;
    PAIR even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]}, t;

    NAME(small_4)(even);
    NAME(small_4)(odd);
    a[0] = NAME(plus)(even[0], odd[0]);
    a[4] = NAME(minus)(even[0], odd[0]);
    t = NAME(scaled)(NAME(minus_i)(odd[1], odd[1]), h); /* times (1 - i) / sqrt 2 */
    a[1] = NAME(plus)(even[1], t);
    a[5] = NAME(minus)(even[1], t);
    a[2] = NAME(minus_i)(even[2], odd[2]);
    a[6] = NAME(plus_i)(even[2], odd[2]);
    t = NAME(scaled)(NAME(plus_i)(odd[3], odd[3]), h); /* times -(1 + i) / sqrt 2 */
    a[3] = NAME(minus)(even[3], t);
    a[7] = NAME(plus)(even[3], t);
}

/* ---- passes ---- */

static inline __attribute__((always_inline)) void
NAME(pass)(const struct stet_fft_pass *f, const T *x, T *y, const int r, void (*small)(PAIR *a))
{
    const T *w = f->roots;
    int64_t s = f->done, m = f->rest;

    for (int64_t p = 0; p < m; p++, w += 2 * (r - 1))
        for (int64_t q = 0; q < s * W; q += NV) {
            /* lane q % W of element q / W */
            const T *from = x + q / W * E + q % W + p * s * E;
            T *to = y + q / W * E + q % W + p * s * r * E;
            PAIR a[8];

            UNROLL for (int k = 0; k < r; k++) a[k] = NAME(get)(from, k * m * s);
            small(a);
            NAME(put)(to, 0, a[0]);
            UNROLL for (int k = 1; k < r; k++)
                NAME(put)(to, k * s, m == 1 ? a[k] : NAME(times)(a[k], w + 2 * (k - 1)));
        }
}

#define PASS(R)                                                                                    \
    static void NAME(pass_##R)(const struct stet_fft_pass *f, const T *x, T *y)                    \
    {                                                                                              \
        NAME(pass)(f, x, y, R, NAME(small_##R));                                                   \
    }
PASS(2)
PASS(3)
PASS(4)
PASS(5)
PASS(7)
PASS(8)
#undef PASS

/* Any odd radix: elements k and r - k are computed from the same sums and differences. */
static void NAME(pass_odd)(const struct stet_fft_pass *f, const T *x, T *y)
{
    enum { HALF = STET_FFT_LARGEST_RADIX / 2 };
    const T *w = f->roots, *turns = f->turns;
    int64_t s = f->done, m = f->rest, r = f->radix, half = r / 2;

    for (int64_t p = 0; p < m; p++, w += 2 * (r - 1))
        for (int64_t q = 0; q < s * W; q += NV) {
            const T *from = x + q / W * E + q % W + p * s * E;
            T *to = y + q / W * E + q % W + p * s * r * E;
            PAIR sum[HALF], difference[HALF], first = NAME(get)(from, 0), all = first;

            for (int64_t j = 1; j <= half; j++) {
                PAIR a = NAME(get)(from, j * m * s), b = NAME(get)(from, (r - j) * m * s);

                sum[j - 1] = NAME(plus)(a, b);
                difference[j - 1] = NAME(minus)(a, b);
                all = NAME(plus)(all, sum[j - 1]);
            }
            NAME(put)(to, 0, all);
            for (int64_t k = 1; k <= half; k++) {
                PAIR middle = first, side = {0};

                for (int64_t j = 1, turn = k; j <= half; j++) {
                    middle = NAME(plus)(middle, NAME(scaled)(sum[j - 1], turns[2 * turn]));
                    side = NAME(plus)(side, NAME(scaled)(difference[j - 1], -turns[2 * turn + 1]));
                    turn += k;
                    turn -= turn >= r ? r : 0;
                }
                NAME(put)(to, k * s, NAME(times)(NAME(minus_i)(middle, side), w + 2 * (k - 1)));
                NAME(put)(to, (r - k) * s,
                          NAME(times)(NAME(plus_i)(middle, side), w + 2 * (r - k - 1)));
            }
        }
}

static void *NAME(passes)(const struct stet_fft_line *f, T *x, T *y)
{
    for (uint32_t i = 0; i < f->pass_count; i++) {
        T *z = x;

        switch (f->passes[i].radix) {
        case 2:
            NAME(pass_2)(&f->passes[i], x, y);
            break;
        case 3:
            NAME(pass_3)(&f->passes[i], x, y);
            break;
        case 4:
            NAME(pass_4)(&f->passes[i], x, y);
            break;
        case 5:
            NAME(pass_5)(&f->passes[i], x, y);
            break;
        case 7:
            NAME(pass_7)(&f->passes[i], x, y);
            break;
        case 8:
            NAME(pass_8)(&f->passes[i], x, y);
            break;
        default:
            NAME(pass_odd)(&f->passes[i], x, y);
            break;
        }
        x = y, y = z;
    }
    return x;
}

/* Elements times w, real and imaginary parts exchanged before or after. */
static void NAME(scale)(T *d, const T *x, const T *w, int64_t n, bool before, bool after)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < W; j++) {
            T re = x[i * E + j], im = x[i * E + W + j], a, b;

            a = before ? im : re, b = before ? re : im;
            re = a * w[2 * i] - b * w[2 * i + 1];
            im = a * w[2 * i + 1] + b * w[2 * i];
            d[i * E + j] = after ? im : re;
            d[i * E + W + j] = after ? re : im;
        }
}

static void *NAME(line)(const struct stet_fft_line *f, void *x_, void *y_)
{
    const struct stet_fft_line *inner = f->inner;
    T *x = x_, *y = y_, *z;

    if (!inner)
        return NAME(passes)(f, x, y);
    NAME(scale)(x, x, f->chirp, f->n, false, false);
    memset(x + f->n * E, 0, (size_t)((inner->n - f->n) * E) * sizeof(T));
    z = NAME(passes)(inner, x, y);
    NAME(scale)(z, z, f->spectrum, inner->n, false, true);
    z = NAME(passes)(inner, z, z == x ? y : x);
    NAME(scale)(z, z, f->chirp, f->n, true, false);
    return z;
}

#include "backend/kernels/fft_moves.h" /* in and out */

/* ---- long lines ---- */

static void NAME(roots)(T (*w)[W], const struct stet_fft_roots *roots, int64_t lane, int64_t lines,
                        int64_t i)
{
    for (int64_t j = 0; j < W; j++) {
        double re, im;

        stet_fft_root(roots, (lane + j < lines ? lane + j : 0) * i, &re, &im);
        w[0][j] = (T)re, w[1][j] = (T)im;
    }
}

static void NAME(turn)(void *x_, const struct stet_fft_roots *roots, int64_t lane, int64_t n)
{
    enum { STEP = 16 };
    int64_t lines = roots->n / n, near = n < STEP ? n : STEP;
    T *x = x_, w[STEP][2][W], far[2][W];

    for (int64_t b = 0; b < near; b++)
        NAME(roots)(w[b], roots, lane, lines, b);
    for (int64_t i = 0; i < n; i += STEP) {
        NAME(roots)(far, roots, lane, lines, i);
        for (int64_t b = 0; b < near && i + b < n; b++, x += E)
            for (int j = 0; j < W; j++) {
                T c = w[b][0][j] * far[0][j] - w[b][1][j] * far[1][j];
                T s = w[b][0][j] * far[1][j] + w[b][1][j] * far[0][j];
                T re = x[j], im = x[W + j];

                x[j] = re * c - im * s;
                x[W + j] = re * s + im * c;
            }
    }
}

static void NAME(gather)(void *x_, const void *from_, int64_t blocks, int64_t n, int64_t count)
{
    T *x = x_;
    const T *from = from_;
    int64_t line = blocks * E;

    for (int64_t i = 0; i < n; i += W) {
        int64_t some = n - i < W ? n - i : W;
        const T *p = from + i / W * E;

        for (int64_t j = 0; j < W; j += 4) {
            int64_t l = 0;

            if (j + 4 <= count)
                for (; l + 4 <= some; l += 4) {
                    T *d = x + (i + l) * E + j;

                    NAME(turn_four)(d, E, p + j * line + l, line);
                    NAME(turn_four)(d + W, E, p + j * line + W + l, line);
                }
            for (; l < some; l++)
                for (int64_t c = j; c < j + 4; c++) {
                    x[(i + l) * E + c] = c < count ? p[c * line + l] : 0;
                    x[(i + l) * E + W + c] = c < count ? p[c * line + W + l] : 0;
                }
        }
    }
}

static void NAME(multiply)(void *d_, const void *a_, const void *b_, int64_t n, bool exchange_a,
                           bool exchange_d, double scale)
{
    T *d = d_, f = (T)scale;
    const T *a = a_, *b = b_;
    int ar = exchange_a, dr = exchange_d;

    for (int64_t i = 0; i < n; i++, a += 2, b += 2, d += 2) {
        T re = a[ar], im = a[1 - ar];

        d[dr] = (re * b[0] - im * b[1]) * f;
        d[1 - dr] = (re * b[1] + im * b[0]) * f;
    }
}

#undef NAME2
#undef NAME1
#undef NAME
#undef VEC
#undef PAIR
#undef E
#undef T
#undef S
#undef W
#undef NV
