/* Queries that may take a plugin milliseconds: the memory that a program needs, and its serialised
 * form. They run asynchronously, on another thread than the compile, and never on a destroyed
 * object. */
#ifndef STET_INTERCEPT_ASK_H
#define STET_INTERCEPT_ASK_H

#include "intercept/plugin.h"
#include "intercept/reload.h"

/* Exactly one of `loaded` and `executable` is given. */
struct stet_question {
    struct stet_question *next;
    struct stet_plugin *plugin;
    PJRT_Client *client; /* may be NULL */
    PJRT_LoadedExecutable *loaded;
    PJRT_Executable *executable;
    uint64_t index;                  /* of the compile */
    uint32_t id;                     /* of the executable */
    struct stet_hash used;           /* the store's entry it was loaded from; zero for none */
    struct stet_hash entry;          /* its key in the store, now or later; zero for none */
    struct stet_hash bytes, program; /* hash of the program's bytes, to be recorded; zero for
                                      * none */
    struct stet_keeping *keep;       /* adopted; NULL if it is not to be stored */
};

/* Runs the query soon, on a second thread; the query is copied. */
void stet_ask_memory(const struct stet_question *q);
/* Call it before the plugin destroys `handle` (a client or an executable of either kind). Waits for
 * a query in progress about it, and runs the queued ones now. */
void stet_ask_finish(struct stet_plugin *p, const void *handle);
/* At exit: runs the queued queries within `ms`, and drops the rest. */
void stet_ask_end(int ms);

/* Around fork: the first before any lock is taken, the second as the last. In the child no query is
 * left. */
void stet_ask_fork_wait(void);
void stet_ask_fork_prepare(void);
void stet_ask_fork_parent(void);
void stet_ask_fork_child(void);

#endif
