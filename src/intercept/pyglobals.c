/* See pyglobals.h. */
#include "intercept/pyglobals.h"

#include "intercept/pyframe.h"

enum { NAMES_MAX = STET_PYVARS_MOST, DEPTH = 6, INSIDE = 5 };

/* The names in a code object. Few globals are among them, and a bit for each pair of names rules
 * most others out. */
struct named {
    PyObject *tuple; /* a reference, or NULL */
    PyObject *items[NAMES_MAX];
    size_t count;
    uint64_t bits[4];
};

static size_t bit_of(const PyObject *name)
{
    return ((uintptr_t)name >> 4 ^ (uintptr_t)name >> 12) % 256;
}

static void named_init(struct stet_pyread *r, PyObject *code, struct named *names)
{
    const struct stet_intercept_python *py = r->py;
    Py_ssize_t n;

    names->tuple = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_names, STET_BY_C);
    names->count = 0;
    memset(names->bits, 0, sizeof names->bits);
    n = names->tuple ? py->PyTuple_Size(names->tuple) : 0;
    for (Py_ssize_t i = 0; i < n && i < NAMES_MAX; i++) {
        PyObject *name = py->PyTuple_GetItem(names->tuple, i);

        names->items[names->count++] = name;
        names->bits[bit_of(name) / 64] |= 1ULL << bit_of(name) % 64;
    }
}

static bool is_named(const struct named *names, const PyObject *key)
{
    if (!(names->bits[bit_of(key) / 64] >> bit_of(key) % 64 & 1))
        return false;
    for (size_t i = 0; i < names->count; i++) {
        if (names->items[i] == key) /* identifiers are interned */
            return true;
    }
    return false;
}

/* Without a lookup: keys of a dictionary may have an __eq__. */
void stet_intercept_pyglobals_named(struct stet_pyread *r, PyObject *code, PyObject *globals,
                                    size_t *examined)
{
    const struct stet_intercept_python *py = r->py;
    struct named names;
    PyObject *key, *value;
    Py_ssize_t at = 0;

    named_init(r, code, &names);
    r->scope = STET_SCOPE_GLOBAL;
    for (; names.count && *examined && r->left && py->PyDict_Next(globals, &at, &key, &value);
         --*examined) {
        if (is_named(&names, key) && !stet_intercept_pyread_is(py, value, py->PyFunction_Type))
            stet_intercept_pyobject_root(r, stet_intercept_pyread_text(py, key), value, DEPTH,
                                         INSIDE);
    }
    if (names.tuple)
        py->Py_DecRef(names.tuple);
    py->PyErr_Clear();
}

void stet_intercept_pyglobals_all(struct stet_pyread *r, PyObject *globals, size_t *examined)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *key, *value;
    Py_ssize_t at = 0;

    r->scope = STET_SCOPE_LOCAL;
    for (; *examined && r->left && py->PyDict_Next(globals, &at, &key, &value); --*examined) {
        struct stet_view name = {0};

        if (stet_intercept_pyread_is(py, key, py->PyUnicode_Type))
            name = stet_intercept_pyread_text(py, key);
        if (name.len && name.ptr[0] != '_' &&
            !stet_intercept_pyread_is(py, value, py->PyFunction_Type))
            stet_intercept_pyobject_root(r, name, value, DEPTH, INSIDE);
    }
}
