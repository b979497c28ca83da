/* Which files are a framework's own (pycalls.def). */
#ifndef STET_INTERCEPT_PYCALLS_H
#define STET_INTERCEPT_PYCALLS_H

#include "base/view.h"

#include <stdbool.h>

/* May frames of the file hold the call that is compiled? */
bool stet_intercept_pycalls_holds(struct stet_view file);
/* Is it a file of the framework? Its functions pass the user's arguments on as they are. */
bool stet_intercept_pycalls_owns(struct stet_view file);

#endif
