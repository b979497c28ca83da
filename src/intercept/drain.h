/* Moves executions from the ring and the counters to the journal. Only the writer uses it, under
 * its lock. */
#ifndef STET_INTERCEPT_DRAIN_H
#define STET_INTERCEPT_DRAIN_H

#include "journal/write.h"

/* The clock's anchor; called at start. */
void stet_drain_init(void);
/* Executions up to ring position `end`, all of them before `until_ns`. True if there were any. */
bool stet_drain_ring(struct stet_journal *j, uint64_t end, uint64_t until_ns);
/* When the last execution that was drained began; 0 for none. Its executable is stored in
 * `executable`, which may be NULL. */
uint64_t stet_drain_last_run(uint64_t *executable);
/* Host-device traffic since its last record, at most once a second (a training loop has some in
 * every step), except for the `last`. True if there was any. */
bool stet_drain_transfers(struct stet_journal *j, bool last);
/* The process record of the end, with totals. */
void stet_drain_end(struct stet_journal *j);
/* In the child of a fork: totals start at zero. */
void stet_drain_reset(void);
/* Executions that found the ring full, of an executable that is gone. */
void stet_drain_missed(uint64_t executable, uint64_t missed);

#endif
