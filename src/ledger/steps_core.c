/* Finds the loops of a window: executions whose results come back to the program they started
 * from. */
#include "ledger/steps_window.h"

enum { CANDIDATES = 24 };

static void mark_ancestors(const struct window *w, unsigned char *mark, size_t last)
{
    mark[last] = 1;
    for (size_t i = last + 1; i-- > 0;) {
        const struct stet_steps_edge *e = edges_of(w, i);

        for (uint32_t k = 0; mark[i] && k < w->s->entries[i].edge_count; k++)
            if (!e[k].external)
                mark[e[k].from] = 1;
    }
}

static void mark_descendants(const struct window *w, unsigned char *mark, size_t first)
{
    mark[first] = 1;
    for (size_t i = first + 1; i < w->n; i++) {
        const struct stet_steps_edge *e = edges_of(w, i);

        for (uint32_t k = 0; k < w->s->entries[i].edge_count && !mark[i]; k++)
            mark[i] = !e[k].external && mark[e[k].from];
    }
}

void stet_ledger_steps_weigh(struct window *w, struct core *c)
{
    c->weight = 0;
    for (size_t p = 0; p < w->s->program_count; p++)
        w->tallies[p].core_seen = w->tallies[p].core_args = w->tallies[p].all_args = 0;
    for (size_t i = (size_t)c->first + 1; i <= c->last; i++) {
        const struct stet_steps_edge *e = edges_of(w, i);
        struct tally *t = tally_of(w, i);

        if (!c->in[i])
            continue;
        t->core_seen++;
        t->all_args += w->s->entries[i].args;
        for (uint32_t k = 0; k < w->s->entries[i].edge_count; k++)
            if (!e[k].external && c->in[e[k].from])
                t->core_args += e[k].args;
    }
    c->closed = true;
    for (size_t p = 0; p < w->s->program_count; p++) {
        const struct tally *t = &w->tallies[p];
        double each = t->core_seen ? (double)t->core_args / (double)t->core_seen : 0;

        c->weight = each > c->weight ? each : c->weight;
        c->closed &= t->all_args == t->core_args;
    }
}

/* Builds the loop around `head` and keeps it if it recurs often enough. */
static void try_core(struct window *w, uint32_t head)
{
    struct core c = {0};
    unsigned char *descendant = stet_arena_alloc(&w->arena, w->n, 1);
    size_t times = 0, all = 0;

    c.in = stet_arena_alloc(&w->arena, w->n, 1);
    c.ancestor = stet_arena_alloc(&w->arena, w->n, 1);
    if (w->arena.failed)
        return;
    for (size_t i = 0; i < w->n; i++)
        if (role_of(w, i) == head)
            c.last = (uint32_t)i;
    mark_ancestors(w, c.ancestor, c.last);
    while (!(role_of(w, c.first) == head && c.ancestor[c.first]))
        c.first++;
    mark_descendants(w, descendant, c.first);
    for (size_t i = 0; i <= c.last; i++) {
        c.in[i] = c.ancestor[i] & descendant[i];
        times += c.in[i] && role_of(w, i) == head;
        all += role_of(w, i) == head;
    }
    if (times < STET_STEPS_RECUR || times * 2 < all) /* short chains that begin again repeatedly */
        return;
    c.times = times;
    stet_ledger_steps_weigh(w, &c);
    w->cores[w->core_count++] = c;
}

static bool in_some_core(const struct window *w, size_t role)
{
    for (size_t k = 0; k < w->core_count; k++) {
        const struct core *c = &w->cores[k];
        size_t inside = 0, all = 0;

        for (size_t i = c->first; i <= c->last; i++) {
            if (role_of(w, i) != role)
                continue;
            inside += c->in[i];
            all++;
        }
        if (inside * 2 > all)
            return true;
    }
    return false;
}

/* Searches for loops around the programs that take most of what others produced. */
static void find_cores(struct window *w)
{
    for (int round = 0; round < CANDIDATES && w->core_count < STET_STEPS_CORES; round++) {
        size_t best = w->s->program_count;
        uint64_t most = 0;

        for (size_t p = 0; p < w->s->program_count; p++) {
            const struct tally *t = &w->tallies[p];
            uint64_t each = t->seen >= STET_STEPS_RECUR ? 1 + t->inner_args / t->seen : 0;

            if (!t->tried && t->inner_args && each > most) {
                most = each;
                best = p;
            }
        }
        if (best == w->s->program_count)
            return;
        w->tallies[best].tried = true;
        if (!in_some_core(w, best))
            try_core(w, (uint32_t)best);
    }
}

/* Returns how many executions of `to` get something new from `from`, directly or indirectly. */
static size_t fed_by(struct window *w, const struct core *from, const struct core *to, size_t *all)
{
    unsigned char *mark = stet_arena_alloc(&w->arena, w->n, 1);
    size_t fed = 0;

    *all = 0;
    if (!mark)
        return 0;
    mark_descendants(w, mark, from->first);
    for (size_t i = to->first; i <= to->last; i++) {
        const struct stet_steps_edge *e = edges_of(w, i);
        bool found = false;

        if (!to->in[i])
            continue;
        for (uint32_t k = 0; k < w->s->entries[i].edge_count && !found; k++)
            found = !e[k].external && !to->in[e[k].from] && mark[e[k].from];
        fed += found;
        *all += 1;
    }
    return fed;
}

/* Does most of `other` run before or after it? Then it is a sampling session, not a second loop. */
static bool is_episode(const struct core *c, const struct core *other)
{
    size_t within = 0, all = 0;

    for (size_t i = other->first; i <= other->last; i++) {
        within += other->in[i] && i >= c->first && i <= c->last;
        all += other->in[i];
    }
    return within * 2 < all;
}

/* `up` feeds `down` and gets nothing back. A loop that feeds only itself, or carries little, is a
 * generator of random numbers or a counter. A loop that is fed again and again is an observer
 * (averaged weights, sampling). A loop that is fed once continues where the other stopped. */
static void drop_of_chain(struct window *w, struct core *up, struct core *down, size_t fed,
                          size_t all)
{
    bool observes = fed * 8 >= all;

    if (up->closed || (up->weight * 4 < down->weight && !(observes && is_episode(down, up))))
        up->dropped = true;
    else if (observes || down->weight * 4 < up->weight)
        down->dropped = true;
    else
        w->s->ambiguous = "one loop goes on where another stopped";
}

/* True for a loop that ran before the other, carried little or recurred rarely: the operations of a
 * model that is initialised layer by layer look like a loop. */
static bool is_preparation(const struct core *c, const struct core *loop)
{
    return c->last < loop->first && (c->weight * 4 < loop->weight || c->times * 8 <= loop->times);
}

/* Loops that share nothing are both kept, except one that feeds only itself and one that only
 * prepared the other. */
static void drop_one(struct window *w, struct core *a, struct core *b)
{
    size_t all_a, all_b, to_b = fed_by(w, a, b, &all_b), to_a = fed_by(w, b, a, &all_a);

    if (to_b && !to_a)
        drop_of_chain(w, a, b, to_b, all_b);
    else if (to_a && !to_b)
        drop_of_chain(w, b, a, to_a, all_a);
    else if (a->closed != b->closed)
        (a->closed ? a : b)->dropped = true;
    else if (is_preparation(a, b))
        a->dropped = true;
    else if (is_preparation(b, a))
        b->dropped = true;
}

static void choose_cores(struct window *w)
{
    for (size_t i = 0; i < w->core_count; i++)
        for (size_t k = i + 1; k < w->core_count; k++)
            if (!w->cores[i].dropped && !w->cores[k].dropped)
                drop_one(w, &w->cores[i], &w->cores[k]);
    for (size_t i = 0; i < w->core_count; i++)
        w->kept += !w->cores[i].dropped;
}

/* Variants of one program have one role; the tally of the first has the sums. */
static void count_seen(struct window *w)
{
    for (size_t i = 0; i < w->n; i++)
        tally_of(w, i)->last = 1;
    for (size_t p = 0; p < w->s->program_count; p++) {
        w->tallies[p].group = STET_STEPS_NONE;
        w->tallies[p].role = (uint32_t)p;
        for (size_t q = 0; w->tallies[p].last && q < p && w->tallies[p].role == p; q++)
            if (w->tallies[q].last &&
                stet_ledger_steps_same(w->s, &w->s->programs[p], &w->s->programs[q]))
                w->tallies[p].role = w->tallies[q].role;
    }
    for (size_t i = 0; i < w->n; i++) {
        const struct stet_steps_edge *e = edges_of(w, i);
        struct tally *t = &w->tallies[role_of(w, i)];

        t->seen++;
        for (uint32_t k = 0; k < w->s->entries[i].edge_count; k++)
            t->inner_args += e[k].external ? 0 : e[k].args;
    }
}

void stet_ledger_steps_find_cores(struct window *w)
{
    count_seen(w);
    find_cores(w);
    choose_cores(w);
}
