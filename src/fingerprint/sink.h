/* A stream of bytes that is only ever hashed: gathered in a small buffer, never kept. */
#ifndef STET_FINGERPRINT_SINK_H
#define STET_FINGERPRINT_SINK_H

#include "base/hash.h"

enum { STET_SINK_ROOM = 2048, STET_SINK_LONGEST = 32 };

/* Hashes of long contents by address, so that several streams read each of them once. */
struct stet_content_cache {
    struct {
        struct stet_view content;
        struct stet_hash hash;
    } slots[64];
};

struct stet_sink {
    struct stet_hasher hasher;
    struct stet_content_cache *cache; /* shared; may be NULL */
    bool started;                     /* the hasher holds what came before `bytes` */
    size_t len;
    unsigned char bytes[STET_SINK_ROOM];
};

void stet_sink_init(struct stet_sink *s, struct stet_content_cache *cache);
void stet_sink_bytes(struct stet_sink *s, const void *bytes, size_t n);
/* Content of any length: short ones as they are, long ones by their hash. */
void stet_sink_content(struct stet_sink *s, struct stet_view v);
struct stet_hash stet_sink_digest(struct stet_sink *s);

void stet_sink_flush(struct stet_sink *s);

static inline void stet_sink_need(struct stet_sink *s)
{
    if (s->len > STET_SINK_ROOM - STET_SINK_LONGEST)
        stet_sink_flush(s);
}

static inline void stet_sink_u8(struct stet_sink *s, unsigned v)
{
    stet_sink_need(s);
    s->bytes[s->len++] = (unsigned char)v;
}

/* `room` must be readable for STET_SINK_LONGEST bytes, of which `n` count: one wide copy. */
static inline void stet_sink_short(struct stet_sink *s, const unsigned char *room, size_t n)
{
    stet_sink_need(s);
    memcpy(s->bytes + s->len, room, STET_SINK_LONGEST);
    s->len += n;
}

/* Several numbers in a row without asking for room at each: `at` from stet_sink_begin goes through
 * stet_put_varint and back into stet_sink_end, with no other call for this stream between. */
enum { STET_SINK_BATCH = 512 };

static inline unsigned char *stet_sink_begin(struct stet_sink *s)
{
    if (s->len > STET_SINK_ROOM - STET_SINK_BATCH)
        stet_sink_flush(s);
    return s->bytes + s->len;
}

static inline void stet_sink_end(struct stet_sink *s, const unsigned char *at)
{
    s->len = (size_t)(at - s->bytes);
}

static inline unsigned char *stet_put_varint(unsigned char *at, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *at++ = (unsigned char)(v | 0x80);
    *at++ = (unsigned char)v;
    return at;
}

static inline void stet_sink_u64(struct stet_sink *s, uint64_t v)
{
    stet_sink_need(s);
    memcpy(s->bytes + s->len, &v, sizeof v);
    s->len += sizeof v;
}

static inline void stet_sink_varint(struct stet_sink *s, uint64_t v)
{
    stet_sink_need(s);
    stet_sink_end(s, stet_put_varint(s->bytes + s->len, v));
}

static inline void stet_sink_int(struct stet_sink *s, int64_t v)
{
    stet_sink_varint(s, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

static inline void stet_sink_view(struct stet_sink *s, struct stet_view v)
{
    stet_sink_varint(s, v.len);
    if (v.len <= STET_SINK_ROOM - s->len) {
        if (v.len)
            memcpy(s->bytes + s->len, v.ptr, v.len);
        s->len += v.len;
    } else {
        stet_sink_bytes(s, v.ptr, v.len);
    }
}

#endif
