/* JAX reports how long it traced, lowered and compiled to listeners of `jax.monitoring`, a public
 * interface. A C function of ours is such a listener: it is called on the thread that traced, with
 * the GIL held, a few times a compile and never while programs only run. It reads two texts and a
 * number and sends a record. It raises nothing, keeps nothing and calls nothing of the user's. */
#include "intercept/phases.h"

#include "base/view.h"
#include "intercept/layer.h"
#include "intercept/pyline.h"
#include "intercept/threads.h"
#include "intercept/wait.h"
#include "intercept/writer.h"

#include <stdatomic.h>

enum { TRACING = 1, LOWERING = 2, COMPILING = 3, NAME_MAX_BYTES = 256, PATIENCE_MS = 20 };
/* JAX measures with another clock than ours. */
enum { CLOCKS_DIFFER_NS = 1000000 };

static const struct stet_intercept_python *python;
static atomic_bool registered;

static bool is_usable(const struct stet_intercept_python *py)
{
    return py->PyObject_CallMethod && py->PyCFunction_NewEx && py->Py_BuildValue &&
           py->PyTuple_Size && py->PyTuple_GetItem && py->PyFloat_AsDouble && py->PyObject_Type &&
           py->PyFloat_Type && py->PyLong_Type;
}

/* Of a float or an int, and of no class that derives from them: others could run code. */
static double number_of(PyObject *o)
{
    PyObject *type = o ? python->PyObject_Type(o) : NULL;
    bool exact = type && (type == python->PyFloat_Type || type == python->PyLong_Type);

    if (type)
        python->Py_DecRef(type);
    return exact ? python->PyFloat_AsDouble(o) : 0;
}

static uint64_t kind_of(const char *event)
{
    if (!strcmp(event, "/jax/core/compile/jaxpr_trace_duration"))
        return TRACING;
    if (!strcmp(event, "/jax/core/compile/backend_compile_duration"))
        return COMPILING;
    return strcmp(event, "/jax/core/compile/jaxpr_to_mlir_module_duration") ? 0 : LOWERING;
}

/* ---- compiles that do not pass through the layer ---- */

static _Atomic uint64_t compiled_ns; /* when a compile or a load last came through the layer */

void stet_intercept_phases_compiled(void)
{
    atomic_store_explicit(&compiled_ns, stet_journal_now(), memory_order_relaxed);
}

/* Another client of the process, such as JAX's own CPU client inside a host callback, compiled. The
 * plugin may be called on another thread than JAX's, so a compile of any thread counts: one that
 * ends while another one begins is not counted as unseen. */
static bool is_elsewhere(uint64_t duration_ns)
{
    uint64_t last = atomic_load_explicit(&compiled_ns, memory_order_relaxed);

    return last + CLOCKS_DIFFER_NS + duration_ns < stet_journal_now();
}

static void send(uint64_t kind, double seconds, const char *function)
{
    uint64_t ns = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
    struct stet_view name = stet_view_str(function);
    struct stet_event *e =
        kind != COMPILING || is_elsewhere(ns) ? stet_event_new(STET_REC_phase) : NULL;

    if (!e)
        return;
    name.len = name.len < NAME_MAX_BYTES ? name.len : NAME_MAX_BYTES;
    e->record.phase = (struct stet_rec_phase){
        .kind = kind,
        .function = stet_arena_copy(&e->arena, name),
        .duration_ns = ns,
        .thread = stet_threads_id(),
    };
    if (kind == COMPILING)
        stet_intercept_pyline_here(&e->arena, &e->record.phase.file, &e->record.phase.line);
    stet_event_send(e);
}

/* ---- listening ---- */

/* listener(event, duration_secs, **metadata); older versions of JAX give no `fun_name`. */
static PyObject *on_duration(PyObject *self, PyObject *arguments, PyObject *metadata)
{
    Py_ssize_t count = arguments ? python->PyTuple_Size(arguments) : 0;
    const char *event =
        count >= 2 ? python->PyUnicode_AsUTF8(python->PyTuple_GetItem(arguments, 0)) : NULL;
    uint64_t kind = event ? kind_of(event) : 0;

    (void)self;
    if (kind) {
        double seconds = number_of(python->PyTuple_GetItem(arguments, 1));
        PyObject *name = metadata ? python->PyDict_GetItemString(metadata, "fun_name") : NULL;
        const char *function = name ? python->PyUnicode_AsUTF8(name) : NULL;

        send(kind, seconds, function ? function : "");
    }
    python->PyErr_Clear();
    return python->Py_BuildValue("");
}

static void listen(const struct stet_intercept_python *py, PyObject *monitoring)
{
    static union {
        PyObject *(*with_keywords)(PyObject *, PyObject *, PyObject *);
        PyObject *(*plain)(PyObject *, PyObject *);
    } call = {on_duration};
    static struct stet_python_method method;
    PyObject *function, *done = NULL;

    method = (struct stet_python_method){
        .name = "stet_phases", .call = call.plain, .flags = STET_METH_VARARGS | STET_METH_KEYWORDS};
    function = py->PyCFunction_NewEx(&method, NULL, NULL);
    if (function)
        done = py->PyObject_CallMethod(monitoring, "register_event_duration_secs_listener", "O",
                                       function);
    if (done)
        py->Py_DecRef(done);
    if (function)
        py->Py_DecRef(function);
    py->PyErr_Clear();
}

void stet_intercept_phases_watch(const struct stet_intercept_python *py)
{
    PyObject *monitoring;
    int collecting;

    if (atomic_load(&registered) || !is_usable(py))
        return;
    monitoring = stet_intercept_python_module(py, "jax.monitoring");
    if (!monitoring || atomic_exchange(&registered, true))
        return;
    python = py;
    /* As in pywalk.c: an allocation of ours must not run the user's finalisers here. */
    collecting = py->PyGC_Disable && py->PyGC_Enable ? py->PyGC_Disable() : 0;
    listen(py, monitoring);
    if (collecting)
        py->PyGC_Enable();
}

static struct stet_flag asked; /* set once, by the first thread that comes back with the GIL */

static void *watch_soon(void *argument)
{
    const struct stet_intercept_python *py = argument;
    int gil;

    if (stet_intercept_python_unfit(py))
        return NULL;
    gil = py->PyGILState_Ensure(); /* may never come back, when Python ends */
    stet_intercept_phases_watch(py);
    py->PyGILState_Release(gil);
    stet_flag_set(&asked);
    return NULL;
}

void stet_intercept_phases_begin(void)
{
    const struct stet_intercept_python *py = stet_intercept_python();
    union {
        const struct stet_intercept_python *read;
        void *argument;
    } to = {py};

    if (!py || atomic_load(&registered) || stet_intercept_python_unfit(py))
        return;
    if (!stet_intercept_python_held(py)) {
        /* The caller has given the GIL away, so this takes a moment unless other threads want it.
         */
        if (stet_threads_start(watch_soon, to.argument))
            stet_flag_wait(&asked, PATIENCE_MS);
    } else if (!py->PyErr_Occurred()) {
        stet_intercept_phases_watch(py);
    }
}
