/* From the ring and the counters to the journal: the writer's alone, under its lock. */
#ifndef STET_INTERCEPT_DRAIN_H
#define STET_INTERCEPT_DRAIN_H

#include "journal/write.h"

/* The clock's anchor; at start. */
void stet_drain_init(void);
/* Executions up to ring position `end`, all of them before `until_ns`. True when there were any. */
bool stet_drain_ring(struct stet_journal *j, uint64_t end, uint64_t until_ns);
/* When the last execution began that was drained; 0 for none. */
uint64_t stet_drain_last_run(void);
/* Host-device traffic since the last record of it, at most once a second (a training loop has some
 * in every step) but for the `last`. True when there was any. */
bool stet_drain_transfers(struct stet_journal *j, bool last);
/* The process record of the end, with totals. */
void stet_drain_end(struct stet_journal *j);
/* In the child of a fork: totals start again. */
void stet_drain_reset(void);
/* Executions that found the ring full, of an executable that is gone. */
void stet_drain_missed(uint64_t executable, uint64_t missed);

#endif
