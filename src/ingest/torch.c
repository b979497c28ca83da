/* Growing arrays, linked by index: a model of 13,000 compiles takes a few megabytes, whatever the
 * size of the trace. */
#include "ingest/config_text.h"
#include "ingest/graph_text.h"
#include "ingest/torch_internal.h"

#include "base/vec.h"
#include "python/sources.h"

enum { POOL = 48 << 20, ITEMS = 1 << 24 };

void stet_torch_init(struct stet_torch *t)
{
    *t = (struct stet_torch){0};
    stet_intern_init(&t->pool, POOL);
    stet_intern_init(&t->keys, POOL);
    t->scratch.cap = (size_t)8 << 20;
    t->sources = stet_mem_calloc(1, sizeof *t->sources);
}

void stet_torch_release(struct stet_torch *t)
{
    for (size_t i = 0; i < t->log_count; i++) {
        stet_mem_free(t->logs[i]->strings);
        stet_buf_release(&t->logs[i]->text);
        stet_mem_free(t->logs[i]);
    }
    if (t->sources)
        stet_python_sources_release(t->sources);
    stet_mem_free(t->sources);
    stet_mem_free(t->logs);
    stet_mem_free(t->processes);
    stet_mem_free(t->frames);
    stet_mem_free(t->compiles);
    stet_mem_free(t->failures);
    stet_mem_free(t->drifts);
    stet_mem_free(t->specials);
    stet_mem_free(t->breaks);
    stet_mem_free(t->rerecords);
    stet_mem_free(t->nesteds);
    stet_mem_free(t->torch_keys);
    stet_mem_free(t->components);
    stet_mem_free(t->settings);
    stet_mem_free(t->inputs);
    stet_mem_free(t->held);
    stet_mem_free(t->sizes);
    stet_mem_free(t->parts);
    stet_map_release(&t->by_pid);
    stet_map_release(&t->by_frame);
    stet_map_release(&t->by_compile);
    stet_map_release(&t->by_break);
    stet_buf_release(&t->scratch);
    stet_intern_release(&t->pool);
    stet_intern_release(&t->keys);
    *t = (struct stet_torch){0};
}

uint32_t stet_torch_grow(struct stet_torch *t, void **items, size_t *count, size_t *room,
                         size_t size)
{
    if (*count == *room && !stet_vec_grow(items, room, *count, 1, size, ITEMS)) {
        t->failed = true;
        return STET_TORCH_NONE;
    }
    memset((char *)*items + *count * size, 0, size);
    return (uint32_t)(*count)++;
}

#define GROW(t, what)                                                                              \
    stet_torch_grow((t), (void **)&(t)->what##s, &(t)->what##_count, &(t)->what##_room,            \
                    sizeof *(t)->what##s)

struct stet_view stet_torch_keep(struct stet_torch *t, struct stet_view text)
{
    struct stet_view kept = stet_intern_view(&t->pool, text);

    t->failed |= t->pool.failed;
    return kept;
}

struct stet_view stet_torch_keep_raw(struct stet_torch *t, struct stet_view raw)
{
    if (!raw.len || !memchr(raw.ptr, '\\', raw.len))
        return stet_torch_keep(t, raw);
    t->scratch.len = 0;
    stet_ingest_jscan_unescape(&t->scratch, raw);
    return stet_torch_keep(t, stet_buf_as_view(&t->scratch));
}

void stet_torch_add_failure(struct stet_torch *t, uint32_t compile, struct stet_view text)
{
    struct stet_torch_compile *c;
    struct stet_view kept;
    struct stet_guard g;
    uint32_t i, entry;

    stet_ingest_guard_parse(&g, text);
    if (!g.expr.len || (i = GROW(t, failure)) == STET_TORCH_NONE)
        return;
    c = &t->compiles[compile];
    entry = g.compile >= 0 && g.compile < UINT32_MAX ? (uint32_t)g.compile : STET_TORCH_NONE;
    kept = stet_torch_keep(t, stet_view_of(g.expr.ptr, (size_t)(text.ptr + text.len - g.expr.ptr)));
    stet_ingest_guard_parse(&g, kept);
    t->failures[i] = (struct stet_torch_failure){.text = kept,
                                                 .entry = entry,
                                                 .next = STET_TORCH_NONE,
                                                 .kind = g.kind,
                                                 .dim = g.dim,
                                                 .source = g.source,
                                                 .expected = g.expected,
                                                 .actual = g.actual};
    if (c->last_failure == STET_TORCH_NONE)
        c->failures = i;
    else
        t->failures[c->last_failure].next = i;
    c->last_failure = i;
    c->failure_count++;
}

static uint64_t first_number(struct stet_view v, const char *after)
{
    size_t n = strlen(after);
    uint64_t value = 0;

    for (size_t i = 0; i + n <= v.len; i++) {
        if (memcmp(v.ptr + i, after, n) != 0)
            continue;
        for (i += n; i < v.len && v.ptr[i] >= '0' && v.ptr[i] <= '9' && value < 1u << 30; i++)
            value = value * 10 + (uint64_t)(v.ptr[i] - '0');
        break;
    }
    return value;
}

void stet_torch_hit_limit(struct stet_torch *t, uint32_t compile, struct stet_view reason)
{
    struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_torch_frame *f = &t->frames[c->frame];

    c->limit = true;
    f->limit = stet_view_contains(reason, "accumulated") ? STET_VIEW("accumulated_recompile_limit")
                                                         : STET_VIEW("recompile_limit");
    f->limit_value = first_number(reason, "currently set to ");
    if (!f->limit_value)
        f->limit_value = first_number(reason, "limit (");
}

void stet_torch_done(struct stet_torch *t, uint32_t compile)
{
    struct stet_torch_compile *c = &t->compiles[compile];

    if (c->ended)
        return;
    c->ended = true;
    if (t->on_compile)
        t->on_compile(t->context, t, compile);
}

const char *stet_torch_cache_name(enum stet_torch_cache cache)
{
    static const char *const names[] = {
        [STET_CACHE_UNSEEN] = "none",   [STET_CACHE_MISS] = "miss",
        [STET_CACHE_BYPASS] = "bypass", [STET_CACHE_SAME] = "hit-this-run",
        [STET_CACHE_EARLIER] = "hit",
    };

    return (size_t)cache < sizeof names / sizeof *names ? names[cache] : "none";
}

uint32_t stet_torch_recompiles(const struct stet_torch *t)
{
    uint32_t n = 0;

    for (size_t i = 0; i < t->frame_count; i++)
        n += t->frames[i].compiles ? t->frames[i].compiles - 1 : 0;
    return n;
}

/* Records. */

static uint32_t compile_of(struct stet_torch_log *log, const struct stet_trace_record *r,
                           bool start)
{
    struct stet_torch *t = log->t;
    uint32_t process = stet_torch_process_of(log, r->line.pid, r->rank), frame, compile;
    bool fresh = false;

    if (process == STET_TORCH_NONE || r->frame < 0 || r->compile < 0)
        return STET_TORCH_NONE;
    frame = stet_torch_frame_of(t, process, r->frame, false);
    if (frame == STET_TORCH_NONE)
        return frame;
    if (start && r->compile == 0 && r->attempt <= 0 && t->frames[frame].first != STET_TORCH_NONE)
        fresh = t->compiles[t->frames[frame].first].ended;
    if (fresh)
        frame = stet_torch_frame_of(t, process, r->frame, true);
    compile = frame == STET_TORCH_NONE ? frame : stet_torch_compile_of(t, frame, r->compile);
    if (compile != STET_TORCH_NONE && r->attempt >= 0 && r->attempt < 1 << 20 &&
        t->compiles[compile].attempts < r->attempt + 1)
        t->compiles[compile].attempts = (uint32_t)r->attempt + 1;
    return compile;
}

/* The stack in a record's body: the code object, and the user's own line that called it. */
static bool stack_of(struct stet_torch_log *log, struct stet_view body,
                     struct stet_torch_place *code, struct stet_torch_caller *caller)
{
    struct stet_view key;
    struct stet_jscan j;
    bool found = false;

    stet_ingest_jscan_init(&j, body);
    if (!stet_ingest_jscan_object(&j))
        return false;
    while (stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "stack")) {
            stet_torch_stack(log, &j, code, caller);
            found = true;
        } else {
            stet_ingest_jscan_skip(&j);
        }
    }
    return found;
}

static void take_caller(struct stet_torch_compile *c, const struct stet_torch_caller *caller)
{
    c->call = caller->call;
    c->near = caller->near;
    c->passes = caller->passes;
    c->wait_count = caller->wait_count;
    for (uint32_t i = 0; i < caller->wait_count; i++)
        c->waits[i] = caller->waits[caller->wait_count - 1 - i];
}

static void take_start(struct stet_torch_log *log, const struct stet_trace_record *r)
{
    uint32_t compile = compile_of(log, r, true);
    struct stet_torch_caller caller;
    struct stet_torch_place code;
    struct stet_torch_frame *f;

    if (compile == STET_TORCH_NONE || !stack_of(log, r->body, &code, &caller))
        return;
    f = &log->t->frames[log->t->compiles[compile].frame];
    if (code.line && !f->code.line)
        f->code = code;
    take_caller(&log->t->compiles[compile], &caller);
}

/* A record with the whole Python stack gives the caller, if dynamo_start did not. */
static void take_call(struct stet_torch_log *log, const struct stet_trace_record *r)
{
    uint32_t compile = compile_of(log, r, false);
    struct stet_torch_caller caller;
    struct stet_torch_place code;

    if (compile == STET_TORCH_NONE)
        return;
    log->t->compiles[compile].symbols++;
    if (!log->t->compiles[compile].call.line && stack_of(log, r->body, &code, &caller))
        take_caller(&log->t->compiles[compile], &caller);
}

/* Only values that are passed in: modules have many parameters, and no setting names them. */
static void take_input(struct stet_torch_log *log, const struct stet_trace_record *r)
{
    struct stet_torch *t = log->t;
    struct stet_view key, source = {"", 0};
    struct stet_jscan j;
    uint32_t compile, i;

    if (r->compile != 0 || r->attempt > 0)
        return;
    stet_ingest_jscan_init(&j, r->body);
    if (!stet_ingest_jscan_object(&j))
        return;
    while (stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "source"))
            source = stet_ingest_jscan_string(&j);
        else
            stet_ingest_jscan_skip(&j);
    }
    if (!stet_view_starts(source, "L['") || !stet_view_ends(source, "']") ||
        memmem(source.ptr, source.len, "_parameters", 11) ||
        memmem(source.ptr, source.len, "_buffers", 8))
        return;
    compile = compile_of(log, r, false);
    i = compile == STET_TORCH_NONE ? compile : GROW(t, input);
    if (i != STET_TORCH_NONE)
        t->inputs[i] =
            (struct stet_torch_input){t->compiles[compile].frame, stet_torch_keep_raw(t, source)};
}

/* Bytes of a graph, and of all graphs, that are kept for comparing ranks; and of the beginning of a
 * script that has the settings. */
enum { GRAPH_MOST = 64 << 10, GRAPHS_MOST = 16 << 20, SCRIPT_MOST = 32 << 10 };

/* Needed only if the reasons of recompiles are not in the trace. */
static void take_old(struct stet_torch_log *log, const struct stet_trace_record *r)
{
    uint32_t compile = log->t->tells_reasons ? STET_TORCH_NONE : compile_of(log, r, false);

    if (compile == STET_TORCH_NONE)
        return;
    if (stet_view_is(r->type, "dynamo_cpp_guards_str"))
        stet_torch_hold_guards(log->t, compile, r->payload);
    else if (stet_view_is(r->type, "describe_tensor"))
        stet_torch_describe(log, r->body);
    else
        stet_torch_described(log, compile, r->body);
}

static struct stet_view artifact_name(struct stet_view body)
{
    struct stet_view key, name = {"", 0};
    struct stet_jscan j;

    stet_ingest_jscan_init(&j, body);
    if (!stet_ingest_jscan_object(&j))
        return name;
    while (stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "name"))
            name = stet_ingest_jscan_string(&j);
        else
            stet_ingest_jscan_skip(&j);
    }
    return name;
}

static bool is_cache(struct stet_view name)
{
    return stet_view_starts(name, "fx_graph_cache_") ||
           stet_view_starts(name, "aotautograd_cache_");
}

static bool is_break(struct stet_view name)
{
    return stet_view_is(name, "dynamo_graph_break_reason");
}

static bool is_script(struct stet_view name)
{
    return stet_view_is(name, "fx_graph_runnable");
}

static size_t want(void *context, const struct stet_trace_record *r)
{
    const struct stet_torch_log *log = context;
    struct stet_view name;

    if (stet_view_is(r->type, "chromium_event"))
        return 4 << 10;
    if (stet_view_is(r->type, "dynamo_cpp_guards_str"))
        return log->t->tells_reasons ? 0 : 256 << 10;
    if (stet_view_is(r->type, "dynamo_output_graph"))
        return r->compile == 0 ? GRAPH_MOST : 0;
    if (!stet_view_is(r->type, "artifact"))
        return 0;
    name = artifact_name(r->body);
    if (stet_view_is(name, "recompile_reasons"))
        return 1 << 20;
    if (is_cache(name))
        return 1 << 20;
    if (is_script(name))
        return r->compile == 0 ? SCRIPT_MOST : 0;
    if (is_break(name) || stet_view_is(name, "torch_version"))
        return 16 << 10;
    return 0;
}

static void take_version(struct stet_torch_log *log, const struct stet_trace_record *r)
{
    uint32_t process = stet_torch_process_of(log, r->line.pid, r->rank);
    struct stet_view key;
    struct stet_jscan j;

    stet_ingest_jscan_init(&j, r->payload);
    if (process == STET_TORCH_NONE || !stet_ingest_jscan_object(&j))
        return;
    while (stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "pytorch_version"))
            log->t->processes[process].torch_version =
                stet_torch_keep_raw(log->t, stet_ingest_jscan_string(&j));
        else
            stet_ingest_jscan_skip(&j);
    }
}

/* Of the first graph that the backend compiles: the forward part, if there is a backward one. */
static void keep_settings(struct stet_torch *t, uint32_t compile, struct stet_view script)
{
    struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_torch_process *p = &t->processes[t->frames[c->frame].process];
    struct stet_buf plain = STET_BUF_INIT;

    if (p->rank < 0 || c->settings_known || !script.len)
        return;
    stet_config_text_plain(&plain, script);
    if (!plain.failed) {
        c->settings = stet_torch_keep(t, stet_buf_as_view(&plain));
        c->settings_known = true;
        c->settings_fresh = !p->backend_used;
        t->settings_told++;
    }
    p->backend_used = true;
    stet_buf_release(&plain);
}

static void take_cache(struct stet_torch *t, uint32_t compile, struct stet_view name,
                       struct stet_view payload)
{
    t->processes[t->frames[t->compiles[compile].frame].process].backend_used |=
        stet_view_starts(name, "fx_graph_cache_");
    stet_torch_cache_event(t, compile, name, payload);
}

static void take_artifact(struct stet_torch_log *log, const struct stet_trace_record *r)
{
    struct stet_view name = artifact_name(r->body);
    bool reasons = stet_view_is(name, "recompile_reasons");
    uint32_t compile;

    if (stet_view_is(name, "torch_version")) {
        take_version(log, r);
        return;
    }
    if (!reasons && !is_break(name) && !is_cache(name) && !is_script(name))
        return;
    compile = compile_of(log, r, false);
    if (compile == STET_TORCH_NONE)
        return;
    log->t->tells_reasons |= reasons;
    if (reasons)
        stet_torch_reasons(log->t, compile, r->payload);
    else if (is_cache(name))
        take_cache(log->t, compile, name, r->payload);
    else if (is_script(name))
        keep_settings(log->t, compile, r->payload);
    else
        stet_torch_add_break(log->t, compile, r->payload);
}

static void take_event(struct stet_torch_log *log, const struct stet_trace_record *r)
{
    struct stet_view name = stet_torch_event_name(r->payload);

    if (stet_view_is(name, "compile_attempt_0")) {
        uint32_t compile = compile_of(log, r, false);

        if (compile != STET_TORCH_NONE)
            stet_torch_began(log->t, compile, r->payload);
    } else if (stet_view_is(name, "automatic_dynamic")) {
        uint32_t compile = compile_of(log, r, false);

        if (compile != STET_TORCH_NONE)
            stet_torch_drifted(log->t, compile, r->payload);
    } else if (stet_view_is(name, "CUDAGraphNode.record")) {
        stet_torch_recorded(log, stet_torch_process_of(log, r->line.pid, r->rank), r->payload);
    }
}

/* A graph that was cut cannot be compared. Ranks that trace the same share its text. */
static void keep_graph(struct stet_torch *t, uint32_t compile, struct stet_view payload)
{
    struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_buf plain = STET_BUF_INIT;
    size_t before = t->pool.count;

    if (t->processes[t->frames[c->frame].process].rank < 0 || payload.len >= GRAPH_MOST ||
        t->graph_bytes > GRAPHS_MOST)
        return;
    stet_graph_text_plain(&plain, payload);
    if (!plain.failed)
        c->graph = stet_torch_keep_raw(t, stet_buf_as_view(&plain));
    if (t->pool.count != before)
        t->graph_bytes += plain.len;
    stet_buf_release(&plain);
}

static void take_record(void *context, const struct stet_trace_record *r)
{
    struct stet_torch_log *log = context;

    log->t->records++;
    if (stet_view_is(r->type, "chromium_event")) {
        take_event(log, r);
    } else if (stet_view_is(r->type, "str")) {
        stet_torch_take_string(log, r->body);
    } else if (stet_view_is(r->type, "dynamo_start")) {
        take_start(log, r);
    } else if (stet_view_is(r->type, "artifact")) {
        take_artifact(log, r);
    } else if (stet_view_is(r->type, "compilation_metrics") ||
               stet_view_is(r->type, "bwd_compilation_metrics")) {
        uint32_t compile = compile_of(log, r, false);

        if (compile != STET_TORCH_NONE)
            stet_torch_metrics(log->t, compile, r->body, r->type.ptr[0] == 'b');
    } else if (stet_view_is(r->type, "describe_source")) {
        take_input(log, r);
        take_old(log, r);
    } else if (stet_view_is(r->type, "describe_tensor") ||
               stet_view_is(r->type, "dynamo_cpp_guards_str")) {
        take_old(log, r);
    } else if (stet_view_is(r->type, "dynamo_output_graph") && r->payload.len) {
        uint32_t compile = compile_of(log, r, false);

        if (compile != STET_TORCH_NONE) {
            stet_torch_take_nested(log->t, compile, r->payload);
            keep_graph(log->t, compile, r->payload);
        }
    } else if (stet_view_is(r->type, "create_symbol")) {
        take_call(log, r);
    } else if (stet_view_is(r->type, "symbolic_shape_specialization")) {
        uint32_t compile = compile_of(log, r, false);

        if (compile != STET_TORCH_NONE)
            stet_torch_specialised(log, compile, r->body);
    }
}

static void take_text(void *context, const struct stet_trace_line *line)
{
    stet_torch_text(context, line);
}

static void take_fault(void *context, enum stet_trace_fault fault, uint64_t offset, uint64_t number)
{
    struct stet_torch_log *log = context;
    struct stet_torch *t = log->t;

    t->faults[fault]++;
    if (t->kept_count < STET_TORCH_FAULTS_KEPT)
        t->kept[t->kept_count++] = (struct stet_torch_fault){log->file, fault, offset, number};
}

struct stet_torch_log *stet_torch_log_new(struct stet_torch *t, const char *file, const char *group,
                                          int64_t rank)
{
    struct stet_torch_log *log = stet_mem_calloc(1, sizeof *log);
    uint32_t i =
        log ? stet_torch_grow(t, (void **)&t->logs, &t->log_count, &t->log_room, sizeof *t->logs)
            : STET_TORCH_NONE;

    if (i == STET_TORCH_NONE) {
        stet_mem_free(log);
        t->failed = true;
        return NULL;
    }
    *log = (struct stet_torch_log){.t = t,
                                   .file = stet_torch_keep(t, stet_view_str(file)),
                                   .group = stet_torch_keep(t, stet_view_str(group)),
                                   .rank = rank,
                                   .index = i,
                                   .process = STET_TORCH_NONE,
                                   .graph_compile = STET_TORCH_NONE,
                                   .rerecord_of = STET_TORCH_NONE,
                                   .text_compile = STET_TORCH_NONE,
                                   .text_break = STET_TORCH_NONE};
    log->sink = (struct stet_trace_sink){log, want, take_record, take_text, take_fault};
    t->logs[i] = log;
    return log;
}

const struct stet_trace_sink *stet_torch_log_sink(struct stet_torch_log *log)
{
    return &log->sink;
}
