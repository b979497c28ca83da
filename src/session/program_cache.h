/* Captured programs by hash, decoded once and kept while there is room. */
#ifndef STET_SESSION_PROGRAM_CACHE_H
#define STET_SESSION_PROGRAM_CACHE_H

#include "explain/history.h"
#include "ledger/run_load.h"

struct stet_session_programs;

/* NULL when out of memory. */
struct stet_session_programs *stet_session_programs_new(void);
void stet_session_programs_free(struct stet_session_programs *s);

/* A program that lies elsewhere: its bytes have this hash, its file this name (copied). */
void stet_session_programs_place(struct stet_session_programs *s, struct stet_hash program,
                                 const char *path);
/* The program and the options of a compile, captured in `folder`/programs; what `out` points to
 * stays until a few dozen others were asked for. A zero options hash means none. A file that holds
 * more than the journal says of the program is refused. */
enum stet_rc stet_session_programs_open(struct stet_session_programs *s, const char *folder,
                                        const struct stet_compile_event *c,
                                        struct stet_history_side *out, struct stet_err *err);

#endif
