/* One window of followed executions: which of them carry the loop's state, and which of them no
 * state bypasses. */
#include "ledger/steps_window.h"

/* Before the first update the parameters come from outside the loop, so the micro-steps before it
 * look like steps. If all cuts of a program come before another's first, and state bypasses it ever
 * after, they were not steps. */
static bool first_round_only(const struct window *w, const struct tally *t)
{
    for (size_t q = 0; q < w->s->program_count; q++) {
        const struct tally *other = &w->tallies[q];

        if (other->cut >= 2 && !other->by && t->last_cut < other->first_cut)
            return true;
    }
    return false;
}

/* Finds the programs that close steps by themselves. False if none does. */
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
        if (!c->in[i] || i == c->first || i == c->last) /* what bypasses the ends is not visible */
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

/* No program closes a step alone. The loop is about the programs that take at least half as much as
 * the one that takes most. Each must find its state renewed since its last turn (its own results
 * count), otherwise it is a micro-step. */
static void judge_turns(struct window *w, struct core *c)
{
    size_t turns = 0, stale = 0;

    stet_ledger_steps_weigh(w, c);
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
        for (size_t g = 0; g < groups; g++)
            if (stet_ledger_steps_same(w->s, &w->s->programs[lead[g]], &w->s->programs[p]))
                t->group = (uint8_t)g;
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

/* Two executables of one name that alternate strictly may be two models' steps made by one
 * function, or two shapes of one: they cannot be distinguished. */
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

/* Several groups must recur in one order, each once. */
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

/* Is a round one step, or is each turn one? If something else runs, or host data arrives, in some
 * turns but not in others, the round is the unit. If it happens in every turn alike, the answer is
 * doubtful. */
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
        w->s->ambiguous = "programs alternate, and it is unknown whether a round is one step";
}

/* Finds executions of closing programs on which nothing later depends: a warm-up call whose result
 * is discarded. More than a few mean that this is not the loop. */
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
        if (stet_ledger_steps_grow(s, (void **)&s->skip, &s->skip_room, s->skip_count + 1,
                                   sizeof *s->skip))
            s->skip[s->skip_count++] = s->entries[i].number;
    }
    if (thrown > 3 && thrown * 50 > closing)
        s->ambiguous = "results of closing programs are often not used";
}

static bool both_named(const struct window *w, size_t a, size_t b)
{
    const struct stet_steps_program *p = w->s->programs;

    return w->s->names_tell && !stet_hash_is_zero(p[w->s->entries[a].program].name) &&
           !stet_hash_is_zero(p[w->s->entries[b].program].name);
}

/* The loop's first closing execution may have its whole state from one execution that itself takes
 * a good part of such a state: a first step compiled differently (weak types, no momentum yet), or
 * some initialisation. Only names would show which. */
static void look_before(struct window *w, struct core *c)
{
    const struct stet_steps_edge *e;
    const struct tally *t;
    size_t first = c->first;

    while (first < c->last && !(c->in[first] && tally_of(w, first)->group != STET_STEPS_NONE))
        first++;
    stet_ledger_steps_weigh(w, c);
    e = edges_of(w, first);
    t = tally_of(w, first);
    for (uint32_t k = 0; k < w->s->entries[first].edge_count; k++) {
        const struct stet_steps_entry *before = &w->s->entries[e[k].from];
        uint64_t carried = t->core_seen ? t->core_args / t->core_seen : 0;

        if (!e[k].external && !c->in[e[k].from] && e[k].args * 10 >= carried * 9 &&
            (uint64_t)before->args * 3 >= carried &&
            tally_of(w, e[k].from)->group == STET_STEPS_NONE && !both_named(w, first, e[k].from))
            w->s->ambiguous = "what ran before the loop may have been its first step";
    }
}

/* The groups of the window become those of all windows, or contradict those of an earlier one. */
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

static void judge(struct window *w)
{
    uint32_t lead[STET_STEPS_GROUPS];
    size_t groups;

    stet_ledger_steps_find_cores(w);
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
    for (size_t k = 0; k < w->core_count; k++)
        if (!w->cores[k].dropped)
            look_before(w, &w->cores[k]);
    note_thrown_away(w);
    adopt(w, groups);
}

void stet_ledger_steps_judge(struct stet_steps *s)
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
