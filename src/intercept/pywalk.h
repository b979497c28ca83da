/* One walk over Python's stacks: finds the thread that waits for a compile and copies its frames
 * into fixed arrays. pystack.c calls it with the interpreter's lock held. It keeps no references.
 */
#ifndef STET_INTERCEPT_PYWALK_H
#define STET_INTERCEPT_PYWALK_H

#include "intercept/python.h"

#include <stdint.h>

#define STET_PYFRAMES_MAX 128 /* frames of a thread, the innermost */
#define STET_PYTEXT_SIZE  32768

struct stet_pyframe {
    uint32_t file, function; /* offsets in text */
    uint32_t line;
};

/* How certain it is that a thread waits for the call. */
enum stet_waits {
    STET_WAITS_NOT = 0,
    STET_WAITS_SELF = 1,    /* it makes the call itself */
    STET_WAITS_BLOCKED = 2, /* its innermost frames are a compile; the call runs on a worker */
    STET_WAITS_GUESS = 3,   /* in doubt: the main thread */
};

struct stet_pywalk {
    void *state;        /* CPython's state of the calling thread, or NULL */
    unsigned long self; /* threading.get_ident() of the calling thread */
    uint64_t native;    /* kernel's id of the calling thread */
    /* The thread that waits: */
    unsigned long ident;
    uint64_t thread; /* kernel's id, 0 when unknown */
    uint64_t waits;  /* enum stet_waits */
    uint32_t name;   /* offset in text; the empty string when unknown */
    size_t frame_count, text_used, string_count;
    struct stet_pyframe frames[STET_PYFRAMES_MAX];
    struct {
        PyObject *object; /* borrowed, and only compared */
        uint32_t at;
    } strings[2 * STET_PYFRAMES_MAX];
    char text[STET_PYTEXT_SIZE];
};

/* Called with the innermost frame of the thread that waits, and threading.get_ident() there. */
typedef void stet_pywalk_waiting(void *data, PyObject *frame, unsigned long thread);

/* Call it on the thread that makes the call, whose kernel id is `native`. */
void stet_pywalk_init(struct stet_pywalk *w, const struct stet_intercept_python *py,
                      uint64_t native);
/* Call it with the lock held, and other threads paused if Python has no lock. NULL, or why there
 * are no frames; leaves no error set and no reference. `waiting` is called once, if a thread
 * waits. */
const char *stet_pywalk(const struct stet_intercept_python *py, struct stet_pywalk *w,
                        stet_pywalk_waiting *waiting, void *data);
/* Finds the thread that waits once more, after the lock was released, and calls `waiting` if it is
 * the same one. The call must not be over. */
void stet_pywalk_again(const struct stet_intercept_python *py, const struct stet_pywalk *w,
                       stet_pywalk_waiting *waiting, void *data);

#endif
