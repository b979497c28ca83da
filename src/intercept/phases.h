/* Records JAX's own times of tracing and lowering, which never reach PJRT. The walk over Python's
 * stacks calls it, and JAX then reports each phase. */
#ifndef STET_INTERCEPT_PHASES_H
#define STET_INTERCEPT_PHASES_H

#include "intercept/python.h"

/* Call it with the GIL held and no error set. When JAX is first found loaded, registers a listener
 * for the duration of each trace and each lowering; they go to the journal. Leaves no error set. */
void stet_intercept_phases_watch(const struct stet_intercept_python *py);
/* The same after a client was made, so that the first program's tracing is seen too. Takes the GIL
 * on a thread of ours when this thread does not hold it. */
void stet_intercept_phases_begin(void);

/* A program is compiled or loaded through the layer. A compile that JAX reports
 * without such a call ran on a backend that the layer does not see. */
void stet_intercept_phases_compiled(void);

#endif
