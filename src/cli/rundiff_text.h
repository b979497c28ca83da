/* Prints what changed between two launches, as text and as JSON. `stet diff` uses it for runs, and
 * `stet report` for two runs side by side. */
#ifndef STET_CLI_RUNDIFF_TEXT_H
#define STET_CLI_RUNDIFF_TEXT_H

#include "cli/command.h"
#include "ledger/run_folder.h"

struct stet_rundiff_view {
    enum stet_format format;
    bool colour, all;
    int64_t ranks[2]; /* of the two runs; STET_RUNDIFF_ALL for all */
};

/* `stet diff A B` for two runs; returns the exit code. */
int stet_cli_rundiff_print(const char *a, const char *b, const struct stet_rundiff_view *view);
/* Writes the same into a buffer; *moved is true when anything changed. */
enum stet_rc stet_cli_rundiff_write(struct stet_buf *out, const struct stet_run *a,
                                    const struct stet_run *b, const struct stet_rundiff_view *view,
                                    bool *moved, struct stet_err *err);

#endif
