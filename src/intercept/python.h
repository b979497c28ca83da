/* The little of CPython's C API that we use, found by dlsym: no header of Python's is needed, and
 * nothing is linked. Names and meanings are those of its documentation. */
#ifndef STET_INTERCEPT_PYTHON_H
#define STET_INTERCEPT_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

typedef struct stet_py_object PyObject;
typedef ptrdiff_t Py_ssize_t;

/* PY(result, name, arguments): must be there. PY_MAY: may be missing (NULL). */
#define STET_PYTHON_FUNCTIONS                                                                      \
    PY(int, Py_IsInitialized, (void))                                                              \
    PY(const char *, Py_GetVersion, (void))                                                        \
    PY(int, PyGILState_Ensure, (void))                                                             \
    PY(void, PyGILState_Release, (int))                                                            \
    PY(void *, PyGILState_GetThisThreadState, (void))                                              \
    PY(void *, PyInterpreterState_Head, (void))                                                    \
    PY(void *, PyInterpreterState_Next, (void *))                                                  \
    PY(PyObject *, PySys_GetObject, (const char *))                                                \
    PY(PyObject *, PyObject_CallObject, (PyObject *, PyObject *))                                  \
    PY(PyObject *, PyObject_GetAttrString, (PyObject *, const char *))                             \
    PY(PyObject *, PyDict_GetItemString, (PyObject *, const char *))                               \
    PY(int, PyDict_Next, (PyObject *, Py_ssize_t *, PyObject **, PyObject **))                     \
    PY(unsigned long, PyLong_AsUnsignedLong, (PyObject *))                                         \
    PY(const char *, PyUnicode_AsUTF8, (PyObject *))                                               \
    PY(PyObject *, PyFrame_GetBack, (PyObject *))                                                  \
    PY(PyObject *, PyFrame_GetCode, (PyObject *))                                                  \
    PY(int, PyFrame_GetLineNumber, (PyObject *))                                                   \
    PY(PyObject *, PyErr_Occurred, (void))                                                         \
    PY(void, PyErr_Clear, (void))                                                                  \
    PY(void, Py_DecRef, (PyObject *))                                                              \
    PY_MAY(PyObject *, PyImport_ImportModule, (const char *))                                      \
    PY_MAY(PyObject *, PyObject_CallMethod, (PyObject *, const char *, const char *, ...))         \
    PY_MAY(PyObject *, PyCFunction_NewEx, (void *, PyObject *, PyObject *))                        \
    PY_MAY(PyObject *, Py_BuildValue, (const char *, ...))                                         \
    PY_MAY(Py_ssize_t, PySequence_Size, (PyObject *))                                              \
    PY_MAY(PyObject *, PySequence_GetItem, (PyObject *, Py_ssize_t))                               \
    PY_MAY(double, PyFloat_AsDouble, (PyObject *))                                                 \
    PY_MAY(int, Py_IsFinalizing, (void))                                                           \
    PY_MAY(int, _Py_IsFinalizing, (void))                                                          \
    PY_MAY(void *, PyThreadState_GetUnchecked, (void))                                             \
    PY_MAY(void *, _PyThreadState_UncheckedGet, (void))                                            \
    PY_MAY(int, PyGC_Disable, (void))                                                              \
    PY_MAY(int, PyGC_Enable, (void))

struct stet_python {
#define PY(result, name, arguments)     result(*name) arguments;
#define PY_MAY(result, name, arguments) result(*name) arguments;
    STET_PYTHON_FUNCTIONS
#undef PY
#undef PY_MAY
};

/* The interpreter of this process, or NULL: none loaded, or not one we can use. Looks again each
 * time until it finds one. */
const struct stet_python *stet_python(void);

/* NULL when it may be asked for the GIL now, else why not: not running, finalising, several
 * interpreters, no GIL. */
const char *stet_python_unfit(const struct stet_python *py);
/* Does this very thread hold the GIL? */
bool stet_python_held(const struct stet_python *py);

#endif
