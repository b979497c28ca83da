/* Lifting in the layer (STET_LIFT): the second program of a family is compiled once with its values
 * as arguments, and every further program of the family is served by that executable.
 *
 * The framework gets a handle of ours, a "lifted executable", which behaves like an executable of
 * the plain program. Its questions are answered by the plain executable of the family's first
 * program; its executions run the lifted program with the values added. The first execution is
 * compared with the plain executable. Any doubt leads to a plain compile, and the family is not
 * lifted any more.
 *
 * With a store, a family is remembered: the next run loads its first program and its lifted program
 * and lifts from the first program on (lift_recall.c). */
#ifndef STET_INTERCEPT_LIFTING_H
#define STET_INTERCEPT_LIFTING_H

#include "base/hash.h"
#include "intercept/plugin.h"
#include "intercept/reading.h"

struct stet_lift_candidate;
struct stet_pending_write;
struct stet_lifted;

/* The index of a compile that the journal does not record. */
#define STET_LIFTING_NO_COMPILE UINT64_MAX

/* A lifted program that the plugin compiled and that is to be stored, if `keep` is not NULL. */
struct stet_lift_pending {
    struct stet_pending_write *keep;
    PJRT_LoadedExecutable *loaded;
    struct stet_hash entry, bytes, program; /* as in struct stet_question */
};

/* One compile and lifting; on the caller's stack. */
struct stet_lifting {
    struct stet_lift_candidate *candidate; /* to become the first program of a family */
    bool served;                           /* args->executable is a lifted executable */
    bool compiled;                         /* ...for which the plugin compiled a lifted program */
    uint64_t plugin_ns;
    uint64_t instead_ns;              /* how long compiling the family's first program took */
    uint64_t index;                   /* of the compile, or STET_LIFTING_NO_COMPILE */
    struct stet_lift_pending pending; /* adopted by the caller */
};

/* Reads STET_LIFT. */
void stet_intercept_lift_init(void);
bool stet_intercept_lift_on(void);

/* Is a program of this size examined? Then it is read from a copy of its bytes. */
bool stet_intercept_lift_wants(size_t bytes);

/* True if args->executable is a lifted executable and the plugin need not compile. Otherwise the
 * caller compiles, and must call stet_intercept_lift_end with the result. `reading` is of
 * args->program and outlives `l`; the family of a first program takes what is in it. */
bool stet_intercept_lift_try(struct stet_lifting *l, struct stet_plugin *p,
                             PJRT_Client_Compile_Args *args, struct stet_reading *reading,
                             uint64_t index);
/* `loaded` is what the plugin compiled for the plain program in `compile_ns`, NULL if it failed;
 * `entry` is its key in the store, zero if it is not stored. */
void stet_intercept_lift_end(struct stet_lifting *l, struct stet_plugin *p,
                             PJRT_LoadedExecutable *loaded, uint64_t compile_ns,
                             struct stet_hash entry);

/* The framework destroys or deletes an executable of the plugin: true if a family needs it, so that
 * the plugin must not do it yet. */
bool stet_intercept_lift_keeps(struct stet_plugin *p, PJRT_LoadedExecutable *loaded,
                               bool destroyed);
/* Did the framework delete an executable that a family kept? */
bool stet_intercept_lift_deleted(const PJRT_LoadedExecutable *loaded);
/* Before a client is destroyed: nothing of ours may outlive it. */
void stet_intercept_lift_client_gone(struct stet_plugin *p, const PJRT_Client *client);

/* At exit: no thread of lifting calls the plugin afterwards. */
void stet_intercept_lift_leave(void);

/* Around fork: the first before any lock is taken. */
void stet_intercept_lift_fork_wait(void);
void stet_intercept_lift_fork_prepare(void);
void stet_intercept_lift_fork_parent(void);
void stet_intercept_lift_fork_child(void);

/* Are these the bytes of a lifted executable? They are loaded by the second function, also when
 * lifting is off. */
bool stet_intercept_lift_is_envelope(const PJRT_Executable_DeserializeAndLoad_Args *args);
PJRT_Error *stet_intercept_lift_load(struct stet_plugin *p,
                                     PJRT_Executable_DeserializeAndLoad_Args *args);

/* ---- lifted executables ---- */

enum { STET_LIFTED_MAX = 4096 };

/* A handle is the address of its slot here. */
extern struct stet_lifted *stet_intercept_lifted_pool[STET_LIFTED_MAX];

/* Is this handle one of ours? It is asked on every execution. */
static inline bool stet_intercept_lifted_is(const void *handle)
{
    return (uintptr_t)handle - (uintptr_t)stet_intercept_lifted_pool <
           sizeof stet_intercept_lifted_pool;
}

PJRT_Error *stet_intercept_lifted_execute(struct stet_plugin *p,
                                          PJRT_LoadedExecutable_Execute_Args *args);
/* The plugin's own executable that answers for a handle: itself, if it is not ours. */
PJRT_LoadedExecutable *stet_intercept_lifted_plain(PJRT_LoadedExecutable *handle);
void stet_intercept_lifted_destroy(struct stet_plugin *p, PJRT_LoadedExecutable *handle);
void stet_intercept_lifted_delete(PJRT_LoadedExecutable *handle);
/* The framework destroys an executable that it got from a loaded one, perhaps from a lifted one. */
void stet_intercept_lifted_executable_gone(const PJRT_Executable *executable);

#endif
