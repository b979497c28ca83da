/* The 64 steps are written out by macros: the compiler keeps all four words in registers. */
#include "base/md5.h"

static inline uint32_t load(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint32_t turn(uint32_t v, int by)
{
    return v << by | v >> (32 - by);
}

#define F(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
/* A sum instead of an or: the two halves share no bit, and the sum can start before x is known. */
#define G(x, y, z) (((x) & (z)) + ((y) & ~(z)))
#define H(x, y, z) ((x) ^ (y) ^ (z))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))
#define STEP(f, a, b, c, d, word, by, add)                                                         \
    (a) = turn((a) + f((b), (c), (d)) + x[word] + (add), by) + (b)

static void mix(uint32_t state[4], const unsigned char *p, size_t blocks)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], x[16];

    for (; blocks; blocks--, p += 64) {
        uint32_t a0 = a, b0 = b, c0 = c, d0 = d;

        for (int i = 0; i < 16; i++)
            x[i] = load(p + 4 * i);
        STEP(F, a, b, c, d, 0, 7, 0xd76aa478u);
        STEP(F, d, a, b, c, 1, 12, 0xe8c7b756u);
        STEP(F, c, d, a, b, 2, 17, 0x242070dbu);
        STEP(F, b, c, d, a, 3, 22, 0xc1bdceeeu);
        STEP(F, a, b, c, d, 4, 7, 0xf57c0fafu);
        STEP(F, d, a, b, c, 5, 12, 0x4787c62au);
        STEP(F, c, d, a, b, 6, 17, 0xa8304613u);
        STEP(F, b, c, d, a, 7, 22, 0xfd469501u);
        STEP(F, a, b, c, d, 8, 7, 0x698098d8u);
        STEP(F, d, a, b, c, 9, 12, 0x8b44f7afu);
        STEP(F, c, d, a, b, 10, 17, 0xffff5bb1u);
        STEP(F, b, c, d, a, 11, 22, 0x895cd7beu);
        STEP(F, a, b, c, d, 12, 7, 0x6b901122u);
        STEP(F, d, a, b, c, 13, 12, 0xfd987193u);
        STEP(F, c, d, a, b, 14, 17, 0xa679438eu);
        STEP(F, b, c, d, a, 15, 22, 0x49b40821u);
        STEP(G, a, b, c, d, 1, 5, 0xf61e2562u);
        STEP(G, d, a, b, c, 6, 9, 0xc040b340u);
        STEP(G, c, d, a, b, 11, 14, 0x265e5a51u);
        STEP(G, b, c, d, a, 0, 20, 0xe9b6c7aau);
        STEP(G, a, b, c, d, 5, 5, 0xd62f105du);
        STEP(G, d, a, b, c, 10, 9, 0x02441453u);
        STEP(G, c, d, a, b, 15, 14, 0xd8a1e681u);
        STEP(G, b, c, d, a, 4, 20, 0xe7d3fbc8u);
        STEP(G, a, b, c, d, 9, 5, 0x21e1cde6u);
        STEP(G, d, a, b, c, 14, 9, 0xc33707d6u);
        STEP(G, c, d, a, b, 3, 14, 0xf4d50d87u);
        STEP(G, b, c, d, a, 8, 20, 0x455a14edu);
        STEP(G, a, b, c, d, 13, 5, 0xa9e3e905u);
        STEP(G, d, a, b, c, 2, 9, 0xfcefa3f8u);
        STEP(G, c, d, a, b, 7, 14, 0x676f02d9u);
        STEP(G, b, c, d, a, 12, 20, 0x8d2a4c8au);
        STEP(H, a, b, c, d, 5, 4, 0xfffa3942u);
        STEP(H, d, a, b, c, 8, 11, 0x8771f681u);
        STEP(H, c, d, a, b, 11, 16, 0x6d9d6122u);
        STEP(H, b, c, d, a, 14, 23, 0xfde5380cu);
        STEP(H, a, b, c, d, 1, 4, 0xa4beea44u);
        STEP(H, d, a, b, c, 4, 11, 0x4bdecfa9u);
        STEP(H, c, d, a, b, 7, 16, 0xf6bb4b60u);
        STEP(H, b, c, d, a, 10, 23, 0xbebfbc70u);
        STEP(H, a, b, c, d, 13, 4, 0x289b7ec6u);
        STEP(H, d, a, b, c, 0, 11, 0xeaa127fau);
        STEP(H, c, d, a, b, 3, 16, 0xd4ef3085u);
        STEP(H, b, c, d, a, 6, 23, 0x04881d05u);
        STEP(H, a, b, c, d, 9, 4, 0xd9d4d039u);
        STEP(H, d, a, b, c, 12, 11, 0xe6db99e5u);
        STEP(H, c, d, a, b, 15, 16, 0x1fa27cf8u);
        STEP(H, b, c, d, a, 2, 23, 0xc4ac5665u);
        STEP(I, a, b, c, d, 0, 6, 0xf4292244u);
        STEP(I, d, a, b, c, 7, 10, 0x432aff97u);
        STEP(I, c, d, a, b, 14, 15, 0xab9423a7u);
        STEP(I, b, c, d, a, 5, 21, 0xfc93a039u);
        STEP(I, a, b, c, d, 12, 6, 0x655b59c3u);
        STEP(I, d, a, b, c, 3, 10, 0x8f0ccc92u);
        STEP(I, c, d, a, b, 10, 15, 0xffeff47du);
        STEP(I, b, c, d, a, 1, 21, 0x85845dd1u);
        STEP(I, a, b, c, d, 8, 6, 0x6fa87e4fu);
        STEP(I, d, a, b, c, 15, 10, 0xfe2ce6e0u);
        STEP(I, c, d, a, b, 6, 15, 0xa3014314u);
        STEP(I, b, c, d, a, 13, 21, 0x4e0811a1u);
        STEP(I, a, b, c, d, 4, 6, 0xf7537e82u);
        STEP(I, d, a, b, c, 11, 10, 0xbd3af235u);
        STEP(I, c, d, a, b, 2, 15, 0x2ad7d2bbu);
        STEP(I, b, c, d, a, 9, 21, 0xeb86d391u);
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

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool stet_md5_parse(struct stet_view text, struct stet_md5_digest *out)
{
    if (text.len != 32)
        return false;
    for (size_t i = 0; i < 16; i++) {
        int high = digit(text.ptr[2 * i]), low = digit(text.ptr[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        out->bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
