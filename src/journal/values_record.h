/* Values that Python held during a compile: the framework's call and the scalars of the user's
 * frames, as one sequence of bytes in the journal's `compile_values` record.
 *
 * The layer appends to a buffer of fixed size while it holds the interpreter's lock, so writing
 * never allocates and never fails: values that do not fit are counted. Paths share what they have
 * in common with the path before them, and names of types, files and functions are written once.
 * Readers walk the bytes with stet_journal_values_next, which also reads the form of older
 * journals, in which each value has all of its texts. The values never contain Python source or a
 * repr made by Python code. */
#ifndef STET_JOURNAL_VALUES_RECORD_H
#define STET_JOURNAL_VALUES_RECORD_H

#include "base/hash.h"
#include "base/json.h"
#include "base/reader.h"

#include <stddef.h>
#include <string.h>

#define STET_VALUES_SIZE     ((size_t)24 << 10)
#define STET_VALUES_PATH_MAX 256
#define STET_VALUES_RANK_MAX 16
/* The end of the path of a LENGTH: not everything below the path before it was read. */
#define STET_VALUES_CUT      "[...]"

/* KIND(identifier, number, name): the numbers are on disk, so add and never renumber. */
#define STET_JOURNAL_VALUE_KINDS                                                                   \
    KIND(NONE, 1, "none")                                                                          \
    KIND(BOOL, 2, "bool")                                                                          \
    KIND(INT, 3, "int")                                                                            \
    KIND(FLOAT, 4, "float")                                                                        \
    KIND(WORD, 5, "word")         /* a short str that reads like an identifier, kept as it is */   \
    KIND(HIDDEN, 6, "hidden")     /* a str or number of which only the hash is kept */             \
    KIND(ARRAY, 7, "array")       /* dtype, shape, weak type, library */                           \
    KIND(FUNCTION, 8, "function") /* file, line and name of its definition, and its address */     \
    KIND(OBJECT, 9, "object")     /* only the name of its type, and its address */                 \
    KIND(LENGTH, 10, "length") /* how many items a container has that was not read to its end */   \
    KIND(CONTAINER, 11, "container") /* a tuple, list or dictionary, only its address */

enum stet_journal_value_kind {
#define KIND(id, number, name) STET_VALUE_##id = number,
    STET_JOURNAL_VALUE_KINDS
#undef KIND
};

/* SCOPE(identifier, number, name), also on disk: where the value was found. */
#define STET_JOURNAL_VALUE_SCOPES                                                                  \
    SCOPE(LOCAL, 0, "local")         /* a local of the frame */                                    \
    SCOPE(GLOBAL, 1, "global")       /* a global that the frame's code or the function names */    \
    SCOPE(CLOSURE, 2, "closure")     /* a variable of an enclosing function */                     \
    SCOPE(ARGUMENT, 3, "argument")   /* of the framework's call: args[0], kwargs['train'] */       \
    SCOPE(CALLED, 4, "called")       /* the function that the call compiles, and its jit */        \
    SCOPE(SUSPENDED, 5, "suspended") /* of a generator that waits to be continued */               \
    SCOPE(PASSED, 6, "passed")       /* what the user's line passed to a library's wrapper:        \
                                      * args[0], kwargs['train'] */

enum stet_journal_value_scope {
#define SCOPE(id, number, name) STET_SCOPE_##id = number,
    STET_JOURNAL_VALUE_SCOPES
#undef SCOPE
};

struct stet_journal_value {
    enum stet_journal_value_kind kind;
    enum stet_journal_value_scope scope;
    uint32_t frame;         /* index in the thread's frames, innermost first; of SUSPENDED: the
                             * number of the generator */
    struct stet_view path;  /* "lr", "args[0]['w']", "self.scale" */
    struct stet_view type;  /* Python's name of the type: "int", "int64", "ArrayImpl" */
    int64_t number;         /* BOOL, INT, LENGTH */
    double real;            /* FLOAT */
    uint64_t hash;          /* HIDDEN */
    uint64_t address;       /* FUNCTION, OBJECT, CONTAINER: distinguishes two objects of one kind */
    struct stet_view text;  /* WORD; FUNCTION: its name; ARRAY: its dtype */
    struct stet_view file;  /* FUNCTION */
    uint32_t line;          /* FUNCTION */
    bool weak;              /* ARRAY: a weak type, as JAX has them */
    struct stet_view place; /* ARRAY: its sharding, when known */
    uint32_t rank;          /* ARRAY */
    int64_t dims[STET_VALUES_RANK_MAX];
};

/* Makes an empty value. The dimensions count only up to the rank. */
static inline void stet_journal_value_init(struct stet_journal_value *v,
                                           enum stet_journal_value_kind kind)
{
    memset(v, 0, offsetof(struct stet_journal_value, dims));
    v->kind = kind;
}

#define STET_VALUES_TEXTS 255 /* texts that are written once */

/* A buffer to append to. */
struct stet_journal_values {
    uint32_t used, dropped;
    /* Of the value before: */
    enum stet_journal_value_scope scope;
    uint32_t frame, length;
    char path[STET_VALUES_PATH_MAX];
    /* The texts so far, and their numbers + 1 by hash: */
    uint32_t text_count;
    struct {
        uint16_t at, length;
    } texts[STET_VALUES_TEXTS];
    unsigned char slots[2 * (STET_VALUES_TEXTS + 1)];
    unsigned char bytes[STET_VALUES_SIZE];
};

/* Makes the buffer empty. */
void stet_journal_values_init(struct stet_journal_values *v);
/* Views are copied. A value that does not fit is counted in `dropped`; one whose path is longer
 * than STET_VALUES_PATH_MAX never fits. */
void stet_journal_values_add(struct stet_journal_values *v, const struct stet_journal_value *value);

struct stet_journal_values_reader {
    struct stet_reader in; /* check stet_reader_ok of it */
    bool packed;           /* not in the form of older journals */
    enum stet_journal_value_scope scope;
    uint32_t frame, length;
    char path[STET_VALUES_PATH_MAX];
    uint32_t text_count;
    struct stet_view texts[STET_VALUES_TEXTS];
};

void stet_journal_values_open(struct stet_journal_values_reader *r, struct stet_view bytes);
/* The next value. Its path is valid until the next call; other views borrow from the bytes. False
 * at the end, or if the bytes are damaged. */
bool stet_journal_values_next(struct stet_journal_values_reader *r, struct stet_journal_value *out);

/* The value as a person writes it: 0.05, 'eval', None, float32[4,3], int64 4. */
void stet_journal_value_text(struct stet_buf *out, const struct stet_journal_value *v);

/* Identifies the function of a compile, whatever its name. It is computed from where the function
 * was defined and from the user's functions that it closes over or receives, through wrappers and
 * partials. */
struct stet_journal_function {
    uint64_t identity; /* 0 if the framework's call was not seen */
    uint64_t object;   /* distinguishes two functions that one definition made */
    uint64_t wrapper;  /* distinguishes two wrappers around one function, as vmap(grad(f)) is */
    uint64_t held;     /* of the classes of the objects that it closes over */
    bool library;      /* none of it is the user's: an operation outside any jitted function */
    struct stet_view name,
        file; /* of the user's own innermost definition; empty if there is none */
    uint32_t line;
};
struct stet_journal_function stet_journal_values_function(struct stet_view bytes);
/* Is the function of this name a library's, though functions of the user's are among its arguments?
 */
bool stet_journal_values_borrowed(struct stet_view bytes, struct stet_view name);

/* For JSON and messages; NULL for a number that this build does not know. */
const char *stet_journal_value_kind_name(enum stet_journal_value_kind kind);
const char *stet_journal_value_scope_name(enum stet_journal_value_scope scope);

/* Bytes as an array of objects under `name`: path, scope, frame, kind, type and the value. */
void stet_journal_values_json(struct stet_json *j, const char *name, struct stet_view bytes);

#endif
