/* gather and scatter. Indices outside are clamped by gather and skipped by scatter. Twin:
 * ref/index.c. */
#include "backend/body_run.h"
#include "backend/params.h"

struct gather_job {
    const struct stet_gather_params *g;
    void *const *bufs;
    int64_t each;
};

static void offsets(const struct stet_gather_params *g, int64_t i, int64_t *index, int64_t *result,
                    int64_t *operand)
{
    *index = *result = *operand = 0;
    for (uint32_t d = g->batch_rank; d-- > 0;) {
        int64_t at = i % g->batch_dims[d];

        i /= g->batch_dims[d];
        *index += at * g->index_strides[d];
        *result += at * g->result_strides[d];
        *operand += at * g->batching_step[d];
    }
}

static void gather_task(void *context, uint64_t task)
{
    const struct gather_job *j = context;
    const struct stet_gather_params *g = j->g;
    size_t bytes = g->bytes[0];
    struct stet_move m = {.rank = g->window_rank};

    memcpy(m.dims, g->window_dims, sizeof m.dims);
    memcpy(m.from_strides, g->window_from, sizeof m.dims);
    memcpy(m.to_strides, g->window_to, sizeof m.dims);
    for (int64_t i = (int64_t)task * j->each; i < ((int64_t)task + 1) * j->each && i < g->batch;
         i++) {
        int64_t index, result, from;

        offsets(g, i, &index, &result, &from);
        for (uint32_t k = 0; k < g->depth; k++) {
            int64_t at = stet_backend_index_at(j->bufs[1], g->index_type,
                                               (uint64_t)(index + (int64_t)k * g->depth_stride));

            at = at < 0 ? 0 : at > g->limit[k] ? g->limit[k] : at;
            from += at * g->step[k];
        }
        if (g->window == 1)
            memcpy((char *)j->bufs[2] + (size_t)result * bytes,
                   (const char *)j->bufs[0] + (size_t)from * bytes, bytes);
        else
            stet_backend_move_run(&m, bytes, (const char *)j->bufs[0] + (size_t)from * bytes,
                                  (char *)j->bufs[2] + (size_t)result * bytes, NULL);
    }
}

static void k_gather(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_gather_params *g = params;
    struct gather_job j = {.g = g, .bufs = bufs};

    if (g->batch == 0 || g->window == 0)
        return;
    j.each = 1 + 8192 / g->window;
    stet_pool_for(pool, (uint64_t)((g->batch + j.each - 1) / j.each), gather_task, &j);
}

/* ---- scatter ---- */

struct scatterer {
    const struct stet_gather_params *g;
    struct stet_tile_state body;
    void *const *bufs;
    const struct stet_tile_set *k;
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

/* A fast path for the most common body and type, without lanes. */
static bool quick_run(struct scatterer *s, int64_t to, int64_t from, int64_t n)
{
    const struct stet_gather_params *g = s->g;
    size_t bytes = g->bytes[0];
    char *d = (char *)s->bufs[3] + (size_t)to * bytes;
    const char *u = (const char *)s->bufs[2] + (size_t)from * bytes;

    if (g->operands != 1)
        return false;
    if (g->simple == -2) {
        memcpy(d, u, (size_t)n * bytes);
        return true;
    }
    if (g->simple >= 0 && stet_tile_ctype(g->types[0]) == g->types[0]) {
        s->k->ops[g->types[0]][g->simple](d, d, u, NULL, (size_t)n);
        return true;
    }
    return false;
}

static void window_runs(struct scatterer *s, int64_t to, int64_t from)
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
        if (!quick_run(s, a, b, run))
            update_run(s, a, b, run);
        for (uint32_t d = r; d-- > 0;) {
            if (++at[d] < g->window_dims[d])
                break;
            at[d] = 0;
        }
    }
}

/* Updates are applied in the order of the indices, so every run gives the same result. */
static void k_scatter(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_gather_params *g = params;
    uint32_t c = g->operands;
    struct scatterer s;

    (void)pool;
    for (uint32_t i = 0; i < c; i++)
        if (bufs[i] != bufs[2 * c + 1 + i] && g->operand.elements)
            memcpy(bufs[2 * c + 1 + i], bufs[i], g->operand.elements * g->bytes[i]);
    if (g->batch == 0 || g->window == 0)
        return;
    s.g = g;
    s.bufs = bufs;
    s.k = stet_tile_kernels();
    stet_tile_begin(&g->body->prog, &s.body, NULL, STET_BODY_LANES);
    for (int64_t i = 0; i < g->batch; i++) {
        int64_t index, from, to;
        bool inside = true;

        offsets(g, i, &index, &from, &to);
        for (uint32_t k = 0; k < g->depth && inside; k++) {
            int64_t at = stet_backend_index_at(bufs[c], g->index_type,
                                               (uint64_t)(index + (int64_t)k * g->depth_stride));

            inside = at >= 0 && at <= g->limit[k];
            to += at * (inside ? g->step[k] : 0);
        }
        if (inside)
            window_runs(&s, to, from);
    }
}

const struct stet_kernel stet_kernel_gather = {"gather", k_gather};
const struct stet_kernel stet_kernel_scatter = {"scatter", k_scatter};
