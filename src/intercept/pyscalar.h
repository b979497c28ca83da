/* Adds single values of Python to what is recorded of a compile: numbers, flags, texts, functions.
 * Each is added under the reader's path, with its scope and frame. */
#ifndef STET_INTERCEPT_PYSCALAR_H
#define STET_INTERCEPT_PYSCALAR_H

#include "intercept/pyread.h"

/* Adds a value of that type. If there is no room it is counted, and `cut` of the reader is set. */
void stet_intercept_pyscalar_emit(struct stet_pyread *r, const struct stet_pytype *k,
                                  struct stet_journal_value *v);
/* Adds None, a truth value, a number or a text. False if it is none of them. */
bool stet_intercept_pyscalar_read(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o);
/* Adds a Python function: name, file and line of its definition. `self` is the object that it is
 * bound to, or NULL. */
void stet_intercept_pyscalar_function(struct stet_pyread *r, const struct stet_pytype *k,
                                      PyObject *function, PyObject *self);
/* Adds how many items a container has. */
void stet_intercept_pyscalar_length(struct stet_pyread *r, const struct stet_pytype *k,
                                    Py_ssize_t n);

#endif
