/* Watches the loads of stored executables in this process. A load that crashes, or during which the
 * process ends after the load's deadline, leaves a strike in the store (store/quarantine.h). The
 * code that loads calls enter and leave around each load. */
#ifndef STET_INTERCEPT_LOAD_WATCH_H
#define STET_INTERCEPT_LOAD_WATCH_H

#include "store/quarantine.h"

/* Called around a load in this thread; not nested. `compile_ns` is how long compiling it took. A
 * fatal signal in between leaves a strike and goes on to the previous handler; only one load at a
 * time has this. */
void stet_intercept_load_enter(const struct stet_store *s, struct stet_hash key,
                               uint64_t compile_ns);
void stet_intercept_load_leave(void);
/* Called regularly. If a load takes longer than allowed, its strike is written, and removed again
 * if the load ends after all. Any thread. */
void stet_intercept_load_watch(void);
/* Prepares the first load, so that it takes no longer than others. Any thread. */
void stet_intercept_load_prepare(const struct stet_store *s);

#endif
