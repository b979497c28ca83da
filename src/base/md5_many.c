/* MD5 of many messages at once. One message is a single chain of dependent steps, which leaves most
 * of a core idle. Here eight messages, each in its own lane, go through the same steps together. */
#include "base/cpu.h"
#include "base/md5.h"
#include "base/md5_steps.h"

enum { LANES = 8 };

typedef uint32_t quad __attribute__((vector_size(16)));
typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));

/* What the lanes work on: `state[word][lane]`, and where each lane reads. */
struct work {
    lanes state[4];
    const unsigned char *at[LANES];
};

/* Word `4 * column + i` of each of four messages into one vector, for i in 0..3. */
static inline __attribute__((always_inline)) void turn_4x4(const unsigned char *const *at,
                                                           size_t column, quad out[4])
{
    quad a, b, c, d;

    memcpy(&a, at[0] + 16 * column, sizeof a);
    memcpy(&b, at[1] + 16 * column, sizeof b);
    memcpy(&c, at[2] + 16 * column, sizeof c);
    memcpy(&d, at[3] + 16 * column, sizeof d);
    {
        quad ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        quad ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        quad cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        quad cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);

        out[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
        out[1] = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
        out[2] = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
        out[3] = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
    }
}

static inline __attribute__((always_inline)) void mix_body(struct work *w, size_t blocks)
{
    lanes a = w->state[0], b = w->state[1], c = w->state[2], d = w->state[3], x[16];

    for (; blocks; blocks--) {
        lanes a0 = a, b0 = b, c0 = c, d0 = d;

        for (size_t column = 0; column < 4; column++) {
            quad low[4], high[4];

            turn_4x4(w->at, column, low);
            turn_4x4(w->at + 4, column, high);
            for (size_t i = 0; i < 4; i++)
                x[4 * column + i] =
                    __builtin_shufflevector(low[i], high[i], 0, 1, 2, 3, 4, 5, 6, 7);
        }
        MD5_STEPS
        a += a0;
        b += b0;
        c += c0;
        d += d0;
        for (size_t i = 0; i < LANES; i++)
            w->at[i] += 64;
    }
    w->state[0] = a;
    w->state[1] = b;
    w->state[2] = c;
    w->state[3] = d;
}

/* The same body for each register width; without wide registers, two halves of four lanes. */
static void mix_plain(struct work *w, size_t blocks)
{
    mix_body(w, blocks);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void mix_avx2(struct work *w, size_t blocks)
{
    mix_body(w, blocks);
}

/* Rotation and any function of three bits are single instructions here. */
__attribute__((target("avx512f,avx512vl"))) static void mix_avx512(struct work *w, size_t blocks)
{
    mix_body(w, blocks);
}
#endif

typedef void mix_fn(struct work *, size_t);

static mix_fn *best_mix(void)
{
#if defined(__x86_64__)
    if (stet_cpu_has(STET_CPU_AVX512F | STET_CPU_AVX512VL))
        return mix_avx512;
    if (stet_cpu_has(STET_CPU_AVX2))
        return mix_avx2;
#endif
    return mix_plain;
}

size_t stet_md5_pad(unsigned char *end, size_t length)
{
    size_t held = length & 63, add = held < 56 ? 64 - held : 128 - held;
    uint64_t bits = (uint64_t)length * 8;

    memset(end, 0, add - 8);
    end[0] = 0x80;
    for (size_t i = 0; i < 8; i++)
        end[add - 8 + i] = (unsigned char)(bits >> (8 * i));
    return add;
}

struct lane {
    struct stet_md5_job *job; /* NULL: no message is left, so the lane repeats another one */
    size_t blocks;
};

static void load_lane(struct work *w, struct lane *l, size_t i, struct stet_md5_job *job)
{
    static const uint32_t start[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};

    *l = (struct lane){job, job->padded / 64};
    w->at[i] = job->bytes;
    for (size_t k = 0; k < 4; k++)
        w->state[k][i] = start[k];
}

static void finish_lane(const struct work *w, struct lane *l, size_t i)
{
    for (size_t k = 0; k < 16; k++)
        l->job->digest.bytes[k] = (unsigned char)(w->state[k / 4][i] >> (8 * (k % 4)));
    l->job = NULL;
}

void stet_md5_many(struct stet_md5_job *jobs, size_t count)
{
    struct lane lane[LANES] = {0};
    struct work w = {0};
    mix_fn *mix = best_mix();
    size_t next = 0;

    for (;;) {
        size_t blocks = 0, busy = LANES;

        for (size_t i = 0; i < LANES; i++) {
            if (!lane[i].job && next < count)
                load_lane(&w, &lane[i], i, &jobs[next++]);
            if (lane[i].job && (busy == LANES || lane[i].blocks < blocks)) {
                busy = i;
                blocks = lane[i].blocks;
            }
        }
        if (busy == LANES)
            return;
        for (size_t i = 0; i < LANES; i++) {
            if (!lane[i].job)
                w.at[i] = w.at[busy];
        }
        mix(&w, blocks);
        for (size_t i = 0; i < LANES; i++) {
            lane[i].blocks -= lane[i].job ? blocks : 0;
            if (lane[i].job && !lane[i].blocks)
                finish_lane(&w, &lane[i], i);
        }
    }
}
