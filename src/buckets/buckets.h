/* Chooses the sizes that arrays are padded to, so that steps and compiles cost least together. It
 * works on numbers alone: shapes with how often each came, and what steps and programs cost. The
 * commands, explain and the report use it. */
#ifndef STET_BUCKETS_BUCKETS_H
#define STET_BUCKETS_BUCKETS_H

#include "base/arena.h"
#include "base/err.h"
#include "buckets/step_cost.h"

enum {
    STET_BUCKETS_RANK = 4,     /* dimensions that vary independently */
    STET_BUCKETS_SHAPES = 512, /* shapes of several dimensions */
    STET_BUCKETS_MOST = 32,    /* programs, unless the caller asks for more */
};

/* The sizes of the dimensions that vary, and how often they came together. */
struct stet_buckets_shape {
    int64_t dims[STET_BUCKETS_RANK];
    double runs;
};

/* A set of buckets, and its cost. */
struct stet_buckets_set {
    uint32_t count;
    const int64_t *dims; /* count × rank, by elements */
    double steps;        /* the cost of all steps, padded to these */
    double bound;        /* no set of as many buckets has cheaper steps */
    double total;        /* steps and programs together */
    double padding;      /* 0 … 1: the fraction of the computed elements that is padding */
    uint32_t beyond;     /* shapes that no bucket holds; each counts as one more program */
};

/* The best set for each number of programs. */
struct stet_buckets_curve {
    struct stet_arena arena;
    unsigned rank;
    struct stet_buckets_shape *shapes; /* different ones, by elements */
    uint32_t shape_count;
    double runs;                   /* of all shapes */
    double used;                   /* elements before padding */
    double unpadded;               /* the cost of all steps before padding */
    struct stet_buckets_set *sets; /* sets[k - 1] has k buckets */
    uint32_t count, best;          /* best: the number of a set */
    struct stet_buckets_cost cost;
};

struct stet_buckets_wish {
    struct stet_buckets_cost cost;
    uint32_t most;    /* programs to try; 0: STET_BUCKETS_MOST */
    uint32_t exactly; /* programs of the best set; 0: decide */
    int64_t multiple; /* buckets are multiples of this; 0 or 1: any */
};

/* Shapes may repeat and come in any order; sizes and runs are at least 1. In one dimension every
 * set is the best one. In several, `steps` is what a heuristic reached and `bound` is proven.
 * Without seconds, the best set is the smallest that pads less than 5 %. On failure there is
 * nothing to release. */
enum stet_rc stet_buckets_make(struct stet_buckets_curve *out,
                               const struct stet_buckets_shape *shapes, size_t count, unsigned rank,
                               const struct stet_buckets_wish *wish, struct stet_err *err);
void stet_buckets_release(struct stet_buckets_curve *c);

/* Prices a set that is in use: count × rank sizes, in any order. Its list is in the curve's arena;
 * NULL dims if memory runs out. */
struct stet_buckets_set stet_buckets_price(struct stet_buckets_curve *c, const int64_t *dims,
                                           uint32_t count);

/* Powers of two up to the largest size, from the one that holds the smallest. One dimension. */
struct stet_buckets_set stet_buckets_powers(struct stet_buckets_curve *c);

/* What the sizes of one dimension look like. */
enum stet_buckets_form {
    STET_BUCKETS_ANY,
    STET_BUCKETS_POWERS,    /* powers of two: they are buckets already */
    STET_BUCKETS_MULTIPLES, /* all multiples of a number: `step` */
};

enum stet_buckets_form stet_buckets_form(const struct stet_buckets_curve *c, int64_t *step);

#endif
