/* What the agent's own files share. */
#ifndef STET_AGENT_INTERNAL_H
#define STET_AGENT_INTERNAL_H

#include "agent/agent.h"
#include "agent/tier.h"
#include "store/store.h"
#include "trust/seal.h"
#include "wire/client.h"

/* A lease that a tier granted. It is renewed as long as it is on the list. */
struct stet_lease {
    struct stet_lease *next;
    struct stet_tier *tier;
    struct stet_hash key;
    char text[STET_LEASE_TEXT]; /* begins with its token */
};

/* The keys that an agent uses, as their files were at one moment. */
struct stet_keyring;

/* Tiers, as bits. */
struct stet_tier_bits {
    uint32_t tiers; /* which ones */
    uint32_t anew;  /* of them, where what is there is damaged or unsigned */
    uint32_t taken; /* of them, where another signer's entry has the plain name */
};

/* The slot of this signer's entries. */
void stet_agent_tier_slot(struct stet_tier_name *name, const struct stet_public *signer);

/* An entry that is queued for the tiers. */
struct stet_share {
    struct stet_share *next;
    struct stet_hash key;
    struct stet_lease *lease; /* NULL, or released once the entry is in the tier */
    struct stet_tier_bits at;
    unsigned tries;
    uint64_t not_before_ms;
    bool came; /* from a tier, with this seal: */
    struct stet_seal seal;
    int fd;       /* of the entry, which may be removed before its turn; -1: by its path */
    char store[]; /* folder */
};

/* A run, and its problems (refused_report.c). */
enum { STET_REPORTS = 32, STET_REPORT_RUN = 40, STET_REPORT_SIGNERS = 4 };

struct stet_report {
    char run[STET_REPORT_RUN];
    uint64_t used; /* when, on a count of uses */
    struct stet_public signers[STET_REPORT_SIGNERS];
    unsigned refused_of[STET_REPORT_SIGNERS], signer_count;
    unsigned refused[STET_REFUSALS];
    unsigned asked, failed[STET_TIERS_MAX], answered[STET_TIERS_MAX];
};

/* COUNT(name, label): the counters of `stet agent status`. */
#define STET_AGENT_COUNTS(COUNT)                                                                   \
    COUNT(asked, "asked")                                                                          \
    COUNT(found, "found")                                                                          \
    COUNT(led, "compiled locally")                                                                 \
    COUNT(alone, "rejected")                                                                       \
    COUNT(waited, "waited for another")                                                            \
    COUNT(taken_over, "leaders replaced")                                                          \
    COUNT(shared, "shared")                                                                        \
    COUNT(not_shared, "not shared")                                                                \
    COUNT(strange, "unreadable messages")

struct stet_agent {
    struct stet_tiers tiers;
    pthread_mutex_t key_lock; /* guards the keyring */
    struct stet_keyring *keyring;
    const char *socket;
    char store[PATH_MAX]; /* of the last request for an entry; guarded by the lock */
    uint64_t started_ms;
    pthread_mutex_t lock; /* for the lists, never held across a call to a tier */
    pthread_cond_t moved; /* a flight changed, or there is something to share */
    struct stet_flight *flights;
    struct stet_lease *leases;
    struct stet_share *queue;
    struct stet_report reports[STET_REPORTS];
    uint64_t report_uses;
    size_t queued, sharing, connections;
    size_t stoppers; /* connections that only wait for the end */
    size_t held;     /* to be queued after the client has loaded them */
    _Atomic uint64_t idle_since_ms;
#define COUNT(name, what) _Atomic uint64_t name;
    STET_AGENT_COUNTS(COUNT)
#undef COUNT
};

/* Handles a GET from the request to the answer. If this client is the one that compiles for all
 * that ask for the key, it waits until the compile has ended. False if the connection must be
 * closed. An entry that was found and that other tiers lack is in *found, for
 * stet_agent_share_settle. */
bool stet_agent_flight_visit(struct stet_agent *a, struct stet_wire *l,
                             const struct stet_message *m, struct stet_share **found);

/* The keys as their files are now, until stet_agent_keyring_put. NULL, which trusts no key, if
 * memory runs out. */
struct stet_keyring *stet_agent_keyring_take(struct stet_agent *a);
void stet_agent_keyring_put(struct stet_agent *a, struct stet_keyring *k);
const struct stet_trust *stet_agent_keyring_trust(const struct stet_keyring *k);
/* NULL if this user has no key. */
const struct stet_signer *stet_agent_keyring_signer(const struct stet_keyring *k);
/* May this host write to tiers? Yes if it signs, or with STET_TRUST=any. */
bool stet_agent_keyring_gives(const struct stet_keyring *k);

/* NULL if it was not granted, with the reason in `rc`: STET_NOT_FOUND if another host holds it.
 * `dead`: the text of a lease that may be replaced, or "". */
struct stet_lease *stet_agent_lease_take(struct stet_agent *a, struct stet_tier *t,
                                         struct stet_hash key, const char *dead, uint64_t until_ms,
                                         enum stet_rc *rc);
/* Frees it. */
void stet_agent_lease_give_up(struct stet_agent *a, struct stet_lease *lease, bool nothing);
/* Is this lease of another host one to wait for? A trusted key must have signed it recently. */
bool stet_agent_lease_believed(struct stet_agent *a, const struct stet_tier *t,
                               struct stet_hash key, const char *text);
/* Renews all leases; a thread. */
void *stet_agent_lease_keeper(void *agent);

/* Takes ownership of the lease. */
void stet_agent_share_add(struct stet_agent *a, struct stet_hash key, struct stet_view store,
                          struct stet_lease *lease, struct stet_tier_bits at);
/* The same for an entry from a tier with this seal. It is sent only after the client has loaded it,
 * because the agent cannot load it. NULL if there is no room. */
struct stet_share *stet_agent_share_hold(struct stet_agent *a, struct stet_hash key,
                                         struct stet_view store, struct stet_tier_bits at,
                                         const struct stet_seal *seal);
/* Takes ownership. NULL does nothing. */
void stet_agent_share_settle(struct stet_agent *a, struct stet_share *s, bool good);
/* Sends what is queued; a thread. */
void *stet_agent_share_worker(void *agent);

/* Events of a run: it made a request; a tier did or did not answer; an entry was rejected and none
 * was found elsewhere. `signer` may be NULL. */
void stet_agent_report_asked(struct stet_agent *a, const char *run);
void stet_agent_report_tier(struct stet_agent *a, const char *run, size_t tier, bool answered);
void stet_agent_report_refused(struct stet_agent *a, const char *run, enum stet_refusal why,
                               const struct stet_public *signer);
/* Lines for the user who started the run, none if everything went well; then drops the run. */
void stet_agent_report_write(struct stet_agent *a, struct stet_view run, struct stet_buf *out);

/* Handles a message between ranks: returns the kind of the answer, and its text. */
uint32_t stet_agent_job_message(struct stet_agent *a, const struct stet_message *m,
                                struct stet_buf *text);

void stet_agent_status(struct stet_agent *a, bool json, struct stet_buf *out);
/* Logs to this file instead of standard error. A file that grew beyond a megabyte is renamed to
 * <path>.old, replacing the previous one. */
void stet_agent_log_to(const char *path);
/* A line with the time. Never an address with its secrets. */
void stet_agent_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
