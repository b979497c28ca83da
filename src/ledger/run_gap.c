/* See run_gap.h. */
#include "ledger/run_gap.h"

#include "base/mem.h"
#include "base/vec.h"
#include "journal/execs.h"

#include <stdlib.h>

/* KEPT: gaps of one process; beyond it every second one is dropped. SEARCHED, SAMPLES: of the gaps
 * before a compile, how many are looked at, and how many the usual one is the median of. */
enum { KEPT = 1 << 16, SEARCHED = 8192, SAMPLES = 63, EXECUTABLES = 1 << 22 };

/* From one execution to the next. */
struct gap {
    uint64_t begin, end;
    uint32_t before, after; /* their executables */
    bool first;             /* `after` runs for the first time: the gap of a compile's own */
    bool asked, known;      /* is the usual gap known? */
    uint64_t extra;         /* how much longer than usual it was */
};

struct stet_run_gaps {
    struct gap *items;
    size_t count, room;
    struct stet_exec last; /* the last execution so far */
    uint64_t *places;      /* by executable; 0 when not known */
    size_t place_room;
    bool *seen; /* by executable: it has run */
    size_t seen_room;
};

static struct stet_run_gaps *gaps_of(struct stet_process_digest *p)
{
    if (!p->gaps)
        p->gaps = stet_mem_calloc(1, sizeof *p->gaps);
    return p->gaps;
}

void stet_ledger_gap_release(struct stet_process_digest *p)
{
    if (!p->gaps)
        return;
    stet_mem_free(p->gaps->items);
    stet_mem_free(p->gaps->places);
    stet_mem_free(p->gaps->seen);
    stet_mem_free(p->gaps);
    p->gaps = NULL;
}

/* Makes room for what is known of this executable; new items are zero. */
static bool room_for(void *items, size_t *room, uint64_t executable, size_t size)
{
    size_t had = *room;
    char *all;

    if (executable >= EXECUTABLES)
        return false;
    if (executable < had)
        return true;
    if (!stet_vec_grow(items, room, had, executable + 1 - had, size, 0))
        return false;
    memcpy(&all, items, sizeof all);
    memset(all + had * size, 0, (*room - had) * size);
    return true;
}

static bool runs_first(struct stet_run_gaps *g, uint64_t executable)
{
    bool first;

    if (!room_for(&g->seen, &g->seen_room, executable, sizeof *g->seen))
        return true;
    first = !g->seen[executable];
    g->seen[executable] = true;
    return first;
}

static void add(struct stet_run_gaps *g, const struct stet_exec *next)
{
    bool first = runs_first(g, next->executable);

    if (g->count == KEPT) {
        for (size_t i = 0; i < KEPT / 2; i++)
            g->items[i] = g->items[2 * i + 1];
        g->count = KEPT / 2;
    }
    if (g->last.time_ns && stet_vec_room(&g->items, &g->room, g->count, sizeof *g->items))
        g->items[g->count++] = (struct gap){.begin = g->last.time_ns,
                                            .end = next->time_ns,
                                            .before = (uint32_t)g->last.executable,
                                            .after = (uint32_t)next->executable,
                                            .first = first};
    g->last = *next;
}

void stet_ledger_gap_execs(struct stet_process_digest *p, const struct stet_rec_execs *r)
{
    struct stet_run_gaps *g = r->count && r->count <= STET_EXECS_MAX ? gaps_of(p) : NULL;
    struct stet_exec *batch = g ? stet_mem_calloc(r->count, sizeof *batch) : NULL;

    if (batch && stet_journal_execs_decode(r, batch, r->count, NULL) == STET_OK)
        for (uint64_t i = 0; i < r->count; i++)
            add(g, &batch[i]);
    stet_mem_free(batch);
}

/* ---- the place of a program in the loop ---- */

static bool by_caller(const struct stet_compile_event *c)
{
    return c->thread && c->thread == c->stack_thread;
}

/* A thread that compiles what it needs is at a line of the loop. Where other threads compile, the
 * line has no meaning, and programs of one operation share a name. */
static uint64_t place_of(const struct stet_compile_event *c)
{
    struct stet_hash h = stet_hash_bytes(c->name);

    if (by_caller(c) && c->trigger.line)
        h = stet_hash_mix_u64(stet_hash_bytes(c->trigger.file), c->trigger.line);
    return h.lo | 1;
}

static void set_place(struct stet_run_gaps *g, const struct stet_compile_event *c)
{
    if (c->executable && room_for(&g->places, &g->place_room, c->executable, sizeof *g->places))
        g->places[c->executable] = place_of(c);
}

static uint64_t place(const struct stet_run_gaps *g, uint64_t executable)
{
    return executable < g->place_room ? g->places[executable] : 0;
}

/* ---- the usual gap ---- */

/* Compiles are in the order of their beginnings. */
static bool holds_a_compile(const struct stet_process_digest *p, const struct gap *s)
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

static size_t ended_before(const struct stet_run_gaps *g, uint64_t ns)
{
    size_t low = 0, high = g->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (g->items[middle].end <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *ns, size_t n)
{
    qsort(ns, n, sizeof *ns, by_size);
    return ns[n / 2];
}

/* Sets the median of the last gaps that led to this place before `at_ns` without a compile: from
 * the same place if there are any, otherwise from every place. False when the place had not run
 * before. */
static bool usual(const struct stet_process_digest *p, const struct gap *of, uint64_t at_ns,
                  uint64_t *out)
{
    const struct stet_run_gaps *g = p->gaps;
    uint64_t here = place(g, of->after), before = place(g, of->before);
    uint64_t from_there[SAMPLES], from_all[SAMPLES];
    size_t there = 0, all = 0, looked = 0;

    for (size_t i = ended_before(g, at_ns); i-- > 0 && looked < SEARCHED && there < SAMPLES;
         looked++) {
        const struct gap *s = &g->items[i];

        if (!here || s->first || place(g, s->after) != here || holds_a_compile(p, s))
            continue;
        if (place(g, s->before) == before)
            from_there[there++] = s->end - s->begin;
        if (all < SAMPLES)
            from_all[all++] = s->end - s->begin;
    }
    if (all)
        *out = there ? median(from_there, there) : median(from_all, all);
    return all > 0;
}

/* ---- the wait ---- */

/* The compiles that may have to do with one: this many before and after it. */
enum { NEAR = 512 };

struct near {
    struct stet_compile_event *begin, *end;
};

static struct near near(const struct stet_process_digest *p, const struct stet_compile_event *c)
{
    size_t at = (size_t)(c - p->compiles), from = at > NEAR ? at - NEAR : 0;
    size_t to = at + NEAR < p->compile_count ? at + NEAR : p->compile_count;

    return (struct near){p->compiles + from, p->compiles + to};
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* How long this compile, or load, went on within the gap. One without an end goes on. */
static uint64_t within(const struct stet_compile_event *c, const struct gap *s)
{
    uint64_t begin = later(c->begin_ns, s->begin);
    uint64_t end = c->ended && c->end_ns < s->end ? c->end_ns : s->end;

    return c->begin_ns && begin < end ? end - begin : 0;
}

static bool has_gap(const struct stet_compile_event *c)
{
    return c->ended && c->ran && c->before_ns && c->before_ns <= c->ran_ns;
}

static struct gap gap_of(const struct stet_compile_event *c)
{
    return (struct gap){.begin = c->before_ns,
                        .end = c->ran_ns,
                        .before = (uint32_t)c->before,
                        .after = (uint32_t)c->executable};
}

/* How much longer than usual the gap before the first execution of `x` is. What came before the
 * first compile in it counts only if the usual gap is known. */
static uint64_t extra_of_first(struct stet_process_digest *p, struct stet_compile_event *x)
{
    struct gap s = gap_of(x);
    uint64_t usual_ns, first = x->begin_ns;

    if (x->extra_known || x->end_ns <= x->before_ns)
        return x->extra_ns;
    x->extra_known = true;
    set_place(p->gaps, x);
    if (usual(p, &s, x->begin_ns, &usual_ns)) {
        x->extra_ns = s.end - s.begin > usual_ns ? s.end - s.begin - usual_ns : 0;
    } else {
        struct near all = near(p, x);

        for (struct stet_compile_event *c = all.begin; c < all.end; c++)
            if (within(c, &s) && c->begin_ns < first)
                first = c->begin_ns;
        x->extra_ns = s.end - later(s.begin, first);
    }
    return x->extra_ns;
}

/* The same for a program that had run before: its execution may have waited for the framework's
 * work on others. False when the usual gap is not known. */
static bool find_extra(struct stet_process_digest *p, struct gap *s)
{
    uint64_t usual_ns;

    if (!s->asked && usual(p, s, s->begin, &usual_ns)) {
        s->known = true;
        s->extra = s->end - s->begin > usual_ns ? s->end - s->begin - usual_ns : 0;
    }
    s->asked = true;
    return s->known;
}

/* The part of a gap that is this compile's: compiles that go on in one gap share it by their time
 * in it. */
static uint64_t share(const struct stet_process_digest *p, const struct stet_compile_event *c,
                      const struct gap *s, uint64_t extra)
{
    struct near all = near(p, c);
    uint64_t sum = 0;

    for (const struct stet_compile_event *o = all.begin; o < all.end; o++)
        sum += within(o, s);
    return (uint64_t)((double)extra * ((double)within(c, s) / (double)sum));
}

void stet_ledger_gap_measure(struct stet_process_digest *p, struct stet_compile_event *c)
{
    struct stet_run_gaps *g = c->ended ? gaps_of(p) : NULL;
    struct near all = near(p, c);
    bool any = false;

    if (!g)
        return;
    set_place(g, c);
    if (!has_gap(c))
        return;
    c->measured = true;
    c->waited_ns = 0;
    for (struct stet_compile_event *x = all.begin; x < all.end; x++) {
        struct gap s = gap_of(x);

        if (!has_gap(x) || x->ran_ns > c->ran_ns || !within(c, &s))
            continue;
        c->waited_ns += share(p, c, &s, extra_of_first(p, x));
        any = true;
    }
    for (size_t i = ended_before(g, c->begin_ns); i < g->count; i++) {
        struct gap *s = &g->items[i];

        if (s->end > c->ran_ns || s->begin >= c->end_ns)
            break;
        if (s->first || !within(c, s) || !find_extra(p, s))
            continue;
        c->waited_ns += share(p, c, s, s->extra);
        any = true;
    }
    if (!any && by_caller(c)) /* only the thread that compiled it waited, and no program for it */
        c->waited_ns = c->plugin_ns + c->layer_ns;
}
