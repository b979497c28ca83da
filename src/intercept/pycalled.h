/* The function that a framework compiles: where it is defined, what it closes over, the globals it
 * names, the names of its parameters. */
#ifndef STET_INTERCEPT_PYCALLED_H
#define STET_INTERCEPT_PYCALLED_H

#include "intercept/pyobject.h"

/* Adds the function and makes what it holds roots of the reader (pyobject.h). *examined is how many
 * globals may still be examined. */
void stet_intercept_pycalled_read(struct stet_pyread *r, PyObject *fun, size_t *examined);

#endif
