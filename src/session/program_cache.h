/* A cache of captured programs by hash. A program is decoded when it is first opened, and the least
 * recently used ones are dropped when the cache is full. The cache owns the programs; callers
 * borrow them. */
#ifndef STET_SESSION_PROGRAM_CACHE_H
#define STET_SESSION_PROGRAM_CACHE_H

#include "explain/history.h"
#include "ledger/run_load.h"

struct stet_session_programs;

/* NULL when out of memory. */
struct stet_session_programs *stet_session_programs_new(void);
void stet_session_programs_free(struct stet_session_programs *s);

/* Registers a program outside the run folder: the hash of its bytes and the name of its file
 * (copied). */
void stet_session_programs_place(struct stet_session_programs *s, struct stet_hash program,
                                 const char *path);
/* Opens the program and the options of a compile, captured in `folder`/programs. What `out` points
 * to is valid until a few dozen other programs have been opened. A zero options hash means no
 * options. A file with more bytes than the journal has for the program is refused. */
enum stet_rc stet_session_programs_open(struct stet_session_programs *s, const char *folder,
                                        const struct stet_compile_event *c,
                                        struct stet_history_side *out, struct stet_err *err);

#endif
