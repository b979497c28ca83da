/* Watches the loads of stored executables in this process. A load that crashes, or during which the
 * process ends after the load's deadline, leaves a strike in the store (store/quarantine.h). */
#ifndef STET_INTERCEPT_LOAD_WATCH_H
#define STET_INTERCEPT_LOAD_WATCH_H

#include "store/quarantine.h"

/* Around a load in this thread; not nested. `compile_ns` is what compiling it took. A fatal signal
 * in between leaves a strike and goes on to whoever handled it before; for one load at a time. */
void stet_intercept_load_enter(const struct stet_store *s, struct stet_hash key,
                               uint64_t compile_ns);
void stet_intercept_load_leave(void);
/* Called every now and then: a load that takes longer than it may has its strike noted, which is
 * taken back when it ends after all. Any thread. */
void stet_intercept_load_watch(void);
/* Beforehand, so that the first load waits no longer than others. Any thread. */
void stet_intercept_load_prepare(const struct stet_store *s);

#endif
