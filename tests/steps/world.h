/* A make-believe training process: programs, buffers whose addresses come back, a step counter. */
#ifndef STET_TEST_WORLD_H
#define STET_TEST_WORLD_H

#include "journal/flow.h"
#include "ledger/steps.h"

enum { WORLD_PROGRAMS = 256, WORLD_LEAVES = 128 };

struct world {
    uint64_t random;
    bool nameless; /* the plugin does not name its programs */
    struct stet_flow flow;
    struct stet_steps *steps;
    uint64_t *order; /* executables, as executed */
    size_t count, room;
    size_t *marks; /* order's length when the script began step k */
    size_t mark_count, mark_room;
    const char *names[WORLD_PROGRAMS];
    size_t programs;
    uintptr_t *freed; /* addresses to be handed out again */
    size_t freed_count, freed_room;
    uintptr_t fresh;
};

/* Some buffers: a pytree's leaves. */
struct leaves {
    const void *at[WORLD_LEAVES];
    size_t n;
};

void world_init(struct world *w, uint64_t seed);
void world_release(struct world *w);
uint64_t world_random(struct world *w, uint64_t below);
bool world_chance(struct world *w, unsigned percent);

/* A compile: executables are numbered from 1. */
uint64_t world_program(struct world *w, const char *name);
/* The script's own counter moves. */
void world_step(struct world *w);

struct leaves world_host(struct world *w, size_t n);
void world_drop(struct world *w, struct leaves *l);
/* Run a program over up to five pytrees (n == 0 ends them). */
struct leaves world_run(struct world *w, uint64_t program, size_t results, const struct leaves *a,
                        const struct leaves *b, const struct leaves *c, const struct leaves *d,
                        const struct leaves *e);
/* The first `n` leaves move to a new tree; the rest stay. */
struct leaves world_split(struct leaves *l, size_t n);
/* Let go of `*old`, put `now` there. */
void world_replace(struct world *w, struct leaves *old, struct leaves now);

/* What the inference says against what the script counted, at every step's begin. */
struct verdict {
    size_t steps, right, null, wrong;
    const char *why;
};
struct verdict world_judge(struct world *w);

/* The kinds of loop; each fills the world. */
struct loop_kind {
    const char *name;
    void (*play)(struct world *w);
    bool must_know; /* else an honest null is as good */
};
extern const struct loop_kind loop_kinds[];
extern const size_t loop_kind_count;

#endif
