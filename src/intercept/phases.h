/* JAX's own times of tracing and lowering, which never reach PJRT. */
#ifndef STET_INTERCEPT_PHASES_H
#define STET_INTERCEPT_PHASES_H

#include "intercept/python.h"

/* With the GIL held and no error set. The first time that JAX is found loaded, asks it to report
 * the duration of each trace and each lowering to us; they go to the journal. Leaves no error set.
 */
void stet_intercept_phases_watch(const struct stet_python *py);
/* The same after a client was made, so that the first program's tracing is seen too. Takes the GIL
 * on a thread of ours when this thread does not hold it. */
void stet_intercept_phases_begin(void);

#endif
