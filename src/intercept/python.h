/* The small part of CPython's C API that the layer uses, found by dlsym: no header of Python is
 * needed, and nothing is linked. Names and meanings are those of its documentation. */
#ifndef STET_INTERCEPT_PYTHON_H
#define STET_INTERCEPT_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

typedef struct stet_py_object PyObject;
typedef ptrdiff_t Py_ssize_t;

/* PY(result, name, arguments): required. PY_MAY: may be missing (NULL). */
#define STET_PYTHON_FUNCTIONS                                                                      \
    PY(int, Py_IsInitialized, (void))                                                              \
    PY(const char *, Py_GetVersion, (void))                                                        \
    PY(int, PyGILState_Ensure, (void))                                                             \
    PY(void, PyGILState_Release, (int))                                                            \
    PY(void *, PyGILState_GetThisThreadState, (void))                                              \
    PY(void *, PyEval_SaveThread, (void))                                                          \
    PY(void, PyEval_RestoreThread, (void *))                                                       \
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
    PY_MAY(PyObject *, PyBytes_FromStringAndSize, (const char *, Py_ssize_t))                      \
    PY_MAY(int, PyBytes_AsStringAndSize, (PyObject *, char **, Py_ssize_t *))                      \
    PY_MAY(PyObject *, PyObject_Str, (PyObject *))                                                 \
    PY_MAY(void, PyErr_Fetch, (PyObject **, PyObject **, PyObject **))                             \
    PY_MAY(int, Py_IsFinalizing, (void))                                                           \
    PY_MAY(int, _Py_IsFinalizing, (void))                                                          \
    PY_MAY(void *, PyThreadState_GetUnchecked, (void))                                             \
    PY_MAY(void *, _PyThreadState_UncheckedGet, (void))                                            \
    PY_MAY(int, PyGC_Disable, (void))                                                              \
    PY_MAY(int, PyGC_Enable, (void))                                                               \
    PY_MAY(PyObject *, PyFrame_GetVar, (PyObject *, PyObject *)) /* from 3.12 */                   \
    PY_MAY(const char *, PyUnicode_AsUTF8AndSize, (PyObject *, Py_ssize_t *))                      \
    PY_MAY(PyObject *, PyObject_Type, (PyObject *))                                                \
    PY_MAY(unsigned long, PyType_GetFlags, (PyObject *))                                           \
    PY_MAY(PyObject *, PyType_GetName, (PyObject *)) /* from 3.11 */                               \
    PY_MAY(void *, PyType_GetSlot, (PyObject *, int))                                              \
    PY_MAY(PyObject *, _PyType_Lookup, (PyObject *, PyObject *))                                   \
    PY_MAY(PyObject *, PyUnicode_InternFromString, (const char *))                                 \
    PY_MAY(PyObject *, PyObject_GenericGetAttr, (PyObject *, PyObject *))                          \
    PY_MAY(PyObject *, PyObject_GenericGetDict, (PyObject *, void *))                              \
    PY_MAY(long long, PyLong_AsLongLongAndOverflow, (PyObject *, int *))                           \
    PY_MAY(PyObject *, PyNumber_Float, (PyObject *))                                               \
    PY_MAY(PyObject *, PyNumber_Long, (PyObject *))                                                \
    PY_MAY(Py_ssize_t, PyTuple_Size, (PyObject *))                                                 \
    PY_MAY(PyObject *, PyTuple_GetItem, (PyObject *, Py_ssize_t))                                  \
    PY_MAY(Py_ssize_t, PyList_Size, (PyObject *))                                                  \
    PY_MAY(PyObject *, PyList_GetItem, (PyObject *, Py_ssize_t))                                   \
    PY_MAY(Py_ssize_t, PyDict_Size, (PyObject *))                                                  \
    PY_MAY(PyObject *, PyFunction_GetCode, (PyObject *))                                           \
    PY_MAY(PyObject *, PyFunction_GetGlobals, (PyObject *))                                        \
    PY_MAY(PyObject *, PyFunction_GetClosure, (PyObject *))                                        \
    PY_MAY(PyObject *, PyMethod_Function, (PyObject *))                                            \
    PY_MAY(PyObject *, PyMethod_Self, (PyObject *))                                                \
    PY_MAY(PyObject *, PyCell_Get, (PyObject *))                                                   \
    PY_MAY(void, Py_IncRef, (PyObject *))                                                          \
    PY_MAY(PyObject *, PyModule_GetDict, (PyObject *))                                             \
    PY_MAY(PyObject *, PyObject_Repr, (PyObject *))                                                \
    PY_MAY(int, PyCode_Addr2Line, (PyObject *, int))                                               \
    PY_MAY(int, PyCompile_OpcodeStackEffectWithJump, (int, int, int))                              \
    PY_MAY(PyObject *, PyThreadState_GetFrame, (void *))                                           \
    PY_MAY(void, _PyEval_StopTheWorld, (void *)) /* free-threaded, from 3.14 */                    \
    PY_MAY(void, _PyEval_StartTheWorld, (void *))                                                  \
    PY_MAY(void, PyUnstable_GC_VisitObjects, (int (*)(PyObject *, void *), void *))                \
    PY_MAY(void *, PyInterpreterState_ThreadHead, (void *))                                        \
    PY_MAY(void *, PyThreadState_Next, (void *))

/* Objects of the interpreter whose addresses are compared: exact types and singletons. */
#define STET_PYTHON_OBJECTS                                                                        \
    PY_OBJECT(_Py_NoneStruct)                                                                      \
    PY_OBJECT(_Py_TrueStruct)                                                                      \
    PY_OBJECT(PyType_Type)                                                                         \
    PY_OBJECT(PyBool_Type)                                                                         \
    PY_OBJECT(PyLong_Type)                                                                         \
    PY_OBJECT(PyFloat_Type)                                                                        \
    PY_OBJECT(PyUnicode_Type)                                                                      \
    PY_OBJECT(PyTuple_Type)                                                                        \
    PY_OBJECT(PyDict_Type)                                                                         \
    PY_OBJECT(PyCFunction_Type)                                                                    \
    PY_OBJECT(PyFunction_Type)                                                                     \
    PY_OBJECT(PyMethod_Type)                                                                       \
    PY_OBJECT(PyModule_Type)                                                                       \
    PY_OBJECT(PyCell_Type)                                                                         \
    PY_OBJECT(PyGen_Type)                                                                          \
    PY_OBJECT(PyMemberDescr_Type)                                                                  \
    PY_OBJECT(PyWrapperDescr_Type)                                                                 \
    PY_OBJECT(PyGetSetDescr_Type)                                                                  \
    PY_OBJECT(PyProperty_Type)

struct stet_intercept_python {
#define PY(result, name, arguments)     result(*name) arguments;
#define PY_MAY(result, name, arguments) result(*name) arguments;
    STET_PYTHON_FUNCTIONS
#undef PY
#undef PY_MAY
#define PY_OBJECT(name) PyObject *name;
    STET_PYTHON_OBJECTS
#undef PY_OBJECT
    unsigned minor;     /* of Python 3 */
    bool values;        /* everything that reading values needs is there */
    size_t type_offset; /* of an object's type in its head */
    bool free_threaded; /* built without the lock: other threads run until they are paused */
};

/* As CPython lays out a PyMethodDef (Include/methodobject.h). */
struct stet_python_method {
    const char *name;
    PyObject *(*call)(PyObject *self, PyObject *arguments);
    int flags;
    const char *doc;
};

enum { STET_METH_VARARGS = 1, STET_METH_KEYWORDS = 2, STET_METH_NOARGS = 4 };

/* The interpreter of this process, or NULL if none is loaded or it is not usable. Looks again each
 * time until it finds one. */
const struct stet_intercept_python *stet_intercept_python(void);

/* NULL if the GIL may be requested now, else the reason: not running, finalising, several
 * interpreters, threads that cannot be paused. */
const char *stet_intercept_python_unfit(const struct stet_intercept_python *py);
/* Does this thread hold the GIL? In a free-threaded Python: is it attached to the interpreter? */
bool stet_intercept_python_held(const struct stet_intercept_python *py);
/* Does the work with the GIL held, while no other thread changes an object. A free-threaded Python
 * pauses every other thread where a garbage collection would; in others the GIL is enough. */
void stet_intercept_python_alone(const struct stet_intercept_python *py, void (*work)(void *),
                                 void *data);
/* With the GIL held: a module that something imported, borrowed; else NULL. Imports nothing. */
PyObject *stet_intercept_python_module(const struct stet_intercept_python *py, const char *name);

#endif
