/* Prints runs as text, for `run`, `runs` and `show`. The functions append to the caller's
 * buffer. */
#ifndef STET_CLI_RUN_TEXT_H
#define STET_CLI_RUN_TEXT_H

#include "base/json.h"
#include "launch/watch.h"
#include "ledger/run_folder.h"
#include "ledger/run_load.h"

/* Appends "10 compiles (14 ms), 13 executions". */
void stet_cli_run_totals(struct stet_buf *out, const struct stet_run_digest *d);
/* Appends what the layer could not do and which records are lost; nothing when there is neither. */
void stet_cli_run_trouble(struct stet_buf *out, const struct stet_run_digest *d);

/* What to do when nothing of a run could be watched. */
#define STET_UNWATCHED                                                                             \
    "a framework on its own CPU client is not seen: run it with `stet run --cpu -- …`, or set "    \
    "JAX_PLATFORMS=cpu before `stet run` (XLA's dumps are read then)"

/* The options and the end of a run. */
struct stet_run_end {
    bool cpu;   /* --cpu was given */
    bool zeros; /* --zeros was given */
    bool brief; /* print the totals and what went wrong, no causes */
    bool torch; /* torch.compile was seen */
    int status; /* of the command, as waitpid gives it */
};

/* Prints the summary of `stet run` on standard error when the command has ended. */
void stet_cli_run_summary(const char *folder, const char *id, const struct stet_launch_watch *watch,
                          const struct stet_run_end *end);
/* `stet show RUN`. */
void stet_cli_show_run_text(struct stet_buf *out, const struct stet_run *run,
                            const struct stet_run_digest *d, bool colour);
#endif
