/* Chooses the sizes to pad to, from the sizes seen and how often each ran. The fix of a shape that
 * drifts and its advice use it. It allocates nothing that the caller must free. */
#ifndef STET_EXPLAIN_BUCKET_WORDS_H
#define STET_EXPLAIN_BUCKET_WORDS_H

#include "base/buf.h"
#include "buckets/buckets.h"

enum { STET_BUCKET_SETS = 3 };

struct stet_bucket_set {
    int64_t sizes[STET_BUCKET_SETS];
    uint32_t count;
    double padding; /* 0 … 1: fraction of everything that is computed */
};

/* Makes sets of one, two and three of the sizes seen, until one pads less than 5 %; returns the
 * number of sets. The shapes have one dimension and come in any order. */
uint32_t stet_explain_buckets(struct stet_bucket_set out[STET_BUCKET_SETS],
                              const struct stet_buckets_shape *shapes, uint32_t count);

/* Appends "512 alone covers them with 41 % padding; 128 and 512 with 17 %". */
void stet_explain_buckets_text(struct stet_buf *out, const struct stet_bucket_set *sets,
                               uint32_t count);

#endif
