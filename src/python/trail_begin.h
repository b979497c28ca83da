/* Shared by the files that begin a trail. query_trail.c asks; no other file includes it. */
#ifndef STET_PYTHON_TRAIL_BEGIN_H
#define STET_PYTHON_TRAIL_BEGIN_H

#include "python/trail.h"

/* Sets the path of the trail to that of ".mask['x'][3]" after a name, and returns the name. */
struct stet_view stet_python_trail_path(struct stet_python_trail *t, struct stet_view text);
/* The function or lambda whose code begins at the line that is followed, or goes on there. *m is
 * NULL where its file cannot be read. */
stet_python_ref stet_python_trail_function(struct stet_python_sources *s,
                                           const struct stet_python_followed *what,
                                           const struct stet_python_module **m);
/* The call in the waiting statement that runs the function: one that is known to, otherwise the
 * first that may. */
stet_python_ref stet_python_trail_runner(struct stet_python_trail *t, stet_python_ref statement,
                                         const struct stet_python_module *m,
                                         stet_python_ref function, bool *bound);
/* Begins in the frame of the stack with this number. */
bool stet_python_trail_enter(struct stet_python_trail *t, size_t number,
                             stet_python_ref *statement);
/* The call that waits in the innermost frame, where the trail then begins. */
stet_python_ref stet_python_trail_waiting(struct stet_python_trail *t,
                                          const struct stet_python_followed *what);

/* ---- what is followed, for each enum stet_python_held ---- */

typedef struct stet_python_verdict stet_python_held_fn(struct stet_python_trail *t,
                                                       const struct stet_python_followed *what);

stet_python_held_fn stet_python_held_argument, stet_python_held_variable, stet_python_held_closure,
    stet_python_held_field, stet_python_held_line, stet_python_held_call, stet_python_held_passed,
    stet_python_held_callee;

#endif
