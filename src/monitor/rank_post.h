/* Where ranks are, for hosts that see no common folder: the `stet run` of each host posts it
 * through the agent while its ranks make no progress, and `stet ranks` on a host of the job reads
 * it for the ranks that it does not find here. Messages are written once, so each is for a quarter
 * of a minute.
 */
#ifndef STET_MONITOR_RANK_POST_H
#define STET_MONITOR_RANK_POST_H

#include "monitor/rank_state.h"

struct stet_rank_post {
    uint64_t slot; /* that was posted last */
    int64_t not_before_ms;
};

/* Posts the ranks of this host, a second at most; after a failure none during the next minute. */
void stet_monitor_post(struct stet_rank_post *p, const struct stet_rank_states *s,
                       const struct stet_monitor_attach *a);
/* Fills in ranks that are missing here, three seconds at most. */
void stet_monitor_post_read(struct stet_rank_states *s, const struct stet_monitor_attach *a);

#endif
