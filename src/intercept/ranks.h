/* The ranks of a job: all of them are served a program, or none.
 *
 * A compiler may talk to its peers while it compiles (sharded autotuning), so a rank that loads
 * while another compiles would leave that one waiting for ever. The ranks that a program runs on
 * agree before any of them goes on, through the job's own key-value store, which frameworks offer
 * at client creation: each puts its vote, the lowest rank puts the decision, and whoever waits too
 * long puts "compile" in its place. A key is written once, so there is one decision. No collective
 * is ever used. */
#ifndef STET_INTERCEPT_RANKS_H
#define STET_INTERCEPT_RANKS_H

#include "intercept/plugin.h"
#include "store/entry.h"

/* A client was made, or goes: what its job offers. */
void stet_ranks_join(uint32_t client, const PJRT_Client_Create_Args *args);
void stet_ranks_leave(uint32_t client);
/* More devices than this process may address means other processes; so does not being told. */
bool stet_ranks_span(struct stet_plugin *p, PJRT_Client *client);
/* No program of this client needs the word of another rank. */
bool stet_ranks_alone(struct stet_plugin *p, PJRT_Client *client);
/* Whether the client's job can agree. */
bool stet_ranks_can(uint32_t client);

/* Who must agree on a program: the processes whose devices it runs on. */
struct stet_ranks {
    uint32_t client;
    size_t count;    /* 0: this process alone */
    uint32_t *ranks; /* sorted; in the arena given */
};

/* False when it can't be told: then it may not be served. */
bool stet_ranks_of(struct stet_ranks *r, struct stet_plugin *p, PJRT_Client *client,
                   struct stet_view options, struct stet_arena *a);

/* The decision on a program that this rank could serve, or not; called once a compile by all that
 * must agree. True: all serve it. */
bool stet_ranks_agree(const struct stet_ranks *r, const struct stet_key_parts *parts, bool have);

/* Around fork. */
void stet_ranks_fork_prepare(void);
void stet_ranks_fork_done(void);

#endif
