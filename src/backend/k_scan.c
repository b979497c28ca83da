/* Running totals along one dimension: windows that end (or begin) at each element. Twin:
 * ref/reduce.c. */
#include "backend/body_run.h"
#include "backend/params.h"

enum { WIDTH = 512 };

struct scan_job {
    const struct stet_window *w;
    void *const *bufs;
    int64_t outer, length, inner, width, pieces;
};

/* ---- any body: lanes along the dimensions inside ---- */

struct scan_lanes {
    struct stet_tile_state body;
    _Alignas(64) char acc[16 * STET_BODY_LANES], x[16 * STET_BODY_LANES], raw[16 * STET_BODY_LANES];
};

static void body_task(void *context, uint64_t task)
{
    const struct scan_job *j = context;
    const struct stet_window *w = j->w;
    int64_t o = (int64_t)task / j->pieces, first = (int64_t)task % j->pieces * j->width;
    size_t n = (size_t)(j->inner - first < j->width ? j->inner - first : j->width);
    enum stet_dtype t = w->types[0];
    size_t bytes = stet_dtype_bytes(t), wide = stet_dtype_bytes(stet_tile_ctype(t));
    struct scan_lanes s;

    stet_tile_begin(&w->body->prog, &s.body, NULL, n);
    stet_tile_fill(s.raw, j->bufs[1], bytes, n);
    stet_to_register(s.acc, s.raw, t, n);
    for (int64_t i = 0; i < j->length; i++) {
        int64_t at = w->backwards ? j->length - 1 - i : i;
        size_t offset = (size_t)((o * j->length + at) * j->inner + first) * bytes;

        stet_to_register(s.x, (const char *)j->bufs[0] + offset, t, n);
        stet_body_arg(w->body, &s.body, w->backwards ? 1 : 0, s.acc);
        stet_body_arg(w->body, &s.body, w->backwards ? 0 : 1, s.x);
        stet_tile_apply(&w->body->prog, &s.body, n);
        memmove(s.acc, stet_body_result(w->body, &s.body, 0), n * wide);
        stet_from_register((char *)j->bufs[2] + offset, s.acc, t, n);
    }
}

/* ---- one operation: rows of memory are added to rows ---- */

static void rows_task(void *context, uint64_t task)
{
    const struct scan_job *j = context;
    const struct stet_window *w = j->w;
    int64_t o = (int64_t)task / j->pieces, first = (int64_t)task % j->pieces * j->width;
    size_t n = (size_t)(j->inner - first < j->width ? j->inner - first : j->width);
    size_t bytes = stet_dtype_bytes(w->types[0]);
    stet_tile_fn op = stet_tile_kernels()->ops[w->types[0]][w->simple];
    _Alignas(64) char init[16 * WIDTH];
    const char *before = init;

    stet_tile_fill(init, j->bufs[1], bytes, n);
    for (int64_t i = 0; i < j->length; i++) {
        int64_t at = w->backwards ? j->length - 1 - i : i;
        size_t offset = (size_t)((o * j->length + at) * j->inner + first) * bytes;
        const char *x = (const char *)j->bufs[0] + offset;
        char *d = (char *)j->bufs[2] + offset;

        op(d, w->backwards ? x : before, w->backwards ? before : x, NULL, n);
        before = d;
    }
}

/* ---- one operation along adjacent elements ---- */

#define MAX_NAN(x, y) ((x) != (x) || (x) > (y) ? (x) : (y))
#define MIN_NAN(x, y) ((x) != (x) || (x) < (y) ? (x) : (y))
#define ADD_TWO(x, y) ((x) + (y))
#define MUL_TWO(x, y) ((x) * (y))
/* d[i] from d[i - 1] and a[i]; `back` from the end, where the operands are exchanged. */
#define LINE(NAME, T, OP)                                                                          \
    static void NAME(T *d, const T *a, T before, int64_t n, bool back)                             \
    {                                                                                              \
        for (int64_t i = 0; i < n && !back; i++)                                                   \
            d[i] = before = (T)OP(before, a[i]);                                                   \
        for (int64_t i = n; back && i-- > 0;)                                                      \
            d[i] = before = (T)OP(a[i], before);                                                   \
    }
#define LINES(S, T)                                                                                \
    LINE(add_##S, T, ADD_TWO)                                                                      \
    LINE(mul_##S, T, MUL_TWO)                                                                      \
    LINE(max_##S, T, MAX_NAN)                                                                      \
    LINE(min_##S, T, MIN_NAN)                                                                      \
    static bool line_##S(const struct scan_job *j, int64_t row)                                    \
    {                                                                                              \
        T *d = (T *)j->bufs[2] + row * j->length;                                                  \
        const T *a = (const T *)j->bufs[0] + row * j->length;                                      \
        T init = *(const T *)j->bufs[1];                                                           \
                                                                                                   \
        switch (j->w->simple) {                                                                    \
        case STET_TILE_ADD:                                                                        \
            add_##S(d, a, init, j->length, j->w->backwards);                                       \
            return true;                                                                           \
        case STET_TILE_MUL:                                                                        \
            mul_##S(d, a, init, j->length, j->w->backwards);                                       \
            return true;                                                                           \
        case STET_TILE_MAX:                                                                        \
            max_##S(d, a, init, j->length, j->w->backwards);                                       \
            return true;                                                                           \
        case STET_TILE_MIN:                                                                        \
            min_##S(d, a, init, j->length, j->w->backwards);                                       \
            return true;                                                                           \
        default:                                                                                   \
            return false;                                                                          \
        }                                                                                          \
    }
LINES(f32, float)
LINES(f64, double)
LINES(s32, int32_t)
LINES(u32, uint32_t)
LINES(u64, uint64_t)

static bool line(const struct scan_job *j, int64_t row)
{
    bool ordered = j->w->simple == STET_TILE_MAX || j->w->simple == STET_TILE_MIN;

    switch (j->w->types[0]) {
    case STET_DT_F32:
        return line_f32(j, row);
    case STET_DT_F64:
        return line_f64(j, row);
    case STET_DT_S32: /* sums wrap */
        return ordered ? line_s32(j, row) : line_u32(j, row);
    case STET_DT_U32:
        return line_u32(j, row);
    case STET_DT_S64:
        return !ordered && line_u64(j, row);
    case STET_DT_U64:
        return line_u64(j, row);
    default:
        return false;
    }
}

static void line_task(void *context, uint64_t task)
{
    const struct scan_job *j = context;

    for (int64_t row = (int64_t)task * j->width;
         row < ((int64_t)task + 1) * j->width && row < j->outer; row++)
        if (!line(j, row))
            rows_task(context, (uint64_t)row);
}

static void k_scan(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_window *w = params;
    struct scan_job j = {.w = w, .bufs = bufs, .outer = 1, .inner = 1, .pieces = 1};
    bool plain = w->simple >= 0 && stet_tile_ctype(w->types[0]) == w->types[0];

    if (w->out.elements == 0)
        return;
    for (uint32_t d = 0; d < w->rank; d++)
        *(d < w->scan_dim ? &j.outer : &j.inner) *= d == w->scan_dim ? 1 : w->in.dims[d];
    j.length = w->in.dims[w->scan_dim];
    if (plain && j.inner == 1) {
        j.width = 1 + 8192 / j.length; /* rows of a task */
        stet_pool_for(pool, (uint64_t)((j.outer + j.width - 1) / j.width), line_task, &j);
        return;
    }
    j.width = plain ? WIDTH : STET_BODY_LANES;
    j.pieces = (j.inner + j.width - 1) / j.width;
    stet_pool_for(pool, (uint64_t)(j.outer * j.pieces), plain ? rows_task : body_task, &j);
}

const struct stet_kernel stet_kernel_scan = {"scan", k_scan};
