/* Convolutions whose groups or images are adjacent elements. Twin: ref/dot.c. */
#include "backend/conv.h"

struct ways_job {
    const struct stet_conv *c;
    const char *x, *w;
    char *y, *temp;
};

/* Position `number` of the result. */
static void position_at(const struct stet_conv *c, int64_t number, int64_t *at)
{
    for (uint32_t i = c->spatial; i-- > 0;) {
        at[i] = number % c->out[i];
        number /= c->out[i];
    }
}

/* Where tap `tap` of the window at `out` reads, or false in the padding and between elements. */
static bool tap_reads(const struct stet_conv *c, const int64_t *out, const int64_t *tap, int64_t *x,
                      int64_t *w)
{
    *x = c->x_offset, *w = c->w_offset;
    for (uint32_t i = 0; i < c->spatial; i++) {
        int64_t at = out[i] * c->stride[i] + tap[i] * c->window_dilation[i] - c->low[i];
        int64_t number = c->reversal[i] ? c->window[i] - 1 - tap[i] : tap[i];

        if (c->in_dilation[i] != 1) {
            if (at % c->in_dilation[i])
                return false;
            at /= c->in_dilation[i];
        }
        if (at < 0 || at >= c->in[i])
            return false;
        *x += at * c->x_spatial[i];
        *w += number * c->w_spatial[i];
    }
    return true;
}

static int64_t result_at(const struct stet_conv *c, const int64_t *out)
{
    int64_t at = 0;

    for (uint32_t i = 0; i < c->spatial; i++)
        at += out[i] * c->y_spatial[i];
    return at;
}

/* ---- channels: sums over taps for all groups at once ---- */

enum { TAPS = 128 };

static void channels_position(const struct ways_job *j, int64_t image, const int64_t *out)
{
    const struct stet_conv *c = j->c;
    const float *xs[TAPS], *ws[TAPS], *x = (const float *)(const void *)j->x;
    const float *w = (const float *)(const void *)j->w;
    float *y = (float *)(void *)j->y + image * c->y_batch + result_at(c, out);
    int64_t tap[STET_MAX_SPATIAL] = {0}, n = 0;
    stet_channels_fn sum = *stet_tile_kernels()->channels;
    bool more = false, end = c->taps == 0;

    while (!end) {
        int64_t from, by;
        bool inside = tap_reads(c, out, tap, &from, &by);

        for (int64_t f = 0; f < c->in_features && inside; f++) {
            xs[n] = x + image * c->x_batch + from + f * c->x_feature;
            ws[n++] = w + by + f * c->w_in;
            if (n == TAPS) {
                sum(y, xs, ws, n, c->groups, more);
                more = true;
                n = 0;
            }
        }
        end = !stet_shape_next(tap, c->window, c->spatial);
    }
    sum(y, xs, ws, n, c->groups, more);
}

static void channels_task(void *context, uint64_t lane)
{
    const struct ways_job *j = context;
    const struct stet_conv *c = j->c;
    int64_t all = c->batch * c->positions, first = all * (int64_t)lane / c->lanes;
    int64_t end = all * ((int64_t)lane + 1) / c->lanes, out[STET_MAX_SPATIAL] = {0};

    for (int64_t i = first; i < end; i++) {
        position_at(c, i % c->positions, out);
        channels_position(j, i / c->positions, out);
    }
}

void stet_conv_channels(const struct stet_conv *c, void *const *bufs, struct stet_pool *pool)
{
    struct ways_job j = {.c = c, .x = bufs[0], .w = bufs[1], .y = bufs[2]};

    stet_pool_for(pool, c->lanes, channels_task, &j);
}

/* ---- swapped: at each position a product of [rows, images]' and [rows, out features], whose rows
 * are the taps of all in features ---- */

struct rows_of {
    char *x, *w;
    int64_t count, most;
};

static void add_product(const struct ways_job *j, struct rows_of *r, int64_t images, char *y,
                        bool more)
{
    const struct stet_conv *c = j->c;
    struct stet_gemm g = {.type = c->dtype,
                          .m = images,
                          .n = c->out_features,
                          .k = r->count,
                          .lda = images,
                          .ldb = c->out_features,
                          .ldc = c->y_batch,
                          .a_trans = true,
                          .add = more,
                          .a = r->x,
                          .b = r->w,
                          .c = y};

    stet_gemm(&g);
    r->count = 0;
}

static void swapped_position(const struct ways_job *j, const int64_t *out, int64_t image,
                             int64_t images, struct rows_of *r)
{
    const struct stet_conv *c = j->c;
    size_t width = stet_dtype_bytes(c->dtype), row = (size_t)images * width;
    size_t row_w = (size_t)c->out_features * width;
    char *y = j->y + (image * c->y_batch + result_at(c, out)) * (int64_t)width;
    bool more = false;

    for (int64_t f = 0; f < c->in_features; f++) {
        int64_t tap[STET_MAX_SPATIAL] = {0};

        do {
            int64_t x, w;

            if (!tap_reads(c, out, tap, &x, &w))
                continue;
            memcpy(r->x + (size_t)r->count * row,
                   j->x + (x + image + f * c->x_feature) * (int64_t)width, row);
            memcpy(r->w + (size_t)r->count * row_w, j->w + (w + f * c->w_in) * (int64_t)width,
                   row_w);
            if (++r->count == r->most) {
                add_product(j, r, images, y, more);
                more = true;
            }
        } while (stet_shape_next(tap, c->window, c->spatial));
    }
    add_product(j, r, images, y, more);
}

static void swapped_task(void *context, uint64_t lane)
{
    const struct ways_job *j = context;
    const struct stet_conv *c = j->c;
    size_t width = stet_dtype_bytes(c->dtype);
    char *temp = j->temp + c->lists + lane * (c->pack_x + c->pack_y);
    struct rows_of r = {.x = temp, .w = temp + c->pack_x};
    int64_t parts = (c->batch + c->block - 1) / c->block, out[STET_MAX_SPATIAL] = {0};

    r.most = (int64_t)(c->pack_x / width) / c->block;
    for (int64_t t = (int64_t)lane; t < c->positions * parts; t += c->lanes) {
        int64_t image = t % parts * c->block;

        position_at(c, t / parts, out);
        swapped_position(j, out, image, c->batch - image < c->block ? c->batch - image : c->block,
                         &r);
    }
}

void stet_conv_swapped(const struct stet_conv *c, void *const *bufs, struct stet_pool *pool)
{
    struct ways_job j = {.c = c, .x = bufs[0], .w = bufs[1], .y = bufs[2], .temp = bufs[3]};

    stet_pool_for(pool, c->lanes, swapped_task, &j);
}
