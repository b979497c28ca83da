/* See run_wait.h. */
#include "ledger/run_wait.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>

enum { TRACING = 1, LOWERING = 2 };
/* A compile follows its phases closely, and a phase contains few compiles, so older phases are
 * dropped. */
enum { THREADS = 64, PENDING = 64, SPANS = 1024, PAUSES = 512 };

struct span {
    uint64_t begin, end;
};

/* A phase that is not assigned to a compile yet. */
struct pending {
    struct span at;
    uint64_t kind, own_ns;
    char name[64]; /* only letters and digits: "jit(f)" and "jit_f" are equal */
};

struct waiter {
    uint64_t thread;
    struct span counted[SPANS]; /* disjoint and in order: moments that are already assigned */
    size_t count;
    struct pending pending[PENDING];
    size_t pending_count;
};

/* The pause between two executions, or the mean of several; `from` and `to` are the first and the
 * last execution. */
struct pause {
    struct span at;
    uint64_t ns;
};

struct stet_run_waits {
    struct waiter *threads[THREADS];
    size_t count;
    struct pause pauses[PAUSES]; /* every `every`-th of those seen */
    size_t pause_count, every, seen;
    uint64_t last_run_ns;
    size_t judged_pauses, judged_compiles; /* what `usual_ns` was computed from */
    uint64_t usual_ns, first_ns;           /* the usual pause; since when one is known */
};

static struct stet_run_waits *waits_of(struct stet_process_digest *p)
{
    if (!p->waits)
        p->waits = stet_mem_calloc(1, sizeof *p->waits);
    return p->waits;
}

static struct waiter *waiter_of(struct stet_process_digest *p, uint64_t thread)
{
    struct stet_run_waits *w = waits_of(p);

    for (size_t i = 0; w && i < w->count; i++)
        if (w->threads[i]->thread == thread)
            return w->threads[i];
    if (!w || w->count == THREADS ||
        !(w->threads[w->count] = stet_mem_calloc(1, sizeof **w->threads)))
        return NULL;
    w->threads[w->count]->thread = thread;
    return w->threads[w->count++];
}

void stet_ledger_wait_release(struct stet_process_digest *p)
{
    for (size_t i = 0; p->waits && i < p->waits->count; i++)
        stet_mem_free(p->waits->threads[i]);
    stet_mem_free(p->waits);
    p->waits = NULL;
}

/* Returns how much of this span is not assigned yet, and assigns all of it. */
static uint64_t count_span(struct waiter *w, struct span s)
{
    uint64_t inside = 0;

    if (s.end <= s.begin)
        return 0;
    while (w->count && w->counted[w->count - 1].begin >= s.begin) {
        const struct span *last = &w->counted[--w->count];

        inside += (last->end < s.end ? last->end : s.end) - last->begin;
    }
    if (w->count && w->counted[w->count - 1].end > s.begin)
        s.begin = w->counted[w->count - 1].end;
    if (s.end <= s.begin)
        return 0;
    if (w->count == SPANS) {
        memmove(w->counted, w->counted + SPANS / 2, SPANS / 2 * sizeof *w->counted);
        w->count = SPANS / 2;
    }
    w->counted[w->count++] = s;
    return s.end - s.begin > inside ? s.end - s.begin - inside : 0;
}

/* ---- phases ---- */

static void squeeze(char *out, size_t room, struct stet_view name)
{
    size_t n = 0;

    for (size_t i = 0; i < name.len && n + 1 < room; i++)
        if (isalnum((unsigned char)name.ptr[i]))
            out[n++] = name.ptr[i];
    out[n] = '\0';
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

static void remove_pending(struct waiter *w, size_t i)
{
    w->pending_count--;
    memmove(&w->pending[i], &w->pending[i + 1], (w->pending_count - i) * sizeof *w->pending);
}

void stet_ledger_wait_phase(struct stet_process_digest *p, const struct stet_rec_phase *r,
                            uint64_t end_ns)
{
    struct waiter *w = waiter_of(p, r->thread);
    struct pending one = {.kind = r->kind};

    if (!w || (r->kind != TRACING && r->kind != LOWERING))
        return;
    one.at = (struct span){r->duration_ns < end_ns ? end_ns - r->duration_ns : 0, end_ns};
    one.own_ns = count_span(w, one.at);
    p->traces += r->kind == TRACING;
    p->untaken_ns += one.own_ns;
    squeeze(one.name, sizeof one.name, r->function);
    /* A trace inside it is part of it. */
    while (w->pending_count && w->pending[w->pending_count - 1].at.begin >= one.at.begin)
        one.own_ns += w->pending[--w->pending_count].own_ns;
    if (w->pending_count == PENDING)
        remove_pending(w, 0);
    w->pending[w->pending_count++] = one;
}

/* Returns the newest lowering of that name, otherwise the newest of all; PENDING when there is
 * none. */
static size_t find_lowering(const struct waiter *w, const char *name)
{
    size_t newest = PENDING;

    for (size_t i = w->pending_count; i-- > 0;) {
        if (w->pending[i].kind != LOWERING)
            continue;
        if (!strcmp(w->pending[i].name, name))
            return i;
        newest = newest == PENDING ? i : newest;
    }
    return newest;
}

/* Returns the trace that precedes it: "f" is lowered as "jit_f". */
static size_t find_trace(const struct waiter *w, size_t lowering)
{
    for (size_t i = lowering; i-- > 0;)
        if (w->pending[i].kind == TRACING &&
            ends_with(w->pending[lowering].name, w->pending[i].name))
            return i;
    return PENDING;
}

static uint64_t take_phases(struct stet_process_digest *p, struct waiter *w,
                            struct stet_compile_event *c, size_t lowering)
{
    size_t trace = find_trace(w, lowering);
    uint64_t start = w->pending[lowering].at.begin;

    c->lower_ns = w->pending[lowering].own_ns;
    remove_pending(w, lowering);
    if (trace != PENDING) {
        start = w->pending[trace].at.begin;
        c->trace_ns = w->pending[trace].own_ns;
        p->traces_taken++;
        remove_pending(w, trace);
    }
    p->untaken_ns -= c->lower_ns + c->trace_ns;
    return start;
}

/* ---- compiles and executions ---- */

void stet_ledger_wait_compiled(struct stet_process_digest *p, struct stet_compile_event *c,
                               uint64_t thread)
{
    struct waiter *w = c->ended && !c->waiter ? waiter_of(p, thread) : NULL;
    char name[sizeof w->pending->name];
    size_t lowering;
    uint64_t start;

    if (!w || !c->begin_ns)
        return;
    squeeze(name, sizeof name, c->name);
    lowering = find_lowering(w, name);
    if (lowering == PENDING)
        return;
    c->waiter = thread;
    start = take_phases(p, w, c, lowering);
    c->between_ns = count_span(w, (struct span){start, c->begin_ns});
    count_span(w, (struct span){c->begin_ns, c->end_ns});
}

void stet_ledger_wait_ran(struct stet_process_digest *p, const struct stet_rec_first_run *r,
                          uint64_t time_ns)
{
    struct stet_compile_event *c = NULL;
    struct waiter *w;

    for (size_t i = p->compile_count; i-- > 0 && !c;)
        if (p->compiles[i].executable == r->executable)
            c = &p->compiles[i];
    if (!c || c->ran)
        return;
    c->ran = true;
    c->ran_ns = time_ns;
    stet_ledger_wait_compiled(p, c, r->thread);
    w = c->waiter == r->thread ? waiter_of(p, r->thread) : NULL;
    if (w)
        c->until_run_ns = count_span(w, (struct span){c->end_ns, time_ns});
}

/* ---- without phases ---- */

static void add_pause(struct stet_run_waits *w, struct span at, uint64_t ns)
{
    w->every = w->every ? w->every : 1;
    if (w->seen++ % w->every)
        return;
    if (w->pause_count == PAUSES) {
        w->pause_count /= 2;
        w->every *= 2;
        for (size_t i = 0; i < w->pause_count; i++)
            w->pauses[i] = w->pauses[2 * i];
    }
    w->pauses[w->pause_count++] = (struct pause){at, ns};
}

void stet_ledger_wait_execs(struct stet_process_digest *p, const struct stet_rec_execs *r)
{
    struct stet_run_waits *w = r->count ? waits_of(p) : NULL;

    if (!w)
        return;
    if (w->last_run_ns && r->first_ns > w->last_run_ns)
        add_pause(w, (struct span){w->last_run_ns, r->first_ns}, r->first_ns - w->last_run_ns);
    if (r->count > 1 && r->last_ns > r->first_ns)
        add_pause(w, (struct span){r->first_ns, r->last_ns},
                  (r->last_ns - r->first_ns) / (r->count - 1));
    w->last_run_ns = r->last_ns;
}

/* Compiles are in the order of their beginnings. */
static bool holds_a_compile(const struct stet_process_digest *p, const struct span *s)
{
    size_t low = 0, high = p->compile_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->compiles[middle].begin_ns < s->begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->compile_count && p->compiles[low].begin_ns < s->end;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Computes the median of the pauses without a compile. */
static void judge_pauses(const struct stet_process_digest *p, struct stet_run_waits *w)
{
    uint64_t ns[PAUSES];
    size_t n = 0;

    if (w->judged_pauses == w->seen && w->judged_compiles == p->compile_count)
        return;
    w->judged_pauses = w->seen;
    w->judged_compiles = p->compile_count;
    w->usual_ns = w->first_ns = 0;
    for (size_t i = 0; i < w->pause_count; i++) {
        if (holds_a_compile(p, &w->pauses[i].at))
            continue;
        w->first_ns = n ? w->first_ns : w->pauses[i].at.end;
        ns[n++] = w->pauses[i].ns;
    }
    if (n) {
        qsort(ns, n, sizeof *ns, by_size);
        w->usual_ns = ns[n / 2];
    }
}

void stet_ledger_wait_estimate(struct stet_process_digest *p, struct stet_compile_event *c)
{
    struct stet_run_waits *w = p->waits;
    uint64_t pause;

    if (!w || p->traces || !c->ended || !c->last_run_ns || c->begin_ns <= c->last_run_ns)
        return;
    judge_pauses(p, w);
    if (!w->usual_ns || c->begin_ns < w->first_ns)
        return;
    pause = c->begin_ns - c->last_run_ns;
    pause += c->ran && c->ran_ns > c->end_ns ? c->ran_ns - c->end_ns : 0;
    c->between_ns = pause > w->usual_ns ? pause - w->usual_ns : 0;
}
