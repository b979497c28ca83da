/* Reads Python objects into values, nearest first, without running a line of Python.
 *
 * Roots are variables and arguments. What they are is added at once. What they hold is read step by
 * step: first everything one step away, then two, and so on. Numbers, flags and texts are added
 * where they are found, arrays after all of them, so that the arrays of a large model do not hide
 * its numbers. It reads only exact built-in types, containers derived from them, the array types of
 * known libraries, and what functions close over. Of everything else it keeps the type's name, the
 * address, and the fields in the instance dictionary and slots.
 *
 * `left` and `room` of the reader bound the objects and bytes. Each root has a part of them, so
 * that a large first argument leaves room for a small last one. */
#ifndef STET_INTERCEPT_PYOBJECT_H
#define STET_INTERCEPT_PYOBJECT_H

#include "intercept/pyread.h"

enum { STET_PYDEPTH_MOST = 12 };

/* Begins to read: at most this many objects and bytes. `once`: of an object that was read already,
 * also in an earlier run, only the address is added. */
void stet_intercept_pyobject_begin(struct stet_pyread *r, unsigned objects, uint32_t bytes,
                                   bool once);
/* Adds `o` under the name, which must live until the end, in the scope and frame of the reader. `o`
 * may be NULL. `depth` limits the steps (STET_PYDEPTH_MOST at most), `inside` those into objects.
 * What holds `o` must keep it until the end. */
void stet_intercept_pyobject_root(struct stet_pyread *r, struct stet_view name, PyObject *o,
                                  unsigned depth, unsigned inside);
/* The same for a tuple or dictionary whose items are roots: the arguments of a call. */
void stet_intercept_pyobject_roots(struct stet_pyread *r, struct stet_view name, PyObject *o,
                                   unsigned depth, unsigned inside);
/* Reads what the roots hold, and ends. */
void stet_intercept_pyobject_end(struct stet_pyread *r);

#endif
