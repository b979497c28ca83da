/* The journal's writer, inside the user's process. Any failure becomes a counted no-op: the host
 * never notices. One writer per process; it owns its files and copies what it keeps. */
#ifndef STET_JOURNAL_WRITE_H
#define STET_JOURNAL_WRITE_H

#include "journal/execs.h"
#include "journal/format.h"

struct stet_journal;

/* A process with a lower limit of open files has none to spare for a journal. */
enum { STET_JOURNAL_DESCRIPTORS = 64 };

struct stet_journal_options {
    const char *dir;         /* folder of the journal files; made (one level) when missing */
    uint64_t main_cap;       /* bytes of the main stream; 0 means 256 MiB */
    uint64_t detail_segment; /* bytes of one detail segment; 0 means 4 MiB */
    unsigned detail_keep;    /* detail segments kept, the newest; 0 means 8 */
};

struct stet_journal_stats {
    uint64_t written, lost;  /* records */
    uint64_t bytes, dropped; /* bytes on disk; records dropped by rotation */
    uint64_t executions;     /* handed to stet_journal_write_execs */
};

/* Creates a writer; nothing touches the disk before the first record. NULL only if memory runs out,
 * and every function below accepts NULL as "off". Strings are copied. */
struct stet_journal *stet_journal_new(const struct stet_journal_options *options);
/* Reports the remaining losses and closes. No other call on `j` may run at the same time. */
void stet_journal_free(struct stet_journal *j);

/* The process record is special: it is kept, and written again at the head of every new main file
 * (after a fork, or if the file was deleted), so that every file identifies its process. Call once,
 * first. */
void stet_journal_set_process(struct stet_journal *j, const struct stet_rec_process *process);

/* Appends one record: `record` points to the struct of that kind, all of it borrowed. From any
 * thread; waits at most a second for another writing thread. False if the record was lost
 * (counted). */
bool stet_journal_write(struct stet_journal *j, enum stet_rec kind, const void *record);
/* The same with the given time instead of now. */
bool stet_journal_write_at(struct stet_journal *j, enum stet_rec kind, uint64_t time_ns,
                           const void *record);

/* Executions in order. Call it every second or few thousand executions, and before writing a
 * compile_begin, so that records are in the order of events. Any `n`. */
bool stet_journal_write_execs(struct stet_journal *j, const struct stet_exec *execs, size_t n);

/* Writes the frames once for each distinct stack; returns its hash, for compile_stack. */
struct stet_hash stet_journal_write_stack(struct stet_journal *j, struct stet_frames frames);

/* For pthread_atfork, in this order. In the child the journal starts a new file at its first
 * record; a child that writes nothing leaves no file. Without these calls a forked child's records
 * are dropped (never mixed into the parent's file). */
void stet_journal_fork_prepare(struct stet_journal *j);
void stet_journal_fork_parent(struct stet_journal *j);
void stet_journal_fork_child(struct stet_journal *j);

/* Copied without waiting for a writer. */
struct stet_journal_stats stet_journal_stats(struct stet_journal *j);

/* CLOCK_MONOTONIC nanoseconds. */
uint64_t stet_journal_now(void);

#endif
