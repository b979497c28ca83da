/* Writes pprof's profile.proto. The field numbers are those of its file proto/profile.proto. */
#include "base/proto_write.h"
#include "report/export.h"

#include <stdio.h>

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
    TYPE_NAME = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_TEXT = 2,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_NUMBER = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
};

/* A number of an interner plus 1 is the id of a function or a location: 0 means none in a
 * profile. */
struct profile {
    struct stet_buf *out;
    struct stet_intern strings, functions, locations;
    struct stet_buf message, inner, label; /* scratch, empty between uses */
};

/* The number of a text in the profile's table. */
static uint64_t text(struct profile *p, struct stet_view v)
{
    uint32_t at = stet_intern_add(&p->strings, v.len ? v : STET_VIEW(""));

    return at == STET_INTERN_NONE ? 0 : at;
}

/* pprof takes <module> and <lambda> for template arguments and leaves them out. */
static uint64_t function_name(struct profile *p, struct stet_view name)
{
    struct stet_buf own = STET_BUF_INIT;
    uint64_t at;

    stet_buf_view(&own, name);
    for (size_t i = 0; i < own.len; i++)
        own.ptr[i] = own.ptr[i] == '<' ? '[' : own.ptr[i] == '>' ? ']' : own.ptr[i];
    at = text(p, stet_buf_as_view(&own));
    stet_buf_release(&own);
    return at;
}

static uint64_t function_id(struct profile *p, const struct stet_frame *f)
{
    uint64_t key[2] = {function_name(p, f->function), text(p, f->file)};
    uint32_t known = p->functions.count;
    uint32_t at = stet_intern_add(&p->functions, stet_view_of(key, sizeof key));

    if (at == known) {
        stet_proto_write_uint(&p->inner, FUNCTION_ID, (uint64_t)at + 1);
        stet_proto_write_uint(&p->inner, FUNCTION_NAME, key[0]);
        stet_proto_write_uint(&p->inner, FUNCTION_SYSTEM_NAME, key[0]);
        stet_proto_write_uint(&p->inner, FUNCTION_FILE, key[1]);
        stet_proto_write_move(p->out, PROFILE_FUNCTION, &p->inner);
    }
    return (uint64_t)at + 1;
}

static uint64_t location_id(struct profile *p, const struct stet_frame *f)
{
    uint64_t key[2] = {function_id(p, f), f->line};
    uint32_t known = p->locations.count;
    uint32_t at = stet_intern_add(&p->locations, stet_view_of(key, sizeof key));

    if (at == known) {
        stet_proto_write_uint(&p->label, LINE_FUNCTION, key[0]);
        stet_proto_write_uint(&p->label, LINE_NUMBER, f->line);
        stet_proto_write_uint(&p->inner, LOCATION_ID, (uint64_t)at + 1);
        stet_proto_write_move(&p->inner, LOCATION_LINE, &p->label);
        stet_proto_write_move(p->out, PROFILE_LOCATION, &p->inner);
    }
    return (uint64_t)at + 1;
}

static void sample_type(struct profile *p, const char *name, const char *unit)
{
    stet_proto_write_uint(&p->message, TYPE_NAME, text(p, stet_view_str(name)));
    stet_proto_write_uint(&p->message, TYPE_UNIT, text(p, stet_view_str(unit)));
    stet_proto_write_move(p->out, PROFILE_SAMPLE_TYPE, &p->message);
}

static void label(struct profile *p, const char *key, struct stet_view value)
{
    stet_proto_write_uint(&p->label, LABEL_KEY, text(p, stet_view_str(key)));
    stet_proto_write_uint(&p->label, LABEL_TEXT, text(p, value));
    stet_proto_write_move(&p->message, SAMPLE_LABEL, &p->label);
}

static void sample(struct profile *p, const struct stet_report_run *r,
                   const struct stet_report_event *e)
{
    const struct stet_frame unknown = {.function = STET_VIEW("line not known")};
    const struct stet_report_process *process = &r->processes[e->process];
    struct stet_buf ids = STET_BUF_INIT;
    char rank[32];

    for (size_t i = 0; i < e->stack.count; i++)
        stet_buf_varint(&ids, location_id(p, &e->stack.items[i]));
    if (!e->stack.count)
        stet_buf_varint(&ids, location_id(p, &unknown));
    stet_proto_write_move(&p->message, SAMPLE_LOCATION, &ids);
    stet_buf_varint(&p->inner, 1);
    stet_buf_varint(&p->inner, e->wait_ns);
    stet_buf_varint(&p->inner, e->cost_ns);
    stet_proto_write_move(&p->message, SAMPLE_VALUE, &p->inner);
    label(p, "cause", stet_view_str(stet_report_event_cause(r, e)));
    label(p, "function", stet_report_event_function(r, e));
    label(p, "served", stet_view_str(stet_journal_served_word((enum stet_served)e->served)));
    if (process->rank >= 0) { /* as text: pprof leaves out a number that is 0 */
        snprintf(rank, sizeof rank, "%lld", (long long)process->rank);
        label(p, "rank", stet_view_str(rank));
    }
    stet_proto_write_move(p->out, PROFILE_SAMPLE, &p->message);
    stet_buf_release(&ids);
}

void stet_report_pprof(struct stet_buf *out, const struct stet_report_run *r)
{
    struct profile p = {.out = out};
    const struct stet_run *run = r->run;

    stet_intern_init(&p.strings, (size_t)256 << 20);
    stet_intern_init(&p.functions, (size_t)64 << 20);
    stet_intern_init(&p.locations, (size_t)64 << 20);
    text(&p, STET_VIEW("")); /* the format wants it to be the first */
    sample_type(&p, "compiles", "count");
    sample_type(&p, "wait", "nanoseconds");
    sample_type(&p, "compiler", "nanoseconds");
    for (size_t i = 0; i < r->event_count; i++)
        sample(&p, r, &r->events[i]);
    stet_proto_write_uint(out, PROFILE_TIME, run->started_ns);
    if (run->ended_ns > run->started_ns)
        stet_proto_write_uint(out, PROFILE_DURATION, run->ended_ns - run->started_ns);
    stet_proto_write_uint(out, PROFILE_COMMENT, text(&p, stet_view_str(run->command)));
    stet_proto_write_uint(out, PROFILE_DEFAULT_TYPE, text(&p, STET_VIEW("wait")));
    for (uint32_t i = 0; i < p.strings.count; i++)
        stet_proto_write_bytes(out, PROFILE_STRING, p.strings.items[i]);
    out->failed |= p.strings.failed || p.functions.failed || p.locations.failed;
    stet_intern_release(&p.strings);
    stet_intern_release(&p.functions);
    stet_intern_release(&p.locations);
    stet_buf_release(&p.message);
    stet_buf_release(&p.inner);
    stet_buf_release(&p.label);
}
