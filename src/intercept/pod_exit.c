/* See pod_exit.h. Functions of Python's atexit run in the opposite order of their registration, and
 * JAX registered its own when it was imported: ours comes first. */
#include "intercept/pod_exit.h"

#include "intercept/python.h"
#include "intercept/threads.h"

#include <stdatomic.h>

static const struct stet_intercept_python *python;
static void (*on_exit_do)(void);

static PyObject *at_exit(PyObject *self, PyObject *arguments)
{
    void *state = python->PyEval_SaveThread();

    (void)self, (void)arguments;
    on_exit_do();
    python->PyEval_RestoreThread(state);
    return python->Py_BuildValue("");
}

/* With the GIL held. */
static void watch(const struct stet_intercept_python *py)
{
    static struct stet_python_method method = {
        .name = "stet_leave", .call = at_exit, .flags = STET_METH_NOARGS};
    PyObject *module = py->PyImport_ImportModule("atexit"), *function = NULL, *done = NULL;

    if (module)
        function = py->PyCFunction_NewEx(&method, NULL, NULL);
    if (function)
        done = py->PyObject_CallMethod(module, "register", "O", function);
    if (done)
        py->Py_DecRef(done);
    if (function)
        py->Py_DecRef(function);
    if (module)
        py->Py_DecRef(module);
    py->PyErr_Clear();
}

/* On a thread of its own: the GIL may be taken for long. */
static void *watch_soon(void *unused)
{
    int gil = python->PyGILState_Ensure(); /* may never come back, when Python ends */
    /* As in pywalk.c: an allocation of ours must not run the user's finalisers here. */
    int collecting = python->PyGC_Disable && python->PyGC_Enable ? python->PyGC_Disable() : 0;

    (void)unused;
    watch(python);
    if (collecting)
        python->PyGC_Enable();
    python->PyGILState_Release(gil);
    return NULL;
}

void stet_intercept_pod_exit_watch(void (*leave)(void))
{
    static atomic_bool watched;
    const struct stet_intercept_python *py = stet_intercept_python();

    if (!py || stet_intercept_python_unfit(py) || !py->PyImport_ImportModule ||
        !py->PyObject_CallMethod || !py->PyCFunction_NewEx || !py->Py_BuildValue ||
        atomic_exchange(&watched, true))
        return;
    python = py;
    on_exit_do = leave;
    stet_threads_start(watch_soon, NULL);
}
