/* Lowering: Fourier transforms. */
#include "backend/lower.h"
#include "backend/params.h"

/* A line of more elements than this does not fit the caches as a block of lanes. */
enum { LANES_LONGEST = 2048, COLUMN_LONGEST = 8192, LEAST_LONG = 64, TASKS = 8 };
enum { FFT, IFFT, RFFT, IRFFT, KINDS };

/* Is one line after the other better than many at once? */
static bool is_long(const struct stet_fft_axis *a, int64_t points, int64_t lanes)
{
    if (a->inner > 1)
        return points > COLUMN_LONGEST;
    return points > LANES_LONGEST || (points >= LEAST_LONG && a->outer <= lanes / 2);
}

static enum stet_rc plan_axis(struct stet_lower *l, const struct stet_fft *f,
                              struct stet_fft_axis *a)
{
    bool pairs = a->how == STET_FFT_REAL_EVEN || a->how == STET_FFT_BACK_EVEN;
    int64_t points = pairs ? a->n / 2 : a->n;
    int64_t lanes = STET_FFT_LANES_BYTES / (int64_t)stet_dtype_bytes(f->real);
    int64_t lines = a->outer * a->inner, blocks = a->outer * ((a->inner + lanes - 1) / lanes);

    if (a->inner == 1)
        blocks = (a->outer + lanes - 1) / lanes;
    if (is_long(a, points, lanes)) {
        a->whole = stet_fft_long_new(l->arena, points, f->real);
        a->tasks = lines >= TASKS / 2 ? TASKS : 1;
        if (a->whole)
            a->task_bytes = (2 * (uint64_t)a->n * stet_dtype_bytes(f->real) + 63) / 64 * 64 +
                            stet_fft_long_bytes(a->whole, f->real);
    } else {
        a->line = stet_fft_line_new(l->arena, points, f->real);
        a->tasks = blocks < TASKS ? (uint32_t)(blocks ? blocks : 1) : TASKS;
        if (a->line)
            a->task_bytes = stet_fft_line_bytes(a->line);
    }
    if (pairs && !stet_fft_roots_init(&a->roots, l->arena, a->n))
        return stet_lower_memory(l);
    if (!a->whole && !a->line)
        return l->arena->failed
                   ? stet_lower_memory(l)
                   : stet_lower_fail(l, STET_LIMIT,
                                     "a transform of %lld points, a number with a prime factor "
                                     "above %d, is too long",
                                     (long long)points, STET_FFT_LARGEST_RADIX);
    return STET_OK;
}

/* Along dimension `first + i` of `s`, which has the complex elements. */
static void set_axis(struct stet_fft_axis *a, const struct stet_shape *s, uint32_t dim, int64_t n,
                     bool back)
{
    *a = (struct stet_fft_axis){.n = n, .back = back, .outer = 1, .inner = 1};
    for (uint32_t d = 0; d < s->rank; d++)
        *(d < dim ? &a->outer : &a->inner) *= d == dim ? 1 : s->dims[d];
    a->from_line = a->to_line = 2 * n;
}

static void set_axes(struct stet_fft *f, int kind, const struct stet_shape *in,
                     const struct stet_shape *out, const int64_t *length)
{
    uint32_t first = in->rank - f->rank;

    for (uint32_t i = 0; i < f->rank; i++) {
        /* half a spectrum is the smaller one: there, other dimensions have less to do */
        uint32_t at = kind == IRFFT ? i : f->rank - 1 - i;
        struct stet_fft_axis *a = &f->axes[i];
        bool last = at + 1 == f->rank;
        int64_t n = length[at];

        set_axis(a, kind == RFFT ? out : in, first + at, n, kind == IFFT || kind == IRFFT);
        if (last && kind == RFFT) {
            a->how = n % 2 ? STET_FFT_REAL_ODD : STET_FFT_REAL_EVEN;
            a->from_line = n, a->to_line = 2 * (n / 2 + 1);
        } else if (last && kind == IRFFT) {
            a->how = n % 2 ? STET_FFT_BACK_ODD : STET_FFT_BACK_EVEN;
            a->from_line = 2 * (n / 2 + 1), a->to_line = n;
        }
    }
    f->scale = 1;
    for (uint32_t i = 0; (kind == IFFT || kind == IRFFT) && i < f->rank; i++)
        f->scale /= (double)length[i];
    f->half_bytes = kind == IRFFT && f->rank > 1 ? (in->bytes + 63) / 64 * 64 : 0;
}

static enum stet_rc check_fft(struct stet_lower *l, int kind, const struct stet_shape *in,
                              const struct stet_shape *out, const struct stet_graph_ints *length)
{
    uint32_t first;
    int64_t size = 1;

    CHECK(kind < KINDS, "fft_type is missing or unknown");
    CHECK(length->count >= 1 && length->count <= 3 && length->count <= in->rank &&
              out->rank == in->rank,
          "fft_length does not fit the operand");
    CHECK((kind == RFFT ? stet_dtype_is_float(in->dtype) && in->dtype >= STET_DT_F32
                        : stet_dtype_is_complex(in->dtype)) &&
              (kind == IRFFT ? stet_dtype_is_float(out->dtype) && out->dtype >= STET_DT_F32
                             : stet_dtype_is_complex(out->dtype)) &&
              (in->dtype == STET_DT_F64 || in->dtype == STET_DT_C128) ==
                  (out->dtype == STET_DT_F64 || out->dtype == STET_DT_C128),
          "types do not fit the transform");
    first = in->rank - length->count;
    for (uint32_t d = 0; d < first; d++)
        CHECK(in->dims[d] == out->dims[d], "dimension %u differs", d);
    for (uint32_t i = 0; i < length->count; i++) {
        int64_t want = length->v[i];
        bool last = i + 1 == length->count;

        CHECK(want >= 1 && want < (int64_t)1 << 31, "fft_length is out of range");
        CHECK(in->dims[first + i] == (last && kind == IRFFT ? want / 2 + 1 : want) &&
                  out->dims[first + i] == (last && kind == RFFT ? want / 2 + 1 : want),
              "dimension %u does not fit fft_length", first + i);
        CHECK(size <= ((int64_t)1 << 40) / want, "fft_length is out of range");
        size *= want;
    }
    return STET_OK;
}

enum stet_rc stet_lower_fft(struct stet_lower *l, int arg)
{
    static const char *const kinds[KINDS] = {"FFT", "IFFT", "RFFT", "IRFFT"};
    struct stet_view name = stet_lower_text(l, "fft_type");
    struct stet_fft *f = STET_NEW(l->arena, struct stet_fft);
    struct stet_graph_ints length;
    struct stet_gval *a;
    struct stet_gnode *n;
    struct stet_shape s;
    uint64_t bytes = 0;
    int kind = 0;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_shape(l, 0, &s));
    TRY(stet_lower_ints(l, "fft_length", &length));
    if (!f)
        return stet_lower_memory(l);
    while (kind < KINDS && !stet_view_is(name, kinds[kind]))
        kind++;
    TRY(check_fft(l, kind, &a->shape, &s, &length));
    f->real = s.dtype == STET_DT_F64 || s.dtype == STET_DT_C128 ? STET_DT_F64 : STET_DT_F32;
    f->rank = length.count;
    set_axes(f, kind, &a->shape, &s, length.v);
    for (uint32_t i = 0; i < f->rank; i++) {
        struct stet_fft_axis *x = &f->axes[i];

        TRY(plan_axis(l, f, x));
        bytes = x->task_bytes * x->tasks > bytes ? x->task_bytes * x->tasks : bytes;
    }
    n = stet_graph_call(l, &stet_kernel_fft, f, &a, 1, &s, 1);
    if (n)
        n->scratch = f->half_bytes + bytes;
    return stet_lower_out(l, 0, n ? n->out[0] : NULL);
}
