/* Loads executables before the framework needs them. While the framework still traces, a second
 * thread loads from the store what the last launch of the same command needed. A compile then takes
 * the loaded executable. Executables that are not taken are released to the plugin. */
#ifndef STET_INTERCEPT_AHEAD_H
#define STET_INTERCEPT_AHEAD_H

#include "base/buf.h"
#include "base/hash.h"
#include "intercept/plugin.h"

struct stet_ahead;

/* A loaded executable: the content of its entry, and the plugin's handle; or, without a handle, the
 * plugin's error. */
struct stet_loaded {
    struct stet_ahead *of;
    struct stet_hash key;
    int state;
    struct stet_buf program, executable, fault;
    uint64_t compile_ns; /* the compile time in the entry */
    PJRT_LoadedExecutable *handle;
    bool given_up; /* a compile waited for the load in vain */
};

/* A client was created: reads the list of what to load, and begins. Returns at once. */
void stet_ahead_begin(struct stet_plugin *p, PJRT_Client *client);
/* The executable of this key, if it is there. Waits for a load in progress, as long as a load may
 * take: then it is `stuck`, and must not be tried again. Must be taken or put back. */
struct stet_loaded *stet_ahead_get(struct stet_plugin *p, const PJRT_Client *client,
                                   struct stet_hash key, bool *stuck);
/* The caller now owns the handle, but not `l`. */
void stet_ahead_take(struct stet_loaded *l);
void stet_ahead_put_back(struct stet_loaded *l);
/* This client needed the entry: recorded for the next launch. May write a file. */
void stet_ahead_note(struct stet_plugin *p, const PJRT_Client *client, struct stet_hash key);
/* Call it before the plugin destroys the client. */
void stet_ahead_finish(struct stet_plugin *p, const PJRT_Client *client);
/* At exit: begins nothing more, and waits at most `ms` for what is in progress. */
void stet_ahead_end(int ms);

/* Around fork, as in ask.h. The child has nothing loaded ahead, and ignores its parent's list. */
void stet_ahead_fork_wait(void);
void stet_ahead_fork_prepare(void);
void stet_ahead_fork_parent(void);
void stet_ahead_fork_child(void);

#endif
