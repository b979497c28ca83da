/* XLA's own dumps (--xla_dump_to, as protos): the compiles of clients that live inside the
 * framework and can't be watched at the PJRT C API. */
#ifndef STET_CLI_DUMP_H
#define STET_CLI_DUMP_H

#include "cli/run_env.h"
#include "ledger/run_load.h"

struct stet_shelf;

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
bool stet_dump_scan(struct stet_dump *d, struct stet_run_digest *digest, struct stet_shelf *shelf,
                    bool last);

/* Sets XLA_FLAGS so that dumps go to <folder>/dump, when `wanted` or when the environment says that
 * the command will run on a client inside the framework (JAX_PLATFORMS=cpu, PJRT_DEVICE=CPU). Flags
 * that are there stay; with a dump folder of the user's own that one is used. */
enum stet_rc stet_dump_prepare(struct stet_env *env, const char *folder, bool wanted,
                               struct stet_err *err);
/* After the run: of a folder that is ours only what explains is kept. */
void stet_dump_tidy(const char *folder);

#endif
