/* CUDA graphs that were recorded more than once. The trace has every recording and its cost
 * (chromium events "CUDAGraphNode.record"); only TORCH_LOGS=+cudagraphs prints the reason. The
 * texts are those of torch/_inductor/cudagraph_trees.py and cudagraph_utils.py. */
#include "ingest/torch_internal.h"

#define GROW(t, what)                                                                              \
    stet_torch_grow((t), (void **)&(t)->what##s, &(t)->what##_count, &(t)->what##_room,            \
                    sizeof *(t)->what##s)

/* A re-recording whose graph is named in the next line. */
enum { NEXT = INT32_MAX };

static const char new_size[] = "Recording cudagraph tree for symint key ";

uint32_t stet_torch_recordings(const struct stet_torch_compile *c)
{
    return c->recordings > c->text_recordings ? c->recordings : c->text_recordings;
}

enum stet_rerecord stet_torch_rerecord_kind(const struct stet_torch *t, uint32_t compile,
                                            uint32_t rerecord)
{
    const struct stet_torch_compile *c = &t->compiles[compile];

    if (rerecord != STET_TORCH_NONE && t->rerecords[rerecord].kind != STET_RERECORD_UNTOLD)
        return t->rerecords[rerecord].kind;
    /* Without sizes that may vary, only an address can have changed. */
    return c->symbols ? STET_RERECORD_UNTOLD : STET_RERECORD_ADDRESS;
}

const char *stet_torch_rerecord_words(enum stet_rerecord kind)
{
    static const char *const words[] = {
        [STET_RERECORD_UNTOLD] = "another size, or another address",
        [STET_RERECORD_ADDRESS] = "the address of a recorded input changed",
        [STET_RERECORD_STATIC] = "the address of a static input changed",
        [STET_RERECORD_MANAGED] = "an output of another graph came from another address",
        [STET_RERECORD_LIVE] = "outputs of an earlier step are still alive",
        [STET_RERECORD_SIZE] = "another size",
    };

    return (size_t)kind < sizeof words / sizeof *words ? words[kind] : words[0];
}

const char *stet_torch_rerecord_fix(enum stet_rerecord kind)
{
    static const char *const fixes[] = {
        [STET_RERECORD_UNTOLD] =
            "TORCH_LOGS=+cudagraphs names the reason; pad to a few sizes, and keep parameters and "
            "buffers where they are: copy_() into them",
        [STET_RERECORD_ADDRESS] =
            "keep parameters, buffers and states where they are: copy_() into them instead of "
            "replacing them; TORCH_LOGS=+cudagraphs names the input",
        [STET_RERECORD_STATIC] =
            "keep it where it is: copy_() into it instead of replacing it (no `.data =`, no "
            "load_state_dict(assign=True))",
        [STET_RERECORD_MANAGED] = "clone() what one compiled function gives the next, or call "
                                  "torch.compiler.cudagraph_mark_step_begin() before each step",
        [STET_RERECORD_LIVE] =
            "clone() what is kept of a step, or call torch.compiler.cudagraph_mark_step_begin() "
            "before each step",
        /* With cudagraph_skip_dynamic_graphs, an operation that takes a dynamic size and gives a
         * fixed one is still recorded for each size (pytorch/pytorch 196385). */
        [STET_RERECORD_SIZE] =
            "a graph for each size: pad to a few sizes; where the output's size follows the "
            "input's, torch._inductor.config.triton.cudagraph_skip_dynamic_graphs = True also "
            "stops it",
    };

    return (size_t)kind < sizeof fixes / sizeof *fixes ? fixes[kind] : fixes[0];
}

/* "0/1", "!3/0/1" under compiled autograd: the last two count. */
static bool compile_id(struct stet_view v, int64_t *frame, int64_t *compile)
{
    int64_t numbers[3] = {0};
    size_t count = 0, i = 0;

    if (stet_view_starts(v, "!"))
        i++;
    for (; i < v.len && count < 3; i++) {
        size_t from = i;

        for (; i < v.len && v.ptr[i] >= '0' && v.ptr[i] <= '9' && i - from < 15; i++)
            numbers[count] = numbers[count] * 10 + (v.ptr[i] - '0');
        if (i == from || (i < v.len && !memchr("/_]", v.ptr[i], 3)))
            return false;
        count++;
        if (i < v.len && v.ptr[i] != '/') /* the attempt, or the end */
            break;
    }
    if (count < 2)
        return false;
    *frame = numbers[count - 2];
    *compile = numbers[count - 1];
    return true;
}

/* Both the trace and the printed log may report a recording: the first to arrive is passed on. */
static void tell(struct stet_torch *t, uint32_t compile, uint32_t now, uint32_t other)
{
    if (t->on_recording && now > 1 && now > other)
        t->on_recording(t->context, t, compile);
}

static struct stet_view args_id(struct stet_jscan *j)
{
    struct stet_view key, id = {"", 0};

    if (!stet_ingest_jscan_object(j))
        return id;
    while (stet_ingest_jscan_key(j, &key)) {
        if (stet_view_is(key, "compile_id"))
            id = stet_ingest_jscan_string(j);
        else
            stet_ingest_jscan_skip(j);
    }
    return id;
}

void stet_torch_recorded(struct stet_torch_log *log, uint32_t process, struct stet_view payload)
{
    struct stet_torch *t = log->t;
    struct stet_view key, phase = {"", 0}, id = {"", 0};
    int64_t frame_id, number;
    double at = 0;
    struct stet_jscan j;
    uint32_t frame, i;

    stet_ingest_jscan_init(&j, payload);
    if (!stet_ingest_jscan_object(&j))
        return;
    while (stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "ph"))
            phase = stet_ingest_jscan_string(&j);
        else if (stet_view_is(key, "ts"))
            at = stet_ingest_jscan_number(&j);
        else if (stet_view_is(key, "args"))
            id = args_id(&j);
        else
            stet_ingest_jscan_skip(&j);
    }
    if (stet_view_is(phase, "B"))
        log->recording_since = at;
    if (!stet_view_is(phase, "E") || process == STET_TORCH_NONE ||
        !compile_id(id, &frame_id, &number))
        return;
    frame = stet_torch_frame_of(t, process, frame_id, false);
    i = frame == STET_TORCH_NONE ? frame : stet_torch_compile_of(t, frame, number);
    if (i == STET_TORCH_NONE)
        return;
    t->compiles[i].recordings++;
    if (log->recording_since > 0 && at >= log->recording_since && at - log->recording_since < 1e12)
        t->compiles[i].recording_us += (uint64_t)(at - log->recording_since);
    log->recording_since = 0;
    tell(t, i, t->compiles[i].recordings, t->compiles[i].text_recordings);
}

/* What TORCH_LOGS prints. */

static struct stet_view skip(struct stet_view v, size_t n)
{
    return n >= v.len ? stet_view_of(v.ptr, 0) : stet_view_of(v.ptr + n, v.len - n);
}

static struct stet_view after(struct stet_view v, const char *what)
{
    const char *p = v.len ? memmem(v.ptr, v.len, what, strlen(what)) : NULL;

    return p ? skip(v, (size_t)(p - v.ptr) + strlen(what)) : stet_view_of(v.ptr, 0);
}

static enum stet_rerecord kind_of(struct stet_view reason)
{
    if (stet_view_starts(reason, "static input data pointer changed"))
        return STET_RERECORD_STATIC;
    if (stet_view_starts(reason, "cudagraph managed tensor data pointer changed"))
        return STET_RERECORD_MANAGED;
    if (stet_view_starts(reason, "expected dead indices before graph are live"))
        return STET_RERECORD_LIVE;
    return STET_RERECORD_UNTOLD;
}

/* "input name: primals_2. data pointer changed from … input stack trace:   File "a.py", line 3" */
static void input_line(struct stet_torch_log *log, struct stet_view v)
{
    struct stet_torch_rerecord *r = &log->rerecord;
    struct stet_view name = skip(v, strlen("input name: ")), stack = after(v, "stack trace:");
    const char *dot = memmem(name.ptr, name.len, ". data pointer", 14);
    struct stet_guard g;

    if (r->input.len || !dot)
        return; /* the first of several is named */
    name.len = (size_t)(dot - name.ptr);
    r->input = stet_torch_keep(log->t, name);
    log->text.len = 0;
    stet_buf_str(&log->text, "x\nUser stack trace:\n"); /* the guard's own parser reads a stack */
    stet_buf_view(&log->text, stack);
    stet_ingest_guard_parse(&g, stet_buf_as_view(&log->text));
    r->place = (struct stet_torch_place){stet_torch_keep(log->t, g.file),
                                         stet_torch_keep(log->t, g.function), g.line};
    log->text.len = 0;
}

static void add_rerecord(struct stet_torch *t, uint32_t compile,
                         const struct stet_torch_rerecord *r)
{
    uint32_t i = t->compiles[compile].rerecords;

    for (; i != STET_TORCH_NONE; i = t->rerecords[i].next) {
        struct stet_torch_rerecord *o = &t->rerecords[i];

        if (o->kind == r->kind && o->input.ptr == r->input.ptr && o->place.line == r->place.line) {
            o->count += r->count;
            o->limit |= r->limit;
            if (r->size.len)
                o->size = r->size;
            return;
        }
    }
    i = GROW(t, rerecord);
    if (i == STET_TORCH_NONE)
        return;
    t->rerecords[i] = *r;
    t->rerecords[i].next = t->compiles[compile].rerecords;
    t->compiles[compile].rerecords = i;
}

/* If only warnings are printed, the input's line shows which function it was. */
static uint32_t compile_at(const struct stet_torch *t, const struct stet_torch_place *place)
{
    for (size_t i = t->frame_count; place->line && i-- > 0;) {
        if (stet_view_eq(t->frames[i].code.file, place->file) &&
            stet_view_eq(t->frames[i].code.function, place->function))
            return t->frames[i].last;
    }
    return STET_TORCH_NONE;
}

static void flush_limit(struct stet_torch_log *log)
{
    uint32_t compile = log->graph_compile;

    if (!log->rerecord_limit)
        return;
    log->rerecord_limit = false;
    if (compile == STET_TORCH_NONE)
        compile = compile_at(log->t, &log->rerecord.place);
    if (compile == STET_TORCH_NONE)
        return;
    log->rerecord.limit = true;
    add_rerecord(log->t, compile, &log->rerecord);
}

static void size_line(struct stet_torch_log *log, uint32_t compile, struct stet_view v)
{
    struct stet_view key = skip(v, strlen(new_size));

    log->rerecord = (struct stet_torch_rerecord){.kind = STET_RERECORD_SIZE,
                                                 .count = 1,
                                                 .input = {"", 0},
                                                 .size = stet_torch_keep(log->t, key),
                                                 .next = STET_TORCH_NONE};
    log->rerecord_of = compile;
}

/* Lines about one graph begin with its compile id. "Re-recording" is printed for every entry that
 * did not fit, even if a later one did; only a following "Recording" confirms it. */
static void graph_line(struct stet_torch_log *log, uint32_t compile, struct stet_view v)
{
    struct stet_torch *t = log->t;
    struct stet_torch_rerecord *r = &log->rerecord;

    flush_limit(log);
    log->graph_compile = compile;
    if (log->rerecord_of == NEXT)
        log->rerecord_of = compile;
    if (stet_view_starts(v, "Re-recording function")) {
        *r = (struct stet_torch_rerecord){.kind = kind_of(after(v, "reason=")),
                                          .count = 1,
                                          .input = {"", 0},
                                          .size = {"", 0},
                                          .next = STET_TORCH_NONE};
        log->rerecord_of = compile;
    } else if (stet_view_starts(v, new_size)) {
        size_line(log, compile, v);
    } else if (stet_view_starts(v, "Recording function=")) {
        if (t->compiles[compile].text_recordings++ && log->rerecord_of == compile) {
            add_rerecord(t, compile, r);
            tell(t, compile, t->compiles[compile].text_recordings, t->compiles[compile].recordings);
        }
        log->rerecord_of = STET_TORCH_NONE;
    }
}

void stet_torch_graph_text(struct stet_torch_log *log, const struct stet_trace_line *line,
                           struct stet_view v)
{
    struct stet_torch_rerecord *r = &log->rerecord;
    int64_t frame, number;

    if (stet_view_starts(v, "[") && compile_id(skip(v, 1), &frame, &number)) {
        uint32_t compile = stet_torch_text_compile(log, line, frame, number);

        log->t->records++;
        if (compile != STET_TORCH_NONE)
            graph_line(log, compile, after(v, "] "));
    } else if (stet_view_starts(v, "input name: ")) {
        if (log->rerecord_limit || log->rerecord_of != STET_TORCH_NONE)
            input_line(log, v);
    } else if (stet_view_starts(v, new_size)) { /* torch 2.11 names the graph in its next line */
        size_line(log, NEXT, v);
    } else if (stet_view_starts(v, "skipping cudagraph due to function")) {
        *r = (struct stet_torch_rerecord){
            .kind = kind_of(after(after(v, "re-recording limit"), " due to ")),
            .input = {"", 0},
            .size = {"", 0},
            .next = STET_TORCH_NONE};
        log->rerecord_limit = true;
    } else if (log->rerecord_limit && stet_view_is(v, ".")) { /* its last line */
        flush_limit(log);
    }
}

void stet_torch_graph_flush(struct stet_torch_log *log)
{
    flush_limit(log);
}
