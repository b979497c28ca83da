/* One launch of a job among those that use the same channel. A folder or a tier still has the
 * messages of earlier launches, and a job may have the same name each time (the address of its
 * coordinator, for example). Launches are therefore numbered: "launch/<n>" exists for each, and the
 * number is part of every further key. A store that the job itself serves is new in each launch,
 * but a process that an earlier launch left behind may reach it at the same address: there the
 * name of the launch is part of every key. */
#ifndef STET_POD_POD_LAUNCH_H
#define STET_POD_POD_LAUNCH_H

#include "pod/channel.h"

enum { STET_POD_CLAIM = 160 };

/* What a process writes under "rank/<its rank>": "<host> <pid> <when it started, in clock ticks
 * since the host's> <and in seconds of the wall clock>". */
void stet_pod_launch_claim(char out[STET_POD_CLAIM]);

/* Finds the launch that this process belongs to, adds it to the channel's prefix, and sets
 * `c->job`, a name that no other launch has. Of numbered launches it is the last one, or the next
 * if the last one is over: this rank was in it, or another rank of it has ended. A rank of another
 * host counts as ended if it started more than ten minutes before this process. STET_REFUSED:
 * another process of this host has the rank and still runs. A channel that fails is no error here.
 */
enum stet_rc stet_pod_launch_join(struct stet_pod_channel *c, int64_t rank, struct stet_err *err);

/* Another process came first as `rank`. Unless this one is a child of it, either may be of another
 * launch, and what they write is not to be relied on: says so to all. */
void stet_pod_launch_contest(struct stet_pod_channel *c, int64_t rank);
/* Did a process say so? */
bool stet_pod_launch_is_contested(struct stet_pod_channel *c, int64_t rank);

#endif
