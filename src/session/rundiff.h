/* Compares two launches. It compares each program of the second run (B) with the nearest one of the
 * first (A), then the software below them, torch.compile's side, and memory. `stet diff` uses it.
 * Release the result before the two runs. */
#ifndef STET_SESSION_RUNDIFF_H
#define STET_SESSION_RUNDIFF_H

#include "session/session.h"

struct stet_rundiff_entry {
    enum stet_cause_thing thing; /* a launch should change one at a time */
    struct stet_view what, from, to, file, function;
    uint32_t line; /* 0: not known */
};

/* The largest temporaries of a function in each run; 0: not known. */
struct stet_rundiff_memory {
    struct stet_view function;
    uint64_t was, is;
};

/* A function whose programs only A has; no program of B came from them. */
struct stet_rundiff_gone {
    struct stet_view function;
    uint32_t programs;
};

enum { STET_RUNDIFF_ALL = -1 };

struct stet_rundiff_side {
    const struct stet_run *run; /* borrowed */
    int64_t rank;               /* only this rank; STET_RUNDIFF_ALL for all */
    struct stet_run_digest digest;
};

struct stet_rundiff {
    struct stet_rundiff_side a, b;
    bool moved[STET_THINGS];
    struct stet_rundiff_entry *items;
    size_t count, room;
    struct stet_rundiff_memory *memory;
    size_t memory_count;
    struct stet_rundiff_gone *gone;
    size_t gone_count;
    struct stet_session x;   /* A is the past, B is compared with it */
    struct stet_arena arena; /* torch.compile's texts */
};

/* Is the name that of a run, not of a program: "latest", an id, a folder with a run.json, or one of
 * these with a rank behind it ("latest@3", "@3")? */
bool stet_rundiff_is_run(const char *name);
/* The rank behind a name, which is cut off; STET_RUNDIFF_ALL if there is none. */
int64_t stet_rundiff_rank(char *name);
/* Both runs must outlive the result. Ranks: of a and b, or STET_RUNDIFF_ALL. After a failure there
 * is nothing to release. */
enum stet_rc stet_rundiff_make(struct stet_rundiff *m, const struct stet_run *a,
                               const struct stet_run *b, const int64_t ranks[2],
                               struct stet_err *err);
void stet_rundiff_release(struct stet_rundiff *m);
/* Returns the number of things that changed. */
unsigned stet_rundiff_moved(const struct stet_rundiff *m);
#endif
