/* Reads arrays of known libraries: type, dtype, shape, weak type and kind of sharding, never an
 * element. */
#ifndef STET_INTERCEPT_PYARRAY_H
#define STET_INTERCEPT_PYARRAY_H

#include "intercept/pyread.h"

/* Adds one value under the reader's path. False if the object is not such an array after all. */
bool stet_intercept_pyarray_read(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o);

#endif
