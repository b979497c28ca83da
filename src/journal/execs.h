/* Encodes batches of executions: thousands of (executable, time) pairs in a few hundred bytes. The
 * caller owns all buffers. */
#ifndef STET_JOURNAL_EXECS_H
#define STET_JOURNAL_EXECS_H

#include "base/err.h"
#include "journal/format.h"

struct stet_exec {
    uint64_t time_ns;
    uint64_t executable;
};

#define STET_EXECS_MAX   65536 /* executions of one batch */
#define STET_EXECS_TIMES 256   /* times kept of one batch, at most */

/* Encodes `n` executions in order (a time before its predecessor is set to it). Appends to `order`
 * and `times` and fills `rec` with views of those two; allocates nothing else. */
enum stet_rc stet_execs_encode(struct stet_rec_execs *rec, struct stet_buf *order,
                               struct stet_buf *times, const struct stet_exec *execs, size_t n);

/* Decodes into `out`, where the caller provides room for rec->count, at most STET_EXECS_MAX. */
enum stet_rc stet_execs_decode(const struct stet_rec_execs *rec, struct stet_exec *out, size_t room,
                               struct stet_err *err);

#endif
