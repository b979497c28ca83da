/* Prints what `stet buckets` found, as text. */
#ifndef STET_CLI_BUCKETS_TEXT_H
#define STET_CLI_BUCKETS_TEXT_H

#include "base/buf.h"
#include "session/run_sizes.h"

/* A dimension, or several that vary independently, with its curve. */
struct stet_cli_sizes {
    const struct stet_size_function *function; /* NULL: lengths from a file alone */
    const char *lengths;                       /* the file; NULL: the sizes are the run's */
    struct stet_buckets_curve curve;
    bool as_came; /* not rounded up by --multiple */
    bool has_today;
    struct stet_buckets_set today;
};

/* "dimension 1 of tokens of train_step", or the file's name. */
void stet_cli_sizes_name(struct stet_buf *out, const struct stet_cli_sizes *s);
void stet_cli_sizes_text(struct stet_buf *out, struct stet_cli_sizes *s);
/* Does a set cost at least 5 % less than today's? */
bool stet_cli_sizes_gain(const struct stet_cli_sizes *s);

#endif
