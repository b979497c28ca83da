/* See comparing.h. */
#include "session/comparing.h"

#include "base/human.h"

#include <inttypes.h>

#define WORTH_PRINTING_NS UINT64_C(100000000)

static bool could_not(const struct stet_job_event *j)
{
    return j->why.len || !j->channel.len;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void stet_session_comparing(struct stet_comparing *out, const struct stet_run_digest *d)
{
    *out = (struct stet_comparing){.stopped_rank = -1};
    for (size_t i = 0; i < d->process_count; i++) {
        const struct stet_process_digest *p = &d->processes[i];
        const struct stet_job_event *j = &p->job_event;

        if (!j->known)
            continue;
        out->processes++;
        if (!out->channel.len)
            out->channel = j->channel;
        if (could_not(j) && !out->stopped++) {
            out->stopped_rank = p->rank;
            out->why = j->why;
        }
        out->compiles += j->compared;
        out->messages += j->messages;
        out->bytes += j->bytes;
        out->failures += j->failures;
        out->waited_ns = larger(out->waited_ns, j->waited_ns);
        out->cpu_ns = larger(out->cpu_ns, j->cpu_ns);
    }
}

void stet_session_comparing_text(struct stet_buf *out, const struct stet_comparing *c,
                                 const char *prefix)
{
    if (!c->stopped && c->waited_ns < WORTH_PRINTING_NS)
        return;
    stet_buf_str(out, prefix);
    if (c->stopped) {
        stet_buf_printf(out, "%" PRIu64 " of %" PRIu64 " process%s did not compare compiles with ",
                        c->stopped, c->processes, c->processes == 1 ? "" : "es");
        stet_buf_str(out, "other ranks to the end");
        if (c->stopped_rank >= 0)
            stet_buf_printf(out, " (rank %" PRId64 ": %.*s)", c->stopped_rank,
                            STET_FMT(c->why.len ? c->why : STET_VIEW("the channel failed")));
    }
    if (c->waited_ns >= WORTH_PRINTING_NS) {
        stet_buf_str(out, c->stopped ? "; compiles waited " : "compiles waited ");
        stet_text_duration(out, c->waited_ns);
        stet_buf_str(out, " for other ranks");
    }
    stet_buf_char(out, '\n');
}

void stet_session_comparing_json(struct stet_json *j, const struct stet_comparing *c)
{
    if (!c->processes) {
        stet_json_null(j, "comparing");
        return;
    }
    stet_json_object(j, "comparing");
    stet_json_uint(j, "processes", c->processes);
    stet_json_uint(j, "stopped", c->stopped);
    stet_json_known(j, "stopped_rank", c->stopped_rank >= 0, (uint64_t)c->stopped_rank);
    stet_json_told(j, "why", c->why);
    stet_json_told(j, "channel", c->channel);
    stet_json_uint(j, "compiles", c->compiles);
    stet_json_uint(j, "messages", c->messages);
    stet_json_uint(j, "bytes", c->bytes);
    stet_json_uint(j, "failures", c->failures);
    stet_json_number(j, "waited_s", (double)c->waited_ns / 1e9);
    stet_json_number(j, "cpu_s", (double)c->cpu_ns / 1e9);
    stet_json_end_object(j);
}
