/* Reads one Python object into values, without running a line of Python.
 *
 * It reads only exact built-in types, containers derived from them, and the array types of known
 * libraries. Of everything else it keeps the type's name and, to a small depth, the instance
 * dictionary. Attributes are read only through descriptors that are implemented in C. All of it
 * happens with the interpreter's lock held, between two bytecodes of the user's program, so
 * borrowed references stay valid. */
#ifndef STET_INTERCEPT_PYOBJECT_H
#define STET_INTERCEPT_PYOBJECT_H

#include "intercept/python.h"
#include "journal/values_record.h"

/* Attributes that are read by name. */
#define STET_PYREAD_NAMES                                                                          \
    NAME(aval)                                                                                     \
    NAME(shape)                                                                                    \
    NAME(dtype)                                                                                    \
    NAME(weak_type)                                                                                \
    NAME(_sharding)                                                                                \
    NAME(type)                                                                                     \
    NAME(fget)                                                                                     \
    NAME(func)                                                                                     \
    NAME(fun)                                                                                      \
    NAME(f)                                                                                        \
    NAME(_fields)                                                                                  \
    NAME(__call__)                                                                                 \
    NAME(co_name)                                                                                  \
    NAME(co_qualname)                                                                              \
    NAME(co_filename)                                                                              \
    NAME(co_firstlineno)                                                                           \
    NAME(co_varnames)                                                                              \
    NAME(co_cellvars)                                                                              \
    NAME(co_freevars)                                                                              \
    NAME(co_names)                                                                                 \
    NAME(co_argcount)                                                                              \
    NAME(f_globals)

enum stet_pyread_name {
#define NAME(name) STET_PYNAME_##name,
    STET_PYREAD_NAMES
#undef NAME
        STET_PYNAMES
};

/* What is known of a type, so that each type is examined once. */
struct stet_pytype {
    PyObject *type; /* borrowed: its instances keep it */
    unsigned long flags;
    char name[64];
};

struct stet_pyread {
    const struct stet_python *py;
    struct stet_journal_values *out;
    PyObject *names[STET_PYNAMES]; /* references */
    PyObject *tensor, *parameter;  /* torch's two types, or NULL; compared only */
    enum stet_journal_value_scope scope;
    uint32_t frame;
    unsigned left;     /* objects that may still be looked at */
    bool hide_numbers; /* keep only hashes */
    uint64_t salt;     /* salt of those hashes; never written, so that hashed text cannot be
                        * guessed */
    uint32_t length;   /* of path */
    char path[STET_VALUES_PATH_MAX];
    struct stet_pytype types[64]; /* by address */
};

void stet_intercept_pyread_init(struct stet_pyread *r, const struct stet_python *py,
                                struct stet_journal_values *out, bool hide_numbers, uint64_t salt);
void stet_intercept_pyread_release(struct stet_pyread *r);

/* Reads `o` under the path `name`. `depth` limits containers, `inside` instance dictionaries. */
void stet_intercept_pyread_named(struct stet_pyread *r, struct stet_view name, PyObject *o,
                                 unsigned depth, unsigned inside);

/* The text of a str, or an empty view. Borrowed from the object. */
struct stet_view stet_intercept_pyread_text(const struct stet_python *py, PyObject *s);
/* Is `o` of exactly this type? */
bool stet_intercept_pyread_is(const struct stet_python *py, PyObject *o, PyObject *type);

/* Descriptors through which an attribute may be read. */
enum stet_pyread_by {
    STET_BY_SLOT = 1,     /* a member of a C struct or of __slots__: never runs anything */
    STET_BY_GETTER = 2,   /* a C getter: only for types that are not the user's */
    STET_BY_NANOBIND = 4, /* a property of jaxlib's, whose getter is C++ */
};
/* For the interpreter's own types. */
#define STET_BY_C (STET_BY_SLOT | STET_BY_GETTER)

/* The attribute, if such a descriptor has it; a new reference, or NULL with no error set. */
PyObject *stet_intercept_pyread_attribute(struct stet_pyread *r, PyObject *o,
                                          enum stet_pyread_name name, unsigned by);
/* The value in an instance's dictionary under `name`; borrowed, NULL if there is none. */
PyObject *stet_intercept_pyread_member(const struct stet_python *py, PyObject *o, const char *name);

#endif
