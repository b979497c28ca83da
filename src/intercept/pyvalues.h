/* Reads the values that Python holds in the frames of the thread that waits for a compile. The walk
 * over the stacks calls it with the interpreter's lock held. It writes into a buffer of fixed size
 * and runs no Python code. */
#ifndef STET_INTERCEPT_PYVALUES_H
#define STET_INTERCEPT_PYVALUES_H

#include "intercept/python.h"
#include "journal/values_record.h"

/* Reads the framework's call (the function, its arguments) and the scalars, arrays and functions
 * in the user's own frames, starting at the innermost frame. `hide_numbers` keeps only hashes of
 * numbers. With the interpreter's lock held; runs no Python code, keeps no reference and leaves no
 * error set. */
void stet_intercept_pyvalues_read(const struct stet_intercept_python *py, PyObject *frame,
                                  bool hide_numbers, struct stet_journal_values *out);

#endif
