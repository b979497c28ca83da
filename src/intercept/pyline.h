/* Finds the lines of the user's own code in the calling thread's stack, without the interpreter's
 * lock.
 * A thread that copies an array has often released the lock, and taking it again may take
 * milliseconds. Its own frames do not change while it is in C code, so they are read by their
 * layout instead: a chain of pointers, some 10 ns for each frame. The layout is compared once with
 * the answers of CPython's own functions. Until then, and for unknown versions, there are no
 * lines. */
#ifndef STET_INTERCEPT_PYLINE_H
#define STET_INTERCEPT_PYLINE_H

#include "base/arena.h"
#include "intercept/python.h"

#include <stdint.h>

enum {
    STET_PYLINES_MOST = 4,   /* of the user's own frames, the innermost */
    STET_PYLINE_SLOTS = 256, /* places in the code that a thread remembers */
    STET_PYLINE_FILE = 256,
    STET_PYLINE_FUNCTION = 96,
};

/* One line of the code. The pointers are valid only while the thread is in the call. */
struct stet_pyline {
    const void *code;
    uint32_t line;
    const void *file, *function; /* Python strings */
};

/* What a thread found out about places in the code. Zero to begin. */
struct stet_pyline_cache {
    struct stet_pyline_slot {
        const void *code, *file;
        int32_t offset, first_line;
        uint32_t line; /* 0: not the user's own code */
    } slots[STET_PYLINE_SLOTS];
};

/* Compares the layout with CPython's own answers about the thread whose innermost frame is `frame`.
 * Call it with the interpreter's lock held. The first result is final. */
void stet_intercept_pyline_prove(const struct stet_intercept_python *py, PyObject *frame);

/* Where another process finds the frames of a thread. */
struct stet_pyline_place {
    const void *thread;    /* CPython's state of it */
    const void *code_type; /* the type of all code objects, to check what was read */
};

/* Of the thread whose innermost frame is `frame`; zeros if the layout was not compared. Call it
 * with the interpreter's lock held. */
void stet_intercept_pyline_place(const struct stet_intercept_python *py, PyObject *frame,
                                 struct stet_pyline_place *out);

/* CPython's state of the calling thread; NULL when it has none, and before the layout was compared.
 * Needs no lock. */
void *stet_intercept_pyline_thread(void);

/* The user's innermost lines of the calling thread, innermost first. */
unsigned stet_intercept_pyline_read(struct stet_pyline_cache *cache, const void *thread,
                                    struct stet_pyline out[STET_PYLINES_MOST]);

/* Copies a Python string that is plain ASCII; an empty text for any other, or when it is too long.
 */
void stet_intercept_pyline_text(const void *string, char *out, size_t room);

/* The user's innermost line that this thread runs, for an event that has no stack of its own in the
 * journal. The text is the arena's. Both stay as they are when the line is not known. */
void stet_intercept_pyline_here(struct stet_arena *arena, struct stet_view *file, uint64_t *line);

#endif
