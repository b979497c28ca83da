/* Proves that a command's executables reload: runs it twice under `stet run` with one store, and
 * counts what the second launch loaded back. Release the proof even after a failure. */
#ifndef STET_LAUNCH_PROVE_H
#define STET_LAUNCH_PROVE_H

#include "ledger/run_load.h"
#include "store/store.h"

/* One of the two launches. */
struct stet_proof_run {
    struct stet_run_digest digest;
    uint64_t programs, reloaded, ns;
};

struct stet_proof {
    struct stet_proof_run cold, warm;
    bool cpu;                /* on the embedded CPU backend */
    char work[32];           /* a temporary folder with the state of both launches */
    struct stet_store store; /* that both use */
};

/* `store` may be NULL: one in the temporary folder, which is empty. */
enum stet_rc stet_launch_prove(struct stet_proof *p, const char *store, bool cpu, char **command,
                               struct stet_err *err);
void stet_launch_prove_release(struct stet_proof *p);

#endif
