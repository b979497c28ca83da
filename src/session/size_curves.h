/* The best sizes to pad to, for every function of some runs or for a file of lengths. `stet
 * buckets` makes them and prints them. They own everything but the wish; release them even after a
 * failure. */
#ifndef STET_SESSION_SIZE_CURVES_H
#define STET_SESSION_SIZE_CURVES_H

#include "buckets/lengths.h"
#include "session/run_sizes.h"

struct stet_size_curves_wish {
    char *const *runs; /* names; none, and no lengths: the latest run */
    int run_count;
    const char *lengths;  /* a file of lengths, "-": standard input; NULL: the sizes of the runs */
    const char *today;    /* "128,256,512": the buckets used today; NULL: the sizes of the runs */
    const char *function; /* this function alone, or NULL */
    struct stet_buckets_wish buckets;
    double repeat; /* how often the sizes come before programs are compiled again */
    bool has_cost; /* the wish has costs; otherwise those of the run are taken */
};

/* A dimension, or several that vary independently, with its curve. */
struct stet_size_curve {
    const struct stet_size_function *function; /* NULL: lengths from a file alone */
    const char *lengths;                       /* the file; NULL: the sizes are the run's */
    struct stet_buckets_curve curve;
    bool as_came; /* not rounded up to multiples */
    bool has_today;
    struct stet_buckets_set today;
};

struct stet_size_curves {
    const struct stet_size_curves_wish *o;
    struct stet_run_sizes sizes;
    struct stet_buckets_lengths lengths, today;
    struct stet_size_curve *items;
    size_t count;
    const char *run; /* the last one's id */
};

enum stet_rc stet_session_curves_make(struct stet_size_curves *w,
                                      const struct stet_size_curves_wish *o, struct stet_err *err);
void stet_session_curves_release(struct stet_size_curves *w);
/* Does a set cost at least 5 % less than today's? */
bool stet_session_curve_gains(const struct stet_size_curve *c);

#endif
