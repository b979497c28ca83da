/* Growable byte buffers with a cap. The first failure (no memory, or the cap) sticks: later appends
 * do nothing, and callers check `failed` once at the end. The caller owns the struct and releases
 * its memory with stet_buf_release. */
#ifndef STET_BASE_BUF_H
#define STET_BASE_BUF_H

#include "base/view.h"

#include <stdarg.h>

struct stet_buf {
    char *ptr; /* terminated whenever not NULL */
    size_t len, room;
    size_t cap;  /* 0 means STET_BUF_DEFAULT_CAP */
    size_t lent; /* if the room is no larger than this, `ptr` is the caller's memory */
    bool failed;
    void (*vprint)(struct stet_buf *b, const char *fmt, va_list args); /* NULL: format as printf
                                                                        * does */
};

#define STET_BUF_DEFAULT_CAP ((size_t)1 << 30)
#define STET_BUF_INIT        {0}

void stet_buf_release(struct stet_buf *b);
/* Starts an empty buffer in the caller's memory, which must outlive it. Larger content moves to the
 * heap. */
static inline void stet_buf_lend(struct stet_buf *b, char *memory, size_t bytes)
{
    b->ptr = memory;
    b->ptr[0] = '\0';
    b->room = b->lent = bytes;
}
/* Makes room for n more bytes and returns a pointer to them, or NULL. Commit with stet_buf_grew. */
char *stet_buf_reserve(struct stet_buf *b, size_t n);
void stet_buf_grew(struct stet_buf *b, size_t n);
void stet_buf_add(struct stet_buf *b, const void *bytes, size_t n);
void stet_buf_view(struct stet_buf *b, struct stet_view v);
void stet_buf_str(struct stet_buf *b, const char *s);
void stet_buf_char(struct stet_buf *b, char c);
void stet_buf_printf(struct stet_buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Decimal, faster than printf. */
void stet_buf_uint(struct stet_buf *b, uint64_t v);
void stet_buf_int(struct stet_buf *b, int64_t v);
/* Little-endian integers and LEB128, for our own formats. */
void stet_buf_u32(struct stet_buf *b, uint32_t v);
void stet_buf_u64(struct stet_buf *b, uint64_t v);
void stet_buf_varint(struct stet_buf *b, uint64_t v);
/* Its length as a varint, then its bytes; stet_reader_text reads it. */
void stet_buf_text(struct stet_buf *b, struct stet_view v);

static inline struct stet_view stet_buf_as_view(const struct stet_buf *b)
{
    return stet_view_of(b->ptr, b->len);
}

#endif
