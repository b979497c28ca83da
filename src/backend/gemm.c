/* Matrix products: chooses the loop and distributes its blocks on the pool. */
#include "backend/gemm.h"

#include "backend/tile_kernel.h"

/* Integers wrap, so their order does not matter: along rows of b if b is stored that way. */
#define INTEGERS(T, W)                                                                             \
    static void k_gemm_##T(const struct stet_gemm *g)                                              \
    {                                                                                              \
        const T *a = g->a, *b = g->b;                                                              \
        int64_t am = g->a_trans ? 1 : g->lda, ak = g->a_trans ? g->lda : 1;                        \
                                                                                                   \
        for (int64_t i = 0; i < g->m; i++) {                                                       \
            T *c = (T *)g->c + i * g->ldc;                                                         \
                                                                                                   \
            memset(c, 0, (size_t)g->n * sizeof(T));                                                \
            for (int64_t j = 0; g->b_trans && j < g->n; j++) {                                     \
                W sum = 0;                                                                         \
                                                                                                   \
                for (int64_t k = 0; k < g->k; k++)                                                 \
                    sum += (W)a[i * am + k * ak] * (W)b[j * g->ldb + k];                           \
                c[j] = (T)sum;                                                                     \
            }                                                                                      \
            for (int64_t k = 0; !g->b_trans && k < g->k; k++) {                                    \
                W x = (W)a[i * am + k * ak];                                                       \
                                                                                                   \
                for (int64_t j = 0; j < g->n; j++)                                                 \
                    c[j] = (T)((W)c[j] + x * (W)b[k * g->ldb + j]);                                \
            }                                                                                      \
        }                                                                                          \
    }

INTEGERS(uint8_t, uint32_t)
INTEGERS(uint16_t, uint32_t)
INTEGERS(uint32_t, uint32_t)
INTEGERS(uint64_t, uint64_t)

/* A complex number is two adjacent T. */
#define COMPLEX(T)                                                                                 \
    static void k_gemm_complex_##T(const struct stet_gemm *g)                                      \
    {                                                                                              \
        const T *a = g->a, *b = g->b;                                                              \
        int64_t am = 2 * (g->a_trans ? 1 : g->lda), ak = 2 * (g->a_trans ? g->lda : 1);            \
        int64_t bn = 2 * (g->b_trans ? g->ldb : 1), bk = 2 * (g->b_trans ? 1 : g->ldb);            \
                                                                                                   \
        for (int64_t i = 0; i < g->m; i++) {                                                       \
            T *c = (T *)g->c + 2 * i * g->ldc;                                                     \
                                                                                                   \
            memset(c, 0, (size_t)g->n * 2 * sizeof(T));                                            \
            for (int64_t k = 0; k < g->k; k++) {                                                   \
                T re = a[i * am + k * ak], im = a[i * am + k * ak + 1];                            \
                                                                                                   \
                for (int64_t j = 0; j < g->n; j++) {                                               \
                    const T *y = b + k * bk + j * bn;                                              \
                                                                                                   \
                    c[2 * j] += re * y[0] - im * y[1];                                             \
                    c[2 * j + 1] += re * y[1] + im * y[0];                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

COMPLEX(float)
COMPLEX(double)

static const stet_gemm_fn plain[STET_DT_COUNT] = {
    [STET_DT_S8] = k_gemm_uint8_t,        [STET_DT_U8] = k_gemm_uint8_t,
    [STET_DT_S16] = k_gemm_uint16_t,      [STET_DT_U16] = k_gemm_uint16_t,
    [STET_DT_S32] = k_gemm_uint32_t,      [STET_DT_U32] = k_gemm_uint32_t,
    [STET_DT_S64] = k_gemm_uint64_t,      [STET_DT_U64] = k_gemm_uint64_t,
    [STET_DT_C64] = k_gemm_complex_float, [STET_DT_C128] = k_gemm_complex_double,
};

static void k_gemm_zero(const struct stet_gemm *g)
{
    size_t width = stet_dtype_bytes(g->type);

    for (int64_t i = 0; i < g->m; i++)
        memset((char *)g->c + (size_t)(i * g->ldc) * width, 0, (size_t)g->n * width);
}

static stet_gemm_fn choose(const struct stet_gemm *g)
{
    const struct stet_tile_set *k = stet_tile_kernels();
    bool along_k = !g->a_trans && g->b_trans;

    if (g->k == 0)
        return k_gemm_zero;
    if (!k->gemm[g->type])
        return plain[g->type];
    /* a vector has one column (or row), whichever way it is stored */
    if (g->n == 1 && g->ldb == 1)
        along_k = !g->a_trans;
    return along_k && (g->m <= 4 || g->n <= 4) ? k->gemm_lines[g->type] : k->gemm[g->type];
}

void stet_gemm(const struct stet_gemm *g)
{
    if (g->m && g->n)
        choose(g)(g);
}

struct block_job {
    const struct stet_gemm *whole;
    stet_gemm_fn run;
    int64_t rows, cols, row_blocks;
};

static void block_task(void *context, uint64_t task)
{
    const struct block_job *j = context;
    struct stet_gemm g = *j->whole;
    size_t width = stet_dtype_bytes(g.type);
    int64_t r = (int64_t)task % j->row_blocks * j->rows;
    int64_t c = (int64_t)task / j->row_blocks * j->cols;

    g.m = g.m - r < j->rows ? g.m - r : j->rows;
    g.n = g.n - c < j->cols ? g.n - c : j->cols;
    g.a = (const char *)g.a + (size_t)(g.a_trans ? r : r * g.lda) * width;
    g.b = (const char *)g.b + (size_t)(g.b_trans ? c * g.ldb : c) * width;
    g.c = (char *)g.c + (size_t)(r * g.ldc + c) * width;
    j->run(&g);
}

/* The number of lines in a block if `size` lines are split into about `blocks`. */
static int64_t part(int64_t size, int64_t blocks)
{
    return ((size + blocks - 1) / blocks + 15) / 16 * 16;
}

void stet_gemm_blocks(const struct stet_gemm *g, struct stet_pool *pool)
{
    struct block_job j = {.whole = g, .rows = g->m, .cols = g->n, .row_blocks = 1};
    int64_t blocks = 2 * (int64_t)stet_pool_threads(pool);
    double work = (double)g->m * (double)g->n * (double)g->k;

    if (g->m == 0 || g->n == 0)
        return;
    j.run = choose(g);
    if (stet_pool_threads(pool) > 1 && work > 5e5) {
        if (g->m >= g->n)
            j.rows = part(g->m, blocks);
        else
            j.cols = part(g->n, blocks);
    }
    j.row_blocks = (g->m + j.rows - 1) / j.rows;
    stet_pool_for(pool, (uint64_t)(j.row_blocks * ((g->n + j.cols - 1) / j.cols)), block_task, &j);
}
