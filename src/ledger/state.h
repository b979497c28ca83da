/* Finds the folder in which Stet keeps its runs and the ledger. Every command that reads or creates
 * runs calls it. */
#ifndef STET_LEDGER_STATE_H
#define STET_LEDGER_STATE_H

#include "base/err.h"

/* $STET_STATE_DIR, else $XDG_STATE_HOME/stet, else ~/.local/state/stet (home is from the password
 * database if HOME is not set). Runs are in its folder `runs`. It is not created here. The caller
 * frees it with stet_mem_free; NULL with `err` if no home is found. */
char *stet_ledger_state_dir(struct stet_err *err);

#endif
