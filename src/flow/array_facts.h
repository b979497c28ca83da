/* What the source shows about an array before it runs: sizes, rank, dtype, and what makes them
 * differ from call to call. calls.c and the rules use it. The facts are plain values and own
 * nothing. */
#ifndef STET_FLOW_ARRAY_FACTS_H
#define STET_FLOW_ARRAY_FACTS_H

#include "python/ast.h"

enum {
    FLOW_F_DRIFTS = 1,      /* its size follows a Python number that changes */
    FLOW_F_SHORT = 2,       /* a slice; the last one is short */
    FLOW_F_RANKS = 4,       /* its rank depends on the branch taken */
    FLOW_F_DTYPES = 8,      /* so does its dtype */
    FLOW_F_MAYBE_NONE = 16, /* None in one branch, something in another */
    FLOW_F_NONE = 32,
    FLOW_F_KEYS = 64,      /* a dict with a field that only one branch adds */
    FLOW_F_TEXT = 128,     /* a string */
    FLOW_F_DEVICE = 256,   /* a result of a compiled function, outside of traced code */
    FLOW_F_EAGER = 512,    /* made from such a result by operations of their own */
    FLOW_F_NUMBER = 1024,  /* a literal number */
    FLOW_F_STRIDES = 2048, /* counts by a stride that may not divide the whole */
    FLOW_F_LIST = 4096,    /* a list whose length changes */
    FLOW_F_OBJECT = 8192,  /* an object of a class without equality */
    FLOW_F_TURNS = 16384,  /* something that varies went into it */
};

enum {
    FLOW_TRAIT_GRAD = 1,
    FLOW_TRAIT_TURNED = 2,
    FLOW_TRAIT_DICT = 4,
    FLOW_TRAIT_LIST = 8,
    FLOW_TRAIT_HOST = 16,    /* made in the host's memory and not moved since */
    FLOW_TRAIT_MEASURE = 32, /* a number: the rank or a size of an array */
};

struct stet_flow_facts {
    uint16_t flags;
    uint8_t rank;  /* + 1; 0 is unknown */
    uint8_t dtype; /* 0 is unknown */
    uint8_t traits;
    uint32_t dims; /* a hash of literal sizes or keys; 0 is unknown */
    uint32_t rows; /* its first size; of what is SHORT, that of the last; 0 is unknown */
};

struct stet_flow_walk;
struct stet_flow_value;

/* Returns what is known about the call's result. */
struct stet_flow_facts stet_flow_facts_call(struct stet_flow_walk *w, stet_python_ref call,
                                            struct stet_flow_facts so_far);
struct stet_flow_facts stet_flow_facts_subscript(struct stet_flow_walk *w, stet_python_ref n);
struct stet_flow_facts stet_flow_facts_dictionary(struct stet_flow_walk *w, stet_python_ref n);
/* Returns the facts of a list with such elements. */
struct stet_flow_facts stet_flow_facts_list(struct stet_flow_facts element);
/* Joins the facts of two branches. */
struct stet_flow_facts stet_flow_facts_either(struct stet_flow_facts a, struct stet_flow_facts b);
/* A number or a word, or made of names that have one value while the program runs. */
bool stet_flow_is_constant(const struct stet_flow_walk *w, stet_python_ref n);
/* Returns an integer that is written here, bound once to a name, or computed from such; -1 when it
 * is unknown. */
long stet_flow_known_integer(struct stet_flow_walk *w, stet_python_ref n);

#endif
