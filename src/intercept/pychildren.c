/* See pychildren.h. */
#include "intercept/pychildren.h"

enum { FIELDS_MAX = 128, CELLS_MAX = 64 };

static void drop(const struct stet_intercept_python *py, PyObject *o)
{
    if (o)
        py->Py_DecRef(o);
}

/* An object whose children are visited. */
struct whole {
    struct stet_pyread *r;
    const struct stet_pytype *k;
    PyObject *o;
    stet_pychildren_visit *visit;
    void *data;
};

static bool visit_field(const struct whole *w, PyObject *name, PyObject *value)
{
    return !value || w->visit(w->data, STET_STEP_FIELD, name, 0, value);
}

/* ---- containers ---- */

Py_ssize_t stet_intercept_pychildren_size(const struct stet_pyread *r, const struct stet_pytype *k,
                                          PyObject *o)
{
    const struct stet_intercept_python *py = r->py;

    return k->form == STET_FORM_TUPLE  ? py->PyTuple_Size(o)
           : k->form == STET_FORM_LIST ? py->PyList_Size(o)
                                       : py->PyDict_Size(o);
}

/* The names of a named tuple's fields, or NULL; borrowed from its class. */
static PyObject *fields_of(struct stet_pyread *r, const struct stet_pytype *k, Py_ssize_t n)
{
    PyObject *fields = k->form != STET_FORM_TUPLE || k->type == r->py->PyTuple_Type
                           ? NULL
                           : stet_intercept_pyread_lookup(r, k->type, STET_PYNAME__fields);

    return fields && stet_intercept_pyread_known(r, fields)->form == STET_FORM_TUPLE &&
                   r->py->PyTuple_Size(fields) == n
               ? fields
               : NULL;
}

static bool visit_sequence(const struct whole *w, Py_ssize_t most)
{
    const struct stet_intercept_python *py = w->r->py;
    bool tuple = w->k->form == STET_FORM_TUPLE;
    Py_ssize_t n = stet_intercept_pychildren_size(w->r, w->k, w->o);
    PyObject *fields = fields_of(w->r, w->k, n);

    for (Py_ssize_t i = 0; i < n && i < most; i++) {
        PyObject *o = tuple ? py->PyTuple_GetItem(w->o, i) : py->PyList_GetItem(w->o, i);
        PyObject *field = fields ? py->PyTuple_GetItem(fields, i) : NULL;
        bool named = field && stet_intercept_pyread_is(py, field, py->PyUnicode_Type);

        if (o &&
            !w->visit(w->data, named ? STET_STEP_FIELD : STET_STEP_INDEX, field, (uint32_t)i, o))
            return false;
    }
    return n <= most;
}

static bool visit_dict(const struct whole *w, Py_ssize_t most)
{
    PyObject *key, *value;
    Py_ssize_t at = 0, i = 0;

    for (; i < most && w->r->py->PyDict_Next(w->o, &at, &key, &value); i++)
        if (!w->visit(w->data, STET_STEP_KEY, key, 0, value))
            return false;
    return w->r->py->PyDict_Size(w->o) <= most;
}

/* ---- functions ---- */

PyObject *stet_intercept_pychildren_self(const struct stet_pyread *r, const struct stet_pytype *k,
                                         PyObject *o)
{
    return k->form == STET_FORM_METHOD ? r->py->PyMethod_Self(o) : NULL;
}

/* A cell's value; a new reference, or NULL. */
static PyObject *in_cell(const struct stet_intercept_python *py, PyObject *cell)
{
    PyObject *value =
        cell && stet_intercept_pyread_is(py, cell, py->PyCell_Type) ? py->PyCell_Get(cell) : NULL;

    py->PyErr_Clear();
    return value;
}

/* The variables of enclosing functions. Their names are the code's, which outlives the tuple. */
static bool visit_closure(const struct whole *w, PyObject *function)
{
    const struct stet_intercept_python *py = w->r->py;
    PyObject *code = py->PyFunction_GetCode(function);
    PyObject *closure = code ? py->PyFunction_GetClosure(function) : NULL;
    PyObject *names =
        closure ? stet_intercept_pyread_attribute(w->r, code, STET_PYNAME_co_freevars, STET_BY_C)
                : NULL;
    Py_ssize_t n = names ? py->PyTuple_Size(names) : 0;
    bool more = true;

    if (n && py->PyTuple_Size(closure) < n)
        n = py->PyTuple_Size(closure);
    for (Py_ssize_t i = 0; more && i < n && i < CELLS_MAX; i++) {
        PyObject *value = in_cell(py, py->PyTuple_GetItem(closure, i));

        more = visit_field(w, py->PyTuple_GetItem(names, i), value);
        drop(py, value);
    }
    py->PyErr_Clear();
    drop(py, names);
    return more && n <= CELLS_MAX;
}

/* What a function closes over, and what it is bound to. */
static bool visit_function(const struct whole *w)
{
    const struct stet_intercept_python *py = w->r->py;
    PyObject *self = stet_intercept_pychildren_self(w->r, w->k, w->o);
    PyObject *function = w->k->form == STET_FORM_METHOD ? py->PyMethod_Function(w->o) : w->o;

    if (!visit_field(w, w->r->names[STET_PYNAME___self__], self))
        return false;
    return !stet_intercept_pyread_is(py, function, py->PyFunction_Type) ||
           visit_closure(w, function);
}

PyObject *stet_intercept_pychildren_wrapped(struct stet_pyread *r, const struct stet_pytype *k,
                                            PyObject *o)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *dict = k->calls ? stet_intercept_pyread_dict(r, k, o) : NULL, *key, *value;
    PyObject *found = NULL;
    Py_ssize_t at = 0;

    while (!found && dict && py->PyDict_Next(dict, &at, &key, &value))
        if (key == r->names[STET_PYNAME___wrapped__] && /* identifiers are interned */
            stet_intercept_pyread_is(py, value, py->PyFunction_Type))
            found = value;
    drop(py, dict);
    return found;
}

/* ---- objects ---- */

/* A member of a C struct or of __slots__. */
static bool visit_member(const struct whole *w, enum stet_pyread_name name, bool functions)
{
    const struct stet_intercept_python *py = w->r->py;
    PyObject *value = stet_intercept_pyread_attribute(w->r, w->o, name, STET_BY_SLOT);
    bool more = true;

    if (value && (!functions || stet_intercept_pyread_is(py, value, py->PyFunction_Type)))
        more = visit_field(w, w->r->names[name], value);
    drop(py, value);
    return more;
}

/* The fields that a class keeps in slots; those of its bases are left out. */
static bool visit_slots(const struct whole *w)
{
    const struct stet_intercept_python *py = w->r->py;
    PyObject *names = stet_intercept_pyread_lookup(w->r, w->k->type, STET_PYNAME___slots__);
    Py_ssize_t n = names && stet_intercept_pyread_is(py, names, py->PyTuple_Type)
                       ? py->PyTuple_Size(names)
                       : 0;
    bool more = true;

    for (Py_ssize_t i = 0; more && i < n && i < FIELDS_MAX; i++) {
        PyObject *name = py->PyTuple_GetItem(names, i), *descriptor = NULL, *value = NULL;

        if (stet_intercept_pyread_is(py, name, py->PyUnicode_Type))
            descriptor = py->_PyType_Lookup(w->k->type, name);
        if (descriptor && stet_intercept_pyread_is(py, descriptor, py->PyMemberDescr_Type))
            value = w->r->get_member(descriptor, w->o, w->k->type);
        py->PyErr_Clear(); /* a slot without a value */
        more = visit_field(w, name, value);
        drop(py, value);
    }
    return more && n <= FIELDS_MAX;
}

static bool visit_fields(const struct whole *w)
{
    const struct stet_intercept_python *py = w->r->py;
    PyObject *dict = stet_intercept_pyread_dict(w->r, w->k, w->o), *key, *value;
    Py_ssize_t at = 0, i = 0;
    bool more = true;

    for (; dict && more && i < FIELDS_MAX && py->PyDict_Next(dict, &at, &key, &value); i++)
        if (stet_intercept_pyread_is(py, key, py->PyUnicode_Type))
            more = visit_field(w, key, value);
    drop(py, dict); /* the object keeps it */
    return more && i < FIELDS_MAX;
}

static bool visit_object(const struct whole *w)
{
    /* JAX's WrappedFun and others without a dictionary hold a function in one of these. */
    if (!visit_member(w, STET_PYNAME_f, true) || !visit_member(w, STET_PYNAME_fun, true) ||
        !visit_member(w, STET_PYNAME_func, true))
        return false;
    if (stet_intercept_pyread_lookup(w->r, w->k->type, STET_PYNAME_keywords)) { /* a partial */
        if (!visit_member(w, STET_PYNAME_args, false) ||
            !visit_member(w, STET_PYNAME_keywords, false))
            return false;
    } else if (!visit_slots(w)) {
        return false;
    }
    return visit_fields(w);
}

bool stet_intercept_pychildren(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                               Py_ssize_t most, stet_pychildren_visit *visit, void *data)
{
    const struct whole w = {r, k, o, visit, data};

    switch (k->form) {
    case STET_FORM_TUPLE:
    case STET_FORM_LIST:
        return visit_sequence(&w, most);
    case STET_FORM_DICT:
        return visit_dict(&w, most);
    case STET_FORM_FUNCTION:
    case STET_FORM_METHOD:
        return visit_function(&w);
    default:
        return visit_object(&w);
    }
}
