/* Compiles for lifting that no caller waits for. They run one at a time, on a thread of ours, and
 * never for a client that is being destroyed. STET_LIFT_BACKGROUND is how many seconds such a
 * compile may take; with `off` there are none. */
#ifndef STET_INTERCEPT_LIFT_SPARE_H
#define STET_INTERCEPT_LIFT_SPARE_H

#include "intercept/plugin.h"

struct stet_lift_job {
    struct stet_lift_job *next;
    struct stet_plugin *plugin;
    PJRT_Client *client;
    uint64_t expected_ns;                 /* how long its compile may take */
    void (*run)(struct stet_lift_job *);  /* may call the plugin */
    void (*free)(struct stet_lift_job *); /* also if it did not run; may call the plugin */
};

void stet_intercept_lift_spare_init(void);
/* Will a compile that takes this long be made? An exit waits for one in progress. */
bool stet_intercept_lift_spare_takes(uint64_t expected_ns);
/* Adopts the job. */
void stet_intercept_lift_spare_add(struct stet_lift_job *job);
/* Before a client is destroyed: drops its jobs, and waits for one in progress. */
void stet_intercept_lift_spare_client_gone(const struct stet_plugin *p, const PJRT_Client *client);
/* At exit: no job begins any more; waits for the one in progress as long as it may take. */
void stet_intercept_lift_spare_end(void);

/* Around fork: the first before any lock is taken. In the child no job is left. */
void stet_intercept_lift_spare_fork_wait(void);
void stet_intercept_lift_spare_fork_prepare(void);
void stet_intercept_lift_spare_fork_parent(void);
void stet_intercept_lift_spare_fork_child(void);

#endif
