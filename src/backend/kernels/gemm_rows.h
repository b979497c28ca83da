/* The matrix product of one element type, included by gemm_isa.c: T, its suffix S, and NV elements
 * of a vector.
 *
 * An element of the product is the sum over k in order, in one accumulator for each KS of k. Which
 * rows and columns are computed together has no effect on it. */
#define NAME2(a, b) a##_##b
#define NAME1(a, b) NAME2(a, b)
#define NAME(a)     NAME1(a, S)
#define VEC         NAME(vec)
#define NR          (2 * NV)
#define NC          (2048 / (int64_t)sizeof(T))
#define MC          (896 / (int64_t)sizeof(T) / MR * MR)

typedef T VEC __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

/* `rows` by `vecs` vectors of sums into c, or added to what is there. */
static inline __attribute__((always_inline)) void
NAME(store)(VEC (*sum)[2], T *c, int64_t ldc, bool add, const int rows, const int vecs)
{
    UNROLL for (int i = 0; i < rows; i++)
    {
        for (int j = 0; j < vecs; j++) {
            VEC *d = (VEC *)(c + i * ldc + j * NV);

            if (add)
                sum[i][j] += *d;
            *d = sum[i][j];
        }
    }
}

/* `rows` by `vecs` vectors of c; a is packed `rows` at a time, a row of b is `bs` after the other.
 */
static inline __attribute__((always_inline)) void NAME(micro)(const T *a, const T *b, int64_t bs,
                                                              int64_t k, T *c, int64_t ldc,
                                                              bool add, const int rows,
                                                              const int vecs)
{
    VEC sum[MR][2];

    UNROLL for (int i = 0; i < rows; i++) for (int j = 0; j < vecs; j++) sum[i][j] = (VEC){0};
    for (; k > 0; k--, a += rows, b += bs) {
        VEC x[2] = {*(const VEC *)b, *(const VEC *)(b + (vecs - 1) * NV)};

        UNROLL for (int i = 0; i < rows; i++) for (int j = 0; j < vecs; j++) sum[i][j] +=
            a[i] * x[j];
    }
    NAME(store)(sum, c, ldc, add, rows, vecs);
}

#define MICRO(R)                                                                                   \
    static void NAME(micro_##R##_1)(const T *a, const T *b, int64_t bs, int64_t k, T *c,           \
                                    int64_t ldc, bool add)                                         \
    {                                                                                              \
        NAME(micro)(a, b, bs, k, c, ldc, add, R, 1);                                               \
    }                                                                                              \
    static void NAME(micro_##R##_2)(const T *a, const T *b, int64_t bs, int64_t k, T *c,           \
                                    int64_t ldc, bool add)                                         \
    {                                                                                              \
        NAME(micro)(a, b, bs, k, c, ldc, add, R, 2);                                               \
    }
ALL_ROWS(MICRO)
#undef MICRO

typedef void (*NAME(micro_fn))(const T *a, const T *b, int64_t bs, int64_t k, T *c, int64_t ldc,
                               bool add);
static const NAME(micro_fn) NAME(micros)[MR + 1][2] = {
#define MICRO(R) [R] = {NAME(micro_##R##_1), NAME(micro_##R##_2)},
    ALL_ROWS(MICRO)
#undef MICRO
};

/* The same where rows of a are `as` apart, as they are in memory. Each row has its own address, so
 * there are fewer of them. */
static inline __attribute__((always_inline)) void
NAME(micro_memory)(const T *a, int64_t as, const T *b, int64_t bs, int64_t k, T *c, int64_t ldc,
                   bool add, const int rows, const int vecs)
{
    VEC sum[MD][2];
    const T *p[MD];

    UNROLL for (int i = 0; i < rows; i++)
    {
        p[i] = a + i * as;
        for (int j = 0; j < vecs; j++)
            sum[i][j] = (VEC){0};
    }
    for (int64_t n = 0; n < k; n++, b += bs) {
        VEC x[2] = {*(const VEC *)b, *(const VEC *)(b + (vecs - 1) * NV)};

        UNROLL for (int i = 0; i < rows; i++) for (int j = 0; j < vecs; j++) sum[i][j] +=
            p[i][n] * x[j];
    }
    NAME(store)(sum, c, ldc, add, rows, vecs);
}

#define MICRO(R)                                                                                   \
    static void NAME(memory_##R##_1)(const T *a, int64_t as, const T *b, int64_t bs, int64_t k,    \
                                     T *c, int64_t ldc, bool add)                                  \
    {                                                                                              \
        NAME(micro_memory)(a, as, b, bs, k, c, ldc, add, R, 1);                                    \
    }                                                                                              \
    static void NAME(memory_##R##_2)(const T *a, int64_t as, const T *b, int64_t bs, int64_t k,    \
                                     T *c, int64_t ldc, bool add)                                  \
    {                                                                                              \
        NAME(micro_memory)(a, as, b, bs, k, c, ldc, add, R, 2);                                    \
    }
MEMORY_ROWS(MICRO)
#undef MICRO

typedef void (*NAME(memory_fn))(const T *a, int64_t as, const T *b, int64_t bs, int64_t k, T *c,
                                int64_t ldc, bool add);
static const NAME(memory_fn) NAME(memories)[MD + 1][2] = {
#define MICRO(R) [R] = {NAME(memory_##R##_1), NAME(memory_##R##_2)},
    MEMORY_ROWS(MICRO)
#undef MICRO
};

/* `n` lines of `k` adjacent elements, `stride` apart, into d[k][wide]. */
static void NAME(turn)(T *d, const T *s, int64_t stride, int64_t n, int64_t wide, int64_t k)
{
    int64_t i = 0;

    for (; i + 4 <= n; i += 4) {
        const T *p = s + i * stride, *q = p + stride, *r = q + stride, *t = r + stride;
        int64_t j = 0;

        for (; j + 4 <= k; j += 4)
            NAME(turn_four)(d + j * wide + i, wide, p + j, q + j, r + j, t + j);
        for (; j < k; j++) {
            T *e = d + j * wide + i;

            e[0] = p[j], e[1] = q[j], e[2] = r[j], e[3] = t[j];
        }
    }
    for (; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            d[j * wide + i] = s[i * stride + j];
}

/* k lines of `n` adjacent elements into d[k][wide]. */
static void NAME(copy)(T *d, const T *s, int64_t stride, int64_t n, int64_t wide, int64_t k)
{
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < n; i++)
            d[j * wide + i] = s[j * stride + i];
}

static void NAME(pack_a)(T *d, const T *a, int64_t lda, bool trans, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < m; i += MR) {
        int64_t rows = m - i < MR ? m - i : MR;

        if (trans)
            NAME(copy)(d + i * k, a + i, lda, rows, rows, k);
        else
            NAME(turn)(d + i * k, a + i * lda, lda, rows, rows, k);
    }
}

/* Panels of NR columns; the last one is padded with zeros. */
static void NAME(pack_b)(T *d, const T *b, int64_t ldb, bool trans, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < n; i += NR) {
        int64_t cols = n - i < NR ? n - i : NR;

        if (cols < NR)
            memset(d + i * k, 0, (size_t)(NR * k) * sizeof(T));
        if (trans)
            NAME(turn)(d + i * k, b + i * ldb, ldb, cols, NR, k);
        else
            NAME(copy)(d + i * k, b + i, ldb, cols, NR, k);
    }
}

/* The columns [0, n) of a panel, for `rows` rows of packed a and at most KS of k. */
static void NAME(part)(const T *a, const T *b, int64_t bs, T *c, int64_t ldc, int64_t rows,
                       int64_t n, int64_t k, bool add)
{
    _Alignas(64) T edge[MR * NR];
    NAME(micro_fn) run = NAME(micros)[rows][n > NV];

    if (n == NR || n == NV) {
        run(a, b, bs, k, c, ldc, add);
        return;
    }
    run(a, b, bs, k, edge, NR, false);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < n; j++) {
            T *d = &c[r * ldc + j], x = edge[r * NR + j];

            *d = add ? *d + x : x;
        }
}

/* The same for all rows and at most KC of k. */
static void NAME(panel)(const T *a, const T *b, int64_t bs, T *c, int64_t ldc, int64_t m, int64_t n,
                        int64_t k, bool add)
{
    for (int64_t i = 0; i < m; i += MR) {
        int64_t rows = m - i < MR ? m - i : MR;

        for (int64_t k0 = 0; k0 < k; k0 += KS)
            NAME(part)(a + i * k + k0 * rows, b + k0 * bs, bs, c + i * ldc, ldc, rows, n,
                       k - k0 < KS ? k - k0 : KS, add || k0);
    }
}

/* The same from rows of a in memory. */
static void NAME(memory_panel)(const T *a, int64_t as, const T *b, int64_t bs, T *c, int64_t ldc,
                               int64_t m, int64_t n, int64_t k, bool add)
{
    _Alignas(64) T edge[MD * NR];

    for (int64_t i = 0; i < m; i += MD) {
        int64_t rows = m - i < MD ? m - i : MD;
        NAME(memory_fn) run = NAME(memories)[rows][n > NV];

        for (int64_t k0 = 0; k0 < k; k0 += KS) {
            int64_t some = k - k0 < KS ? k - k0 : KS;
            const T *x = a + i * as + k0, *y = b + k0 * bs;

            if (n == NR || n == NV) {
                run(x, as, y, bs, some, c + i * ldc, ldc, add || k0);
                continue;
            }
            run(x, as, y, bs, some, edge, NR, false);
            for (int64_t r = 0; r < rows; r++)
                for (int64_t j = 0; j < n; j++) {
                    T *d = &c[(i + r) * ldc + j], v = edge[r * NR + j];

                    *d = add || k0 ? *d + v : v;
                }
        }
    }
}

/* The sum of products in 32 lanes, whatever the machine's vectors. */
static T NAME(line)(const T *a, const T *b, int64_t k)
{
    T lane[32] = {0}, rest = 0;
    int64_t i = 0;

    for (; i + 32 <= k; i += 32)
        for (int j = 0; j < 32; j++)
            lane[j] += a[i + j] * b[i + j];
    for (; i < k; i++)
        rest += a[i] * b[i];
    for (int w = 16; w > 0; w /= 2)
        for (int j = 0; j < w; j++)
            lane[j] += lane[j + w];
    return lane[0] + rest;
}

/* Every row of a with every column of b, both contiguous along k. */
static void NAME(lines)(const struct stet_gemm *g)
{
    const T *a = g->a, *b = g->b;
    T *c = g->c;

    if (g->m < g->n) {
        for (int64_t j = 0; j < g->n; j++)
            for (int64_t i = 0; i < g->m; i++)
                c[i * g->ldc + j] = NAME(line)(a + i * g->lda, b + j * g->ldb, g->k);
        return;
    }
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++)
            c[i * g->ldc + j] = NAME(line)(a + i * g->lda, b + j * g->ldb, g->k);
}

static void NAME(gemm)(const struct stet_gemm *g)
{
    /* no arrays: clang's AddressSanitizer takes minutes over frames of this size */
    T *a_pack = __builtin_alloca_with_align(MC * KC * sizeof(T), 512);
    T *b_pack = __builtin_alloca_with_align(NC * KC * sizeof(T), 512);
    const T *a = g->a, *b = g->b;
    T *c = g->c;
    /* few rows, or few columns that are close: packing b would take longer than the product; few
     * columns: packing a would */
    bool b_there = !g->b_trans && (g->m <= 2 * MR || g->ldb <= 4 * NR);
    bool a_there = !g->a_trans && g->n <= 4 * NR;

    for (int64_t n0 = 0; n0 < g->n; n0 += NC)
        for (int64_t k0 = 0; k0 < g->k; k0 += KC) {
            int64_t n = g->n - n0 < NC ? g->n - n0 : NC, k = g->k - k0 < KC ? g->k - k0 : KC;
            int64_t whole = b_there ? n / NR * NR : 0;
            const T *from = b + (g->b_trans ? n0 * g->ldb + k0 : k0 * g->ldb + n0);
            bool add = g->add || k0 > 0;

            NAME(pack_b)(b_pack, from + whole, g->ldb, g->b_trans, n - whole, k);
            for (int64_t m0 = 0; m0 < g->m; m0 += MC) {
                int64_t m = g->m - m0 < MC ? g->m - m0 : MC;
                const T *rows = a + (g->a_trans ? k0 * g->lda + m0 : m0 * g->lda + k0);

                if (!a_there)
                    NAME(pack_a)(a_pack, rows, g->lda, g->a_trans, m, k);
                for (int64_t j = 0; j < n; j += NR) {
                    const T *cols = j < whole ? from + j : b_pack + (j - whole) * k;
                    int64_t bs = j < whole ? g->ldb : NR, some = n - j < NR ? n - j : NR;
                    T *d = c + m0 * g->ldc + n0 + j;

                    if (a_there)
                        NAME(memory_panel)(rows, g->lda, cols, bs, d, g->ldc, m, some, k, add);
                    else
                        NAME(panel)(a_pack, cols, bs, d, g->ldc, m, some, k, add);
                }
            }
        }
}

#ifdef CHANNELS
/* acc[j] = the sum over taps of x[t][j] * w[t][j], which is added to it if `add`. */
static void NAME(channels)(T *acc, const T *const *x, const T *const *w, int64_t taps, int64_t n,
                           bool add)
{
    int64_t j = 0;

    for (; j + 2 * NV <= n; j += 2 * NV) {
        VEC a = add ? *(VEC *)(acc + j) : (VEC){0}, b = add ? *(VEC *)(acc + j + NV) : (VEC){0};

        for (int64_t t = 0; t < taps; t++) {
            a += *(const VEC *)(x[t] + j) * *(const VEC *)(w[t] + j);
            b += *(const VEC *)(x[t] + j + NV) * *(const VEC *)(w[t] + j + NV);
        }
        *(VEC *)(acc + j) = a;
        *(VEC *)(acc + j + NV) = b;
    }
    for (; j < n; j++) {
        T a = add ? acc[j] : 0;

        for (int64_t t = 0; t < taps; t++)
            a += x[t][j] * w[t][j];
        acc[j] = a;
    }
}
#endif

#undef NAME2
#undef NAME1
#undef NAME
#undef VEC
#undef NR
#undef NC
#undef MC
#undef T
#undef S
#undef NV
