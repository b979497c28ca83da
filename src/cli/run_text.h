/* Runs in words: shared by `run`, `runs` and `show`. */
#ifndef STET_CLI_RUN_TEXT_H
#define STET_CLI_RUN_TEXT_H

#include "base/json.h"
#include "cli/run_watch.h"
#include "ledger/run_folder.h"
#include "ledger/run_load.h"

/* "2026-11-15 06:12:33" in local time; "-" for 0. */
void stet_text_time(struct stet_buf *out, uint64_t wall_ns);
/* "831 ms", "12.4 s", "1 h 12 min". */
void stet_text_duration(struct stet_buf *out, uint64_t ns);
/* "35.2 KB". */
void stet_text_bytes(struct stet_buf *out, uint64_t bytes);
/* A path as one would type it: from the working directory when it lies below, else as it is. */
struct stet_view stet_text_path(struct stet_view path);
/* A function's name, or that nothing told it. */
struct stet_view stet_text_function(struct stet_view name);
/* Appends a line of the user's source as it may be shown: secrets masked, control characters made
 * visible. False when the file cannot be read. */
bool stet_text_source(struct stet_buf *out, struct stet_view file, uint32_t line);
/* "1 compile", "7 compiles". */
void stet_text_count(struct stet_buf *out, uint64_t n, const char *what);
/* For GitHub's workflow commands: %, line ends and, in properties, : and , have a form of their
 * own. */
void stet_text_github(struct stet_buf *out, struct stet_view v, bool property);
/* "running", "exit 0", "signal 9", "cut off". */
void stet_text_outcome(struct stet_buf *out, const struct stet_run *run);

/* "10 compiles (14 ms), 13 executions". */
void stet_text_run_totals(struct stet_buf *out, const struct stet_run_digest *d);
/* What the layer could not do, and records that are lost; nothing when all is well. */
void stet_text_trouble(struct stet_buf *out, const struct stet_run_digest *d);

/* Is the process of a run that did not say how it ended still there? */
bool stet_run_is_alive(const struct stet_run *run);

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
void stet_run_summary(const char *folder, const char *id, const struct stet_watch *watch,
                      const struct stet_run_end *end);
/* `stet show RUN` in both formats. */
void stet_show_run_text(struct stet_buf *out, const struct stet_run *run,
                        const struct stet_run_digest *d, bool colour);
void stet_show_run_json(struct stet_buf *out, const struct stet_run *run,
                        const struct stet_run_digest *d);

#endif
