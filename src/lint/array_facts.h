/* What the source shows about an array before it runs: sizes, rank, dtype, and what makes them
 * differ from call to call. calls.c and the rules use it. The facts are plain values and own
 * nothing. */
#ifndef STET_LINT_ARRAY_FACTS_H
#define STET_LINT_ARRAY_FACTS_H

#include "python/ast.h"

enum {
    LINT_F_DRIFTS = 1,      /* its size follows a Python number that changes */
    LINT_F_SHORT = 2,       /* a slice; the last one is short */
    LINT_F_RANKS = 4,       /* its rank depends on the branch taken */
    LINT_F_DTYPES = 8,      /* so does its dtype */
    LINT_F_MAYBE_NONE = 16, /* None in one branch, something in another */
    LINT_F_NONE = 32,
    LINT_F_KEYS = 64,      /* a dict with a field that only one branch adds */
    LINT_F_TEXT = 128,     /* a string */
    LINT_F_DEVICE = 256,   /* a result of a compiled function, outside of traced code */
    LINT_F_EAGER = 512,    /* made from such a result by operations of their own */
    LINT_F_NUMBER = 1024,  /* a literal number */
    LINT_F_STRIDES = 2048, /* counts by a stride that may not divide the whole */
    LINT_F_LIST = 4096,    /* a list whose length changes */
    LINT_F_OBJECT = 8192,  /* an object of a class without equality */
    LINT_F_TURNS = 16384,  /* something that varies went into it */
};

enum { LINT_DTYPE_BOOL = 8 };
enum {
    LINT_TRAIT_GRAD = 1,
    LINT_TRAIT_TURNED = 2,
    LINT_TRAIT_DICT = 4,
    LINT_TRAIT_LIST = 8,
    LINT_TRAIT_HOST = 16,    /* made in the host's memory and not moved since */
    LINT_TRAIT_MEASURE = 32, /* a number: the rank or a size of an array */
};

struct lint_facts {
    uint16_t flags;
    uint8_t rank;  /* + 1; 0 is unknown */
    uint8_t dtype; /* 0 is unknown */
    uint8_t traits;
    uint32_t dims; /* a hash of literal sizes or keys; 0 is unknown */
    uint32_t rows; /* its first size; of what is SHORT, that of the last; 0 is unknown */
};

struct lint_walk;
struct lint_value;

/* Returns what is known about the call's result. */
struct lint_facts lint_facts_call(struct lint_walk *w, stet_python_ref call,
                                  struct lint_facts so_far);
struct lint_facts lint_facts_subscript(struct lint_walk *w, stet_python_ref n);
struct lint_facts lint_facts_dictionary(struct lint_walk *w, stet_python_ref n);
/* Returns the facts of a list with such elements. */
struct lint_facts lint_facts_list(struct lint_facts element);
/* Joins the facts of two branches. */
struct lint_facts lint_facts_either(struct lint_facts a, struct lint_facts b);
/* A number or a word, or made of NAMES that are constants by convention. */
bool lint_is_constant(const struct stet_python_ast *a, stet_python_ref n);
/* Returns an integer that is written here, bound once to a name, or computed from such; -1 when it
 * is unknown. */
long lint_known_integer(struct lint_walk *w, stet_python_ref n);

#endif
