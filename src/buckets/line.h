/* The exact choice of buckets for one dimension. The sizes are sorted, so a set of k buckets splits
 * them into k runs, each padded to its last size. The plan holds the least cost for every number of
 * buckets and the splits that give it. The caller owns the plan; the arrays are borrowed while it
 * is made. */
#ifndef STET_BUCKETS_LINE_H
#define STET_BUCKETS_LINE_H

#include "base/err.h"

#include <stddef.h>

struct stet_buckets_line {
    uint32_t count, most; /* sizes; numbers of buckets that were tried: 1 … most */
    double *least;        /* least[k]: all steps with k buckets, from 1 on */
    uint32_t *splits;     /* for each k, for each i: where the last bucket of the first i begins */
};

/* price[i] is the cost of one step padded to size i, and does not decrease; runs[i] > 0 is how
 * often the size came. Takes time and memory in proportion to count × most. STET_LIMIT if that is
 * more than a gigabyte. On failure there is nothing to release. */
enum stet_rc stet_buckets_line_make(struct stet_buckets_line *out, const double *price,
                                    const double *runs, uint32_t count, uint32_t most,
                                    struct stet_err *err);
void stet_buckets_line_release(struct stet_buckets_line *p);

/* Writes the numbers of the sizes that are the k buckets, ascending. */
void stet_buckets_line_take(const struct stet_buckets_line *p, uint32_t k, uint32_t *buckets);

#endif
