/* Tiles of arrays: XLA's language, and what both languages share. */
#include "backend/sharding.h"

/* ---- scanning ---- */

bool stet_sharding_skip(struct stet_sharding_text *t, const char *word)
{
    size_t n = strlen(word);

    while (t->at < t->end && *t->at == ' ')
        t->at++;
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

bool stet_sharding_number(struct stet_sharding_text *t, int64_t *out)
{
    const char *from;
    int64_t v = 0;

    stet_sharding_skip(t, "");
    for (from = t->at; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        if (v > INT32_MAX)
            return false;
        v = 10 * v + (*t->at - '0');
    }
    *out = v;
    return t->at > from;
}

bool stet_sharding_numbers(struct stet_sharding_text *t, int64_t *out, uint32_t most,
                           uint32_t *count)
{
    *count = 0;
    do {
        if (*count >= most || !stet_sharding_number(t, &out[*count]))
            return false;
        ++*count;
    } while (stet_sharding_skip(t, ","));
    return true;
}

/* ---- what a sharding is ---- */

enum stet_rc stet_sharding_whole(struct stet_sharding_reader *r, uint32_t rank,
                                 struct stet_sharding *out)
{
    *out =
        (struct stet_sharding){.rank = rank, .tile = STET_NEW_ARRAY(r->arena, uint32_t, r->lanes)};
    for (uint32_t d = 0; d < rank; d++)
        out->tiles[d] = 1;
    return out->tile ? STET_OK : stet_fail(r->err, STET_NO_MEMORY, "out of memory for a sharding");
}

int64_t stet_sharding_tiles(const struct stet_sharding *s)
{
    int64_t n = 1;

    for (uint32_t d = 0; d < s->rank; d++)
        n *= s->tiles[d];
    return n;
}

bool stet_sharding_eq(const struct stet_sharding *a, const struct stet_sharding *b, uint32_t lanes)
{
    return a->rank == b->rank && memcmp(a->tiles, b->tiles, a->rank * sizeof *a->tiles) == 0 &&
           memcmp(a->tile, b->tile, lanes * sizeof *a->tile) == 0 && a->shares == b->shares &&
           (!a->shares || memcmp(a->share, b->share, lanes * sizeof *a->share) == 0);
}

enum stet_rc stet_sharding_tile_shape(struct stet_sharding_reader *r, const struct stet_sharding *s,
                                      const struct stet_shape *whole, struct stet_shape *out)
{
    int64_t dims[STET_MAX_RANK];

    if (s->rank != whole->rank)
        return stet_fail(r->err, STET_BAD_INPUT, "a sharding of %u dimensions for %s", s->rank,
                         stet_shape_text(whole).text);
    for (uint32_t d = 0; d < s->rank; d++) {
        if (whole->dims[d] % s->tiles[d])
            return stet_fail(r->err, STET_UNSUPPORTED,
                             "dimension %u of %s cannot be divided into %lld equal tiles", d,
                             stet_shape_text(whole).text, (long long)s->tiles[d]);
        dims[d] = whole->dims[d] / s->tiles[d];
    }
    stet_shape_set(out, whole->dtype, dims, whole->rank);
    return STET_OK;
}

void stet_sharding_start(const struct stet_sharding *s, const struct stet_shape *tile,
                         uint32_t number, int64_t *start)
{
    int64_t left = number;

    for (uint32_t d = s->rank; d-- > 0;) {
        start[d] = left % s->tiles[d] * tile->dims[d];
        left /= s->tiles[d];
    }
}

/* ---- XLA's language ---- */

/* The devices of a tile assignment in its order: given one by one, or as a transposed iota. */
static bool read_devices(struct stet_sharding_text *t, int64_t *devices, uint32_t total)
{
    int64_t dims[STET_MAX_RANK], perm[STET_MAX_RANK], strides[STET_MAX_RANK], product = 1;
    uint32_t rank, count;

    if (!stet_sharding_skip(t, "<=["))
        return stet_sharding_numbers(t, devices, total, &count) && count == total;
    if (!stet_sharding_numbers(t, dims, STET_MAX_RANK, &rank) || !stet_sharding_skip(t, "]"))
        return false;
    for (uint32_t i = rank; i-- > 0;) {
        perm[i] = i;
        strides[i] = product;
        product = dims[i] && product <= total ? product * dims[i] : -1;
        if (product < 0)
            return false;
    }
    if (stet_sharding_skip(t, "T(") && (!stet_sharding_numbers(t, perm, STET_MAX_RANK, &count) ||
                                        count != rank || !stet_sharding_skip(t, ")")))
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (perm[i] >= rank)
            return false;
    }
    for (uint32_t i = 0; i < total && product == total; i++) {
        int64_t left = i;

        devices[i] = 0;
        for (uint32_t d = rank; d-- > 0;) {
            devices[i] += left % dims[perm[d]] * strides[perm[d]];
            left /= dims[perm[d]];
        }
    }
    return product == total;
}

static enum stet_rc bad(struct stet_sharding_reader *r, struct stet_view text, const char *why)
{
    return stet_fail(r->err, STET_BAD_INPUT, "sharding %.*s: %s",
                     text.len > 80 ? 80 : (int)text.len, text.ptr, why);
}

/* Lane devices[k] has the tile that place k of the assignment is in; `inner` places share one. */
static enum stet_rc fill_tiles(struct stet_sharding_reader *r, struct stet_view text,
                               const int64_t *devices, uint32_t inner, struct stet_sharding *out)
{
    uint32_t *tile = STET_NEW_ARRAY(r->arena, uint32_t, r->lanes);
    bool *seen = STET_NEW_ARRAY(r->arena, bool, r->lanes);

    if (!tile || !seen)
        return stet_fail(r->err, STET_NO_MEMORY, "out of memory for a sharding");
    for (uint32_t k = 0; k < r->lanes; k++) {
        if (devices[k] >= r->lanes || seen[devices[k]])
            return bad(r, text, "a device is out of range or twice in it");
        seen[devices[k]] = true;
        tile[devices[k]] = k / inner;
    }
    out->tile = tile;
    return STET_OK;
}

static enum stet_rc read_tiled(struct stet_sharding_reader *r, struct stet_view text,
                               struct stet_sharding_text t, uint32_t rank,
                               struct stet_sharding *out)
{
    int64_t dims[2 * STET_MAX_RANK], *devices, total = 1, inner = 1;
    uint32_t count;

    if (!stet_sharding_numbers(&t, dims, 2 * STET_MAX_RANK, &count) ||
        !stet_sharding_skip(&t, "]") || count < rank)
        return bad(r, text, "its dimensions do not fit the array");
    for (uint32_t d = 0; d < count; d++) {
        if (dims[d] < 1 || total > r->lanes / dims[d])
            return bad(r, text, "more tiles than the program has devices");
        total *= dims[d];
        inner *= d >= rank ? dims[d] : 1;
    }
    if (total != r->lanes)
        return bad(r, text, "fewer tiles than the program has devices");
    devices = STET_NEW_ARRAY(r->arena, int64_t, r->lanes);
    if (!devices)
        return stet_fail(r->err, STET_NO_MEMORY, "out of memory for a sharding");
    if (!read_devices(&t, devices, (uint32_t)total))
        return bad(r, text, "its list of devices does not fit");
    *out = (struct stet_sharding){.rank = rank};
    memcpy(out->tiles, dims, rank * sizeof *dims);
    return fill_tiles(r, text, devices, (uint32_t)inner, out);
}

enum stet_rc stet_sharding_read_hlo(struct stet_sharding_reader *r, struct stet_view text,
                                    uint32_t rank, struct stet_sharding *out)
{
    struct stet_sharding_text t = {text.ptr, text.ptr + text.len};

    stet_sharding_skip(&t, "{");
    if (stet_sharding_skip(&t, "devices=["))
        return read_tiled(r, text, t, rank, out);
    if (stet_sharding_skip(&t, "replicated") || stet_sharding_skip(&t, "unknown") ||
        stet_sharding_skip(&t, "manual"))
        return stet_sharding_whole(r, rank, out);
    return stet_fail(r->err, STET_UNSUPPORTED, "sharding %.*s is not supported",
                     text.len > 80 ? 80 : (int)text.len, text.ptr);
}

/* ---- OpSharding ---- */

enum {
    FIELD_TYPE = 1,
    FIELD_TILE_DIMENSIONS = 3,
    FIELD_TILE_DEVICES = 4,
    FIELD_REPLICATE_LAST = 6,
    FIELD_LAST_KINDS = 8, /* of the dimensions behind those of the array */
    TYPE_REPLICATED = 0,
    TYPE_OTHER = 3,
    TYPE_UNREDUCED = 6,
};

static void put_packed(struct stet_buf *out, unsigned field, struct stet_buf *packed)
{
    stet_buf_varint(out, field << 3 | 2);
    stet_buf_varint(out, packed->len);
    stet_buf_view(out, stet_buf_as_view(packed));
    out->failed |= packed->failed;
    stet_buf_release(packed);
}

static void put_type(struct stet_buf *out, unsigned type)
{
    stet_buf_varint(out, FIELD_TYPE << 3);
    stet_buf_varint(out, type);
}

/* Lanes by their tile, then by their share of it. */
static void put_devices(struct stet_buf *out, const struct stet_sharding *s, uint32_t tiles,
                        uint32_t shares, uint32_t lanes)
{
    struct stet_buf packed = STET_BUF_INIT;

    for (uint32_t i = 0; i < tiles * shares; i++) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            if (s->tile[lane] == i / shares && (shares == 1 || s->share[lane] == i % shares))
                stet_buf_varint(&packed, lane);
        }
    }
    put_packed(out, FIELD_TILE_DEVICES, &packed);
}

void stet_sharding_write(struct stet_buf *out, const struct stet_sharding *s, uint32_t lanes)
{
    struct stet_buf dims = STET_BUF_INIT, kinds = STET_BUF_INIT;
    uint32_t tiles = (uint32_t)stet_sharding_tiles(s), shares = s->shares ? s->shares : 1;
    bool copies = tiles * shares < lanes;

    if (tiles == 1 && (shares == 1 || !copies)) {
        put_type(out, shares == 1 ? TYPE_REPLICATED : TYPE_UNREDUCED);
        return;
    }
    put_type(out, TYPE_OTHER);
    for (uint32_t d = 0; d < s->rank; d++)
        stet_buf_varint(&dims, (uint64_t)s->tiles[d]);
    if (shares > 1)
        stet_buf_varint(&dims, shares);
    if (copies)
        stet_buf_varint(&dims, lanes / (tiles * shares));
    put_packed(out, FIELD_TILE_DIMENSIONS, &dims);
    put_devices(out, s, tiles, shares, lanes);
    if (shares > 1) {
        stet_buf_varint(&kinds, TYPE_UNREDUCED);
        if (copies)
            stet_buf_varint(&kinds, TYPE_REPLICATED);
        put_packed(out, FIELD_LAST_KINDS, &kinds);
    } else if (copies) {
        stet_buf_varint(out, FIELD_REPLICATE_LAST << 3);
        stet_buf_varint(out, 1);
    }
}
