/* What a Python object holds: the items of a container, the fields of an object, what a function
 * closes over. No Python code runs. */
#ifndef STET_INTERCEPT_PYCHILDREN_H
#define STET_INTERCEPT_PYCHILDREN_H

#include "intercept/pyread.h"

/* Called for each of them, with the step that leads there. The object keeps `o`, which is not NULL.
 * False ends it. */
typedef bool stet_pychildren_visit(void *data, enum stet_pystep_kind kind, const void *at,
                                   uint32_t number, PyObject *o);

/* The number of items of a tuple, list or dictionary. */
Py_ssize_t stet_intercept_pychildren_size(const struct stet_pyread *r, const struct stet_pytype *k,
                                          PyObject *o);
/* The object that a method is bound to, borrowed; NULL for anything else. */
PyObject *stet_intercept_pychildren_self(const struct stet_pyread *r, const struct stet_pytype *k,
                                         PyObject *o);
/* The function in a jitted one, or in another wrapper that can be called; borrowed from it. NULL if
 * there is none. */
PyObject *stet_intercept_pychildren_wrapped(struct stet_pyread *r, const struct stet_pytype *k,
                                            PyObject *o);
/* Calls `visit` for what an object of type `k` holds; for at most this many items of a container.
 * False if it was not called for all. */
bool stet_intercept_pychildren(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                               Py_ssize_t most, stet_pychildren_visit *visit, void *data);

#endif
