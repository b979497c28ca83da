/* Buckets for several dimensions. */
#ifndef STET_BUCKETS_SEVERAL_H
#define STET_BUCKETS_SEVERAL_H

#include "buckets/buckets.h"

/* Does a shape fit into a bucket? */
static inline bool stet_buckets_holds(const int64_t *bucket, const int64_t *shape, unsigned rank)
{
    for (unsigned d = 0; d < rank; d++)
        if (bucket[d] < shape[d])
            return false;
    return true;
}

/* Fills the sets of the curve for 1 … most buckets, each with its bound. STET_LIMIT for more than
 * STET_BUCKETS_SHAPES shapes. */
enum stet_rc stet_buckets_several(struct stet_buckets_curve *c, uint32_t most,
                                  struct stet_err *err);

/* Fills the bounds of sets that have their steps. */
enum stet_rc stet_buckets_bounds(struct stet_buckets_curve *c, struct stet_err *err);

#endif
