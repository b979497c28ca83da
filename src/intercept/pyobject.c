/* See pyobject.h. PyObject_GetAttr is never called on an object whose class the user may have
 * defined. */
#include "intercept/pyread_internal.h"

#include <string.h>

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

bool stet_intercept_pyread_is(const struct stet_intercept_python *py, PyObject *o, PyObject *type)
{
    PyObject *own = py->PyObject_Type(o);

    if (own)
        py->Py_DecRef(own);
    return own == type;
}

static void copy_name(char out[TYPE_NAME_MAX], struct stet_view name)
{
    size_t n = name.len < TYPE_NAME_MAX ? name.len : TYPE_NAME_MAX - 1;

    if (n)
        memcpy(out, name.ptr, n);
    out[n] = '\0';
}

/* type.__name__ would call the metaclass. Before PyType_GetName there is the field tp_name, whose
 * offset is the same in every Python 3. */
void stet_intercept_pyread_type_name(const struct stet_intercept_python *py, PyObject *type,
                                     char out[TYPE_NAME_MAX])
{
    PyObject *name;
    const char *field, *dot;

    if (py->PyType_GetName) {
        name = py->PyType_GetName(type);
        copy_name(out, stet_intercept_pyread_text(py, name));
        if (name)
            py->Py_DecRef(name);
        return;
    }
    memcpy(&field, (const char *)type + TP_NAME_OFFSET, sizeof field);
    dot = strrchr(field, '.');
    copy_name(out, stet_view_str(dot ? dot + 1 : field));
}

/* The type of an object. It stays valid until the end: nothing runs meanwhile that could destroy
 * the object or its type. */
const struct stet_pytype *stet_intercept_pyread_type(struct stet_pyread *r, PyObject *o)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *type = py->PyObject_Type(o);
    struct stet_pytype *t =
        &r->types[((uintptr_t)type >> 5) % (sizeof r->types / sizeof *r->types)];

    py->Py_DecRef(type);
    if (t->type != type) {
        t->type = type;
        t->flags = py->PyType_GetFlags(type);
        stet_intercept_pyread_type_name(py, type, t->name);
    }
    return t;
}

/* Borrowed from the type or one of its bases. */
static PyObject *lookup(struct stet_pyread *r, PyObject *type, enum stet_pyread_name name)
{
    PyObject *found = r->names[name] ? r->py->_PyType_Lookup(type, r->names[name]) : NULL;

    r->py->PyErr_Clear();
    return found;
}

/* A property whose getter is a method of nanobind, with which jaxlib binds C++. A class that Python
 * code created under that name has a function as its __call__, not a C slot. */
static bool native_property(struct stet_pyread *r, PyObject *property)
{
    PyObject *getter = stet_intercept_pyread_attribute(r, property, STET_PYNAME_fget, STET_BY_SLOT),
             *call;
    bool native = false;

    if (getter && strcmp(stet_intercept_pyread_type(r, getter)->name, "nb_method") == 0) {
        call = lookup(r, stet_intercept_pyread_type(r, getter)->type, STET_PYNAME___call__);
        native = call && stet_intercept_pyread_is(r->py, call, r->py->PyWrapperDescr_Type);
    }
    stet_intercept_pyread_drop(r->py, getter);
    return native;
}

static bool allowed(struct stet_pyread *r, PyObject *descriptor, unsigned by)
{
    const struct stet_intercept_python *py = r->py;

    return ((by & STET_BY_SLOT) &&
            stet_intercept_pyread_is(py, descriptor, py->PyMemberDescr_Type)) ||
           ((by & STET_BY_GETTER) &&
            stet_intercept_pyread_is(py, descriptor, py->PyGetSetDescr_Type)) ||
           ((by & STET_BY_NANOBIND) &&
            stet_intercept_pyread_is(py, descriptor, py->PyProperty_Type) &&
            native_property(r, descriptor));
}

PyObject *stet_intercept_pyread_attribute(struct stet_pyread *r, PyObject *o,
                                          enum stet_pyread_name name, unsigned by)
{
    PyObject *descriptor = lookup(r, stet_intercept_pyread_type(r, o)->type, name), *value = NULL;

    if (descriptor && allowed(r, descriptor, by))
        value = r->py->PyObject_GenericGetAttr(o, r->names[name]);
    r->py->PyErr_Clear();
    return value;
}

/* The keys of any dictionary may be objects with their own __eq__, so nothing is looked up. */
static PyObject *find_key(const struct stet_intercept_python *py, PyObject *dict, const char *name)
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
    value = find_key(py, dict, name);
    py->Py_DecRef(dict); /* the object keeps it */
    return value;
}

static void find_torch(struct stet_pyread *r)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *modules = py->PySys_GetObject("modules");
    PyObject *torch = modules ? py->PyDict_GetItemString(modules, "torch") : NULL;
    PyObject *nn = modules ? py->PyDict_GetItemString(modules, "torch.nn.parameter") : NULL;

    if (torch && stet_intercept_pyread_is(py, torch, py->PyModule_Type))
        r->tensor = find_key(py, py->PyModule_GetDict(torch), "Tensor");
    if (nn && stet_intercept_pyread_is(py, nn, py->PyModule_Type))
        r->parameter = find_key(py, py->PyModule_GetDict(nn), "Parameter");
}

void stet_intercept_pyread_init(struct stet_pyread *r, const struct stet_intercept_python *py,
                                struct stet_journal_values *out, bool hide_numbers, uint64_t salt)
{
    static const char *const names[] = {
#define NAME(name) #name,
        STET_PYREAD_NAMES
#undef NAME
    };

    memset(r, 0, sizeof *r);
    r->py = py;
    r->out = out;
    r->hide_numbers = hide_numbers;
    r->salt = salt;
    for (size_t i = 0; i < STET_PYNAMES; i++)
        r->names[i] = py->PyUnicode_InternFromString(names[i]);
    py->PyErr_Clear();
    find_torch(r);
}

void stet_intercept_pyread_release(struct stet_pyread *r)
{
    for (size_t i = 0; i < STET_PYNAMES; i++)
        stet_intercept_pyread_drop(r->py, r->names[i]);
}

static uint64_t hidden(const struct stet_pyread *r, struct stet_view bytes)
{
    return stet_hash_mix_u64(stet_hash_bytes(bytes), r->salt).lo;
}

void stet_intercept_pyread_emit(struct stet_pyread *r, const struct stet_pytype *k,
                                struct stet_journal_value *v)
{
    v->scope = r->scope;
    v->frame = r->frame;
    v->path = stet_view_of(r->path, r->length);
    v->type = stet_view_str(k->name);
    if (r->hide_numbers && (v->kind == STET_VALUE_INT || v->kind == STET_VALUE_FLOAT)) {
        v->hash = hidden(r, v->kind == STET_VALUE_INT ? stet_view_of(&v->number, sizeof v->number)
                                                      : stet_view_of(&v->real, sizeof v->real));
        v->kind = STET_VALUE_HIDDEN;
    }
    stet_journal_values_add(r->out, v);
}

/* Words such as "train" or "relu" name a mode. A text with digits, or a long one, may be a secret
 * or a path, so only its hash is kept. */
static bool is_word(struct stet_view s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_' && c != '-')
            return false;
    }
    return s.len <= WORD_MAX;
}

static void read_string(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    struct stet_view text = stet_intercept_pyread_text(r->py, o);
    bool shown = r->scope >= STET_SCOPE_ARGUMENT && is_word(text);
    struct stet_journal_value v = {.kind = shown ? STET_VALUE_WORD : STET_VALUE_HIDDEN};

    if (shown)
        v.text = text;
    else
        v.hash = hidden(r, text);
    stet_intercept_pyread_emit(r, k, &v);
}

static void read_int(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    int overflow = 0;
    struct stet_journal_value v = {.kind = STET_VALUE_INT};

    v.number = r->py->PyLong_AsLongLongAndOverflow(o, &overflow);
    r->py->PyErr_Clear();
    if (overflow)
        v = (struct stet_journal_value){.kind = STET_VALUE_OBJECT};
    stet_intercept_pyread_emit(r, k, &v);
}

static void read_float(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    struct stet_journal_value v = {.kind = STET_VALUE_FLOAT, .real = r->py->PyFloat_AsDouble(o)};

    r->py->PyErr_Clear();
    stet_intercept_pyread_emit(r, k, &v);
}

static bool one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* numpy's own scalars are static types, which Python code cannot create. */
static bool read_numpy_scalar(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    static const char *const ints[] = {"int8",  "int16",  "int32",  "int64",
                                       "uint8", "uint16", "uint32", "uint64"};
    static const char *const floats[] = {"float16", "float32", "float64"};
    const struct stet_intercept_python *py = r->py;
    PyObject *plain;

    if (k->flags & HEAP_TYPE)
        return false;
    if (one_of(k->name, ints, sizeof ints / sizeof *ints))
        plain = py->PyNumber_Long(o);
    else if (one_of(k->name, floats, sizeof floats / sizeof *floats))
        plain = py->PyNumber_Float(o);
    else
        return false;
    if (plain && stet_intercept_pyread_is(py, plain, py->PyLong_Type))
        read_int(r, k, plain);
    else if (plain && stet_intercept_pyread_is(py, plain, py->PyFloat_Type))
        read_float(r, k, plain);
    py->PyErr_Clear();
    stet_intercept_pyread_drop(py, plain);
    return true;
}

static void read_function(struct stet_pyread *r, const struct stet_pytype *k, PyObject *function)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *code = py->PyFunction_GetCode(function);
    PyObject *file =
        code ? stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_filename, STET_BY_C) : NULL;
    PyObject *name =
        code ? stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_qualname, STET_BY_C) : NULL;
    PyObject *line =
        code ? stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_firstlineno, STET_BY_C)
             : NULL;
    int overflow = 0;
    struct stet_journal_value v = {.kind = STET_VALUE_FUNCTION,
                                   .address = (uint64_t)(uintptr_t)function};

    if (code && !name)
        name = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_name, STET_BY_C);
    v.text = stet_intercept_pyread_text(py, name);
    v.file = stet_intercept_pyread_text(py, file);
    if (line)
        v.line = (uint32_t)py->PyLong_AsLongLongAndOverflow(line, &overflow);
    py->PyErr_Clear();
    stet_intercept_pyread_emit(r, k, &v);
    stet_intercept_pyread_drop(py, file);
    stet_intercept_pyread_drop(py, name);
    stet_intercept_pyread_drop(py, line);
}

/* --- paths ------------------------------------------------------------------------------- */

static void append(struct stet_pyread *r, const char *text, size_t n)
{
    size_t room = sizeof r->path - r->length;

    if (n > room)
        n = room; /* a path that long is cut */
    memcpy(r->path + r->length, text, n);
    r->length += (uint32_t)n;
}

/* Returns the previous length, to which the caller can go back. */
static uint32_t push(struct stet_pyread *r, const char *before, struct stet_view text,
                     const char *after)
{
    uint32_t old = r->length;

    append(r, before, strlen(before));
    if (text.len)
        append(r, text.ptr, text.len < KEY_MAX ? text.len : KEY_MAX);
    append(r, after, strlen(after));
    return old;
}

static uint32_t push_index(struct stet_pyread *r, long long i)
{
    char digits[24];
    size_t at = sizeof digits;
    unsigned long long rest = i < 0 ? 0 - (unsigned long long)i : (unsigned long long)i;

    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (i < 0)
        digits[--at] = '-';
    return push(r, "[", stet_view_of(digits + at, sizeof digits - at), "]");
}

static uint32_t push_key(struct stet_pyread *r, PyObject *key)
{
    const struct stet_intercept_python *py = r->py;
    int overflow = 0;

    if (stet_intercept_pyread_is(py, key, py->PyUnicode_Type))
        return push(r, "['", stet_intercept_pyread_text(py, key), "']");
    if (stet_intercept_pyread_is(py, key, py->PyLong_Type))
        return push_index(r, py->PyLong_AsLongLongAndOverflow(key, &overflow));
    return push(r, "[", STET_VIEW("?"), "]");
}

/* --- containers -------------------------------------------------------------------------- */

static void read_object(struct stet_pyread *r, PyObject *o, unsigned depth, unsigned inside);

static void read_length(struct stet_pyread *r, const struct stet_pytype *k, Py_ssize_t n)
{
    stet_intercept_pyread_emit(
        r, k, &(struct stet_journal_value){.kind = STET_VALUE_LENGTH, .number = n});
}

/* The names of a named tuple's fields, or NULL; borrowed from its class. */
static PyObject *fields_of(struct stet_pyread *r, PyObject *o, Py_ssize_t n)
{
    PyObject *fields = lookup(r, stet_intercept_pyread_type(r, o)->type, STET_PYNAME__fields);

    return fields && (stet_intercept_pyread_type(r, fields)->flags & TUPLE_SUBCLASS) &&
                   r->py->PyTuple_Size(fields) == n
               ? fields
               : NULL;
}

static void read_tuple(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                       unsigned depth, unsigned inside)
{
    const struct stet_intercept_python *py = r->py;
    Py_ssize_t n = py->PyTuple_Size(o);
    PyObject *fields = fields_of(r, o, n);

    if (n > ITEMS_MAX || !depth)
        read_length(r, k, n);
    for (Py_ssize_t i = 0; depth && i < n && i < ITEMS_MAX && r->left; i++) {
        PyObject *field = fields ? py->PyTuple_GetItem(fields, i) : NULL;
        uint32_t old = field && stet_intercept_pyread_is(py, field, py->PyUnicode_Type)
                           ? push(r, ".", stet_intercept_pyread_text(py, field), "")
                           : push_index(r, i);

        read_object(r, py->PyTuple_GetItem(o, i), depth - 1, inside);
        r->length = old;
    }
}

static void read_list(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                      unsigned depth, unsigned inside)
{
    Py_ssize_t n = r->py->PyList_Size(o);

    read_length(r, k, n); /* lists grow: the length is a value of its own */
    for (Py_ssize_t i = 0; depth && i < n && i < ITEMS_MAX && r->left; i++) {
        uint32_t old = push_index(r, i);

        read_object(r, r->py->PyList_GetItem(o, i), depth - 1, inside);
        r->length = old;
    }
}

static void read_dict(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                      unsigned depth, unsigned inside)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *key, *value;
    Py_ssize_t at = 0, n = py->PyDict_Size(o);

    if (n > ITEMS_MAX || !depth)
        read_length(r, k, n);
    for (size_t i = 0; depth && i < ITEMS_MAX && r->left && py->PyDict_Next(o, &at, &key, &value);
         i++) {
        uint32_t old = push_key(r, key);

        read_object(r, value, depth - 1, inside);
        r->length = old;
    }
}

/* The function that a wrapper without a dictionary holds in a slot, such as JAX's WrappedFun. */
static void read_wrapped(struct stet_pyread *r, PyObject *o)
{
    static const enum stet_pyread_name slots[] = {STET_PYNAME_f, STET_PYNAME_fun, STET_PYNAME_func};

    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        PyObject *held = stet_intercept_pyread_attribute(r, o, slots[i], STET_BY_SLOT);
        uint32_t old = r->length;

        if (held && stet_intercept_pyread_is(r->py, held, r->py->PyFunction_Type)) {
            push(r, ".", stet_intercept_pyread_text(r->py, r->names[slots[i]]), "");
            read_function(r, stet_intercept_pyread_type(r, held), held);
            r->length = old;
        }
        stet_intercept_pyread_drop(r->py, held);
    }
}

/* The fields of an instance, from its own dictionary. */
static void read_instance(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                          unsigned depth, unsigned inside)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *dict = depth && inside ? py->PyObject_GenericGetDict(o, NULL) : NULL, *key, *value;
    struct stet_journal_value v = {.kind = STET_VALUE_OBJECT, .address = (uint64_t)(uintptr_t)o};
    PyObject *wrapped = dict ? find_key(py, dict, "__wrapped__") : NULL;
    Py_ssize_t at = 0;

    py->PyErr_Clear();
    if (wrapped && stet_intercept_pyread_is(py, wrapped, py->PyFunction_Type)) {
        read_function(r, k, wrapped); /* a jitted function, or another wrapper */
        py->Py_DecRef(dict);
        return;
    }
    stet_intercept_pyread_emit(r, k, &v);
    if (inside)
        read_wrapped(r, o);
    if (!dict)
        return;
    for (size_t i = 0; i < ITEMS_MAX && r->left && py->PyDict_Next(dict, &at, &key, &value); i++) {
        uint32_t old;

        if (!stet_intercept_pyread_is(py, key, py->PyUnicode_Type))
            continue;
        old = push(r, ".", stet_intercept_pyread_text(py, key), "");
        read_object(r, value, depth - 1, inside - 1);
        r->length = old;
    }
    py->Py_DecRef(dict);
}

static void read_known(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                       unsigned depth, unsigned inside)
{
    const struct stet_intercept_python *py = r->py;

    if (o == py->_Py_NoneStruct)
        stet_intercept_pyread_emit(r, k, &(struct stet_journal_value){.kind = STET_VALUE_NONE});
    else if (k->type == py->PyBool_Type)
        stet_intercept_pyread_emit(r, k,
                                   &(struct stet_journal_value){.kind = STET_VALUE_BOOL,
                                                                .number = o == py->_Py_TrueStruct});
    else if (k->type == py->PyLong_Type)
        read_int(r, k, o);
    else if (k->type == py->PyFloat_Type)
        read_float(r, k, o);
    else if (k->type == py->PyUnicode_Type)
        read_string(r, k, o);
    else if (k->type == py->PyFunction_Type)
        read_function(r, k, o);
    else if (k->type == py->PyMethod_Type)
        read_function(r, k, py->PyMethod_Function(o));
    else if (k->flags & TUPLE_SUBCLASS)
        read_tuple(r, k, o, depth, inside);
    else if (k->flags & LIST_SUBCLASS)
        read_list(r, k, o, depth, inside);
    else if (k->flags & DICT_SUBCLASS)
        read_dict(r, k, o, depth, inside);
    else if (k->type == r->tensor || k->type == r->parameter)
        stet_intercept_pyread_torch_tensor(r, k, o);
    else if (!read_numpy_scalar(r, k, o))
        read_instance(r, k, o, depth, inside);
}

static void read_object(struct stet_pyread *r, PyObject *o, unsigned depth, unsigned inside)
{
    const struct stet_intercept_python *py = r->py;
    struct stet_pytype k;

    if (!o || !r->left)
        return;
    r->left--;
    k = *stet_intercept_pyread_type(r, o); /* the next type may take its slot in the table */
    if ((k.flags & TYPE_SUBCLASS) || k.type == py->PyModule_Type)
        return;
    if (strcmp(k.name, "ArrayImpl") == 0 && stet_intercept_pyread_jax_array(r, &k, o))
        return;
    if (!(k.flags & HEAP_TYPE) && strcmp(k.name, "ndarray") == 0 &&
        stet_intercept_pyread_numpy_array(r, &k, o))
        return;
    read_known(r, &k, o, depth, inside);
}

void stet_intercept_pyread_named(struct stet_pyread *r, struct stet_view name, PyObject *o,
                                 unsigned depth, unsigned inside)
{
    r->length = 0;
    push(r, "", name, "");
    read_object(r, o, depth, inside);
}
