/* Samples the dataflow between executions in the process: which execution's results each execution
 * uses. `stet explain` finds steps from it (docs/steps.md). */
#ifndef STET_JOURNAL_FLOW_H
#define STET_JOURNAL_FLOW_H

#include "base/reader.h"
#include "journal/write.h"

#include <stdatomic.h>

/* Following every buffer of every execution would cost a hundred nanoseconds per execution. It is
 * therefore done for a window of executions after each new executable, up to a total, and then
 * never again. */
#define STET_FLOW_WINDOW 4096
#define STET_FLOW_TOTAL  65536
#define STET_FLOW_IDS    65536 /* executables beyond this are not followed */

struct stet_flow {
    _Atomic uint32_t left; /* executions still to follow; 0 means off */
    uint32_t total;        /* executions that may yet be followed at all */
    atomic_flag lock;
    atomic_bool broken; /* a thread could not get the lock: the window is unusable */
    struct stet_flow_bucket *buckets;
    void *memory;              /* that they lie in */
    _Atomic uint32_t *results; /* by executable: how many it has, plus one */
    uint32_t epoch;            /* slots of another epoch are free */
    uint32_t window, next;     /* number of the window, index of the next entry in it */
    uint32_t batch_window, batch_first, batch_count;
    uint64_t batch_before;
    struct stet_buf batch, spare;
};

/* Allocates nothing before the first executable. */
void stet_flow_init(struct stet_flow *f);
void stet_flow_release(struct stet_flow *f);
/* Allocates earlier, so that the first executable need not wait for it. From any thread. */
void stet_flow_prepare(struct stet_flow *f);

static inline bool stet_flow_on(struct stet_flow *f)
{
    return __builtin_expect(atomic_load_explicit(&f->left, memory_order_relaxed) != 0, 0);
}

/* Reports a new executable with this number of results: follow the next window of executions. From
 * any thread. */
void stet_flow_executable(struct stet_flow *f, uint64_t executable, size_t results);
/* Reports that an execution returned; `number` of this process's executions came before it. The
 * pointers are only compared. From any thread, if stet_flow_on. */
void stet_flow_executed(struct stet_flow *f, uint64_t number, uint64_t executable,
                        const void *const *args, size_t arg_count, const void *const *results);
/* Reports that a buffer will be destroyed; its address may be reused. Only if stet_flow_on. */
void stet_flow_gone(struct stet_flow *f, const void *buffer);
/* What was collected since the last call; false if nothing was. From one thread; valid until its
 * next call. */
bool stet_flow_take(struct stet_flow *f, struct stet_rec_flow *rec);
/* The same, into the journal. */
bool stet_flow_write(struct stet_flow *f, struct stet_journal *j);
/* In the child of a fork: drops what was collected, because it is the parent's; nothing is followed
 * before the next executable. */
void stet_flow_forked(struct stet_flow *f);

/* Reading. The source of an argument is an earlier entry of the window that produced it or, if
 * `external`, the entry that used it first (host data, or produced before the window). */
struct stet_flow_source {
    uint32_t entry, args; /* how many of the arguments */
    bool external;
};

#define STET_FLOW_SOURCES 256 /* of one entry, at most */

struct stet_flow_entry {
    uint64_t executable, number; /* `number`: executions of the process before this one */
    uint32_t index;              /* in the window */
    uint32_t arg_count, result_count, source_count;
    struct stet_flow_source sources[STET_FLOW_SOURCES];
};

struct stet_flow_cursor {
    struct stet_reader reader;
    uint32_t index, left;
    uint64_t number;
};

void stet_flow_cursor_init(struct stet_flow_cursor *c, const struct stet_rec_flow *rec);
/* STET_NOT_FOUND at the end, STET_BAD_INPUT for invalid data. */
enum stet_rc stet_flow_next(struct stet_flow_cursor *c, struct stet_flow_entry *e,
                            struct stet_err *err);

#endif
