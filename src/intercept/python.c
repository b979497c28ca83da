/* Finds CPython, and checks whether it can be called now. */
#include "intercept/python.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct stet_intercept_python api;
static atomic_int state; /* 0 not found, 1 a thread is looking, 2 found */

static const struct {
    const char *name;
    size_t offset;
    bool needed;
} functions[] = {
#define PY(result, name, arguments) {#name, offsetof(struct stet_intercept_python, name), true},
#define PY_MAY(result, name, arguments)                                                            \
    {#name, offsetof(struct stet_intercept_python, name), false},
    STET_PYTHON_FUNCTIONS
#undef PY
#undef PY_MAY
};

static const struct {
    const char *name;
    size_t offset;
} objects[] = {
#define PY_OBJECT(name) {#name, offsetof(struct stet_intercept_python, name)},
    STET_PYTHON_OBJECTS
#undef PY_OBJECT
};

/* Only PyFrame_GetVar and PyType_GetName may be missing: older versions are read without them. */
static bool can_read_values(const struct stet_intercept_python *py)
{
    bool all = py->PyUnicode_AsUTF8AndSize && py->PyObject_Type && py->PyType_GetFlags &&
               py->PyType_GetSlot && py->_PyType_Lookup && py->PyUnicode_InternFromString &&
               py->PyObject_GenericGetAttr && py->PyObject_GenericGetDict &&
               py->PyLong_AsLongLongAndOverflow && py->PyFloat_AsDouble && py->PyNumber_Float &&
               py->PyNumber_Long && py->PyTuple_Size && py->PyTuple_GetItem && py->PyList_Size &&
               py->PyList_GetItem && py->PyDict_Size && py->PyFunction_GetCode &&
               py->PyFunction_GetGlobals && py->PyFunction_GetClosure && py->PyMethod_Function &&
               py->PyMethod_Self && py->PyCell_Get && py->PyModule_GetDict && py->PyObject_Repr &&
               py->Py_IncRef;

#define PY_OBJECT(name) all = all && py->name;
    STET_PYTHON_OBJECTS
#undef PY_OBJECT
    return all;
}

static bool has_type(const struct stet_intercept_python *py, const PyObject *o,
                     const PyObject *type)
{
    return memcmp((const char *)o + py->type_offset, &type, sizeof(PyObject *)) == 0;
}

/* The head of an object is a reference count and its type. A build with another head than that of
 * its kind is not read. */
static bool knows_types(struct stet_intercept_python *py)
{
    py->type_offset = py->free_threaded ? 24 : 8;
    return has_type(py, py->_Py_TrueStruct, py->PyBool_Type) &&
           has_type(py, py->PyBool_Type, py->PyType_Type) &&
           has_type(py, py->PyLong_Type, py->PyType_Type);
}

static void look_for_values(struct stet_intercept_python *py)
{
    const char *version = py->Py_GetVersion();

    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        void *found = dlsym(RTLD_DEFAULT, objects[i].name);

        memcpy((char *)py + objects[i].offset, &found, sizeof found);
    }
    py->free_threaded = strstr(version, "free-threading") != NULL;
    py->minor = strncmp(version, "3.", 2) == 0 ? (unsigned)strtoul(version + 2, NULL, 10) : 0;
    py->values = can_read_values(py) && knows_types(py) && py->minor >= 9 &&
                 (py->minor < 12 || py->PyFrame_GetVar);
}

static bool look(struct stet_intercept_python *py)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(RTLD_DEFAULT, functions[i].name);

        if (!found && functions[i].needed)
            return false;
        memcpy((char *)py + functions[i].offset, &found, sizeof found);
    }
    if (!py->PyThreadState_GetUnchecked && !py->_PyThreadState_UncheckedGet)
        return false;
    look_for_values(py);
    return true;
}

const struct stet_intercept_python *stet_intercept_python(void)
{
    int nobody = 0;

    if (atomic_load(&state) == 2)
        return &api;
    if (!atomic_compare_exchange_strong(&state, &nobody, 1))
        return NULL;
    if (look(&api)) {
        atomic_store(&state, 2);
        return &api;
    }
    dlerror();
    atomic_store(&state, 0);
    return NULL;
}

static bool can_pause(const struct stet_intercept_python *py)
{
    bool stops = py->_PyEval_StopTheWorld && py->_PyEval_StartTheWorld;

    return (stops || py->PyUnstable_GC_VisitObjects) && py->PyThreadState_GetFrame &&
           py->PyInterpreterState_ThreadHead && py->PyThreadState_Next;
}

struct errand {
    void (*work)(void *);
    void *data;
};

/* Called with the first object; returns that no other one is wanted. */
static int run_errand(PyObject *first, void *p)
{
    const struct errand *e = p;

    (void)first;
    e->work(e->data);
    return 0;
}

void stet_intercept_python_alone(const struct stet_intercept_python *py, void (*work)(void *),
                                 void *data)
{
    if (!py->free_threaded) {
        work(data);
    } else if (py->_PyEval_StopTheWorld) {
        py->_PyEval_StopTheWorld(py->PyInterpreterState_Head());
        work(data);
        py->_PyEval_StartTheWorld(py->PyInterpreterState_Head());
    } else { /* 3.13 pauses its threads only around such a visit */
        py->PyUnstable_GC_VisitObjects(run_errand, &(struct errand){work, data});
    }
}

const char *stet_intercept_python_unfit(const struct stet_intercept_python *py)
{
    void *first;

    if (!py->Py_IsInitialized())
        return "Python is not running";
    if ((py->Py_IsFinalizing && py->Py_IsFinalizing()) ||
        (py->_Py_IsFinalizing && py->_Py_IsFinalizing()))
        return "Python is finalising";
    /* Without a GIL other threads' objects change while they are read. */
    if (py->free_threaded && !can_pause(py))
        return "this free-threaded Python cannot pause its threads";
    /* PyGILState_Ensure supports only the main interpreter. */
    first = py->PyInterpreterState_Head();
    if (!first || py->PyInterpreterState_Next(first))
        return "Python has subinterpreters";
    return NULL;
}

/* Not PyGILState_Check, which is always true once there was a subinterpreter. Up to 3.11 the
 * current state is the process's, from 3.12 the thread's: in both it equals this thread's own only
 * for the holder. */
bool stet_intercept_python_held(const struct stet_intercept_python *py)
{
    void *own = py->PyGILState_GetThisThreadState();

    return own && own == (py->PyThreadState_GetUnchecked ? py->PyThreadState_GetUnchecked()
                                                         : py->_PyThreadState_UncheckedGet());
}

PyObject *stet_intercept_python_module(const struct stet_intercept_python *py, const char *name)
{
    PyObject *modules = py->PySys_GetObject("modules");

    return modules ? py->PyDict_GetItemString(modules, name) : NULL;
}
