/* Reads the counters of a framework that PJRT never shows. Today these are PyTorch/XLA's. It runs
 * with the interpreter's lock held, and sends the values to the journal. */
#ifndef STET_INTERCEPT_COUNTERS_H
#define STET_INTERCEPT_COUNTERS_H

#include "intercept/python.h"

/* Call it with the GIL held and no error set, during a compile. When PyTorch/XLA is first found
 * loaded, registers a function that Python calls at its end; the counters are read then. Leaves no
 * error set. */
void stet_counters_watch(const struct stet_intercept_python *py);

#endif
