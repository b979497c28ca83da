/* sys._current_frames() takes the interpreter's own lock over its list of threads, so it is called
 * instead of walking that list. Only plain attributes are read: nothing here runs Python code, so
 * the GIL is not released. */
#include "intercept/pywalk.h"

#include <stdio.h>
#include <string.h>

enum { COMPILE_DEPTH = 4 };

void stet_pywalk_init(struct stet_pywalk *w, unsigned long self)
{
    memset(w, 0, offsetof(struct stet_pywalk, threads));
    w->self = self;
    w->text[0] = '\0'; /* offset 0 is the empty string */
    w->text_used = 1;
}

/* A copy of a str in the walk's text; the same object is copied once. */
static uint32_t keep(const struct stet_python *py, struct stet_pywalk *w, PyObject *s)
{
    const char *utf8;
    size_t n;

    for (size_t i = 0; i < w->string_count; i++) {
        if (w->strings[i].object == s)
            return w->strings[i].at;
    }
    utf8 = s ? py->PyUnicode_AsUTF8(s) : NULL;
    if (!utf8) {
        py->PyErr_Clear();
        return 0;
    }
    n = strlen(utf8) + 1;
    if (n > sizeof w->text - w->text_used)
        return 0;
    memcpy(w->text + w->text_used, utf8, n);
    if (w->string_count < sizeof w->strings / sizeof *w->strings) {
        w->strings[w->string_count].object = s;
        w->strings[w->string_count++].at = (uint32_t)w->text_used;
    }
    w->text_used += n;
    return (uint32_t)(w->text_used - n);
}

/* A str attribute. Its owner keeps the object alive, so its address may be compared later in the
 * same walk. */
static uint32_t keep_attribute(const struct stet_python *py, struct stet_pywalk *w, PyObject *owner,
                               const char *name)
{
    PyObject *s = owner ? py->PyObject_GetAttrString(owner, name) : NULL;
    uint32_t at;

    if (!s) {
        py->PyErr_Clear();
        return 0;
    }
    at = keep(py, w, s);
    py->Py_DecRef(s);
    return at;
}

static unsigned long number_attribute(const struct stet_python *py, PyObject *owner,
                                      const char *name)
{
    PyObject *v = owner ? py->PyObject_GetAttrString(owner, name) : NULL;
    unsigned long n = v ? py->PyLong_AsUnsignedLong(v) : 0;

    if (py->PyErr_Occurred()) { /* no such attribute, or None */
        py->PyErr_Clear();
        n = 0;
    }
    if (v)
        py->Py_DecRef(v);
    return n;
}

static void take_frame(const struct stet_python *py, struct stet_pywalk *w, PyObject *frame)
{
    struct stet_pyframe *f = &w->frames[w->frame_count++];
    PyObject *code = py->PyFrame_GetCode(frame);
    int line = py->PyFrame_GetLineNumber(frame);

    f->line = line > 0 ? (uint32_t)line : 0;
    f->file = keep_attribute(py, w, code, "co_filename");
    f->function = keep_attribute(py, w, code, "co_qualname"); /* from 3.11 */
    if (!f->function)
        f->function = keep_attribute(py, w, code, "co_name");
    if (code)
        py->Py_DecRef(code);
}

static void take_thread(const struct stet_python *py, struct stet_pywalk *w, unsigned long ident,
                        PyObject *frame)
{
    struct stet_pythread *t = &w->threads[w->thread_count++];
    PyObject *next;

    *t = (struct stet_pythread){.ident = ident, .first = (uint32_t)w->frame_count};
    for (next = frame; next;) {
        PyObject *back;

        if (t->count < STET_PYFRAMES_MAX && w->frame_count < sizeof w->frames / sizeof *w->frames) {
            take_frame(py, w, next);
            t->count++;
        }
        back = t->count < STET_PYFRAMES_MAX ? py->PyFrame_GetBack(next) : NULL;
        if (next != frame)
            py->Py_DecRef(next);
        next = back;
    }
}

/* threading has names, kernel ids and the main thread. */
static void ask_threading(const struct stet_python *py, struct stet_pywalk *w)
{
    PyObject *modules = py->PySys_GetObject("modules");
    PyObject *threading = modules ? py->PyDict_GetItemString(modules, "threading") : NULL;
    PyObject *main, *active, *key, *thread;
    Py_ssize_t at = 0;

    if (!threading)
        return;
    main = py->PyObject_GetAttrString(threading, "_main_thread");
    w->main = number_attribute(py, main, "_ident");
    active = py->PyObject_GetAttrString(threading, "_active");
    py->PyErr_Clear();
    while (active && py->PyDict_Next(active, &at, &key, &thread)) {
        unsigned long ident = py->PyLong_AsUnsignedLong(key);

        py->PyErr_Clear();
        for (size_t i = 0; i < w->thread_count; i++) {
            if (w->threads[i].ident != ident)
                continue;
            w->threads[i].native = number_attribute(py, thread, "_native_id");
            w->threads[i].name = keep_attribute(py, w, thread, "_name");
        }
    }
    if (main)
        py->Py_DecRef(main);
    if (active)
        py->Py_DecRef(active);
}

static bool in_compile(const struct stet_pywalk *w, const struct stet_pythread *t)
{
    for (size_t i = 0; i < t->count && i < COMPILE_DEPTH; i++) {
        if (strstr(w->text + w->frames[t->first + i].function, "compile"))
            return true;
    }
    return false;
}

static void choose(struct stet_pywalk *w)
{
    struct stet_pythread *main = NULL, *blocked = NULL;

    for (size_t i = 0; i < w->thread_count; i++) {
        struct stet_pythread *t = &w->threads[i];

        if (t->ident == w->self) {
            t->waits = STET_WAITS_SELF;
            return;
        }
        if (t->ident == w->main || w->thread_count == 1)
            main = t;
        if (in_compile(w, t) && (!blocked || t->ident == w->main))
            blocked = t;
    }
    if (blocked)
        blocked->waits = STET_WAITS_BLOCKED;
    else if (main)
        main->waits = STET_WAITS_GUESS;
}

/* The index of the thread that waits, or the number of threads. */
static size_t waiting_thread(const struct stet_pywalk *w)
{
    size_t i = 0;

    while (i < w->thread_count && w->threads[i].waits == STET_WAITS_NOT)
        i++;
    return i;
}

static void show_waiting(const struct stet_python *py, const struct stet_pywalk *w,
                         PyObject *frames, stet_pywalk_waiting *waiting, void *data)
{
    size_t i = waiting_thread(w);
    PyObject *key, *frame;
    Py_ssize_t at = 0;

    while (i < w->thread_count && py->PyDict_Next(frames, &at, &key, &frame)) {
        if (py->PyLong_AsUnsignedLong(key) == w->threads[i].ident) {
            waiting(data, frame, w->threads[i].ident);
            break;
        }
    }
    py->PyErr_Clear();
}

static const char *walk(const struct stet_python *py, struct stet_pywalk *w,
                        stet_pywalk_waiting *waiting, void *data)
{
    PyObject *function = py->PySys_GetObject("_current_frames");
    PyObject *frames = function ? py->PyObject_CallObject(function, NULL) : NULL;
    PyObject *key, *frame;
    Py_ssize_t at = 0;

    if (!frames) {
        py->PyErr_Clear();
        return "Python would not tell";
    }
    while (w->thread_count < STET_PYTHREADS_MAX && py->PyDict_Next(frames, &at, &key, &frame)) {
        unsigned long ident = py->PyLong_AsUnsignedLong(key);

        take_thread(py, w, ident, frame);
    }
    py->PyErr_Clear();
    ask_threading(py, w);
    choose(w);
    show_waiting(py, w, frames, waiting, data);
    py->Py_DecRef(frames);
    return w->thread_count ? NULL : "no thread has Python frames";
}

const char *stet_pywalk(const struct stet_python *py, struct stet_pywalk *w,
                        stet_pywalk_waiting *waiting, void *data)
{
    /* Up to 3.11 an allocation may start a garbage collection, and with it any finaliser. */
    int collecting = py->PyGC_Disable && py->PyGC_Enable ? py->PyGC_Disable() : 0;
    const char *why = walk(py, w, waiting, data);

    if (collecting)
        py->PyGC_Enable();
    return why;
}
