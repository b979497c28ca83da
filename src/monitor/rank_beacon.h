/* What `stet run` leaves for other hosts that see the same state folder, while its command is one
 * of several of a job: a sign of life, and, when its ranks make no progress, where each of them is.
 * `stet ranks` on another host cannot look into these processes; it reads this instead. */
#ifndef STET_MONITOR_RANK_BEACON_H
#define STET_MONITOR_RANK_BEACON_H

#include "monitor/rank_state.h"

struct stet_beacon;

/* NULL when out of memory; the other functions accept that. */
struct stet_beacon *stet_monitor_beacon_new(const char *run, const char *folder);
/* Call it every few hundred milliseconds. Does nothing until a process of the run has joined a job.
 */
void stet_monitor_beacon_poll(struct stet_beacon *b);
void stet_monitor_beacon_free(struct stet_beacon *b);

/* Fills in what the `stet run` of another host left about a process: kind, line, what it waits for.
 * False if there is nothing, or it is older than a minute. `folder` is the run's or the job's. */
bool stet_monitor_beacon_read(const char *folder, struct stet_rank_state *s);
/* The same from a message of rank_post.c, for a rank that has no process here. False if it is not
 * of this rank, or not a message. */
bool stet_monitor_beacon_take(struct stet_view message, struct stet_rank_state *s,
                              struct stet_arena *texts);

#endif
