/* The fallback without a trace: the output of TORCH_LOGS=recompiles,graph_breaks. It has no costs.
 * Its lines about CUDA graphs are in no trace. */
#include "ingest/torch_internal.h"

static struct stet_view skip(struct stet_view v, size_t n)
{
    return n >= v.len ? stet_view_of(v.ptr, 0) : stet_view_of(v.ptr + n, v.len - n);
}

static bool take_number(struct stet_view *v, int64_t *out)
{
    size_t i = 0;
    int64_t n = 0;

    for (; i < v->len && v->ptr[i] >= '0' && v->ptr[i] <= '9' && n < INT64_C(1) << 52; i++)
        n = n * 10 + (v->ptr[i] - '0');
    *v = skip(*v, i);
    *out = n;
    return i > 0;
}

/* "[0/1] ", or "[0/1_1] " in the second attempt. */
static bool compile_id(struct stet_view *v, int64_t *frame, int64_t *compile)
{
    struct stet_view p = *v;
    int64_t attempt;

    if (!stet_view_starts(p, "["))
        return false;
    p = skip(p, 1);
    if (!take_number(&p, frame) || !stet_view_starts(p, "/"))
        return false;
    p = skip(p, 1);
    if (!take_number(&p, compile))
        return false;
    if (stet_view_starts(p, "_")) {
        p = skip(p, 1);
        take_number(&p, &attempt);
    }
    if (!stet_view_starts(p, "] "))
        return false;
    *v = skip(p, 2);
    return true;
}

static bool tag(struct stet_view *v, const char *name)
{
    if (!stet_view_starts(*v, name))
        return false;
    *v = skip(*v, strlen(name));
    return true;
}

static struct stet_view spaces(struct stet_view v)
{
    while (v.len && v.ptr[0] == ' ')
        v = skip(v, 1);
    return v;
}

static void flush_text(struct stet_torch_log *log)
{
    struct stet_view text = stet_buf_as_view(&log->text);

    if (text.len && log->text_reason && log->text_compile != STET_TORCH_NONE)
        stet_torch_add_failure(log->t, log->text_compile, text);
    else if (text.len && log->text_break != STET_TORCH_NONE)
        stet_torch_add_break(log->t, log->text_break, text);
    log->text.len = 0;
    log->text_reason = false;
    log->text_break = STET_TORCH_NONE;
}

void stet_torch_text_flush(struct stet_torch_log *log)
{
    flush_text(log);
    stet_torch_graph_flush(log);
}

uint32_t stet_torch_text_compile(struct stet_torch_log *log, const struct stet_trace_line *line,
                                 int64_t frame_id, int64_t number)
{
    uint32_t process = stet_torch_printed_process(log, line->pid, line->rank), frame;

    if (process == STET_TORCH_NONE)
        return process;
    frame = stet_torch_frame_of(log->t, process, frame_id, false);
    if (frame == STET_TORCH_NONE)
        return frame;
    /* The first compile of a frame is not printed, but it happened. */
    if (number > 0 && log->t->frames[frame].first == STET_TORCH_NONE)
        stet_torch_compile_of(log->t, frame, 0);
    return stet_torch_compile_of(log->t, frame, number);
}

/* "Recompiling function f in /tmp/a.py:3" */
static void recompiling(struct stet_torch_log *log, uint32_t compile, struct stet_view v)
{
    struct stet_torch *t = log->t;
    struct stet_torch_place *code = &t->frames[t->compiles[compile].frame].code;
    const char *in = memmem(v.ptr, v.len, " in ", 4);
    struct stet_view file, none;
    uint64_t line;

    log->text_compile = compile;
    if (t->compiles[compile].failure_count)
        log->text_compile = STET_TORCH_NONE; /* reported before */
    if (!in)
        return;
    file = skip(v, (size_t)(in - v.ptr) + 4);
    if (!stet_ingest_guard_place(file, &file, &line, &none))
        return;
    code->function = stet_torch_keep(t, stet_view_of(v.ptr, (size_t)(in - v.ptr)));
    code->file = stet_torch_keep(t, file);
    code->line = line;
}

/* "    - 0/0: n == 2  # …", then "    - User stack trace:" and "    -   File …". */
static void recompile_line(struct stet_torch_log *log, uint32_t compile, struct stet_view v)
{
    struct stet_view body = spaces(v);

    if (tag(&body, "Recompiling function ")) {
        stet_torch_text_flush(log);
        recompiling(log, compile, body);
        return;
    }
    if (!tag(&body, "- "))
        return;
    if (!stet_view_starts(body, "User stack trace") && !stet_view_starts(body, " ")) {
        stet_torch_text_flush(log);
        log->text_reason = true;
    } else if (log->text_reason) {
        stet_buf_char(&log->text, '\n');
    }
    if (log->text_reason)
        stet_buf_view(&log->text, body);
}

static bool is_traced(const struct stet_torch_log *log, uint32_t compile)
{
    return log->t->processes[log->t->frames[log->t->compiles[compile].frame].process].traced;
}

void stet_torch_text(struct stet_torch_log *log, const struct stet_trace_line *line)
{
    struct stet_view v = line->text;
    int64_t frame, number;
    uint32_t compile;
    bool within = compile_id(&v, &frame, &number);

    if (tag(&v, "[__cudagraphs] ")) {
        flush_text(log);
        stet_torch_graph_text(log, line, v);
        return;
    }
    if (!within)
        return;
    compile = stet_torch_text_compile(log, line, frame, number);
    if (compile == STET_TORCH_NONE)
        return;
    log->t->records++;
    if (tag(&v, "[__recompiles] ")) {
        recompile_line(log, compile, v);
    } else if (tag(&v, "[__graph_breaks] ")) {
        if (stet_view_starts(v, "Graph break")) {
            stet_torch_text_flush(log);
            /* A break that the trace records is not taken from the log again. */
            log->text_break = is_traced(log, compile) ? STET_TORCH_NONE : compile;
        }
        if (log->text_break != STET_TORCH_NONE) {
            stet_buf_view(&log->text, v);
            stet_buf_char(&log->text, '\n');
        }
    } else if (tag(&v, "torch._dynamo hit config.")) {
        stet_torch_text_flush(log);
        stet_torch_hit_limit(log->t, compile, v);
        stet_torch_done(log->t, compile);
    }
}
