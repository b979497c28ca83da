/* The writer thread: whatever takes time or touches the disk happens there. */
#ifndef STET_INTERCEPT_WRITER_H
#define STET_INTERCEPT_WRITER_H

#include "base/arena.h"
#include "journal/write.h"

/* One record on its way to the journal, with the memory its fields point into. */
struct stet_event {
    struct stet_event *next;
    enum stet_rec kind;
    uint64_t time_ns;
    uint64_t ring_end; /* executions before this position came earlier */
    struct stet_arena arena;
    union stet_record record;
    /* Runs on the writer thread before the record is written; may fill in fields, write records of
     * its own, and return false to have this one skipped. */
    bool (*prepare)(struct stet_event *e, struct stet_journal *j);
    /* Runs on the writer thread when no more records wait. `prepare` sets it to put work off. */
    void (*after)(struct stet_event *e);
    struct stet_view bytes[2]; /* for prepare: a program and its options; stet_event_take */
    uint64_t number;           /* for prepare */
    void *extra;               /* for prepare */
    void (*drop)(void *extra); /* NULL: stet_mem_free */
};

/* NULL when memory is short (counted as a fault). */
struct stet_event *stet_event_new(enum stet_rec kind);
/* A copy of `bytes` that travels with the event; without memory the event goes without it. */
void stet_event_take(struct stet_event *e, size_t which, struct stet_view bytes);
/* Adopts the event. One whose arena failed, or that finds the queue full, is dropped and counted.
 */
void stet_event_send(struct stet_event *e);
void stet_event_free(struct stet_event *e);

/* See that there is a writer; it looks at the ring by itself every now and then. Lock-free. */
void stet_writer_ensure(void);
/* The same, and wake it. */
void stet_writer_poke(void);
/* So many records wait that slow work should be put off. */
bool stet_writer_behind(void);
/* Write all there is, now, from this thread; gives up when the writer is stuck. */
void stet_writer_flush(int ms);

/* Around fork. */
bool stet_writer_fork_prepare(void); /* false: could not stop the writer in time */
void stet_writer_fork_parent(void);
void stet_writer_fork_child(bool prepared);
/* The last record of the process; nothing is written after it. */
void stet_writer_end(int ms);

#endif
