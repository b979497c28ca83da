/* Fourier transforms of any length along up to three dimensions. Lines that are short or many are
 * transformed several at once, one in each lane; a long line is split into a matrix whose columns
 * and rows are such lines. Twin: ref/linalg.c. */
#include "backend/params.h"
#include "backend/tile_kernel.h"

enum { LONG_TASKS = 8 };

static const struct stet_fft_kernels *kernels_of(enum stet_dtype type)
{
    return stet_tile_kernels()->fft[type];
}

static int64_t lanes_of(enum stet_dtype type)
{
    return STET_FFT_LANES_BYTES / (int64_t)stet_dtype_bytes(type);
}

static int64_t blocks_of(int64_t lines, enum stet_dtype type)
{
    return (lines + lanes_of(type) - 1) / lanes_of(type);
}

uint64_t stet_fft_line_bytes(const struct stet_fft_line *f)
{
    return 2 * (uint64_t)f->room * 2 * STET_FFT_LANES_BYTES;
}

/* ---- one long line ---- */

static uint64_t matrix_bytes(const struct stet_fft_long *f, enum stet_dtype type)
{
    return (uint64_t)(f->first->n * blocks_of(f->second->n, type)) * 2 * STET_FFT_LANES_BYTES;
}

static uint64_t longest_line_bytes(const struct stet_fft_long *f)
{
    uint64_t a = stet_fft_line_bytes(f->first), b = stet_fft_line_bytes(f->second);

    return a > b ? a : b;
}

uint64_t stet_fft_long_bytes(const struct stet_fft_long *f, enum stet_dtype type)
{
    if (f->inner)
        return (2 * (uint64_t)f->inner->n * stet_dtype_bytes(type) + 63) / 64 * 64 +
               stet_fft_long_bytes(f->inner, type);
    return matrix_bytes(f, type) + LONG_TASKS * longest_line_bytes(f);
}

struct long_job {
    const struct stet_fft_long *f;
    const struct stet_fft_kernels *k;
    enum stet_dtype type;
    const char *from;
    char *to, *matrix, *lines;
    uint64_t line_bytes;
    bool back;
    double scale;
};

/* Columns of the matrix: lines of `first` elements. */
static void first_task(void *context, uint64_t task)
{
    const struct long_job *j = context;
    int64_t lanes = lanes_of(j->type), n = j->f->first->n, lines = j->f->second->n;
    int64_t blocks = blocks_of(lines, j->type);
    size_t number = 2 * stet_dtype_bytes(j->type), element = 2 * STET_FFT_LANES_BYTES;
    char *x = j->lines + task * j->line_bytes, *y = x + j->line_bytes / 2, *z;

    for (int64_t b = (int64_t)task; b < blocks; b += LONG_TASKS) {
        int64_t count = lines - b * lanes < lanes ? lines - b * lanes : lanes;

        j->k->load_columns(x, j->from + (size_t)(b * lanes) * number, lines, n, count, j->back);
        z = j->k->line(j->f->first, x, y);
        j->k->turn(z, &j->f->roots, b * lanes, n);
        for (int64_t i = 0; i < n; i++)
            memcpy(j->matrix + (size_t)(i * blocks + b) * element, z + (size_t)i * element,
                   element);
    }
}

/* Rows of the matrix: lines of `second` elements. */
static void second_task(void *context, uint64_t task)
{
    const struct long_job *j = context;
    int64_t lanes = lanes_of(j->type), n = j->f->second->n, lines = j->f->first->n;
    int64_t blocks = blocks_of(n, j->type);
    size_t number = 2 * stet_dtype_bytes(j->type), element = 2 * STET_FFT_LANES_BYTES;
    char *x = j->lines + task * j->line_bytes, *y = x + j->line_bytes / 2;

    for (int64_t b = (int64_t)task; b * lanes < lines; b += LONG_TASKS) {
        int64_t count = lines - b * lanes < lanes ? lines - b * lanes : lanes;

        j->k->gather(x, j->matrix + (size_t)(b * lanes * blocks) * element, blocks, n, count);
        j->k->store_columns(j->to + (size_t)(b * lanes) * number, j->k->line(j->f->second, x, y),
                            lines, n, count, j->back, j->scale);
    }
}

void stet_fft_long_run(const struct stet_fft_long *f, enum stet_dtype type, void *to,
                       const void *from, bool back, double scale, void *temp,
                       struct stet_pool *pool)
{
    struct long_job j = {f, kernels_of(type), type, from, to, temp, NULL, 0, back, scale};
    const struct stet_fft_long *inner = f->inner;

    if (inner) {
        size_t number = 2 * stet_dtype_bytes(type);
        char *x = temp, *rest = x + ((size_t)inner->n * number + 63) / 64 * 64;

        j.k->multiply(x, from, f->chirp, f->n, back, false, 1);
        memset(x + (size_t)f->n * number, 0, (size_t)(inner->n - f->n) * number);
        stet_fft_long_run(inner, type, x, x, false, 1, rest, pool);
        j.k->multiply(x, x, f->spectrum, inner->n, false, true, 1);
        stet_fft_long_run(inner, type, x, x, false, 1, rest, pool);
        j.k->multiply(to, x, f->chirp, f->n, true, back, scale);
        return;
    }
    j.lines = j.matrix + matrix_bytes(f, type);
    j.line_bytes = longest_line_bytes(f);
    stet_pool_for(pool, LONG_TASKS, first_task, &j);
    stet_pool_for(pool, LONG_TASKS, second_task, &j);
}

/* ---- all lines of one dimension ---- */

struct axis_job {
    const struct stet_fft *f;
    const struct stet_fft_axis *a;
    const struct stet_fft_kernels *k;
    const char *from;
    char *to, *temp;
    double scale;
};

/* `count` rows that begin with number `row`, in the lanes. */
static void rows(const struct axis_job *j, int64_t row, int64_t count, char *x, char *y)
{
    const struct stet_fft_axis *a = j->a;
    const struct stet_fft_kernels *k = j->k;
    const char *from = j->from + (size_t)(row * a->from_line) * stet_dtype_bytes(j->f->real);
    char *to = j->to + (size_t)(row * a->to_line) * stet_dtype_bytes(j->f->real);
    int64_t h = a->n / 2;

    switch (a->how) {
    case STET_FFT_COMPLEX:
        k->load_rows(x, from, a->n, a->n, count, a->back);
        k->store_rows(to, k->line(a->line, x, y), a->n, a->n, count, a->back, j->scale);
        break;
    case STET_FFT_REAL_EVEN:
        k->load_rows(x, from, h, h, count, false);
        x = k->line(a->line, x, y);
        k->after_real(x, &a->roots);
        k->store_rows(to, x, h + 1, h + 1, count, false, 1);
        break;
    case STET_FFT_REAL_ODD:
        k->load_real(x, from, a->n, a->n, count);
        k->store_rows(to, k->line(a->line, x, y), h + 1, h + 1, count, false, 1);
        break;
    case STET_FFT_BACK_EVEN:
        k->load_rows(x, from, h + 1, h + 1, count, false);
        k->before_real(x, &a->roots);
        k->store_rows(to, k->line(a->line, x, y), h, h, count, true, j->scale);
        break;
    case STET_FFT_BACK_ODD:
        k->load_rows(x, from, h + 1, h + 1, count, true);
        k->mirror(x, a->n);
        x = k->line(a->line, x, y);
        k->store_real(to, x + STET_FFT_LANES_BYTES, a->n, a->n, count, j->scale);
        break;
    }
}

static void row_task(void *context, uint64_t task)
{
    const struct axis_job *j = context;
    int64_t lanes = lanes_of(j->f->real), lines = j->a->outer;
    char *x = j->temp + task * j->a->task_bytes, *y = x + stet_fft_line_bytes(j->a->line) / 2;

    for (int64_t row = (int64_t)task * lanes; row < lines; row += j->a->tasks * lanes)
        rows(j, row, lines - row < lanes ? lines - row : lanes, x, y);
}

static void column_task(void *context, uint64_t task)
{
    const struct axis_job *j = context;
    const struct stet_fft_axis *a = j->a;
    int64_t lanes = lanes_of(j->f->real), blocks = blocks_of(a->inner, j->f->real);
    size_t number = 2 * stet_dtype_bytes(j->f->real);
    char *x = j->temp + task * j->a->task_bytes, *y = x + stet_fft_line_bytes(a->line) / 2;

    for (int64_t b = (int64_t)task; b < a->outer * blocks; b += j->a->tasks) {
        int64_t first = b % blocks * lanes;
        size_t at = (size_t)(b / blocks * a->n * a->inner + first) * number;
        int64_t count = a->inner - first < lanes ? a->inner - first : lanes;

        j->k->load_columns(x, j->from + at, a->inner, a->n, count, a->back);
        j->k->store_columns(j->to + at, j->k->line(a->line, x, y), a->inner, a->n, count, a->back,
                            j->scale);
    }
}

/* ---- long lines of one dimension ---- */

/* A column through a line of its own. */
static void long_column(const struct axis_job *j, int64_t line, char *temp, struct stet_pool *pool)
{
    const struct stet_fft_axis *a = j->a;
    size_t number = 2 * stet_dtype_bytes(j->f->real);
    size_t at = (size_t)(line / a->inner * a->n * a->inner + line % a->inner) * number;
    char *x = temp, *rest = x + ((size_t)a->n * number + 63) / 64 * 64;

    for (int64_t i = 0; i < a->n; i++)
        memcpy(x + (size_t)i * number, j->from + at + (size_t)(i * a->inner) * number, number);
    stet_fft_long_run(a->whole, j->f->real, x, x, a->back, j->scale, rest, pool);
    for (int64_t i = 0; i < a->n; i++)
        memcpy(j->to + at + (size_t)(i * a->inner) * number, x + (size_t)i * number, number);
}

static void long_row(const struct axis_job *j, int64_t row, char *temp, struct stet_pool *pool)
{
    const struct stet_fft_axis *a = j->a;
    const struct stet_fft_kernels *k = j->k;
    enum stet_dtype t = j->f->real;
    size_t number = 2 * stet_dtype_bytes(t);
    const char *from = j->from + (size_t)(row * a->from_line) * stet_dtype_bytes(t);
    char *to = j->to + (size_t)(row * a->to_line) * stet_dtype_bytes(t);
    char *x = temp, *rest = x + ((size_t)a->n * number + 63) / 64 * 64;

    switch (a->how) {
    case STET_FFT_COMPLEX:
        stet_fft_long_run(a->whole, t, to, from, a->back, j->scale, temp, pool);
        break;
    case STET_FFT_REAL_EVEN:
        stet_fft_long_run(a->whole, t, to, from, false, 1, temp, pool);
        k->after_real_row(to, &a->roots);
        break;
    case STET_FFT_REAL_ODD:
        k->widen(x, from, a->n);
        stet_fft_long_run(a->whole, t, x, x, false, 1, rest, pool);
        memcpy(to, x, (size_t)(a->n / 2 + 1) * number);
        break;
    case STET_FFT_BACK_EVEN:
        memcpy(x, from, (size_t)(a->n / 2 + 1) * number);
        k->before_real_row(x, &a->roots);
        stet_fft_long_run(a->whole, t, to, x, true, j->scale, rest, pool);
        break;
    case STET_FFT_BACK_ODD:
        k->mirror_row(x, from, a->n);
        stet_fft_long_run(a->whole, t, x, x, true, j->scale, rest, pool);
        k->narrow(to, x, a->n);
        break;
    }
}

static void long_line(const struct axis_job *j, int64_t line, char *temp, struct stet_pool *pool)
{
    (j->a->inner > 1 ? long_column : long_row)(j, line, temp, pool);
}

static void long_task(void *context, uint64_t task)
{
    const struct axis_job *j = context;

    for (int64_t i = (int64_t)task; i < j->a->outer * j->a->inner; i += j->a->tasks)
        long_line(j, i, j->temp + task * j->a->task_bytes, NULL);
}

static void k_fft(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_fft *f = params;
    const char *from = bufs[0];

    for (uint32_t i = 0; i < f->rank; i++) {
        const struct stet_fft_axis *a = &f->axes[i];
        bool last = i + 1 == f->rank;
        /* a half spectrum does not fit the result, so it is in temporary memory */
        char *to = last || !f->half_bytes ? bufs[1] : (char *)bufs[2];
        struct axis_job j = {f,
                             a,
                             kernels_of(f->real),
                             from,
                             to,
                             (char *)bufs[2] + f->half_bytes,
                             last ? f->scale : 1};

        if (!a->whole)
            stet_pool_for(pool, a->tasks, a->inner > 1 ? column_task : row_task, &j);
        else if (a->tasks > 1)
            stet_pool_for(pool, a->tasks, long_task, &j);
        else
            for (int64_t line = 0; line < a->outer * a->inner; line++)
                long_line(&j, line, j.temp, pool);
        from = to;
    }
}

const struct stet_kernel stet_kernel_fft = {"fft", k_fft};
