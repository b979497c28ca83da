/* The path of a value in what is recorded of a compile: "args[0]['w']", "self.plan.lr". */
#ifndef STET_INTERCEPT_PYPATH_H
#define STET_INTERCEPT_PYPATH_H

#include "intercept/pyread.h"

/* Appends a step to the reader's path: a name, a field, an item of a sequence, an item of a
 * dictionary. A path that becomes too long is cut. */
void stet_intercept_pypath_name(struct stet_pyread *r, struct stet_view name);
void stet_intercept_pypath_field(struct stet_pyread *r, PyObject *name);
void stet_intercept_pypath_index(struct stet_pyread *r, long long i);
void stet_intercept_pypath_key(struct stet_pyread *r, PyObject *key);

#endif
