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

/* A complex product as one of real numbers: [re -im; im re] of a times [re; im] of b. It is done in
 * blocks, whose size does not depend on the machine. A complex number is two adjacent T.
 *
 * A product of few numbers is a sum of complex products, each of which is rounded, as XLA and
 * StableHLO's interpreter compute it. */
enum { COMPLEX_M = 64, COMPLEX_K = 96, COMPLEX_N = 256, COMPLEX_FEW = 4096 };

#define COMPLEX(T, TYPE)                                                                           \
    static void split_a_##T(T *d, const struct stet_gemm *g, int64_t m0, int64_t k0, int64_t m,    \
                            int64_t k)                                                             \
    {                                                                                              \
        int64_t am = 2 * (g->a_trans ? 1 : g->lda), ak = 2 * (g->a_trans ? g->lda : 1);            \
                                                                                                   \
        for (int64_t i = 0; i < m; i++)                                                            \
            for (int64_t j = 0; j < k; j++) {                                                      \
                const T *x = (const T *)g->a + (m0 + i) * am + (k0 + j) * ak;                      \
                                                                                                   \
                d[i * 2 * k + j] = d[(m + i) * 2 * k + k + j] = x[0];                              \
                d[i * 2 * k + k + j] = -x[1];                                                      \
                d[(m + i) * 2 * k + j] = x[1];                                                     \
            }                                                                                      \
    }                                                                                              \
    static void split_b_##T(T *d, const struct stet_gemm *g, int64_t k0, int64_t n0, int64_t k,    \
                            int64_t n)                                                             \
    {                                                                                              \
        int64_t bn = 2 * (g->b_trans ? g->ldb : 1), bk = 2 * (g->b_trans ? 1 : g->ldb);            \
                                                                                                   \
        for (int64_t i = 0; i < k; i++)                                                            \
            for (int64_t j = 0; j < n; j++) {                                                      \
                const T *x = (const T *)g->b + (k0 + i) * bk + (n0 + j) * bn;                      \
                                                                                                   \
                d[i * n + j] = x[0];                                                               \
                d[(k + i) * n + j] = x[1];                                                         \
            }                                                                                      \
    }                                                                                              \
    static void join_c_##T(const struct stet_gemm *g, const T *s, int64_t m0, int64_t n0,          \
                           int64_t m, int64_t n, bool add)                                         \
    {                                                                                              \
        for (int64_t i = 0; i < m; i++) {                                                          \
            T *c = (T *)g->c + 2 * ((m0 + i) * g->ldc + n0);                                       \
            const T *re = s + i * n, *im = s + (m + i) * n;                                        \
                                                                                                   \
            for (int64_t j = 0; j < n; j++) {                                                      \
                c[2 * j] = add ? c[2 * j] + re[j] : re[j];                                         \
                c[2 * j + 1] = add ? c[2 * j + 1] + im[j] : im[j];                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void k_gemm_few_##T(const struct stet_gemm *g)                                          \
    {                                                                                              \
        int64_t am = 2 * (g->a_trans ? 1 : g->lda), ak = 2 * (g->a_trans ? g->lda : 1);            \
        int64_t bn = 2 * (g->b_trans ? g->ldb : 1), bk = 2 * (g->b_trans ? 1 : g->ldb);            \
                                                                                                   \
        for (int64_t i = 0; i < g->m; i++)                                                         \
            for (int64_t j = 0; j < g->n; j++) {                                                   \
                const T *x = (const T *)g->a + i * am, *y = (const T *)g->b + j * bn;              \
                T *c = (T *)g->c + 2 * (i * g->ldc + j), re = 0, im = 0;                           \
                                                                                                   \
                for (int64_t k = 0; k < g->k; k++, x += ak, y += bk) {                             \
                    re += x[0] * y[0] - x[1] * y[1];                                               \
                    im += x[0] * y[1] + x[1] * y[0];                                               \
                }                                                                                  \
                c[0] = re, c[1] = im;                                                              \
            }                                                                                      \
    }                                                                                              \
    static void k_gemm_complex_##T(const struct stet_gemm *g)                                      \
    {                                                                                              \
        T *a = __builtin_alloca_with_align(4 * COMPLEX_M * COMPLEX_K * sizeof(T), 512);            \
        T *b = __builtin_alloca_with_align(2 * COMPLEX_K * COMPLEX_N * sizeof(T), 512);            \
        T *c = __builtin_alloca_with_align(2 * COMPLEX_M * COMPLEX_N * sizeof(T), 512);            \
                                                                                                   \
        for (int64_t n0 = 0; n0 < g->n; n0 += COMPLEX_N)                                           \
            for (int64_t k0 = 0; k0 < g->k; k0 += COMPLEX_K) {                                     \
                int64_t n = g->n - n0 < COMPLEX_N ? g->n - n0 : COMPLEX_N;                         \
                int64_t k = g->k - k0 < COMPLEX_K ? g->k - k0 : COMPLEX_K;                         \
                                                                                                   \
                split_b_##T(b, g, k0, n0, k, n);                                                   \
                for (int64_t m0 = 0; m0 < g->m; m0 += COMPLEX_M) {                                 \
                    int64_t m = g->m - m0 < COMPLEX_M ? g->m - m0 : COMPLEX_M;                     \
                    struct stet_gemm part = {.type = TYPE,                                         \
                                             .m = 2 * m,                                           \
                                             .n = n,                                               \
                                             .k = 2 * k,                                           \
                                             .lda = 2 * k,                                         \
                                             .ldb = n,                                             \
                                             .ldc = n,                                             \
                                             .a = a,                                               \
                                             .b = b,                                               \
                                             .c = c};                                              \
                                                                                                   \
                    split_a_##T(a, g, m0, k0, m, k);                                               \
                    stet_tile_kernels()->gemm[TYPE](&part);                                        \
                    join_c_##T(g, c, m0, n0, m, n, k0 > 0);                                        \
                }                                                                                  \
            }                                                                                      \
    }

COMPLEX(float, STET_DT_F32)
COMPLEX(double, STET_DT_F64)

static const stet_gemm_fn plain[STET_DT_COUNT] = {
    [STET_DT_S8] = k_gemm_uint8_t,        [STET_DT_U8] = k_gemm_uint8_t,
    [STET_DT_S16] = k_gemm_uint16_t,      [STET_DT_U16] = k_gemm_uint16_t,
    [STET_DT_C64] = k_gemm_complex_float, [STET_DT_C128] = k_gemm_complex_double,
};

static void k_gemm_zero(const struct stet_gemm *g)
{
    size_t width = stet_dtype_bytes(g->type);

    for (int64_t i = 0; i < g->m && !g->add; i++)
        memset((char *)g->c + (size_t)(i * g->ldc) * width, 0, (size_t)g->n * width);
}

static stet_gemm_fn choose(const struct stet_gemm *g)
{
    const struct stet_tile_set *k = stet_tile_kernels();
    bool along_k = !g->a_trans && g->b_trans;

    if (g->k == 0)
        return k_gemm_zero;
    if (g->narrow)
        return *k->gemm_narrow;
    if (stet_dtype_is_complex(g->type) &&
        (double)g->m * (double)g->n * (double)g->k <= (double)COMPLEX_FEW)
        return g->type == STET_DT_C64 ? k_gemm_few_float : k_gemm_few_double;
    if (!k->gemm[g->type])
        return plain[g->type];
    /* a vector has one column (or row), whichever way it is stored */
    if (g->n == 1 && g->ldb == 1)
        along_k = !g->a_trans;
    along_k &= (g->m <= 4 || g->n <= 4) && k->gemm_lines[g->type] && !g->add;
    return along_k ? k->gemm_lines[g->type] : k->gemm[g->type];
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
    size_t product = stet_dtype_bytes(g.type), width = g.narrow ? 2 : product;
    int64_t r = (int64_t)task % j->row_blocks * j->rows;
    int64_t c = (int64_t)task / j->row_blocks * j->cols;

    g.m = g.m - r < j->rows ? g.m - r : j->rows;
    g.n = g.n - c < j->cols ? g.n - c : j->cols;
    g.a = (const char *)g.a + (size_t)(g.a_trans ? r : r * g.lda) * width;
    g.b = (const char *)g.b + (size_t)(g.b_trans ? c * g.ldb : c) * width;
    g.c = (char *)g.c + (size_t)(r * g.ldc + c) * product;
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
