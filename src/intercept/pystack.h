/* Python stacks of all threads while a compile runs: who waits for it, and at which line. */
#ifndef STET_INTERCEPT_PYSTACK_H
#define STET_INTERCEPT_PYSTACK_H

#include <stdbool.h>
#include <stdint.h>

struct stet_pystack;

/* The interpreter's version as it tells it, or NULL when there is none in this process. */
const char *stet_pystack_version(void);

/* Starts to look, on a thread of its own (or at once, when the caller holds the GIL). The stacks
 * reach the journal by themselves, under the number of the compile (or load). NULL: nothing to look
 * at, or no memory. */
struct stet_pystack *stet_pystack_begin(uint64_t index, bool load);
/* The call is over. Waits a moment for a look that is under way, then gives it up; a look that has
 * not begun by then never shows frames. Takes NULL. */
void stet_pystack_end(struct stet_pystack *s);
/* In the child of a fork: whoever looked is not here. */
void stet_pystack_after_fork(void);

#endif
