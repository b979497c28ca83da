/* A thread that makes the call itself is found by its own state. When the call runs on a worker of
 * the framework's, every thread is examined: sys._current_frames() takes the interpreter's own lock
 * over its list of threads, so it is called instead of walking that list. A free-threaded Python
 * cannot be asked while its threads are paused, and its list does not change then.
 *
 * Nothing here runs Python code: attributes are read of code objects, and of the objects of the
 * module threading only from their dictionaries. */
#include "intercept/pywalk.h"

#include "intercept/pyread.h"

#include <pthread.h>
#include <string.h>

enum { COMPILE_DEPTH = 4, STATE_WORDS = 64 };

void stet_pywalk_init(struct stet_pywalk *w, const struct stet_intercept_python *py,
                      uint64_t native)
{
    memset(w, 0, offsetof(struct stet_pywalk, frames));
    w->state = py->Py_IsInitialized() ? py->PyGILState_GetThisThreadState() : NULL;
    w->self = (unsigned long)pthread_self();
    w->native = native;
    w->text[0] = '\0'; /* offset 0 is the empty string */
    w->text_used = 1;
}

/* ---- frames ---- */

/* A copy of a str in the walk's text; the same object is copied once. Its owner keeps the object
 * alive, so its address may be compared later in the same walk. */
static uint32_t keep(const struct stet_intercept_python *py, struct stet_pywalk *w, PyObject *s)
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

/* An attribute of a code object, whose type is the interpreter's own; a new reference or NULL. */
static PyObject *code_attribute(const struct stet_intercept_python *py, PyObject *code,
                                enum stet_pyread_name name)
{
    static const char *const texts[] = {
#define NAME(name) #name,
        STET_PYREAD_NAMES
#undef NAME
    };
    PyObject *known = py->values ? stet_intercept_pyread_names(py)[name] : NULL, *s = NULL;

    if (code)
        s = known ? py->PyObject_GenericGetAttr(code, known)
                  : py->PyObject_GetAttrString(code, texts[name]);
    if (!s)
        py->PyErr_Clear();
    return s;
}

static PyObject *function_name(const struct stet_intercept_python *py, PyObject *code)
{
    return code_attribute(py, code, py->minor < 11 ? STET_PYNAME_co_name : STET_PYNAME_co_qualname);
}

static uint32_t keep_and_drop(const struct stet_intercept_python *py, struct stet_pywalk *w,
                              PyObject *s)
{
    uint32_t at = s ? keep(py, w, s) : 0;

    if (s)
        py->Py_DecRef(s);
    return at;
}

static void take_frame(const struct stet_intercept_python *py, struct stet_pywalk *w,
                       PyObject *frame)
{
    struct stet_pyframe *f = &w->frames[w->frame_count++];
    PyObject *code = py->PyFrame_GetCode(frame);
    int line = py->PyFrame_GetLineNumber(frame);

    f->line = line > 0 ? (uint32_t)line : 0;
    f->file = keep_and_drop(py, w, code_attribute(py, code, STET_PYNAME_co_filename));
    f->function = keep_and_drop(py, w, function_name(py, code));
    if (code)
        py->Py_DecRef(code);
}

/* Calls `visit` for the frames of a thread, the innermost first, until it returns false. */
static void each_frame(const struct stet_intercept_python *py, PyObject *frame, size_t most,
                       bool (*visit)(const struct stet_intercept_python *, void *, PyObject *),
                       void *data)
{
    PyObject *next = frame;

    for (size_t i = 0; next && i < most; i++) {
        bool more = visit(py, data, next);
        PyObject *back = more && i + 1 < most ? py->PyFrame_GetBack(next) : NULL;

        if (next != frame)
            py->Py_DecRef(next);
        next = back;
    }
}

static bool visit_take(const struct stet_intercept_python *py, void *walk, PyObject *frame)
{
    take_frame(py, walk, frame);
    return true;
}

static bool visit_compile(const struct stet_intercept_python *py, void *found, PyObject *frame)
{
    PyObject *code = py->PyFrame_GetCode(frame), *name = function_name(py, code);
    const char *text = name ? py->PyUnicode_AsUTF8(name) : NULL;
    bool *is = found;

    *is = text && strstr(text, "compile");
    py->PyErr_Clear();
    if (name)
        py->Py_DecRef(name);
    if (code)
        py->Py_DecRef(code);
    return !*is;
}

static bool in_compile(const struct stet_intercept_python *py, PyObject *frame)
{
    bool found = false;

    each_frame(py, frame, COMPILE_DEPTH, visit_compile, &found);
    return found;
}

/* ---- the module threading ---- */

static unsigned long number_of(const struct stet_intercept_python *py, PyObject *o)
{
    unsigned long n = o && (!py->values || stet_intercept_pyread_is(py, o, py->PyLong_Type))
                          ? py->PyLong_AsUnsignedLong(o)
                          : 0;

    if (py->PyErr_Occurred()) {
        py->PyErr_Clear();
        n = 0;
    }
    return n;
}

/* A name of the module threading, borrowed. */
static PyObject *threading_has(const struct stet_intercept_python *py, const char *name)
{
    PyObject *threading = stet_intercept_python_module(py, "threading");

    if (!py->values || !threading || !stet_intercept_pyread_is(py, threading, py->PyModule_Type))
        return NULL;
    return py->PyDict_GetItemString(py->PyModule_GetDict(threading), name);
}

/* A Thread may be of a class of the user's. Its dictionary has the fields of threading.Thread. */
static unsigned long main_thread(const struct stet_intercept_python *py)
{
    PyObject *main = threading_has(py, "_main_thread");

    return main ? number_of(py, stet_intercept_pyread_member(py, main, "_ident")) : 0;
}

/* Kernel's id and name of the thread that waits. */
static void describe_thread(const struct stet_intercept_python *py, struct stet_pywalk *w)
{
    PyObject *active = threading_has(py, "_active"), *key, *thread, *name;
    Py_ssize_t at = 0;

    if (!active || !stet_intercept_pyread_is(py, active, py->PyDict_Type))
        return;
    while (py->PyDict_Next(active, &at, &key, &thread)) {
        if (number_of(py, key) != w->ident)
            continue;
        if (!w->thread)
            w->thread = number_of(py, stet_intercept_pyread_member(py, thread, "_native_id"));
        name = stet_intercept_pyread_member(py, thread, "_name");
        if (name && stet_intercept_pyread_is(py, name, py->PyUnicode_Type))
            w->name = keep(py, w, name);
        return;
    }
}

/* ---- threads ---- */

/* What the search for the thread that waits has found; `frame` is a reference. */
struct search {
    PyObject *frame;
    unsigned long ident, main;
    uint64_t waits;
    size_t seen;
};

static void choose(const struct stet_intercept_python *py, struct search *s, unsigned long ident,
                   PyObject *frame, uint64_t waits)
{
    if (s->frame)
        py->Py_DecRef(s->frame);
    py->Py_IncRef(frame);
    *s = (struct search){frame, ident, s->main, waits, s->seen};
}

/* A thread in a compile is chosen before others, and the main thread before others like it. */
static void consider(const struct stet_intercept_python *py, struct search *s, unsigned long ident,
                     PyObject *frame)
{
    bool main = ident == s->main, blocked = in_compile(py, frame);

    s->seen++;
    if (blocked && (s->waits != STET_WAITS_BLOCKED || main))
        choose(py, s, ident, frame, STET_WAITS_BLOCKED);
    else if (main && !s->waits)
        choose(py, s, ident, frame, STET_WAITS_GUESS);
    else if (!s->frame)
        choose(py, s, ident, frame, STET_WAITS_NOT);
}

static void search_frames(const struct stet_intercept_python *py, struct search *s)
{
    PyObject *function = py->PySys_GetObject("_current_frames"), *frames, *key, *frame;
    Py_ssize_t at = 0;

    if (!function || (py->values && !stet_intercept_pyread_is(py, function, py->PyCFunction_Type)))
        return; /* replaced by code of the user's */
    frames = py->PyObject_CallObject(function, NULL);
    while (frames && py->PyDict_Next(frames, &at, &key, &frame))
        consider(py, s, number_of(py, key), frame);
    if (frames)
        py->Py_DecRef(frames);
    py->PyErr_Clear();
}

/* Where a thread's state has its ident: found in the state of this thread, which knows its own. */
static size_t ident_offset(const struct stet_intercept_python *py)
{
    const char *own = py->PyGILState_GetThisThreadState();
    unsigned long self = (unsigned long)pthread_self(), word;

    for (size_t i = 0; own && i < STATE_WORDS; i++) {
        memcpy(&word, own + i * sizeof word, sizeof word);
        if (word == self)
            return i * sizeof word;
    }
    return 0;
}

static void search_states(const struct stet_intercept_python *py, struct search *s)
{
    size_t offset = ident_offset(py);
    char *state = offset ? py->PyInterpreterState_ThreadHead(py->PyInterpreterState_Head()) : NULL;

    for (; state; state = py->PyThreadState_Next(state)) {
        PyObject *frame = py->PyThreadState_GetFrame(state);
        unsigned long ident;

        if (!frame)
            continue;
        memcpy(&ident, state + offset, sizeof ident);
        consider(py, s, ident, frame);
        py->Py_DecRef(frame);
    }
}

/* Finds the innermost frame of the thread that waits, a reference; NULL if there is none. */
static struct search find_waiting(const struct stet_intercept_python *py,
                                  const struct stet_pywalk *w)
{
    PyObject *own =
        w->state && py->PyThreadState_GetFrame ? py->PyThreadState_GetFrame(w->state) : NULL;
    struct search s = {0};

    if (own)
        return (struct search){.frame = own, .ident = w->self, .waits = STET_WAITS_SELF};
    s.main = main_thread(py);
    if (py->free_threaded)
        search_states(py, &s);
    else
        search_frames(py, &s);
    if (s.frame && !s.waits && s.seen == 1)
        s.waits = STET_WAITS_GUESS;
    return s;
}

static const char *walk(const struct stet_intercept_python *py, struct stet_pywalk *w,
                        stet_pywalk_waiting *waiting, void *data)
{
    struct search s = find_waiting(py, w);

    if (!s.frame)
        return "no thread has Python frames";
    w->ident = s.ident;
    w->waits = s.waits;
    if (w->waits == STET_WAITS_SELF)
        w->thread = w->native;
    if (w->waits) {
        each_frame(py, s.frame, STET_PYFRAMES_MAX, visit_take, w);
        describe_thread(py, w);
        waiting(data, s.frame, w->ident);
    }
    py->Py_DecRef(s.frame);
    return w->waits ? NULL : "no thread waits for the call";
}

/* Up to 3.11 an allocation may start a garbage collection, and with it any finaliser. Returns
 * whether it is to be enabled again. */
static int stop_collecting(const struct stet_intercept_python *py)
{
    return py->PyGC_Disable && py->PyGC_Enable ? py->PyGC_Disable() : 0;
}

const char *stet_pywalk(const struct stet_intercept_python *py, struct stet_pywalk *w,
                        stet_pywalk_waiting *waiting, void *data)
{
    int collecting = stop_collecting(py);
    const char *why = walk(py, w, waiting, data);

    if (collecting)
        py->PyGC_Enable();
    return why;
}

void stet_pywalk_again(const struct stet_intercept_python *py, const struct stet_pywalk *w,
                       stet_pywalk_waiting *waiting, void *data)
{
    int collecting = stop_collecting(py);
    struct search s = find_waiting(py, w);

    if (s.frame && s.waits && s.ident == w->ident)
        waiting(data, s.frame, s.ident);
    if (s.frame)
        py->Py_DecRef(s.frame);
    if (collecting)
        py->PyGC_Enable();
}
