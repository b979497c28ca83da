/* This process as one rank of a job: finds its place and a channel when a client is made, and runs
 * the thread that compares compiles with those of the other ranks (pod/member.h).
 *
 * A compile never waits for it, unless the user asked for compiles that differ to be refused
 * (STET_ON_DIVERGENCE=fail); then it waits for a bounded time. Without other ranks nothing here
 * does anything. */
#ifndef STET_INTERCEPT_POD_H
#define STET_INTERCEPT_POD_H

#include "intercept/plugin.h"
#include "intercept/reading.h"
#include "pod/channel.h"

/* One compile that is compared; shared by the compile's thread, the writer and the pod's thread. */
struct stet_pod_turn;

/* A client was made, or will be destroyed. The second returns when its key-value store is not used
 * any more. */
void stet_intercept_pod_join(struct stet_plugin *p, PJRT_Client *client, uint32_t id,
                             const PJRT_Client_Create_Args *args);
void stet_intercept_pod_leave(uint32_t id);
/* Is this process one of several? */
bool stet_intercept_pod_is_on(void);
/* Is there a channel that this job alone has, and all of its ranks? Waits until it is chosen. */
bool stet_intercept_pod_may_agree(void);
/* This process's rank as the job's channel knows it, and how many there are; -1 and 0 without a
 * job. */
int64_t stet_intercept_pod_rank(void);
int64_t stet_intercept_pod_world(void);

/* A compile begins. NULL if it is not compared. */
struct stet_pod_turn *stet_intercept_pod_begin(struct stet_plugin *p, PJRT_Client *client,
                                               struct stet_reading *reading,
                                               struct stet_view options, uint64_t index);
/* It ended; `executable` is its id, or 0. Frees the turn. NULL does nothing. */
void stet_intercept_pod_end(struct stet_pod_turn *t, uint32_t executable);
/* For a thread that may outlive the compile. NULL does nothing. */
struct stet_pod_turn *stet_intercept_pod_hold(struct stet_pod_turn *t);
void stet_intercept_pod_drop(struct stet_pod_turn *t);
/* If compiles that differ are refused: waits for the other ranks, and returns the error. NULL: go
 * on. */
PJRT_Error *stet_intercept_pod_refuse(struct stet_pod_turn *t);
/* True if another rank compiles something else in its place. Does not wait. */
bool stet_intercept_pod_differs(struct stet_pod_turn *t);
/* The framework loaded an executable from a cache of its own. */
void stet_intercept_pod_loaded(void);
/* Does it run on the devices of several processes? */
bool stet_intercept_pod_is_joint(uint32_t executable);
/* On the writer thread: an executable was started. */
void stet_intercept_pod_ran(uint64_t executable);
/* Time that compiles waited for other ranks. */
void stet_intercept_pod_waited(uint64_t ns);
/* Where the thread that last waited for a compile has its frames. */
void stet_intercept_pod_thread(const void *state, const void *code_type);

/* The channel of the job, for other questions; NULL if there is none that reaches so far. Valid
 * until the client is destroyed: call stet_intercept_pod_put_back after each use. */
struct stet_pod_channel *stet_intercept_pod_channel(enum stet_pod_reach least);
void stet_intercept_pod_put_back(void);

/* Starts the thread; with the lock of pod.c held. */
void stet_intercept_pod_start(void);
/* No thread of ours uses the channel from here on; waits up to `ms`. */
void stet_intercept_pod_finish(int ms);
void stet_intercept_pod_fork_prepare(void);
void stet_intercept_pod_fork_done(void);
void stet_intercept_pod_fork_child(void);

#endif
