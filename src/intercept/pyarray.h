/* Reads arrays of known libraries: type, dtype, shape, weak type and kind of sharding, never an
 * element. Each function adds one value, or returns false if the object is not such an array after
 * all. */
#ifndef STET_INTERCEPT_PYARRAY_H
#define STET_INTERCEPT_PYARRAY_H

#include "intercept/pyobject.h"

bool stet_intercept_pyarray_jax(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o);
bool stet_intercept_pyarray_numpy(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o);
bool stet_intercept_pyarray_torch(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o);

#endif
