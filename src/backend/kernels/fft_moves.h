/* Moves lines of elements in and out of the blocks that fft_rows.h transforms. Included by it, for
 * each element type. */

static void NAME(load_columns)(void *x_, const void *from_, int64_t step, int64_t n, int64_t count,
                               bool back)
{
    T *x = x_;
    const T *from = from_;

    for (int64_t i = 0; i < n; i++, x += E, from += 2 * step) {
        T *re = x + (back ? W : 0), *im = x + (back ? 0 : W);

        if (count == W) {
            for (int j = 0; j < W; j++)
                re[j] = from[2 * j], im[j] = from[2 * j + 1];
            continue;
        }
        for (int j = 0; j < W; j++)
            re[j] = j < count ? from[2 * j] : 0, im[j] = j < count ? from[2 * j + 1] : 0;
    }
}

static void NAME(store_columns)(void *to_, const void *x_, int64_t step, int64_t n, int64_t count,
                                bool back, double scale)
{
    const T *x = x_;
    T *to = to_, f = (T)scale;

    for (int64_t i = 0; i < n; i++, x += E, to += 2 * step) {
        const T *re = x + (back ? W : 0), *im = x + (back ? 0 : W);

        if (count == W) {
            for (int j = 0; j < W; j++)
                to[2 * j] = re[j] * f, to[2 * j + 1] = im[j] * f;
            continue;
        }
        for (int64_t j = 0; j < count; j++)
            to[2 * j] = re[j] * f, to[2 * j + 1] = im[j] * f;
    }
}

static void NAME(load_rows)(void *x_, const void *from_, int64_t step, int64_t n, int64_t count,
                            bool back)
{
    T *re = (T *)x_ + (back ? W : 0), *im = (T *)x_ + (back ? 0 : W);
    const T *from = from_;
    int64_t j = 0;

    for (; j + 4 <= count; j += 4) {
        const T *p = from + 2 * j * step;
        int64_t i = 0;

        for (; i + 4 <= n; i += 4)
            NAME(turn_in)(re + i * E + j, im + i * E + j, E, p + 2 * i, 2 * step);
        for (; i < n; i++)
            for (int64_t l = 0; l < 4; l++) {
                re[i * E + j + l] = p[2 * (l * step + i)];
                im[i * E + j + l] = p[2 * (l * step + i) + 1];
            }
    }
    for (; j < W; j++)
        for (int64_t i = 0; i < n; i++) {
            re[i * E + j] = j < count ? from[2 * (j * step + i)] : 0;
            im[i * E + j] = j < count ? from[2 * (j * step + i) + 1] : 0;
        }
}

static void NAME(store_rows)(void *to_, const void *x_, int64_t step, int64_t n, int64_t count,
                             bool back, double scale)
{
    const T *re = (const T *)x_ + (back ? W : 0), *im = (const T *)x_ + (back ? 0 : W);
    T *to = to_, f = (T)scale;
    int64_t j = 0;

    for (; j + 4 <= count; j += 4) {
        T *p = to + 2 * j * step;
        int64_t i = 0;

        for (; i + 4 <= n; i += 4)
            NAME(turn_out)(p + 2 * i, 2 * step, re + i * E + j, im + i * E + j, E, f);
        for (; i < n; i++)
            for (int64_t l = 0; l < 4; l++) {
                p[2 * (l * step + i)] = re[i * E + j + l] * f;
                p[2 * (l * step + i) + 1] = im[i * E + j + l] * f;
            }
    }
    for (; j < count; j++)
        for (int64_t i = 0; i < n; i++) {
            to[2 * (j * step + i)] = re[i * E + j] * f;
            to[2 * (j * step + i) + 1] = im[i * E + j] * f;
        }
}

static void NAME(load_real)(void *x_, const void *from_, int64_t step, int64_t n, int64_t count)
{
    T *x = x_;
    const T *from = from_;

    memset(x, 0, (size_t)(n * E) * sizeof(T));
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < n; i++)
            x[i * E + j] = from[j * step + i];
}

static void NAME(store_real)(void *to_, const void *x_, int64_t step, int64_t n, int64_t count,
                             double scale)
{
    const T *x = x_;
    T *to = to_, f = (T)scale;

    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < n; i++)
            to[j * step + i] = x[i * E + j] * f;
}

/* Z is the transform of pairs. With a = Z[k] and b = conj(Z[h - k]), the transform of the single
 * numbers at k is (a + b) / 2 - i root(k) (a - b) / 2, and at h - k the conjugate of that with the
 * other sign. `w`: lanes. */
static inline __attribute__((always_inline)) void
NAME(after_lanes)(T *x, const struct stet_fft_roots *roots, const int w)
{
    int64_t h = roots->n / 2;

    memcpy(x + h * 2 * w, x, 2 * (size_t)w * sizeof(T));
    for (int64_t k = 0; k <= h / 2; k++) {
        T *p = x + k * 2 * w, *q = x + (h - k) * 2 * w, re, im;
        double c, s;

        stet_fft_root(roots, k, &c, &s);
        re = (T)(c / 2), im = (T)(s / 2);
        for (int j = 0; j < w; j++) {
            T ar = p[j], ai = p[w + j], br = q[j], bi = -q[w + j];
            T sr = (ar + br) * (T)0.5, si = (ai + bi) * (T)0.5, dr = ar - br, di = ai - bi;
            T tr = dr * re - di * im, ti = dr * im + di * re;

            p[j] = sr + ti, p[w + j] = si - tr;
            q[j] = sr - ti, q[w + j] = -(si + tr);
        }
    }
}

/* The other way: Z[k] = (a + b) + i conj(root(k)) (a - b), twice the transform of pairs. Imaginary
 * parts at 0 and at h belong to no real transform and are not used. `re`, `im`: where the real and
 * the imaginary parts of Z go. */
static inline __attribute__((always_inline)) void
NAME(before_lanes)(T *x, const struct stet_fft_roots *roots, const int w, const int re,
                   const int im)
{
    int64_t h = roots->n / 2;

    memset(x + w, 0, (size_t)w * sizeof(T));
    memset(x + h * 2 * w + w, 0, (size_t)w * sizeof(T));
    for (int64_t k = 0; k <= h / 2; k++) {
        T *p = x + k * 2 * w, *q = x + (h - k) * 2 * w, rc, rs;
        double c, s;

        stet_fft_root(roots, k, &c, &s);
        rc = (T)c, rs = (T)-s;
        for (int j = 0; j < w; j++) {
            T ar = p[j], ai = p[w + j], br = q[j], bi = -q[w + j];
            T sr = ar + br, si = ai + bi, dr = ar - br, di = ai - bi;
            T tr = dr * rc - di * rs, ti = dr * rs + di * rc;

            p[re + j] = sr - ti, p[im + j] = si + tr;
            q[re + j] = sr + ti, q[im + j] = tr - si;
        }
    }
}

static void NAME(after_real)(void *x, const struct stet_fft_roots *roots)
{
    NAME(after_lanes)(x, roots, W);
}

static void NAME(before_real)(void *x, const struct stet_fft_roots *roots)
{
    NAME(before_lanes)(x, roots, W, W, 0);
}

static void NAME(after_real_row)(void *x, const struct stet_fft_roots *roots)
{
    NAME(after_lanes)(x, roots, 1);
}

static void NAME(before_real_row)(void *x, const struct stet_fft_roots *roots)
{
    NAME(before_lanes)(x, roots, 1, 0, 1);
}

static void NAME(widen)(void *to_, const void *from_, int64_t n)
{
    T *to = to_;
    const T *from = from_;

    for (int64_t i = 0; i < n; i++)
        to[2 * i] = from[i], to[2 * i + 1] = 0;
}

static void NAME(narrow)(void *to_, const void *from_, int64_t n)
{
    T *to = to_;
    const T *from = from_;

    for (int64_t i = 0; i < n; i++)
        to[i] = from[2 * i];
}

static void NAME(mirror_row)(void *to_, const void *from_, int64_t n)
{
    T *to = to_;
    const T *from = from_;

    to[0] = from[0], to[1] = 0;
    for (int64_t k = 1; k <= n / 2; k++) {
        to[2 * k] = to[2 * (n - k)] = from[2 * k];
        to[2 * k + 1] = from[2 * k + 1];
        to[2 * (n - k) + 1] = -from[2 * k + 1];
    }
}

/* The n / 2 + 1 elements that were loaded backward become all n of a transform of real numbers. */
static void NAME(mirror)(void *x_, int64_t n)
{
    T *x = x_;

    memset(x, 0, W * sizeof(T));
    for (int64_t k = 1; k <= n / 2; k++) {
        const T *p = x + k * E;
        T *q = x + (n - k) * E;

        for (int j = 0; j < W; j++)
            q[j] = -p[j], q[W + j] = p[W + j];
    }
}
