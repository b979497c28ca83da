/* Reference: random bits, an element at a time: which counter it comes from, and which word of it
 * (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"). */
#include "backend/ref/ref.h"

/* Word `which` of Threefry-2x32 with 20 rounds. */
static uint32_t threefry(uint64_t key, uint64_t counter, int which)
{
    static const unsigned turn[8] = {13, 15, 26, 6, 17, 29, 16, 24};
    const uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32),
                   k[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
    uint32_t x[2] = {(uint32_t)counter + k0, (uint32_t)(counter >> 32) + k1};

    for (unsigned round = 0; round < 20; round++) {
        unsigned by = turn[round % 8], block = round / 4 + 1;

        x[0] += x[1];
        x[1] = (x[1] << by | x[1] >> (32 - by)) ^ x[0];
        if (round % 4 == 3) {
            x[0] += k[block % 3];
            x[1] += k[(block + 1) % 3] + block;
        }
    }
    return x[which];
}

/* Word `which` of Philox-4x32 with 10 rounds. */
static uint32_t philox(uint64_t key, const uint64_t counter[2], int which)
{
    uint32_t x[4] = {(uint32_t)counter[0], (uint32_t)(counter[0] >> 32), (uint32_t)counter[1],
                     (uint32_t)(counter[1] >> 32)};

    for (uint32_t round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * x[0], b = 0xCD9E8D57ull * x[2];
        uint32_t k0 = (uint32_t)key + round * 0x9E3779B9u,
                 k1 = (uint32_t)(key >> 32) + round * 0xBB67AE85u;
        uint32_t y[4] = {(uint32_t)(b >> 32) ^ x[1] ^ k0, (uint32_t)b,
                         (uint32_t)(a >> 32) ^ x[3] ^ k1, (uint32_t)a};

        memcpy(x, y, sizeof x);
    }
    return x[which];
}

/* Two words of a counter are neighbours along one dimension: the first that is even, else the
 * longest, the first of those. */
static uint32_t split_dim(const struct stet_shape *s)
{
    uint32_t longest = 0;

    for (uint32_t d = 0; d < s->rank; d++) {
        if (s->dims[d] % 2 == 0)
            return d;
        longest = s->dims[d] > s->dims[longest] ? d : longest;
    }
    return longest;
}

uint64_t stet_ref_threefry(struct stet_ref *out, const uint64_t state[2])
{
    uint32_t split = split_dim(&out->shape), rank = out->shape.rank;
    bool wide = stet_dtype_bytes(out->shape.dtype) == 8;
    int64_t at[STET_MAX_RANK], dims[STET_MAX_RANK];
    struct stet_shape halves; /* of counters */

    memcpy(dims, out->shape.dims, rank * sizeof dims[0]);
    if (!wide && rank)
        dims[split] = (dims[split] + 1) / 2;
    stet_shape_set(&halves, STET_DT_U64, dims, rank);
    for (uint64_t i = 0; i < out->shape.elements; i++) {
        uint64_t counter = i;
        int word = 0;

        if (!wide && rank) {
            stet_ref_index(&out->shape, i, at);
            word = (int)(at[split] % 2);
            at[split] /= 2;
            counter = stet_ref_at(&halves, at);
        }
        counter += state[1];
        stet_ref_set(out, i,
                     (struct stet_ref_scalar){
                         wide ? (int64_t)(threefry(state[0], counter, 0) |
                                          (uint64_t)threefry(state[0], counter, 1) << 32)
                              : (int64_t)threefry(state[0], counter, word),
                         0, 0});
    }
    return halves.elements;
}

uint64_t stet_ref_philox(struct stet_ref *out, const uint64_t state[3])
{
    uint64_t words = stet_dtype_bytes(out->shape.dtype) == 8 ? 2 : 1;

    for (uint64_t i = 0; i < out->shape.elements; i++) {
        uint64_t first = i * words, bits = 0;

        for (uint64_t w = words; w-- > 0;) {
            uint64_t low = state[1] + (first + w) / 4;
            uint64_t counter[2] = {low, state[2] + (low < state[1])};

            bits = bits << 32 | philox(state[0], counter, (int)((first + w) % 4));
        }
        stet_ref_set(out, i, (struct stet_ref_scalar){(int64_t)bits, 0, 0});
    }
    return (out->shape.elements * words + 3) / 4;
}
