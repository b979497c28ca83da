/* What may take a plugin milliseconds: how much memory a program needs, and its serialised form. It
 * is asked behind the back of the thread that compiled, and never of something that is gone. */
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
    struct stet_hash entry;          /* that it has, or will have, in the store; zero for none */
    struct stet_hash bytes, program; /* bytes of which program, to be remembered; zero for none */
    struct stet_pending_write *keep; /* adopted; NULL when the store does not want it */
};

/* Asks soon, on a thread of ours; the question is copied. */
void stet_ask_memory(const struct stet_question *q);
/* Before the plugin is told to do away with `handle` (a client or an executable of either kind):
 * what is being asked about it is waited for, what was to be asked is asked now. */
void stet_ask_finish(struct stet_plugin *p, const void *handle);
/* At exit: what is to be asked is asked within `ms`, or never. */
void stet_ask_end(int ms);

/* Around fork: the first before any lock is taken, the second as the last. In the child nothing is
 * left to ask. */
void stet_ask_fork_wait(void);
void stet_ask_fork_prepare(void);
void stet_ask_fork_parent(void);
void stet_ask_fork_child(void);

#endif
