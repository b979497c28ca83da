/* sort and top_k. A comparator that orders by one key sorts pairs of key and position by the digits
 * of the key; any other comparator is called by a merge sort. Both are stable. Twin: ref/index.c.
 */
#include "backend/body_run.h"
#include "backend/params.h"
#include "base/known.h"

/* A key of 32 bits and its position as one number: unlike keys, no two are equal. */
typedef uint64_t pair;

struct wide_pair {
    uint64_t key;
    int64_t at;
};

struct sorter {
    const struct stet_sort *s;
    void *const *bufs;
    int64_t offset; /* of the line's first element */
    void *first, *second;
    struct stet_tile_state body;
    _Alignas(16) char x[64][16];
};

/* ---- any comparator ---- */

/* Must b come before a? */
static bool before(struct sorter *t, int64_t b, int64_t a)
{
    const struct stet_sort *s = t->s;

    for (uint32_t i = 0; i < s->count; i++) {
        const char *in = t->bufs[i];

        stet_to_register(t->x[2 * i], in + (size_t)(t->offset + b * s->inner) * s->bytes[i],
                         s->types[i], 1);
        stet_to_register(t->x[2 * i + 1], in + (size_t)(t->offset + a * s->inner) * s->bytes[i],
                         s->types[i], 1);
        stet_body_arg(s->body, &t->body, 2 * i, t->x[2 * i]);
        stet_body_arg(s->body, &t->body, 2 * i + 1, t->x[2 * i + 1]);
    }
    stet_tile_apply(&s->body->prog, &t->body, 1);
    return *(const uint8_t *)stet_body_result(s->body, &t->body, 0) != 0;
}

enum { RUN = 12 };

static void insertion(struct sorter *t, int64_t *order, int64_t first, int64_t end)
{
    for (int64_t i = first + 1; i < end; i++) {
        int64_t v = order[i], j = i;

        for (; j > first && before(t, v, order[j - 1]); j--)
            order[j] = order[j - 1];
        order[j] = v;
    }
}

static int64_t *merge_sort(struct sorter *t, int64_t n)
{
    int64_t *order = t->first, *other = t->second;

    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = 0; i < n; i += RUN)
        insertion(t, order, i, i + RUN < n ? i + RUN : n);
    for (int64_t width = RUN; width < n; width *= 2) {
        int64_t *swap;

        for (int64_t i = 0; i < n; i += 2 * width) {
            int64_t a = i, mid = i + width < n ? i + width : n, b = mid;
            int64_t end = i + 2 * width < n ? i + 2 * width : n;

            for (int64_t k = i; k < end; k++)
                other[k] = a < mid && (b >= end || !before(t, order[b], order[a])) ? order[a++]
                                                                                   : order[b++];
        }
        swap = order;
        order = other;
        other = swap;
    }
    return order;
}

/* ---- keys ---- */

/* Numbers that order as the keys do: f32 and f64 by their bits, where -0 is 0 and NaN is last. */
static uint32_t order_f32(float x)
{
    uint32_t bits;

    if (x != x)
        return UINT32_MAX;
    x += 0.0f;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static uint64_t order_f64(double x)
{
    uint64_t bits;

    if (x != x)
        return UINT64_MAX;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* The pairs of `n` keys that begin at position `at`. */
static void add_pairs(const struct stet_sort *s, void *to, const void *keys, int64_t at, int64_t n)
{
    uint64_t flip = s->descending ? UINT64_MAX : 0;
    struct wide_pair *wide = to;
    pair *p = to;

    switch (s->key_type) {
    case STET_DT_S32:
        for (int64_t i = 0; i < n; i++)
            p[at + i] = (uint64_t)((((const uint32_t *)keys)[i] ^ 0x80000000u) ^ (uint32_t)flip)
                            << 32 |
                        (uint64_t)(at + i);
        break;
    case STET_DT_F32:
        for (int64_t i = 0; i < n; i++)
            p[at + i] = (uint64_t)(order_f32(((const float *)keys)[i]) ^ (uint32_t)flip) << 32 |
                        (uint64_t)(at + i);
        break;
    case STET_DT_S64:
        for (int64_t i = 0; i < n; i++)
            wide[at + i] =
                (struct wide_pair){((const uint64_t *)keys)[i] ^ (uint64_t)1 << 63 ^ flip, at + i};
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            wide[at + i] = (struct wide_pair){order_f64(((const double *)keys)[i]) ^ flip, at + i};
        break;
    }
}

/* The keys of the whole line, through the key's tile program. */
static void make_pairs(struct sorter *t)
{
    enum { MOST = 256 };
    const struct stet_sort *s = t->s;
    const struct stet_body *b = s->key_body;
    size_t bytes = s->bytes[s->key];
    const char *in = (const char *)t->bufs[s->key] + (size_t)t->offset * bytes;
    _Alignas(64) char raw[8 * MOST], wide[8 * MOST];
    int64_t most = b->prog.tile < MOST ? (int64_t)b->prog.tile : MOST;
    struct stet_tile_state state;

    stet_tile_begin(&b->prog, &state, NULL, (size_t)most);
    for (int64_t at = 0; at < s->length; at += most) {
        int64_t n = s->length - at < most ? s->length - at : most;
        const char *from = in + (size_t)(at * s->inner) * bytes;

        for (int64_t i = 0; i < n && s->inner > 1; i++)
            memcpy(raw + (size_t)i * bytes, from + (size_t)(i * s->inner) * bytes, bytes);
        stet_to_register(wide, s->inner > 1 ? raw : from, s->types[s->key], (size_t)n);
        stet_body_arg(b, &state, 0, wide);
        stet_tile_apply(&b->prog, &state, (size_t)n);
        add_pairs(s, t->first, stet_body_result(b, &state, 0), at, n);
    }
}

/* ---- by the digits of keys ---- */

enum { FEW = 64, MANY = 1 << 13 };

#define SORT_FEW(P, VALUE)                                                                         \
    for (int64_t i = 1; i < n; i++) {                                                              \
        P v = a[i];                                                                                \
        int64_t j = i;                                                                             \
                                                                                                   \
        for (; j > 0 && VALUE(v) < VALUE(a[j - 1]); j--)                                           \
            a[j] = a[j - 1];                                                                       \
        a[j] = v;                                                                                  \
    }

/* From the lowest digit to the highest, between a and b; a digit that all keys share is left
 * out. */
#define SORT_DIGITS(P, VALUE, LOWEST, BITS)                                                        \
    do {                                                                                           \
        enum { DIGITS = (64 - LOWEST + BITS - 1) / BITS, VALUES = 1 << BITS };                     \
        uint32_t count[DIGITS][VALUES];                                                            \
                                                                                                   \
        memset(count, 0, sizeof count);                                                            \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int d = 0; d < DIGITS; d++)                                                       \
                count[d][VALUE(a[i]) >> (LOWEST + d * BITS) & (VALUES - 1)]++;                     \
        for (int d = 0; d < DIGITS; d++) {                                                         \
            uint32_t total = 0;                                                                    \
            P *swap = a;                                                                           \
                                                                                                   \
            if (count[d][VALUE(a[0]) >> (LOWEST + d * BITS) & (VALUES - 1)] == n)                  \
                continue;                                                                          \
            for (int v = 0; v < VALUES; v++) {                                                     \
                uint32_t here = count[d][v];                                                       \
                                                                                                   \
                count[d][v] = total;                                                               \
                total += here;                                                                     \
            }                                                                                      \
            for (int64_t i = 0; i < n; i++)                                                        \
                b[count[d][VALUE(a[i]) >> (LOWEST + d * BITS) & (VALUES - 1)]++] = a[i];           \
            a = b;                                                                                 \
            b = swap;                                                                              \
        }                                                                                          \
    } while (0)

#define WHOLE(p) (p)
static pair *sort_pairs(pair *a, pair *b, int64_t n)
{
    if (n <= FEW)
        SORT_FEW(pair, WHOLE)
    else if (n < MANY)
        SORT_DIGITS(pair, WHOLE, 32, 8);
    else
        SORT_DIGITS(pair, WHOLE, 32, 11);
    return a;
}

#define KEY(p) ((p).key)
static struct wide_pair *sort_wide(struct wide_pair *a, struct wide_pair *b, int64_t n)
{
    if (n <= FEW)
        SORT_FEW(struct wide_pair, KEY)
    else
        SORT_DIGITS(struct wide_pair, KEY, 0, 8);
    return a;
}

/* ---- lines ---- */

/* The elements of operand i at the positions that `AT(k)` gives. */
#define CARRY(T, AT)                                                                               \
    for (int64_t k = 0; k < s->length; k++)                                                        \
    ((T *)(void *)out)[k * s->inner] = ((const T *)(const void *)in)[(AT) * s->inner]
#define CARRY_ALL(AT)                                                                              \
    do {                                                                                           \
        if (bytes == 4)                                                                            \
            CARRY(uint32_t, AT);                                                                   \
        else if (bytes == 8)                                                                       \
            CARRY(uint64_t, AT);                                                                   \
        else if (bytes == 2)                                                                       \
            CARRY(uint16_t, AT);                                                                   \
        else if (bytes == 1)                                                                       \
            CARRY(uint8_t, AT);                                                                    \
        else                                                                                       \
            for (int64_t k = 0; k < s->length; k++)                                                \
                memcpy(out + (size_t)(k * s->inner) * bytes,                                       \
                       in + (size_t)((AT) * s->inner) * bytes, bytes);                             \
    } while (0)

/* How the positions of a line are found. */
enum { BY_PAIRS, BY_WIDE_PAIRS, BY_CALLS };

static int way_of(const struct stet_sort *s)
{
    if (s->key < 0 || s->length > UINT32_MAX)
        return BY_CALLS;
    return s->key_type == STET_DT_S32 || s->key_type == STET_DT_F32 ? BY_PAIRS : BY_WIDE_PAIRS;
}

static void sort_line(struct sorter *t, int way)
{
    const struct stet_sort *s = t->s;
    const struct wide_pair *wide = NULL;
    const int64_t *order = NULL;
    const pair *pairs = NULL;

    if (way == BY_CALLS)
        order = merge_sort(t, s->length);
    else
        make_pairs(t);
    if (way == BY_PAIRS)
        pairs = sort_pairs(t->first, t->second, s->length);
    if (way == BY_WIDE_PAIRS)
        wide = sort_wide(t->first, t->second, s->length);
    STET_KNOWN(pairs || wide || order); /* there is no fourth way */
    for (uint32_t i = 0; i < s->count; i++) {
        size_t bytes = s->bytes[i];
        const char *in = (const char *)t->bufs[i] + (size_t)t->offset * bytes;
        char *out = (char *)t->bufs[s->count + i] + (size_t)t->offset * bytes;

        if (pairs)
            CARRY_ALL((int64_t)(pairs[k] & UINT32_MAX));
        else if (wide)
            CARRY_ALL(wide[k].at);
        else
            CARRY_ALL(order[k]);
    }
}

struct sort_job {
    const struct stet_sort *s;
    void *const *bufs;
    char *temp;
};

static void sort_task(void *context, uint64_t lane)
{
    const struct sort_job *j = context;
    const struct stet_sort *s = j->s;
    int way = way_of(s);
    struct sorter t;

    t.s = s;
    t.bufs = j->bufs;
    t.first = j->temp + lane * s->lane_bytes;
    t.second = (char *)t.first + s->length * (way == BY_WIDE_PAIRS ? 16 : 8);
    stet_tile_begin(&s->body->prog, &t.body, NULL, 1);
    for (int64_t line = (int64_t)lane; line < s->outer * s->inner; line += s->lanes) {
        t.offset = line / s->inner * s->length * s->inner + line % s->inner;
        sort_line(&t, way);
    }
}

static void k_sort(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_sort *s = params;
    struct sort_job j = {s, bufs, bufs[2 * s->count]};

    if (s->outer && s->length && s->inner)
        stet_pool_for(pool, s->lanes, sort_task, &j);
}

/* ---- top_k ---- */

/* Keys that order as the type does, NaN above all; the greatest first when `largest`. */
static void plain_keys(const struct stet_sort *s, const char *in, int64_t *keys)
{
    const struct stet_tile_set *k = stet_tile_kernels();
    enum stet_dtype type = s->types[0], c = stet_tile_ctype(type);
    int64_t flip = c == STET_DT_U64 ? INT64_MIN : 0;
    _Alignas(64) char wide[2048], order[2048];

    for (int64_t at = 0; at < s->length; at += 256) {
        size_t n = (size_t)(s->length - at < 256 ? s->length - at : 256);

        stet_to_register(wide, in + (size_t)at * s->bytes[0], type, n);
        if (c == STET_DT_F64) {
            k->ops[c][STET_TILE_ORDER](keys + at, wide, NULL, NULL, n);
        } else if (c == STET_DT_F32) {
            k->ops[c][STET_TILE_ORDER](order, wide, NULL, NULL, n);
            k->convert[STET_DT_S32][STET_DT_S64](keys + at, order, NULL, NULL, n);
        } else {
            k->convert[c][STET_DT_S64](keys + at, wide, NULL, NULL, n);
        }
    }
    flip ^= s->descending ? 0 : -1;
    for (int64_t i = 0; i < s->length && flip; i++)
        keys[i] ^= flip;
}

/* order[0..k) is the best so far, sorted; most elements fail against the last of them. */
static void select_few(const struct stet_sort *s, const int64_t *keys, int64_t *order)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < s->length && s->k; i++) {
        int64_t j;

        if (kept == s->k && keys[i] <= keys[order[kept - 1]])
            continue;
        for (j = kept < s->k ? kept++ : kept - 1; j > 0 && keys[i] > keys[order[j - 1]]; j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
}

/* All of them, sorted. */
static void select_many(const struct stet_sort *s, int64_t *keys, int64_t *order,
                        struct wide_pair *other)
{
    struct wide_pair *pairs = (struct wide_pair *)(void *)keys;

    for (int64_t i = s->length - 1; i >= 0; i--) { /* from the end: pairs grow over the keys */
        uint64_t key = ~((uint64_t)keys[i] ^ (uint64_t)1 << 63);

        pairs[i] = (struct wide_pair){key, i};
    }
    pairs = sort_wide(pairs, other, s->length);
    for (int64_t i = 0; i < s->k; i++)
        order[i] = pairs[i].at;
}

static void top_k_line(const struct sort_job *j, int64_t line, char *lane)
{
    enum { FEW_KEPT = 256 };
    const struct stet_sort *s = j->s;
    const char *in = (const char *)j->bufs[0] + (size_t)(line * s->length) * s->bytes[0];
    /* keys, later pairs; the other pairs; the order, which is made last */
    int64_t *keys = (int64_t *)(void *)lane, *order = keys + 2 * s->length;

    plain_keys(s, in, keys);
    if (s->k <= FEW_KEPT) {
        select_few(s, keys, order);
    } else {
        order = (int64_t *)(void *)lane + 4 * s->length;
        select_many(s, keys, order, (struct wide_pair *)(void *)(keys + 2 * s->length));
    }
    for (int64_t i = 0; i < s->k; i++) {
        memcpy((char *)j->bufs[1] + (size_t)(line * s->k + i) * s->bytes[0],
               in + (size_t)order[i] * s->bytes[0], s->bytes[0]);
        ((int32_t *)j->bufs[2])[line * s->k + i] = (int32_t)order[i];
    }
}

static void top_k_task(void *context, uint64_t lane)
{
    const struct sort_job *j = context;

    for (int64_t line = (int64_t)lane; line < j->s->outer; line += j->s->lanes)
        top_k_line(j, line, j->temp + lane * j->s->lane_bytes);
}

static void k_top_k(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_sort *s = params;
    struct sort_job j = {s, bufs, bufs[3]};

    stet_pool_for(pool, s->lanes, top_k_task, &j);
}

const struct stet_kernel stet_kernel_sort = {"sort", k_sort};
const struct stet_kernel stet_kernel_top_k = {"top_k", k_top_k};
