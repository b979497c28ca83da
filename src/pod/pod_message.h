/* What the ranks of a job write for each other (docs/formats.md). Each message has a magic, a
 * version, a kind and a checksum, which covers the key too: a value of another key is not valid.
 * Readers skip a message that does not fit, and count it (stet_pod_channel_damaged). */
#ifndef STET_POD_POD_MESSAGE_H
#define STET_POD_POD_MESSAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

#define STET_POD_VERSION 2

enum stet_pod_message {
    STET_POD_BATCH = 1,  /* a part of a rank's log */
    STET_POD_REPORT = 2, /* a rank differs from its leader */
    STET_POD_HERE = 3,   /* ranks that have come to a program */
    STET_POD_TEXT = 4,   /* of a leader to the ranks that it leads; a vote; flags */
    STET_POD_PIECE = 5,  /* of a captured program or of options */
};

enum { STET_POD_NAME = 96, STET_POD_FILE = 192, STET_POD_FUNCTION = 96, STET_POD_FLAGS = 1024 };

/* The parts of what a compiler gets. Ranks that compile together must have the same. */
enum stet_pod_part {
    STET_POD_PROGRAM,
    STET_POD_OPTIONS,
    STET_POD_ENVIRONMENT,
    STET_POD_PLUGIN,
    STET_POD_PARTS
};

/* One compile of a rank. */
struct stet_pod_entry {
    uint64_t number;        /* in the rank's log */
    struct stet_hash scope; /* the ranks whose devices it runs on; zero: one process alone */
    uint64_t place;         /* how many programs of this scope were compiled before it */
    uint64_t position;      /* how many executions of this scope were started before it */
    struct stet_hash part[STET_POD_PARTS];
    struct stet_hash bytes, option_bytes; /* as they are captured: programs/<hash>.* */
    char name[STET_POD_NAME];             /* of the function */
};

/* What a rank does at the moment. */
struct stet_pod_state {
    uint64_t executions; /* of all programs */
    uint64_t age_ns;     /* since the last of them began; 0 when not known */
    uint64_t loads;      /* executables that the framework loaded by itself */
    bool compiling;
    bool overlaps; /* several threads compiled at the same time: their order is not the program's */
    char program[STET_POD_NAME]; /* the last one that it started, or that it compiles */
    char file[STET_POD_FILE], function[STET_POD_FUNCTION]; /* the user's line; "" when not known */
    uint64_t line;
    char host[64];
    uint64_t pid;
};

/* How many executions of a scope's programs a rank has started. */
struct stet_pod_count {
    struct stet_hash scope;
    uint64_t executions;
};

/* The largest batch fits a value of every channel (the agent has 16 KiB). */
enum { STET_POD_BATCH_ENTRIES = 48, STET_POD_COUNTS = 32 };

struct stet_pod_batch {
    int64_t rank;
    uint64_t number;
    struct stet_pod_state state;
    uint32_t count_count, entry_count;
    struct stet_pod_count counts[STET_POD_COUNTS];
    struct stet_pod_entry entries[STET_POD_BATCH_ENTRIES];
};

/* A rank found that it differs from another one, to which it writes this. */
struct stet_pod_report {
    int64_t rank;
    struct stet_pod_entry own, theirs; /* the writer's; the reader's: zero if it has none */
    bool certain, went_on;
    struct stet_pod_state state; /* the writer's */
    char flags[STET_POD_FLAGS];  /* the writer's variables that reach the compiler, a line each */
};

/* `key` is the one under which the message is written, without the channel's prefix. */
void stet_pod_message_batch(struct stet_buf *out, const char *key, const struct stet_pod_batch *b);
void stet_pod_message_report(struct stet_buf *out, const char *key,
                             const struct stet_pod_report *r);
/* HERE: which ranks of a scope have come to a program, a bit for each, in the scope's order. */
void stet_pod_message_bytes(struct stet_buf *out, const char *key, enum stet_pod_message kind,
                            struct stet_view bytes);
/* STET_BAD_INPUT if it is not a message of this kind and key; STET_UNSUPPORTED if it is of another
 * version. */
enum stet_rc stet_pod_message_read_batch(struct stet_pod_batch *b, const char *key,
                                         struct stet_view message);
enum stet_rc stet_pod_message_read_report(struct stet_pod_report *r, const char *key,
                                          struct stet_view message);
enum stet_rc stet_pod_message_read_bytes(struct stet_view *bytes, const char *key,
                                         enum stet_pod_message kind, struct stet_view message);

static inline bool stet_pod_entry_exists(const struct stet_pod_entry *e)
{
    return !stet_hash_is_zero(e->part[STET_POD_PROGRAM]);
}

#endif
