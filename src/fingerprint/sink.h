/* A stream of bytes that is only hashed. It collects bytes in a small buffer and never keeps
 * them. */
#ifndef STET_FINGERPRINT_SINK_H
#define STET_FINGERPRINT_SINK_H

#include "base/hash.h"

/* The most that may be written after one request for room; a single item takes at most LONGEST. */
enum {
    STET_SINK_ROOM = 3072,
    STET_SINK_BATCH = 512,
    STET_SINK_LONGEST = 32,
    STET_SINK_TINY = 16,
};

/* Caches hashes of long contents by address, so that several streams hash each of them once. */
struct stet_content_cache {
    struct {
        struct stet_view content;
        struct stet_hash hash;
    } slots[64];
};

struct stet_sink {
    unsigned char *at, *full;         /* the next byte in `bytes`; no batch begins after this */
    struct stet_content_cache *cache; /* shared; may be NULL */
    bool started;                     /* the hasher has what came before `bytes` */
    unsigned char bytes[STET_SINK_ROOM];
    struct stet_hasher hasher;
};

static inline size_t stet_sink_length(const struct stet_sink *s)
{
    return (size_t)(s->at - s->bytes);
}

void stet_sink_init(struct stet_sink *s, struct stet_content_cache *cache);
void stet_sink_bytes(struct stet_sink *s, const void *bytes, size_t n);
/* Content of any length: short content as it is, long content by its hash. */
void stet_sink_content(struct stet_sink *s, struct stet_view v);
struct stet_hash stet_sink_digest(struct stet_sink *s);

__attribute__((cold)) void stet_sink_flush(struct stet_sink *s);

/* Reserves room for a batch, so that several items need one request. The returned pointer goes
 * through stet_put_varint and the like and back into stet_sink_end, without another call for this
 * stream in between. */
static inline unsigned char *stet_sink_begin(struct stet_sink *s)
{
    if (s->at > s->full)
        stet_sink_flush(s);
    return s->at;
}

static inline void stet_sink_end(struct stet_sink *s, unsigned char *at)
{
    s->at = at;
}

static inline void stet_sink_u8(struct stet_sink *s, unsigned v)
{
    unsigned char *at = stet_sink_begin(s);

    *at = (unsigned char)v;
    stet_sink_end(s, at + 1);
}

static inline unsigned char *stet_put_u64(unsigned char *at, uint64_t v)
{
    memcpy(at, &v, sizeof v);
    return at + sizeof v;
}

/* `room` must be readable for STET_SINK_LONGEST bytes, of which `n` count: one wide copy. */
static inline unsigned char *stet_put_short(unsigned char *at, const unsigned char *room, size_t n)
{
    memcpy(at, room, STET_SINK_LONGEST);
    return at + n;
}

/* The same for at most STET_SINK_TINY bytes. */
static inline unsigned char *stet_put_tiny(unsigned char *at, const unsigned char *room, size_t n)
{
    memcpy(at, room, STET_SINK_TINY);
    return at + n;
}

static inline unsigned char *stet_put_varint(unsigned char *at, uint64_t v)
{
    if (v >= 0x80) {
        *at++ = (unsigned char)(v | 0x80);
        v >>= 7;
        while (__builtin_expect(v >= 0x80, 0)) {
            *at++ = (unsigned char)(v | 0x80);
            v >>= 7;
        }
    }
    *at = (unsigned char)v;
    return at + 1;
}

static inline void stet_sink_u64(struct stet_sink *s, uint64_t v)
{
    stet_sink_end(s, stet_put_u64(stet_sink_begin(s), v));
}

static inline void stet_sink_varint(struct stet_sink *s, uint64_t v)
{
    stet_sink_end(s, stet_put_varint(stet_sink_begin(s), v));
}

static inline void stet_sink_int(struct stet_sink *s, int64_t v)
{
    stet_sink_varint(s, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

static inline void stet_sink_view(struct stet_sink *s, struct stet_view v)
{
    stet_sink_varint(s, v.len);
    if (v.len <= STET_SINK_ROOM - stet_sink_length(s)) {
        if (v.len)
            memcpy(s->at, v.ptr, v.len);
        s->at += v.len;
    } else {
        stet_sink_bytes(s, v.ptr, v.len);
    }
}

#endif
