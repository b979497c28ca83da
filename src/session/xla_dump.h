/* Reads XLA's own dumps (--xla_dump_to, as protos). They show the compiles of clients inside the
 * framework, which cannot be watched at the PJRT C API. The monitor repeats the scan while the run
 * goes on; other callers scan once, with `last`. The caller releases the state at the end. */
#ifndef STET_SESSION_XLA_DUMP_H
#define STET_SESSION_XLA_DUMP_H

#include "ledger/run_load.h"

struct stet_session_programs;

/* The state of a scan. */
struct stet_dump {
    char dir[4096];
    uint64_t *modules; /* numbers of the modules already added */
    size_t count;
};

void stet_dump_release(struct stet_dump *d);

/* Adds a compile to the digest's only process for each module dumped since the last scan, in order,
 * and registers its program in the program cache. With `last`, also adds the modules whose compile
 * did not return. False when the folder does not exist. */
bool stet_dump_scan(struct stet_dump *d, struct stet_run_digest *digest,
                    struct stet_session_programs *shelf, bool last);

#endif
