/* Products of narrow integers: pairs of 16 bits are multiplied and added at once. Twin: ref/dot.c.
 */
#include "backend/gemm.h"

#include "backend/kernels/isa.h"
#include "backend/kernels/vectors.h"

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

/* Sums wrap, so they are unsigned. */
typedef uint32_t words __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

/* In each lane of 32 bits: the product of the low halves plus that of the high ones. */
static inline words pairs_product(words a, words b)
{
#if defined(__AVX512BW__)
    return (words)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (words)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (words)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    typedef int32_t numbers __attribute__((vector_size(VECTOR_BYTES)));
    numbers x = (numbers)a, y = (numbers)b;

    return (words)((x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16));
#endif
}

enum {
    NV = VECTOR_BYTES / 4,
    NR = 2 * NV,
    KC = 256,
#if defined(__AVX512F__) || defined(__aarch64__)
    MR = 8,
#else
    MR = 4,
#endif
};

static uint32_t pair_of(const int16_t *a, int64_t step, bool both)
{
    return (uint32_t)(uint16_t)a[0] | (uint32_t)(both ? (uint16_t)a[step] : 0) << 16;
}

/* Pairs of k, NR columns of each; what is beyond n or k is 0. */
static void pack_b(uint32_t *d, const int16_t *b, int64_t step_k, int64_t step_n, int64_t n,
                   int64_t k)
{
    for (int64_t i = 0; i < k; i += 2, d += NR) {
        const int16_t *x = b + i * step_k, *y = x + step_k;

        if (n == NR && step_n == 1 && i + 1 < k) {
            for (int j = 0; j < NR; j++)
                d[j] = (uint32_t)(uint16_t)x[j] | (uint32_t)(uint16_t)y[j] << 16;
            continue;
        }
        for (int64_t j = 0; j < NR; j++)
            d[j] = j < n ? pair_of(x + j * step_n, step_k, i + 1 < k) : 0;
    }
}

/* Each row's pairs of k one after the other, as they are in memory if k is even and adjacent. */
static void pack_a(uint32_t *d, const int16_t *a, int64_t step_m, int64_t step_k, int64_t rows,
                   int64_t k)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < k; i += 2)
            d[r * (KC / 2) + i / 2] = pair_of(a + r * step_m + i * step_k, step_k, i + 1 < k);
}

/* `a`: rows that are `step` bytes apart. */
static inline __attribute__((always_inline)) void
micro(const char *a, int64_t step, const uint32_t *b, int64_t pairs, uint32_t *out, const int rows)
{
    words sum[MR][2];

    UNROLL for (int i = 0; i < rows; i++) sum[i][0] = sum[i][1] = (words){0};
    for (; pairs > 0; pairs--, a += 4, b += NR) {
        words x = *(const words *)b, y = *(const words *)(b + NV);

        UNROLL for (int i = 0; i < rows; i++)
        {
            uint32_t pair;
            words f;

            memcpy(&pair, a + i * step, sizeof pair);
            f = pair - (words){0};
            sum[i][0] += pairs_product(f, x);
            sum[i][1] += pairs_product(f, y);
        }
    }
    UNROLL for (int i = 0; i < rows; i++)
    {
        *(words *)(out + i * NR) = sum[i][0];
        *(words *)(out + i * NR + NV) = sum[i][1];
    }
}

static void micro_rows(const char *a, int64_t step, const uint32_t *b, int64_t pairs, uint32_t *out,
                       int64_t rows)
{
    if (rows == MR) {
        micro(a, step, b, pairs, out, MR);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        micro(a + i * step, step, b, pairs, out + i * NR, 1);
}

static void narrow(const struct stet_gemm *g)
{
    uint32_t a_pack[MR * KC / 2], b_pack[NR * KC / 2], out[MR * NR];
    int64_t am = g->a_trans ? 1 : g->lda, ak = g->a_trans ? g->lda : 1;
    int64_t bn = g->b_trans ? g->ldb : 1, bk = g->b_trans ? 1 : g->ldb;
    const int16_t *a = g->a, *b = g->b;
    bool adjacent = ak == 1 && g->k % 2 == 0;

    for (int64_t n0 = 0; n0 < g->n; n0 += NR)
        for (int64_t k0 = 0; k0 < g->k; k0 += KC) {
            int64_t n = g->n - n0 < NR ? g->n - n0 : NR, k = g->k - k0 < KC ? g->k - k0 : KC;

            pack_b(b_pack, b + k0 * bk + n0 * bn, bk, bn, n, k);
            for (int64_t m0 = 0; m0 < g->m; m0 += MR) {
                int64_t rows = g->m - m0 < MR ? g->m - m0 : MR;

                const int16_t *first = a + m0 * am + k0 * ak;

                if (!adjacent)
                    pack_a(a_pack, first, am, ak, rows, k);
                micro_rows(adjacent ? (const char *)first : (const char *)a_pack,
                           adjacent ? 2 * am : KC / 2 * 4, b_pack, (k + 1) / 2, out, rows);
                for (int64_t i = 0; i < rows; i++) {
                    uint32_t *c = (uint32_t *)g->c + (m0 + i) * g->ldc + n0;

                    for (int64_t j = 0; j < n; j++)
                        c[j] = k0 ? c[j] + out[i * NR + j] : out[i * NR + j];
                }
            }
        }
}

const stet_gemm_fn ISA(stet_gemm_narrow) = narrow;
