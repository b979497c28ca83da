/* One window of followed executions: which of them carry the loop's state, and which let none of it
 * pass by. */
#include "ledger/steps_internal.h"

#include "base/arena.h"

enum { CORES = 8, CANDIDATES = 24 };

/* Of one program, in one window. */
struct tally {
    uint64_t seen, inner_args; /* executions; arguments made by others of the window */
    uint64_t core_seen, core_args, all_args; /* in the core being weighed */
    uint64_t cut, by;                        /* executions that state passed through; passed by */
    uint64_t first_cut, last_cut;
    uint32_t last; /* while sweeping: entry + 1 of the last execution, 0 for none */
    uint32_t role; /* the first program of which this is a variant */
    bool tried, closes, passes;
    uint8_t group;
};

/* A loop: what lies between the first and the last execution of `head` that depend on each other.
 */
struct core {
    unsigned char *in, *ancestor; /* by entry */
    uint32_t head, first, last;
    double weight; /* arguments that carry state, of the program that takes most */
    bool closed;   /* feeds on itself alone: a random generator, a counter */
    bool dropped;
};

struct window {
    struct stet_steps *s;
    struct stet_arena arena;
    size_t n;
    struct tally *tallies;
    struct core cores[CORES];
    size_t core_count, kept;
};

static const struct stet_steps_edge *edges_of(const struct window *w, size_t i)
{
    return w->s->edges + w->s->entries[i].first_edge;
}

static struct tally *tally_of(const struct window *w, size_t i)
{
    return &w->tallies[w->s->entries[i].program];
}

static uint32_t role_of(const struct window *w, size_t i)
{
    return tally_of(w, i)->role;
}

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

/* How much of the loop's state each of its programs takes in. */
static void weigh(struct window *w, struct core *c)
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

/* The loop around `head`, kept when it comes back often enough. */
static void try_core(struct window *w, uint32_t head)
{
    struct core c = {.head = head};
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
    if (times < STET_STEPS_RECUR || times * 2 < all) /* short chains that begin again and again */
        return;
    weigh(w, &c);
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

/* Loops are looked for around the programs that take in most of what others made. */
static void find_cores(struct window *w)
{
    for (int round = 0; round < CANDIDATES && w->core_count < CORES; round++) {
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

/* How many executions of `to` get something new from `from`, at whatever remove. */
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

/* Most of `other` runs before or after it: a sampling session, not a loop beside the loop. */
static bool is_episode(const struct core *c, const struct core *other)
{
    size_t within = 0, all = 0;

    for (size_t i = other->first; i <= other->last; i++) {
        within += other->in[i] && i >= c->first && i <= c->last;
        all += other->in[i];
    }
    return within * 2 < all;
}

/* `up` feeds `down` and gets nothing back. What feeds on itself alone, or carries little, is a
 * generator of random numbers or a counter; what is fed time and again is an observer (averaged
 * weights, sampling); what is fed once goes on where the other stopped. */
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

/* Loops that share nothing both stay, but for one that feeds on itself alone. */
static void drop_one(struct window *w, struct core *a, struct core *b)
{
    size_t all_a, all_b, to_b = fed_by(w, a, b, &all_b), to_a = fed_by(w, b, a, &all_a);

    if (to_b && !to_a)
        drop_of_chain(w, a, b, to_b, all_b);
    else if (to_a && !to_b)
        drop_of_chain(w, b, a, to_a, all_a);
    else if (a->closed != b->closed)
        (a->closed ? a : b)->dropped = true;
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

/* Before the first update the parameters come from outside the loop, so the micro-steps before it
 * look like steps: when all cuts of a program lie before another's first, and state passes it by
 * ever after, they were none. */
static bool first_round_only(const struct window *w, const struct tally *t)
{
    for (size_t q = 0; q < w->s->program_count; q++) {
        const struct tally *other = &w->tallies[q];

        if (other->cut >= 2 && !other->by && t->last_cut < other->first_cut)
            return true;
    }
    return false;
}

/* Which programs close steps by themselves. False when none does. */
static bool judge_cuts(struct window *w, const struct core *c)
{
    int32_t *cover = STET_NEW_ARRAY(&w->arena, int32_t, w->n + 1);
    bool any = false;

    if (!cover)
        return false;
    for (size_t i = c->first; i <= c->last; i++) {
        const struct stet_steps_edge *e = edges_of(w, i);

        for (uint32_t k = 0; c->in[i] && k < w->s->entries[i].edge_count; k++) {
            if (e[k].external || !c->in[e[k].from])
                continue;
            cover[e[k].from + 1]++;
            cover[i]--;
        }
    }
    for (size_t i = c->first; i <= c->last; i++) {
        struct tally *t = tally_of(w, i);

        cover[i] += i ? cover[i - 1] : 0;
        if (!c->in[i] || i == c->first || i == c->last) /* what passes the ends by is not seen */
            continue;
        if (cover[i] > 0) {
            t->by++;
        } else {
            t->first_cut = t->cut++ ? t->first_cut : i;
            t->last_cut = i;
        }
    }
    for (size_t p = 0; p < w->s->program_count; p++) {
        struct tally *t = &w->tallies[p];

        if (t->cut && t->by && first_round_only(w, t))
            t->cut = 0;
        any |= t->cut > 0;
    }
    for (size_t p = 0; p < w->s->program_count; p++) {
        struct tally *t = &w->tallies[p];

        t->closes |= t->cut > 0;
        t->passes |= any && t->by;
        t->cut = t->by = 0;
    }
    return any;
}

/* Nothing closes a step alone. Programs that take in at least half of what the greediest does are
 * what the loop is about; each must find its state renewed since its last turn (its own results
 * count), else it is a micro-step of something. */
static void judge_turns(struct window *w, struct core *c)
{
    size_t turns = 0, stale = 0;

    weigh(w, c);
    for (size_t p = 0; p < w->s->program_count; p++)
        w->tallies[p].last = 0;
    for (size_t i = c->first; i <= c->last; i++) {
        const struct stet_steps_edge *e = edges_of(w, i);
        struct tally *t = tally_of(w, i);
        uint64_t renewed = 0, carried = 0;

        if (!c->in[i] || t->core_seen + 1 < STET_STEPS_RECUR ||
            (double)t->core_args < 0.5 * c->weight * (double)t->core_seen)
            continue;
        for (uint32_t k = 0; k < w->s->entries[i].edge_count; k++) {
            if (e[k].external || !c->in[e[k].from])
                continue;
            carried += e[k].args;
            renewed += e[k].from + 1 >= t->last ? e[k].args : 0;
        }
        turns += t->last != 0;
        stale += t->last != 0 && renewed * 2 < carried;
        t->last = (uint32_t)i + 1;
        t->closes = true;
    }
    if (!turns || stale * 50 >= turns)
        w->s->ambiguous = "no program closes a step: state is used again before it is renewed";
}

/* Closing programs by group: variants of one program are one. */
static size_t group_closers(struct window *w, uint32_t *lead)
{
    size_t groups = 0;

    for (size_t i = 0; i < w->n; i++) {
        uint32_t p = w->s->entries[i].program;
        struct tally *t = &w->tallies[p];

        if (!t->closes || t->group != STET_STEPS_NONE)
            continue;
        for (uint8_t g = 0; g < groups; g++)
            if (stet_steps_same(&w->s->programs[lead[g]], &w->s->programs[p]))
                t->group = g;
        if (t->group == STET_STEPS_NONE && groups < STET_STEPS_GROUPS) {
            lead[groups] = p;
            t->group = (uint8_t)groups++;
        } else if (t->group == STET_STEPS_NONE) {
            w->s->ambiguous = "too many programs close steps";
        }
    }
    return groups;
}

static bool is_core(const struct window *w, size_t i)
{
    for (size_t k = 0; k < w->core_count; k++)
        if (!w->cores[k].dropped && w->cores[k].in[i])
            return true;
    return false;
}

/* Two executables of one name that take strict turns may be two models' steps made by one function,
 * or two shapes of one: no telling. */
static bool variants_take_turns(const struct window *w)
{
    uint32_t last = UINT32_MAX, before = UINT32_MAX;
    size_t switches = 0, others = 0;

    for (size_t i = 0; i < w->n; i++) {
        uint32_t p = w->s->entries[i].program;

        if (!w->tallies[p].closes || !is_core(w, i))
            continue;
        if (before != UINT32_MAX)
            *(p == before && p != last ? &switches : &others) += 1;
        before = last;
        last = p;
    }
    return switches >= STET_STEPS_RECUR && others * 10 < switches;
}

/* Several groups must come round in one order, each once. */
static bool take_strict_turns(const struct window *w, size_t groups)
{
    size_t next = groups, rounds = 0, broken = 0;

    for (size_t i = 0; i < w->n; i++) {
        uint8_t g = tally_of(w, i)->group;

        if (g == STET_STEPS_NONE || !is_core(w, i))
            continue;
        broken += g != next && next < groups; /* the first may be any */
        rounds += g == groups - 1;
        next = (size_t)(g + 1) % groups;
    }
    return rounds >= STET_STEPS_RECUR && broken * 50 < rounds;
}

/* Is a round one step, or each turn one? What else runs, or what host data arrives, in some turns
 * but not in others, makes the round the unit; what runs in every turn alike makes it doubtful. */
static void judge_rounds(struct window *w, size_t groups)
{
    uint64_t *runs = STET_NEW_ARRAY(&w->arena, uint64_t, w->s->program_count *STET_STEPS_GROUPS);
    uint64_t turns[STET_STEPS_GROUPS] = {0}, fresh[STET_STEPS_GROUPS] = {0};
    bool even = false, uneven = false;
    size_t turn = 0;

    if (!runs)
        return;
    for (size_t i = 0; i < w->n; i++) {
        struct tally *t = tally_of(w, i);
        const struct stet_steps_edge *e = edges_of(w, i);
        bool is_fresh = false;

        if (t->group == STET_STEPS_NONE) {
            runs[w->s->entries[i].program * STET_STEPS_GROUPS + turn]++;
            continue;
        }
        for (uint32_t k = 0; k < w->s->entries[i].edge_count; k++)
            is_fresh |= e[k].external && e[k].from == i;
        turns[t->group]++;
        fresh[t->group] += is_fresh;
        turn = (size_t)(t->group + 1) % groups;
    }
    for (size_t p = 0; p <= w->s->program_count; p++) {
        const uint64_t *r = p < w->s->program_count ? runs + p * STET_STEPS_GROUPS : fresh;
        size_t often = 0, never = 0;

        for (size_t g = 0; g < groups; g++) {
            often += r[g] * 10 >= turns[g] * 9;
            never += r[g] * 10 <= turns[g];
        }
        even |= often == groups && r != fresh;
        uneven |= often && never;
    }
    if (!uneven && (even || w->kept > 1))
        w->s->ambiguous = "programs take turns, and nothing tells whether a round is one step";
}

/* Executions of closing programs on which nothing later depends: a warm-up call thrown away. More
 * than a few mean that the loop is not what it seems. */
static void note_thrown_away(struct window *w)
{
    struct stet_steps *s = w->s;
    size_t closing = 0, thrown = 0;

    for (size_t i = 0; i < w->n; i++) {
        bool used = false, inside = false;

        if (tally_of(w, i)->group == STET_STEPS_NONE)
            continue;
        for (size_t k = 0; k < w->core_count; k++) {
            used |= !w->cores[k].dropped && w->cores[k].ancestor[i];
            inside |= !w->cores[k].dropped && i < w->cores[k].last;
        }
        closing++;
        if (used || !inside)
            continue;
        thrown++;
        if (stet_steps_grow(s, (void **)&s->skip, &s->skip_room, s->skip_count + 1,
                            sizeof *s->skip))
            s->skip[s->skip_count++] = s->entries[i].number;
    }
    if (thrown > 3 && thrown * 50 > closing)
        s->ambiguous = "results of closing programs are often not used";
}

/* The window's groups become everybody's, or contradict those of an earlier window. */
static void adopt(struct window *w, size_t groups)
{
    struct stet_steps *s = w->s;

    if (s->groups && s->groups != groups)
        s->ambiguous = "one program closes steps at one time, several at another";
    s->groups = groups;
    for (size_t p = 0; p < s->program_count; p++) {
        struct tally *t = &w->tallies[p];
        struct stet_steps_program *program = &s->programs[p];

        program->closes |= t->closes;
        program->passes |= t->passes;
        if (t->group == STET_STEPS_NONE)
            continue;
        if (program->group != STET_STEPS_NONE && program->group != t->group)
            s->ambiguous = "programs that take turns change their order";
        program->group = t->group;
    }
}

/* Variants of one program play one role; the first one's tally has the sums. */
static void count_seen(struct window *w)
{
    for (size_t i = 0; i < w->n; i++)
        tally_of(w, i)->last = 1;
    for (size_t p = 0; p < w->s->program_count; p++) {
        w->tallies[p].group = STET_STEPS_NONE;
        w->tallies[p].role = (uint32_t)p;
        for (size_t q = 0; w->tallies[p].last && q < p && w->tallies[p].role == p; q++)
            if (w->tallies[q].last && stet_steps_same(&w->s->programs[p], &w->s->programs[q]))
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

static void judge(struct window *w)
{
    uint32_t lead[STET_STEPS_GROUPS];
    size_t groups;

    count_seen(w);
    find_cores(w);
    choose_cores(w);
    if (!w->kept)
        return;
    for (size_t k = 0; k < w->core_count; k++)
        if (!w->cores[k].dropped && !judge_cuts(w, &w->cores[k]))
            judge_turns(w, &w->cores[k]);
    groups = group_closers(w, lead);
    if (groups == 1 && variants_take_turns(w))
        w->s->ambiguous = "two variants of one program take strict turns";
    if (groups > 1 && !take_strict_turns(w, groups))
        w->s->ambiguous = "several programs close steps, in no fixed order";
    else if (groups > 1)
        judge_rounds(w, groups);
    note_thrown_away(w);
    adopt(w, groups);
}

void stet_steps_judge(struct stet_steps *s)
{
    struct window w = {.s = s, .n = s->entry_count};

    stet_arena_init(&w.arena, (size_t)256 << 20);
    w.tallies = STET_NEW_ARRAY(&w.arena, struct tally, s->program_count);
    if (w.tallies && w.n)
        judge(&w);
    s->failed |= w.arena.failed;
    stet_arena_release(&w.arena);
    s->entry_count = s->edge_count = 0;
}
