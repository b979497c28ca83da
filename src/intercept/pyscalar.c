/* See pyscalar.h. */
#include "intercept/pyscalar.h"

enum { WORD_MAX = 32 };

static void drop(const struct stet_intercept_python *py, PyObject *o)
{
    if (o)
        py->Py_DecRef(o);
}

static uint64_t hidden(const struct stet_pyread *r, struct stet_view bytes)
{
    return stet_hash_mix_u64(stet_hash_bytes(bytes), r->salt).lo;
}

void stet_intercept_pyscalar_emit(struct stet_pyread *r, const struct stet_pytype *k,
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
    stet_intercept_pyscalar_emit(r, k, &v);
}

static void read_int(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    int overflow = 0;
    int64_t number = r->py->PyLong_AsLongLongAndOverflow(o, &overflow); /* sets no error */
    struct stet_journal_value v;

    stet_journal_value_init(&v, overflow ? STET_VALUE_OBJECT : STET_VALUE_INT);
    v.number = overflow ? 0 : number;
    stet_intercept_pyscalar_emit(r, k, &v);
}

static void read_float(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    struct stet_journal_value v;

    stet_journal_value_init(&v, STET_VALUE_FLOAT);
    v.real = r->py->PyFloat_AsDouble(o); /* sets no error */
    stet_intercept_pyscalar_emit(r, k, &v);
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

/* None and the two booleans. */
static void read_constant(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    bool none = o == r->py->_Py_NoneStruct;
    struct stet_journal_value v;

    stet_journal_value_init(&v, none ? STET_VALUE_NONE : STET_VALUE_BOOL);
    v.number = o == r->py->_Py_TrueStruct;
    stet_intercept_pyscalar_emit(r, k, &v);
}

bool stet_intercept_pyscalar_read(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    switch (k->form) {
    case STET_FORM_BOOL:
        read_constant(r, k, o);
        return true;
    case STET_FORM_INT:
        read_int(r, k, o);
        return true;
    case STET_FORM_FLOAT:
        read_float(r, k, o);
        return true;
    case STET_FORM_TEXT:
        read_string(r, k, o);
        return true;
    case STET_FORM_NUMPY_INT:
    case STET_FORM_NUMPY_FLOAT:
        read_numpy_scalar(r, k, o);
        return true;
    default:
        if (o == r->py->_Py_NoneStruct)
            read_constant(r, k, o);
        return o == r->py->_Py_NoneStruct;
    }
}

void stet_intercept_pyscalar_length(struct stet_pyread *r, const struct stet_pytype *k,
                                    Py_ssize_t n)
{
    struct stet_journal_value v;

    stet_journal_value_init(&v, STET_VALUE_LENGTH);
    v.number = n;
    stet_intercept_pyscalar_emit(r, k, &v);
}

/* Two methods of one object are equal, those of two objects are not. */
static uint64_t address_of(PyObject *function, PyObject *self)
{
    uint64_t address = (uint64_t)(uintptr_t)function;

    return self ? address ^ (uint64_t)(uintptr_t)self << 1 : address;
}

void stet_intercept_pyscalar_function(struct stet_pyread *r, const struct stet_pytype *k,
                                      PyObject *function, PyObject *self)
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
    v.address = address_of(function, self);
    if (code && !name)
        name = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_name, STET_BY_C);
    v.text = stet_intercept_pyread_text(py, name);
    v.file = stet_intercept_pyread_text(py, file);
    if (line)
        v.line = (uint32_t)py->PyLong_AsLongLongAndOverflow(line, &overflow);
    py->PyErr_Clear();
    stet_intercept_pyscalar_emit(r, k, &v);
    drop(py, file);
    drop(py, name);
    drop(py, line);
}
