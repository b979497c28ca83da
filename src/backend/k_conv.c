/* Convolution as matrix products: the window's elements of a block of positions become columns, the
 * kernel a matrix [out features, taps * in features]. Twin: ref/dot.c. */
#include "backend/gemm.h"
#include "backend/params.h"

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

static void copy_one(char *d, const char *s, const struct stet_conv *c)
{
    if (c->memory == c->dtype)
        memcpy(d, s, stet_dtype_bytes(c->dtype));
    else
        widen(d, s, 1, c->memory, c->dtype);
}

/* Rows: out features of each group; columns: tap-major, then in feature. */
static void pack_kernel(const struct stet_conv *c, const char *w, char *d)
{
    size_t from = stet_dtype_bytes(c->memory), to = stet_dtype_bytes(c->dtype);
    int64_t outs = c->groups * c->out_features;

    for (int64_t o = 0; o < outs; o++)
        for (int64_t t = 0; t < c->taps; t++) {
            int64_t at = c->w_offset + o * c->w_out, rest = t;

            for (uint32_t i = c->spatial; i-- > 0;) {
                int64_t x = rest % c->window[i];

                rest /= c->window[i];
                at += (c->reversal[i] ? c->window[i] - 1 - x : x) * c->w_spatial[i];
            }
            if (c->memory == STET_DT_F32 && c->dtype == STET_DT_F32) {
                const float *s = (const float *)(const void *)w + at;

                for (int64_t f = 0; f < c->in_features; f++)
                    ((float *)(void *)d)[f] = s[f * c->w_in];
                d += (size_t)c->in_features * to;
                continue;
            }
            for (int64_t f = 0; f < c->in_features; f++, d += to)
                copy_one(d, w + (at + f * c->w_in) * (int64_t)from, c);
        }
}

struct conv_job {
    const struct stet_conv *c;
    const char *x, *w;
    char *y, *temp;
    int64_t blocks;
};

/* The input offset that the tap reads for an output position, or false in the padding. */
static inline bool tap_offset(const struct stet_conv *c, const int64_t *out, const int64_t *tap,
                              int64_t *offset)
{
    *offset = 0;
    for (uint32_t i = 0; i < c->spatial; i++) {
        int64_t at = out[i] * c->stride[i] + tap[i] * c->window_dilation[i] - c->low[i];

        if (at < 0 || (c->in_dilation[i] != 1 && at % c->in_dilation[i]))
            return false;
        at /= c->in_dilation[i];
        if (at >= c->in[i])
            return false;
        *offset += at * c->x_spatial[i];
    }
    return true;
}

static void next(int64_t *at, const int64_t *dims, uint32_t rank)
{
    for (uint32_t i = rank; i-- > 0;) {
        if (++at[i] < dims[i])
            return;
        at[i] = 0;
    }
}

/* A block of positions as rows of [taps * in features]. */
static void columns(const struct stet_conv *c, const char *x, int64_t first, int64_t count, char *d)
{
    size_t from = stet_dtype_bytes(c->memory), to = stet_dtype_bytes(c->dtype);
    int64_t out[STET_MAX_SPATIAL] = {0}, rest = first;
    bool straight = c->memory == c->dtype && c->x_feature == 1;

    for (uint32_t i = c->spatial; i-- > 0;) {
        out[i] = rest % c->out[i];
        rest /= c->out[i];
    }
    for (int64_t p = 0; p < count; p++, next(out, c->out, c->spatial)) {
        int64_t tap[STET_MAX_SPATIAL] = {0};

        for (int64_t t = 0; t < c->taps; t++, next(tap, c->window, c->spatial)) {
            int64_t offset;

            if (!tap_offset(c, out, tap, &offset)) {
                memset(d, 0, (size_t)c->in_features * to);
                d += (size_t)c->in_features * to;
            } else if (straight) {
                memcpy(d, x + offset * (int64_t)from, (size_t)c->in_features * to);
                d += (size_t)c->in_features * to;
            } else if (c->memory == STET_DT_F32 && c->dtype == STET_DT_F32) {
                const float *s = (const float *)(const void *)x + offset;
                float *f = (float *)(void *)d;

                for (int64_t i = 0; i < c->in_features; i++)
                    f[i] = s[i * c->x_feature];
                d += (size_t)c->in_features * to;
            } else {
                for (int64_t f = 0; f < c->in_features; f++, d += to)
                    copy_one(d, x + (offset + f * c->x_feature) * (int64_t)from, c);
            }
        }
    }
}

static void store(const struct stet_conv *c, char *y, const int64_t *out, const char *row)
{
    size_t to = stet_dtype_bytes(c->out_type), from = stet_dtype_bytes(c->dtype);
    int64_t at = 0;

    for (uint32_t i = 0; i < c->spatial; i++)
        at += out[i] * c->y_spatial[i];
    if (c->out_type == STET_DT_F32 && c->dtype == STET_DT_F32) {
        float *d = (float *)(void *)y + at;

        for (int64_t f = 0; f < c->out_features; f++)
            d[f * c->y_feature] = ((const float *)(const void *)row)[f];
        return;
    }
    for (int64_t f = 0; f < c->out_features; f++) {
        char *d = y + (at + f * c->y_feature) * (int64_t)to;

        if (c->out_type == c->dtype)
            memcpy(d, row + (size_t)f * from, to);
        else
            stet_backend_unpack(d, row + (size_t)f * from, 1, c->dtype, c->out_type);
    }
}

/* One block of positions of one image and group. */
static void conv_block(struct conv_job *j, int64_t task, char *lane)
{
    const struct stet_conv *c = j->c;
    int64_t block = task % j->blocks, group = task / j->blocks % c->groups;
    int64_t image = task / j->blocks / c->groups;
    int64_t first = block * c->block, depth = c->taps * c->in_features;
    int64_t count = c->positions - first < c->block ? c->positions - first : c->block;
    size_t from = stet_dtype_bytes(c->memory), width = stet_dtype_bytes(c->dtype);
    /* batch groups cut the batch, feature groups the features */
    int64_t x = c->x_offset + (c->batch_groups > 1
                                   ? (group * c->batch + image) * c->x_batch
                                   : image * c->x_batch + group * c->in_features * c->x_feature);
    int64_t y = image * c->y_batch + group * c->out_features * c->y_feature;
    char *rows = lane + c->pack_x, *out = j->y + y * (int64_t)stet_dtype_bytes(c->out_type);
    struct stet_gemm g = {.type = c->dtype,
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
    int64_t at[STET_MAX_SPATIAL] = {0}, rest = first;
    bool dense = c->out_type == c->dtype && c->y_feature == 1;

    columns(c, j->x + x * (int64_t)from, first, count, lane);
    for (uint32_t i = c->spatial; i-- > 0;) {
        int64_t want = i + 1 == c->spatial ? c->y_spatial[c->spatial - 1]
                                           : c->y_spatial[i + 1] * c->out[i + 1];

        dense &= c->y_spatial[i] == want;
    }
    if (dense && c->spatial) { /* positions are rows of the result already */
        g.ldc = c->y_spatial[c->spatial - 1];
        g.c = out + (size_t)(first * g.ldc) * width;
        stet_gemm(&g);
        return;
    }
    stet_gemm(&g);
    for (uint32_t i = c->spatial; i-- > 0;) {
        at[i] = rest % c->out[i];
        rest /= c->out[i];
    }
    for (int64_t p = 0; p < count; p++, next(at, c->out, c->spatial))
        store(c, out, at, rows + (size_t)(p * c->out_features) * width);
}

static void conv_task(void *context, uint64_t lane)
{
    struct conv_job *j = context;
    const struct stet_conv *c = j->c;
    int64_t tasks = j->blocks * c->batch * c->groups;

    for (int64_t t = (int64_t)lane; t < tasks; t += c->lanes)
        conv_block(j, t, j->temp + c->pack_w + lane * (c->pack_x + c->pack_y));
}

static void k_conv(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_conv *c = params;
    struct conv_job j = {.c = c, .x = bufs[0], .w = bufs[1], .y = bufs[2]};

    if (c->batch == 0 || c->groups == 0 || c->out_features == 0 || c->positions == 0)
        return;
    j.temp = bufs[3];
    j.blocks = (c->positions + c->block - 1) / c->block;
    pack_kernel(c, j.w, j.temp);
    stet_pool_for(pool, c->lanes, conv_task, &j);
}

const struct stet_kernel stet_kernel_conv = {"conv", k_conv};
