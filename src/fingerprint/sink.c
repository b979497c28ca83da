/* Hashes in one shot while everything fits in the buffer, and streams after that. */
#include "fingerprint/sink.h"

/* For longer content a hash is shorter than a copy and no slower. */
enum { LONG_CONTENT = 512 };

void stet_sink_init(struct stet_sink *s, struct stet_content_cache *cache)
{
    s->cache = cache;
    s->started = false;
    s->at = s->bytes;
    s->full = s->bytes + STET_SINK_ROOM - STET_SINK_BATCH;
}

void stet_sink_flush(struct stet_sink *s)
{
    if (!s->started) {
        stet_hasher_init(&s->hasher);
        s->started = true;
    }
    stet_hasher_add(&s->hasher, s->bytes, stet_sink_length(s));
    s->at = s->bytes;
}

void stet_sink_bytes(struct stet_sink *s, const void *bytes, size_t n)
{
    if (n > STET_SINK_ROOM - stet_sink_length(s))
        stet_sink_flush(s);
    if (n > STET_SINK_ROOM) {
        stet_hasher_add(&s->hasher, bytes, n);
    } else if (n) {
        memcpy(s->at, bytes, n);
        s->at += n;
    }
}

static struct stet_hash hash_once(struct stet_content_cache *cache, struct stet_view v)
{
    size_t slot = ((uintptr_t)v.ptr >> 4 ^ (uintptr_t)v.ptr >> 12) & 63;

    if (!cache)
        return stet_hash_bytes(v);
    if (cache->slots[slot].content.ptr != v.ptr || cache->slots[slot].content.len != v.len) {
        cache->slots[slot].hash = stet_hash_bytes(v);
        cache->slots[slot].content = v;
    }
    return cache->slots[slot].hash;
}

void stet_sink_content(struct stet_sink *s, struct stet_view v)
{
    struct stet_hash h;

    if (v.len <= LONG_CONTENT) {
        stet_sink_view(s, v);
        return;
    }
    h = hash_once(s->cache, v);
    stet_sink_varint(s, v.len);
    stet_sink_bytes(s, &h.hi, sizeof h.hi);
    stet_sink_bytes(s, &h.lo, sizeof h.lo);
}

struct stet_hash stet_sink_digest(struct stet_sink *s)
{
    if (!s->started)
        return stet_hash_bytes(stet_view_of(s->bytes, stet_sink_length(s)));
    stet_sink_flush(s);
    return stet_hasher_digest(&s->hasher);
}
