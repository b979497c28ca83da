/* See pycalled.h. */
#include "intercept/pycalled.h"

#include "intercept/pycalls.h"
#include "intercept/pychildren.h"
#include "intercept/pyglobals.h"

#include <stdio.h>

enum {
    WRAPPERS_MAX = 4,
    DEPTH = 9,
    INSIDE = 4,
    OBJECT_DEPTH = 6,
    OBJECT_INSIDE = 3,
    OWN_DEPTH = 3,
    OWN_INSIDE = 2,
};

/* A function whose variables are made roots. */
struct enclosed {
    struct stet_pyread *r;
    unsigned depth, inside;
};

/* Makes a variable of an enclosing function a root. */
static bool add_variable(void *data, enum stet_pystep_kind kind, const void *at, uint32_t number,
                         PyObject *o)
{
    const struct enclosed *e = data;
    PyObject *name = (PyObject *)(uintptr_t)at;

    (void)kind;
    (void)number;
    stet_intercept_pyobject_root(e->r, stet_intercept_pyread_text(e->r->py, name), o, e->depth,
                                 e->inside);
    return true;
}

/* What a function of the framework closes over is the framework's: an operation outside any jitted
 * function. */
static struct enclosed enclosed_by(struct stet_pyread *r, PyObject *code)
{
    PyObject *file = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_filename, STET_BY_C);
    bool own = stet_intercept_pycalls_owns(stet_intercept_pyread_text(r->py, file));

    if (file)
        r->py->Py_DecRef(file);
    return own ? (struct enclosed){r, OWN_DEPTH, OWN_INSIDE} : (struct enclosed){r, DEPTH, INSIDE};
}

/* The names of the positional parameters, so that args[1] can be printed under the user's name. The
 * first parameter of a method is not among the arguments. */
static void read_parameters(struct stet_pyread *r, PyObject *code, bool method)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *names = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_varnames, STET_BY_C);
    PyObject *count = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_argcount, STET_BY_C);
    int overflow = 0;
    Py_ssize_t n = count ? (Py_ssize_t)py->PyLong_AsLongLongAndOverflow(count, &overflow) : 0;

    for (Py_ssize_t i = method; names && i < n && i < py->PyTuple_Size(names); i++) {
        char path[32];
        struct stet_journal_value v = {
            .kind = STET_VALUE_WORD,
            .scope = STET_SCOPE_CALLED,
            .frame = r->frame,
            .path = stet_view_of(
                path, (size_t)snprintf(path, sizeof path, "parameters[%d]", (int)(i - method))),
            .type = STET_VIEW("str"),
            .text = stet_intercept_pyread_text(py, py->PyTuple_GetItem(names, i)),
        };

        stet_journal_values_add(r->out, &v);
    }
    py->PyErr_Clear();
    if (names)
        py->Py_DecRef(names);
    if (count)
        py->Py_DecRef(count);
}

/* The fields of an object that is called. Returns what is in it: a partial's `func`, a new
 * reference, or a wrapper's function, borrowed. */
static PyObject *read_object(struct stet_pyread *r, PyObject *fun, PyObject **partial)
{
    const struct stet_pytype k = *stet_intercept_pyread_known(r, fun);
    PyObject *wrapped = stet_intercept_pychildren_wrapped(r, &k, fun);
    bool again = *partial != NULL;

    r->scope = STET_SCOPE_CLOSURE;
    stet_intercept_pyobject_root(r, STET_VIEW("fun"), fun, wrapped ? 0 : OBJECT_DEPTH,
                                 OBJECT_INSIDE);
    if (wrapped || again) /* one level of partial is enough */
        return wrapped;
    *partial = stet_intercept_pyread_attribute(r, fun, STET_PYNAME_func, STET_BY_SLOT);
    return *partial;
}

static void read_function(struct stet_pyread *r, PyObject *fun, bool first, bool method,
                          size_t *examined)
{
    const struct stet_intercept_python *py = r->py;
    const struct stet_pytype k = *stet_intercept_pyread_known(r, fun);
    PyObject *code = py->PyFunction_GetCode(fun);
    struct enclosed e;

    if (code) {
        if (first)
            read_parameters(r, code, method);
        e = enclosed_by(r, code);
        r->scope = STET_SCOPE_CLOSURE;
        stet_intercept_pychildren(r, &k, fun, 0, add_variable, &e);
        stet_intercept_pyglobals_named(r, code, py->PyFunction_GetGlobals(fun), examined);
    }
    py->PyErr_Clear();
}

/* A wrapper's `__wrapped__` and a partial's `func` lead to the user's function. */
void stet_intercept_pycalled_read(struct stet_pyread *r, PyObject *fun, size_t *examined)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *partial = NULL;

    for (unsigned i = 0; fun && i < WRAPPERS_MAX; i++) {
        bool method = stet_intercept_pyread_is(py, fun, py->PyMethod_Type);
        PyObject *self = method ? py->PyMethod_Self(fun) : NULL;

        if (method)
            fun = py->PyMethod_Function(fun);
        r->scope = STET_SCOPE_CALLED;
        stet_intercept_pyobject_root(r, STET_VIEW("fun"), fun, 0, 0);
        r->scope = STET_SCOPE_CLOSURE;
        stet_intercept_pyobject_root(r, STET_VIEW("self"), self, DEPTH, INSIDE);
        if (!fun)
            break;
        if (stet_intercept_pyread_is(py, fun, py->PyFunction_Type)) {
            read_function(r, fun, !i, method, examined);
            fun = stet_intercept_pyread_member(py, fun, "__wrapped__");
        } else {
            fun = read_object(r, fun, &partial);
        }
    }
    if (partial)
        py->Py_DecRef(partial);
}
