/* Parses the records of a torch.compile trace (TORCH_TRACE) from bytes that arrive in pieces.
 *
 * A record is a line `V1115 08:58:44.555000 16924 torch/_dynamo/utils.py:2350] {json}` and, if the
 * JSON has has_payload (the payload's MD5), lines that begin with a tab. A line of the same form
 * whose text is not JSON is output of TORCH_LOGS; it is passed on as text. Anything else is damage:
 * counted, located, and skipped, without losing anything that can be read. */
#ifndef STET_INGEST_TRACE_H
#define STET_INGEST_TRACE_H

#include "base/buf.h"
#include "base/md5.h"

enum stet_trace_fault {
    STET_TRACE_STRAY,    /* a line that is not a record, or a payload without one */
    STET_TRACE_BAD_JSON, /* a record whose JSON cannot be parsed */
    STET_TRACE_BAD_MD5,  /* a payload that does not match its MD5 */
    STET_TRACE_TORN,     /* the end of the log in the middle of a record */
    STET_TRACE_TOO_LONG, /* a line past STET_TRACE_LINE */
    STET_TRACE_BAD_UTF8,
    STET_TRACE_CODEC, /* compressed bytes that can't be read */
    STET_TRACE_FAULTS,
};

/* "payload differs from its MD5" and the like. */
const char *stet_trace_fault_words(enum stet_trace_fault fault);

/* The longest line that is held. Payload lines are not held and may have any length. */
#define STET_TRACE_LINE ((size_t)16 << 20)

/* The front of a line. */
struct stet_trace_line {
    char level;       /* V I W E C */
    uint32_t day;     /* month * 100 + day */
    uint64_t time_us; /* since midnight, local time of the machine that wrote it */
    uint64_t pid;
    int64_t rank; /* of a "[rank3]:" before the line, else -1 */
    struct stet_view text;
};

struct stet_trace_record {
    struct stet_trace_line line;
    uint64_t offset, number; /* of the line: in the (decompressed) log, and counted from 1 */
    struct stet_view type;   /* the first key: "compilation_metrics", "artifact", … */
    struct stet_view body;   /* its value, as text */
    int64_t frame, compile, attempt, rank; /* -1 when not told */
    bool has_payload;
    uint64_t payload_size;
    struct stet_view payload; /* at most as much of it as was requested; never NULL */
    struct stet_md5_digest md5;
};

/* Views are valid during the call. */
struct stet_trace_sink {
    void *context;
    /* How many bytes of the following payload should be held; 0 for none. */
    size_t (*want)(void *context, const struct stet_trace_record *r);
    void (*record)(void *context, const struct stet_trace_record *r);
    void (*text)(void *context, const struct stet_trace_line *line);
    void (*fault)(void *context, enum stet_trace_fault fault, uint64_t offset, uint64_t number);
};

/* Payloads whose MD5 is still to be checked: many at once are several times faster. A payload is
 * passed on before it is checked; a mismatch is reported a little later, and before any later
 * fault. */
struct stet_trace_check {
    size_t start, padded; /* in `bytes` */
    struct stet_md5_digest md5;
    uint64_t offset, number; /* of the record */
};

enum { STET_TRACE_CHECKS = 256 };

struct stet_trace {
    const struct stet_trace_sink *sink;
    struct stet_buf bytes; /* payloads to be checked, each padded, then the one that is coming */
    struct stet_trace_check *checks; /* NULL until there is one */
    size_t check_count, payload_start;
    struct stet_buf held;         /* a line whose end has not come */
    uint64_t offset, number;      /* of the next byte, of the next line */
    bool in_payload, mid_line;    /* mid_line: within a payload line */
    bool too_long, given, stray;  /* the rest of the line is skipped; the record has been given;
                                     stray payload lines were counted already */
    struct stet_trace_record now; /* the record of the current payload; its views point into
                                   * `head` */
    struct stet_buf head;
    size_t wanted;
    bool long_payload; /* too long to wait: it goes through `md5`, and the requested part is kept */
    bool line_ended;   /* the newline after the last line is not part of the payload */
    struct stet_buf payload;
    struct stet_md5 md5;
    bool failed; /* out of memory */
};

void stet_trace_init(struct stet_trace *t, const struct stet_trace_sink *sink);
void stet_trace_release(struct stet_trace *t);
void stet_trace_feed(struct stet_trace *t, const char *bytes, size_t n);
/* Nothing more for now: a record whose payload is complete is passed on at once. */
void stet_trace_idle(struct stet_trace *t);
/* Nothing more at all. */
void stet_trace_end(struct stet_trace *t);

/* The front of a line; false if it has another form. */
bool stet_trace_parse_line(struct stet_view v, struct stet_trace_line *out);

#endif
