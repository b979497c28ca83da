/* Executables before they are asked for: while the framework still traces, a thread of ours loads
 * from the store what the last launch of the same command loaded. A compile then takes what is
 * there; what nobody takes is given back to the plugin. */
#ifndef STET_INTERCEPT_AHEAD_H
#define STET_INTERCEPT_AHEAD_H

#include "base/buf.h"
#include "base/hash.h"
#include "intercept/plugin.h"

struct stet_ahead;

/* One that was loaded: what its entry held, and the plugin's handle; or, without a handle, what the
 * plugin found wrong with it. */
struct stet_loaded {
    struct stet_ahead *of;
    struct stet_hash key;
    int state;
    struct stet_buf program, executable, fault;
    PJRT_LoadedExecutable *handle;
    bool given_up; /* somebody waited for the load in vain */
};

/* A client was made: reads what to load, and begins. Returns at once. */
void stet_ahead_begin(struct stet_plugin *p, PJRT_Client *client);
/* The executable of this key, if it is there; one that is being loaded is waited for, as long as a
 * load may take: then it is `stuck`, and must not be tried again. To be taken or put back. */
struct stet_loaded *stet_ahead_get(struct stet_plugin *p, const PJRT_Client *client,
                                   struct stet_hash key, bool *stuck);
/* The handle is the caller's now; `l` is not. */
void stet_ahead_take(struct stet_loaded *l);
void stet_ahead_put_back(struct stet_loaded *l);
/* This client asked for the entry: for the next launch. May write a file. */
void stet_ahead_note(struct stet_plugin *p, const PJRT_Client *client, struct stet_hash key);
/* Before the plugin is told to do away with the client. */
void stet_ahead_finish(struct stet_plugin *p, const PJRT_Client *client);
/* At exit: nothing is begun any more, and what is under way is waited for, `ms` at most. */
void stet_ahead_end(int ms);

/* Around fork, as in ask.h. The child has nothing ahead, and leaves its parent's list alone. */
void stet_ahead_fork_wait(void);
void stet_ahead_fork_prepare(void);
void stet_ahead_fork_parent(void);
void stet_ahead_fork_child(void);

#endif
