/* What a framework counts itself and PJRT never shows. */
#ifndef STET_INTERCEPT_COUNTERS_H
#define STET_INTERCEPT_COUNTERS_H

#include "intercept/python.h"

/* With the GIL held and no error set, during a compile. The first time that PyTorch/XLA is found
 * loaded, asks Python to call us when it ends; its counters are read then. Leaves no error set. */
void stet_counters_watch(const struct stet_intercept_python *py);

#endif
