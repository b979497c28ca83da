/* The frames that wait for a compile, linked: the parameters of each function are what the call
 * that waits in the next frame passes. For questions that begin at the waiting call. */
#ifndef STET_PYTHON_WAITING_H
#define STET_PYTHON_WAITING_H

#include "python/trail.h"

struct stet_python_waiting {
    struct stet_python_question q;
    struct stet_python_trail trail;
    struct stet_python_frame frames[STET_PYTHON_WATCHED];
    stet_python_ref waits[STET_PYTHON_WATCHED]; /* the statement that waits in each */
    size_t count;
};

/* The struct points to itself: it must not be moved. */
void stet_python_waiting_init(struct stet_python_waiting *w, struct stet_python_sources *s,
                              const struct stet_python_stack *stack);
/* Finds the call in a statement of the current frame that runs a function (0: not known): one that
 * is known to, otherwise the first that may. *bound: the object is its first argument. */
stet_python_ref stet_python_waiting_call(struct stet_python_waiting *w, stet_python_ref statement,
                                         const struct stet_python_module *m,
                                         stet_python_ref function, bool *bound);

#endif
