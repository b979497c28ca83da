/* See pyobject.h. */
#include "intercept/pyobject.h"

#include "intercept/pyarray.h"

enum {
    KEY_MAX = 48,
    ITEMS_MAX = 64,
    WORD_MAX = 32,
    SHARE_OBJECTS = 16, /* what a container keeps for each child that is still to come */
    SHARE_BYTES = 1024,
    CUT_LEVEL = 1, /* args is level 0, and args[0] level 1 */
};

static void drop(const struct stet_intercept_python *py, PyObject *o)
{
    if (o)
        py->Py_DecRef(o);
}

static uint64_t hidden(const struct stet_pyread *r, struct stet_view bytes)
{
    return stet_hash_mix_u64(stet_hash_bytes(bytes), r->salt).lo;
}

void stet_intercept_pyread_emit(struct stet_pyread *r, const struct stet_pytype *k,
                                struct stet_journal_value *v)
{
    uint32_t dropped = r->out->dropped;

    v->scope = r->scope;
    v->frame = r->frame;
    v->path = stet_view_of(r->path, r->length);
    v->type = stet_view_of(k->name, k->length);
    if (r->hide_numbers && (v->kind == STET_VALUE_INT || v->kind == STET_VALUE_FLOAT)) {
        v->hash = hidden(r, v->kind == STET_VALUE_INT ? stet_view_of(&v->number, sizeof v->number)
                                                      : stet_view_of(&v->real, sizeof v->real));
        v->kind = STET_VALUE_HIDDEN;
    }
    if (r->out->used < r->room)
        stet_journal_values_add(r->out, v);
    else
        r->out->dropped++;
    r->cut = r->cut || r->out->dropped != dropped;
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
    struct stet_journal_value v;

    stet_journal_value_init(&v, shown ? STET_VALUE_WORD : STET_VALUE_HIDDEN);
    if (shown)
        v.text = text;
    else
        v.hash = hidden(r, text);
    stet_intercept_pyread_emit(r, k, &v);
}

static void read_int(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    int overflow = 0;
    int64_t number = r->py->PyLong_AsLongLongAndOverflow(o, &overflow); /* sets no error */
    struct stet_journal_value v;

    stet_journal_value_init(&v, overflow ? STET_VALUE_OBJECT : STET_VALUE_INT);
    v.number = overflow ? 0 : number;
    stet_intercept_pyread_emit(r, k, &v);
}

static void read_float(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    struct stet_journal_value v;

    stet_journal_value_init(&v, STET_VALUE_FLOAT);
    v.real = r->py->PyFloat_AsDouble(o); /* sets no error */
    stet_intercept_pyread_emit(r, k, &v);
}

/* An exact number of the same value; numpy's conversion is written in C. */
static void read_numpy_scalar(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *plain = k->form == STET_FORM_NUMPY_INT ? py->PyNumber_Long(o) : py->PyNumber_Float(o);

    if (plain && stet_intercept_pyread_is(py, plain, py->PyLong_Type))
        read_int(r, k, plain);
    else if (plain && stet_intercept_pyread_is(py, plain, py->PyFloat_Type))
        read_float(r, k, plain);
    py->PyErr_Clear();
    drop(py, plain);
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
    struct stet_journal_value v;

    stet_journal_value_init(&v, STET_VALUE_FUNCTION);
    v.address = (uint64_t)(uintptr_t)function;
    if (code && !name)
        name = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_name, STET_BY_C);
    v.text = stet_intercept_pyread_text(py, name);
    v.file = stet_intercept_pyread_text(py, file);
    if (line)
        v.line = (uint32_t)py->PyLong_AsLongLongAndOverflow(line, &overflow);
    py->PyErr_Clear();
    stet_intercept_pyread_emit(r, k, &v);
    drop(py, file);
    drop(py, name);
    drop(py, line);
}

/* --- paths ------------------------------------------------------------------------------- */

/* A path that becomes too long is cut. */
static void append(struct stet_pyread *r, struct stet_view text)
{
    size_t room = sizeof r->path - r->length, n = text.len < room ? text.len : room;

    if (n)
        memcpy(r->path + r->length, text.ptr, n);
    r->length += (uint32_t)n;
}

static void push_cut(struct stet_pyread *r, const char *before, struct stet_view text,
                     const char *after)
{
    append(r, stet_view_str(before));
    append(r, text);
    append(r, stet_view_str(after));
}

/* Returns the previous length, to which the caller can go back. The marks are literals: their
 * lengths are known where this is inlined. */
static inline uint32_t push(struct stet_pyread *r, const char *before, struct stet_view text,
                            const char *after)
{
    uint32_t old = r->length;
    size_t head = strlen(before), tail = strlen(after), n = text.len < KEY_MAX ? text.len : KEY_MAX;
    char *to = r->path + old;

    if (sizeof r->path - old < head + n + tail) {
        push_cut(r, before, stet_view_of(text.ptr, n), after);
        return old;
    }
    memcpy(to, before, head);
    if (n)
        memcpy(to + head, text.ptr, n);
    memcpy(to + head + n, after, tail);
    r->length = old + (uint32_t)(head + n + tail);
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
    struct stet_journal_value v;

    stet_journal_value_init(&v, STET_VALUE_LENGTH);
    v.number = n;
    stet_intercept_pyread_emit(r, k, &v);
}

/* What the children of a container may use. */
struct share {
    unsigned left;
    uint32_t room;
};

static unsigned part(unsigned all, unsigned children, unsigned each)
{
    unsigned for_each = all >= children * each ? each : all / children;

    return all - (children - 1) * for_each;
}

/* Gives the next of `children` its part, and returns what there was. */
static struct share begin_child(struct stet_pyread *r, size_t children)
{
    struct share all = {r->left, r->room};
    uint32_t used = r->out->used;
    unsigned n = (unsigned)(children < ITEMS_MAX ? children : ITEMS_MAX);

    r->left = part(all.left, n, SHARE_OBJECTS);
    if (all.room > used)
        r->room = used + part(all.room - used, n, SHARE_BYTES);
    return all;
}

static void end_child(struct stet_pyread *r, struct share all, unsigned given)
{
    r->left = all.left - (given - r->left);
    r->room = all.room;
}

static void read_child(struct stet_pyread *r, PyObject *o, size_t children, unsigned depth,
                       unsigned inside)
{
    struct share all = begin_child(r, children);
    unsigned given = r->left;

    r->level++;
    read_object(r, o, depth, inside);
    r->level--;
    end_child(r, all, given);
}

/* Records that some of the container's items were not read, because readers must not take them for
 * absent. One such record is enough for a whole argument. */
static void end_container(struct stet_pyread *r, const struct stet_pytype *k, Py_ssize_t n,
                          bool all)
{
    uint32_t room = r->room, old = r->length;

    r->cut = r->cut || !all;
    if (!r->cut || r->level > CUT_LEVEL)
        return;
    r->room = STET_VALUES_SIZE;
    append(r, STET_VIEW(STET_VALUES_CUT));
    read_length(r, k, n);
    r->length = old;
    r->room = room;
    r->cut = false;
}

/* The names of a named tuple's fields, or NULL; borrowed from its class. */
static PyObject *fields_of(struct stet_pyread *r, const struct stet_pytype *k, Py_ssize_t n)
{
    PyObject *fields = k->type == r->py->PyTuple_Type
                           ? NULL
                           : stet_intercept_pyread_lookup(r, k->type, STET_PYNAME__fields);

    return fields && stet_intercept_pyread_known(r, fields)->form == STET_FORM_TUPLE &&
                   r->py->PyTuple_Size(fields) == n
               ? fields
               : NULL;
}

static void read_tuple(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                       unsigned depth, unsigned inside)
{
    const struct stet_intercept_python *py = r->py;
    Py_ssize_t n = py->PyTuple_Size(o), i;
    PyObject *fields = fields_of(r, k, n);

    if (n > ITEMS_MAX || !depth)
        read_length(r, k, n);
    for (i = 0; depth && i < n && i < ITEMS_MAX && r->left; i++) {
        PyObject *field = fields ? py->PyTuple_GetItem(fields, i) : NULL;
        uint32_t old = field && stet_intercept_pyread_is(py, field, py->PyUnicode_Type)
                           ? push(r, ".", stet_intercept_pyread_text(py, field), "")
                           : push_index(r, i);

        read_child(r, py->PyTuple_GetItem(o, i), (size_t)(n - i), depth - 1, inside);
        r->length = old;
    }
    if (depth)
        end_container(r, k, n, i == n);
}

static void read_list(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                      unsigned depth, unsigned inside)
{
    Py_ssize_t n = r->py->PyList_Size(o), i;

    read_length(r, k, n); /* lists grow: the length is a value of its own */
    for (i = 0; depth && i < n && i < ITEMS_MAX && r->left; i++) {
        uint32_t old = push_index(r, i);

        read_child(r, r->py->PyList_GetItem(o, i), (size_t)(n - i), depth - 1, inside);
        r->length = old;
    }
    if (depth)
        end_container(r, k, n, i == n);
}

static void read_dict(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                      unsigned depth, unsigned inside)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *key, *value;
    Py_ssize_t at = 0, n = py->PyDict_Size(o), i;

    if (n > ITEMS_MAX || !depth)
        read_length(r, k, n);
    for (i = 0; depth && i < n && i < ITEMS_MAX && r->left && py->PyDict_Next(o, &at, &key, &value);
         i++) {
        uint32_t old = push_key(r, key);

        read_child(r, value, (size_t)(n - i), depth - 1, inside);
        r->length = old;
    }
    if (depth)
        end_container(r, k, n, i == n);
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
            read_function(r, stet_intercept_pyread_known(r, held), held);
            r->length = old;
        }
        drop(r->py, held);
    }
}

/* A field of an object, under the name. */
static void read_field(struct stet_pyread *r, PyObject *name, PyObject *value, Py_ssize_t left,
                       unsigned depth, unsigned inside)
{
    uint32_t old = push(r, ".", stet_intercept_pyread_text(r->py, name), "");

    read_child(r, value, (size_t)left, depth - 1, inside - 1);
    r->length = old;
}

/* What functools.partial binds: members of a C struct. */
static void read_bound(struct stet_pyread *r, PyObject *o, unsigned depth, unsigned inside)
{
    static const enum stet_pyread_name members[] = {STET_PYNAME_args, STET_PYNAME_keywords};

    for (Py_ssize_t i = 0; i < 2; i++) {
        PyObject *value = stet_intercept_pyread_attribute(r, o, members[i], STET_BY_SLOT);

        if (value)
            read_field(r, r->names[members[i]], value, 2 - i, depth, inside);
        drop(r->py, value);
    }
}

/* The fields that a class keeps in slots; those of its bases are left out. */
static void read_slots(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                       unsigned depth, unsigned inside)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *names = stet_intercept_pyread_lookup(r, k->type, STET_PYNAME___slots__);
    Py_ssize_t n = names && stet_intercept_pyread_is(py, names, py->PyTuple_Type)
                       ? py->PyTuple_Size(names)
                       : 0;

    for (Py_ssize_t i = 0; i < n && i < ITEMS_MAX && r->left; i++) {
        PyObject *name = py->PyTuple_GetItem(names, i), *descriptor = NULL, *value = NULL;

        if (stet_intercept_pyread_is(py, name, py->PyUnicode_Type))
            descriptor = py->_PyType_Lookup(k->type, name);
        if (descriptor && stet_intercept_pyread_is(py, descriptor, py->PyMemberDescr_Type))
            value = r->get_member(descriptor, o, k->type);
        py->PyErr_Clear(); /* a slot without a value */
        if (value)
            read_field(r, name, value, n - i, depth, inside);
        drop(py, value);
    }
}

static bool is_number(const struct stet_pyread *r, PyObject *o)
{
    const struct stet_intercept_python *py = r->py;

    return stet_intercept_pyread_is(py, o, py->PyLong_Type) ||
           stet_intercept_pyread_is(py, o, py->PyFloat_Type) ||
           stet_intercept_pyread_is(py, o, py->PyBool_Type);
}

/* Numbers first: they are small and decide more than what a library keeps in its objects. */
static void read_fields(struct stet_pyread *r, const struct stet_pytype *k, PyObject *dict,
                        unsigned depth, unsigned inside)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *key, *value;
    Py_ssize_t n = py->PyDict_Size(dict), i = 0;

    for (int numbers = 1; numbers >= 0; numbers--) {
        Py_ssize_t at = 0;

        while (i < n && i < ITEMS_MAX && r->left && py->PyDict_Next(dict, &at, &key, &value))
            if (is_number(r, value) == numbers) {
                if (stet_intercept_pyread_is(py, key, py->PyUnicode_Type))
                    read_field(r, key, value, n - i, depth, inside);
                i++;
            }
    }
    end_container(r, k, n, i == n);
}

/* An instance, and the fields in its own dictionary. */
static void read_instance(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                          unsigned depth, unsigned inside)
{
    const struct stet_intercept_python *py = r->py;
    PyObject *dict = depth && inside ? py->PyObject_GenericGetDict(o, NULL) : NULL;
    struct stet_journal_value v;
    PyObject *wrapped = dict ? stet_intercept_pyread_key(py, dict, "__wrapped__") : NULL;

    py->PyErr_Clear();
    if (wrapped && stet_intercept_pyread_is(py, wrapped, py->PyFunction_Type)) {
        read_function(r, k, wrapped); /* a jitted function, or another wrapper */
        py->Py_DecRef(dict);
        return;
    }
    stet_journal_value_init(&v, STET_VALUE_OBJECT);
    v.address = (uint64_t)(uintptr_t)o;
    stet_intercept_pyread_emit(r, k, &v);
    if (inside)
        read_wrapped(r, o);
    if (depth && inside && r->left &&
        stet_intercept_pyread_lookup(r, k->type, STET_PYNAME_keywords))
        read_bound(r, o, depth, inside);
    else if (depth && inside && r->left)
        read_slots(r, k, o, depth, inside);
    if (!dict)
        return;
    read_fields(r, k, dict, depth, inside);
    py->Py_DecRef(dict);
}

/* None and the two booleans. */
static void read_constant(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    bool none = o == r->py->_Py_NoneStruct;
    struct stet_journal_value v;

    stet_journal_value_init(&v, none ? STET_VALUE_NONE : STET_VALUE_BOOL);
    v.number = o == r->py->_Py_TrueStruct;
    stet_intercept_pyread_emit(r, k, &v);
}

static void read_scalar(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    switch (k->form) {
    case STET_FORM_BOOL:
        read_constant(r, k, o);
        break;
    case STET_FORM_INT:
        read_int(r, k, o);
        break;
    case STET_FORM_FLOAT:
        read_float(r, k, o);
        break;
    case STET_FORM_TEXT:
        read_string(r, k, o);
        break;
    case STET_FORM_FUNCTION:
        read_function(r, k, o);
        break;
    case STET_FORM_METHOD:
        read_function(r, k, r->py->PyMethod_Function(o));
        break;
    default:
        read_numpy_scalar(r, k, o);
    }
}

static bool read_array(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    switch (k->form) {
    case STET_FORM_JAX_ARRAY:
        return stet_intercept_pyarray_jax(r, k, o);
    case STET_FORM_NUMPY_ARRAY:
        return stet_intercept_pyarray_numpy(r, k, o);
    case STET_FORM_TORCH_TENSOR:
        return stet_intercept_pyarray_torch(r, k, o);
    default:
        return false;
    }
}

static void read_known(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                       unsigned depth, unsigned inside)
{
    switch (k->form) {
    case STET_FORM_SKIPPED:
        break;
    case STET_FORM_TUPLE:
        read_tuple(r, k, o, depth, inside);
        break;
    case STET_FORM_LIST:
        read_list(r, k, o, depth, inside);
        break;
    case STET_FORM_DICT:
        read_dict(r, k, o, depth, inside);
        break;
    case STET_FORM_OBJECT:
    case STET_FORM_JAX_ARRAY:
    case STET_FORM_NUMPY_ARRAY:
    case STET_FORM_TORCH_TENSOR:
        if (!read_array(r, k, o))
            read_instance(r, k, o, depth, inside);
        break;
    default:
        read_scalar(r, k, o);
    }
}

static void read_object(struct stet_pyread *r, PyObject *o, unsigned depth, unsigned inside)
{
    struct stet_pytype k;

    if (!o || !r->left)
        return;
    r->left--;
    if (r->out->used >= r->room) {
        r->out->dropped++;
        r->cut = true;
        return;
    }
    k = *stet_intercept_pyread_known(r, o); /* the next type may take its slot in the table */
    if (o == r->py->_Py_NoneStruct)
        read_constant(r, &k, o);
    else
        read_known(r, &k, o, depth, inside);
}

void stet_intercept_pyread_named(struct stet_pyread *r, struct stet_view name, PyObject *o,
                                 unsigned depth, unsigned inside)
{
    r->length = 0;
    r->cut = false;
    push(r, "", name, "");
    read_object(r, o, depth, inside);
}

void stet_intercept_pyread_among(struct stet_pyread *r, size_t count, struct stet_view name,
                                 PyObject *o, unsigned depth, unsigned inside)
{
    struct share all = begin_child(r, count);
    unsigned given = r->left;

    stet_intercept_pyread_named(r, name, o, depth, inside);
    end_child(r, all, given);
}
