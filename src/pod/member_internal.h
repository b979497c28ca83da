/* Shared by the files member*.c. Nothing else includes it. */
#ifndef STET_POD_MEMBER_INTERNAL_H
#define STET_POD_MEMBER_INTERNAL_H

#include "base/clock.h"
#include "pod/member.h"

#include <pthread.h>

enum {
    STET_POD_LOG = 256,    /* entries that are remembered, of this rank and of a peer */
    STET_POD_SCOPES = 32,  /* further scopes are not compared */
    STET_POD_PEERS = 8,    /* leaders that this rank follows */
    STET_POD_REPORTED = 3, /* differences that are told per scope: later ones follow from these */
    STET_POD_FAN = 32,     /* children of a rank in the tree of a scope */
    STET_POD_TELLING = 8,  /* differences that wait for the other rank's program */
    STET_POD_HEARD = 32,   /* reports or news that are read at once: a channel may never end */
};

/* An entry of this rank, and what is known about it. */
struct stet_pod_record {
    struct stet_pod_entry e;
    uint64_t since_ns;
    enum stet_pod_finding finding; /* 0 while it is open */
    uint32_t tries;                /* how often its leader's log was looked at */
    uint64_t next_ns;              /* when to look again */
    bool late;                     /* its leader was named as late */
    unsigned called;               /* of a roll call: how far it has come */
    uint64_t next_call_ns;         /* and when it goes on */
};

struct stet_pod_scope {
    struct stet_hash hash;
    uint32_t *ranks;
    size_t count, own; /* own: this rank's index */
    uint64_t next_place;
    unsigned told;
    uint64_t runs, moved_ns; /* executions, and when they or the entries last changed */
};

/* A leader, as far as its log was read. */
struct stet_pod_peer {
    int64_t rank; /* -1: free */
    uint64_t next;
    struct stet_pod_entry *entries; /* STET_POD_LOG of them, by order of arrival */
    uint64_t *seen_ns;
    uint64_t entry_count;
    struct stet_pod_count counts[STET_POD_COUNTS];
    uint32_t count_count;
    struct stet_pod_state state;
    bool known;               /* a batch was read */
    bool awaited, alive;      /* its next batch was not there; one came after that */
    uint64_t read_ns;         /* when the last one was read */
    uint64_t moved_ns;        /* when one last showed something new */
    uint64_t asked, asked_ns; /* batch + 1 that was asked for, and when */
    uint64_t reports, news;   /* to it and from it, that this rank has read */
    char flags[STET_POD_FLAGS];
};

struct stet_pod_member {
    int64_t rank, world;
    struct stet_pod_channel *channel;
    struct stet_pod_timing timing;
    struct stet_pod_host host;
    pthread_mutex_t lock; /* for the log and the scopes */
    struct stet_pod_record log[STET_POD_LOG];
    uint64_t entered; /* how many; the last STET_POD_LOG are in the log */
    struct stet_pod_scope scopes[STET_POD_SCOPES];
    size_t scope_count;
    atomic_bool due, stopped;
    /* The rest belongs to the thread that ticks. */
    uint64_t open;      /* entries before this one are settled */
    uint64_t published; /* entries before this one were considered for publishing */
    uint64_t batches;   /* published so far */
    uint64_t last_enter_ns, looked_ns, rarely_ns;
    uint64_t progress, progress_ns;     /* executions and entries, and when they last changed */
    uint64_t reports, news;             /* read, and written, as a leader */
    bool flags_given, claimed, doubled; /* doubled: another process has this rank */
    bool unshared;                      /* a leader was never seen in this channel */
    bool contested;                     /* a finding was dropped: stet_pod_launch_contest */
    struct stet_pod_verdict call;       /* of the roll call in progress */
    struct stet_pod_peer peers[STET_POD_PEERS];
    /* Differences that will be told when the other rank's program is here, or at the latest at
     * `until_ns`. */
    struct {
        struct stet_pod_verdict verdict;
        uint64_t since_ns, not_before_ns, until_ns;
    } telling[STET_POD_TELLING];
    size_t telling_count;
    bool skip[STET_POD_PARTS]; /* parts whose difference was told: not compared any more */
    uint64_t told_names[STET_POD_LOG];
    size_t told_name_count;
    struct stet_pod_batch scratch;
};

/* The record of an entry that is still in the log, or NULL; the pointer stays valid for the thread
 * that ticks until many more were entered. */
struct stet_pod_record *stet_pod_member_record(struct stet_pod_member *m, uint64_t number);
const struct stet_pod_scope *stet_pod_member_scope_of(const struct stet_pod_member *m,
                                                      struct stet_hash hash);
int64_t stet_pod_member_leader(const struct stet_pod_member *m, const struct stet_pod_entry *e);
bool stet_pod_member_leads(const struct stet_pod_member *m);

/* Tells the host, unless two processes claim one of the ranks. */
void stet_pod_member_say(struct stet_pod_member *m, const struct stet_pod_verdict *v);

/* Has this rank ever been here? In a channel that all processes of the job use, a rank that was not
 * has not come; in others it may use another one. */
bool stet_pod_member_was_here(struct stet_pod_member *m, int64_t rank);

/* Gives captured bytes to the channel, and takes another rank's. */
void stet_pod_member_give(struct stet_pod_member *m, const struct stet_pod_entry *e);
bool stet_pod_member_take(struct stet_pod_member *m, const struct stet_pod_entry *e,
                          uint32_t wait_ms);

/* Settles open entries by what their leaders have published. */
void stet_pod_member_follow(struct stet_pod_member *m, uint64_t now);
/* Reports differences that are due. Returns when there is more to do, in milliseconds. */
uint32_t stet_pod_member_tell(struct stet_pod_member *m, bool now);
/* Reads what is new in a rank's log; waits for the next message if `wait_ms`. True if something
 * was. */
bool stet_pod_member_read(struct stet_pod_member *m, struct stet_pod_peer *p, uint32_t wait_ms);
struct stet_pod_peer *stet_pod_member_peer(struct stet_pod_member *m, int64_t rank);
/* Asks a rank for its next batch; once for each. */
void stet_pod_member_ask(struct stet_pod_member *m, struct stet_pod_peer *p, uint64_t now);

/* Reads a message of `kind` into *message; *bytes are in it. False if there is none, or it is
 * damaged. */
bool stet_pod_member_get(struct stet_pod_member *m, const char *key, enum stet_pod_message kind,
                         uint32_t wait_ms, struct stet_buf *message, struct stet_view *bytes);
void stet_pod_member_put(struct stet_pod_member *m, const char *key, enum stet_pod_message kind,
                         struct stet_view bytes);

/* Publishes entries, answers ranks that ask, reads their reports. */
void stet_pod_member_lead(struct stet_pod_member *m, uint64_t now);
/* Reads what ranks have reported to a leader, from number *next on, and tells it. */
void stet_pod_member_hear(struct stet_pod_member *m, int64_t leader, uint64_t *next);
/* Writes the next batch: entries that are not published yet, counts and state. */
void stet_pod_member_publish(struct stet_pod_member *m);

/* Writes news for the ranks that this one leads. */
void stet_pod_member_announce(struct stet_pod_member *m, const char *text);
/* Reads the news of leaders, rarely and only while this rank makes no progress. Returns when it has
 * more to do, in milliseconds. */
uint32_t stet_pod_member_listen(struct stet_pod_member *m, uint64_t now);
/* Finds ranks that have not reached a program. Returns when it has more to do, in milliseconds. */
uint32_t stet_pod_member_call(struct stet_pod_member *m, uint64_t now);

static inline uint64_t stet_pod_member_now(const struct stet_pod_member *m)
{
    return m->host.now ? m->host.now(m->host.context) : stet_clock_ns();
}

static inline bool stet_pod_entry_is_joint(const struct stet_pod_entry *e)
{
    return !stet_hash_is_zero(e->scope);
}

static inline uint64_t stet_pod_ms(uint32_t ms)
{
    return (uint64_t)ms * 1000000;
}

#endif
