/* What the ranks of a job write for each other (docs/formats.md). Each message has a magic, a
 * version, a kind and a checksum. A message that does not fit is no message: readers skip it. */
#ifndef STET_POD_POD_MESSAGE_H
#define STET_POD_POD_MESSAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

#define STET_POD_VERSION 1

enum stet_pod_message { STET_POD_BATCH = 1, STET_POD_REPORT = 2, STET_POD_HERE = 3 };

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

enum { STET_POD_BATCH_ENTRIES = 64, STET_POD_COUNTS = 32 };

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

void stet_pod_message_batch(struct stet_buf *out, const struct stet_pod_batch *b);
void stet_pod_message_report(struct stet_buf *out, const struct stet_pod_report *r);
/* Which ranks of a scope have come to a program: a bit for each, in the scope's order. */
void stet_pod_message_here(struct stet_buf *out, struct stet_view bits);
/* STET_BAD_INPUT if it is not a message of this kind; STET_UNSUPPORTED if it is a newer one. */
enum stet_rc stet_pod_message_read_batch(struct stet_pod_batch *b, struct stet_view bytes);
enum stet_rc stet_pod_message_read_report(struct stet_pod_report *r, struct stet_view bytes);
enum stet_rc stet_pod_message_read_here(struct stet_view *bits, struct stet_view bytes);

static inline bool stet_pod_entry_exists(const struct stet_pod_entry *e)
{
    return !stet_hash_is_zero(e->part[STET_POD_PROGRAM]);
}

#endif
