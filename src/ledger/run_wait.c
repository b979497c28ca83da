/* See run_wait.h. */
#include "ledger/run_wait.h"

#include "base/mem.h"
#include "ledger/run_gap.h"

#include <ctype.h>

enum { TRACING = 1, LOWERING = 2 };
/* A compile follows its phases closely, and a phase contains few compiles, so older phases are
 * dropped. */
enum { THREADS = 64, PENDING = 64, SPANS = 1024 };

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

struct stet_run_waits {
    struct waiter *threads[THREADS];
    size_t count;
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
    stet_ledger_gap_release(p);
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
    if (!p->first_phase_ns)
        p->first_phase_ns = end_ns;
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
            stet_view_ends(stet_view_str(w->pending[lowering].name), w->pending[i].name))
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
    c->before_ns = r->last_run_ns;
    c->before = r->last_executable;
    stet_ledger_wait_compiled(p, c, r->thread);
    w = c->waiter == r->thread ? waiter_of(p, r->thread) : NULL;
    if (w)
        c->until_run_ns = count_span(w, (struct span){c->end_ns, time_ns});
}

void stet_ledger_wait_without_phases(struct stet_process_digest *p, struct stet_compile_event *c)
{
    if (!p->first_phase_ns || p->first_phase_ns > c->end_ns)
        stet_ledger_gap_measure(p, c);
}
