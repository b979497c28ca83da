/* The variables of one Python frame, and the iterators of the loops that it is in.
 *
 * Up to 3.11 the variables are read by the layout of the frame; from 3.12 there is PyFrame_GetVar.
 * The iterator of a `for` has no name: it is on the frame's value stack. All of it happens with the
 * interpreter's lock held and runs no Python code. */
#ifndef STET_INTERCEPT_PYFRAME_H
#define STET_INTERCEPT_PYFRAME_H

#include "intercept/pyread.h"

enum { STET_PYVARS_MOST = 256, STET_PYLOOPS_MOST = 8 };

/* Names in the order of the frame's slots. */
struct stet_pyvars {
    PyObject *frame, *code; /* borrowed */
    PyObject *const *slots; /* NULL: variables are asked for by name */
    bool readable;
    size_t count;
    PyObject *names[STET_PYVARS_MOST]; /* borrowed from the tuples */
    enum stet_journal_value_scope scopes[STET_PYVARS_MOST];
    PyObject *tuples[3];
};

void stet_intercept_pyframe_open(struct stet_pyread *r, PyObject *frame, PyObject *code,
                                 struct stet_pyvars *v);
void stet_intercept_pyframe_close(struct stet_pyread *r, struct stet_pyvars *v);
/* The value of a variable; a new reference, or NULL if it is not bound. */
PyObject *stet_intercept_pyframe_variable(struct stet_pyread *r, const struct stet_pyvars *v,
                                          size_t i);
/* The objects on the value stack of a frame that waits for a call, the outermost first, without
 * the call's own. Borrowed: the frame keeps them. Returns how many of them `out` has. */
size_t stet_intercept_pyframe_stack(struct stet_pyread *r, const struct stet_pyvars *v,
                                    PyObject *out[STET_PYLOOPS_MOST]);

/* How many entries a frame's value stack has below those that instruction `at` uses, in the code
 * of this version of Python; 0 if it is not known. `at` is in bytes. */
size_t stet_intercept_pyloops_depth(const struct stet_intercept_python *py,
                                    const unsigned char *bytes, size_t size, size_t at);

#endif
