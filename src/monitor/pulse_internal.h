/* Shared by pulse.c and pulse_causes.c. */
#ifndef STET_MONITOR_PULSE_INTERNAL_H
#define STET_MONITOR_PULSE_INTERNAL_H

#include "monitor/pulse.h"

/* The cell of a cause, or the one for what is too many; never NULL. */
struct stet_pulse_cell *stet_pulse_cell(struct stet_pulse *p, enum stet_pulse_lane lane,
                                        int64_t rank, enum stet_cause cause);
/* The cause, made when new in the place of the one that is longest ago. Counts are the caller's. */
struct stet_pulse_cause *stet_pulse_cause(struct stet_pulse *p, enum stet_pulse_lane lane,
                                          const struct stet_recompile *r);
void stet_pulse_take_torch(struct stet_pulse *p, const struct stet_torch *t);

#endif
