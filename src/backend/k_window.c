/* Windows: reduce_window, select_and_scatter. Twin: ref/reduce.c. */
#include "backend/body_run.h"
#include "backend/params.h"

static void unravel(int64_t i, const int64_t *dims, uint32_t rank, int64_t *at)
{
    for (uint32_t d = rank; d-- > 0;) {
        at[d] = i % dims[d];
        i /= dims[d];
    }
}

/* Where the window at `out` reads with `tap`: the input's coordinate along d, or -1. */
static int64_t input_at(const struct stet_window *w, uint32_t d, int64_t out, int64_t tap)
{
    int64_t x = out * w->stride[d] + tap * w->window_dilation[d] - w->low[d];

    if (w->base_dilation[d] != 1) { /* a division takes longer than the rest */
        if (x < 0 || x % w->base_dilation[d])
            return -1;
        x /= w->base_dilation[d];
    }
    return x >= 0 && x < w->in.dims[d] ? x : -1;
}

/* ---- reduce_window: lanes along the innermost dimension of the result ---- */

struct window_job {
    const struct stet_window *w;
    void *const *bufs;
    int64_t strides[STET_MAX_RANK];
    int64_t rows, width, pieces, each;
    const char *init; /* a run of the initial value */
};

struct lanes {
    struct stet_tile_state body;
    _Alignas(64) char acc[32][16 * STET_BODY_LANES], x[32][16 * STET_BODY_LANES],
        raw[16 * STET_BODY_LANES];
};

/* Lanes [first, first + n) along the last dim: the element each reads, and which are inside. */
static bool load_lanes(struct window_job *j, struct lanes *s, const int64_t *out, int64_t first,
                       int64_t n, const int64_t *tap, bool *inside)
{
    const struct stet_window *w = j->w;
    uint32_t last = w->rank - 1;
    int64_t base = 0;
    bool any = false, all = true;

    for (uint32_t d = 0; d < last; d++) {
        int64_t x = input_at(w, d, out[d], tap[d]);

        if (x < 0)
            return false;
        base += x * j->strides[d];
    }
    for (int64_t k = 0; k < n; k++) {
        inside[k] = input_at(w, last, first + k, tap[last]) >= 0;
        any |= inside[k];
        all &= inside[k];
    }
    for (uint32_t i = 0; any && i < w->count; i++) {
        size_t bytes = stet_dtype_bytes(w->types[i]);
        const char *in = j->bufs[i];

        for (int64_t k = 0; k < n; k++)
            if (inside[k])
                memcpy(s->raw + (size_t)k * bytes,
                       in + (size_t)(base +
                                     input_at(w, last, first + k, tap[last]) * j->strides[last]) *
                                bytes,
                       bytes);
            else
                memset(s->raw + (size_t)k * bytes, 0, bytes);
        stet_to_register(s->x[i], s->raw, w->types[i], (size_t)n);
    }
    (void)all;
    return any;
}

static void fold_lanes(struct window_job *j, struct lanes *s, int64_t n, const bool *inside)
{
    const struct stet_window *w = j->w;

    for (uint32_t i = 0; i < w->count; i++) {
        stet_body_arg(w->body, &s->body, i, s->acc[i]);
        stet_body_arg(w->body, &s->body, w->count + i, s->x[i]);
    }
    stet_tile_apply(&w->body->prog, &s->body, (size_t)n);
    for (uint32_t i = 0; i < w->count; i++) {
        size_t bytes = stet_dtype_bytes(stet_tile_ctype(w->types[i]));
        const char *r = stet_body_result(w->body, &s->body, i);

        for (int64_t k = 0; k < n; k++)
            if (inside[k])
                memmove(s->acc[i] + (size_t)k * bytes, r + (size_t)k * bytes, bytes);
    }
}

static void window_task(void *context, uint64_t task)
{
    struct window_job *j = context;
    const struct stet_window *w = j->w;
    uint32_t last = w->rank - 1;
    int64_t row = (int64_t)task / j->pieces, first = (int64_t)task % j->pieces * j->width;
    int64_t n = w->out.dims[last] - first < j->width ? w->out.dims[last] - first : j->width;
    int64_t out[STET_MAX_RANK], tap[STET_MAX_RANK] = {0};
    bool inside[STET_BODY_LANES];
    struct lanes s;

    stet_tile_begin(&w->body->prog, &s.body, NULL, STET_BODY_LANES);
    unravel(row, w->out.dims, last, out);
    for (uint32_t i = 0; i < w->count; i++) {
        stet_tile_fill(s.raw, j->bufs[w->count + i], stet_dtype_bytes(w->types[i]), (size_t)n);
        stet_to_register(s.acc[i], s.raw, w->types[i], (size_t)n);
    }
    do
        if (load_lanes(j, &s, out, first, n, tap, inside))
            fold_lanes(j, &s, n, inside);
    while (stet_shape_next(tap, w->size, w->rank));
    for (uint32_t i = 0; i < w->count; i++) {
        size_t bytes = stet_dtype_bytes(w->types[i]);
        char *d = j->bufs[2 * w->count + i];

        stet_from_register(d + (size_t)(row * w->out.dims[last] + first) * bytes, s.acc[i],
                           w->types[i], (size_t)n);
    }
}

/* ---- the same for one operand whose body is one operation: whole runs, no lanes ---- */

enum { RUN = 512 };

/* Which of n results from `first` on read inside the input with this tap, along the last dim. */
static void inside_range(const struct stet_window *w, int64_t first, int64_t n, int64_t tap,
                         int64_t *low, int64_t *high)
{
    uint32_t d = w->rank - 1;
    int64_t s = w->stride[d], at = first * s + tap * w->window_dilation[d] - w->low[d];
    int64_t room = w->in.dims[d] - at; /* result k is inside for 0 <= at + k * s < dims */

    *low = at < 0 ? (-at + s - 1) / s : 0;
    *high = room <= 0 ? 0 : (room + s - 1) / s;
    if (*high > n)
        *high = n;
    if (*low > *high)
        *low = *high;
}

/* Folds the run of n results at `first` of a row whose windows begin at `out` into d. */
static void window_run(const struct window_job *j, const int64_t *out, int64_t first, int64_t n,
                       char *d)
{
    const struct stet_window *w = j->w;
    const stet_tile_fn op = stet_tile_kernels()->ops[w->types[0]][w->simple];
    size_t bytes = stet_dtype_bytes(w->types[0]);
    uint32_t last = w->rank - 1;
    int64_t tap[STET_MAX_RANK] = {0};
    _Alignas(64) char line[16 * RUN];
    const char *so_far = j->init;

    do {
        int64_t base = 0, low, high, at;
        const char *x;
        bool inside = true;

        for (uint32_t i = 0; i < last && inside; i++) {
            int64_t y = input_at(w, i, out[i], tap[i]);

            inside = y >= 0;
            base += y * j->strides[i];
        }
        inside_range(w, first, n, tap[last], &low, &high);
        if (!inside || low == high)
            continue;
        at = base + (first + low) * w->stride[last] + tap[last] * w->window_dilation[last] -
             w->low[last];
        x = (const char *)j->bufs[0] + (size_t)at * bytes;
        if (w->stride[last] != 1) {
            stet_tile_moves(stet_tile_kernels(), bytes)
                ->strided(line, x, w->stride[last], (size_t)(high - low));
            x = line;
        }
        if (so_far != d && (low > 0 || high < n))
            memcpy(d, so_far, (size_t)n * bytes), so_far = d;
        op(d + (size_t)low * bytes, so_far + (size_t)low * bytes, x, NULL, (size_t)(high - low));
        so_far = d;
    } while (stet_shape_next(tap, w->size, w->rank));
    if (so_far != d)
        memcpy(d, so_far, (size_t)n * bytes);
}

static void run_task(void *context, uint64_t task)
{
    struct window_job *j = context;
    const struct stet_window *w = j->w;
    size_t bytes = stet_dtype_bytes(w->types[0]);
    uint32_t last = w->rank - 1;
    int64_t t = (int64_t)task * j->each, end = t + j->each, out[STET_MAX_RANK];

    end = end < j->rows * j->pieces ? end : j->rows * j->pieces;
    unravel(t / j->pieces, w->out.dims, last, out);
    for (; t < end; t++) {
        int64_t row = t / j->pieces, first = t % j->pieces * j->width;
        int64_t n = w->out.dims[last] - first < j->width ? w->out.dims[last] - first : j->width;

        window_run(j, out, first, n,
                   (char *)j->bufs[2] + (size_t)(row * w->out.dims[last] + first) * bytes);
        if ((t + 1) % j->pieces == 0)
            stet_shape_next(out, w->out.dims, last);
    }
}

static bool can_run(const struct stet_window *w)
{
    return w->count == 1 && w->simple >= 0 && stet_tile_ctype(w->types[0]) == w->types[0] &&
           w->base_dilation[w->rank - 1] == 1;
}

/* A scalar is a window of rank 0: one element, one tap. */
static void scalar_window(const struct stet_window *w, void *const *bufs)
{
    struct lanes s;

    stet_tile_begin(&w->body->prog, &s.body, NULL, 1);
    for (uint32_t i = 0; i < w->count; i++) {
        stet_to_register(s.acc[i], bufs[w->count + i], w->types[i], 1);
        stet_to_register(s.x[i], bufs[i], w->types[i], 1);
        stet_body_arg(w->body, &s.body, i, s.acc[i]);
        stet_body_arg(w->body, &s.body, w->count + i, s.x[i]);
    }
    stet_tile_apply(&w->body->prog, &s.body, 1);
    for (uint32_t i = 0; i < w->count; i++)
        stet_from_register(bufs[2 * w->count + i], stet_body_result(w->body, &s.body, i),
                           w->types[i], 1);
}

static void k_window(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_window *w = params;
    struct window_job j = {.w = w, .bufs = bufs};

    if (w->out.elements == 0)
        return;
    if (w->rank == 0) {
        scalar_window(w, bufs);
        return;
    }
    stet_graph_dense_strides(&w->in, j.strides);
    j.width = can_run(w) ? RUN : STET_BODY_LANES;
    j.pieces = (w->out.dims[w->rank - 1] + j.width - 1) / j.width;
    j.rows = (int64_t)w->out.elements / w->out.dims[w->rank - 1];
    if (can_run(w)) {
        _Alignas(64) char init[16 * RUN];

        stet_tile_fill(init, bufs[1], stet_dtype_bytes(w->types[0]), RUN);
        j.init = init;
        j.each = 1 + 8192 / (w->out.dims[w->rank - 1] < RUN ? w->out.dims[w->rank - 1] : RUN);
        stet_pool_for(pool, (uint64_t)((j.rows * j.pieces + j.each - 1) / j.each), run_task, &j);
        return;
    }
    stet_pool_for(pool, (uint64_t)(j.rows * j.pieces), window_task, &j);
}

/* ---- select_and_scatter ---- */

struct chooser {
    const struct stet_window *w;
    struct stet_tile_state select, scatter;
    _Alignas(16) char best[16], x[16], sum[16], value[16];
};

/* Does the select body keep the current element? */
static bool keeps(struct chooser *c, const void *raw)
{
    const struct stet_window *w = c->w;

    stet_to_register(c->x, raw, w->types[0], 1);
    if (w->types[0] == STET_DT_F32 && (w->simple == STET_TILE_GE || w->simple == STET_TILE_GT)) {
        float a, b;

        memcpy(&a, c->best, 4);
        memcpy(&b, c->x, 4);
        return w->simple == STET_TILE_GE ? a >= b : a > b;
    }
    stet_body_arg(w->body, &c->select, 0, c->best);
    stet_body_arg(w->body, &c->select, 1, c->x);
    stet_tile_apply(&w->body->prog, &c->select, 1);
    return *(const uint8_t *)stet_body_result(w->body, &c->select, 0) != 0;
}

static void add_to(struct chooser *c, char *d, const void *raw)
{
    const struct stet_window *w = c->w;

    stet_to_register(c->sum, d, w->types[0], 1);
    stet_to_register(c->value, raw, w->types[0], 1);
    if (w->types[0] == STET_DT_F32 && w->scatter_simple == STET_TILE_ADD) {
        float a, b;

        memcpy(&a, c->sum, 4);
        memcpy(&b, c->value, 4);
        a += b;
        memcpy(d, &a, 4);
        return;
    }
    stet_body_arg(w->scatter, &c->scatter, 0, c->sum);
    stet_body_arg(w->scatter, &c->scatter, 1, c->value);
    stet_tile_apply(&w->scatter->prog, &c->scatter, 1);
    stet_from_register(d, stet_body_result(w->scatter, &c->scatter, 0), w->types[0], 1);
}

/* ---- f32, select the greater, add: each image of a batch separately, lanes along channels ---- */

struct pool_job {
    const struct stet_window *w;
    const float *in, *source;
    float *out;
    int64_t strides[STET_MAX_RANK];
};

/* Only the dimensions between the first and the last have windows. */
static bool is_pool_grad(const struct stet_window *w)
{
    uint32_t last = w->rank ? w->rank - 1 : 0;

    if (w->rank < 2 || w->types[0] != STET_DT_F32 || w->scatter_simple != STET_TILE_ADD ||
        (w->simple != STET_TILE_GE && w->simple != STET_TILE_GT))
        return false;
    for (uint32_t d = 0; d < w->rank; d++)
        if (w->base_dilation[d] != 1 || w->window_dilation[d] != 1 ||
            ((d == 0 || d == last) && (w->size[d] != 1 || w->stride[d] != 1 || w->low[d] != 0)))
            return false;
    return true;
}

static void pool_window(const struct pool_job *j, const int64_t *out, const float *source,
                        int64_t n, int64_t first)
{
    const struct stet_window *w = j->w;
    int64_t tap[STET_MAX_RANK] = {0}, chosen[64];
    bool ge = w->simple == STET_TILE_GE, any = false;
    float best[64];

    do {
        int64_t at = first;
        bool inside = true;

        for (uint32_t i = 0; i + 1 < w->rank && inside; i++) {
            int64_t x = input_at(w, i, out[i], tap[i]);

            inside = x >= 0;
            at += x * j->strides[i];
        }
        if (!inside)
            continue;
        for (int64_t k = 0; k < n; k++) {
            float x = j->in[at + k];

            if (any && (ge ? best[k] >= x : best[k] > x))
                continue;
            best[k] = x;
            chosen[k] = at + k;
        }
        any = true;
    } while (stet_shape_next(tap, w->size, w->rank));
    for (int64_t k = 0; any && k < n; k++)
        j->out[chosen[k]] += source[k];
}

static void pool_task(void *context, uint64_t image)
{
    const struct pool_job *j = context;
    const struct stet_window *w = j->w;
    uint32_t last = w->rank - 1;
    int64_t out[STET_MAX_RANK] = {0}, each = (int64_t)w->out.elements / w->out.dims[0];
    const float *source = j->source + (int64_t)image * each;

    out[0] = (int64_t)image;
    for (int64_t row = 0; row < each / w->out.dims[last]; row++) {
        for (int64_t c = 0; c < w->out.dims[last]; c += 64)
            pool_window(j, out, source + c, w->out.dims[last] - c < 64 ? w->out.dims[last] - c : 64,
                        c);
        source += w->out.dims[last];
        for (uint32_t d = last; d-- > 1;) {
            if (++out[d] < w->out.dims[d])
                break;
            out[d] = 0;
        }
    }
}

static void k_select_and_scatter(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_window *w = params;
    size_t bytes = stet_dtype_bytes(w->types[0]);
    const char *in = bufs[0], *source = bufs[1];
    int64_t strides[STET_MAX_RANK], out[STET_MAX_RANK] = {0};
    char *d = bufs[3];
    struct chooser c;

    stet_tile_fill(d, bufs[2], bytes, w->in.elements);
    if (w->out.elements == 0 || w->in.elements == 0)
        return;
    if (is_pool_grad(w)) {
        struct pool_job j = {.w = w, .in = bufs[0], .source = bufs[1], .out = bufs[3]};

        stet_graph_dense_strides(&w->in, j.strides);
        stet_pool_for(pool, (uint64_t)w->out.dims[0], pool_task, &j);
        return;
    }
    c.w = w;
    stet_tile_begin(&w->body->prog, &c.select, NULL, 1);
    stet_tile_begin(&w->scatter->prog, &c.scatter, NULL, 1);
    stet_graph_dense_strides(&w->in, strides);
    do {
        int64_t tap[STET_MAX_RANK] = {0}, chosen = -1;

        do {
            int64_t at = 0;
            bool inside = true;

            for (uint32_t i = 0; i < w->rank && inside; i++) {
                int64_t x = input_at(w, i, out[i], tap[i]);

                inside = x >= 0;
                at += x * strides[i];
            }
            if (inside && (chosen < 0 || !keeps(&c, in + (size_t)at * bytes))) {
                chosen = at;
                stet_to_register(c.best, in + (size_t)at * bytes, w->types[0], 1);
            }
        } while (stet_shape_next(tap, w->size, w->rank));
        if (chosen >= 0)
            add_to(&c, d + (size_t)chosen * bytes, source);
        source += bytes;
    } while (stet_shape_next(out, w->out.dims, w->rank));
}

const struct stet_kernel stet_kernel_window = {"reduce_window", k_window};
const struct stet_kernel stet_kernel_select_and_scatter = {"select_and_scatter",
                                                           k_select_and_scatter};
