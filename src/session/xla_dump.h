/* XLA's own dumps (--xla_dump_to, as protos): the compiles of clients that live inside the
 * framework and can't be watched at the PJRT C API. */
#ifndef STET_SESSION_XLA_DUMP_H
#define STET_SESSION_XLA_DUMP_H

#include "ledger/run_load.h"

struct stet_session_programs;

/* Where a scan has come to. */
struct stet_dump {
    char dir[4096];
    uint64_t *modules; /* numbers of those taken */
    size_t count;
};

void stet_dump_release(struct stet_dump *d);

/* Adds a compile to the digest's only process for each module that was dumped since, in their
 * order, and tells the shelf where its program lies. With `last` also those whose compile did not
 * come back. False when there is no such folder. */
bool stet_dump_scan(struct stet_dump *d, struct stet_run_digest *digest,
                    struct stet_session_programs *shelf, bool last);

#endif
