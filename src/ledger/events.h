/* Reads all records of a run's journals in one order: within a process as written, between
 * processes by the wall clock. The readers of a run open it, call next until it is empty, and close
 * it. An event is valid until the next call. */
#ifndef STET_LEDGER_EVENTS_H
#define STET_LEDGER_EVENTS_H

#include "journal/read.h"

struct stet_events_process;

struct stet_events {
    char *folder; /* <run>/journal */
    struct stet_events_process **processes;
    size_t process_count;
};

struct stet_run_event {
    size_t process;   /* index, stable while open */
    uint64_t wall_ns; /* CLOCK_REALTIME */
    struct stet_journal_event event;
};

/* A run folder without journals gives no events. */
enum stet_rc stet_ledger_events_open(struct stet_events *ev, const char *run_folder,
                                     struct stet_err *err);
void stet_ledger_events_close(struct stet_events *ev);

/* Returns the next event, valid until the next call. STET_NOT_FOUND means that there is none for
 * now; if the run is in progress, refresh and call again (late events come late). */
enum stet_rc stet_ledger_events_next(struct stet_events *ev, struct stet_run_event *out);
/* Looks for new files. */
enum stet_rc stet_ledger_events_refresh(struct stet_events *ev, struct stet_err *err);

/* Damage found so far in the files of one process. */
struct stet_journal_damage stet_ledger_events_damage(const struct stet_events *ev, size_t process);

#endif
