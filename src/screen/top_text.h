/* Numbers of the screen of `stet top` as short texts. A text is the caller's. */
#ifndef STET_SCREEN_TOP_TEXT_H
#define STET_SCREEN_TOP_TEXT_H

#include "base/human.h"

#include <inttypes.h>
#include <stdio.h>

struct text {
    char bytes[48];
};

/* Returns the text of a function of base/human.h, for a field. */
static inline const char *say(struct text *t, void (*write)(struct stet_buf *, uint64_t),
                              uint64_t v)
{
    struct stet_buf out = STET_BUF_INIT;

    write(&out, v);
    snprintf(t->bytes, sizeof t->bytes, "%s", out.failed ? "" : out.ptr);
    stet_buf_release(&out);
    return t->bytes;
}

static inline const char *duration(struct text *t, uint64_t ns)
{
    return say(t, stet_text_duration, ns);
}

static inline const char *size(struct text *t, uint64_t bytes)
{
    return say(t, stet_text_bytes, bytes);
}

static inline const char *number(struct text *t, uint64_t v)
{
    snprintf(t->bytes, sizeof t->bytes, "%" PRIu64, v);
    return t->bytes;
}

static inline const char *rate(struct text *t, double v)
{
    snprintf(t->bytes, sizeof t->bytes, v >= 100 ? "%.0f" : v >= 10 ? "%.1f" : "%.2f", v);
    return t->bytes;
}

static inline const char *ago(struct text *t, uint64_t now_ns, uint64_t then_ns)
{
    uint64_t s = now_ns > then_ns ? (now_ns - then_ns) / 1000000000 : 0;

    if (!then_ns)
        snprintf(t->bytes, sizeof t->bytes, "-");
    else if (s < 120)
        snprintf(t->bytes, sizeof t->bytes, "%" PRIu64 " s ago", s);
    else if (s < 7200)
        snprintf(t->bytes, sizeof t->bytes, "%" PRIu64 " min ago", s / 60);
    else
        snprintf(t->bytes, sizeof t->bytes, "%" PRIu64 " h ago", s / 3600);
    return t->bytes;
}

static inline const char *rank_text(struct text *t, int64_t rank)
{
    if (rank < 0)
        snprintf(t->bytes, sizeof t->bytes, "-");
    else
        snprintf(t->bytes, sizeof t->bytes, "%" PRId64, rank);
    return t->bytes;
}

#endif
