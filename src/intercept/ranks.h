/* The ranks of a job: either all of them are served a program, or none.
 *
 * A compiler may communicate with its peers while it compiles (sharded autotuning), so a rank that
 * loads while another compiles could leave that one waiting for ever. The ranks that a program runs
 * on agree before any of them continues, through the job's own key-value store, which frameworks
 * offer at client creation. Each puts its vote, the lowest rank puts the decision, and a rank that
 * waits too long puts "compile" in its place. A key is written once, so there is one decision. No
 * collective is used. */
#ifndef STET_INTERCEPT_RANKS_H
#define STET_INTERCEPT_RANKS_H

#include "intercept/plugin.h"
#include "store/entry.h"

/* A client was created, or will be destroyed: what its job offers. */
void stet_ranks_join(uint32_t client, const PJRT_Client_Create_Args *args);
void stet_ranks_leave(uint32_t client);
/* If it has more devices than this process may address, there are other processes; also if the
 * number is unknown. */
bool stet_ranks_span(struct stet_plugin *p, PJRT_Client *client);
/* No program of this client needs the agreement of another rank. */
bool stet_ranks_alone(struct stet_plugin *p, PJRT_Client *client);
/* Can the client's job agree? */
bool stet_ranks_can(uint32_t client);

/* The processes that must agree on a program: those whose devices it runs on. */
struct stet_ranks {
    uint32_t client;
    size_t count;    /* 0: this process alone */
    uint32_t *ranks; /* sorted; in the arena given */
};

/* False if they are not known: then the program may not be served. */
bool stet_ranks_of(struct stet_ranks *r, struct stet_plugin *p, PJRT_Client *client,
                   struct stet_view options, struct stet_arena *a);

/* The decision on a program that this rank can or cannot serve; called once per compile by all that
 * must agree. True: all serve it. */
bool stet_ranks_agree(const struct stet_ranks *r, const struct stet_key_parts *parts, bool have);

/* Called around fork. */
void stet_ranks_fork_prepare(void);
void stet_ranks_fork_done(void);

#endif
