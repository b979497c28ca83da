/* Products of tensors: a matrix product for each batch; an operand that is not stored as a matrix
 * is packed first. Twin: ref/dot.c. */
#include "backend/gemm.h"
#include "backend/params.h"

/* A strided matrix (two groups of dims) as dense rows in the compute type. */
static void pack(char *d, const char *base, const struct stet_tile_view *rows,
                 const struct stet_tile_view *cols, enum stet_dtype memory, enum stet_dtype type)
{
    struct stet_tile_view all = {.rank = rows->rank + cols->rank};
    size_t from = stet_dtype_bytes(memory), to = stet_dtype_bytes(type);
    const struct stet_tile_set *k = stet_tile_kernels();
    uint64_t total = 1;
    _Alignas(64) char raw[1024 * 8], wide[1024 * 8];

    memcpy(all.dims, rows->dims, rows->rank * sizeof all.dims[0]);
    memcpy(all.strides, rows->strides, rows->rank * sizeof all.dims[0]);
    memcpy(all.dims + rows->rank, cols->dims, cols->rank * sizeof all.dims[0]);
    memcpy(all.strides + rows->rank, cols->strides, cols->rank * sizeof all.dims[0]);
    for (uint32_t i = 0; i < all.rank; i++)
        total *= (uint64_t)all.dims[i];
    if (total == 0)
        return;
    if (memory == type) {
        struct stet_move m = {.rank = all.rank};

        memcpy(m.dims, all.dims, sizeof m.dims);
        memcpy(m.from_strides, all.strides, sizeof m.from_strides);
        for (uint32_t i = all.rank; i-- > 0;)
            m.to_strides[i] = i + 1 == all.rank ? 1 : m.to_strides[i + 1] * all.dims[i + 1];
        stet_backend_move_run(&m, to, base, d, NULL);
        return;
    }
    stet_tile_view_simplify(&all);
    for (uint64_t at = 0; at < total; at += 1024) {
        size_t n = total - at < 1024 ? (size_t)(total - at) : 1024;
        const char *src = raw;

        stet_tile_view_gather(raw, base, &all, from, at, n);
        if (k->load[memory]) {
            k->load[memory](wide, raw, NULL, NULL, n);
            src = wide;
        }
        k->convert[stet_tile_ctype(memory)][type](d + at * to, src, NULL, NULL, n);
    }
}

void stet_backend_unpack(char *d, const char *s, uint64_t n, enum stet_dtype type,
                         enum stet_dtype memory)
{
    const struct stet_tile_set *k = stet_tile_kernels();
    _Alignas(64) char wide[1024 * 16];

    for (uint64_t at = 0; at < n; at += 1024) {
        size_t some = n - at < 1024 ? (size_t)(n - at) : 1024;
        const char *src = s + at * stet_dtype_bytes(type);
        char *dst = d + at * stet_dtype_bytes(memory);

        if (k->load[memory]) {
            if (type != STET_DT_F32) {
                k->convert[type][STET_DT_F32](wide, src, NULL, NULL, some);
                src = wide;
            }
            k->store[memory](dst, src, NULL, NULL, some);
        } else {
            k->convert[type][stet_tile_ctype(memory)](dst, src, NULL, NULL, some);
        }
    }
}

struct dot_job {
    const struct stet_dot *d;
    const char *a, *b;
    char *c, *temp;
};

static void batch_offsets(const struct stet_dot *d, int64_t batch, int64_t *a, int64_t *b)
{
    *a = d->a_offset;
    *b = d->b_offset;
    for (uint32_t i = d->batch_rank; i-- > 0;) {
        int64_t at = batch % d->batch_dims[i];

        batch /= d->batch_dims[i];
        *a += at * d->a_batch[i];
        *b += at * d->b_batch[i];
    }
}

/* One whole batch; packs what is not a matrix. */
static void dot_batch(struct dot_job *j, int64_t batch, char *lane)
{
    const struct stet_dot *d = j->d;
    struct stet_gemm g = {.type = d->dtype, .m = d->m, .n = d->n, .k = d->k, .ldc = d->n};
    int64_t ao, bo;
    uint64_t out = (uint64_t)(d->m * d->n);

    batch_offsets(d, batch, &ao, &bo);
    g.a = j->a + ao * (int64_t)stet_dtype_bytes(d->a_type);
    g.b = j->b + bo * (int64_t)stet_dtype_bytes(d->b_type);
    g.lda = d->lda, g.ldb = d->ldb, g.a_trans = d->a_trans, g.b_trans = d->b_trans;
    if (!d->lda) {
        pack(lane, g.a, &d->a_rows, &d->a_cols, d->a_type, d->dtype);
        g.a = lane, g.lda = d->k, g.a_trans = false;
    }
    if (!d->ldb) {
        pack(lane + d->pack_a, g.b, &d->b_rows, &d->b_cols, d->b_type, d->dtype);
        g.b = lane + d->pack_a, g.ldb = d->n, g.b_trans = false;
    }
    g.c = d->pack_c ? lane + d->pack_a + d->pack_b
                    : j->c + (uint64_t)batch * out * stet_dtype_bytes(d->out_type);
    stet_gemm(&g);
    if (d->pack_c)
        stet_backend_unpack(j->c + (uint64_t)batch * out * stet_dtype_bytes(d->out_type), g.c, out,
                            d->dtype, d->out_type);
}

static void lane_task(void *context, uint64_t lane)
{
    struct dot_job *j = context;
    uint64_t size = j->d->pack_a + j->d->pack_b + j->d->pack_c;

    for (int64_t b = (int64_t)lane; b < j->d->batch; b += j->d->lanes)
        dot_batch(j, b, size ? j->temp + lane * size : NULL);
}

static void k_dot(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_dot *d = params;
    struct dot_job j = {.d = d, .a = bufs[0], .b = bufs[1], .c = bufs[2]};

    if (d->batch == 0 || d->m == 0 || d->n == 0)
        return;
    if (d->pack_a + d->pack_b + d->pack_c)
        j.temp = bufs[3];
    if (d->batch == 1) {
        struct stet_gemm g = {.type = d->dtype, .m = d->m, .n = d->n, .k = d->k, .ldc = d->n};

        g.a = j.a + d->a_offset * (int64_t)stet_dtype_bytes(d->a_type);
        g.b = j.b + d->b_offset * (int64_t)stet_dtype_bytes(d->b_type);
        g.lda = d->lda, g.ldb = d->ldb, g.a_trans = d->a_trans, g.b_trans = d->b_trans;
        if (!d->lda) {
            pack(j.temp, g.a, &d->a_rows, &d->a_cols, d->a_type, d->dtype);
            g.a = j.temp, g.lda = d->k, g.a_trans = false;
        }
        if (!d->ldb) {
            pack(j.temp + d->pack_a, g.b, &d->b_rows, &d->b_cols, d->b_type, d->dtype);
            g.b = j.temp + d->pack_a, g.ldb = d->n, g.b_trans = false;
        }
        g.c = d->pack_c ? j.temp + d->pack_a + d->pack_b : j.c;
        stet_gemm_blocks(&g, pool);
        if (d->pack_c)
            stet_backend_unpack(j.c, g.c, (uint64_t)(d->m * d->n), d->dtype, d->out_type);
        return;
    }
    stet_pool_for((double)d->batch * (double)d->m * (double)d->n * (double)d->k > 1e5 ? pool : NULL,
                  d->lanes, lane_task, &j);
}

const struct stet_kernel stet_kernel_dot = {"dot", k_dot};
