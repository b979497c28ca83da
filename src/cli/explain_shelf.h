/* Captured programs by hash, decoded once and kept while there is room. */
#ifndef STET_CLI_EXPLAIN_SHELF_H
#define STET_CLI_EXPLAIN_SHELF_H

#include "explain/history.h"
#include "ledger/run_load.h"

struct stet_shelf;

/* NULL when out of memory. */
struct stet_shelf *stet_shelf_new(void);
void stet_shelf_free(struct stet_shelf *s);

/* A program that lies elsewhere: its bytes have this hash, its file this name (copied). */
void stet_shelf_place(struct stet_shelf *s, struct stet_hash program, const char *path);
/* The program and the options of a compile, captured in `folder`/programs; what `out` points to
 * stays until a few dozen others were asked for. A zero options hash means none. A file that holds
 * more than the journal says of the program is refused. */
enum stet_rc stet_shelf_open(struct stet_shelf *s, const char *folder,
                             const struct stet_compile_event *c, struct stet_history_side *out,
                             struct stet_err *err);

#endif
