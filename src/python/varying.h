/* Follows a value backwards to the line that makes it differ from one call to the next: through
 * assignments, conditions, loops, functions and methods of the project, containers and attributes.
 * A loop matters if it is around the call in question, or around a `yield`. The work of one
 * question is bounded; what cannot be followed stays without an answer. */
#ifndef STET_PYTHON_VARYING_H
#define STET_PYTHON_VARYING_H

#include "python/queries_internal.h"

enum stet_python_varying {
    PY_STAYS,    /* nothing that differs was found */
    PY_MAY_VARY, /* made in a way that could not be followed */
    PY_COUNTS,   /* the plain counter of a loop: where it is used makes the value */
    PY_VARIES,
};

struct stet_python_varied {
    enum stet_python_varying how;
    const struct stet_python_module *module;
    uint32_t line; /* 0: a counter that a `for` makes */
};

/* What is asked of an expression. */
enum stet_python_asked {
    PY_ASK_VALUE, /* a number, or a container with what is in it */
    PY_ASK_ARRAY, /* size, type or layout of an array; not the numbers in it */
    PY_ASK_ITEM,  /* one item of a container, each time another one */
};

struct stet_python_slice {
    struct stet_python_flow *x;
    /* The line in question; loops around it are turns. */
    const struct stet_python_module *module;
    stet_python_ref statement;
    bool gradient;                   /* of an array: whether it wants a gradient */
    bool items;                      /* the variables of a comprehension count */
    uint32_t steps, depth, resolved; /* resolved: calls that were looked up */
};

/* Of an expression of x->frame's module. */
struct stet_python_varied stet_python_varying(struct stet_python_slice *s, stet_python_ref n,
                                              enum stet_python_asked asked);
/* Of a name at a place of use. */
struct stet_python_varied stet_python_varying_name(struct stet_python_slice *s, stet_python_ref n,
                                                   enum stet_python_asked asked);
/* Of an attribute, by all that assigns it. */
struct stet_python_varied stet_python_varying_attribute(struct stet_python_slice *s,
                                                        stet_python_ref n,
                                                        enum stet_python_asked asked);
/* What a function of the project returns in a frame. */
struct stet_python_varied stet_python_varying_returns(struct stet_python_slice *s,
                                                      const struct stet_python_frame *frame,
                                                      enum stet_python_asked asked);
/* What all known calls of a function of the frame's module pass as a parameter. */
struct stet_python_varied stet_python_varying_parameter(struct stet_python_slice *s,
                                                        stet_python_ref function,
                                                        stet_python_ref parameter,
                                                        uint32_t position,
                                                        enum stet_python_asked asked);
/* The stronger one. If both vary, in different lines, the answer is the line of n; if both may
 * vary, there is none. */
struct stet_python_varied stet_python_varied_join(const struct stet_python_slice *s,
                                                  stet_python_ref n, struct stet_python_varied a,
                                                  struct stet_python_varied b);
/* The statement of n, in the frame's module. */
struct stet_python_varied stet_python_varied_at(const struct stet_python_slice *s,
                                                stet_python_ref n, enum stet_python_varying how);
/* The strongest of the conditions between a statement and the node that also holds the use. */
struct stet_python_varied stet_python_varying_conditions(struct stet_python_slice *s,
                                                         stet_python_ref statement,
                                                         stet_python_ref outer, bool *any);

/* The function or class that an expression denotes, through names, torch.compile(f) and what
 * functions return. `position` of a tuple, or -1. */
struct stet_python_callee stet_python_denoted(struct stet_python_slice *s, stet_python_ref n,
                                              int position, unsigned depth);
/* Does the call run the function? *bound: parameters that it does not pass. */
bool stet_python_runs(struct stet_python_slice *s, stet_python_ref call,
                      const struct stet_python_module *module, stet_python_ref function,
                      uint32_t *bound);
/* The answer to a question: the statement of a node. */
struct stet_python_made stet_python_made_at(const struct stet_python_module *m, stet_python_ref n);

/* A question about a compiled function. */
struct stet_python_asking {
    struct stet_python_question q;
    struct stet_python_slice slice;          /* at its call; no module: not known */
    const struct stet_python_module *module; /* of the function; NULL when it cannot be read */
    stet_python_ref function;
    unsigned calls; /* how many lines call it, as far as it was asked */
};

/* Begins a question. If the trace lacks the call, it is the only one in the function's file, or in
 * the file that is nearest in the trace. */
void stet_python_ask_compiled(struct stet_python_asking *a, struct stet_python_sources *s,
                              const struct stet_python_compiled *c);
/* The argument for a parameter; 0 for none. */
stet_python_ref stet_python_given(const struct stet_python_module *m, stet_python_ref call,
                                  struct stet_view parameter, uint32_t position, uint32_t bound);

#endif
