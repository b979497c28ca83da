/* The globals that a function's code names, and the variables of a module. */
#ifndef STET_INTERCEPT_PYGLOBALS_H
#define STET_INTERCEPT_PYGLOBALS_H

#include "intercept/pyobject.h"

/* Makes the globals that `code` names roots of the reader (pyobject.h), except functions. *examined
 * is how many of a module's globals may still be examined. */
void stet_intercept_pyglobals_named(struct stet_pyread *r, PyObject *code, PyObject *globals,
                                    size_t *examined);
/* The same for all variables of a module, whose own frame has its globals as locals. */
void stet_intercept_pyglobals_all(struct stet_pyread *r, PyObject *globals, size_t *examined);

#endif
