/* Reads sizes from a text: one a line, or a size and how often it came. Sizes of several dimensions
 * are written 8x512. Blank lines and lines that begin with # are skipped. */
#ifndef STET_BUCKETS_LENGTHS_H
#define STET_BUCKETS_LENGTHS_H

#include "base/view.h"
#include "buckets/buckets.h"

struct stet_buckets_lengths {
    struct stet_buckets_shape *shapes;
    size_t count, room;
    unsigned rank;
};

/* Messages are "FILE:LINE: what". On failure there is nothing to release. */
enum stet_rc stet_buckets_lengths_parse(struct stet_buckets_lengths *out, struct stet_view text,
                                        const char *file, struct stet_err *err);
void stet_buckets_lengths_release(struct stet_buckets_lengths *l);

/* Parses "16,32,64" or "8x512,8x1024" into shapes; `what` names it in messages. */
enum stet_rc stet_buckets_lengths_list(struct stet_buckets_lengths *out, struct stet_view text,
                                       const char *what, struct stet_err *err);

#endif
