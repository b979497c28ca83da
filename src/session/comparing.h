/* How the ranks of a run compared what they compile, and what that took: of all its processes
 * together. `stet explain --format=json` prints it; `stet run` and `stet explain` print a line when
 * ranks could not compare, or when compiles waited for it. */
#ifndef STET_SESSION_COMPARING_H
#define STET_SESSION_COMPARING_H

#include "base/json.h"
#include "ledger/run_load.h"

struct stet_comparing {
    uint64_t processes;                           /* that tried to */
    uint64_t stopped;                             /* those of them that could not, or gave it up */
    int64_t stopped_rank;                         /* of the first of those; -1 when not known */
    struct stet_view why;                         /* of the same; may be empty */
    struct stet_view channel;                     /* of the first process that has one */
    uint64_t compiles, messages, bytes, failures; /* of all processes */
    uint64_t waited_ns, cpu_ns;                   /* the most of one process */
};

/* Borrows from the digest. */
void stet_session_comparing(struct stet_comparing *out, const struct stet_run_digest *d);
/* Appends a line, or nothing if the ranks compared without a delay worth printing. */
void stet_session_comparing_text(struct stet_buf *out, const struct stet_comparing *c,
                                 const char *prefix);
/* Null if no process tried to. */
void stet_session_comparing_json(struct stet_json *j, const struct stet_comparing *c);

#endif
