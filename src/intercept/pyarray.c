/* See pyarray.h. */
#include "intercept/pyarray.h"

#include "intercept/pyscalar.h"

static void drop(const struct stet_intercept_python *py, PyObject *o)
{
    if (o)
        py->Py_DecRef(o);
}

/* A tuple of exact ints, such as a shape. False for anything else. */
static bool read_dims(struct stet_pyread *r, PyObject *tuple, struct stet_journal_value *v)
{
    const struct stet_intercept_python *py = r->py;
    bool is_tuple = stet_intercept_pyread_is(py, tuple, py->PyTuple_Type) || /* most of them */
                    stet_intercept_pyread_known(r, tuple)->form == STET_FORM_TUPLE;
    Py_ssize_t n = is_tuple ? py->PyTuple_Size(tuple) : -1;
    int overflow = 0;

    if (n < 0 || n > STET_VALUES_RANK_MAX)
        return false;
    v->rank = (uint32_t)n;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *size = py->PyTuple_GetItem(tuple, i);

        if (!size || !stet_intercept_pyread_is(py, size, py->PyLong_Type))
            return false;                                               /* symbolic */
        v->dims[i] = py->PyLong_AsLongLongAndOverflow(size, &overflow); /* sets no error */
    }
    return true;
}

/* numpy's dtype has its scalar type as a C member; that type's name is the dtype's. Arrays of a
 * model have few dtypes, so the last one is remembered. */
static struct stet_view dtype_name(struct stet_pyread *r, PyObject *dtype)
{
    PyObject *type;

    if (dtype && dtype == r->dtype)
        return stet_view_of(r->dtype_name, r->dtype_length);
    type = dtype ? stet_intercept_pyread_attribute(r, dtype, STET_PYNAME_type, STET_BY_SLOT) : NULL;
    r->dtype = dtype;
    r->dtype_name[0] = '\0';
    if (type && stet_intercept_pyread_known(r, type)->form == STET_FORM_SKIPPED)
        stet_intercept_pyread_type_name(r->py, type, r->dtype_name, sizeof r->dtype_name);
    drop(r->py, type);
    r->dtype_length = strlen(r->dtype_name);
    return stet_view_of(r->dtype_name, r->dtype_length);
}

static struct stet_view type_name(const struct stet_pytype *k)
{
    return stet_view_of(k->name, k->length);
}

/* jax.Array: its abstract value has everything that tracing uses, in slots. */
static bool read_jax(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    const struct stet_intercept_python *py = r->py;
    struct stet_journal_value v;
    PyObject *aval = stet_intercept_pyread_attribute(r, o, STET_PYNAME_aval, STET_BY_NANOBIND);
    PyObject *shape =
        aval ? stet_intercept_pyread_attribute(r, aval, STET_PYNAME_shape, STET_BY_SLOT) : NULL;
    PyObject *dtype =
        aval ? stet_intercept_pyread_attribute(r, aval, STET_PYNAME_dtype, STET_BY_SLOT) : NULL;
    PyObject *weak =
        aval ? stet_intercept_pyread_attribute(r, aval, STET_PYNAME_weak_type, STET_BY_SLOT) : NULL;
    PyObject *sharding =
        stet_intercept_pyread_attribute(r, o, STET_PYNAME__sharding, STET_BY_NANOBIND);
    bool known;

    stet_journal_value_init(&v, STET_VALUE_ARRAY);
    known = shape && read_dims(r, shape, &v);
    if (known) {
        v.text = dtype_name(r, dtype);
        v.weak = weak == py->_Py_TrueStruct;
        if (sharding)
            v.place = type_name(stet_intercept_pyread_known(r, sharding));
        stet_intercept_pyscalar_emit(r, k, &v);
    }
    drop(py, aval);
    drop(py, shape);
    drop(py, dtype);
    drop(py, weak);
    drop(py, sharding);
    return known;
}

static bool read_numpy(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    const struct stet_intercept_python *py = r->py;
    struct stet_journal_value v;
    PyObject *shape = stet_intercept_pyread_attribute(r, o, STET_PYNAME_shape, STET_BY_GETTER);
    PyObject *dtype = stet_intercept_pyread_attribute(r, o, STET_PYNAME_dtype, STET_BY_GETTER);
    bool known;

    stet_journal_value_init(&v, STET_VALUE_ARRAY);
    known = shape && read_dims(r, shape, &v);
    if (known) {
        v.text = dtype_name(r, dtype);
        stet_intercept_pyscalar_emit(r, k, &v);
    }
    drop(py, shape);
    drop(py, dtype);
    return known;
}

/* Getters of torch.Tensor look for __torch_function__ in subclasses, so only the two exact types
 * are read. */
static bool read_torch(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    const struct stet_intercept_python *py = r->py;
    struct stet_journal_value v;
    PyObject *shape = stet_intercept_pyread_attribute(r, o, STET_PYNAME_shape, STET_BY_GETTER);
    PyObject *dtype = stet_intercept_pyread_attribute(r, o, STET_PYNAME_dtype, STET_BY_GETTER);
    PyObject *text = dtype ? py->PyObject_Repr(dtype) : NULL;
    bool known;

    py->PyErr_Clear();
    stet_journal_value_init(&v, STET_VALUE_ARRAY);
    known = shape && read_dims(r, shape, &v);
    if (known) {
        v.text = stet_intercept_pyread_text(py, text);
        stet_intercept_pyscalar_emit(r, k, &v);
    }
    drop(py, shape);
    drop(py, dtype);
    drop(py, text);
    return known;
}

/* A key of random numbers is an object around an array. */
static bool read_key(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    PyObject *array = stet_intercept_pyread_member(r->py, o, "_base_array");

    return array && stet_intercept_pyread_known(r, array)->form == STET_FORM_JAX_ARRAY &&
           read_jax(r, k, array);
}

bool stet_intercept_pyarray_read(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o)
{
    switch (k->form) {
    case STET_FORM_JAX_ARRAY:
        return read_jax(r, k, o);
    case STET_FORM_JAX_KEY:
        return read_key(r, k, o);
    case STET_FORM_NUMPY_ARRAY:
        return read_numpy(r, k, o);
    default:
        return read_torch(r, k, o);
    }
}
