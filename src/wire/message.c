/* All kinds have one layout, so one checked reader serves them all. */
#include "wire/message.h"

#include "base/reader.h"

#include <inttypes.h>

static const char magic[8] = {'S', 'T', 'E', 'T', 'A', 'G', 'T', '\n'};

static void add_text(struct stet_buf *out, struct stet_view text)
{
    size_t n = text.len < STET_WIRE_MAX / 4 ? text.len : STET_WIRE_MAX / 4;

    stet_buf_u32(out, (uint32_t)n);
    stet_buf_add(out, text.ptr, n);
}

static struct stet_view read_text(struct stet_reader *r)
{
    return stet_reader_bytes(r, stet_reader_u32(r));
}

/* Covers everything but itself: version and length first. */
static struct stet_hash sum_of(uint32_t version, uint32_t length, struct stet_view payload)
{
    return stet_hash_seeded(payload, (uint64_t)version << 32 | length);
}

/* Requests have the run where answers have the tier. */
static bool holds_run(uint32_t kind)
{
    return kind == STET_MESSAGE_GET || kind == STET_MESSAGE_REPORT;
}

void stet_wire_message_pack(struct stet_buf *out, const struct stet_message *m)
{
    struct stet_buf body = STET_BUF_INIT;
    struct stet_hash sum;

    stet_buf_u32(&body, m->kind);
    stet_buf_u32(&body, m->flags);
    stet_buf_u64(&body, m->key.hi);
    stet_buf_u64(&body, m->key.lo);
    stet_buf_u32(&body, m->wait_ms);
    stet_buf_u32(&body, m->flight_ms);
    stet_buf_u64(&body, m->bytes);
    stet_buf_u64(&body, m->ns);
    add_text(&body, m->store);
    add_text(&body, holds_run(m->kind) ? m->run : m->tier);
    add_text(&body, m->text);
    stet_buf_u32(&body, m->tier_number);
    sum = sum_of(STET_WIRE_VERSION, (uint32_t)body.len, stet_buf_as_view(&body));
    stet_buf_add(out, magic, sizeof magic);
    stet_buf_u32(out, STET_WIRE_VERSION);
    stet_buf_u32(out, (uint32_t)body.len);
    stet_buf_u64(out, sum.hi);
    stet_buf_u64(out, sum.lo);
    stet_buf_view(out, stet_buf_as_view(&body));
    out->failed |= body.failed;
    stet_buf_release(&body);
}

enum stet_rc stet_wire_message_length(struct stet_view head, size_t *length, struct stet_err *err)
{
    struct stet_reader r;
    struct stet_view start;
    uint32_t version, n;

    stet_reader_init(&r, head, 0);
    start = stet_reader_bytes(&r, sizeof magic);
    if (start.len != sizeof magic || memcmp(start.ptr, magic, sizeof magic) != 0)
        return stet_fail_at(err, STET_BAD_INPUT, 0, "not a message of Stet's");
    version = stet_reader_u32(&r);
    n = stet_reader_u32(&r);
    if (!stet_reader_ok(&r))
        return stet_reader_finish(&r, "message", err);
    if (version > STET_WIRE_VERSION)
        return stet_fail(err, STET_UNSUPPORTED,
                         "sent by a newer Stet: version %" PRIu32 ", this one knows %d", version,
                         STET_WIRE_VERSION);
    if (n > STET_WIRE_MAX)
        return stet_fail_at(err, STET_LIMIT, 12, "message: %" PRIu32 " bytes are too many", n);
    *length = STET_WIRE_HEAD + (size_t)n;
    return STET_OK;
}

enum stet_rc stet_wire_message_read(struct stet_message *m, struct stet_view frame,
                                    struct stet_err *err)
{
    struct stet_reader r;
    struct stet_view body;
    struct stet_hash sum;
    uint32_t version;
    size_t length = 0;
    enum stet_rc rc = stet_wire_message_length(frame, &length, err);

    *m = (struct stet_message){0};
    if (rc != STET_OK)
        return rc;
    if (length != frame.len)
        return stet_fail_at(err, STET_BAD_INPUT, frame.len, "message: length differs");
    stet_reader_init(&r, frame, 0);
    stet_reader_skip(&r, sizeof magic);
    version = stet_reader_u32(&r);
    stet_reader_skip(&r, 4);
    sum.hi = stet_reader_u64(&r);
    sum.lo = stet_reader_u64(&r);
    body = stet_view_of(frame.ptr + STET_WIRE_HEAD, length - STET_WIRE_HEAD);
    if (!stet_hash_eq(sum, sum_of(version, (uint32_t)body.len, body)))
        return stet_fail_at(err, STET_BAD_INPUT, 16, "message: checksum differs");
    m->kind = stet_reader_u32(&r);
    m->flags = stet_reader_u32(&r);
    m->key.hi = stet_reader_u64(&r);
    m->key.lo = stet_reader_u64(&r);
    m->wait_ms = stet_reader_u32(&r);
    m->flight_ms = stet_reader_u32(&r);
    m->bytes = stet_reader_u64(&r);
    m->ns = stet_reader_u64(&r);
    m->store = read_text(&r);
    *(holds_run(m->kind) ? &m->run : &m->tier) = read_text(&r);
    m->text = read_text(&r);
    if (stet_reader_left(&r) >= 4) /* earlier versions end here */
        m->tier_number = stet_reader_u32(&r);
    /* what follows is a later field, for readers that know it */
    return stet_reader_finish(&r, "message", err);
}
