/* Functions shared by pulse.c and pulse_causes.c. No other file includes it. */
#ifndef STET_MONITOR_PULSE_INTERNAL_H
#define STET_MONITOR_PULSE_INTERNAL_H

#include "monitor/pulse.h"

/* Returns the cell of a cause, or the shared cell when there are too many; never NULL. */
struct stet_pulse_cell *stet_pulse_cell(struct stet_pulse *p, enum stet_lane lane, int64_t rank,
                                        enum stet_cause cause);
/* Counts torch.compile's frames and compiles. True if anything changed since the last time. */
bool stet_pulse_take_torch(struct stet_pulse *p, const struct stet_torch *t);

#endif
