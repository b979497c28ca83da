/* Shared by flight.c, which gives clients their turns, and flight_lookup.c, which looks for what
 * they need. No other file includes it. */
#ifndef STET_AGENT_FLIGHT_H
#define STET_AGENT_FLIGHT_H

#include "agent/internal.h"

/* A key in a store with at least one interested client. */
struct stet_flight {
    struct stet_flight *next;
    struct stet_hash key;
    unsigned visitors;
    bool busy;         /* a client has its turn */
    unsigned failures; /* leaders that had nothing to share */
    struct stet_lease *lease;
    uint32_t refused; /* bits: tiers whose entry was damaged or unsigned */
    uint32_t taken;   /* bits: tiers where another signer's entry has the plain name */
    uint32_t tier;    /* number of the tier it came from, from 1; 0 for another process */
    char store[];     /* folder */
};

/* Why a client compiles alone; the answer has the word. */
enum stet_visit_alone {
    ALONE_NOT_ASKED,
    ALONE_NOT_FOUND,
    ALONE_REFUSED,
    ALONE_NOTHING_TO_SHARE,
    ALONE_DEADLINE,
    ALONE_TIER_FAILED
};

/* One client's way through. */
struct stet_visit {
    struct stet_agent *a;
    struct stet_wire *line;
    struct stet_flight *flight;
    struct stet_store store, aside; /* aside: for entries that only STET_TRUST=any lets in */
    struct stet_hash key;
    char run[STET_REPORT_RUN];
    uint32_t wait_ms;  /* it expects a message this often */
    uint64_t until_ms; /* the first answer */
    uint64_t give_up_ms, next_beat_ms;
    bool look; /* never waits for another */
    bool waited;
    bool unleased;   /* leads without a lease, because the existing one is not valid */
    uint32_t failed; /* tiers that did not answer the lookup: they are asked for no lease */
    /* Of another host, as it was last seen, and since when. */
    char seen[STET_LEASE_TEXT];
    uint64_t seen_ms;
    char dead[STET_LEASE_TEXT]; /* one that may be replaced, or "" */
    bool in_aside;              /* the entry is there */
    bool once;                  /* the store is a folder for this one load: no seal is kept there */
    struct stet_seal seal;      /* of the entry that was found */
    uint32_t tier;              /* the same */
    enum stet_visit_alone why;
    bool was_refused; /* an entry was, for this reason, and no other was found so far */
    enum stet_refusal refusal;
    struct stet_public refused_signer;
    uint64_t bytes, begin_ms;
    struct stet_share *found; /* for other tiers */
};

/* Is the entry in the client's store, or aside of it? */
bool stet_visit_in_store(struct stet_visit *v);
/* Looks in all tiers until v->until_ms. True: the entry is in the store now. */
bool stet_visit_tiers(struct stet_visit *v);
/* The same in one tier. STET_BAD_INPUT if it has no acceptable entry. */
enum stet_rc stet_visit_fetch(struct stet_visit *v, size_t tier, uint64_t until_ms);
/* Some tiers, with what the flight knows of them. */
struct stet_tier_bits stet_flight_bits(const struct stet_flight *f, uint32_t tiers);

#endif
