/* Types and attributes of Python objects, without running a line of Python.
 *
 * The type of an object is read from its head. An attribute is read only through a descriptor that
 * is implemented in C, and each pair of type and name is looked up once. All of it happens with the
 * interpreter's lock held, between two bytecodes of the user's program, so borrowed references stay
 * valid. */
#ifndef STET_INTERCEPT_PYREAD_H
#define STET_INTERCEPT_PYREAD_H

#include "intercept/python.h"
#include "journal/values_record.h"

#include <string.h>

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
    NAME(__slots__)                                                                                \
    NAME(args)                                                                                     \
    NAME(keywords)                                                                                 \
    NAME(__call__)                                                                                 \
    NAME(__wrapped__)                                                                              \
    NAME(__self__)                                                                                 \
    NAME(__next__)                                                                                 \
    NAME(__iter__)                                                                                 \
    NAME(__getitem__)                                                                              \
    NAME(co_name)                                                                                  \
    NAME(co_qualname)                                                                              \
    NAME(co_filename)                                                                              \
    NAME(co_firstlineno)                                                                           \
    NAME(co_varnames)                                                                              \
    NAME(co_cellvars)                                                                              \
    NAME(co_freevars)                                                                              \
    NAME(co_names)                                                                                 \
    NAME(co_argcount)                                                                              \
    NAME(co_kwonlyargcount)                                                                        \
    NAME(co_flags)                                                                                 \
    NAME(co_code)                                                                                  \
    NAME(co_stacksize)                                                                             \
    NAME(f_globals)                                                                                \
    NAME(f_lasti)                                                                                  \
    NAME(gi_frame)

enum stet_pyread_name {
#define NAME(name) STET_PYNAME_##name,
    STET_PYREAD_NAMES
#undef NAME
        STET_PYNAMES
};

/* How an object is read. */
enum stet_pyform {
    STET_FORM_OBJECT, /* of any other class */
    STET_FORM_SKIPPED,
    STET_FORM_BOOL,
    STET_FORM_INT,
    STET_FORM_FLOAT,
    STET_FORM_TEXT,
    STET_FORM_FUNCTION,
    STET_FORM_METHOD,
    STET_FORM_TUPLE,
    STET_FORM_LIST,
    STET_FORM_DICT,
    STET_FORM_JAX_ARRAY,
    STET_FORM_JAX_KEY, /* of random numbers, around an array */
    STET_FORM_NUMPY_ARRAY,
    STET_FORM_NUMPY_INT,
    STET_FORM_NUMPY_FLOAT,
    STET_FORM_TORCH_TENSOR,
};

/* What is known of a type, so that each type is examined once. */
struct stet_pytype {
    PyObject *type; /* borrowed: its instances keep it */
    unsigned long flags;
    enum stet_pyform form;
    bool calls;      /* its instances can be called */
    bool plain;      /* its instances have no dictionary */
    uint32_t length; /* of name */
    char name[64];
};

typedef PyObject *stet_pyget(PyObject *descriptor, PyObject *o, PyObject *type);

/* A descriptor that was examined; `get` is NULL if nothing may be read through it. */
struct stet_pyattribute {
    PyObject *type;       /* borrowed, as is the descriptor */
    PyObject *descriptor; /* NULL: the type has none */
    unsigned name, by;
    stet_pyget *get;
};

/* How a value is reached from what holds it. */
enum stet_pystep_kind { STET_STEP_ROOT, STET_STEP_FIELD, STET_STEP_INDEX, STET_STEP_KEY };

/* Something that holds further values, or an array: read after what is nearer. */
struct stet_pystep {
    PyObject *o;     /* borrowed: what holds it keeps it */
    const void *at;  /* FIELD, KEY: the name or key, an object; ROOT: its text */
    uint32_t number; /* INDEX: of the item; ROOT: the length of its text */
    uint16_t holder; /* the number of the step that holds it; its own for a root */
    uint16_t root, frame;
    uint16_t path, length; /* its path in the text, if that is known */
    uint8_t kind, scope;
    uint8_t level;         /* steps from the root */
    uint8_t depth, inside; /* containers and objects that may be below it */
    bool array;
    bool added;  /* the value itself was added */
    bool spread; /* its items are roots */
    bool first;  /* of its root */
    bool read;   /* or an array */
};

enum {
    STET_PYSTEPS_MOST = 1024,
    STET_PYSTEPS_TEXT = 12288,
    STET_PYROOTS_MOST = 256,
    STET_PYSEEN_SLOTS = 1024,
};

/* The objects whose fields were read, by address. They are only compared. */
struct stet_pyseen {
    uint32_t count;
    const PyObject *slots[STET_PYSEEN_SLOTS];
};

struct stet_pysteps {
    uint32_t count, shared; /* those that any root may have are counted in `shared` */
    uint32_t arrays, functions;
    uint32_t roots;
    uint32_t text_used;
    bool once;
    uint16_t looked[STET_PYROOTS_MOST]; /* objects of each root */
    uint16_t used[STET_PYROOTS_MOST];   /* its steps */
    uint16_t step[STET_PYROOTS_MOST];   /* its own, + 1 */
    bool cut[STET_PYROOTS_MOST];        /* not everything of it was read */
    char text[STET_PYSTEPS_TEXT];       /* paths of those that hold others */
    struct stet_pystep items[STET_PYSTEPS_MOST];
};

struct stet_pyread {
    const struct stet_intercept_python *py;
    struct stet_journal_values *out;
    PyObject *const *names;
    PyObject *tensor, *parameter; /* torch's two types, or NULL; compared only */
    stet_pyget *get_member, *get_getset, *get_property;
    enum stet_journal_value_scope scope;
    uint32_t frame;
    unsigned left;     /* objects that may still be looked at */
    uint32_t room;     /* size of `out` up to which values may be added now */
    bool cut;          /* something was left out since the flag was last cleared */
    bool hide_numbers; /* keep only hashes */
    uint64_t salt;     /* salt of those hashes; never written, so that hashed text cannot be
                        * guessed */
    uint32_t length;   /* of path */
    char path[STET_VALUES_PATH_MAX];
    PyObject *dtype; /* the last one whose name was needed; compared only */
    char dtype_name[64];
    size_t dtype_length;
    struct stet_pytype types[64]; /* by address */
    struct stet_pyattribute attributes[128];
    struct stet_pyseen *seen;
    struct stet_pysteps steps;
};

/* The reader may have any content before. */
void stet_intercept_pyread_init(struct stet_pyread *r, const struct stet_intercept_python *py,
                                struct stet_journal_values *out, struct stet_pyseen *seen);
/* The names as Python's strings, which are made once and kept; NULL where there was no memory. With
 * the interpreter's lock held. */
PyObject *const *stet_intercept_pyread_names(const struct stet_intercept_python *py);

/* The type of an object, borrowed from it. */
static inline PyObject *stet_intercept_pyread_type(const struct stet_intercept_python *py,
                                                   const PyObject *o)
{
    PyObject *type;

    memcpy(&type, (const char *)o + py->type_offset, sizeof(PyObject *));
    return type;
}

/* Is `o` of exactly this type? */
static inline bool stet_intercept_pyread_is(const struct stet_intercept_python *py,
                                            const PyObject *o, const PyObject *type)
{
    return stet_intercept_pyread_type(py, o) == type;
}

/* What is known of the object's type; valid until the next call. */
const struct stet_pytype *stet_intercept_pyread_known(struct stet_pyread *r, PyObject *o);
/* The instance dictionary of an object of that type; a new reference, or NULL. A type without one
 * is remembered: a failure is expensive. */
PyObject *stet_intercept_pyread_dict(struct stet_pyread *r, const struct stet_pytype *k,
                                     PyObject *o);
/* The name of a type, which ends with a zero and may be cut. */
void stet_intercept_pyread_type_name(const struct stet_intercept_python *py, PyObject *type,
                                     char *out, size_t room);
/* An attribute of a type itself, borrowed from the type or one of its bases; NULL if there is none.
 */
PyObject *stet_intercept_pyread_lookup(struct stet_pyread *r, PyObject *type,
                                       enum stet_pyread_name name);

/* The text of a str, or an empty view. Borrowed from the object. */
struct stet_view stet_intercept_pyread_text(const struct stet_intercept_python *py, PyObject *s);

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
/* The value of a dictionary under a text, borrowed. Looks at each key: one that the user made may
 * have an __eq__. */
PyObject *stet_intercept_pyread_key(const struct stet_intercept_python *py, PyObject *dict,
                                    const char *name);
/* The value in an instance's dictionary under `name`; borrowed, NULL if there is none. */
PyObject *stet_intercept_pyread_member(const struct stet_intercept_python *py, PyObject *o,
                                       const char *name);

#endif
