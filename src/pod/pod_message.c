/* See pod_message.h. */
#include "pod/pod_message.h"

#include "base/reader.h"

#define MAGIC "STETPOD"

static void put_hash(struct stet_buf *out, struct stet_hash h)
{
    stet_buf_u64(out, h.hi);
    stet_buf_u64(out, h.lo);
}

static struct stet_hash take_hash(struct stet_reader *r)
{
    struct stet_hash h;

    h.hi = stet_reader_u64(r);
    h.lo = stet_reader_u64(r);
    return h;
}

/* Text of a peer: cut to the room, without control characters. */
static void take_text(struct stet_reader *r, char *out, size_t room)
{
    struct stet_view v = stet_reader_text(r);
    size_t n = v.len < room ? v.len : room - 1;

    if (n)
        memcpy(out, v.ptr, n);
    out[n] = '\0';
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)out[i] < ' ' && out[i] != '\n')
            out[i] = '?';
    }
}

/* ---- parts ---- */

static void put_entry(struct stet_buf *out, const struct stet_pod_entry *e)
{
    stet_buf_varint(out, e->number);
    put_hash(out, e->scope);
    stet_buf_varint(out, e->place);
    stet_buf_varint(out, e->position);
    for (size_t i = 0; i < STET_POD_PARTS; i++)
        put_hash(out, e->part[i]);
    put_hash(out, e->bytes);
    put_hash(out, e->option_bytes);
    stet_buf_text(out, stet_view_str(e->name));
}

static void take_entry(struct stet_reader *r, struct stet_pod_entry *e)
{
    e->number = stet_reader_varint(r);
    e->scope = take_hash(r);
    e->place = stet_reader_varint(r);
    e->position = stet_reader_varint(r);
    for (size_t i = 0; i < STET_POD_PARTS; i++)
        e->part[i] = take_hash(r);
    e->bytes = take_hash(r);
    e->option_bytes = take_hash(r);
    take_text(r, e->name, sizeof e->name);
}

static void put_state(struct stet_buf *out, const struct stet_pod_state *s)
{
    stet_buf_varint(out, s->executions);
    stet_buf_varint(out, s->age_ns);
    stet_buf_varint(out, s->loads);
    stet_buf_char(out, (char)(s->compiling | s->overlaps << 1));
    stet_buf_text(out, stet_view_str(s->program));
    stet_buf_text(out, stet_view_str(s->file));
    stet_buf_text(out, stet_view_str(s->function));
    stet_buf_varint(out, s->line);
    stet_buf_text(out, stet_view_str(s->host));
    stet_buf_varint(out, s->pid);
}

static void take_state(struct stet_reader *r, struct stet_pod_state *s)
{
    unsigned bits;

    s->executions = stet_reader_varint(r);
    s->age_ns = stet_reader_varint(r);
    s->loads = stet_reader_varint(r);
    bits = stet_reader_u8(r);
    s->compiling = bits & 1;
    s->overlaps = bits & 2;
    take_text(r, s->program, sizeof s->program);
    take_text(r, s->file, sizeof s->file);
    take_text(r, s->function, sizeof s->function);
    s->line = stet_reader_varint(r);
    take_text(r, s->host, sizeof s->host);
    s->pid = stet_reader_varint(r);
}

/* ---- messages ---- */

static void begin(struct stet_buf *out, enum stet_pod_message kind)
{
    stet_buf_str(out, MAGIC);
    stet_buf_char(out, STET_POD_VERSION);
    stet_buf_char(out, (char)kind);
}

static uint64_t checksum(struct stet_view body, const char *key)
{
    return stet_hash_mix(stet_hash_bytes(body), stet_hash_bytes(stet_view_str(key))).lo;
}

static void end(struct stet_buf *out, const char *key)
{
    if (!out->failed)
        stet_buf_u64(out, checksum(stet_buf_as_view(out), key));
}

/* A reader of what is between head and checksum. */
static enum stet_rc open_message(struct stet_reader *r, const char *key, struct stet_view bytes,
                                 enum stet_pod_message kind)
{
    size_t head = strlen(MAGIC) + 2, tail = 8;
    struct stet_reader check;
    struct stet_view body;

    if (bytes.len < head + tail || !stet_view_starts(bytes, MAGIC))
        return STET_BAD_INPUT;
    body = stet_view_of(bytes.ptr, bytes.len - tail);
    stet_reader_init(&check, stet_view_of(bytes.ptr + body.len, tail), 0);
    if (stet_reader_u64(&check) != checksum(body, key))
        return STET_BAD_INPUT;
    if (bytes.ptr[head - 2] != STET_POD_VERSION)
        return STET_UNSUPPORTED;
    if (bytes.ptr[head - 1] != (char)kind)
        return STET_BAD_INPUT;
    stet_reader_init(r, stet_view_of(body.ptr + head, body.len - head), head);
    return STET_OK;
}

static enum stet_rc close_message(const struct stet_reader *r)
{
    return stet_reader_ok(r) && !stet_reader_left(r) ? STET_OK : STET_BAD_INPUT;
}

void stet_pod_message_batch(struct stet_buf *out, const char *key, const struct stet_pod_batch *b)
{
    begin(out, STET_POD_BATCH);
    stet_buf_varint(out, (uint64_t)b->rank);
    stet_buf_varint(out, b->number);
    put_state(out, &b->state);
    stet_buf_varint(out, b->count_count);
    for (uint32_t i = 0; i < b->count_count; i++) {
        put_hash(out, b->counts[i].scope);
        stet_buf_varint(out, b->counts[i].executions);
    }
    stet_buf_varint(out, b->entry_count);
    for (uint32_t i = 0; i < b->entry_count; i++)
        put_entry(out, &b->entries[i]);
    end(out, key);
}

enum stet_rc stet_pod_message_read_batch(struct stet_pod_batch *b, const char *key,
                                         struct stet_view message)
{
    struct stet_reader r;
    enum stet_rc rc = open_message(&r, key, message, STET_POD_BATCH);

    if (rc != STET_OK)
        return rc;
    memset(b, 0, sizeof *b);
    b->rank = (int64_t)stet_reader_varint(&r);
    b->number = stet_reader_varint(&r);
    take_state(&r, &b->state);
    b->count_count = stet_reader_count(&r);
    if (b->count_count > STET_POD_COUNTS)
        return STET_BAD_INPUT;
    for (uint32_t i = 0; i < b->count_count; i++) {
        b->counts[i].scope = take_hash(&r);
        b->counts[i].executions = stet_reader_varint(&r);
    }
    b->entry_count = stet_reader_count(&r);
    if (b->entry_count > STET_POD_BATCH_ENTRIES)
        return STET_BAD_INPUT;
    for (uint32_t i = 0; i < b->entry_count; i++)
        take_entry(&r, &b->entries[i]);
    return close_message(&r);
}

void stet_pod_message_report(struct stet_buf *out, const char *key, const struct stet_pod_report *p)
{
    begin(out, STET_POD_REPORT);
    stet_buf_varint(out, (uint64_t)p->rank);
    put_entry(out, &p->own);
    put_entry(out, &p->theirs);
    stet_buf_char(out, (char)(p->certain | p->went_on << 1));
    put_state(out, &p->state);
    stet_buf_text(out, stet_view_str(p->flags));
    end(out, key);
}

enum stet_rc stet_pod_message_read_report(struct stet_pod_report *p, const char *key,
                                          struct stet_view message)
{
    struct stet_reader r;
    enum stet_rc rc = open_message(&r, key, message, STET_POD_REPORT);
    unsigned bits;

    if (rc != STET_OK)
        return rc;
    memset(p, 0, sizeof *p);
    p->rank = (int64_t)stet_reader_varint(&r);
    take_entry(&r, &p->own);
    take_entry(&r, &p->theirs);
    bits = stet_reader_u8(&r);
    p->certain = bits & 1;
    p->went_on = bits & 2;
    take_state(&r, &p->state);
    take_text(&r, p->flags, sizeof p->flags);
    return close_message(&r);
}

void stet_pod_message_bytes(struct stet_buf *out, const char *key, enum stet_pod_message kind,
                            struct stet_view bytes)
{
    begin(out, kind);
    stet_buf_text(out, bytes);
    end(out, key);
}

enum stet_rc stet_pod_message_read_bytes(struct stet_view *bytes, const char *key,
                                         enum stet_pod_message kind, struct stet_view message)
{
    struct stet_reader r;
    enum stet_rc rc = open_message(&r, key, message, kind);

    if (rc != STET_OK)
        return rc;
    *bytes = stet_reader_text(&r);
    return close_message(&r);
}
