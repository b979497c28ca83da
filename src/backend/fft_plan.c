/* Plans transforms of one length: radices, roots of unity, chirps. */
#include "backend/fft.h"

#include <math.h>

#include "backend/tile_kernel.h"

/* The tables of a Bluestein transform are of its length; a longer one is refused. */
enum { LONGEST_CHIRP = 1 << 22 };

/* exp(-2 pi i k / n), from an angle of at most an eighth of a turn. */
static void root(int64_t k, int64_t n, double *out)
{
    int64_t eighths = 8 * k / n, quarter = (eighths + 1) / 2; /* the nearest quarter turn */
    double angle = 2 * M_PI * ((double)(4 * k - quarter * n) / (double)(4 * n));
    double c = cos(angle), s = sin(angle);

    out[0] = quarter % 4 == 0 ? c : quarter % 4 == 1 ? -s : quarter % 4 == 2 ? -c : s;
    out[1] = quarter % 4 == 0 ? -s : quarter % 4 == 1 ? -c : quarter % 4 == 2 ? s : c;
}

bool stet_fft_roots_init(struct stet_fft_roots *r, struct stet_arena *arena, int64_t n)
{
    double *low, *high;
    int64_t near, far;

    r->n = n;
    for (r->shift = 0; (int64_t)1 << 2 * r->shift < n; r->shift++)
        ;
    near = (int64_t)1 << r->shift;
    far = (n >> r->shift) + 1;
    low = STET_NEW_ARRAY(arena, double, 2 * (size_t)near);
    high = STET_NEW_ARRAY(arena, double, 2 * (size_t)far);
    if (!low || !high)
        return false;
    for (int64_t k = 0; k < near; k++)
        root(k < n ? k : k % n, n, low + 2 * k);
    for (int64_t k = 0; k < far; k++)
        root((k << r->shift) % n, n, high + 2 * k);
    r->low = low;
    r->high = high;
    return true;
}

/* ---- numbers of either type ---- */

static void *new_numbers(struct stet_arena *arena, int64_t count, enum stet_dtype type)
{
    return stet_arena_alloc(arena, 2 * (size_t)count * stet_dtype_bytes(type), 64);
}

static void set_number(void *to, enum stet_dtype type, int64_t at, double re, double im)
{
    if (type == STET_DT_F32) {
        ((float *)to)[2 * at] = (float)re;
        ((float *)to)[2 * at + 1] = (float)im;
    } else {
        ((double *)to)[2 * at] = re;
        ((double *)to)[2 * at + 1] = im;
    }
}

/* ---- radices ---- */

static uint32_t next_radix(int64_t n)
{
    if (n % 8 == 0 && n != 16)
        return 8;
    for (uint32_t r = 4; r > 1; r -= 2)
        if (n % r == 0)
            return r;
    for (uint32_t r = 3; r <= STET_FFT_LARGEST_RADIX; r += 2)
        if (n % r == 0)
            return r;
    return 0;
}

static bool only_small_factors(int64_t n)
{
    for (uint32_t r; n > 1; n /= r)
        if (!(r = next_radix(n)))
            return false;
    return true;
}

/* The shortest convenient length of a convolution of n elements. */
static int64_t padded(int64_t n)
{
    static const int64_t small[] = {1, 3, 5};
    int64_t best = 0;

    for (int i = 0; i < 3; i++) {
        int64_t m = small[i] * 16;

        while (m < 2 * n - 1)
            m *= 2;
        best = best && best < m ? best : m;
    }
    return best;
}

static bool plan_pass(struct stet_fft_pass *p, struct stet_arena *arena, enum stet_dtype type,
                      const struct stet_fft_roots *roots)
{
    void *factors = new_numbers(arena, p->rest * (p->radix - 1), type);
    void *turns = new_numbers(arena, p->radix, type);
    double re, im;

    if (!factors || !turns)
        return false;
    for (int64_t i = 0; i < p->rest; i++)
        for (int64_t k = 1; k < p->radix; k++) {
            stet_fft_root(roots, i * k * p->done, &re, &im);
            set_number(factors, type, i * (p->radix - 1) + k - 1, re, im);
        }
    for (int64_t k = 0; k < p->radix; k++) {
        stet_fft_root(roots, k * (roots->n / p->radix), &re, &im);
        set_number(turns, type, k, re, im);
    }
    p->roots = factors;
    p->turns = turns;
    return true;
}

static bool plan_passes(struct stet_fft_line *f, struct stet_arena *arena, enum stet_dtype type)
{
    struct stet_fft_roots roots;
    int64_t done = 1;

    if (!stet_fft_roots_init(&roots, arena, f->n))
        return false;
    while (done < f->n) {
        struct stet_fft_pass *p = &f->passes[f->pass_count++];

        p->radix = next_radix(f->n / done);
        p->done = done;
        done *= p->radix;
        p->rest = f->n / done;
        if (!plan_pass(p, arena, type, &roots))
            return false;
    }
    return true;
}

/* ---- Bluestein's convolution ---- */

/* exp(-pi i k^2 / n) for k < n. */
static void *new_chirp(struct stet_arena *arena, int64_t n, enum stet_dtype type)
{
    void *chirp = new_numbers(arena, n, type);
    struct stet_fft_roots roots;

    if (!chirp || !stet_fft_roots_init(&roots, arena, 2 * n))
        return NULL;
    for (int64_t k = 0; k < n; k++) {
        double re, im;

        stet_fft_root(&roots, k * k % (2 * n), &re, &im);
        set_number(chirp, type, k, re, im);
    }
    return chirp;
}

/* The transform, over `length`, of the conjugate chirp in both directions, divided by `length`. In
 * double, so that it is exact when rounded. */
static void *new_spectrum(struct stet_arena *arena, int64_t n, int64_t length, enum stet_dtype type)
{
    void *out = new_numbers(arena, length, type);
    const struct stet_fft_long *f = stet_fft_long_new(arena, length, STET_DT_F64);
    const double *chirp = new_chirp(arena, n, STET_DT_F64);
    double *x = new_numbers(arena, length, STET_DT_F64);
    void *temp;

    if (!out || !f || !chirp || !x ||
        !(temp = stet_arena_alloc(arena, (size_t)stet_fft_long_bytes(f, STET_DT_F64), 64)))
        return NULL;
    memset(x, 0, 2 * (size_t)length * sizeof *x);
    for (int64_t k = 0; k < n; k++) {
        set_number(x, STET_DT_F64, k, chirp[2 * k], -chirp[2 * k + 1]);
        set_number(x, STET_DT_F64, k ? length - k : 0, chirp[2 * k], -chirp[2 * k + 1]);
    }
    stet_fft_long_run(f, STET_DT_F64, x, x, false, 1 / (double)length, temp, NULL);
    for (int64_t k = 0; k < length; k++)
        set_number(out, type, k, x[2 * k], x[2 * k + 1]);
    return out;
}

/* ---- lines ---- */

const struct stet_fft_line *stet_fft_line_new(struct stet_arena *arena, int64_t n,
                                              enum stet_dtype type)
{
    struct stet_fft_line *f = STET_NEW(arena, struct stet_fft_line);

    if (!f)
        return NULL;
    f->n = n;
    f->room = n + 1; /* one more for transforms of real numbers */
    if (only_small_factors(n))
        return plan_passes(f, arena, type) ? f : NULL;
    if (n > LONGEST_CHIRP)
        return NULL;
    f->inner = stet_fft_line_new(arena, padded(n), type);
    f->chirp = new_chirp(arena, n, type);
    f->spectrum = new_spectrum(arena, n, padded(n), type);
    if (!f->inner || !f->chirp || !f->spectrum)
        return NULL;
    f->room = f->inner->room;
    return f;
}

const struct stet_fft_long *stet_fft_long_new(struct stet_arena *arena, int64_t n,
                                              enum stet_dtype type)
{
    struct stet_fft_long *f = STET_NEW(arena, struct stet_fft_long);
    int64_t first = (int64_t)sqrt((double)n);

    if (!f)
        return NULL;
    f->n = n;
    if (only_small_factors(n)) {
        while (n % first)
            first--;
        f->first = stet_fft_line_new(arena, first, type);
        f->second = stet_fft_line_new(arena, n / first, type);
        return f->first && f->second && stet_fft_roots_init(&f->roots, arena, n) ? f : NULL;
    }
    if (n > LONGEST_CHIRP)
        return NULL;
    f->inner = stet_fft_long_new(arena, padded(n), type);
    f->chirp = new_chirp(arena, n, type);
    f->spectrum = new_spectrum(arena, n, padded(n), type);
    return f->inner && f->chirp && f->spectrum ? f : NULL;
}
