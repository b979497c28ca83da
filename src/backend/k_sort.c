/* sort and top_k: a stable merge sort of positions, by keys when the comparator has one. Twin:
 * ref/index.c. */
#include "backend/body_run.h"
#include "backend/params.h"

struct sorter {
    const struct stet_sort *s;
    void *const *bufs;
    int64_t offset; /* of the line's first element */
    int64_t *order, *other;
    int64_t *keys; /* or doubles */
    struct stet_tile_state body;
    _Alignas(16) char x[64][16];
};

/* Must b come before a? */
static bool before(struct sorter *t, int64_t b, int64_t a)
{
    const struct stet_sort *s = t->s;

    if (s->key >= 0 && s->key_type == STET_DT_S64)
        return s->descending ? t->keys[b] > t->keys[a] : t->keys[b] < t->keys[a];
    if (s->key >= 0) {
        const double *k = (const double *)(const void *)t->keys;

        return s->descending ? k[b] > k[a] : k[b] < k[a];
    }
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

static void insertion(struct sorter *t, int64_t first, int64_t end)
{
    for (int64_t i = first + 1; i < end; i++) {
        int64_t v = t->order[i], j = i;

        for (; j > first && before(t, v, t->order[j - 1]); j--)
            t->order[j] = t->order[j - 1];
        t->order[j] = v;
    }
}

static void merge_sort(struct sorter *t, int64_t n)
{
    enum { RUN = 12 };

    for (int64_t i = 0; i < n; i += RUN)
        insertion(t, i, i + RUN < n ? i + RUN : n);
    for (int64_t width = RUN; width < n; width *= 2) {
        int64_t *swap;

        for (int64_t i = 0; i < n; i += 2 * width) {
            int64_t a = i, mid = i + width < n ? i + width : n, b = mid;
            int64_t end = i + 2 * width < n ? i + 2 * width : n;

            for (int64_t k = i; k < end; k++)
                t->other[k] = a < mid && (b >= end || !before(t, t->order[b], t->order[a]))
                                  ? t->order[a++]
                                  : t->order[b++];
        }
        swap = t->order;
        t->order = t->other;
        t->other = swap;
    }
}

/* Keys of the whole line through the key's tile program. */
static void make_keys(struct sorter *t)
{
    const struct stet_sort *s = t->s;
    const struct stet_body *b = s->key_body;
    size_t bytes = s->bytes[s->key];
    const char *in = t->bufs[s->key];
    _Alignas(64) char raw[16 * STET_BODY_LANES], wide[16 * STET_BODY_LANES];
    struct stet_tile_state state;

    stet_tile_begin(&b->prog, &state, NULL, STET_BODY_LANES);
    for (int64_t at = 0; at < s->length; at += STET_BODY_LANES) {
        size_t n = (size_t)(s->length - at < STET_BODY_LANES ? s->length - at : STET_BODY_LANES);

        for (size_t i = 0; i < n; i++)
            memcpy(raw + i * bytes, in + (size_t)(t->offset + (at + (int64_t)i) * s->inner) * bytes,
                   bytes);
        stet_to_register(wide, raw, s->types[s->key], n);
        stet_body_arg(b, &state, 0, wide);
        stet_tile_apply(&b->prog, &state, n);
        memcpy(t->keys + at, stet_body_result(b, &state, 0), n * 8);
    }
}

struct sort_job {
    const struct stet_sort *s;
    void *const *bufs;
    char *temp;
};

static void take_lane(struct sorter *t, const struct stet_sort *s, char *lane)
{
    t->order = (int64_t *)(void *)lane;
    t->other = t->order + s->length;
    t->keys = t->other + s->length;
}

static void sort_line(struct sorter *t)
{
    const struct stet_sort *s = t->s;
    int64_t *first = t->order, *second = t->other;

    for (int64_t i = 0; i < s->length; i++)
        t->order[i] = i;
    if (s->key >= 0)
        make_keys(t);
    merge_sort(t, s->length);
    for (uint32_t i = 0; i < s->count; i++) {
        size_t bytes = s->bytes[i];
        const char *in = t->bufs[i];
        char *out = t->bufs[s->count + i];

        for (int64_t k = 0; k < s->length; k++)
            memcpy(out + (size_t)(t->offset + k * s->inner) * bytes,
                   in + (size_t)(t->offset + t->order[k] * s->inner) * bytes, bytes);
    }
    t->order = first;
    t->other = second;
}

static void sort_task(void *context, uint64_t lane)
{
    const struct sort_job *j = context;
    const struct stet_sort *s = j->s;
    struct sorter t;

    t.s = s;
    t.bufs = j->bufs;
    take_lane(&t, s, j->temp + lane * s->lane_bytes);
    stet_tile_begin(&s->body->prog, &t.body, NULL, 1);
    for (int64_t line = (int64_t)lane; line < s->outer * s->inner; line += s->lanes) {
        t.offset = line / s->inner * s->length * s->inner + line % s->inner;
        sort_line(&t);
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

/* Keys that order as the type does, NaN above all. */
static void plain_keys(struct sorter *t)
{
    const struct stet_sort *s = t->s;
    const struct stet_tile_set *k = stet_tile_kernels();
    enum stet_dtype type = s->types[0], c = stet_tile_ctype(type);
    const char *in = (const char *)t->bufs[0] + (size_t)t->offset * s->bytes[0];
    _Alignas(64) char wide[1024], order[1024];

    for (int64_t at = 0; at < s->length; at += 64) {
        size_t n = (size_t)(s->length - at < 64 ? s->length - at : 64);

        stet_to_register(wide, in + (size_t)at * s->bytes[0], type, n);
        if (c == STET_DT_F64) {
            k->ops[c][STET_TILE_ORDER](t->keys + at, wide, NULL, NULL, n);
        } else if (c == STET_DT_F32) {
            k->ops[c][STET_TILE_ORDER](order, wide, NULL, NULL, n);
            k->convert[STET_DT_S32][STET_DT_S64](t->keys + at, order, NULL, NULL, n);
        } else {
            k->convert[c][STET_DT_S64](t->keys + at, wide, NULL, NULL, n);
            for (size_t i = 0; i < n && c == STET_DT_U64; i++)
                t->keys[at + (int64_t)i] ^= INT64_MIN;
        }
    }
}

static void top_k_line(struct sorter *t, int64_t line)
{
    const struct stet_sort *s = t->s;
    int64_t kept = 0;

    t->offset = line * s->length;
    plain_keys(t);
    /* order[0..k) is the best so far, sorted; most elements fail against the last of them */
    for (int64_t i = 0; i < s->length && s->k; i++) {
        int64_t v = t->keys[i], j;

        if (kept == s->k) {
            int64_t worst = t->keys[t->order[kept - 1]];

            if (s->descending ? v <= worst : v >= worst)
                continue;
            kept--;
        }
        for (j = kept; j > 0; j--) {
            int64_t w = t->keys[t->order[j - 1]];

            if (s->descending ? v <= w : v >= w)
                break;
            t->order[j] = t->order[j - 1];
        }
        t->order[j] = i;
        kept++;
    }
    for (int64_t i = 0; i < s->k; i++) {
        memcpy((char *)t->bufs[1] + (size_t)(line * s->k + i) * s->bytes[0],
               (const char *)t->bufs[0] + (size_t)(t->offset + t->order[i]) * s->bytes[0],
               s->bytes[0]);
        ((int32_t *)t->bufs[2])[line * s->k + i] = (int32_t)t->order[i];
    }
}

static void top_k_task(void *context, uint64_t lane)
{
    const struct sort_job *j = context;
    struct sorter t;

    t.s = j->s;
    t.bufs = j->bufs;
    take_lane(&t, j->s, j->temp + lane * j->s->lane_bytes);
    for (int64_t line = (int64_t)lane; line < j->s->outer; line += j->s->lanes)
        top_k_line(&t, line);
}

static void k_top_k(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_sort *s = params;
    struct sort_job j = {s, bufs, bufs[3]};

    stet_pool_for(pool, s->lanes, top_k_task, &j);
}

const struct stet_kernel stet_kernel_sort = {"sort", k_sort};
const struct stet_kernel stet_kernel_top_k = {"top_k", k_top_k};
