/* One rank's part in agreeing on what the ranks of a job compile.
 *
 * Each compile becomes an entry of the rank's log. The lowest rank of a scope (the ranks that a
 * program runs on) leads it: it publishes its entries, and the others compare theirs with them, so
 * a compile costs the leader one message and the others one each, whatever their number. A rank
 * that differs reports to its leader, and both tell `verdict`. Nothing here blocks a compile: a
 * thread of the host's process, or a simulation, calls stet_pod_member_tick.
 *
 * docs/ranks.md describes what users see, docs/decisions/0075 why it is done this way. */
#ifndef STET_POD_MEMBER_H
#define STET_POD_MEMBER_H

#include "pod/channel.h"
#include "pod/pod_message.h"

enum stet_pod_finding {
    STET_POD_OPEN,    /* not settled yet */
    STET_POD_SAME,    /* the leader has the same */
    STET_POD_DIFFERS, /* it has another in its place, or went on without it */
    STET_POD_LATE,    /* it has not come */
    STET_POD_MISSING, /* ranks that have not come, found by a leader */
    STET_POD_ALONE,   /* a program that this process may compile alone, and does */
};

/* What another rank has, compared with the two that differ. */
enum stet_pod_opinion {
    STET_POD_UNKNOWN,
    STET_POD_LIKE_THIS,
    STET_POD_LIKE_OTHER,
    STET_POD_NEITHER
};

enum { STET_POD_WITNESSES = 2, STET_POD_MISSED = 4 };

struct stet_pod_verdict {
    enum stet_pod_finding finding;
    bool certain;              /* false: ranks may differ here, and did */
    bool went_on;              /* DIFFERS: the other rank executed past it without compiling it */
    struct stet_pod_entry own; /* this rank's */
    int64_t other;
    struct stet_pod_entry theirs; /* may not exist */
    struct stet_pod_state state;  /* of the other; MISSING: of the first of them, if it answered */
    bool answered;                /* MISSING: it did */
    char flags[STET_POD_FLAGS];   /* of the other, if the environment or the plugin differs */
    int64_t witness[STET_POD_WITNESSES]; /* -1: none */
    enum stet_pod_opinion opinion[STET_POD_WITNESSES];
    int64_t missing[STET_POD_MISSED]; /* the first of them */
    uint64_t missing_count, scope_size;
    uint64_t after_ns; /* since the compile began */
};

/* What a member needs from its process. All but `verdict` may be called without a lock by the
 * thread that ticks. */
struct stet_pod_host {
    void *context;
    /* How many executions of a scope's programs were started; zero: of all programs. */
    uint64_t (*executions)(void *context, struct stet_hash scope);
    void (*describe)(void *context, struct stet_pod_state *out);
    /* The captured bytes of a program or of options, compressed as on disk; false if there are
     * none. */
    bool (*captured)(void *context, struct stet_hash hash, bool options, struct stet_buf *out);
    /* Keeps what another rank captured, under its hash. */
    void (*keep)(void *context, struct stet_hash hash, bool options, struct stet_view bytes);
    /* The variables that reach the compiler, a line each. */
    void (*flags)(void *context, char out[STET_POD_FLAGS]);
    void (*verdict)(void *context, const struct stet_pod_verdict *v);
    /* Called once, by the first tick: the job has this name, which no other job has. Not called if
     * another process has this rank. */
    void (*joined)(void *context, struct stet_hash job);
    uint64_t (*now)(void *context); /* nanoseconds; NULL: stet_clock_ns */
};

/* Times in milliseconds. */
struct stet_pod_timing {
    uint32_t window;     /* entries of this time are published together */
    uint32_t slice;      /* the longest wait for one message */
    uint32_t ask, again; /* a leader that has not come is asked after, and once more after */
    uint32_t grace;      /* for programs that ranks compile in another order */
    uint32_t late;       /* a rank that has not come is named after */
    uint32_t active;     /* leaders look for messages often so long after a compile; then rarely */
    uint32_t rarely;     /* how often others look for news, while they make no progress */
};

/* By the number of ranks: what one rank does to the channel stays small, and so does the sum. */
void stet_pod_timing_init(struct stet_pod_timing *t, int64_t world);

struct stet_pod_member;

enum stet_rc stet_pod_member_new(struct stet_pod_member **out, int64_t rank, int64_t world,
                                 struct stet_pod_channel *channel,
                                 const struct stet_pod_timing *timing,
                                 const struct stet_pod_host *host, struct stet_err *err);
/* After the last tick has returned. */
void stet_pod_member_free(struct stet_pod_member *m);

/* The hash of a sorted list of ranks, which is remembered. Zero if there are too many scopes. */
struct stet_hash stet_pod_member_scope(struct stet_pod_member *m, const uint32_t *ranks,
                                       size_t count);
/* Adds a compile, which began at `begin_ns`; sets the entry's number and place. */
void stet_pod_member_enter(struct stet_pod_member *m, struct stet_pod_entry *e, uint64_t begin_ns);
/* What was found out about an entry so far: SAME, DIFFERS, or 0. */
enum stet_pod_finding stet_pod_member_finding(struct stet_pod_member *m, uint64_t number);
/* Does what is due. Returns after how many milliseconds it should be called again, at the latest.
 * One thread at a time calls it. */
uint32_t stet_pod_member_tick(struct stet_pod_member *m);
/* The last look at what others reported, when the process ends. */
void stet_pod_member_last(struct stet_pod_member *m);
/* How many entries are not settled. After the last tick. */
uint64_t stet_pod_member_open(struct stet_pod_member *m);
/* Why this process compares nothing: another process had this rank first, or no leader was ever
 * seen in this channel. NULL if it does. A literal. */
const char *stet_pod_member_apart(const struct stet_pod_member *m);
/* A tick that waits gives up soon. */
void stet_pod_member_stop(struct stet_pod_member *m);

#endif
