/* Builds the index of names of a module: where each gets a value, and its imports. module.c calls
 * it once, after parsing. The module owns the index. */
#ifndef STET_PYTHON_BINDINGS_H
#define STET_PYTHON_BINDINGS_H

#include "python/module.h"

/* Fills the bindings and imports of a module whose tree is indexed. False when out of memory. */
bool stet_python_bindings_find(struct stet_python_module *m);

#endif
