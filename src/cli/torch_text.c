/* Prints the torch lane as text: frames, breaks, fixes. */
#include "cli/torch_print.h"

#include "base/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void seconds(uint64_t us, struct stet_buf *out)
{
    stet_text_duration(out, us * 1000);
}

static void phases(const struct stet_torch_compile *c, struct stet_buf *out)
{
    const struct stet_torch_phases *p = &c->forward;

    seconds(stet_session_torch_cost(c), out);
    if (!p->inductor && !c->backward.all)
        return;
    stet_buf_str(out, " (trace ");
    seconds(p->all > p->aot ? p->all - p->aot : 0, out);
    stet_buf_str(out, ", autograd ");
    seconds(p->aot > p->inductor ? p->aot - p->inductor : 0, out);
    stet_buf_str(out, ", inductor ");
    seconds(p->inductor, out);
    if (c->backward.all) {
        stet_buf_str(out, ", backward ");
        seconds(c->backward.all, out);
    }
    stet_buf_char(out, ')');
}

/* Compiles of one frame with one cause are printed once. */
static bool same_cause(const struct stet_torch_why *a, const struct stet_torch_why *b)
{
    return a->cause == b->cause && a->origin.line == b->origin.line && a->dim == b->dim &&
           stet_view_eq(a->origin.file, b->origin.file) && stet_view_eq(a->what, b->what);
}

static void cause_head(const struct stet_torch *t, const struct stet_torch_why *why, uint32_t i,
                       struct stet_buf *out)
{
    bool limit = t->compiles[i].limit;
    struct stet_buf change = STET_BUF_INIT;

    stet_buf_printf(out, "  %s", stet_cause_id(why->cause));
    for (size_t k = 0; k < why->also_count; k++)
        stet_buf_printf(out, ", %s", stet_cause_id(why->also[k]));
    stet_session_torch_text_change(why, &change);
    if (change.len)
        stet_buf_printf(out, ": %s", change.ptr);
    if (limit) {
        stet_buf_str(out, "\n      not compiled: it runs eagerly from here on, and so does what it "
                          "calls");
        stet_session_torch_text_nested(t, &t->frames[t->compiles[i].frame], out);
    }
    stet_buf_release(&change);
}

/* The keys of graphs are long. */
static void cache_missed(struct stet_buf *out, struct stet_view why)
{
    enum { MOST = 120 };
    size_t n = why.len;

    if (n > MOST)
        for (n = MOST; n && why.ptr[n] != ' '; n--)
            ;
    stet_buf_printf(out, "\n      Inductor's cache missed: %.*s%s", (int)n, why.ptr,
                    n < why.len ? " … (all of it: stet torch caches)" : "");
}

/* Prints the compiles from `i` on that have the same cause; returns the last one printed. */
static uint32_t cause_text(const struct stet_torch *t, uint32_t i, struct stet_buf *out)
{
    const struct stet_torch_compile *c = &t->compiles[i];
    struct stet_torch_why why, next;
    struct stet_torch_place made;
    bool sure;
    struct stet_buf values = STET_BUF_INIT;
    struct stet_torch_compile sum = *c;
    uint32_t last = i, n = 1;

    stet_torch_explain(t, i, &why);
    for (uint32_t k = c->next; k != STET_TORCH_NONE; k = t->compiles[k].next) {
        stet_torch_explain(t, k, &next);
        if (!same_cause(&why, &next))
            break;
        last = k;
        n++;
        sum.forward.all += t->compiles[k].forward.all;
        sum.forward.aot += t->compiles[k].forward.aot;
        sum.forward.inductor += t->compiles[k].forward.inductor;
        sum.backward.all += t->compiles[k].backward.all;
    }
    cause_head(t, &why, i, out);
    stet_buf_str(out, "\n      ");
    if (n > 1)
        stet_buf_printf(out, "%u compiles (#%u to #%u), ", n, c->number, t->compiles[last].number);
    else
        stet_buf_printf(out, "compile #%u, ", c->number);
    phases(&sum, out);
    if (stet_torch_values(t, last, &why, 8, &values) > 2)
        stet_buf_printf(out, "; values %s", values.ptr);
    stet_buf_str(out, "\n      at ");
    stet_session_torch_text_place(&why.origin, out);
    if (why.code.len)
        stet_buf_printf(out, "  %.*s", STET_FMT(why.code));
    if (c->call.line) {
        stet_buf_str(out, "\n      called from ");
        stet_session_torch_text_place(&c->call, out);
    }
    made = stet_torch_made(t, i, &why, &sure);
    if (made.line) {
        stet_buf_str(out, "\n      line to edit ");
        stet_session_torch_text_place(&made, out);
    }
    if (c->aot_cache == STET_CACHE_EARLIER || c->aot_cache == STET_CACHE_SAME)
        stet_buf_printf(out, "\n      loaded from torch's cache (%s)",
                        stet_torch_cache_name(c->aot_cache));
    values.len = 0;
    if (stet_session_torch_cache_missed(t, i, &values))
        cache_missed(out, stet_buf_as_view(&values));
    stet_buf_str(out, "\n      fix: ");
    stet_torch_fix(t, &why, out);
    stet_buf_char(out, '\n');
    stet_buf_release(&values);
    return last;
}

static void graph_cause(const struct stet_torch *t, uint32_t compile, uint32_t at,
                        struct stet_buf *out)
{
    const struct stet_torch_rerecord *r = at == STET_TORCH_NONE ? NULL : &t->rerecords[at];
    enum stet_rerecord kind = stet_torch_rerecord_kind(t, compile, at);

    stet_buf_str(out, "      ");
    if (r && r->count)
        stet_buf_printf(out, "%u time%s: ", r->count, r->count == 1 ? "" : "s");
    stet_buf_str(out, stet_torch_rerecord_words(kind));
    if (r && r->input.len)
        stet_buf_printf(out, ", %.*s", STET_FMT(r->input));
    if (r && r->size.len)
        stet_buf_printf(out, ", last %.*s", STET_FMT(r->size));
    if (r && r->limit)
        stet_buf_str(out, "; torch gave up and runs it without a CUDA graph");
    if (r && r->place.line) {
        stet_buf_str(out, "\n      at ");
        stet_session_torch_text_place(&r->place, out);
    }
    stet_buf_printf(out, "\n      fix: %s\n", stet_torch_rerecord_fix(kind));
}

static void graphs_text(const struct stet_torch *t, uint32_t compile, struct stet_buf *out)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    uint32_t n = stet_torch_recordings(c);

    if (n < 2 && c->rerecords == STET_TORCH_NONE)
        return;
    stet_buf_printf(out,
                    "  cudagraph-rerecord: the CUDA graph of compile #%u was recorded %u time%s",
                    c->number, n, n == 1 ? "" : "s");
    if (c->recording_us) {
        stet_buf_str(out, ", ");
        seconds(c->recording_us, out);
    }
    stet_buf_char(out, '\n');
    if (c->rerecords == STET_TORCH_NONE)
        graph_cause(t, compile, STET_TORCH_NONE, out);
    for (uint32_t i = c->rerecords; i != STET_TORCH_NONE; i = t->rerecords[i].next)
        graph_cause(t, compile, i, out);
}

/* Symbols that were marked dynamic and became constants: a size that varies will compile again. */
static void specials_text(const struct stet_torch *t, uint32_t compile, struct stet_buf *out)
{
    for (uint32_t i = t->compiles[compile].specials; i != STET_TORCH_NONE;
         i = t->specials[i].next) {
        const struct stet_torch_special *s = &t->specials[i];

        stet_buf_printf(out, "  specialised in compile #%u: %.*s became %.*s",
                        t->compiles[compile].number, STET_FMT(s->source), STET_FMT(s->value));
        if (s->reason.len)
            stet_buf_printf(out, ", %.*s", STET_FMT(s->reason));
        if (s->place.line) {
            stet_buf_str(out, "\n      at ");
            stet_session_torch_text_place(&s->place, out);
        }
        stet_buf_char(out, '\n');
    }
}

/* Is there more to print about it than its recompiles? */
static bool has_more(const struct stet_torch *t, const struct stet_torch_frame *f)
{
    for (uint32_t c = f->first; c != STET_TORCH_NONE; c = t->compiles[c].next) {
        if (stet_torch_recordings(&t->compiles[c]) > 1 ||
            t->compiles[c].rerecords != STET_TORCH_NONE ||
            t->compiles[c].specials != STET_TORCH_NONE)
            return true;
    }
    return false;
}

struct order {
    uint32_t frame;
    uint64_t cost;
};

static int dearest(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    return x->cost < y->cost ? 1 : x->cost > y->cost ? -1 : x->frame < y->frame ? -1 : 1;
}

static void frame_text(const struct stet_torch *t, uint32_t i, uint64_t cost, struct stet_buf *out)
{
    const struct stet_torch_frame *f = &t->frames[i];
    const struct stet_torch_process *p = &t->processes[f->process];

    if (p->rank >= 0)
        stet_buf_printf(out, "rank %" PRId64 "  ", p->rank);
    stet_buf_printf(out, "%.*s  ", STET_FMT(stet_text_function(f->code.function)));
    stet_session_torch_text_place(&f->code, out);
    stet_buf_printf(out, "  %u compile%s, ", f->compiles, f->compiles == 1 ? "" : "s");
    seconds(cost, out);
    if (f->limit.len)
        stet_buf_printf(out, ", %.*s (%" PRIu64 ") reached", STET_FMT(f->limit), f->limit_value);
    stet_buf_char(out, '\n');
    for (uint32_t c = f->first; c != STET_TORCH_NONE; c = t->compiles[c].next) {
        if (c == f->first && t->compiles[c].failures == STET_TORCH_NONE)
            continue;
        c = cause_text(t, c, out);
    }
    for (uint32_t c = f->first; c != STET_TORCH_NONE; c = t->compiles[c].next) {
        specials_text(t, c, out);
        graphs_text(t, c, out);
    }
}

void stet_cli_torch_frames_text(const struct stet_torch *t, struct stet_buf *out)
{
    struct order *by = calloc(t->frame_count ? t->frame_count : 1, sizeof *by);
    size_t plain = 0;

    if (!by) {
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < t->frame_count; i++) {
        by[i].frame = i;
        for (uint32_t c = t->frames[i].first; c != STET_TORCH_NONE; c = t->compiles[c].next)
            by[i].cost += stet_session_torch_cost(&t->compiles[c]);
    }
    qsort(by, t->frame_count, sizeof *by, dearest);
    for (size_t i = 0; i < t->frame_count; i++) {
        const struct stet_torch_frame *f = &t->frames[by[i].frame];

        if (f->compiles > 1 || f->limit.len || has_more(t, f))
            frame_text(t, by[i].frame, by[i].cost, out);
        else
            plain++;
    }
    if (plain)
        stet_buf_printf(out, "%zu frame%s compiled once\n", plain, plain == 1 ? "" : "s");
    free(by);
}

void stet_cli_torch_breaks_text(const struct stet_torch *t, struct stet_buf *out)
{
    if (!t->break_count)
        stet_buf_str(out, "no graph breaks\n");
    for (uint32_t i = 0; i < t->break_count; i++) {
        const struct stet_torch_break *b = &t->breaks[i];
        struct stet_torch_why why;

        stet_torch_explain_break(t, i, &why);
        stet_session_torch_text_place(&b->place, out);
        stet_buf_printf(out, "  %s in %.*s", stet_cause_id(why.cause), STET_FMT(b->place.function));
        if (b->count > 1)
            stet_buf_printf(out, ", %u times", b->count);
        stet_buf_printf(out, "\n         %.*s\n", STET_FMT(b->reason));
        if (b->code.len)
            stet_buf_printf(out, "         %.*s\n", STET_FMT(b->code));
        stet_buf_str(out, "         fix: ");
        stet_torch_fix(t, &why, out);
        if (b->id.len)
            stet_buf_printf(out, " (%.*s)", STET_FMT(b->id));
        stet_buf_char(out, '\n');
    }
}

static void count(struct stet_buf *out, uint64_t n, const char *what)
{
    stet_text_count(out, n, what);
    stet_buf_str(out, ", ");
}

void stet_cli_torch_ingest_text(const struct stet_torch *t, struct stet_buf *out)
{
    const uint32_t again = stet_torch_recompiles(t);
    uint64_t cost = 0;

    for (size_t i = 0; i < t->compile_count; i++)
        cost += stet_session_torch_cost(&t->compiles[i]);
    count(out, t->records, "record");
    count(out, t->bytes, "byte");
    count(out, t->log_count, "log");
    stet_buf_printf(out, "%zu process%s\n", t->process_count, t->process_count == 1 ? "" : "es");
    count(out, t->frame_count, "frame");
    count(out, t->compile_count, "compile");
    if (again)
        stet_buf_printf(out, "%u of them again, ", again);
    count(out, t->break_count, "graph break");
    seconds(cost, out);
    stet_buf_str(out, " of compiling\n");
}
