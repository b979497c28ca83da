/* The writer thread, which does everything that takes time or touches the disk. Hooks send events
 * to it; it owns an event once it is sent. */
#ifndef STET_INTERCEPT_WRITER_H
#define STET_INTERCEPT_WRITER_H

#include "base/arena.h"
#include "journal/write.h"

/* One record on its way to the journal, with the memory that its fields point into. */
struct stet_event {
    struct stet_event *next;
    enum stet_rec kind;
    uint64_t time_ns;
    uint64_t ring_end; /* executions before this position came earlier */
    struct stet_arena arena;
    union stet_record record;
    /* Runs on the writer thread before the record is written; may fill in fields, write records of
     * its own, and return false to skip this one. */
    bool (*prepare)(struct stet_event *e, struct stet_journal *j);
    /* Runs on the writer thread when no more records wait. `prepare` sets it to postpone work. */
    void (*after)(struct stet_event *e);
    struct stet_view bytes[2]; /* for prepare: a program and its options; stet_event_take */
    uint64_t number;           /* for prepare */
    void *extra;               /* for prepare */
    void (*drop)(void *extra); /* NULL: stet_mem_free */
};

/* NULL if memory runs out (counted as a fault). */
struct stet_event *stet_event_new(enum stet_rec kind);
/* A copy of `bytes` that belongs to the event; if memory runs out, the event is sent without it. */
void stet_event_take(struct stet_event *e, size_t which, struct stet_view bytes);
/* Adopts the event. An event whose arena failed, or that finds the queue full, is dropped and
 * counted. */
void stet_event_send(struct stet_event *e);
void stet_event_free(struct stet_event *e);

/* Makes sure that there is a writer; it reads the ring by itself now and then. Lock-free. */
void stet_intercept_writer_ensure(void);
/* The same, and wakes it. */
void stet_intercept_writer_poke(void);
/* So many records wait that slow work should be postponed. */
bool stet_intercept_writer_behind(void);
/* Writes everything now, from this thread; gives up if the writer is stuck. */
void stet_intercept_writer_flush(int ms);

/* Around fork. */
bool stet_intercept_writer_fork_prepare(void); /* false: could not stop the writer in time */
void stet_intercept_writer_fork_parent(void);
void stet_intercept_writer_fork_child(bool prepared);
/* The last record of the process; nothing is written after it. */
void stet_intercept_writer_end(int ms);

#endif
