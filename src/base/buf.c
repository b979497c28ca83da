/* Doubling growth, capped. */
#include "base/buf.h"

#include "base/mem.h"

#include <stdio.h>

void stet_buf_release(struct stet_buf *b)
{
    if (b->room > b->lent)
        stet_mem_free(b->ptr);
    *b = (struct stet_buf){.cap = b->cap, .vprint = b->vprint};
}

char *stet_buf_reserve(struct stet_buf *b, size_t n)
{
    size_t cap = b->cap ? b->cap : STET_BUF_DEFAULT_CAP;
    size_t room = b->room ? b->room : 256;
    char *p;

    if (b->failed || n >= cap - b->len) {
        b->failed = true;
        return NULL;
    }
    if (b->ptr && n < b->room - b->len)
        return b->ptr + b->len;
    while (room - b->len <= n)
        room = room > cap / 2 ? cap : room * 2;
    p = stet_mem_outgrow(b->ptr, b->room, b->lent, room, 1);
    if (!p) {
        b->failed = true;
        return NULL;
    }
    b->ptr = p;
    b->room = room;
    b->ptr[b->len] = '\0';
    return p + b->len;
}

void stet_buf_grew(struct stet_buf *b, size_t n)
{
    b->len += n;
    b->ptr[b->len] = '\0';
}

void stet_buf_add(struct stet_buf *b, const void *bytes, size_t n)
{
    char *p = stet_buf_reserve(b, n);

    if (!p)
        return;
    if (n)
        memcpy(p, bytes, n);
    stet_buf_grew(b, n);
}

void stet_buf_view(struct stet_buf *b, struct stet_view v)
{
    stet_buf_add(b, v.ptr, v.len);
}

void stet_buf_str(struct stet_buf *b, const char *s)
{
    stet_buf_add(b, s, strlen(s));
}

void stet_buf_char(struct stet_buf *b, char c)
{
    stet_buf_add(b, &c, 1);
}

void stet_buf_printf(struct stet_buf *b, const char *fmt, ...)
{
    char *p;
    va_list ap;
    int n;

    if (b->vprint) {
        va_start(ap, fmt);
        b->vprint(b, fmt, ap);
        va_end(ap);
        return;
    }
    p = stet_buf_reserve(b, 128);
    if (!p)
        return;
    va_start(ap, fmt);
    n = vsnprintf(p, b->room - b->len, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
        return;
    }
    if ((size_t)n >= b->room - b->len) {
        p = stet_buf_reserve(b, (size_t)n);
        if (!p)
            return;
        va_start(ap, fmt);
        vsnprintf(p, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    stet_buf_grew(b, (size_t)n);
}

void stet_buf_uint(struct stet_buf *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    stet_buf_add(b, digits + at, sizeof digits - at);
}

void stet_buf_int(struct stet_buf *b, int64_t v)
{
    if (v < 0)
        stet_buf_char(b, '-');
    stet_buf_uint(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void add_le(struct stet_buf *b, uint64_t v, size_t n)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(v >> (8 * i));
    stet_buf_add(b, bytes, n);
}

void stet_buf_u32(struct stet_buf *b, uint32_t v)
{
    add_le(b, v, 4);
}

void stet_buf_u64(struct stet_buf *b, uint64_t v)
{
    add_le(b, v, 8);
}

void stet_buf_varint(struct stet_buf *b, uint64_t v)
{
    unsigned char bytes[10];
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (unsigned char)(v | 0x80);
    bytes[n++] = (unsigned char)v;
    stet_buf_add(b, bytes, n);
}

void stet_buf_text(struct stet_buf *b, struct stet_view v)
{
    stet_buf_varint(b, v.len);
    stet_buf_view(b, v);
}
