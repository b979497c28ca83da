/* Writes Perfetto's trace. The field numbers are those of its file perfetto_trace.proto. Slices on
 * one track must be nested, and waits may overlap: each process has as many tracks named "compiles"
 * as it needs, and Perfetto shows them as one. */
#include "base/proto_write.h"
#include "report/export.h"

#include "base/vec.h"

#include <stdio.h>

enum {
    TRACE_PACKET = 1,
    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_TRACK = 60,
    CLOCKS_CLOCK = 1,
    CLOCK_ID = 1,
    CLOCK_TIME = 2,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_COMMAND = 2,
    PROCESS_NAME = 6,
    COUNTER_UNIT = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME = 23,
    EVENT_COUNT = 30,
    EVENT_SOURCE = 33,
    ANNOTATION_NAME = 10,
    ANNOTATION_UINT = 3,
    ANNOTATION_TEXT = 6,
    SOURCE_FILE = 2,
    SOURCE_FUNCTION = 3,
    SOURCE_LINE = 4,
};

enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
enum { UNIT_BYTES = 3 };
enum { SEQUENCE = 1 };

struct lane {
    uint64_t uuid, end_ns;
};

struct timeline {
    struct stet_buf *out;
    const struct stet_report_run *r;
    uint64_t uuids;
    struct stet_buf packet, body, part; /* scratch, empty between uses */
};

static void end_packet(struct timeline *t, uint64_t time_ns)
{
    stet_proto_write_uint(&t->packet, PACKET_TIME, time_ns);
    stet_proto_write_uint(&t->packet, PACKET_SEQUENCE, SEQUENCE);
    stet_proto_write_move(t->out, TRACE_PACKET, &t->packet);
}

/* ---- tracks ---- */

static void end_track(struct timeline *t)
{
    stet_proto_write_move(&t->packet, PACKET_TRACK, &t->body);
    stet_proto_write_uint(&t->packet, PACKET_SEQUENCE, SEQUENCE);
    stet_proto_write_move(t->out, TRACE_PACKET, &t->packet);
}

static uint64_t begin_track(struct timeline *t, uint64_t parent, struct stet_view name)
{
    uint64_t uuid = ++t->uuids;

    stet_proto_write_uint(&t->body, TRACK_UUID, uuid);
    if (parent)
        stet_proto_write_uint(&t->body, TRACK_PARENT, parent);
    if (name.len)
        stet_proto_write_bytes(&t->body, TRACK_NAME, name);
    return uuid;
}

static uint64_t add_track(struct timeline *t, uint64_t parent, const char *name)
{
    uint64_t uuid = begin_track(t, parent, stet_view_str(name));

    end_track(t);
    return uuid;
}

/* Processes of two hosts may have the same id, and Perfetto would take them for one. */
static bool pid_is_taken(const struct stet_report_run *r, size_t process)
{
    for (size_t i = 0; i < process; i++)
        if (r->processes[i].pid == r->processes[process].pid &&
            !stet_view_eq(r->processes[i].host, r->processes[process].host))
            return true;
    return false;
}

static uint64_t add_process(struct timeline *t, size_t at)
{
    const struct stet_report_process *p = &t->r->processes[at];
    bool shared = pid_is_taken(t->r, at) || p->pid > INT32_MAX;
    struct stet_buf name = STET_BUF_INIT;
    uint64_t uuid;

    stet_report_process_name(&name, p);
    uuid = begin_track(t, 0, stet_buf_as_view(&name));
    if (!shared) {
        stet_proto_write_uint(&t->part, PROCESS_PID, p->pid);
        stet_proto_write_cstr(&t->part, PROCESS_COMMAND, t->r->run->command);
        stet_proto_write_bytes(&t->part, PROCESS_NAME, stet_buf_as_view(&name));
        stet_proto_write_move(&t->body, TRACK_PROCESS, &t->part);
    }
    end_track(t);
    t->out->failed |= name.failed;
    stet_buf_release(&name);
    return uuid;
}

/* ---- slices ---- */

static void note_text(struct timeline *t, const char *name, struct stet_view value)
{
    if (!value.len)
        return;
    stet_proto_write_cstr(&t->part, ANNOTATION_NAME, name);
    stet_proto_write_bytes(&t->part, ANNOTATION_TEXT, value);
    stet_proto_write_move(&t->body, EVENT_ANNOTATION, &t->part);
}

static void note_uint(struct timeline *t, const char *name, uint64_t value)
{
    stet_proto_write_cstr(&t->part, ANNOTATION_NAME, name);
    stet_proto_write_uint(&t->part, ANNOTATION_UINT, value);
    stet_proto_write_move(&t->body, EVENT_ANNOTATION, &t->part);
}

static void end_event(struct timeline *t, uint64_t track, int type, uint64_t time_ns)
{
    stet_proto_write_uint(&t->body, EVENT_TYPE, (uint64_t)type);
    stet_proto_write_uint(&t->body, EVENT_TRACK, track);
    stet_proto_write_move(&t->packet, PACKET_EVENT, &t->body);
    end_packet(t, time_ns);
}

static void begin_slice(struct timeline *t, const char *category, struct stet_view name)
{
    stet_proto_write_cstr(&t->body, EVENT_CATEGORY, category);
    stet_proto_write_bytes(&t->body, EVENT_NAME, name);
}

/* A part of a wait; returns its end. */
static uint64_t part(struct timeline *t, uint64_t track, const char *name, uint64_t begin_ns,
                     uint64_t ns)
{
    if (!ns)
        return begin_ns;
    begin_slice(t, "wait", stet_view_str(name));
    end_event(t, track, SLICE_BEGIN, begin_ns);
    end_event(t, track, SLICE_END, begin_ns + ns);
    return begin_ns + ns;
}

static void note_line(struct timeline *t, const struct stet_report_event *e,
                      const struct stet_story *story)
{
    struct stet_frame at = e->stack.count ? e->stack.items[0] : (struct stet_frame){0};

    if (story && story->source.line)
        at = (struct stet_frame){story->source.file, story->source.function, story->source.line};
    if (!at.line)
        return;
    stet_proto_write_bytes(&t->part, SOURCE_FILE, at.file);
    stet_proto_write_bytes(&t->part, SOURCE_FUNCTION, at.function);
    stet_proto_write_uint(&t->part, SOURCE_LINE, at.line);
    stet_proto_write_move(&t->body, EVENT_SOURCE, &t->part);
}

static void describe(struct timeline *t, const struct stet_report_event *e)
{
    const struct stet_story *story = stet_report_event_story(t->r, e);

    note_text(t, "cause", stet_view_str(stet_report_event_cause(t->r, e)));
    if (story && !story->benign) {
        note_text(t, "evidence", story->lead.evidence);
        note_text(t, "fix", story->lead.fix);
    }
    if (e->step_known)
        note_uint(t, "step", e->step);
    note_text(t, "served", stet_view_str(stet_journal_served_word((enum stet_served)e->served)));
    if (e->program < t->r->programs.count)
        note_text(t, "program", stet_view_of(t->r->programs.items[e->program].ptr, 16));
    note_uint(t, "waited_us", e->wait_ns / 1000);
    note_uint(t, "compiler_us", e->cost_ns / 1000);
    note_line(t, e, story);
}

static uint64_t lane_at(struct timeline *t, struct lane **lanes, size_t *count, size_t *room,
                        uint64_t parent, uint64_t begin_ns, uint64_t end_ns)
{
    for (size_t i = 0; i < *count; i++)
        if ((*lanes)[i].end_ns <= begin_ns) {
            (*lanes)[i].end_ns = end_ns;
            return (*lanes)[i].uuid;
        }
    if (!stet_vec_room(lanes, room, *count, sizeof **lanes)) {
        t->out->failed = true;
        return 0;
    }
    (*lanes)[*count] = (struct lane){add_track(t, parent, "compiles"), end_ns};
    return (*lanes)[(*count)++].uuid;
}

static uint64_t length(const struct stet_report_parts *p)
{
    return p->trace_ns + p->lower_ns + p->between_ns + p->call_ns + p->until_run_ns;
}

/* Tracing and lowering are drawn right before the call, though other work may have come between. */
static void compile(struct timeline *t, uint64_t track, const struct stet_report_event *e,
                    uint64_t begin_ns)
{
    const struct stet_report_parts *p = &e->parts;
    uint64_t at = begin_ns;

    begin_slice(t, "compile", stet_report_event_function(t->r, e));
    describe(t, e);
    end_event(t, track, SLICE_BEGIN, begin_ns);
    at = part(t, track, "trace", at, p->trace_ns);
    at = part(t, track, "lower", at, p->lower_ns);
    at = part(t, track, "framework", at, p->between_ns);
    at = part(t, track, e->served || e->kind == STET_REPORT_LOAD ? "load" : "compile", at,
              p->call_ns);
    part(t, track, "until it ran", at, p->until_run_ns);
    if (e->kind != STET_REPORT_OPEN) /* Perfetto shows an open slice as unfinished */
        end_event(t, track, SLICE_END, begin_ns + length(p));
}

static void compiles(struct timeline *t, uint32_t process, uint64_t parent)
{
    struct lane *lanes = NULL;
    size_t count = 0, room = 0;

    for (size_t i = 0; i < t->r->event_count && !t->out->failed; i++) {
        const struct stet_report_event *e = &t->r->events[i];
        const struct stet_report_parts *p = &e->parts;
        uint64_t before = p->trace_ns + p->lower_ns + p->between_ns, begin_ns, end_ns;

        if (e->process != process || !e->time_ns)
            continue;
        begin_ns = p->call_at_ns > before ? p->call_at_ns - before : 0;
        end_ns = e->kind == STET_REPORT_OPEN ? UINT64_MAX : begin_ns + length(p);
        compile(t, lane_at(t, &lanes, &count, &room, parent, begin_ns, end_ns), e, begin_ns);
    }
    stet_mem_free(lanes);
}

/* A mark is the end of a step; where the first one began is not known. */
static void steps(struct timeline *t, const struct stet_report_process *p, uint64_t parent)
{
    uint64_t track = p->mark_count > 1 ? add_track(t, parent, "steps") : 0;
    char name[64];

    for (size_t i = 1; i < p->mark_count; i++) {
        const struct stet_step_mark *from = &p->marks[i - 1], *to = &p->marks[i];

        if (to->step == from->step + 1)
            snprintf(name, sizeof name, "step %llu", (unsigned long long)from->step);
        else
            snprintf(name, sizeof name, "steps %llu to %llu", (unsigned long long)from->step,
                     (unsigned long long)to->step - 1);
        if (to->wall_ns < from->wall_ns)
            continue;
        begin_slice(t, "step", stet_view_str(name));
        end_event(t, track, SLICE_BEGIN, from->wall_ns);
        end_event(t, track, SLICE_END, to->wall_ns);
    }
}

static void memory(struct timeline *t, const struct stet_report_device *d, uint64_t parent)
{
    char name[64];
    uint64_t track;

    snprintf(name, sizeof name, "device %llu, bytes in use", (unsigned long long)d->device);
    track = begin_track(t, parent, stet_view_str(name));
    stet_proto_write_uint(&t->part, COUNTER_UNIT, UNIT_BYTES);
    stet_proto_write_move(&t->body, TRACK_COUNTER, &t->part);
    end_track(t);
    for (size_t i = 0; i < d->count; i++) {
        stet_proto_write_uint(&t->body, EVENT_COUNT, d->samples[i].in_use);
        end_event(t, track, COUNTER, d->samples[i].time_ns);
    }
}

/* Times in the trace are wall-clock times; the snapshot makes Perfetto show them as such. */
static void clocks(struct timeline *t)
{
    static const uint64_t ids[] = {CLOCK_BOOTTIME_ID, CLOCK_REALTIME_ID};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        stet_proto_write_uint(&t->part, CLOCK_ID, ids[i]);
        stet_proto_write_uint(&t->part, CLOCK_TIME, t->r->run->started_ns);
        stet_proto_write_move(&t->body, CLOCKS_CLOCK, &t->part);
    }
    stet_proto_write_move(&t->packet, PACKET_CLOCKS, &t->body);
    end_packet(t, t->r->run->started_ns);
}

void stet_report_perfetto(struct stet_buf *out, const struct stet_report_run *r)
{
    struct timeline t = {.out = out, .r = r};

    clocks(&t);
    for (uint32_t i = 0; i < r->process_count; i++) {
        uint64_t track = add_process(&t, i);

        steps(&t, &r->processes[i], track);
        compiles(&t, i, track);
        for (size_t k = 0; k < r->device_count; k++)
            if (r->devices[k].process == i)
                memory(&t, &r->devices[k], track);
    }
    stet_buf_release(&t.packet);
    stet_buf_release(&t.body);
    stet_buf_release(&t.part);
}
