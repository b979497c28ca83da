/* Prints what each process of a run does, for `stet ranks` and `stet run --hang-after`. */
#ifndef STET_CLI_RANKS_TEXT_H
#define STET_CLI_RANKS_TEXT_H

#include "monitor/rank_state.h"

void stet_cli_ranks_text(struct stet_buf *out, const struct stet_monitor_attach *a,
                         const struct stet_rank_states *s);

/* Watches a run of this process for progress: executions, compiles, processes. */
struct stet_hang;

/* `after_s` seconds without progress are a hang. NULL when memory is short. */
struct stet_hang *stet_cli_hang_new(const char *run, unsigned after_s);
/* Call it several times a second. Prints on standard error once for each hang. */
void stet_cli_hang_poll(struct stet_hang *h);
void stet_cli_hang_free(struct stet_hang *h);

#endif
