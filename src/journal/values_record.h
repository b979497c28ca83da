/* Values that Python held while a compile ran: the framework's call and the scalars of the user's
 * frames, as one sequence of bytes in the journal's `compile_values` record.
 *
 * The layer appends to a buffer of fixed size while it holds the interpreter's lock, so writing
 * never allocates and never fails: what does not fit is counted. Readers walk the bytes with
 * stet_journal_values_next. Nothing in here is ever Python source or a repr made by Python code. */
#ifndef STET_JOURNAL_VALUES_RECORD_H
#define STET_JOURNAL_VALUES_RECORD_H

#include "base/hash.h"
#include "base/json.h"
#include "base/reader.h"

#define STET_VALUES_SIZE     ((size_t)24 << 10)
#define STET_VALUES_PATH_MAX 256
#define STET_VALUES_RANK_MAX 16

/* On disk: add, never renumber. */
enum stet_journal_value_kind {
    STET_VALUE_NONE = 1,
    STET_VALUE_BOOL = 2,
    STET_VALUE_INT = 3,
    STET_VALUE_FLOAT = 4,
    STET_VALUE_WORD = 5,     /* a short str that reads like an identifier, kept as it is */
    STET_VALUE_HIDDEN = 6,   /* a str or number of which only the hash is kept */
    STET_VALUE_ARRAY = 7,    /* dtype, shape, weak type, library */
    STET_VALUE_FUNCTION = 8, /* file, line and name of its definition, and its address */
    STET_VALUE_OBJECT = 9,   /* only the name of its type, and its address */
    STET_VALUE_LENGTH = 10,  /* how many items a container has that was not read to its end */
};

/* On disk, as above: where the value was found. */
enum stet_journal_value_scope {
    STET_SCOPE_LOCAL = 0,    /* a local of the frame */
    STET_SCOPE_GLOBAL = 1,   /* a global that the frame's code or the called function names */
    STET_SCOPE_CLOSURE = 2,  /* a variable of an enclosing function */
    STET_SCOPE_ARGUMENT = 3, /* of the framework's call: args[0], kwargs['train'] */
    STET_SCOPE_CALLED = 4,   /* the function that the framework's call compiles, and its jit */
};

struct stet_journal_value {
    enum stet_journal_value_kind kind;
    enum stet_journal_value_scope scope;
    uint32_t frame;         /* index in the thread's frames, innermost first */
    struct stet_view path;  /* "lr", "args[0]['w']", "self.scale" */
    struct stet_view type;  /* Python's name of the type: "int", "int64", "ArrayImpl" */
    int64_t number;         /* BOOL, INT, LENGTH */
    double real;            /* FLOAT */
    uint64_t hash;          /* HIDDEN */
    uint64_t address;       /* FUNCTION, OBJECT: tells two objects of one kind apart */
    struct stet_view text;  /* WORD; FUNCTION: its name; ARRAY: its dtype */
    struct stet_view file;  /* FUNCTION */
    uint32_t line;          /* FUNCTION */
    bool weak;              /* ARRAY: a weak type, as JAX has them */
    struct stet_view place; /* ARRAY: its sharding, when known */
    uint32_t rank;          /* ARRAY */
    int64_t dims[STET_VALUES_RANK_MAX];
};

/* A buffer to append to. Zero `used` and `dropped` to begin. */
struct stet_journal_values {
    uint32_t used, dropped;
    unsigned char bytes[STET_VALUES_SIZE];
};

/* Views are copied. A value that does not fit is counted in `dropped`. */
void stet_journal_values_add(struct stet_journal_values *v, const struct stet_journal_value *value);

/* The next value; its views borrow from the reader's input. False at the end, or when the bytes
 * are damaged (ask stet_reader_ok). */
bool stet_journal_values_next(struct stet_reader *r, struct stet_journal_value *out);

/* The value in words, as a person writes it: 0.05, 'eval', None, float32[4,3], int64 4. */
void stet_journal_value_text(struct stet_buf *out, const struct stet_journal_value *v);

/* Which function a compile is of, whatever its name: made of the place where the function was
 * defined and of the user's functions that it closes over or is given, through wrappers and
 * partials. */
struct stet_journal_function {
    uint64_t identity; /* 0 when the framework's call was not seen */
    bool library;      /* nothing of it is the user's: an operation outside any jitted function */
    struct stet_view name,
        file; /* of the user's own innermost definition; empty when there is none */
    uint32_t line;
};
struct stet_journal_function stet_journal_values_function(struct stet_view bytes);

/* Not the user's own file: installed packages and the standard library. */
bool stet_journal_values_in_library(struct stet_view file);

/* "none", "bool", … for JSON and messages. */
const char *stet_journal_value_kind_name(enum stet_journal_value_kind kind);
const char *stet_journal_value_scope_name(enum stet_journal_value_scope scope);

/* Bytes as an array of objects under `name`: path, scope, frame, kind, type and the value. */
void stet_journal_values_json(struct stet_json *j, const char *name, struct stet_view bytes);

#endif
