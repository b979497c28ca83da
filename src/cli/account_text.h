/* Prints an account (session/account.h) as text. `stet explain`, `stet run` and the summary at its
 * end use it. The functions append to the caller's buffer. */
#ifndef STET_CLI_ACCOUNT_TEXT_H
#define STET_CLI_ACCOUNT_TEXT_H

#include "session/account.h"

/* Appends "5 recompiles (waited 1.2 s, compiler 0.9 s)", and how many of them a store served. */
/* "settled at step 3 with 4 programs", as a line. */
void stet_cli_account_programs(struct stet_buf *out, const struct stet_account *a);
void stet_cli_account_lost(struct stet_buf *out, const struct stet_account_tally *t);

struct stet_account_view {
    bool colour, all;
    size_t width; /* of the terminal; 0 does not wrap */
};

enum stet_rc stet_cli_account_text(struct stet_buf *out, const struct stet_account *a,
                                   const struct stet_account_tally *t,
                                   const struct stet_account_view *view, struct stet_err *err);
/* Prints a recompile on standard error while the command runs: a few lines for the first of its
 * cause, one line for the later ones. It is the `say` of a stet_live_tap. */
void stet_cli_account_say(const struct stet_recompile *r, uint64_t times, uint64_t wait_ns);

#endif
