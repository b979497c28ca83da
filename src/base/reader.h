/* A bounded reader over bytes. The first failure sticks: later reads return zero, and the caller
 * checks once at the end. It borrows the input. */
#ifndef STET_BASE_READER_H
#define STET_BASE_READER_H

#include "base/err.h"
#include "base/view.h"

struct stet_reader {
    const unsigned char *start, *next, *end;
    uint64_t base;    /* offset of `start` in the file, for messages */
    const char *what; /* first failure, or NULL; a literal */
    uint64_t where;   /* offset of the first failure */
};

void stet_reader_init(struct stet_reader *r, struct stet_view bytes, uint64_t base);

static inline size_t stet_reader_left(const struct stet_reader *r)
{
    return (size_t)(r->end - r->next);
}

static inline uint64_t stet_reader_offset(const struct stet_reader *r)
{
    return r->base + (uint64_t)(r->next - r->start);
}

static inline bool stet_reader_ok(const struct stet_reader *r)
{
    return r->what == NULL;
}

/* Marks the reader as failed here (the first mark wins) and moves it to the end, so that loops
 * stop. */
void stet_reader_fail(struct stet_reader *r, const char *what);

uint8_t stet_reader_u8(struct stet_reader *r);
uint16_t stet_reader_u16(struct stet_reader *r);
uint32_t stet_reader_u32(struct stet_reader *r);
uint64_t stet_reader_u64(struct stet_reader *r);
/* LEB128 as protobuf writes it; more than 10 bytes is a failure. */
uint64_t stet_reader_varint(struct stet_reader *r);
/* A varint of 32 bits; a larger one is a failure. */
uint32_t stet_reader_small(struct stet_reader *r);
/* The number of items of a list, each of which takes a byte at least; more than are left is a
 * failure. */
uint32_t stet_reader_count(struct stet_reader *r);
/* Bytes borrowed from the input. */
struct stet_view stet_reader_bytes(struct stet_reader *r, uint64_t n);
/* A length as a varint and that many bytes, borrowed from the input. */
struct stet_view stet_reader_text(struct stet_reader *r);
void stet_reader_skip(struct stet_reader *r, uint64_t n);
/* Returns a reader over the next n bytes, and skips them in this one. */
struct stet_reader stet_reader_sub(struct stet_reader *r, uint64_t n);

/* STET_OK, or STET_BAD_INPUT with "context: what" and the offset in `err`. */
enum stet_rc stet_reader_finish(const struct stet_reader *r, const char *context,
                                struct stet_err *err);

#endif
