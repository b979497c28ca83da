/* Asks the agent when the store of this host has no entry. The layer uses only a Unix socket and
 * has no network code. */
#ifndef STET_INTERCEPT_REMOTE_H
#define STET_INTERCEPT_REMOTE_H

#include "base/err.h"
#include "base/hash.h"
#include "journal/vocabulary.h"

/* One request to the agent, and its result. Zeroed: no request was made. */
struct stet_remote {
    unsigned lease; /* not 0: others wait for this compile; ends with kept or failed */
    unsigned line;  /* not 0: the agent waits for the result of the load; took or refuse ends it */
    enum stet_agent_answer answer;
    bool once;            /* set before asking: the store is a folder for this one load */
    char tier[16];        /* found: where it came from */
    uint32_t tier_number; /* which of the agent's tiers */
    bool same_host;       /* found: another process of this host compiled it */
    bool aside;           /* found: in STET_STORE_ASIDE, since no trusted key signed it */
    uint64_t wait_ns;     /* what asking took, waiting for another's compile included */
};

/* Reads STET_AGENT, STET_AGENT_WAIT and STET_AGENT_FLIGHT, once. */
void stet_remote_init(void);
/* Does this process have an agent? */
bool stet_remote_has_agent(void);
/* A connection to it, for other questions. */
struct stet_wire;
enum stet_rc stet_remote_connect(struct stet_wire *l, struct stet_err *err);
/* True if the entry is in the store now. False: compile. Takes at most STET_AGENT_WAIT, plus the
 * wait for another process that compiles the same; with `look`, it neither waits for that nor takes
 * a lease. All requests of a process together take at most a few waits more than they save. */
bool stet_remote_ask(struct stet_remote *r, const char *store, struct stet_hash key, bool look);
/* The entry from the agent was loaded, and may be copied to tiers that lack it; compiling it would
 * have taken `saved_ns`. */
void stet_remote_took(struct stet_remote *r, struct stet_hash key, uint64_t saved_ns);
/* It could not be used. */
void stet_remote_refuse(struct stet_remote *r, const char *store, struct stet_hash key,
                        const char *why);
/* The compile has ended and its entry is in the store: it is shared, also without a lease. */
void stet_remote_kept(unsigned lease, struct stet_hash key);
/* The compile has ended and there is nothing to share; does nothing without a lease. */
void stet_remote_failed(unsigned lease, struct stet_hash key);
/* In a forked child: it leads no compile. */
void stet_remote_fork_child(void);

#endif
