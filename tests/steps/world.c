/* See world.h. */
#include "world.h"

#include "base/mem.h"

#include <stdlib.h>

void world_init(struct world *w, uint64_t seed)
{
    *w = (struct world){.random = seed * 0x9e3779b97f4a7c15u + 1, .fresh = 0x10000};
    stet_journal_flow_init(&w->flow);
    w->steps = stet_ledger_steps_new();
}

void world_release(struct world *w)
{
    stet_journal_flow_release(&w->flow);
    stet_ledger_steps_free(w->steps);
    free(w->order);
    free(w->marks);
    free(w->freed);
}

uint64_t world_random(struct world *w, uint64_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (w->random >> 11) % below;
}

bool world_chance(struct world *w, unsigned percent)
{
    return world_random(w, 100) < percent;
}

static void *grown(void *array, size_t *room, size_t need, size_t size)
{
    if (need <= *room)
        return array;
    *room = *room ? *room * 2 : 1024;
    array = realloc(array, *room * size);
    if (!array)
        abort();
    return array;
}

/* As the layer's writer thread does now and then. */
static void take_flow(struct world *w)
{
    struct stet_rec_flow rec;

    if (stet_journal_flow_take(&w->flow, &rec))
        stet_ledger_steps_flow(w->steps, &rec);
}

uint64_t world_program(struct world *w, const char *name)
{
    if (w->programs + 1 >= WORLD_PROGRAMS)
        abort();
    w->names[++w->programs] = name;
    stet_journal_flow_executable(&w->flow, w->programs, 0);
    stet_ledger_steps_executable(w->steps, w->programs, stet_view_str(w->nameless ? "" : name),
                                 (struct stet_hash){0});
    return w->programs;
}

void world_step(struct world *w)
{
    w->marks = grown(w->marks, &w->mark_room, w->mark_count + 1, sizeof *w->marks);
    w->marks[w->mark_count++] = w->count;
}

/* Mostly an address that was just freed, as allocators do. */
static const void *new_buffer(struct world *w)
{
    size_t i;
    uintptr_t address;

    if (!w->freed_count || world_chance(w, 20))
        return (const void *)(w->fresh += 64);
    i = w->freed_count - 1 - world_random(w, w->freed_count < 4 ? w->freed_count : 4);
    address = w->freed[i];
    w->freed[i] = w->freed[--w->freed_count];
    return (const void *)address;
}

struct leaves world_host(struct world *w, size_t n)
{
    struct leaves l = {.n = n};

    for (size_t i = 0; i < n; i++)
        l.at[i] = new_buffer(w);
    return l;
}

void world_drop(struct world *w, struct leaves *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (stet_journal_flow_on(&w->flow))
            stet_journal_flow_gone(&w->flow, l->at[i]);
        w->freed = grown(w->freed, &w->freed_room, w->freed_count + 1, sizeof *w->freed);
        w->freed[w->freed_count++] = (uintptr_t)l->at[i];
    }
    l->n = 0;
}

struct leaves world_run(struct world *w, uint64_t program, size_t results, const struct leaves *a,
                        const struct leaves *b, const struct leaves *c, const struct leaves *d,
                        const struct leaves *e)
{
    const struct leaves *trees[] = {a, b, c, d, e};
    const void *args[5 * WORLD_LEAVES];
    struct leaves out = world_host(w, results);
    size_t n = 0;

    for (size_t t = 0; t < 5; t++)
        for (size_t i = 0; trees[t] && i < trees[t]->n; i++)
            args[n++] = trees[t]->at[i];
    if (stet_journal_flow_on(&w->flow)) {
        atomic_store(&w->flow.results[program], (uint32_t)out.n + 1);
        stet_journal_flow_executed(&w->flow, w->count, program, args, n, out.at);
    }
    w->order = grown(w->order, &w->room, w->count + 1, sizeof *w->order);
    w->order[w->count++] = program;
    if (w->count % 977 == 0)
        take_flow(w);
    return out;
}

struct leaves world_split(struct leaves *l, size_t n)
{
    struct leaves first = {.n = n}, rest = {.n = l->n - n};

    memcpy(first.at, l->at, n * sizeof *l->at);
    memcpy(rest.at, l->at + n, rest.n * sizeof *l->at);
    *l = rest;
    return first;
}

void world_replace(struct world *w, struct leaves *old, struct leaves now)
{
    world_drop(w, old);
    *old = now;
}

struct verdict world_judge(struct world *w)
{
    struct verdict v = {.steps = w->mark_count};
    size_t mark = 0;

    take_flow(w);
    stet_ledger_steps_decide(w->steps);
    for (size_t i = 0; i <= w->count; i++) {
        for (; mark < w->mark_count && w->marks[mark] == i; mark++) {
            struct stet_steps_answer a = stet_ledger_steps_now(w->steps);

            *(!a.known ? &v.null : a.completed == mark ? &v.right : &v.wrong) += 1;
        }
        if (i < w->count)
            stet_ledger_steps_add(w->steps, w->order[i]);
    }
    v.why = stet_ledger_steps_now(w->steps).why;
    return v;
}
