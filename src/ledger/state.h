/* Where Stet keeps what it learnt. */
#ifndef STET_LEDGER_STATE_H
#define STET_LEDGER_STATE_H

#include "base/err.h"

/* $STET_STATE_DIR, else $XDG_STATE_HOME/stet, else ~/.local/state/stet (the password database says
 * where home is when HOME does not). Runs lie in its folder `runs`. Not made here. The caller frees
 * it with stet_mem_free; NULL with `err` when no home can be found. */
char *stet_ledger_state_dir(struct stet_err *err);

#endif
