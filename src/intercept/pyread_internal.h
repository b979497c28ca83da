/* Shared by the files that read Python objects. No other file includes it. */
#ifndef STET_INTERCEPT_PYREAD_INTERNAL_H
#define STET_INTERCEPT_PYREAD_INTERNAL_H

#include "intercept/pyobject.h"

/* Py_TPFLAGS_*, part of the stable ABI. */
#define HEAP_TYPE      (1UL << 9)
#define LIST_SUBCLASS  (1UL << 25)
#define TUPLE_SUBCLASS (1UL << 26)
#define DICT_SUBCLASS  (1UL << 29)
#define TYPE_SUBCLASS  (1UL << 31)

enum {
    TYPE_NAME_MAX = sizeof((struct stet_pytype *)0)->name,
    KEY_MAX = 48,
    ITEMS_MAX = 64,
    WORD_MAX = 32,
    TP_NAME_OFFSET = 24
};

static inline void stet_intercept_pyread_drop(const struct stet_intercept_python *py, PyObject *o)
{
    if (o)
        py->Py_DecRef(o);
}

/* The type of an object, examined once. */
const struct stet_pytype *stet_intercept_pyread_type(struct stet_pyread *r, PyObject *o);
/* The name of a type, without running its metaclass. */
void stet_intercept_pyread_type_name(const struct stet_intercept_python *py, PyObject *type,
                                     char out[TYPE_NAME_MAX]);
/* Adds a value of this type at the present path. */
void stet_intercept_pyread_emit(struct stet_pyread *r, const struct stet_pytype *k,
                                struct stet_journal_value *v);

/* Each reads an array of its library; false when the object is something else. */
bool stet_intercept_pyread_jax_array(struct stet_pyread *r, const struct stet_pytype *k,
                                     PyObject *o);
bool stet_intercept_pyread_numpy_array(struct stet_pyread *r, const struct stet_pytype *k,
                                       PyObject *o);
bool stet_intercept_pyread_torch_tensor(struct stet_pyread *r, const struct stet_pytype *k,
                                        PyObject *o);

#endif
