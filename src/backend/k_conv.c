/* Convolution as matrix products: the window's elements of a block of positions become columns, the
 * kernel a matrix [out features, taps * in features]. Twin: ref/dot.c. */
#include "backend/conv.h"

#include "base/divisor.h"

/* ---- grids: positions whose windows have the same taps in the input ---- */

/* Positions `every` apart meet the elements of a dilated input with the same taps. */
static int64_t period(const struct stet_conv *c, uint32_t i)
{
    return c->in_dilation[i] / stet_divisor_common(c->in_dilation[i], c->stride[i]);
}

int64_t stet_conv_phases(const struct stet_conv *c)
{
    int64_t n = 1;

    for (uint32_t i = 0; i < c->spatial; i++)
        n *= period(c, i);
    return n;
}

void stet_conv_grid(const struct stet_conv *c, int64_t phase, int64_t *lists,
                    struct stet_conv_grid *g)
{
    g->positions = g->all_taps = 1;
    for (uint32_t i = c->spatial; i-- > 0;) {
        int64_t every = period(c, i), first = phase % every, d = c->in_dilation[i];
        int64_t *at = lists, *tap = lists + c->window[i];

        lists += 2 * c->window[i];
        phase /= every;
        g->first[i] = first, g->every[i] = every;
        g->count[i] = first < c->out[i] ? (c->out[i] - first + every - 1) / every : 0;
        g->step[i] = every * c->stride[i] / d;
        g->taps[i] = 0;
        for (int64_t t = 0; t < c->window[i]; t++) {
            int64_t x = first * c->stride[i] + t * c->window_dilation[i] - c->low[i];

            if (x % d)
                continue;
            at[g->taps[i]] = x / d;
            tap[g->taps[i]++] = t;
        }
        g->at[i] = at, g->tap[i] = tap;
        g->positions *= g->count[i];
        g->all_taps *= g->taps[i];
    }
}

/* ---- elements ---- */

/* Elements of memory to the compute type. */
static void widen(char *d, const char *s, size_t n, enum stet_dtype memory, enum stet_dtype type)
{
    const struct stet_tile_set *k = stet_tile_kernels();
    _Alignas(64) char wide[4 * 256];

    for (size_t at = 0; at < n; at += 256) {
        size_t some = n - at < 256 ? n - at : 256;
        const char *src = s + at * stet_dtype_bytes(memory);

        if (k->load[memory]) {
            k->load[memory](wide, src, NULL, NULL, some);
            src = wide;
        }
        k->convert[stet_tile_ctype(memory)][type](d + at * stet_dtype_bytes(type), src, NULL, NULL,
                                                  some);
    }
}

/* The in features at `s`, which are `step` apart, one after the other. */
static char *copy_features(const struct stet_conv *c, char *d, const char *s, int64_t step)
{
    size_t from = stet_dtype_bytes(c->memory), to = stet_dtype_bytes(c->dtype);
    int64_t n = c->in_features;

    if (c->memory == c->dtype)
        stet_tile_moves(stet_tile_kernels(), from)->strided(d, s, step, (size_t)n);
    else if (step == 1)
        widen(d, s, (size_t)n, c->memory, c->dtype);
    else
        for (int64_t f = 0; f < n; f++)
            widen(d + (size_t)f * to, s + f * step * (int64_t)from, 1, c->memory, c->dtype);
    return d + (size_t)n * to;
}

/* ---- the kernel ---- */

/* Rows: out features of each group; columns: tap-major, then in feature. */
static void pack_kernel(const struct stet_conv *c, const struct stet_conv_grid *g, const char *w,
                        char *d)
{
    size_t from = stet_dtype_bytes(c->memory);
    int64_t outs = c->groups * c->out_features, tap[STET_MAX_SPATIAL];

    for (int64_t o = 0; o < outs && g->all_taps; o++) {
        memset(tap, 0, sizeof tap);
        do {
            int64_t at = c->w_offset + o * c->w_out;

            for (uint32_t i = 0; i < c->spatial; i++) {
                int64_t t = g->tap[i][tap[i]];

                at += (c->reversal[i] ? c->window[i] - 1 - t : t) * c->w_spatial[i];
            }
            d = copy_features(c, d, w + at * (int64_t)from, c->w_in);
        } while (stet_shape_next(tap, g->taps, c->spatial));
    }
}

/* ---- columns ---- */

struct conv_job {
    const struct stet_conv *c;
    struct stet_conv_grid grid;
    const char *x, *w;
    char *y, *temp;
    int64_t blocks;
    bool runs; /* all taps along the last dimension are adjacent in memory */
};

/* What the taps along the last dimension read from `x`, where it is a row of adjacent elements;
 * outside there are zeros. */
static char *copy_run(const struct conv_job *j, char *d, const char *x, int64_t first)
{
    const struct stet_conv *c = j->c;
    uint32_t last = c->spatial - 1;
    size_t each = (size_t)c->in_features * stet_dtype_bytes(c->dtype);
    int64_t taps = j->grid.taps[last], low = first < 0 ? -first : 0, high = c->in[last] - first;

    low = low > taps ? taps : low;
    high = high > taps ? taps : high < low ? low : high;
    if (low)
        memset(d, 0, (size_t)low * each);
    if (high > low)
        memcpy(d + (size_t)low * each, x + (first + low) * (int64_t)each,
               (size_t)(high - low) * each);
    if (high < taps)
        memset(d + (size_t)high * each, 0, (size_t)(taps - high) * each);
    return d + (size_t)taps * each;
}

/* What the window of the position at `out` reads, tap after tap. */
static char *copy_window(const struct conv_job *j, char *d, const char *x, const int64_t *out)
{
    const struct stet_conv *c = j->c;
    const struct stet_conv_grid *g = &j->grid;
    size_t from = stet_dtype_bytes(c->memory), to = stet_dtype_bytes(c->dtype);
    uint32_t rank = j->runs ? c->spatial - 1 : c->spatial;
    int64_t tap[STET_MAX_SPATIAL] = {0};

    do {
        int64_t offset = 0;
        bool inside = true;

        for (uint32_t i = 0; i < rank && inside; i++) {
            int64_t at = g->at[i][tap[i]] + out[i] * g->step[i];

            inside = at >= 0 && at < c->in[i];
            offset += at * c->x_spatial[i];
        }
        if (!inside) {
            size_t n = (size_t)(c->in_features * (j->runs ? g->taps[rank] : 1)) * to;

            memset(d, 0, n);
            d += n;
        } else if (j->runs) {
            d = copy_run(j, d, x + offset * (int64_t)from,
                         g->at[rank][0] + out[rank] * g->step[rank]);
        } else {
            d = copy_features(c, d, x + offset * (int64_t)from, c->x_feature);
        }
    } while (stet_shape_next(tap, g->taps, rank));
    return d;
}

static void position(const struct stet_conv_grid *g, uint32_t rank, int64_t number, int64_t *at)
{
    for (uint32_t i = rank; i-- > 0;) {
        at[i] = number % g->count[i];
        number /= g->count[i];
    }
}

static void store(const struct stet_conv *c, char *y, const char *row)
{
    size_t to = stet_dtype_bytes(c->out_type), from = stet_dtype_bytes(c->dtype);

    if (c->y_feature == 1 && c->out_type == c->dtype) {
        memcpy(y, row, (size_t)c->out_features * to);
        return;
    }
    if (c->out_type == STET_DT_F32 && c->dtype == STET_DT_F32) {
        for (int64_t f = 0; f < c->out_features; f++)
            ((float *)(void *)y)[f * c->y_feature] = ((const float *)(const void *)row)[f];
        return;
    }
    for (int64_t f = 0; f < c->out_features; f++) {
        char *d = y + f * c->y_feature * (int64_t)to;

        if (c->out_type == c->dtype)
            memcpy(d, row + (size_t)f * from, to);
        else
            stet_backend_unpack(d, row + (size_t)f * from, 1, c->dtype, c->out_type);
    }
}

/* Are the positions of the grid rows of the result already? */
static bool is_dense(const struct stet_conv *c, const struct stet_conv_grid *g)
{
    if (c->out_type != c->dtype || c->y_feature != 1 || c->spatial == 0)
        return false;
    for (uint32_t i = 0; i < c->spatial; i++)
        if (g->every[i] != 1 ||
            (i + 1 < c->spatial && c->y_spatial[i] != c->y_spatial[i + 1] * c->out[i + 1]))
            return false;
    return true;
}

/* One block of positions of one image and group. */
static void conv_block(const struct conv_job *j, int64_t task, char *lane)
{
    const struct stet_conv *c = j->c;
    const struct stet_conv_grid *g = &j->grid;
    int64_t block = task % j->blocks, group = task / j->blocks % c->groups;
    int64_t image = task / j->blocks / c->groups;
    int64_t first = block * c->block, depth = g->all_taps * c->in_features;
    int64_t count = g->positions - first < c->block ? g->positions - first : c->block;
    size_t from = stet_dtype_bytes(c->memory), width = stet_dtype_bytes(c->dtype);
    size_t out_width = stet_dtype_bytes(c->out_type);
    /* batch groups cut the batch, feature groups the features */
    int64_t x = c->x_offset + (c->batch_groups > 1
                                   ? (group * c->batch + image) * c->x_batch
                                   : image * c->x_batch + group * c->in_features * c->x_feature);
    int64_t y = image * c->y_batch + group * c->out_features * c->y_feature;
    char *rows = lane + c->pack_x, *out = j->y + y * (int64_t)out_width, *d = lane;
    struct stet_gemm product = {.type = c->dtype,
                                .m = count,
                                .n = c->out_features,
                                .k = depth,
                                .lda = depth,
                                .ldb = depth,
                                .ldc = c->out_features,
                                .b_trans = true,
                                .a = lane,
                                .c = rows,
                                .b = j->temp + (size_t)(group * c->out_features * depth) * width};
    int64_t at[STET_MAX_SPATIAL] = {0};

    position(g, c->spatial, first, at);
    for (int64_t p = 0; p < count && depth; p++, stet_shape_next(at, g->count, c->spatial))
        d = copy_window(j, d, j->x + x * (int64_t)from, at);
    if (is_dense(c, g)) {
        product.ldc = c->y_spatial[c->spatial - 1];
        product.c = out + (size_t)(first * product.ldc) * width;
        stet_gemm(&product);
        return;
    }
    stet_gemm(&product);
    position(g, c->spatial, first, at);
    for (int64_t p = 0; p < count; p++, stet_shape_next(at, g->count, c->spatial)) {
        int64_t to = 0;

        for (uint32_t i = 0; i < c->spatial; i++)
            to += (g->first[i] + at[i] * g->every[i]) * c->y_spatial[i];
        store(c, out + to * (int64_t)out_width, rows + (size_t)(p * c->out_features) * width);
    }
}

static void conv_task(void *context, uint64_t lane)
{
    const struct conv_job *j = context;
    const struct stet_conv *c = j->c;
    int64_t tasks = j->blocks * c->batch * c->groups;

    for (int64_t t = (int64_t)lane; t < tasks; t += c->lanes)
        conv_block(j, t, j->temp + c->pack_w + c->lists + lane * (c->pack_x + c->pack_y));
}

static bool has_runs(const struct stet_conv *c)
{
    uint32_t last = c->spatial - 1;

    return c->spatial && c->memory == c->dtype && c->x_feature == 1 &&
           c->x_spatial[last] == c->in_features && c->in_dilation[last] == 1 &&
           c->window_dilation[last] == 1;
}

static void k_conv(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_conv *c = params;
    struct conv_job j = {.c = c, .x = bufs[0], .w = bufs[1], .y = bufs[2], .runs = has_runs(c)};

    if (c->batch == 0 || c->groups == 0 || c->out_features == 0 || c->positions == 0)
        return;
    if (c->way != STET_CONV_COLUMNS) {
        (c->way == STET_CONV_SWAPPED ? stet_conv_swapped : stet_conv_channels)(c, bufs, pool);
        return;
    }
    j.temp = bufs[3];
    for (int64_t phase = 0; phase < stet_conv_phases(c); phase++) {
        stet_conv_grid(c, phase, (int64_t *)(void *)(j.temp + c->pack_w), &j.grid);
        if (j.grid.positions == 0)
            continue;
        j.blocks = (j.grid.positions + c->block - 1) / c->block;
        pack_kernel(c, &j.grid, j.w, j.temp);
        stet_pool_for(pool, c->lanes, conv_task, &j);
    }
}

const struct stet_kernel stet_kernel_conv = {"conv", k_conv};
