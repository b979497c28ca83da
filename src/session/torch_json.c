/* Writes the torch lane as JSON. */
#include "session/torch_lane.h"

void stet_session_torch_json_place(struct stet_json *j, const char *key,
                                   const struct stet_torch_place *p)
{
    if (!p->line) {
        stet_json_null(j, key);
        return;
    }
    stet_json_object(j, key);
    stet_json_string(j, "file", p->file);
    stet_json_uint(j, "line", p->line);
    stet_json_string(j, "function", p->function);
    stet_json_end_object(j);
}

static void phase(struct stet_json *j, const char *key, const struct stet_torch_phases *p)
{
    if (!p->all) {
        stet_json_null(j, key);
        return;
    }
    stet_json_object(j, key);
    stet_json_number(j, "all_s", (double)p->all / 1e6);
    stet_json_number(j, "autograd_s", (double)p->aot / 1e6);
    stet_json_number(j, "inductor_s", (double)p->inductor / 1e6);
    stet_json_number(j, "codegen_s", (double)p->codegen / 1e6);
    stet_json_number(j, "kernels_s", (double)p->kernels / 1e6);
    stet_json_number(j, "thrown_away_s", (double)p->restarts / 1e6);
    if (p->cudagraphs)
        stet_json_number(j, "cudagraphs_s", (double)p->cudagraphs / 1e6);
    stet_json_end_object(j);
}

static void guards(const struct stet_torch *t, const struct stet_torch_compile *c,
                   struct stet_json *j)
{
    stet_json_array(j, "guards");
    for (uint32_t i = c->failures; i != STET_TORCH_NONE; i = t->failures[i].next) {
        const struct stet_torch_failure *f = &t->failures[i];
        struct stet_guard g;

        stet_ingest_guard_parse(&g, f->text);
        stet_json_object(j, NULL);
        if (f->entry == STET_TORCH_NONE)
            stet_json_null(j, "against");
        else
            stet_json_uint(j, "against", f->entry);
        stet_json_string(j, "guard", g.expr);
        stet_json_string(j, "reason", f->text);
        if (c->inferred)
            stet_json_bool(j, "inferred", true);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void drifts(const struct stet_torch *t, const struct stet_torch_compile *c,
                   struct stet_json *j)
{
    stet_json_array(j, "made_dynamic");
    for (uint32_t i = c->drifts; i != STET_TORCH_NONE; i = t->drifts[i].next) {
        const struct stet_torch_drift *d = &t->drifts[i];

        stet_json_object(j, NULL);
        stet_json_string(j, "source", d->source);
        if (d->dim >= 0)
            stet_json_int(j, "dim", d->dim);
        stet_json_string(j, "from", d->from);
        stet_json_string(j, "to", d->to);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_array(j, "specialised");
    for (uint32_t i = c->specials; i != STET_TORCH_NONE; i = t->specials[i].next) {
        const struct stet_torch_special *s = &t->specials[i];

        stet_json_object(j, NULL);
        stet_json_string(j, "source", s->source);
        stet_json_string(j, "value", s->value);
        stet_json_string(j, "reason", s->reason);
        stet_session_torch_json_place(j, "at", &s->place);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void changes(const struct stet_torch_why *why, struct stet_json *j)
{
    struct stet_buf what = STET_BUF_INIT;

    stet_json_array(j, "changes");
    if (why->has_guard) {
        stet_torch_what(why, &what);
        stet_json_object(j, NULL);
        stet_json_string(j, "what", stet_buf_as_view(&what));
        if (why->from.len)
            stet_json_string(j, "from", why->from);
        else
            stet_json_null(j, "from");
        if (why->to.len)
            stet_json_string(j, "to", why->to);
        else
            stet_json_null(j, "to");
        stet_json_string(j, "file", why->origin.file);
        stet_json_uint(j, "line", why->origin.line);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_buf_release(&what);
}

static void cache(const struct stet_torch *t, uint32_t compile, struct stet_json *j)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_buf moved = STET_BUF_INIT;

    stet_json_object(j, "cache");
    stet_json_cstr(j, "autograd", stet_torch_cache_name(c->aot_cache));
    stet_json_cstr(j, "inductor", stet_torch_cache_name(c->fx_cache));
    if (c->bypass.len)
        stet_json_string(j, "bypass_reason", c->bypass);
    if (stet_session_torch_cache_missed(t, compile, &moved))
        stet_json_string(j, "miss_reason", stet_buf_as_view(&moved));
    stet_buf_release(&moved);
    stet_json_end_object(j);
    if (c->cudagraph_skip.len)
        stet_json_string(j, "cudagraph_skipped", c->cudagraph_skip);
}

static void graph_json(const struct stet_torch *t, uint32_t compile, uint32_t at,
                       struct stet_json *j)
{
    const struct stet_torch_rerecord *r = at == STET_TORCH_NONE ? NULL : &t->rerecords[at];
    enum stet_rerecord kind = stet_torch_rerecord_kind(t, compile, at);

    stet_json_object(j, NULL);
    stet_json_cstr(j, "reason", stet_torch_rerecord_words(kind));
    if (r) {
        stet_json_uint(j, "count", r->count);
        stet_json_string(j, "input", r->input);
        if (r->size.len)
            stet_json_string(j, "size", r->size);
        stet_session_torch_json_place(j, "at", &r->place);
        stet_json_bool(j, "gave_up", r->limit);
    }
    stet_json_cstr(j, "fix", stet_torch_rerecord_fix(kind));
    stet_json_end_object(j);
}

/* Writes what the CUDA graphs of a compile did, if it has any. */
static void graphs(const struct stet_torch *t, uint32_t compile, struct stet_json *j)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    uint32_t n = stet_torch_recordings(c);

    if (!n && c->rerecords == STET_TORCH_NONE)
        return;
    stet_json_object(j, "cudagraph");
    stet_json_uint(j, "recordings", n);
    stet_json_number(j, "recording_s", (double)c->recording_us / 1e6);
    stet_json_array(j, "again");
    if (n > 1 && c->rerecords == STET_TORCH_NONE)
        graph_json(t, compile, STET_TORCH_NONE, j);
    for (uint32_t i = c->rerecords; i != STET_TORCH_NONE; i = t->rerecords[i].next)
        graph_json(t, compile, i, j);
    stet_json_end_array(j);
    stet_json_end_object(j);
}

void stet_session_torch_json_compile(const struct stet_torch *t, uint32_t compile,
                                     struct stet_json *j)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_torch_why why;
    struct stet_torch_place made;
    struct stet_buf text = STET_BUF_INIT;
    bool sure;

    stet_torch_explain(t, compile, &why);
    made = stet_torch_made(t, compile, &why, &sure);
    stet_json_uint(j, "number", c->number);
    stet_json_cstr(j, "class", stet_cause_id(why.cause));
    stet_json_array(j, "also");
    for (size_t i = 0; i < why.also_count; i++)
        stet_json_cstr(j, NULL, stet_cause_id(why.also[i]));
    stet_json_end_array(j);
    stet_session_torch_json_place(j, "origin", &why.origin);
    stet_session_torch_json_place(j, "trigger", &c->call);
    stet_session_torch_json_place(j, "source", &made);
    changes(&why, j);
    stet_torch_values(t, compile, &why, 64, &text);
    stet_json_string(j, "values", stet_buf_as_view(&text));
    guards(t, c, j);
    drifts(t, c, j);
    stet_json_number(j, "cost_s", (double)stet_session_torch_cost(c) / 1e6);
    phase(j, "forward", &c->forward);
    phase(j, "backward", &c->backward);
    cache(t, compile, j);
    graphs(t, compile, j);
    stet_json_uint(j, "attempts", c->attempts);
    if (c->fail_type.len)
        stet_json_string(j, "failed", c->fail_type);
    stet_json_bool(j, "eager_from_here", c->limit);
    text.len = 0;
    if (why.has_guard || why.cause != STET_CAUSE_FIRST)
        stet_torch_fix(t, &why, &text);
    stet_json_string(j, "fix", stet_buf_as_view(&text));
    stet_buf_release(&text);
}

void stet_session_torch_frames_json(const struct stet_torch *t, struct stet_json *j)
{
    stet_json_array(j, "frames");
    for (size_t i = 0; i < t->frame_count; i++) {
        const struct stet_torch_frame *f = &t->frames[i];
        const struct stet_torch_process *p = &t->processes[f->process];
        uint64_t cost = 0;

        stet_json_object(j, NULL);
        stet_json_uint(j, "pid", p->pid);
        if (p->rank >= 0)
            stet_json_int(j, "rank", p->rank);
        else
            stet_json_null(j, "rank");
        stet_json_int(j, "frame", f->id);
        stet_session_torch_json_place(j, "code", &f->code);
        stet_json_uint(j, "compiles", f->compiles);
        stet_json_uint(j, "graph_breaks", f->breaks);
        if (f->limit.len) {
            stet_json_object(j, "limit");
            stet_json_string(j, "which", f->limit);
            stet_json_uint(j, "value", f->limit_value);
            stet_json_end_object(j);
        } else {
            stet_json_null(j, "limit");
        }
        stet_json_array(j, "nested");
        for (uint32_t k = f->nested; k != STET_TORCH_NONE; k = t->nesteds[k].next)
            stet_session_torch_json_place(j, NULL, &t->nesteds[k].place);
        stet_json_end_array(j);
        stet_json_array(j, "entries");
        for (uint32_t c = f->first; c != STET_TORCH_NONE; c = t->compiles[c].next) {
            cost += stet_session_torch_cost(&t->compiles[c]);
            stet_json_object(j, NULL);
            stet_session_torch_json_compile(t, c, j);
            stet_json_end_object(j);
        }
        stet_json_end_array(j);
        stet_json_number(j, "cost_s", (double)cost / 1e6);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

void stet_session_torch_breaks_json(const struct stet_torch *t, struct stet_json *j)
{
    stet_json_array(j, "breaks");
    for (uint32_t i = 0; i < t->break_count; i++) {
        const struct stet_torch_break *b = &t->breaks[i];
        struct stet_buf fix = STET_BUF_INIT;
        struct stet_torch_why why;

        stet_torch_explain_break(t, i, &why);
        stet_torch_fix(t, &why, &fix);
        stet_json_object(j, NULL);
        stet_json_cstr(j, "class", stet_cause_id(why.cause));
        stet_session_torch_json_place(j, "at", &b->place);
        stet_json_string(j, "code", b->code);
        stet_json_string(j, "reason", b->reason);
        stet_json_string(j, "explanation", b->why);
        stet_json_string(j, "id", b->id);
        stet_json_uint(j, "times", b->count);
        stet_json_int(j, "frame", t->frames[b->frame].id);
        stet_json_uint(j, "pid", t->processes[b->process].pid);
        stet_json_string(j, "fix", stet_buf_as_view(&fix));
        stet_json_end_object(j);
        stet_buf_release(&fix);
    }
    stet_json_end_array(j);
}

void stet_session_torch_json_input(const struct stet_torch *t, struct stet_json *j)
{
    stet_json_object(j, "input");
    stet_json_uint(j, "logs", t->log_count);
    stet_json_uint(j, "processes", t->process_count);
    stet_json_uint(j, "records", t->records);
    stet_json_uint(j, "bytes", t->bytes);
    stet_json_uint(j, "frames", t->frame_count);
    stet_json_uint(j, "compiles", t->compile_count);
    stet_json_uint(j, "recompiles", stet_torch_recompiles(t));
    stet_json_uint(j, "graph_breaks", t->break_count);
    stet_json_array(j, "damage");
    for (size_t i = 0; i < STET_TRACE_FAULTS; i++) {
        if (!t->faults[i])
            continue;
        stet_json_object(j, NULL);
        stet_json_cstr(j, "what", stet_trace_fault_words((enum stet_trace_fault)i));
        stet_json_uint(j, "count", t->faults[i]);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_array(j, "located");
    for (size_t i = 0; i < t->kept_count; i++) {
        stet_json_object(j, NULL);
        stet_json_string(j, "file", t->kept[i].file);
        stet_json_uint(j, "line", t->kept[i].line);
        stet_json_uint(j, "offset", t->kept[i].offset);
        stet_json_cstr(j, "what", stet_trace_fault_words(t->kept[i].fault));
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_end_object(j);
}
