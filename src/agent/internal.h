/* What the agent's own files share. */
#ifndef STET_AGENT_INTERNAL_H
#define STET_AGENT_INTERNAL_H

#include "agent/agent.h"
#include "agent/tier.h"
#include "store/store.h"
#include "trust/archive.h"
#include "wire/client.h"

/* A lease that a tier gave us. It is renewed as long as it is on the list. */
struct stet_lease {
    struct stet_lease *next;
    struct stet_tier *tier;
    struct stet_hash key;
    char token[STET_TOKEN];
};

/* An entry on its way to the tiers. */
struct stet_share {
    struct stet_share *next;
    struct stet_hash key;
    struct stet_lease *lease; /* NULL, or given up when the entry is there */
    uint32_t tiers;           /* bits: which ones */
    uint32_t anew;            /* bits: where what is there is no good */
    unsigned tries;
    uint64_t not_before_ms;
    int fd;       /* of the entry, which may be removed before its turn; -1: by its path */
    char store[]; /* folder */
};

/* COUNT(name, what): what `stet agent status` tells. */
#define STET_AGENT_COUNTS(COUNT)                                                                   \
    COUNT(asked, "asked")                                                                          \
    COUNT(found, "found")                                                                          \
    COUNT(led, "compiled by who asked")                                                            \
    COUNT(alone, "sent away")                                                                      \
    COUNT(waited, "waited for another")                                                            \
    COUNT(taken_over, "leaders replaced")                                                          \
    COUNT(shared, "shared")                                                                        \
    COUNT(not_shared, "not shared")                                                                \
    COUNT(strange, "unreadable messages")

struct stet_agent {
    struct stet_tiers tiers;
    struct stet_trust trust;   /* whose entries are taken */
    struct stet_signer signer; /* whose name those of this host bear... */
    bool signs;                /* ...when there is one */
    const char *socket;
    uint64_t started_ms;
    pthread_mutex_t lock; /* for the lists, never held across a call to a tier */
    pthread_cond_t moved; /* a flight changed, or there is something to share */
    struct stet_flight *flights;
    struct stet_lease *leases;
    struct stet_share *queue;
    size_t queued, sharing, connections;
    size_t held; /* to be queued when who asked has loaded them */
    _Atomic uint64_t idle_since_ms;
#define COUNT(name, what) _Atomic uint64_t name;
    STET_AGENT_COUNTS(COUNT)
#undef COUNT
};

/* A GET, from the question to the answer and, when its asker leads, to the end of that. False when
 * the connection is over. What was found and is worth having in other tiers is *found then, for
 * stet_share_settle. */
bool stet_flight_visit(struct stet_agent *a, struct stet_wire *l, const struct stet_message *m,
                       struct stet_share **found);

/* NULL when it was not to be had, with `rc` telling why: STET_NOT_FOUND when another holds it. */
struct stet_lease *stet_lease_take(struct stet_agent *a, struct stet_tier *t, struct stet_hash key,
                                   uint64_t until_ms, enum stet_rc *rc);
/* Frees it. */
void stet_lease_give_up(struct stet_agent *a, struct stet_lease *lease, bool nothing);
/* Keeps all of them from expiring; a thread. */
void *stet_lease_keeper(void *agent);

/* Takes over the lease. */
void stet_share_add(struct stet_agent *a, struct stet_hash key, struct stet_view store,
                    struct stet_lease *lease, uint32_t tiers, uint32_t anew);
/* The same for what came from a tier, but not before who asked for it has loaded it, which the
 * agent can't. NULL for no room. */
struct stet_share *stet_share_hold(struct stet_agent *a, struct stet_hash key,
                                   struct stet_view store, uint32_t tiers, uint32_t anew);
/* Takes it over. NULL does nothing. */
void stet_share_settle(struct stet_agent *a, struct stet_share *s, bool good);
/* Sends what is queued; a thread. */
void *stet_share_worker(void *agent);

void stet_agent_status(struct stet_agent *a, bool json, struct stet_buf *out);
/* A line with the time on standard error. Never an address with its secrets. */
void stet_agent_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
