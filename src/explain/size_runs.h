/* Counts how often each size of a drifting dimension ran, over all programs of its function in the
 * process, and chooses the sizes to pad to. `stet buckets` reads the same numbers from the programs
 * themselves. */
#ifndef STET_EXPLAIN_SIZE_RUNS_H
#define STET_EXPLAIN_SIZE_RUNS_H

#include "explain/bucket_words.h"
#include "explain/history.h"

enum { STET_SIZES_LISTED = 16 };

struct stet_size_runs {
    uint32_t count; /* different sizes */
    /* The sizes, ascending. If there are more than STET_SIZES_LISTED, a further one counts as the
     * next larger one that is listed. */
    int64_t sizes[STET_SIZES_LISTED];
    double runs[STET_SIZES_LISTED];
    uint32_t listed;
    struct stet_bucket_set sets[STET_BUCKET_SETS];
    uint32_t set_count;
};

/* Counts for the dimension that `which`, a change of `f`, is about. False if memory runs out. */
bool stet_size_runs_make(struct stet_size_runs *out, const struct stet_history *h,
                         const struct stet_finding *f, const struct stet_reported_change *which);

#endif
