/* PyTorch/XLA's own metrics, read through its module when Python ends.
 *
 * They are complete only then, and Python cannot be used any more once the C library's exit
 * handlers run. So a function of ours is registered with Python's atexit: it is called with the GIL
 * held while everything still exists, and before PyTorch/XLA's own handler, which was registered at
 * import. Nothing is imported, changed or kept; a missing name is skipped, an exception is cleared,
 * and after DEADLINE_MS the rest is left unread. */
#include "intercept/counters.h"

#include "base/view.h"
#include "intercept/layer.h"
#include "intercept/writer.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { DEADLINE_MS = 100, MOST_NAMES = 4096 };

static const struct stet_intercept_python *python;
static atomic_bool registered;
static pid_t owner; /* a child of fork has its parent's counts, and maybe its locks */

static bool is_usable(const struct stet_intercept_python *py)
{
    return py->PyObject_CallMethod && py->PyCFunction_NewEx && py->Py_BuildValue &&
           py->PySequence_Size && py->PySequence_GetItem && py->PyFloat_AsDouble &&
           py->PyImport_ImportModule;
}

/* Operations without a lowering are counted under their ATen names. */
static bool wanted_counter(struct stet_view name)
{
    static const char *const names[] = {"UncachedCompile", "CachedCompile", "CompileCacheMiss",
                                        "MarkStep", "ExecuteComputation"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (stet_view_is(name, names[i]))
            return true;
    return stet_view_starts(name, "aten::");
}

static bool wanted_metric(struct stet_view name)
{
    static const char *const names[] = {"CompileTime",
                                        "ExecuteTime",
                                        "LazyTracing",
                                        "TransferToDeviceTime",
                                        "TransferFromDeviceTime",
                                        "InboundData",
                                        "OutboundData"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (stet_view_is(name, names[i]))
            return true;
    return false;
}

static void send(struct stet_view name, double samples, double total)
{
    struct stet_event *e = stet_event_new(STET_REC_counter);

    if (!e)
        return;
    e->record.counter = (struct stet_rec_counter){
        .framework = STET_VIEW("torch_xla"),
        .name = stet_arena_copy(&e->arena, name),
        .samples = samples > 0 ? (uint64_t)samples : 0,
        .total = total > 0 ? (uint64_t)total : 0,
    };
    stet_event_send(e);
}

/* A number from an object, which is released; negative if it is not a number. */
static double number_of(PyObject *o)
{
    double v = o ? python->PyFloat_AsDouble(o) : -1;

    if (o)
        python->Py_DecRef(o);
    if (python->PyErr_Occurred()) {
        python->PyErr_Clear();
        return -1;
    }
    return v;
}

static void read_counter(PyObject *module, const char *name)
{
    double value = number_of(python->PyObject_CallMethod(module, "_xla_counter_value", "s", name));

    if (value > 0)
        send(stet_view_str(name), value, 0);
}

/* (samples, sum of them, the last few with their times) */
static void read_metric(PyObject *module, const char *name)
{
    PyObject *data = python->PyObject_CallMethod(module, "_xla_metric_data", "s", name);
    double samples, total;

    if (data && python->PySequence_Size(data) >= 2) {
        samples = number_of(python->PySequence_GetItem(data, 0));
        total = number_of(python->PySequence_GetItem(data, 1));
        if (samples > 0)
            send(stet_view_str(name), samples, total);
    }
    if (data)
        python->Py_DecRef(data);
    python->PyErr_Clear();
}

static void read_all(PyObject *module, const char *list, bool (*wanted)(struct stet_view),
                     void (*read)(PyObject *, const char *), uint64_t until)
{
    PyObject *names = python->PyObject_CallMethod(module, list, NULL);
    Py_ssize_t count = names ? python->PySequence_Size(names) : 0;

    for (Py_ssize_t i = 0; i < count && i < MOST_NAMES && stet_journal_now() < until; i++) {
        PyObject *item = python->PySequence_GetItem(names, i);
        const char *name = item ? python->PyUnicode_AsUTF8(item) : NULL;

        if (name && wanted(stet_view_str(name)))
            read(module, name);
        python->PyErr_Clear();
        if (item)
            python->Py_DecRef(item);
    }
    python->PyErr_Clear();
    if (names)
        python->Py_DecRef(names);
}

static PyObject *at_python_exit(PyObject *self, PyObject *arguments)
{
    uint64_t until = stet_journal_now() + (uint64_t)DEADLINE_MS * 1000000;
    PyObject *package =
        getpid() == owner ? stet_intercept_python_module(python, "torch_xla") : NULL;
    PyObject *module = package ? python->PyObject_GetAttrString(package, "_XLAC") : NULL;

    (void)self;
    (void)arguments;
    if (module) {
        read_all(module, "_xla_counter_names", wanted_counter, read_counter, until);
        read_all(module, "_xla_metric_names", wanted_metric, read_metric, until);
        python->Py_DecRef(module);
    }
    python->PyErr_Clear();
    return python->Py_BuildValue("");
}

static bool register_exit(const struct stet_intercept_python *py)
{
    static struct stet_python_method def = {"stet_counters", at_python_exit, STET_METH_NOARGS,
                                            NULL};
    PyObject *exits = py->PyImport_ImportModule("atexit"); /* built in */
    PyObject *function = exits ? py->PyCFunction_NewEx(&def, NULL, NULL) : NULL;
    PyObject *done = function ? py->PyObject_CallMethod(exits, "register", "O", function) : NULL;

    if (done)
        py->Py_DecRef(done);
    if (function)
        py->Py_DecRef(function);
    if (exits)
        py->Py_DecRef(exits);
    py->PyErr_Clear();
    return done != NULL;
}

void stet_counters_watch(const struct stet_intercept_python *py)
{
    int collecting;

    if (atomic_load(&registered) || !is_usable(py) ||
        !stet_intercept_python_module(py, "torch_xla") || atomic_exchange(&registered, true))
        return;
    python = py;
    owner = getpid();
    /* As in pywalk.c: an allocation of ours must not run the user's finalisers here. */
    collecting = py->PyGC_Disable && py->PyGC_Enable ? py->PyGC_Disable() : 0;
    register_exit(py);
    if (collecting)
        py->PyGC_Enable();
}
