/* Finds the program that ran out of memory, and the last program of the same function that did fit:
 * in the same process, or else in an earlier run of the same script. */
#ifndef STET_SESSION_EXHAUSTED_PROGRAM_H
#define STET_SESSION_EXHAUSTED_PROGRAM_H

#include "footprint/out_of_memory.h"
#include "ledger/run_folder.h"
#include "ledger/run_load.h"

/* NULL: not known. */
const struct stet_compile_event *stet_exhausted_compile(const struct stet_process_digest *p,
                                                        const struct stet_exhaustion *x,
                                                        const struct stet_oom *o);

/* What a compile's options say about its devices. */
struct stet_exhausted_devices {
    uint32_t count;
    uint64_t memory; /* that the process may use of each; 0: not known */
};

struct stet_exhausted_devices stet_exhausted_devices(const char *folder,
                                                     const struct stet_compile_event *c);

/* The last program of the function `module` before `now` that did fit, in the same process; NULL if
 * there is none. */
const struct stet_compile_event *stet_exhausted_before(const struct stet_process_digest *p,
                                                       const struct stet_compile_event *now,
                                                       struct stet_view module);

/* An earlier run of the same script, perhaps with other arguments, in which that function did fit.
 * The compile points into the digest. */
struct stet_exhausted_earlier {
    struct stet_runs runs;
    struct stet_run_digest digest;
    const struct stet_run *run;
    const struct stet_compile_event *compile;
};

/* Returns false if there is none; then nothing is left to close. */
bool stet_exhausted_earlier_open(struct stet_exhausted_earlier *e,
                                 const struct stet_run_digest *now, const char *folder,
                                 struct stet_view module);
void stet_exhausted_earlier_close(struct stet_exhausted_earlier *e);

#endif
