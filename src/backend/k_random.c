/* Counter-based random bits, as XLA defines them: Threefry-2x32 with 20 rounds, Philox-4x32 with 10
 * (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"). Twin: ref/random.c. */
#include "backend/params.h"

static uint32_t rotate(uint32_t v, int by)
{
    return v << by | v >> (32 - by);
}

static void threefry(uint64_t counter, uint64_t key, uint32_t *out)
{
    static const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    uint32_t ks[3] = {(uint32_t)key, (uint32_t)(key >> 32), 0};
    uint32_t x = (uint32_t)counter, y = (uint32_t)(counter >> 32);

    ks[2] = 0x1BD11BDA ^ ks[0] ^ ks[1];
    x += ks[0];
    y += ks[1];
    for (uint32_t i = 0; i < 5; i++) {
        for (int j = 0; j < 4; j++) {
            x += y;
            y = rotate(y, rotations[i % 2][j]) ^ x;
        }
        x += ks[(i + 1) % 3];
        y += ks[(i + 2) % 3] + i + 1;
    }
    out[0] = x;
    out[1] = y;
}

static void put(char *d, size_t bytes, uint64_t i, uint64_t bits)
{
    memcpy(d + i * bytes, &bits, bytes); /* little-endian: the low bytes */
}

/* A dimension is split in half, and the two words of one counter are adjacent along it. */
static void k_threefry(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_random *r = params;
    const struct stet_shape *s = &r->bits;
    size_t bytes = stet_dtype_bytes(s->dtype);
    uint64_t state[2], before = 1, size = 1, after = 1, half;
    uint32_t split = 0, out[2];

    (void)pool;
    memcpy(state, bufs[0], sizeof state);
    if (bytes == 8) {
        for (uint64_t i = 0; i < s->elements; i++) {
            threefry(state[1] + i, state[0], out);
            put(bufs[2], 8, i, out[0] | (uint64_t)out[1] << 32);
        }
        half = s->elements;
    } else {
        for (uint32_t d = 1; d < s->rank; d++) /* the first even dimension, else the largest */
            if (s->dims[split] % 2 && (s->dims[d] % 2 == 0 || s->dims[d] > s->dims[split])) {
                bool even = s->dims[d] % 2 == 0, later = false;

                for (uint32_t e = d + 1; e < s->rank && !even; e++)
                    later |= s->dims[e] % 2 == 0;
                if (even || !later)
                    split = d;
            }
        for (uint32_t d = 0; d < s->rank; d++)
            *(d < split ? &before : d == split ? &size : &after) *= (uint64_t)s->dims[d];
        half = before * ((size + 1) / 2) * after;
        for (uint64_t i = 0; i < half; i++) {
            uint64_t a = i % after, h = i / after % ((size + 1) / 2),
                     b = i / after / ((size + 1) / 2);

            threefry(state[1] + i, state[0], out);
            put(bufs[2], bytes, (b * size + 2 * h) * after + a, out[0]);
            if (2 * h + 1 < size)
                put(bufs[2], bytes, (b * size + 2 * h + 1) * after + a, out[1]);
        }
    }
    state[1] += half;
    memcpy(bufs[1], state, sizeof state);
}

static void philox(uint64_t low, uint64_t high, uint64_t key, uint32_t *out)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t x[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};

    for (int i = 0; i < 10; i++) {
        uint64_t p = (uint64_t)x[0] * 0xD2511F53u, q = (uint64_t)x[2] * 0xCD9E8D57u;

        x[0] = (uint32_t)(q >> 32) ^ x[1] ^ k0;
        x[1] = (uint32_t)q;
        x[2] = (uint32_t)(p >> 32) ^ x[3] ^ k1;
        x[3] = (uint32_t)p;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    memcpy(out, x, sizeof x);
}

static void k_philox(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_random *r = params;
    size_t bytes = stet_dtype_bytes(r->bits.dtype);
    uint64_t state[3] = {0}, n = r->bits.elements, low, high, per = bytes == 8 ? 2 : 4;
    uint64_t vectors = (n + per - 1) / per;
    uint32_t out[4];

    (void)pool;
    memcpy(state, bufs[0], r->state_words * 8u);
    low = state[1];
    high = r->state_words == 3 ? state[2] : state[0];
    for (uint64_t i = 0; i < vectors; i++) {
        uint64_t at = low + i;

        philox(at, high + (at < low), state[0], out);
        for (uint64_t j = 0; j < per && i * per + j < n; j++)
            put(bufs[2], bytes, i * per + j,
                bytes == 8 ? out[2 * j] | (uint64_t)out[2 * j + 1] << 32 : out[j]);
    }
    state[1] = low + vectors;
    if (r->state_words == 3)
        state[2] = high + (state[1] < low);
    memcpy(bufs[1], state, r->state_words * 8u);
}

const struct stet_kernel stet_kernel_threefry = {"threefry", k_threefry};
const struct stet_kernel stet_kernel_philox = {"philox", k_philox};
