/* Generators that wait to be continued: the loader of a loop, seen from the frames of a compile.
 *
 * While the user's frames are read, the iterators of their loops and variables are noted.
 * Afterwards each generator among them, or that one of them holds, is read as a frame is: where it
 * waits, and its variables. Of an object of the user's whose items a loop takes, the fields are
 * read. With the interpreter's lock held; no Python code runs. */
#ifndef STET_INTERCEPT_PYSUSPENDED_H
#define STET_INTERCEPT_PYSUSPENDED_H

#include "intercept/pyframe.h"

enum { STET_PYSUSPENDED_MOST = 6 };

struct stet_pysuspended {
    struct stet_pyread *read;
    unsigned visits; /* objects that were looked at for generators */
    size_t count;
    struct {
        PyObject *generator;       /* or an object; a reference */
        uint32_t frame;            /* of the thread, or of the generator that holds it */
        bool inner;                /* another generator holds it */
        struct stet_view variable; /* that holds it; empty: a loop */
        char path[128];            /* of an object */
    } found[STET_PYSUSPENDED_MOST];
};

/* Notes the generators that a variable of the reader's frame leads to. The name must live until
 * they are read. */
void stet_intercept_pysuspended_note(struct stet_pysuspended *s, PyObject *value,
                                     struct stet_view name);
/* The same for the loops that the frame is in. */
void stet_intercept_pysuspended_stack(struct stet_pysuspended *s, const struct stet_pyvars *v);
/* Makes what all that were noted hold roots of the reader (pyobject.h). They stay until they are
 * dropped. */
void stet_intercept_pysuspended_read(struct stet_pysuspended *s);
void stet_intercept_pysuspended_drop(struct stet_pysuspended *s);

#endif
