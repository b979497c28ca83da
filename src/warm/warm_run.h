/* A whole warm-up: loads the runs, compiles their programs in child processes, and reads what the
 * children recorded. Release it even after a failure. */
#ifndef STET_WARM_WARM_RUN_H
#define STET_WARM_WARM_RUN_H

#include "warm/warm.h"

#include <limits.h>

struct stet_warm_options {
    const char *topology, *target, *plugin;      /* as in the plan; NULL: the run's own */
    const char *store;                           /* NULL: the default one */
    unsigned jobs;                               /* child processes at a time */
    const struct stet_warm_inspector *inspector; /* NULL for none */
    const char *logs;                            /* as in the plan */
    uint64_t limit_ns;                           /* likewise */
};

struct stet_warm_run {
    struct stet_warm_plan plan;
    struct stet_warm_runs ran;
    struct stet_run_digest did; /* what the children recorded */
    uint64_t wall_ns;
    char layer[PATH_MAX],
        folder[32]; /* the folder of the children's journals, removed at the end */
};

/* How an item ended. */
enum stet_warm_end {
    STET_WARM_END_KEPT,
    STET_WARM_END_PRESENT, /* the store had it */
    STET_WARM_END_NOT_KEPT,
    STET_WARM_END_NOT_CAPTURED,
    STET_WARM_END_NO_PLUGIN,
    STET_WARM_END_FAILED,
};

enum stet_rc stet_warm_run(struct stet_warm_run *w, const char *name,
                           const struct stet_warm_options *o, struct stet_err *err);
void stet_warm_run_release(struct stet_warm_run *w);

/* Returns the record of an item's compile, or NULL. */
const struct stet_compile_event *stet_warm_run_event(const struct stet_warm_run *w,
                                                     const struct stet_warm_item *i);
enum stet_warm_end stet_warm_run_end(const struct stet_warm_item *i,
                                     const struct stet_compile_event *c);
/* Returns the known remedy for a compiler's message, or NULL. */
const char *stet_warm_run_advice(const char *detail);
/* Counts the items from `from` to `to` that failed for the same reason as `i`. */
size_t stet_warm_run_alike(const struct stet_warm_item *i, const struct stet_warm_item *from,
                           const struct stet_warm_item *to);

#endif
