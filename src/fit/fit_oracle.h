/* Answers the CPU backend how the real compiler shards results. While a command runs posed as a
 * topology, a result without a sharding of its own gets the one that the compiler would give it;
 * otherwise the next program would be another one than on the real devices. A child process with
 * the compiler listens on a Unix socket for the time of the run; the backend asks by
 * STET_CPU_SHARDINGS (src/backend/api/oracle.c). A question is two sizes of 64 bits, the program
 * and its compile options; the answer is a count and, for each result, a size and a text. */
#ifndef STET_FIT_FIT_ORACLE_H
#define STET_FIT_FIT_ORACLE_H

#include "base/err.h"
#include "warm/topology.h"

#include <stdatomic.h>
#include <sys/types.h>

struct stet_fit_oracle {
    /* Set by the caller. */
    const char *plugin;
    struct stet_warm_topology topology;
    const char *folder, *socket;
    uint64_t limit_ns; /* what one program may take; 0 for no limit */
    /* Set by stet_fit_oracle_start. */
    pid_t pid;
    struct stet_fit_oracle_shared {
        atomic_uint asked, answered;
        _Atomic uint64_t begun_ns; /* when the program at hand began; 0 if there is none */
    } *shared;
};

/* False if there are no answers. What the compiler says about a program is kept in the folder
 * (stet_fit_oracle_kept). */
bool stet_fit_oracle_start(struct stet_fit_oracle *o);
/* Returns whether every question was answered. */
bool stet_fit_oracle_stop(struct stet_fit_oracle *o);

/* The file of a program that was asked about: "phase-<hash>.hlo". */
void stet_fit_oracle_kept(char *out, size_t room, const char *folder, struct stet_view program,
                          struct stet_view options, const char *kind);

#endif
