/* Reads the values that Python holds in the frames of the thread that waits for a compile. It
 * writes into a buffer of fixed size and runs no Python code.
 *
 * There are two parts, so that the interpreter's lock can be released between them: the framework's
 * call, and the user's frames. */
#ifndef STET_INTERCEPT_PYVALUES_H
#define STET_INTERCEPT_PYVALUES_H

#include "intercept/pyread.h"

struct stet_pyvalues {
    struct stet_journal_values out;
    bool hide_numbers; /* keep only hashes of them */
    struct stet_pyseen seen;
};

/* Prepares to read. */
void stet_intercept_pyvalues_init(struct stet_pyvalues *v, bool hide_numbers);
/* Reads the function that is compiled, its arguments and how it was jitted. `frame` is the
 * innermost one. With the interpreter's lock held; keeps no reference and leaves no error set. */
void stet_intercept_pyvalues_call(const struct stet_intercept_python *py, PyObject *frame,
                                  struct stet_pyvalues *v);
/* The same for what the user's own frames hold, the generators that their loops take from, and what
 * the user's line passed to a library's wrapper. */
void stet_intercept_pyvalues_frames(const struct stet_intercept_python *py, PyObject *frame,
                                    struct stet_pyvalues *v);

#endif
