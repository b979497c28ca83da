/* The agent, asked when the store of this host has no entry. The layer knows a Unix socket and
 * nothing of what lies behind it. */
#ifndef STET_INTERCEPT_REMOTE_H
#define STET_INTERCEPT_REMOTE_H

#include "base/hash.h"
#include "journal/vocabulary.h"

/* One question to the agent, and what came of it. Zeroed: none was asked. */
struct stet_remote {
    unsigned lease; /* not 0: others wait for this compile; ends with kept or failed */
    unsigned line;  /* not 0: the agent waits to hear of what it found; ends with took or refuse */
    enum stet_agent_answer answer;
    bool once;        /* set before asking: the store is a folder for this one load */
    char tier[16];    /* found: where it came from */
    bool same_host;   /* found: another process of this host compiled it */
    bool aside;       /* found: in STET_STORE_ASIDE, since no trusted key signed it */
    uint64_t wait_ns; /* what asking took, waiting for another's compile included */
};

/* STET_AGENT, STET_AGENT_WAIT and STET_AGENT_FLIGHT, once. */
void stet_remote_init(void);
/* True when the entry lies in the store now. False: compile. Never longer than STET_AGENT_WAIT, but
 * for waiting on another who compiles the same; with `look`, not for that either, and no lease. All
 * questions of a process together take at most a few waits more than what they brought saved. */
bool stet_remote_ask(struct stet_remote *r, const char *store, struct stet_hash key, bool look);
/* What the agent found is good, and may be copied to where it lacks; compiling it would have taken
 * `saved_ns`. */
void stet_remote_took(struct stet_remote *r, struct stet_hash key, uint64_t saved_ns);
/* It could not be used. */
void stet_remote_refuse(struct stet_remote *r, const char *store, struct stet_hash key,
                        const char *why);
/* The compile is over and its entry lies in the store: it is shared. Without a lease too. */
void stet_remote_kept(unsigned lease, struct stet_hash key);
/* The compile is over and there is nothing to share; nothing happens without a lease. */
void stet_remote_failed(unsigned lease, struct stet_hash key);
/* A child leads nobody. */
void stet_remote_fork_child(void);

#endif
