/* See reader.h; nothing here reads past `end` or casts input to a struct. */
#include "base/reader.h"

void stet_reader_init(struct stet_reader *r, struct stet_view bytes, uint64_t base)
{
    static const unsigned char nothing[1];
    const unsigned char *p = bytes.len ? (const unsigned char *)bytes.ptr : nothing;

    *r = (struct stet_reader){.start = p, .next = p, .end = p + bytes.len, .base = base};
}

void stet_reader_fail(struct stet_reader *r, const char *what)
{
    if (!r->what) {
        r->what = what;
        r->where = stet_reader_offset(r);
    }
    r->next = r->end;
}

static uint64_t little_endian(struct stet_reader *r, size_t n)
{
    uint64_t v = 0;

    if (stet_reader_left(r) < n) {
        stet_reader_fail(r, "ends in the middle of a number");
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)r->next[i] << (8 * i);
    r->next += n;
    return v;
}

uint8_t stet_reader_u8(struct stet_reader *r)
{
    if (r->next == r->end) {
        stet_reader_fail(r, "ends where a byte is expected");
        return 0;
    }
    return *r->next++;
}

uint16_t stet_reader_u16(struct stet_reader *r)
{
    return (uint16_t)little_endian(r, 2);
}

uint32_t stet_reader_u32(struct stet_reader *r)
{
    return (uint32_t)little_endian(r, 4);
}

uint64_t stet_reader_u64(struct stet_reader *r)
{
    return little_endian(r, 8);
}

uint64_t stet_reader_varint(struct stet_reader *r)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        unsigned char byte;

        if (r->next == r->end) {
            stet_reader_fail(r, "ends in the middle of a varint");
            return 0;
        }
        byte = *r->next++;
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    stet_reader_fail(r, "varint longer than 10 bytes");
    return 0;
}

uint32_t stet_reader_small(struct stet_reader *r)
{
    uint64_t v = stet_reader_varint(r);

    if (v > UINT32_MAX) {
        stet_reader_fail(r, "a number of more than 32 bits");
        return 0;
    }
    return (uint32_t)v;
}

uint32_t stet_reader_count(struct stet_reader *r)
{
    uint64_t v = stet_reader_varint(r);

    if (v > stet_reader_left(r) || v >= UINT32_MAX) {
        stet_reader_fail(r, "a list longer than the bytes");
        return 0;
    }
    return (uint32_t)v;
}

struct stet_view stet_reader_text(struct stet_reader *r)
{
    return stet_reader_bytes(r, stet_reader_varint(r));
}

struct stet_view stet_reader_bytes(struct stet_reader *r, uint64_t n)
{
    struct stet_view v;

    if (n > stet_reader_left(r)) {
        stet_reader_fail(r, "a length points past the end");
        return (struct stet_view){0};
    }
    v = stet_view_of(r->next, (size_t)n);
    r->next += n;
    return v;
}

void stet_reader_skip(struct stet_reader *r, uint64_t n)
{
    (void)stet_reader_bytes(r, n);
}

struct stet_reader stet_reader_sub(struct stet_reader *r, uint64_t n)
{
    uint64_t at = stet_reader_offset(r);
    struct stet_view v = stet_reader_bytes(r, n);
    struct stet_reader sub;

    stet_reader_init(&sub, v, at);
    if (r->what) {
        sub.what = r->what;
        sub.where = r->where;
    }
    return sub;
}

enum stet_rc stet_reader_finish(const struct stet_reader *r, const char *context,
                                struct stet_err *err)
{
    if (!r->what)
        return STET_OK;
    return stet_fail_at(err, STET_BAD_INPUT, r->where, "%s: %s", context, r->what);
}
