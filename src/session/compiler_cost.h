/* Estimates the processor time that XLA's CPU compiler takes for the programs of a run. */
#ifndef STET_SESSION_COMPILER_COST_H
#define STET_SESSION_COMPILER_COST_H

#include "ledger/run_load.h"

/* Of the programs that the CPU backend planned. Those that XLA's client compiled do not count. */
uint64_t stet_session_compiler_ns(const struct stet_run_digest *d);

#endif
