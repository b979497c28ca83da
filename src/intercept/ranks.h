/* The ranks that a program runs on, and whether they must be served together.
 *
 * A compiler may communicate with its peers while it compiles (sharded autotuning), so a rank that
 * loads while another compiles could leave that one waiting for ever. Where that may happen, the
 * ranks that a program runs on agree before any of them continues, through a channel of the job
 * (pod.h): either all of them load it, or none. No collective is used. Platforms whose compilers
 * work alone need no agreement (platforms.def). */
#ifndef STET_INTERCEPT_RANKS_H
#define STET_INTERCEPT_RANKS_H

#include "intercept/plugin.h"
#include "store/entry.h"

struct stet_pod_turn;

/* If it has more devices than this process may address, there are other processes; also if the
 * number is unknown. */
bool stet_ranks_span(struct stet_plugin *p, PJRT_Client *client);
/* How many processes the client's devices belong to; 0 if that is not known. */
int64_t stet_ranks_processes(struct stet_plugin *p, PJRT_Client *client);
/* No program of this client needs the agreement of another rank. */
bool stet_ranks_alone(struct stet_plugin *p, PJRT_Client *client);
/* May programs of this client be served, by themselves or after agreeing? */
bool stet_ranks_can(struct stet_plugin *p, PJRT_Client *client);
/* The client will be destroyed. */
void stet_ranks_leave(uint32_t client);

/* Processes, sorted; in the arena given. */
struct stet_ranks {
    size_t count; /* 0: this process alone */
    uint32_t *ranks;
    struct stet_hash options; /* set by stet_ranks_of */
};

/* Compile options without devices: a program of one process has other ones in each. */
struct stet_hash stet_ranks_options(struct stet_view bytes);

/* Those whose devices the program runs on. False if they are not known. */
bool stet_ranks_joint(struct stet_ranks *r, struct stet_plugin *p, PJRT_Client *client,
                      struct stet_view options, struct stet_arena *a);
/* Those that must agree on serving it. False if they are not known: then the program may not be
 * served. */
bool stet_ranks_of(struct stet_ranks *r, struct stet_plugin *p, PJRT_Client *client,
                   struct stet_view options, struct stet_arena *a);

/* The decision on a program that this rank can or cannot serve; called once per compile by all that
 * must agree. True: all serve it. `turn` may be NULL: waiting ends when the ranks are found to
 * differ. */
bool stet_ranks_agree(const struct stet_ranks *r, const struct stet_key_parts *parts, bool have,
                      struct stet_pod_turn *turn);

/* For a job that refuses compiles that differ: waits until all ranks have come with this program,
 * for at most STET_RANKS_WAIT_MS and only as long as all answer. False if one has another. */
bool stet_ranks_confirm(const struct stet_ranks *r, struct stet_hash program,
                        struct stet_pod_turn *turn);

/* Called around fork. */
void stet_ranks_fork_prepare(void);
void stet_ranks_fork_done(void);

#endif
