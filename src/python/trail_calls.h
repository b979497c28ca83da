/* Shared by the files that follow a value through a call: trail_calls.c chooses among what the
 * others answer. No other file includes it.
 *
 * Functions that return bool are about calls of one kind, and give false for other calls. */
#ifndef STET_PYTHON_TRAIL_CALLS_H
#define STET_PYTHON_TRAIL_CALLS_H

#include "python/trail.h"

/* ---- arguments ---- */

static inline struct stet_python_verdict stet_python_trail_value(struct stet_python_trail *t,
                                                                 stet_python_ref n)
{
    return stet_python_trail_ask(t, n, PY_OF_VALUE);
}

/* An argument in the aspect that is followed, without the path. */
static inline struct stet_python_verdict stet_python_trail_same(struct stet_python_trail *t,
                                                                stet_python_ref n)
{
    return stet_python_trail_ask(t, n, t->aspect);
}

/* All arguments from a position on, joined. Keywords count but for those that are settings. */
struct stet_python_verdict stet_python_trail_arguments(struct stet_python_trail *t,
                                                       stet_python_ref call, uint32_t first,
                                                       enum stet_python_aspect aspect);

/* ---- calls of libraries ---- */

/* What the function of a library gives as a whole. */
struct stet_python_verdict stet_python_trail_library(struct stet_python_trail *t, stet_python_ref n,
                                                     const struct stet_python_callee *c);
/* Any item of what a library draws. */
bool stet_python_trail_drawn(struct stet_python_trail *t, stet_python_ref n,
                             const struct stet_python_callee *c, struct stet_python_verdict *v);
/* What functools.partial is given: `keywords` and `args` of its object. */
bool stet_python_trail_bound_by(struct stet_python_trail *t, stet_python_ref n,
                                struct stet_python_verdict *v);
/* What takes an item or a field out of an object, or copies it with another value of one. */
bool stet_python_trail_handed_on(struct stet_python_trail *t, stet_python_ref n,
                                 const struct stet_python_callee *c, struct stet_python_verdict *v);
/* The path leads into what the call gives, which is made of its arguments. */
bool stet_python_trail_part_of_call(struct stet_python_trail *t, stet_python_ref n,
                                    const struct stet_python_callee *c,
                                    struct stet_python_verdict *v);

#endif
