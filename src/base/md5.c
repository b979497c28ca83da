/* The 64 steps are expanded by macros, so that the compiler keeps all four words in registers.
 * md5_many.c computes the digests of many messages at once. */
#include "base/md5.h"

#include "base/md5_steps.h"

static inline uint32_t load(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void mix(uint32_t state[4], const unsigned char *p, size_t blocks)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], x[16];

    for (; blocks; blocks--, p += 64) {
        uint32_t a0 = a, b0 = b, c0 = c, d0 = d;

        for (int i = 0; i < 16; i++)
            x[i] = load(p + 4 * i);
        MD5_STEPS
        a += a0;
        b += b0;
        c += c0;
        d += d0;
    }
    state[0] = a;
    state[1] = b;
    state[2] = c;
    state[3] = d;
}

void stet_md5_init(struct stet_md5 *m)
{
    *m = (struct stet_md5){.state = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u}};
}

void stet_md5_add(struct stet_md5 *m, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    size_t held = (size_t)(m->length & 63), room = 64 - held;

    if (!n)
        return;
    m->length += n;
    if (held) {
        size_t take = n < room ? n : room;

        memcpy(m->block + held, p, take);
        if (take < room)
            return;
        mix(m->state, m->block, 1);
        p += take;
        n -= take;
    }
    mix(m->state, p, n / 64);
    memcpy(m->block, p + (n & ~(size_t)63), n & 63);
}

struct stet_md5_digest stet_md5_digest(const struct stet_md5 *m)
{
    struct stet_md5_digest out;
    unsigned char tail[128] = {0};
    uint32_t state[4];
    size_t held = (size_t)(m->length & 63), size = held < 56 ? 64 : 128;
    uint64_t bits = m->length * 8;

    memcpy(state, m->state, sizeof state);
    memcpy(tail, m->block, held);
    tail[held] = 0x80;
    for (size_t i = 0; i < 8; i++)
        tail[size - 8 + i] = (unsigned char)(bits >> (8 * i));
    mix(state, tail, size / 64);
    for (size_t i = 0; i < 16; i++)
        out.bytes[i] = (unsigned char)(state[i / 4] >> (8 * (i % 4)));
    return out;
}

/* 16 if the character is not a hex digit. */
static unsigned digit(unsigned char c)
{
    static const unsigned char values[256] = {
        ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
        ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
        ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
        ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};

    return values[c] ? values[c] - 1u : 16;
}

bool stet_md5_parse(struct stet_view text, struct stet_md5_digest *out)
{
    unsigned bad = 0;

    if (text.len != 32)
        return false;
    for (size_t i = 0; i < 16; i++) {
        unsigned high = digit((unsigned char)text.ptr[2 * i]);
        unsigned low = digit((unsigned char)text.ptr[2 * i + 1]);

        bad |= high | low;
        out->bytes[i] = (unsigned char)(high << 4 | low);
    }
    return bad < 16;
}
