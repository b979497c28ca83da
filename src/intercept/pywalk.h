/* One walk over the frames of all Python threads, copied into fixed arrays. pystack.c calls it with
 * the interpreter's lock held. It keeps no references. */
#ifndef STET_INTERCEPT_PYWALK_H
#define STET_INTERCEPT_PYWALK_H

#include "intercept/python.h"

#include <stdint.h>

#define STET_PYTHREADS_MAX 32  /* threads of one walk */
#define STET_PYFRAMES_MAX  128 /* frames of one thread, the innermost */
#define STET_PYTEXT_SIZE   65536

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

struct stet_pythread {
    unsigned long ident; /* threading.get_ident() */
    uint64_t native;     /* kernel's id, 0 when unknown */
    uint32_t name;       /* offset in text; the empty string when unknown */
    uint32_t first, count;
    uint64_t waits; /* enum stet_waits */
};

struct stet_pywalk {
    unsigned long self, main; /* idents: of the calling thread, of Python's main thread (0) */
    size_t thread_count, frame_count, text_used, string_count;
    struct stet_pythread threads[STET_PYTHREADS_MAX];
    struct stet_pyframe frames[1024];
    struct {
        PyObject *object; /* borrowed, and only compared */
        uint32_t at;
    } strings[256];
    char text[STET_PYTEXT_SIZE];
};

/* Called with the innermost frame of the thread that waits, and threading.get_ident() there. */
typedef void stet_pywalk_waiting(void *data, PyObject *frame, unsigned long thread);

void stet_pywalk_init(struct stet_pywalk *w, unsigned long self);
/* Call it with the GIL held. NULL, or why there are no frames; leaves no error set and no
 * reference. `waiting` is called with the innermost frame of the thread that waits, if there is
 * one. */
const char *stet_pywalk(const struct stet_intercept_python *py, struct stet_pywalk *w,
                        stet_pywalk_waiting *waiting, void *data);

#endif
