/* Encodes the order as literals and back-references (training loops repeat), and times as thinned
 * deltas. */
#include "journal/execs.h"

#include "base/reader.h"

enum {
    MATCH_MIN = 4,   /* shorter repeats cost more than they save */
    TABLE_BITS = 10, /* positions of recent triples; 4 KB of stack */
    NS_PER_US = 1000,
};

static unsigned triple_slot(const struct stet_exec *e)
{
    uint64_t x = e[0].executable * 0x9e3779b97f4a7c15u;

    x = (x ^ e[1].executable) * 0x9e3779b97f4a7c15u;
    x = (x ^ e[2].executable) * 0x9e3779b97f4a7c15u;
    return (unsigned)(x >> (64 - TABLE_BITS));
}

/* Token: varint (n << 1 | back). Literals: n ids follow. Back-reference: n ids are copied from the
 * distance that follows; distance may be shorter than n, as in any LZ77. */
static void add_literals(struct stet_buf *out, const struct stet_exec *e, size_t n)
{
    if (!n)
        return;
    stet_buf_varint(out, (uint64_t)n << 1);
    for (size_t i = 0; i < n; i++)
        stet_buf_varint(out, e[i].executable);
}

static size_t match_length(const struct stet_exec *e, size_t from, size_t at, size_t n)
{
    size_t length = 0;

    while (at + length < n && e[from + length].executable == e[at + length].executable)
        length++;
    return length;
}

static void encode_order(struct stet_buf *out, const struct stet_exec *e, size_t n)
{
    uint32_t table[1u << TABLE_BITS] = {0}; /* position + 1 of the last such triple */
    size_t literal = 0, i = 0;

    while (i + 3 <= n) {
        unsigned slot = triple_slot(&e[i]);
        size_t from = table[slot], length = from ? match_length(e, from - 1, i, n) : 0;

        table[slot] = (uint32_t)(i + 1);
        if (length < MATCH_MIN) {
            i++;
            continue;
        }
        add_literals(out, e + literal, i - literal);
        stet_buf_varint(out, (uint64_t)length << 1 | 1);
        stet_buf_varint(out, i - (from - 1));
        i += length;
        literal = i;
    }
    add_literals(out, e + literal, n - literal);
}

/* Deltas of whole microseconds since the first, so that rounding does not add up. */
static void encode_times(struct stet_buf *out, const struct stet_exec *e, size_t n, size_t every)
{
    uint64_t last = 0;

    for (size_t i = every; i < n; i += every) {
        uint64_t us = e[i].time_ns > e[0].time_ns ? (e[i].time_ns - e[0].time_ns) / NS_PER_US : 0;

        us = us > last ? us : last;
        stet_buf_varint(out, us - last);
        last = us;
    }
}

enum stet_rc stet_journal_execs_encode(struct stet_rec_execs *rec, struct stet_buf *order,
                                       struct stet_buf *times, const struct stet_exec *execs,
                                       size_t n)
{
    size_t every = (n + STET_EXECS_TIMES - 1) / STET_EXECS_TIMES;

    if (n == 0 || n > STET_EXECS_MAX)
        return STET_LIMIT;
    order->len = times->len = 0;
    encode_order(order, execs, n);
    encode_times(times, execs, n, every);
    if (order->failed || times->failed)
        return STET_NO_MEMORY;
    *rec = (struct stet_rec_execs){
        .count = n,
        .first_ns = execs[0].time_ns,
        .last_ns =
            execs[n - 1].time_ns > execs[0].time_ns ? execs[n - 1].time_ns : execs[0].time_ns,
        .every = every,
        .order = stet_buf_as_view(order),
        .times = stet_buf_as_view(times),
    };
    return STET_OK;
}

static void decode_order(struct stet_reader *r, struct stet_exec *out, size_t n)
{
    size_t done = 0;

    while (done < n && stet_reader_ok(r)) {
        uint64_t token = stet_reader_varint(r), length = token >> 1, distance;

        if (length == 0 || length > n - done) {
            stet_reader_fail(r, "more executions than the batch's count");
            return;
        }
        if (token & 1) {
            distance = stet_reader_varint(r);
            if (distance == 0 || distance > done) {
                stet_reader_fail(r, "refers to before the batch");
                return;
            }
            for (uint64_t i = 0; i < length; i++, done++)
                out[done].executable = out[done - distance].executable;
        } else {
            for (uint64_t i = 0; i < length; i++, done++)
                out[done].executable = stet_reader_varint(r);
        }
    }
    if (stet_reader_left(r))
        stet_reader_fail(r, "has bytes after its last execution");
}

/* Times between two kept ones are interpolated. */
static void spread(struct stet_exec *out, size_t from, size_t to, uint64_t begin, uint64_t end)
{
    uint64_t step = to > from ? (end - begin) / (to - from) : 0;

    for (size_t i = from; i < to; i++)
        out[i].time_ns = begin + step * (i - from);
}

static void decode_times(struct stet_reader *r, const struct stet_rec_execs *rec,
                         struct stet_exec *out, size_t n)
{
    uint64_t begin = rec->first_ns, span = rec->last_ns - rec->first_ns, us = 0;
    size_t from = 0, every = (size_t)rec->every;

    for (size_t i = every; i < n; i += every) {
        uint64_t ns;

        us += stet_reader_varint(r);
        ns = us > span / NS_PER_US ? span : us * NS_PER_US;
        if (rec->first_ns + ns < begin)
            stet_reader_fail(r, "time runs backwards");
        if (!stet_reader_ok(r))
            return;
        spread(out, from, i, begin, rec->first_ns + ns);
        begin = rec->first_ns + ns;
        from = i;
    }
    spread(out, from, n - 1, begin, rec->last_ns);
    out[n - 1].time_ns = rec->last_ns;
    if (stet_reader_left(r))
        stet_reader_fail(r, "has bytes after its last time");
}

enum stet_rc stet_journal_execs_decode(const struct stet_rec_execs *rec, struct stet_exec *out,
                                       size_t room, struct stet_err *err)
{
    struct stet_reader order, times;
    enum stet_rc rc;
    size_t n = (size_t)rec->count;

    if (rec->count == 0 || rec->count > room || rec->count > STET_EXECS_MAX)
        return stet_fail(err, STET_LIMIT, "a batch of %llu executions",
                         (unsigned long long)rec->count);
    if (rec->every == 0 || rec->every > STET_EXECS_MAX || rec->last_ns < rec->first_ns)
        return stet_fail(err, STET_BAD_INPUT, "a batch of executions with impossible times");
    stet_reader_init(&order, rec->order, 0);
    stet_reader_init(&times, rec->times, 0);
    decode_order(&order, out, n);
    rc = stet_reader_finish(&order, "order of executions", err);
    if (rc != STET_OK)
        return rc;
    decode_times(&times, rec, out, n);
    return stet_reader_finish(&times, "times of executions", err);
}
