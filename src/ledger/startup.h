/* Where the time went until a process had done its first step. */
#ifndef STET_LEDGER_STARTUP_H
#define STET_LEDGER_STARTUP_H

#include "ledger/run_load.h"

/* In nanoseconds. The parts add up to `total_ns`, unless threads worked at the same time: then
 * `other_ns` is 0. */
struct stet_startup {
    uint64_t total_ns; /* from the start of the process to the end of its first step */
#define PART(name, what) uint64_t name##_ns;
#include "ledger/startup.def"
#undef PART
    uint64_t programs; /* compiled or loaded by then */
    size_t process;    /* of the digest */
};

/* Of the process that took longest, after stet_run_steps. Where steps are not known, the first
 * execution of the program that ran most often stands for the first step. False when there is
 * nothing to say: an older journal, no execution. */
bool stet_ledger_startup(const struct stet_run_digest *d, struct stet_startup *out);

#endif
