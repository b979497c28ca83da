/* A tier: a store that other hosts can reach too. Each kind of server is one table of functions;
 * this file adds what all share: sessions, deadlines, a circuit breaker, counters. */
#ifndef STET_AGENT_TIER_H
#define STET_AGENT_TIER_H

#include "agent/url.h"
#include "base/buf.h"
#include "base/hash.h"

#include <pthread.h>
#include <stdatomic.h>

/* Bytes of an entry that a tier may give or take. */
#define STET_TIER_MAX ((size_t)2 << 30)

enum {
    STET_TIERS_MAX = 8,
    STET_SESSIONS_MAX = 8,
    STET_TOKEN = 32,       /* digits at the beginning of a lease that identify its holder */
    STET_LEASE_TEXT = 288, /* a lease, signed (lease.c), with its terminator */
    STET_SLOT = 33,        /* digits of a signer's key, with the terminator */
};

struct stet_tier;

/* The state of a key, as far as a tier with leases knows. */
enum stet_lease_state {
    STET_LEASE_FREE,  /* no host works on it, and there is no entry */
    STET_LEASE_HELD,  /* another process compiles it */
    STET_LEASE_ENTRY, /* it is there */
    STET_LEASE_NONE,  /* a host compiled it and had nothing to share */
    STET_LEASE_VOID,  /* a lease that does not expire as ours do: treated as invalid */
};

struct stet_lease_view {
    enum stet_lease_state state;
    char holder[STET_LEASE_TEXT]; /* HELD: the lease's text */
};

/* What a name in a tier is of. Messages and leases have names of their own, so that a rule of the
 * server can remove them after some days. */
enum stet_tier_what {
    STET_TIER_ENTRY,
    STET_TIER_MESSAGE, /* of a job (job_message.c); written once */
    STET_TIER_LEASE,   /* where leases are files (web_lease.c) */
};

/* An entry's name in a tier. The first signer of a key gets the plain name, and no other signer
 * writes there. A signer that some hosts do not trust has its own slot beside it. */
struct stet_tier_name {
    struct stet_hash key;
    char slot[STET_SLOT]; /* "" for the plain name */
    enum stet_tier_what what;
};

/* A kind of server. A session is used by one thread at a time; after a failed call its session is
 * closed. `until_ms` is on the clock of stet_wire_now_ms. STET_NOT_FOUND is an answer. */
struct stet_tier_kind {
    const char *name;
    const char *const *schemes; /* ends with NULL */
    /* Reads its own part of the address and the environment into t->own. */
    enum stet_rc (*configure)(struct stet_tier *t, struct stet_err *err);
    enum stet_rc (*open)(const struct stet_tier *t, void **session, uint64_t until_ms,
                         struct stet_err *err);
    void (*close)(void *session);
    enum stet_rc (*get)(const struct stet_tier *t, void *session, const struct stet_tier_name *name,
                        struct stet_buf *out, uint64_t until_ms, struct stet_err *err);
    /* `lease` is the one held, or ""; `anew`: the existing entry is damaged or unsigned and may be
     * replaced. STET_NOT_FOUND: it existed already. A slot is always replaced. */
    enum stet_rc (*put)(const struct stet_tier *t, void *session, const struct stet_tier_name *name,
                        struct stet_view bytes, const char *lease, bool anew, uint64_t until_ms,
                        struct stet_err *err);
    /* Where leases stay until they are replaced, expired ones too. Otherwise the server removes
     * expired ones by itself. */
    bool leases_stay;
    uint32_t watch_ms; /* the longest pause between two calls of `watch` */
    /* The next are NULL if the server has no leases. STET_NOT_FOUND: another host holds it.
     * STET_UNSUPPORTED: this server takes none. `dead`: the text of a lease that may be replaced,
     * or "". */
    enum stet_rc (*lease)(const struct stet_tier *t, void *session, struct stet_hash key,
                          const char *lease, const char *dead, uint64_t until_ms,
                          struct stet_err *err);
    /* STET_NOT_FOUND: it was lost. The text may differ after its token. */
    enum stet_rc (*renew)(const struct stet_tier *t, void *session, struct stet_hash key,
                          const char *lease, uint64_t until_ms, struct stet_err *err);
    /* `nothing`: the waiting hosts need not wait any longer. */
    enum stet_rc (*give_up)(const struct stet_tier *t, void *session, struct stet_hash key,
                            const char *lease, bool nothing, uint64_t until_ms,
                            struct stet_err *err);
    enum stet_rc (*watch)(const struct stet_tier *t, void *session, struct stet_hash key,
                          struct stet_lease_view *out, uint64_t until_ms, struct stet_err *err);
};

#define TIER(name, schemes) extern const struct stet_tier_kind stet_tier_##name;
#include "agent/tier_kinds.def"
#undef TIER

/* Why an entry from outside was rejected. */
enum stet_refusal {
#define REFUSAL(id, word, what) STET_REFUSAL_##id,
#include "agent/refusals.def"
#undef REFUSAL
    STET_REFUSALS
};

const char *stet_agent_refusal_word(enum stet_refusal r);

/* Opens after this many failures in a row, and longer each time. */
struct stet_breaker {
    unsigned failures;
    uint64_t open_until_ms, open_for_ms;
    uint64_t opened; /* how often */
};

struct stet_tier {
    const struct stet_tier_kind *kind;
    struct stet_url url;
    struct stet_view shown;
    uint32_t connect_ms; /* ?connect= */
    uint32_t get_ms;     /* ?timeout= */
    uint32_t put_ms;     /* ?put= */
    uint32_t lease_ms;   /* ?lease= */
    bool read_only;      /* ?mode=read-only */
    void *own;           /* the kind's, in the arena */
    struct stet_arena *arena;

    pthread_mutex_t lock; /* for all below but the atomics */
    void *sessions[STET_SESSIONS_MAX];
    unsigned session_count;
    unsigned generation; /* increased when certificates change: older sessions are closed */
    struct stet_breaker breaker;
    char last_error[160];
    _Atomic uint64_t lease_not_before_ms; /* no lease is requested or waited for until then */
    _Atomic uint64_t hits, misses, errors, skipped, puts, put_errors, bytes_in, bytes_out;
    _Atomic uint64_t refused[STET_REFUSALS];
};

struct stet_tiers {
    struct stet_arena arena;
    struct stet_tier items[STET_TIERS_MAX];
    size_t count;
};

/* From a list of addresses separated by spaces, commas or line ends; '#' begins a comment. */
enum stet_rc stet_agent_tiers_init(struct stet_tiers *t, struct stet_view list,
                                   struct stet_err *err);
void stet_agent_tiers_release(struct stet_tiers *t);
/* The tier of this number, from 1, if it is of that kind. Number 0, which earlier clients send,
 * means the only tier of the kind. NULL if there is none. */
struct stet_tier *stet_agent_tiers_find(struct stet_tiers *tiers, uint32_t number,
                                        struct stet_view kind);
/* Existing connections are not used again. From any thread. */
void stet_agent_tiers_reconnect(struct stet_tiers *t);

/* Each checks the breaker first (STET_LIMIT if it is open) and updates the counters, but for
 * misses: callers that look twice count one. */
enum stet_rc stet_agent_tier_get(struct stet_tier *t, const struct stet_tier_name *name,
                                 struct stet_buf *out, uint64_t until_ms, struct stet_err *err);
enum stet_rc stet_agent_tier_put(struct stet_tier *t, const struct stet_tier_name *name,
                                 struct stet_view bytes, const char *lease, bool anew,
                                 struct stet_err *err);
static inline bool stet_agent_tier_leases(const struct stet_tier *t)
{
    return t->kind->lease != NULL;
}
enum stet_rc stet_agent_tier_lease(struct stet_tier *t, struct stet_hash key, const char *lease,
                                   const char *dead, uint64_t until_ms, struct stet_err *err);
enum stet_rc stet_agent_tier_renew(struct stet_tier *t, struct stet_hash key, const char *lease,
                                   struct stet_err *err);
enum stet_rc stet_agent_tier_give_up(struct stet_tier *t, struct stet_hash key, const char *lease,
                                     bool nothing, struct stet_err *err);
enum stet_rc stet_agent_tier_watch(struct stet_tier *t, struct stet_hash key,
                                   struct stet_lease_view *out, uint64_t until_ms,
                                   struct stet_err *err);
/* Does the time in a lease's text, signed or not, allow waiting for it now? False also for a text
 * that is not a lease's. */
bool stet_agent_lease_in_time(const struct stet_tier *t, const char *text);
/* Reports an answer that was not acceptable. */
void stet_agent_tier_refuse(struct stet_tier *t, enum stet_refusal why);

#endif
