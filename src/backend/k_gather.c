/* gather and scatter. Indices outside are clamped by gather and skipped by scatter. Twin:
 * ref/index.c. */
#include "backend/body_run.h"
#include "backend/params.h"
#include "base/known.h"

/* Index vectors are read this many at a time. */
enum { SOME = 256 };

/* Where the windows of a few index vectors are: in the operand, and in the result or updates. */
struct places {
    int64_t operand[SOME], other[SOME];
    bool inside[SOME];
};

/* Adds component k of `n` index vectors, `step` apart, to where they are in the operand. */
static void add_component(const struct stet_gather_params *g, struct places *p, uint32_t k,
                          const void *indices, int64_t at, int64_t step, int64_t first, int64_t n)
{
    int64_t limit = g->limit[k], scale = g->step[k];

#define ADD(READ)                                                                                  \
    for (int64_t i = 0; i < n; i++) {                                                              \
        int64_t x = (READ), within = x < 0 ? 0 : x > limit ? limit : x;                            \
                                                                                                   \
        p->inside[first + i] &= x == within;                                                       \
        p->operand[first + i] += within * scale;                                                   \
    }
    if (g->index_type == STET_DT_S32)
        ADD(((const int32_t *)indices)[at + i * step])
    else if (g->index_type == STET_DT_S64)
        ADD(((const int64_t *)indices)[at + i * step])
    else if (g->index_type == STET_DT_U32)
        ADD((int64_t)((const uint32_t *)indices)[at + i * step])
    else
        ADD(stet_backend_index_at(indices, g->index_type, (uint64_t)(at + i * step)))
#undef ADD
}

/* Adds where the dimensions of the grid before `last` are at position `rest` of them. */
static void add_outer(const struct stet_gather_params *g, uint32_t last, int64_t rest,
                      int64_t *index, int64_t *other, int64_t *operand)
{
    for (uint32_t d = last; d-- > 0;) {
        int64_t x = rest % g->batch_dims[d];

        rest /= g->batch_dims[d];
        *index += x * g->index_strides[d];
        *other += x * g->result_strides[d];
        *operand += x * g->batching_step[d];
    }
}

/* The windows of `n` index vectors, beginning with number `start`. */
static void find_places(const struct stet_gather_params *g, const void *indices, int64_t start,
                        int64_t n, struct places *p)
{
    uint32_t last = g->batch_rank ? g->batch_rank - 1 : 0;
    int64_t inner = g->batch_rank ? g->batch_dims[last] : 1;
    int64_t index_step = g->batch_rank ? g->index_strides[last] : 0;
    int64_t other_step = g->batch_rank ? g->result_strides[last] : 0;
    int64_t operand_step = g->batch_rank ? g->batching_step[last] : 0;

    STET_KNOWN(inner > 0 && start >= 0); /* an empty grid has no tasks */
    for (int64_t i = 0; i < n;) {        /* along the innermost dimension of the grid */
        int64_t at = (start + i) % inner, rest = (start + i) / inner;
        int64_t run = inner - at < n - i ? inner - at : n - i;
        int64_t index = at * index_step, other = at * other_step, operand = at * operand_step;

        add_outer(g, last, rest, &index, &other, &operand);
        for (int64_t j = 0; j < run; j++) {
            p->operand[i + j] = operand + j * operand_step;
            p->other[i + j] = other + j * other_step;
            p->inside[i + j] = true;
        }
        for (uint32_t k = 0; k < g->depth; k++)
            add_component(g, p, k, indices, index + (int64_t)k * g->depth_stride, index_step, i,
                          run);
        i += run;
    }
}

/* The elements of a window if they are adjacent on both sides, else 0. */
static int64_t adjacent(const struct stet_gather_params *g)
{
    int64_t run = 1;

    for (uint32_t d = g->window_rank; d-- > 0;) {
        if (g->window_dims[d] == 1)
            continue;
        if (g->window_from[d] != run || g->window_to[d] != run)
            return 0;
        run *= g->window_dims[d];
    }
    return run;
}

/* ---- gather ---- */

struct gather_job {
    const struct stet_gather_params *g;
    void *const *bufs;
    int64_t each, run;
};

#define ELEMENTS(T)                                                                                \
    for (int64_t i = 0; i < n; i++)                                                                \
    ((T *)(void *)to)[p->other[i]] = ((const T *)(const void *)from)[p->operand[i]]

static void gather_some(const struct gather_job *j, const struct places *p, int64_t n)
{
    const struct stet_gather_params *g = j->g;
    size_t bytes = g->bytes[0];
    const char *from = j->bufs[0];
    char *to = j->bufs[2];
    struct stet_move m = {.rank = g->window_rank};

    if (j->run == 1 && bytes == 4) {
        ELEMENTS(uint32_t);
    } else if (j->run == 1 && bytes == 8) {
        ELEMENTS(uint64_t);
    } else if (j->run) {
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)p->other[i] * bytes, from + (size_t)p->operand[i] * bytes,
                   (size_t)j->run * bytes);
    } else {
        memcpy(m.dims, g->window_dims, sizeof m.dims);
        memcpy(m.from_strides, g->window_from, sizeof m.dims);
        memcpy(m.to_strides, g->window_to, sizeof m.dims);
        for (int64_t i = 0; i < n; i++)
            stet_backend_move_run(&m, bytes, from + (size_t)p->operand[i] * bytes,
                                  to + (size_t)p->other[i] * bytes, NULL);
    }
}

/* Single elements of 4 bytes by single indices, along the innermost dimension of the grid. */
static void gather_line(const struct gather_job *j, int64_t start, int64_t n)
{
    const struct stet_gather_params *g = j->g;
    uint32_t last = g->batch_rank - 1;
    int64_t at = start % g->batch_dims[last], rest = start / g->batch_dims[last];
    int64_t index = at * g->index_strides[last], limit = g->limit[0], scale = g->step[0];
    int64_t other = at * g->result_strides[last], operand = at * g->batching_step[last];
    const uint32_t *from = j->bufs[0];
    const int32_t *indices = j->bufs[1];
    uint32_t *to = j->bufs[2];

    add_outer(g, last, rest, &index, &other, &operand);
    from += operand, indices += index, to += other;
    for (int64_t i = 0; i < n; i++) {
        int64_t x = indices[i * g->index_strides[last]];

        x = x < 0 ? 0 : x > limit ? limit : x;
        to[i * g->result_strides[last]] = from[i * g->batching_step[last] + x * scale];
    }
}

static bool has_lines(const struct gather_job *j)
{
    return j->run == 1 && j->g->bytes[0] == 4 && j->g->depth == 1 && j->g->batch_rank &&
           j->g->index_type == STET_DT_S32;
}

static void gather_task(void *context, uint64_t task)
{
    const struct gather_job *j = context;
    int64_t at = (int64_t)task * j->each, end = at + j->each;
    struct places p;

    end = end < j->g->batch ? end : j->g->batch;
    while (has_lines(j) && at < end) {
        int64_t inner = j->g->batch_dims[j->g->batch_rank - 1], left = inner - at % inner;

        left = left < end - at ? left : end - at;
        gather_line(j, at, left);
        at += left;
    }
    for (; at < end; at += SOME) {
        int64_t n = end - at < SOME ? end - at : SOME;

        find_places(j->g, j->bufs[1], at, n, &p);
        gather_some(j, &p, n);
    }
}

static void k_gather(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_gather_params *g = params;
    struct gather_job j = {.g = g, .bufs = bufs, .run = adjacent(g)};

    if (g->batch == 0 || g->window == 0)
        return;
    j.each = 1 + 16384 / g->window;
    stet_pool_for(pool, (uint64_t)((g->batch + j.each - 1) / j.each), gather_task, &j);
}

/* ---- scatter ---- */

struct scatterer {
    const struct stet_gather_params *g;
    struct stet_tile_state body;
    void *const *bufs;
    stet_tile_fn quick; /* the body as a kernel, or NULL */
    _Alignas(64) char old[32][16 * STET_BODY_LANES], fresh[32][16 * STET_BODY_LANES];
};

/* n elements of every operand at `to`, combined with the updates at `from`; both contiguous. */
static void update_run(struct scatterer *s, int64_t to, int64_t from, int64_t n)
{
    const struct stet_gather_params *g = s->g;
    uint32_t c = g->operands;

    for (int64_t at = 0; at < n; at += STET_BODY_LANES) {
        size_t some = (size_t)(n - at < STET_BODY_LANES ? n - at : STET_BODY_LANES);

        for (uint32_t i = 0; i < c; i++) {
            const char *out = s->bufs[2 * c + 1 + i], *up = s->bufs[c + 1 + i];

            stet_to_register(s->old[i], out + (size_t)(to + at) * g->bytes[i], g->types[i], some);
            stet_to_register(s->fresh[i], up + (size_t)(from + at) * g->bytes[i], g->types[i],
                             some);
            stet_body_arg(g->body, &s->body, i, s->old[i]);
            stet_body_arg(g->body, &s->body, c + i, s->fresh[i]);
        }
        stet_tile_apply(&g->body->prog, &s->body, some);
        for (uint32_t i = 0; i < c; i++)
            stet_from_register((char *)s->bufs[2 * c + 1 + i] + (size_t)(to + at) * g->bytes[i],
                               stet_body_result(g->body, &s->body, i), g->types[i], some);
    }
}

/* The same where the body is one operation of one operand, or returns the update. */
static void quick_run(struct scatterer *s, int64_t to, int64_t from, int64_t n)
{
    size_t bytes = s->g->bytes[0];
    char *d = (char *)s->bufs[3] + (size_t)to * bytes;
    const char *u = (const char *)s->bufs[2] + (size_t)from * bytes;

    if (s->quick)
        s->quick(d, d, u, NULL, (size_t)n);
    else
        memcpy(d, u, (size_t)n * bytes);
}

static bool is_quick(const struct stet_gather_params *g)
{
    return g->operands == 1 &&
           (g->simple == -2 || (g->simple >= 0 && stet_tile_ctype(g->types[0]) == g->types[0]));
}

static void window_runs(struct scatterer *s, int64_t to, int64_t from, bool quick)
{
    const struct stet_gather_params *g = s->g;
    uint32_t r = g->window_rank;
    int64_t at[STET_MAX_RANK] = {0}, run = 1, runs;

    if (r && g->window_from[r - 1] == 1 && g->window_to[r - 1] == 1)
        run = g->window_dims[--r];
    runs = g->window / run;
    for (int64_t i = 0; i < runs; i++) {
        int64_t a = to, b = from;

        for (uint32_t d = 0; d < r; d++) {
            a += at[d] * g->window_from[d];
            b += at[d] * g->window_to[d];
        }
        (quick ? quick_run : update_run)(s, a, b, run);
        for (uint32_t d = r; d-- > 0;) {
            if (++at[d] < g->window_dims[d])
                break;
            at[d] = 0;
        }
    }
}

/* Single elements of f32 that are added: the gradient of reading single elements. */
static void add_elements(const struct places *p, int64_t n, float *d, const float *u)
{
    for (int64_t i = 0; i < n; i++)
        if (p->inside[i])
            d[p->operand[i]] += u[p->other[i]];
}

/* Updates of an element are applied in the order of the indices, so every run gives the same
 * result. A task has a part of each window and all updates, or all windows that begin in its part
 * of the operand. */
struct scatter_job {
    const struct stet_gather_params *g;
    void *const *bufs;
    int64_t run, part; /* elements of an adjacent window, and of it in a task */
    int64_t ranges;    /* of the operand, if windows are not cut */
};

static void scatter_part(void *context, uint64_t task)
{
    const struct scatter_job *j = context;
    const struct stet_gather_params *g = j->g;
    int64_t first = j->ranges > 1 ? 0 : (int64_t)task * j->part;
    int64_t width = j->run - first < j->part ? j->run - first : j->part;
    int64_t all = (int64_t)g->operand.elements, range = j->ranges > 1 ? (int64_t)task : 0;
    int64_t low = all / j->ranges * range,
            high = range + 1 == j->ranges ? all : low + all / j->ranges;
    bool quick = is_quick(g);
    struct scatterer s;
    struct places p;

    s.g = g;
    s.bufs = j->bufs;
    s.quick = quick && g->simple >= 0 ? stet_tile_kernels()->ops[g->types[0]][g->simple] : NULL;
    if (!quick)
        stet_tile_begin(&g->body->prog, &s.body, NULL, STET_BODY_LANES);
    for (int64_t at = 0; at < g->batch; at += SOME) {
        int64_t n = g->batch - at < SOME ? g->batch - at : SOME;

        find_places(g, j->bufs[g->operands], at, n, &p);
        for (int64_t i = 0; i < n && j->ranges > 1; i++)
            p.inside[i] &= p.operand[i] >= low && p.operand[i] < high;
        if (j->run == 1 && g->simple == STET_TILE_ADD && g->types[0] == STET_DT_F32 && quick) {
            add_elements(&p, n, j->bufs[3], j->bufs[2]);
            continue;
        }
        for (int64_t i = 0; i < n; i++) {
            if (!p.inside[i])
                continue;
            if (!j->run)
                window_runs(&s, p.operand[i], p.other[i], quick);
            else
                (quick ? quick_run : update_run)(&s, p.operand[i] + first, p.other[i] + first,
                                                 width);
        }
    }
}

static void k_scatter(const void *params, void *const *bufs, struct stet_pool *pool)
{
    enum { LEAST_PART = 64 };
    const struct stet_gather_params *g = params;
    uint32_t c = g->operands;
    struct scatter_job j = {.g = g, .bufs = bufs};

    for (uint32_t i = 0; i < c; i++)
        if (bufs[i] != bufs[2 * c + 1 + i])
            stet_backend_copy_bytes(bufs[2 * c + 1 + i], bufs[i], g->operand.elements * g->bytes[i],
                                    pool);
    if (g->batch == 0 || g->window == 0)
        return;
    j.run = adjacent(g);
    j.part = j.run;
    j.ranges = 1;
    if (j.run >= 2 * LEAST_PART && g->batch * j.run > 1 << 16)
        j.part = LEAST_PART;
    else if (j.run && g->batch * j.run > 1 << 20) /* each task finds the places of all updates */
        j.ranges = (int64_t)stet_pool_threads(pool) < 8 ? (int64_t)stet_pool_threads(pool) : 8;
    stet_pool_for(pool,
                  j.ranges > 1 ? (uint64_t)j.ranges
                  : j.run      ? (uint64_t)((j.run + j.part - 1) / j.part)
                               : 1,
                  scatter_part, &j);
}

const struct stet_kernel stet_kernel_gather = {"gather", k_gather};
const struct stet_kernel stet_kernel_scatter = {"scatter", k_scatter};
