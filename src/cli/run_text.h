/* Runs in words: shared by `run`, `runs` and `show`. */
#ifndef STET_CLI_RUN_TEXT_H
#define STET_CLI_RUN_TEXT_H

#include "base/json.h"
#include "launch/watch.h"
#include "ledger/run_folder.h"
#include "ledger/run_load.h"

/* "10 compiles (14 ms), 13 executions". */
void stet_cli_run_totals(struct stet_buf *out, const struct stet_run_digest *d);
/* What the layer could not do, and records that are lost; nothing when all is well. */
void stet_cli_run_trouble(struct stet_buf *out, const struct stet_run_digest *d);

/* What to do when a run had nothing to watch. */
#define STET_UNWATCHED                                                                             \
    "a framework on its own CPU client is not seen: run it with `stet run --cpu -- …`, or set "    \
    "JAX_PLATFORMS=cpu before `stet run` (XLA's dumps are read then)"

/* How a run was asked for and how it ended. */
struct stet_run_end {
    bool cpu;   /* --cpu was given */
    bool torch; /* torch.compile was seen */
    int status; /* of the command, as waitpid gives it */
};

/* What `stet run` says on standard error when the command has ended. */
void stet_cli_run_summary(const char *folder, const char *id, const struct stet_launch_watch *watch,
                          const struct stet_run_end *end);
/* `stet show RUN`. */
void stet_cli_show_run_text(struct stet_buf *out, const struct stet_run *run,
                            const struct stet_run_digest *d, bool colour);
#endif
