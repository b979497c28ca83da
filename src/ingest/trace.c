/* Parses lines in place; copies only lines that span two pieces, and records with a payload. */
#include "ingest/trace.h"

#include "base/mem.h"
#include "ingest/jscan.h"

enum {
    BATCH = 768 << 10, /* payload bytes that wait for their check: they stay in the core's cache */
    LONG = 256 << 10,  /* a payload past this does not wait */
    FRONT = 8 << 10,   /* the longest path and line before the text */
};

const char *stet_trace_fault_words(enum stet_trace_fault fault)
{
    static const char *const words[STET_TRACE_FAULTS] = {
        [STET_TRACE_STRAY] = "line that is not a record",
        [STET_TRACE_BAD_JSON] = "record whose JSON is broken",
        [STET_TRACE_BAD_MD5] = "payload that differs from its MD5",
        [STET_TRACE_TORN] = "record cut off at the end",
        [STET_TRACE_TOO_LONG] = "line too long to hold",
        [STET_TRACE_BAD_UTF8] = "record that is not UTF-8",
        [STET_TRACE_CODEC] = "compressed data that is damaged",
    };

    return fault < STET_TRACE_FAULTS ? words[fault] : "fault";
}

void stet_trace_init(struct stet_trace *t, const struct stet_trace_sink *sink)
{
    *t = (struct stet_trace){.sink = sink, .number = 1};
}

void stet_trace_release(struct stet_trace *t)
{
    stet_buf_release(&t->held);
    stet_buf_release(&t->head);
    stet_buf_release(&t->payload);
    stet_buf_release(&t->bytes);
    stet_mem_free(t->checks);
}

static bool digits(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
    }
    return true;
}

/* "V1115 08:58:44.555000 " */
static bool is_stamp(const char *p, size_t n)
{
    if (n < 22 || !memchr("VDIWEC", p[0], 6) || p[5] != ' ' || p[8] != ':' || p[11] != ':' ||
        p[14] != '.' || p[21] != ' ')
        return false;
    return digits(p + 1, 4) && digits(p + 6, 2) && digits(p + 9, 2) && digits(p + 12, 2) &&
           digits(p + 15, 6);
}

bool stet_trace_parse_line(struct stet_view v, struct stet_trace_line *out)
{
    const char *p = v.ptr, *end = p + v.len, *close;

    *out = (struct stet_trace_line){.rank = -1};
    if (v.len > 7 && !memcmp(p, "[rank", 5)) { /* as TORCH_LOGS prints under a launcher */
        int64_t rank = 0;

        for (p += 5; p < end && *p >= '0' && *p <= '9' && rank < 1000000; p++)
            rank = rank * 10 + (*p - '0');
        if (end - p < 2 || p[0] != ']' || p[1] != ':')
            return false;
        out->rank = rank;
        for (p += 2; p < end && *p == ' '; p++)
            ;
    }
    if (!is_stamp(p, (size_t)(end - p)))
        return false;
    for (p += 22; p < end && *p >= '0' && *p <= '9' && out->pid < (uint64_t)1 << 58; p++)
        out->pid = out->pid * 10 + (uint64_t)(*p - '0');
    /* Bounded, because in a broken line the front of another one is looked for at every byte. */
    close = p < end ? memchr(p, ']', end - p < FRONT ? (size_t)(end - p) : FRONT) : NULL;
    if (!close)
        return false;
    p = close + 1;
    if (p < end && *p == ' ')
        p++;
    out->text = stet_view_of(p, (size_t)(end - p));
    return true;
}

/* Pure ASCII in nearly every case: many bytes at a time. */
static bool is_utf8(struct stet_view v)
{
    const unsigned char *p = (const unsigned char *)v.ptr, *end = p + v.len;

    for (; end - p >= 64; p += 64) {
        uint64_t words[8], all = 0;

        memcpy(words, p, sizeof words);
        for (size_t i = 0; i < 8; i++)
            all |= words[i];
        if (all & 0x8080808080808080u)
            break;
    }

    while (p < end) {
        uint64_t word;
        unsigned more;

        if (end - p >= 8) {
            memcpy(&word, p, sizeof word);
            if (!(word & 0x8080808080808080u)) {
                p += 8;
                continue;
            }
        }
        if (*p < 0x80) {
            p++;
            continue;
        }
        more = *p >= 0xf0 && *p <= 0xf4 ? 3 : *p >= 0xe0 ? 2 : 1;
        if (*p < 0xc2 || *p > 0xf4 || (size_t)(end - p) <= more)
            return false;
        for (unsigned i = 1; i <= more; i++) {
            if ((p[i] & 0xc0) != 0x80)
                return false;
        }
        p += more + 1;
    }
    return true;
}

static void tell(struct stet_trace *t, enum stet_trace_fault what, uint64_t offset, uint64_t number)
{
    if (t->sink->fault)
        t->sink->fault(t->sink->context, what, offset, number);
}

/* Checks the waiting payloads; `last` is the meaning of a mismatch of the last one. What has
 * arrived of the next payload moves to the front. */
static void check(struct stet_trace *t, enum stet_trace_fault last)
{
    struct stet_md5_job jobs[STET_TRACE_CHECKS];
    size_t count = t->check_count;

    if (!count)
        return;
    for (size_t i = 0; i < count; i++)
        jobs[i] =
            (struct stet_md5_job){.bytes = (const unsigned char *)t->bytes.ptr + t->checks[i].start,
                                  .padded = t->checks[i].padded};
    stet_md5_many(jobs, count);
    t->check_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct stet_trace_check *c = &t->checks[i];

        if (!stet_md5_eq(&jobs[i].digest, &c->md5))
            tell(t, i + 1 == count ? last : STET_TRACE_BAD_MD5, c->offset, c->number);
    }
    t->bytes.len -= t->payload_start;
    memmove(t->bytes.ptr, t->bytes.ptr + t->payload_start, t->bytes.len);
    t->payload_start = 0;
}

/* In the order of the log. */
static void fault(struct stet_trace *t, enum stet_trace_fault what, uint64_t offset,
                  uint64_t number)
{
    check(t, STET_TRACE_BAD_MD5);
    tell(t, what, offset, number);
}

/* The payload that has just been given waits. */
static void wait_for_check(struct stet_trace *t)
{
    size_t length = t->bytes.len - t->payload_start - t->line_ended, padding;
    char *end;

    if (!t->checks)
        t->checks = stet_mem_alloc(STET_TRACE_CHECKS * sizeof *t->checks);
    t->bytes.len = t->payload_start + length;
    end = stet_buf_reserve(&t->bytes, STET_MD5_PADDING);
    if (!t->checks || !end) {
        t->failed = true;
        return;
    }
    padding = stet_md5_pad((unsigned char *)end, length);
    stet_buf_grew(&t->bytes, padding);
    t->checks[t->check_count++] = (struct stet_trace_check){
        t->payload_start, length + padding, t->now.md5, t->now.offset, t->now.number};
    t->payload_start = t->bytes.len;
}

/* The type, and the fields beside it. */
static bool parse_record(struct stet_trace_record *r)
{
    struct stet_view key, md5 = {0};
    struct stet_jscan j;

    r->frame = r->compile = r->attempt = r->rank = -1;
    stet_ingest_jscan_init(&j, r->line.text);
    if (!stet_ingest_jscan_object(&j))
        return false;
    while (stet_ingest_jscan_key(&j, &key)) {
        if (!r->type.len) {
            r->type = key;
            r->body = stet_ingest_jscan_skip(&j);
        } else if (stet_view_is(key, "frame_id")) {
            r->frame = stet_ingest_jscan_int(&j);
        } else if (stet_view_is(key, "frame_compile_id")) {
            r->compile = stet_ingest_jscan_int(&j);
        } else if (stet_view_is(key, "attempt")) {
            r->attempt = stet_ingest_jscan_int(&j);
        } else if (stet_view_is(key, "rank")) {
            r->rank = stet_ingest_jscan_int(&j);
        } else if (stet_view_is(key, "has_payload")) {
            md5 = stet_ingest_jscan_string(&j);
        } else {
            stet_ingest_jscan_skip(&j);
        }
    }
    if (md5.len)
        r->has_payload = stet_md5_parse(md5, &r->md5);
    return stet_ingest_jscan_done(&j) && r->type.len && r->frame >= -1 && r->compile >= -1;
}

/* Moves the record into `head`, because its line is gone when the payload has arrived. */
static void begin_payload(struct stet_trace *t, const struct stet_trace_record *r)
{
    const char *old = r->line.text.ptr, *base;

    t->now = *r;
    t->head.len = t->payload.len = 0;
    stet_buf_view(&t->head, r->line.text);
    if (t->head.failed) {
        t->failed = true;
        return;
    }
    base = t->head.ptr;
    t->now.line.text.ptr = base;
    t->now.type.ptr = base + (r->type.ptr - old);
    t->now.body.ptr = base + (r->body.ptr - old);
    t->wanted = t->sink->want ? t->sink->want(t->sink->context, &t->now) : 0;
    t->payload_start = t->bytes.len;
    t->in_payload = true;
    t->given = t->long_payload = t->line_ended = false;
}

static void give_payload(struct stet_trace *t)
{
    struct stet_view payload = stet_buf_as_view(&t->payload);

    if (!t->long_payload && t->bytes.len > t->payload_start)
        payload = stet_view_of(t->bytes.ptr + t->payload_start,
                               t->bytes.len - t->payload_start - t->line_ended);
    if (payload.len > t->wanted)
        payload.len = t->wanted;
    t->now.payload = payload.len ? payload : stet_view_of("", 0);
    if (t->sink->record && !t->failed)
        t->sink->record(t->sink->context, &t->now);
    t->given = true;
}

static bool payload_is_whole(const struct stet_trace *t)
{
    struct stet_md5 own = t->md5;
    struct stet_md5_digest d;

    if (!t->long_payload) {
        stet_md5_init(&own);
        stet_md5_add(&own, t->bytes.ptr + t->payload_start,
                     t->bytes.len - t->payload_start - t->line_ended);
    }
    d = stet_md5_digest(&own);
    return stet_md5_eq(&d, &t->now.md5);
}

static void end_payload(struct stet_trace *t, bool at_end)
{
    enum stet_trace_fault differs = at_end ? STET_TRACE_TORN : STET_TRACE_BAD_MD5;

    t->in_payload = false;
    t->mid_line = false;
    if (t->given)
        return;
    give_payload(t);
    if (t->long_payload) {
        if (!payload_is_whole(t))
            fault(t, differs, t->now.offset, t->now.number);
        return;
    }
    wait_for_check(t);
    if (at_end || t->check_count == STET_TRACE_CHECKS || t->bytes.len > BATCH)
        check(t, differs);
}

/* Where in a broken line another one begins: two writers, or a crash in the middle of a line. */
static size_t next_start(struct stet_view v)
{
    struct stet_trace_line line;

    for (size_t i = 1; i + 24 < v.len; i++) {
        if (v.ptr[i + 5] == ' ' && v.ptr[i + 8] == ':' &&
            stet_trace_parse_line(stet_view_of(v.ptr + i, v.len - i), &line))
            return i;
    }
    return v.len;
}

static void take_line(struct stet_trace *t, struct stet_view v, uint64_t offset)
{
    uint64_t number = t->number;
    bool blamed = false;

    while (v.len && (v.ptr[v.len - 1] == '\r' || v.ptr[v.len - 1] == '\0'))
        v.len--;
    while (v.len) {
        struct stet_trace_record r = {.offset = offset, .number = number, .payload = {"", 0}};
        bool front = stet_trace_parse_line(v, &r.line);
        size_t skip;

        if (front && !(r.line.text.len && r.line.text.ptr[0] == '{')) {
            if (t->sink->text)
                t->sink->text(t->sink->context, &r.line);
            return;
        }
        if (front && parse_record(&r)) {
            if (!is_utf8(r.line.text))
                fault(t, STET_TRACE_BAD_UTF8, offset, number);
            if (r.has_payload)
                begin_payload(t, &r);
            else if (t->sink->record)
                t->sink->record(t->sink->context, &r);
            return;
        }
        if (!blamed)
            fault(t, front ? STET_TRACE_BAD_JSON : STET_TRACE_STRAY, offset, number);
        blamed = true;
        skip = next_start(v);
        offset += skip;
        v = stet_view_of(v.ptr + skip, v.len - skip);
    }
}

static void take_long(struct stet_trace *t, const char *p, size_t n, bool end)
{
    if (t->line_ended) {
        stet_md5_add(&t->md5, "\n", 1);
        if (t->payload.len < t->wanted)
            stet_buf_char(&t->payload, '\n');
    }
    stet_md5_add(&t->md5, p, n);
    if (t->payload.len < t->wanted)
        stet_buf_add(&t->payload, p,
                     n < t->wanted - t->payload.len ? n : t->wanted - t->payload.len);
    t->failed |= t->payload.failed;
    t->line_ended = end;
}

/* It has grown too long to wait: what has arrived goes to the streaming hash. */
static void become_long(struct stet_trace *t)
{
    bool ended = t->line_ended;
    size_t n = t->bytes.len - t->payload_start - ended;

    t->long_payload = true;
    t->line_ended = false;
    stet_md5_init(&t->md5);
    if (t->bytes.len > t->payload_start)
        take_long(t, t->bytes.ptr + t->payload_start, n, ended);
    t->bytes.len = t->payload_start;
}

/* Bytes of a payload line; `end` if its newline follows. */
static void take_payload(struct stet_trace *t, const char *p, size_t n, bool end)
{
    char *to;

    if (!t->mid_line) {
        p++; /* the tab */
        n--;
    }
    t->mid_line = !end;
    if (t->given)
        return;
    if (!t->long_payload && t->bytes.len - t->payload_start + n >= LONG)
        become_long(t);
    if (t->long_payload) {
        take_long(t, p, n, end);
        return;
    }
    to = stet_buf_reserve(&t->bytes, n + 1);
    if (!to) {
        t->failed = true;
        return;
    }
    memcpy(to, p, n);
    to[n] = '\n';
    stet_buf_grew(&t->bytes, n + end);
    t->line_ended = end;
}

/* Complete lines of a payload; returns how many bytes they were. */
static size_t take_payload_lines(struct stet_trace *t, const char *bytes, size_t n)
{
    size_t used = 0;

    if (t->given && !t->mid_line && !t->stray) {
        fault(t, STET_TRACE_STRAY, t->offset, t->number);
        t->stray = true;
    }
    while (used < n && (t->mid_line || bytes[used] == '\t') && !t->failed) {
        const char *newline = memchr(bytes + used, '\n', n - used);
        size_t length = newline ? (size_t)(newline - bytes) - used : n - used;

        take_payload(t, bytes + used, length, newline != NULL);
        t->number += newline != NULL;
        used += length + (newline != NULL);
    }
    t->offset += used;
    return used;
}

/* Consumes from bytes[0..n); returns how many were used. Fewer than n only if a line has no end
 * yet. */
static size_t step(struct stet_trace *t, const char *bytes, size_t n)
{
    const char *newline;
    size_t length;

    if (t->in_payload && !t->mid_line && bytes[0] != '\t')
        end_payload(t, false);
    if (t->in_payload)
        return take_payload_lines(t, bytes, n);
    newline = memchr(bytes, '\n', n);
    length = newline ? (size_t)(newline - bytes) : n;
    if (t->too_long) {
        t->too_long = newline == NULL;
    } else if (!newline) {
        return 0;
    } else if (bytes[0] ==
               '\t') { /* a payload whose record is not there: one fault, not one a line */
        if (!t->stray)
            fault(t, STET_TRACE_STRAY, t->offset, t->number);
        t->stray = true;
    } else {
        t->stray = false;
        take_line(t, stet_view_of(bytes, length), t->offset);
    }
    t->number += newline != NULL;
    length += newline != NULL;
    t->offset += length;
    return length;
}

/* The beginning of a line is held; adds the new bytes that complete it. */
static size_t finish_held(struct stet_trace *t, const char *bytes, size_t n)
{
    const char *newline = memchr(bytes, '\n', n);
    size_t length = newline ? (size_t)(newline - bytes) + 1 : n;

    if (t->held.len + length > STET_TRACE_LINE) {
        fault(t, STET_TRACE_TOO_LONG, t->offset, t->number);
        t->offset += t->held.len;
        t->held.len = 0;
        t->too_long = true;
        return 0;
    }
    stet_buf_add(&t->held, bytes, length);
    if (t->held.failed)
        t->failed = true;
    if (newline && !t->failed) {
        step(t, t->held.ptr, t->held.len);
        t->held.len = 0;
    }
    return length;
}

void stet_trace_feed(struct stet_trace *t, const char *bytes, size_t n)
{
    while (n && !t->failed) {
        size_t used = t->held.len ? finish_held(t, bytes, n) : step(t, bytes, n);

        if (!used && !t->held.len && !t->too_long) { /* a line without an end: hold it */
            stet_buf_add(&t->held, bytes, n);
            t->failed = t->held.failed;
            return;
        }
        bytes += used;
        n -= used;
    }
}

/* Many logs are followed at once, so memory that is not needed now is released. */
static void rest(struct stet_trace *t)
{
    check(t, STET_TRACE_BAD_MD5);
    if (t->in_payload && !t->given)
        return;
    stet_buf_release(&t->bytes);
    t->payload_start = 0;
    stet_mem_free(t->checks);
    t->checks = NULL;
}

void stet_trace_idle(struct stet_trace *t)
{
    if (t->in_payload && !t->given && t->line_ended && payload_is_whole(t))
        give_payload(t);
    if (!t->failed)
        rest(t);
}

void stet_trace_end(struct stet_trace *t)
{
    if (t->in_payload && !t->failed)
        end_payload(t, true);
    if (t->held.len && !t->failed) {
        struct stet_trace_record r = {0};
        struct stet_view v = stet_buf_as_view(&t->held);

        /* A last line without its newline may be complete. */
        if (v.ptr[0] != '\t' && stet_trace_parse_line(v, &r.line) &&
            (!stet_view_starts(r.line.text, "{") || parse_record(&r)))
            take_line(t, v, t->offset);
        else
            fault(t, STET_TRACE_TORN, t->offset, t->number);
        if (t->in_payload) /* its payload never came */
            end_payload(t, true);
    }
    t->offset += t->held.len;
    t->held.len = 0;
    t->too_long = false;
    if (!t->failed)
        rest(t);
}
