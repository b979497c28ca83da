/* Records the Python stack of the thread that waits for a compile while it runs, and the values
 * there. The compile hooks call begin before the plugin and end after it. After end, the
 * caller must not use the walk. */
#ifndef STET_INTERCEPT_PYSTACK_H
#define STET_INTERCEPT_PYSTACK_H

#include <stdbool.h>
#include <stdint.h>

struct stet_pystack;

/* The interpreter's version, or NULL if there is none in this process. */
const char *stet_pystack_version(void);

/* Starts a walk, on another thread (or at once, if the caller holds the GIL). The walk itself sends
 * the stacks to the journal, under the number of the compile (or load). NULL: there is no Python,
 * or no memory. */
struct stet_pystack *stet_pystack_begin(uint64_t index, bool load);
/* The call has ended. Waits briefly for a walk in progress, then gives it up; a walk that has not
 * begun by then never records frames. Accepts NULL. */
void stet_pystack_end(struct stet_pystack *s);
/* In the child of a fork: the walking threads do not exist here. */
void stet_pystack_after_fork(void);

#endif
