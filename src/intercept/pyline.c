/* See pyline.h. */
#include "intercept/pyline.h"

#include "base/mem.h"
#include "base/path.h"
#include "journal/pylayout.h"
#include "journal/values_record.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    FRAMES_MOST = 256, /* frames searched for those of the user */
    PROVE_FRAMES = 64, /* compared with CPython's answers */
    ASCII_COMPACT =
        0x60 /* of a string's state: one byte per character, directly after the header */
};

enum { UNPROVEN, PROVING, PROVEN, WRONG };

static atomic_int state;
static const struct stet_pylayout *known;       /* once PROVEN */
static const struct stet_intercept_python *api; /* likewise */

static const char *pointer_at(const void *base, size_t offset)
{
    const char *p;

    memcpy(&p, (const char *)base + offset, sizeof p);
    return p;
}

static int32_t int_at(const void *base, size_t offset)
{
    int32_t n;

    memcpy(&n, (const char *)base + offset, sizeof n);
    return n;
}

static bool plausible(const void *p)
{
    return p && (uintptr_t)p % sizeof(void *) == 0;
}

/* From 3.14 on, the low bits of the pointer to the code are flags. */
static const char *code_of(const struct stet_pylayout *l, const char *frame)
{
    enum { FLAGS = 3 };
    const char *p = pointer_at(frame, l->code);

    return p - ((uintptr_t)p & FLAGS);
}

/* The frame itself, or the next outer one that is Python code. */
static const char *python_frame(const struct stet_pylayout *l, const char *frame)
{
    for (int i = 0; i < FRAMES_MOST && plausible(frame); i++) {
        if (!l->owner || frame[l->owner] < STET_PYLAYOUT_OWNED_BY_C)
            return frame;
        frame = pointer_at(frame, l->previous);
    }
    return NULL;
}

static const char *innermost(const struct stet_pylayout *l, const void *thread)
{
    const char *p = pointer_at(thread, l->thread_frame);

    if (l->indirect)
        p = plausible(p) ? pointer_at(p, l->inner) : NULL;
    return python_frame(l, p);
}

static const char *outer(const struct stet_pylayout *l, const char *frame)
{
    return python_frame(l, pointer_at(frame, l->previous));
}

static int32_t offset_in_code(const struct stet_pylayout *l, const char *frame, const char *code)
{
    if (!l->code_bytes)
        return int_at(frame, l->instruction) * (int32_t)l->index_size;
    return (int32_t)(pointer_at(frame, l->instruction) - (code + l->code_bytes));
}

static struct stet_view text_of(const struct stet_pylayout *l, const void *string)
{
    enum { LENGTH = 16, STATE = 32 };
    ptrdiff_t length;

    if (!plausible(string) || (int_at(string, STATE) & ASCII_COMPACT) != ASCII_COMPACT)
        return (struct stet_view){0};
    memcpy(&length, (const char *)string + LENGTH, sizeof length);
    return length > 0 ? stet_view_of((const char *)string + l->text, (size_t)length)
                      : (struct stet_view){0};
}

/* ---- is the layout right? ---- */

/* A build with another layout would lead to unmapped memory. The kernel reports that without a
 * fault. If that system call is not allowed, the version's layout is assumed. */
static bool readable(const void *p, size_t size)
{
    char copy[256];
    struct iovec to = {copy, size}, from = {(void *)(uintptr_t)p, size};

    return plausible(p) &&
           (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size || errno != EFAULT);
}

static bool leads_to_frame(const struct stet_pylayout *l, const void *thread)
{
    const char *p;

    if (!readable(thread, l->thread_frame + sizeof(void *)))
        return false;
    p = pointer_at(thread, l->thread_frame);
    return !l->indirect || readable(p, l->inner + sizeof(void *));
}

static bool is_readable_frame(const struct stet_pylayout *l, const char *frame)
{
    return readable(frame, (size_t)(l->instruction > l->owner ? l->instruction : l->owner) + 16);
}

static bool same_text(const struct stet_intercept_python *py, const struct stet_pylayout *l,
                      PyObject *code, const char *attribute, const void *string)
{
    PyObject *real = py->PyObject_GetAttrString(code, attribute);
    struct stet_view text;
    const char *utf8;
    bool same = real && (const void *)real == string;

    utf8 = same ? py->PyUnicode_AsUTF8(real) : NULL;
    text = same ? text_of(l, string) : (struct stet_view){0};
    same = same && utf8 && (!text.len || stet_view_is(text, utf8)); /* empty: not ASCII */
    py->PyErr_Clear();
    if (real)
        py->Py_DecRef(real);
    return same;
}

static bool same_frame(const struct stet_intercept_python *py, const struct stet_pylayout *l,
                       const char *raw, PyObject *frame)
{
    PyObject *code = py->PyFrame_GetCode(frame);
    bool same = code && code_of(l, raw) == (const char *)code;

    same = same && py->PyCode_Addr2Line(code, offset_in_code(l, raw, (const char *)code)) ==
                       py->PyFrame_GetLineNumber(frame);
    same = same && same_text(py, l, code, "co_filename", pointer_at(code, l->file));
    same = same && same_text(py, l, code, py->minor < 11 ? "co_name" : "co_qualname",
                             pointer_at(code, l->name));
    if (code)
        py->Py_DecRef(code);
    return same;
}

static bool same_frames(const struct stet_intercept_python *py, const struct stet_pylayout *l,
                        const void *thread, PyObject *frame)
{
    const char *raw = leads_to_frame(l, thread) ? innermost(l, thread) : NULL;
    PyObject *next = frame;
    bool same = true;

    for (int i = 0; same && next && i < PROVE_FRAMES; i++) {
        PyObject *back;

        same = raw && is_readable_frame(l, raw) && same_frame(py, l, raw, next);
        raw = same ? outer(l, raw) : NULL;
        back = py->PyFrame_GetBack(next);
        if (next != frame)
            py->Py_DecRef(next);
        next = back;
    }
    same = same && !next == !raw;
    if (next && next != frame)
        py->Py_DecRef(next);
    return same;
}

/* Returns the thread whose frame this is. */
static void *thread_of(const struct stet_intercept_python *py, PyObject *frame)
{
    void *t = py->PyInterpreterState_ThreadHead(py->PyInterpreterState_Head());

    for (; t; t = py->PyThreadState_Next(t)) {
        PyObject *innermost_frame = py->PyThreadState_GetFrame(t);
        bool found = innermost_frame == frame;

        if (innermost_frame)
            py->Py_DecRef(innermost_frame);
        if (found)
            return t;
    }
    return NULL;
}

static bool is_right(const struct stet_intercept_python *py, const struct stet_pylayout *l,
                     PyObject *frame)
{
    const void *thread;

    /* Threads of a free-threaded Python have copies of the instructions, at other addresses. */
    if (py->free_threaded || !py->PyCode_Addr2Line || !py->PyThreadState_GetFrame ||
        !py->PyInterpreterState_ThreadHead || !py->PyThreadState_Next)
        return false;
    thread = thread_of(py, frame);
    return thread && same_frames(py, l, thread, frame);
}

void stet_intercept_pyline_prove(const struct stet_intercept_python *py, PyObject *frame)
{
    const struct stet_pylayout *layout;
    int expected = UNPROVEN;

    if (atomic_load(&state) != UNPROVEN ||
        !atomic_compare_exchange_strong(&state, &expected, PROVING))
        return;
    layout = stet_journal_pylayout(py->minor);
    if (layout && is_right(py, layout, frame)) {
        known = layout;
        api = py;
        atomic_store_explicit(&state, PROVEN, memory_order_release);
    } else {
        atomic_store(&state, WRONG);
    }
}

void stet_intercept_pyline_place(const struct stet_intercept_python *py, PyObject *frame,
                                 struct stet_pyline_place *out)
{
    enum { TYPE = 8 }; /* in every object */
    const char *raw;

    *out = (struct stet_pyline_place){0};
    if (atomic_load_explicit(&state, memory_order_acquire) != PROVEN)
        return;
    out->thread = thread_of(py, frame);
    raw = out->thread ? innermost(known, out->thread) : NULL;
    out->code_type = raw ? pointer_at(code_of(known, raw), TYPE) : NULL;
}

/* ---- reading ---- */

void *stet_intercept_pyline_thread(void)
{
    if (atomic_load_explicit(&state, memory_order_acquire) != PROVEN || !api->Py_IsInitialized())
        return NULL;
    return api->PyGILState_GetThisThreadState();
}

/* The address of a code object may be reused by another one; its file and first line distinguish
 * them. */
static struct stet_pyline_slot *look_up(struct stet_pyline_cache *cache, const char *code,
                                        int32_t offset)
{
    const char *file = pointer_at(code, known->file);
    int32_t first_line = int_at(code, known->first_line);
    size_t at = ((uintptr_t)code >> 4 ^ (uintptr_t)(uint32_t)offset * 31) % STET_PYLINE_SLOTS;
    struct stet_pyline_slot *s = &cache->slots[at];

    if (s->code == code && s->offset == offset && s->file == file && s->first_line == first_line)
        return s;
    *s = (struct stet_pyline_slot){
        .code = code, .file = file, .offset = offset, .first_line = first_line};
    if (!stet_path_is_installed(text_of(known, file))) {
        int line = api->PyCode_Addr2Line((PyObject *)(uintptr_t)code, offset);

        s->line = line > 0 ? (uint32_t)line : 0;
    }
    return s;
}

unsigned stet_intercept_pyline_read(struct stet_pyline_cache *cache, const void *thread,
                                    struct stet_pyline out[STET_PYLINES_MOST])
{
    const char *frame = innermost(known, thread);
    unsigned n = 0;

    for (int i = 0; frame && i < FRAMES_MOST && n < STET_PYLINES_MOST; i++) {
        const char *code = code_of(known, frame);
        struct stet_pyline_slot *s;

        if (!plausible(code))
            break;
        s = look_up(cache, code, offset_in_code(known, frame, code));
        if (s->line)
            out[n++] = (struct stet_pyline){.code = code,
                                            .line = s->line,
                                            .file = s->file,
                                            .function = pointer_at(code, known->name)};
        frame = outer(known, frame);
    }
    return n;
}

void stet_intercept_pyline_text(const void *string, char *out, size_t room)
{
    struct stet_view text = text_of(known, string);

    if (text.len >= room)
        text.len = 0;
    if (text.len)
        memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
}

void stet_intercept_pyline_here(struct stet_arena *arena, struct stet_view *file, uint64_t *line)
{
    void *thread = stet_intercept_pyline_thread();
    struct stet_pyline_cache *cache = thread ? stet_mem_calloc(1, sizeof *cache) : NULL;
    struct stet_pyline lines[STET_PYLINES_MOST];
    char text[STET_PYLINE_FILE];

    if (cache && stet_intercept_pyline_read(cache, thread, lines)) {
        stet_intercept_pyline_text(lines[0].file, text, sizeof text);
        *file = stet_arena_copy(arena, stet_view_str(text));
        *line = lines[0].line;
    }
    stet_mem_free(cache);
}
