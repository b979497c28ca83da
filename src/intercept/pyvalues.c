/* See pyvalues.h: selects the frames, and the names in them. */
#include "intercept/pyvalues.h"

#include "base/path.h"
#include "intercept/pycalled.h"
#include "intercept/pycalls.h"
#include "intercept/pyglobals.h"
#include "intercept/pysuspended.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

enum {
    FRAMES_MAX = 128,     /* as many as a stack record has */
    USER_FRAMES_MAX = 12, /* the innermost of the user's own */
    CALLED_OBJECTS = 400, /* objects read of the function that is called */
    CALLED_ROOM = 5120,   /* and their bytes */
    CALL_OBJECTS = 1000,  /* of its arguments */
    CALL_ROOM = 8192,
    JIT_OBJECTS = 100, /* of how it was jitted */
    JIT_ROOM = 1024,
    VARIABLES = 80, /* of a frame of the user's */
    VARIABLES_ALL = 240,
    HELD_OBJECTS = 1200, /* what they hold */
    CALL_DEPTH = STET_PYDEPTH_MOST,
    CALL_INSIDE = 4, /* objects inside each other */
    FRAME_DEPTH = 9,
    FRAME_INSIDE = 5,
    GLOBALS_MAX = 4096, /* globals examined for those that code names */
    FILES_KEPT = 16,
    /* Of co_flags, which `inspect` documents: */
    HAS_ARGS = 4,
    HAS_KEYWORDS = 8,
};

/* Whose file it is; many frames have the same one. */
struct file {
    PyObject *name; /* only compared: the frames' code keeps it */
    bool installed, calls, framework;
};

struct look {
    struct stet_pyread read;
    const struct stet_intercept_python *py;
    bool call_found, jit_found, mesh_found;
    unsigned user_frames, variables; /* of the user's: frames read, variables left */
    PyObject *called; /* the frame that the user's innermost one called; a reference */
    size_t globals;   /* left to examine */
    struct stet_pysuspended suspended;
    struct file files[FILES_KEPT]; /* by the address of their name */
};

/* ---- files ---- */

static const struct file *file_of(struct look *l, PyObject *name)
{
    struct file *f = &l->files[((uintptr_t)name >> 4) % FILES_KEPT];
    struct stet_view text;

    if (name && f->name == name)
        return f;
    text = stet_intercept_pyread_text(l->py, name);
    *f = (struct file){name, stet_path_is_installed(text), stet_intercept_pycalls_holds(text),
                       stet_intercept_pycalls_owns(text)};
    return f;
}

static const struct file *file_of_code(struct look *l, PyObject *code)
{
    PyObject *name =
        code ? stet_intercept_pyread_attribute(&l->read, code, STET_PYNAME_co_filename, STET_BY_C)
             : NULL;
    const struct file *file = file_of(l, name);

    if (name)
        l->py->Py_DecRef(name); /* the code keeps it */
    return file;
}

/* ---- the framework's call ---- */

/* The frame's variables of these names; new references, NULL for those it does not have. */
static void find_variables(struct look *l, PyObject *frame, PyObject *code,
                           const char *const *names, PyObject **values, size_t n)
{
    struct stet_pyvars v;

    memset(values, 0, n * sizeof *values);
    stet_intercept_pyframe_open(&l->read, frame, code, &v);
    for (size_t i = 0; i < v.count; i++) {
        struct stet_view name = stet_intercept_pyread_text(l->py, v.names[i]);

        for (size_t k = 0; k < n; k++) {
            if (!values[k] && stet_view_is(name, names[k]))
                values[k] = stet_intercept_pyframe_variable(&l->read, &v, i);
        }
    }
    stet_intercept_pyframe_close(&l->read, &v);
}

/* How many axes the mesh has that is set around the call. The mesh is a part of JAX's own key. */
static void read_mesh(struct look *l, PyObject *mesh)
{
    PyObject *axes = stet_intercept_pyread_member(l->py, mesh, "axis_names");

    if (!axes || l->mesh_found)
        return;
    l->mesh_found = true;
    l->read.scope = STET_SCOPE_CALLED;
    stet_intercept_pyobject_root(&l->read, STET_VIEW("mesh"), axes, 0, 0);
}

static void read_arguments(struct look *l, PyObject *args, PyObject *kwargs)
{
    stet_intercept_pyobject_roots(&l->read, STET_VIEW("args"), args, CALL_DEPTH, CALL_INSIDE);
    stet_intercept_pyobject_roots(&l->read, STET_VIEW("kwargs"), kwargs, CALL_DEPTH, CALL_INSIDE);
}

/* Inner frames have the arguments flattened and no function; an outer frame may know how it was
 * jitted. */
static void read_call(struct look *l, PyObject *frame, PyObject *code)
{
    enum { FUN, ARGS, KWARGS, JIT, MESH, NAMES };
    static const char *const names[NAMES] = {"fun", "args", "kwargs", "jit_info", "ctx_mesh"};
    bool found = l->call_found;
    PyObject *values[NAMES];

    find_variables(l, frame, code, names, values, NAMES);
    stet_intercept_pyobject_begin(&l->read, CALLED_OBJECTS, CALLED_ROOM, false);
    if (values[MESH])
        read_mesh(l, values[MESH]);
    if (!found && values[FUN] && values[ARGS] && values[KWARGS]) {
        l->call_found = true;
        stet_intercept_pycalled_read(&l->read, values[FUN], &l->globals);
    }
    stet_intercept_pyobject_end(&l->read);
    if (!found && l->call_found) {
        stet_intercept_pyobject_begin(&l->read, CALL_OBJECTS, CALL_ROOM, false);
        l->read.scope = STET_SCOPE_ARGUMENT;
        read_arguments(l, values[ARGS], values[KWARGS]);
        stet_intercept_pyobject_end(&l->read);
    }
    if (l->call_found && values[JIT]) {
        l->jit_found = true;
        stet_intercept_pyobject_begin(&l->read, JIT_OBJECTS, JIT_ROOM, false);
        l->read.scope = STET_SCOPE_CALLED;
        stet_intercept_pyobject_root(&l->read, STET_VIEW("jit_info"), values[JIT], 2, 0);
        stet_intercept_pyobject_end(&l->read);
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (values[i])
            l->py->Py_DecRef(values[i]);
    }
}

/* Returns whether a frame further out may know more. */
static bool read_inner(struct look *l, PyObject *frame, PyObject *code)
{
    const struct file *file = file_of_code(l, code);

    if (file->installed && file->calls)
        read_call(l, frame, code);
    return file->installed && !l->jit_found;
}

/* ---- the user's frames ---- */

static long number_in(struct look *l, PyObject *code, enum stet_pyread_name name)
{
    PyObject *n = stet_intercept_pyread_attribute(&l->read, code, name, STET_BY_C);
    int overflow = 0;
    long number = n ? (long)l->py->PyLong_AsLongLongAndOverflow(n, &overflow) : 0;

    if (n)
        l->py->Py_DecRef(n);
    return number;
}

/* What the user's line passed to a wrapper of a library, which takes any arguments: nnx.jit,
 * eqx.filter_jit. The framework's own functions pass them on as they are. */
static void read_passed(struct look *l)
{
    const struct stet_intercept_python *py = l->py;
    PyObject *code = l->called ? py->PyFrame_GetCode(l->called) : NULL, *args = NULL,
             *kwargs = NULL;
    struct stet_pyvars v;
    size_t at;
    long flags;

    if (code && !file_of_code(l, code)->framework) {
        flags = number_in(l, code, STET_PYNAME_co_flags);
        at = (size_t)(number_in(l, code, STET_PYNAME_co_argcount) +
                      number_in(l, code, STET_PYNAME_co_kwonlyargcount));
        stet_intercept_pyframe_open(&l->read, l->called, code, &v);
        if ((flags & HAS_ARGS) && at < v.count)
            args = stet_intercept_pyframe_variable(&l->read, &v, at++);
        if ((flags & HAS_KEYWORDS) && at < v.count)
            kwargs = stet_intercept_pyframe_variable(&l->read, &v, at);
        stet_intercept_pyframe_close(&l->read, &v);
        l->read.scope = STET_SCOPE_PASSED;
        read_arguments(l, args, kwargs);
    }
    if (args)
        py->Py_DecRef(args); /* the frame keeps it */
    if (kwargs)
        py->Py_DecRef(kwargs);
    if (code)
        py->Py_DecRef(code);
}

static void read_variables(struct look *l, const struct stet_pyvars *v)
{
    const struct stet_intercept_python *py = l->py;

    for (size_t i = 0; i < v->count && l->read.left; i++) {
        struct stet_view text = stet_intercept_pyread_text(py, v->names[i]);
        PyObject *value = stet_intercept_pyframe_variable(&l->read, v, i);

        if (!value)
            continue;
        stet_intercept_pysuspended_note(&l->suspended, value, text);
        l->read.scope = v->scopes[i];
        if (text.len && text.ptr[0] != '.' && /* an iterator without a name */
            !stet_intercept_pyread_is(py, value, py->PyFunction_Type))
            stet_intercept_pyobject_root(&l->read, text, value, FRAME_DEPTH, FRAME_INSIDE);
        py->Py_DecRef(value); /* the frame keeps it */
    }
}

static void read_user(struct look *l, PyObject *frame, PyObject *code)
{
    const struct stet_intercept_python *py = l->py;
    PyObject *name =
        stet_intercept_pyread_attribute(&l->read, code, STET_PYNAME_co_name, STET_BY_C);
    PyObject *globals =
        stet_intercept_pyread_attribute(&l->read, frame, STET_PYNAME_f_globals, STET_BY_C);
    bool module = stet_view_is(stet_intercept_pyread_text(py, name), "<module>");
    unsigned allowed = l->variables < VARIABLES ? l->variables : VARIABLES;
    struct stet_pyvars v;

    if (!l->user_frames++)
        read_passed(l);
    l->read.left = allowed; /* the innermost frame gets most */
    stet_intercept_pyframe_open(&l->read, frame, code, &v);
    stet_intercept_pysuspended_stack(&l->suspended, &v);
    read_variables(l, &v);
    if (globals && module)
        stet_intercept_pyglobals_all(&l->read, globals, &l->globals);
    else if (globals)
        stet_intercept_pyglobals_named(&l->read, code, globals, &l->globals);
    l->variables -= allowed - l->read.left;
    stet_intercept_pyframe_close(&l->read, &v);
    if (globals)
        py->Py_DecRef(globals);
    if (name)
        py->Py_DecRef(name);
}

static bool read_outer(struct look *l, PyObject *frame, PyObject *code)
{
    const struct stet_intercept_python *py = l->py;

    if (!file_of_code(l, code)->installed) {
        read_user(l, frame, code);
    } else if (!l->user_frames) {
        py->Py_IncRef(frame);
        if (l->called)
            py->Py_DecRef(l->called); /* the thread keeps it */
        l->called = frame;
    }
    return l->user_frames < USER_FRAMES_MAX && l->variables;
}

/* ---- all ---- */

/* The same for the whole process and its forks, because values of two compiles must be
 * comparable. */
static uint64_t process_salt(void)
{
    static _Atomic uint64_t salt;
    uint64_t mine = atomic_load(&salt), nobody = 0;

    if (mine)
        return mine;
    if (getrandom(&mine, sizeof mine, GRND_NONBLOCK) != (ssize_t)sizeof mine)
        mine = (uint64_t)(uintptr_t)&mine; /* as random as the kernel's layout of memory */
    mine |= 1;
    return atomic_compare_exchange_strong(&salt, &nobody, mine) ? mine : nobody;
}

static void begin(struct look *l, const struct stet_intercept_python *py, struct stet_pyvalues *v)
{
    stet_intercept_pyread_init(&l->read, py, &v->out, &v->seen);
    l->read.hide_numbers = v->hide_numbers;
    l->read.salt = process_salt();
    l->py = py;
    l->called = NULL;
    l->call_found = l->jit_found = l->mesh_found = false;
    l->user_frames = 0;
    l->variables = VARIABLES_ALL;
    l->globals = GLOBALS_MAX;
    l->suspended = (struct stet_pysuspended){.read = &l->read};
    memset(l->files, 0, sizeof l->files);
}

/* Calls `visit` for the frames, the innermost first, until it returns false. */
static void each_frame(struct look *l, PyObject *frame,
                       bool (*visit)(struct look *, PyObject *, PyObject *))
{
    const struct stet_intercept_python *py = l->py;
    PyObject *next = frame;
    bool more = true;

    for (uint32_t i = 0; next && i < FRAMES_MAX; i++) {
        PyObject *back, *code = more ? py->PyFrame_GetCode(next) : NULL;

        l->read.frame = i;
        more = code && visit(l, next, code);
        if (code)
            py->Py_DecRef(code);
        back = more ? py->PyFrame_GetBack(next) : NULL;
        if (next != frame)
            py->Py_DecRef(next);
        next = back;
    }
    if (next && next != frame)
        py->Py_DecRef(next);
    py->PyErr_Clear();
}

void stet_intercept_pyvalues_init(struct stet_pyvalues *v, bool hide_numbers)
{
    stet_journal_values_init(&v->out);
    memset(&v->seen, 0, sizeof v->seen);
    v->hide_numbers = hide_numbers;
}

void stet_intercept_pyvalues_call(const struct stet_intercept_python *py, PyObject *frame,
                                  struct stet_pyvalues *v)
{
    struct look l;

    if (!py->values)
        return;
    begin(&l, py, v);
    each_frame(&l, frame, read_inner);
}

void stet_intercept_pyvalues_frames(const struct stet_intercept_python *py, PyObject *frame,
                                    struct stet_pyvalues *v)
{
    struct look l;

    if (!py->values)
        return;
    begin(&l, py, v);
    stet_intercept_pyobject_begin(&l.read, VARIABLES, STET_VALUES_SIZE, true);
    each_frame(&l, frame, read_outer);
    stet_intercept_pysuspended_read(&l.suspended);
    l.read.left = HELD_OBJECTS;
    stet_intercept_pyobject_end(&l.read);
    stet_intercept_pysuspended_drop(&l.suspended);
    if (l.called)
        py->Py_DecRef(l.called);
    py->PyErr_Clear();
}
