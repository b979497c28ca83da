/* Computes where the time went until a process had done its first step. It is called on a digest
 * after stet_ledger_run_steps and owns nothing. */
#ifndef STET_LEDGER_STARTUP_H
#define STET_LEDGER_STARTUP_H

#include "ledger/run_load.h"

/* Times in nanoseconds. The parts add up to `total_ns`, unless threads worked at the same time:
 * then `other_ns` is 0. */
struct stet_startup {
    uint64_t total_ns; /* from the start of the process to the end of its first step */
#define PART(name, what) uint64_t name##_ns;
#include "ledger/startup.def"
#undef PART
    uint64_t programs; /* compiled or loaded by then */
    size_t process;    /* of the digest */
};

/* Fills `out` for the process that took longest, after stet_ledger_run_steps. If the steps are not
 * known, the first execution of the program that ran most often replaces the first step. False when
 * nothing is known: an older journal, no execution. */
bool stet_ledger_startup(const struct stet_run_digest *d, struct stet_startup *out);

#endif
