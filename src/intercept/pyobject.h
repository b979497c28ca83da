/* Reads one Python object into values, without running a line of Python.
 *
 * It reads only exact built-in types, containers derived from them, and the array types of known
 * libraries. Of everything else it keeps the type's name and, to a small depth, the instance
 * dictionary. `left` and `room` of the reader bound the objects and bytes. The children of a
 * container share them, so that a large first argument leaves room for a small last one. */
#ifndef STET_INTERCEPT_PYOBJECT_H
#define STET_INTERCEPT_PYOBJECT_H

#include "intercept/pyread.h"

/* Reads `o` under the path `name`. `depth` limits containers, `inside` instance dictionaries. */
void stet_intercept_pyread_named(struct stet_pyread *r, struct stet_view name, PyObject *o,
                                 unsigned depth, unsigned inside);

/* The same for the next of so many objects that share what is left. `o` may be NULL. */
void stet_intercept_pyread_among(struct stet_pyread *r, size_t count, struct stet_view name,
                                 PyObject *o, unsigned depth, unsigned inside);

/* Adds a value of that type at the reader's path. */
void stet_intercept_pyread_emit(struct stet_pyread *r, const struct stet_pytype *k,
                                struct stet_journal_value *v);

#endif
