/* See pyframe.h. */
#include "intercept/pyframe.h"

/* Where frames keep what is read here. A frame object leads to the interpreter's frame from 3.11
 * on, and is it before. Versions that are listed get no more feature releases, so their layout is
 * fixed; both addresses that are compared must agree before anything is read. */
struct layout {
    unsigned first, last;  /* minor versions */
    unsigned data;         /* in a frame object: the interpreter's frame; 0: it is the object */
    unsigned code, object; /* in that: the code, and the frame object; 0: the value stack, below */
    unsigned locals;
    unsigned top;   /* the depth of the stack, or a pointer to its top from 3.14; 0: neither */
    unsigned stack; /* a pointer to the stack's bottom, where there is one */
};

static const struct layout layouts[] = {
    {9, 9, 0, 32, 0, 360, 0, 64},   {10, 10, 0, 32, 0, 352, 0, 64}, {11, 11, 24, 32, 40, 72, 64, 0},
    {12, 13, 24, 0, 48, 72, 64, 0}, {14, 15, 24, 0, 48, 80, 64, 0},
};

enum {
    TAG_BITS = 3,      /* of an entry of the stack, from 3.14 */
    TAG_REFERENCE = 1, /* an object, borrowed or not; other tags are none */
    CODE_MOST = 16384, /* bytes of code in which a place is looked for */
    KEPT = 32,
};

static void *pointer_at(const void *base, size_t offset)
{
    void *p;

    memcpy(&p, (const char *)base + offset, sizeof p);
    return p;
}

static void *untagged(const struct stet_intercept_python *py, void *p)
{
    return py->minor >= 14 ? (void *)((uintptr_t)p & ~(uintptr_t)TAG_BITS) : p;
}

/* The interpreter's frame, if it has the form that is expected; NULL otherwise. */
static const char *data_of(const struct stet_intercept_python *py, PyObject *frame, PyObject *code,
                           const struct layout **layout)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct layout *l = &layouts[i];
        size_t head = py->free_threaded ? 16 : 0; /* a larger head of objects */
        const char *data = (const char *)frame;

        if (py->minor < l->first || py->minor > l->last)
            continue;
        if (l->data)
            data = pointer_at(frame, l->data + head);
        if (!data || untagged(py, pointer_at(data, l->code)) != code ||
            (l->object && pointer_at(data, l->object) != frame))
            return NULL;
        *layout = l;
        return data;
    }
    return NULL;
}

/* ---- variables ---- */

static bool has_name(const struct stet_pyvars *v, size_t n, PyObject *name)
{
    for (size_t i = 0; i < n; i++) {
        if (v->names[i] == name) /* identifiers are interned */
            return true;
    }
    return false;
}

static void add_names(struct stet_pyread *r, struct stet_pyvars *v, size_t which,
                      enum stet_pyread_name attribute, enum stet_journal_value_scope scope)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *tuple = stet_intercept_pyread_attribute(r, v->code, attribute, STET_BY_C);
    size_t locals = v->count;
    Py_ssize_t n = tuple ? py->PyTuple_Size(tuple) : 0;

    v->tuples[which] = tuple;
    for (Py_ssize_t i = 0; i < n && v->count < STET_PYVARS_MOST; i++) {
        PyObject *name = py->PyTuple_GetItem(tuple, i);

        if (which == 1 && py->minor >= 11 && has_name(v, locals, name))
            continue; /* from 3.11 an argument that is a cell has one slot */
        v->scopes[v->count] = scope;
        v->names[v->count++] = name;
    }
    py->PyErr_Clear();
}

void stet_intercept_pyframe_open(struct stet_pyread *r, PyObject *frame, PyObject *code,
                                 struct stet_pyvars *v)
{
    const struct layout *l;
    const char *data;

    v->frame = frame;
    v->code = code;
    v->slots = NULL;
    v->count = 0;
    if (r->py->minor < 12 && (data = data_of(r->py, frame, code, &l)))
        v->slots = (PyObject *const *)(const void *)(data + l->locals);
    v->readable = v->slots || r->py->minor >= 12;
    add_names(r, v, 0, STET_PYNAME_co_varnames, STET_SCOPE_LOCAL);
    add_names(r, v, 1, STET_PYNAME_co_cellvars, STET_SCOPE_LOCAL);
    add_names(r, v, 2, STET_PYNAME_co_freevars, STET_SCOPE_CLOSURE);
}

void stet_intercept_pyframe_close(struct stet_pyread *r, struct stet_pyvars *v)
{
    for (size_t i = 0; i < 3; i++) {
        if (v->tuples[i])
            r->py->Py_DecRef(v->tuples[i]);
    }
}

PyObject *stet_intercept_pyframe_variable(struct stet_pyread *r, const struct stet_pyvars *v,
                                          size_t i)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *value;

    if (!v->readable)
        return NULL;
    if (!v->slots) {
        value = py->PyFrame_GetVar(v->frame, v->names[i]);
        py->PyErr_Clear(); /* not bound yet */
        return value;
    }
    value = v->slots[i];
    if (!value)
        return NULL;
    if (stet_intercept_pyread_is(py, value, py->PyCell_Type)) {
        value = py->PyCell_Get(value);
        py->PyErr_Clear();
        return value;
    }
    py->Py_IncRef(value);
    return value;
}

/* ---- the value stack ---- */

/* A place in a function, and the depth of the stack there: one loop compiles in one place again and
 * again. The code objects are kept, so that no other one takes their address. */
struct place {
    PyObject *code;
    size_t at, depth;
};

static long number_of(struct stet_pyread *r, PyObject *o, enum stet_pyread_name name)
{
    PyObject *n = stet_intercept_pyread_attribute(r, o, name, STET_BY_C);
    int overflow = 0;
    long value = -1;

    if (n && stet_intercept_pyread_is(r->py, n, r->py->PyLong_Type))
        value = (long)r->py->PyLong_AsLongLongAndOverflow(n, &overflow);
    if (n)
        r->py->Py_DecRef(n);
    r->py->PyErr_Clear();
    return overflow ? -1 : value;
}

static size_t compute_depth(struct stet_pyread *r, PyObject *code, size_t at)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *bytes = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_code, STET_BY_C);
    char *text = NULL;
    Py_ssize_t size = 0;
    size_t depth = 0;

    if (bytes && py->PyBytes_AsStringAndSize(bytes, &text, &size) == 0 && size <= CODE_MOST)
        depth = stet_intercept_pyloops_depth(py, (const unsigned char *)text, (size_t)size, at);
    py->PyErr_Clear();
    if (bytes)
        py->Py_DecRef(bytes);
    return depth;
}

/* With the lock held; in a free-threaded Python, other threads are paused. */
static size_t depth_at(struct stet_pyread *r, PyObject *code, size_t at)
{
    static struct place known[KEPT];
    static size_t count;
    size_t depth;

    for (size_t i = 0; i < count; i++) {
        if (known[i].code == code && known[i].at == at)
            return known[i].depth;
    }
    depth = compute_depth(r, code, at);
    if (count < KEPT) {
        r->py->Py_IncRef(code);
        known[count++] = (struct place){code, at, depth};
    }
    return depth;
}

/* How many entries are valid, of those that the frame has written down or its code shows. */
static size_t valid_entries(struct stet_pyread *r, const struct stet_pyvars *v, const char *data,
                            const struct layout *l, const char *bottom)
{
    long at, written = -1;
    int top;

    if (r->py->minor >= 14) {
        written = (long)(((const char *)pointer_at(data, l->top) - bottom) / (long)sizeof(void *));
        return written < 0 ? 0 : (size_t)written;
    }
    if (l->top) {
        memcpy(&top, data + l->top, sizeof top);
        written = (long)top - (long)v->count;
    }
    if (written >= 0)
        return (size_t)written;
    if (r->py->free_threaded) /* its code may be locked by a thread that is paused */
        return 0;
    at = number_of(r, v->frame, STET_PYNAME_f_lasti);
    return at < 0 ? 0 : depth_at(r, v->code, (size_t)at);
}

size_t stet_intercept_pyframe_stack(struct stet_pyread *r, const struct stet_pyvars *v,
                                    PyObject *out[STET_PYLOOPS_MOST])
{
    const struct stet_intercept_python *py = r->py;
    const struct layout *l;
    const char *data = data_of(py, v->frame, v->code, &l), *bottom;
    long most = number_of(r, v->code, STET_PYNAME_co_stacksize);
    size_t n, count = 0;

    if (!data || most <= 0 || v->count == STET_PYVARS_MOST)
        return 0;
    bottom = data + l->locals + v->count * sizeof(void *);
    if (l->stack && pointer_at(data, l->stack) != (const void *)bottom)
        return 0;
    n = valid_entries(r, v, data, l, bottom);
    for (size_t i = 0; i < n && n <= (size_t)most && count < STET_PYLOOPS_MOST; i++) {
        void *entry = pointer_at(bottom, i * sizeof entry);

        if (py->minor >= 14 && ((uintptr_t)entry & TAG_BITS) > TAG_REFERENCE)
            continue;
        if (untagged(py, entry))
            out[count++] = untagged(py, entry);
    }
    return count;
}
