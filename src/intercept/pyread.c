/* See pyread.h. PyObject_GetAttr is never called on an object whose class the user may have
 * defined. */
#include "intercept/pyread.h"

/* Py_TPFLAGS_*, part of the stable ABI. */
#define HEAP_TYPE      (1UL << 9)
#define LIST_SUBCLASS  (1UL << 25)
#define TUPLE_SUBCLASS (1UL << 26)
#define DICT_SUBCLASS  (1UL << 29)
#define TYPE_SUBCLASS  (1UL << 31)

enum {
    TP_DESCR_GET = 54,    /* Py_tp_descr_get of the stable ABI */
    TP_NAME_OFFSET = 24,  /* fields of a type in 3.9 and 3.10 */
    TP_DESCR_GET_39 = 272 /* 3.9 gives slots only of heap types */
};

struct stet_view stet_intercept_pyread_text(const struct stet_intercept_python *py, PyObject *s)
{
    Py_ssize_t n = 0;
    const char *text = s ? py->PyUnicode_AsUTF8AndSize(s, &n) : NULL;

    if (!text) {
        py->PyErr_Clear(); /* not a str, or one with lone surrogates */
        return (struct stet_view){0};
    }
    return stet_view_of(text, (size_t)n);
}

/* ---- types ---- */

static void copy_name(char *out, size_t room, struct stet_view name)
{
    size_t n = name.len < room ? name.len : room - 1;

    if (n)
        memcpy(out, name.ptr, n);
    out[n] = '\0';
}

/* type.__name__ would call the metaclass. Before PyType_GetName there is the field tp_name, whose
 * offset is the same in these versions. */
void stet_intercept_pyread_type_name(const struct stet_intercept_python *py, PyObject *type,
                                     char *out, size_t room)
{
    PyObject *name;
    const char *field, *dot;

    if (py->PyType_GetName) {
        name = py->PyType_GetName(type);
        copy_name(out, room, stet_intercept_pyread_text(py, name));
        if (name)
            py->Py_DecRef(name);
        return;
    }
    memcpy(&field, (const char *)type + TP_NAME_OFFSET, sizeof field);
    dot = strrchr(field, '.');
    copy_name(out, room, stet_view_str(dot ? dot + 1 : field));
}

static bool one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* numpy's own arrays and scalars are static types, which Python code cannot create. */
static enum stet_pyform static_form(const char *name)
{
    static const char *const ints[] = {"int8",  "int16",  "int32",  "int64",
                                       "uint8", "uint16", "uint32", "uint64"};
    static const char *const floats[] = {"float16", "float32", "float64"};

    if (strcmp(name, "ndarray") == 0)
        return STET_FORM_NUMPY_ARRAY;
    if (one_of(name, ints, sizeof ints / sizeof *ints))
        return STET_FORM_NUMPY_INT;
    if (one_of(name, floats, sizeof floats / sizeof *floats))
        return STET_FORM_NUMPY_FLOAT;
    return STET_FORM_OBJECT;
}

static enum stet_pyform container_form(unsigned long flags)
{
    if (flags & TUPLE_SUBCLASS)
        return STET_FORM_TUPLE;
    if (flags & LIST_SUBCLASS)
        return STET_FORM_LIST;
    return flags & DICT_SUBCLASS ? STET_FORM_DICT : STET_FORM_OBJECT;
}

static enum stet_pyform form_of(const struct stet_pyread *r, const struct stet_pytype *t)
{
    const struct stet_intercept_python *py = r->py;
    const struct {
        PyObject *type;
        enum stet_pyform form;
    } exact[] = {
        {py->PyBool_Type, STET_FORM_BOOL},         {py->PyLong_Type, STET_FORM_INT},
        {py->PyFloat_Type, STET_FORM_FLOAT},       {py->PyUnicode_Type, STET_FORM_TEXT},
        {py->PyFunction_Type, STET_FORM_FUNCTION}, {py->PyMethod_Type, STET_FORM_METHOD},
        {py->PyModule_Type, STET_FORM_SKIPPED},    {r->tensor, STET_FORM_TORCH_TENSOR},
        {r->parameter, STET_FORM_TORCH_TENSOR},
    };

    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        if (t->type == exact[i].type)
            return exact[i].form;
    }
    if (t->flags & TYPE_SUBCLASS)
        return STET_FORM_SKIPPED;
    if (t->flags & (TUPLE_SUBCLASS | LIST_SUBCLASS | DICT_SUBCLASS))
        return container_form(t->flags);
    if (strcmp(t->name, "ArrayImpl") == 0)
        return STET_FORM_JAX_ARRAY;
    if (strcmp(t->name, "PRNGKeyArray") == 0)
        return STET_FORM_JAX_KEY;
    return t->flags & HEAP_TYPE ? STET_FORM_OBJECT : static_form(t->name);
}

static struct stet_pytype *slot_of(struct stet_pyread *r, const PyObject *type)
{
    return &r->types[((uintptr_t)type >> 5) % (sizeof r->types / sizeof *r->types)];
}

const struct stet_pytype *stet_intercept_pyread_known(struct stet_pyread *r, PyObject *o)
{
    PyObject *type = stet_intercept_pyread_type(r->py, o);
    struct stet_pytype *t = slot_of(r, type);

    if (t->type != type) {
        t->type = type;
        t->flags = r->py->PyType_GetFlags(type);
        stet_intercept_pyread_type_name(r->py, type, t->name, sizeof t->name);
        t->length = (uint32_t)strlen(t->name);
        t->form = form_of(r, t);
        t->calls = t->form == STET_FORM_OBJECT &&
                   stet_intercept_pyread_lookup(r, type, STET_PYNAME___call__);
        t->plain = false;
    }
    return t;
}

PyObject *stet_intercept_pyread_dict(struct stet_pyread *r, const struct stet_pytype *k,
                                     PyObject *o)
{
    PyObject *dict = k->plain ? NULL : r->py->PyObject_GenericGetDict(o, NULL);
    struct stet_pytype *known = slot_of(r, k->type);

    if (!dict && !k->plain) {
        r->py->PyErr_Clear();
        known->plain |= known->type == k->type;
    }
    return dict;
}

PyObject *stet_intercept_pyread_lookup(struct stet_pyread *r, PyObject *type,
                                       enum stet_pyread_name name)
{
    PyObject *found = r->names[name] ? r->py->_PyType_Lookup(type, r->names[name]) : NULL;

    r->py->PyErr_Clear();
    return found;
}

/* ---- attributes ---- */

/* A property whose getter is a method of nanobind, with which jaxlib binds C++. A class that Python
 * code created under that name has a function as its __call__, not a C slot. */
static bool native_property(struct stet_pyread *r, PyObject *property)
{
    PyObject *getter = stet_intercept_pyread_attribute(r, property, STET_PYNAME_fget, STET_BY_SLOT);
    PyObject *call = NULL;

    if (getter && strcmp(stet_intercept_pyread_known(r, getter)->name, "nb_method") == 0)
        call = stet_intercept_pyread_lookup(r, stet_intercept_pyread_type(r->py, getter),
                                            STET_PYNAME___call__);
    if (getter)
        r->py->Py_DecRef(getter);
    return call && stet_intercept_pyread_is(r->py, call, r->py->PyWrapperDescr_Type);
}

/* How a descriptor is read; NULL if it is none of those that are asked for. */
static stet_pyget *getter_of(struct stet_pyread *r, PyObject *descriptor, unsigned by)
{
    const struct stet_intercept_python *py = r->py;

    if ((by & STET_BY_SLOT) && stet_intercept_pyread_is(py, descriptor, py->PyMemberDescr_Type))
        return r->get_member;
    if ((by & STET_BY_GETTER) && stet_intercept_pyread_is(py, descriptor, py->PyGetSetDescr_Type))
        return r->get_getset;
    if ((by & STET_BY_NANOBIND) && stet_intercept_pyread_is(py, descriptor, py->PyProperty_Type) &&
        native_property(r, descriptor))
        return r->get_property;
    return NULL;
}

static const struct stet_pyattribute *find_attribute(struct stet_pyread *r, PyObject *type,
                                                     enum stet_pyread_name name, unsigned by)
{
    size_t at =
        (((uintptr_t)type >> 4) + name * 37U) % (sizeof r->attributes / sizeof *r->attributes);
    struct stet_pyattribute *a = &r->attributes[at], found = {type, NULL, name, by, NULL};

    if (a->type == type && a->name == name && a->by == by)
        return a;
    found.descriptor = stet_intercept_pyread_lookup(r, type, name);
    if (found.descriptor)
        found.get = getter_of(r, found.descriptor, by); /* may itself use the slot */
    *a = found;
    return a;
}

PyObject *stet_intercept_pyread_attribute(struct stet_pyread *r, PyObject *o,
                                          enum stet_pyread_name name, unsigned by)
{
    PyObject *type = stet_intercept_pyread_type(r->py, o), *value;
    const struct stet_pyattribute *a = find_attribute(r, type, name, by);

    if (!a->get)
        return NULL;
    value = a->get(a->descriptor, o, type);
    if (!value)
        r->py->PyErr_Clear();
    return value;
}

PyObject *stet_intercept_pyread_key(const struct stet_intercept_python *py, PyObject *dict,
                                    const char *name)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    while (py->PyDict_Next(dict, &at, &key, &value)) {
        if (stet_intercept_pyread_is(py, key, py->PyUnicode_Type) &&
            stet_view_is(stet_intercept_pyread_text(py, key), name))
            return value;
    }
    return NULL;
}

PyObject *stet_intercept_pyread_member(const struct stet_intercept_python *py, PyObject *o,
                                       const char *name)
{
    PyObject *dict = py->PyObject_GenericGetDict(o, NULL), *value;

    if (!dict) {
        py->PyErr_Clear();
        return NULL;
    }
    value = stet_intercept_pyread_key(py, dict, name);
    py->Py_DecRef(dict); /* the object keeps it */
    return value;
}

/* ---- the reader ---- */

static PyObject *module_has(const struct stet_intercept_python *py, const char *module,
                            const char *name)
{
    PyObject *m = stet_intercept_python_module(py, module);

    return m && stet_intercept_pyread_is(py, m, py->PyModule_Type)
               ? py->PyDict_GetItemString(py->PyModule_GetDict(m), name)
               : NULL;
}

/* What the interpreter itself calls for such a descriptor. */
static stet_pyget *get_slot(const struct stet_intercept_python *py, PyObject *type)
{
    union {
        void *slot;
        stet_pyget *get;
    } found = {NULL};

    if (py->minor < 10)
        memcpy(&found.slot, (const char *)type + TP_DESCR_GET_39, sizeof found.slot);
    else
        found.slot = py->PyType_GetSlot(type, TP_DESCR_GET);
    py->PyErr_Clear();
    return found.get;
}

PyObject *const *stet_intercept_pyread_names(const struct stet_intercept_python *py)
{
    static const char *const texts[] = {
#define NAME(name) #name,
        STET_PYREAD_NAMES
#undef NAME
    };
    static PyObject *names[STET_PYNAMES];
    static size_t made;

    for (; made < STET_PYNAMES; made++) {
        names[made] = py->PyUnicode_InternFromString(texts[made]);
        py->PyErr_Clear();
        if (!names[made])
            break;
    }
    return names;
}

void stet_intercept_pyread_init(struct stet_pyread *r, const struct stet_intercept_python *py,
                                struct stet_journal_values *out, struct stet_pyseen *seen)
{
    memset(r, 0, offsetof(struct stet_pyread, steps));
    r->py = py;
    r->out = out;
    r->seen = seen;
    r->names = stet_intercept_pyread_names(py);
    r->get_member = get_slot(py, py->PyMemberDescr_Type);
    r->get_getset = get_slot(py, py->PyGetSetDescr_Type);
    r->get_property = get_slot(py, py->PyProperty_Type);
    r->tensor = module_has(py, "torch", "Tensor");
    r->parameter = module_has(py, "torch.nn.parameter", "Parameter");
}
