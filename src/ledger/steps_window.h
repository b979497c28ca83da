/* The window shared by steps_core.c (finding its loops) and steps_window.c (judging what closes
 * their steps). A window exists only during stet_ledger_steps_judge. */
#ifndef STET_LEDGER_STEPS_WINDOW_H
#define STET_LEDGER_STEPS_WINDOW_H

#include "base/arena.h"
#include "ledger/steps_internal.h"

enum { STET_STEPS_CORES = 8 };

/* The counts of one program in one window. */
struct tally {
    uint64_t seen, inner_args; /* executions; arguments made by others of the window */
    uint64_t core_seen, core_args, all_args; /* in the core being weighed */
    uint64_t cut, by; /* executions that state passed through; that it bypassed */
    uint64_t first_cut, last_cut;
    uint32_t last; /* while sweeping: entry + 1 of the last execution, 0 for none */
    uint32_t role; /* the first program of which this is a variant */
    bool tried, closes, passes;
    uint8_t group;
};

/* A loop: what is between the first and the last execution of `head` that depend on each other. */
struct core {
    unsigned char *in, *ancestor; /* by entry */
    uint32_t first, last;
    size_t times;  /* how often the head runs in it */
    double weight; /* arguments that carry state, of the program that takes most */
    bool closed;   /* feeds only itself: a random generator, a counter */
    bool dropped;
};

struct window {
    struct stet_steps *s;
    struct stet_arena arena;
    size_t n;
    struct tally *tallies;
    struct core cores[STET_STEPS_CORES];
    size_t core_count, kept;
};

static inline const struct stet_steps_edge *edges_of(const struct window *w, size_t i)
{
    return w->s->edges ? w->s->edges + w->s->entries[i].first_edge : NULL;
}

static inline struct tally *tally_of(const struct window *w, size_t i)
{
    return &w->tallies[w->s->entries[i].program];
}

static inline uint32_t role_of(const struct window *w, size_t i)
{
    return tally_of(w, i)->role;
}

/* Finds the loops, and drops those that only feed, observe or count for another. w->kept are
 * left. */
void stet_ledger_steps_find_cores(struct window *w);
/* Computes how much of the loop's state each of its programs takes: the core_* of all tallies. */
void stet_ledger_steps_weigh(struct window *w, struct core *c);

#endif
