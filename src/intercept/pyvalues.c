/* See pyvalues.h: selects the frames, and the names in them. */
#include "intercept/pyvalues.h"

#include "base/path.h"
#include "intercept/pyobject.h"
#include "intercept/pysuspended.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum {
    FRAMES_MAX = 128,     /* as many as a stack record has */
    USER_FRAMES_MAX = 12, /* the innermost of the user's own */
    CALLED_OBJECTS = 120, /* objects read of the function that is called */
    CALLED_ROOM = 6144,   /* and their bytes */
    CALL_OBJECTS = 300,   /* of its arguments */
    CALL_ROOM = 14336,
    FRAME_OBJECTS = 80,   /* of a frame of the user's */
    FRAMES_OBJECTS = 240, /* and of all of them */
    CALL_DEPTH = 8,
    FRAME_DEPTH = 3,
    CALL_INSIDE = 3, /* instance dictionaries inside each other */
    FRAME_INSIDE = 2,
    NAMES_MAX = STET_PYVARS_MOST,
    WRAPPERS_MAX = 4,
    HELD_DEPTH = 3,     /* functions that close over functions */
    GLOBALS_MAX = 4096, /* globals examined for those that code names */
    FILES_KEPT = 16,
};

/* Whose file it is; many frames have the same one. */
struct file {
    PyObject *name; /* only compared: the frames' code keeps it */
    bool installed, calls;
};

struct look {
    struct stet_pyread read;
    const struct stet_intercept_python *py;
    bool call_found, jit_found, mesh_found;
    unsigned user_frames, frame_objects; /* of the user's: frames read, objects left */
    size_t globals;                      /* left to examine */
    struct stet_pysuspended suspended;
    struct file files[FILES_KEPT]; /* by the address of their name */
};

/* --- globals ------------------------------------------------------------------------------- */

/* The names in a code object. Few globals are among them, and a bit for each pair of names rules
 * most others out. */
struct named {
    PyObject *tuple; /* a reference, or NULL */
    PyObject *items[NAMES_MAX];
    size_t count;
    uint64_t bits[4];
};

static size_t bit_of(const PyObject *name)
{
    return ((uintptr_t)name >> 4 ^ (uintptr_t)name >> 12) % 256;
}

static void named_init(struct look *l, PyObject *code, struct named *names)
{
    const struct stet_intercept_python *py = l->py;
    Py_ssize_t n;

    names->tuple = stet_intercept_pyread_attribute(&l->read, code, STET_PYNAME_co_names, STET_BY_C);
    names->count = 0;
    memset(names->bits, 0, sizeof names->bits);
    n = names->tuple ? py->PyTuple_Size(names->tuple) : 0;
    for (Py_ssize_t i = 0; i < n && i < NAMES_MAX; i++) {
        PyObject *name = py->PyTuple_GetItem(names->tuple, i);

        names->items[names->count++] = name;
        names->bits[bit_of(name) / 64] |= 1ULL << bit_of(name) % 64;
    }
}

static bool is_named(const struct named *names, const PyObject *key)
{
    if (!(names->bits[bit_of(key) / 64] >> bit_of(key) % 64 & 1))
        return false;
    for (size_t i = 0; i < names->count; i++) {
        if (names->items[i] == key) /* identifiers are interned */
            return true;
    }
    return false;
}

/* The globals that code names, without a lookup: keys of a dictionary may have an __eq__. */
static void read_globals(struct look *l, PyObject *code, PyObject *globals)
{
    const struct stet_intercept_python *py = l->py;
    struct named names;
    PyObject *key, *value;
    Py_ssize_t at = 0;

    named_init(l, code, &names);
    l->read.scope = STET_SCOPE_GLOBAL;
    for (; names.count && l->globals && l->read.left && py->PyDict_Next(globals, &at, &key, &value);
         l->globals--) {
        if (is_named(&names, key) && !stet_intercept_pyread_is(py, value, py->PyFunction_Type))
            stet_intercept_pyread_named(&l->read, stet_intercept_pyread_text(py, key), value, 1, 1);
    }
    if (names.tuple)
        py->Py_DecRef(names.tuple);
    py->PyErr_Clear();
}

/* A module's own frame has its globals as locals. */
static void read_module(struct look *l, PyObject *globals)
{
    const struct stet_intercept_python *py = l->py;
    PyObject *key, *value;
    Py_ssize_t at = 0;

    l->read.scope = STET_SCOPE_LOCAL;
    for (; l->globals && l->read.left && py->PyDict_Next(globals, &at, &key, &value);
         l->globals--) {
        struct stet_view name = {0};

        if (stet_intercept_pyread_is(py, key, py->PyUnicode_Type))
            name = stet_intercept_pyread_text(py, key);
        if (name.len && name.ptr[0] != '_' &&
            !stet_intercept_pyread_is(py, value, py->PyFunction_Type))
            stet_intercept_pyread_named(&l->read, name, value, 2, 1);
    }
}

/* --- the called function ------------------------------------------------------------------- */

/* A cell's value; a new reference, or NULL. */
static PyObject *in_cell(const struct stet_intercept_python *py, PyObject *cell)
{
    PyObject *value =
        cell && stet_intercept_pyread_is(py, cell, py->PyCell_Type) ? py->PyCell_Get(cell) : NULL;

    py->PyErr_Clear();
    return value;
}

static void read_closure(struct look *l, PyObject *code, PyObject *closure, struct stet_view owner,
                         unsigned deeper);

/* A function in a closure may have a closure itself, as the functions that a library's transform
 * returns do. Two functions that one line of the library defines differ only there. */
static void read_held(struct look *l, PyObject *value, struct stet_view path, unsigned deeper)
{
    const struct stet_intercept_python *py = l->py;
    PyObject *code;

    if (!deeper || !stet_intercept_pyread_is(py, value, py->PyFunction_Type))
        return;
    code = py->PyFunction_GetCode(value);
    if (code)
        read_closure(l, code, py->PyFunction_GetClosure(value), path, deeper - 1);
    py->PyErr_Clear();
}

/* The variables of enclosing functions. `owner` is the path of the function, empty for the one that
 * is called; of another one, only the functions that it closes over are read. */
static void read_closure(struct look *l, PyObject *code, PyObject *closure, struct stet_view owner,
                         unsigned deeper)
{
    const struct stet_intercept_python *py = l->py;
    PyObject *names =
        stet_intercept_pyread_attribute(&l->read, code, STET_PYNAME_co_freevars, STET_BY_C);
    Py_ssize_t n = closure && names ? py->PyTuple_Size(closure) : 0;

    for (Py_ssize_t i = 0; i < n && i < py->PyTuple_Size(names) && l->read.left; i++) {
        PyObject *value = in_cell(py, py->PyTuple_GetItem(closure, i));
        struct stet_view name = stet_intercept_pyread_text(py, py->PyTuple_GetItem(names, i));
        char path[STET_VALUES_PATH_MAX];
        int length = snprintf(path, sizeof path, "%.*s%s%.*s", STET_FMT(owner),
                              owner.len ? "." : "", STET_FMT(name));
        struct stet_view own =
            stet_view_of(path, (size_t)length < sizeof path ? (size_t)length : sizeof path - 1);

        l->read.scope = STET_SCOPE_CLOSURE;
        if (value && name.len &&
            (!owner.len || stet_intercept_pyread_is(py, value, py->PyFunction_Type))) {
            stet_intercept_pyread_among(&l->read, (size_t)(n - i), own, value, FRAME_DEPTH,
                                        FRAME_INSIDE);
            read_held(l, value, own, deeper);
        }
        if (value)
            py->Py_DecRef(value);
    }
    if (names)
        py->Py_DecRef(names);
}

/* The names of the positional parameters, so that args[1] can be printed under the user's name. The
 * first parameter of a method is not among the arguments. */
static void read_parameters(struct look *l, PyObject *code, bool method)
{
    const struct stet_intercept_python *py = l->py;
    PyObject *names =
        stet_intercept_pyread_attribute(&l->read, code, STET_PYNAME_co_varnames, STET_BY_C);
    PyObject *count =
        stet_intercept_pyread_attribute(&l->read, code, STET_PYNAME_co_argcount, STET_BY_C);
    int overflow = 0;
    Py_ssize_t n = count ? (Py_ssize_t)py->PyLong_AsLongLongAndOverflow(count, &overflow) : 0;

    for (Py_ssize_t i = method; names && i < n && i < py->PyTuple_Size(names); i++) {
        char path[32];
        struct stet_journal_value v = {
            .kind = STET_VALUE_WORD,
            .scope = STET_SCOPE_CALLED,
            .frame = l->read.frame,
            .path = stet_view_of(
                path, (size_t)snprintf(path, sizeof path, "parameters[%d]", (int)(i - method))),
            .type = STET_VIEW("str"),
            .text = stet_intercept_pyread_text(py, py->PyTuple_GetItem(names, i)),
        };

        stet_journal_values_add(l->read.out, &v);
    }
    py->PyErr_Clear();
    if (names)
        py->Py_DecRef(names);
    if (count)
        py->Py_DecRef(count);
}

/* A wrapper's `__wrapped__` and a partial's `func` lead to the user's function. */
static void read_called(struct look *l, PyObject *fun)
{
    const struct stet_intercept_python *py = l->py;
    PyObject *partial = NULL;

    for (unsigned i = 0; fun && i < WRAPPERS_MAX; i++) {
        bool method = stet_intercept_pyread_is(py, fun, py->PyMethod_Type);
        PyObject *self = method ? py->PyMethod_Self(fun) : NULL, *wrapped, *code;

        if (method)
            fun = py->PyMethod_Function(fun);
        l->read.scope = STET_SCOPE_CALLED;
        stet_intercept_pyread_named(&l->read, STET_VIEW("fun"), fun, 0, 0);
        l->read.scope = STET_SCOPE_CLOSURE;
        stet_intercept_pyread_among(&l->read, 2, STET_VIEW("self"), self, FRAME_DEPTH,
                                    FRAME_INSIDE);
        if (!fun)
            break;
        if (!stet_intercept_pyread_is(py, fun, py->PyFunction_Type)) {
            l->read.scope = STET_SCOPE_CLOSURE; /* the fields of a callable object */
            stet_intercept_pyread_named(&l->read, STET_VIEW("fun"), fun, 2, 1);
            if (partial)
                break; /* one level of partial is enough */
            partial =
                stet_intercept_pyread_attribute(&l->read, fun, STET_PYNAME_func, STET_BY_SLOT);
            fun = partial;
            continue;
        }
        code = py->PyFunction_GetCode(fun);
        if (code) {
            if (!i)
                read_parameters(l, code, method);
            read_closure(l, code, py->PyFunction_GetClosure(fun), (struct stet_view){0},
                         HELD_DEPTH);
            read_globals(l, code, py->PyFunction_GetGlobals(fun));
        }
        py->PyErr_Clear();
        wrapped = stet_intercept_pyread_member(py, fun, "__wrapped__");
        fun = wrapped;
    }
    if (partial)
        py->Py_DecRef(partial);
}

/* --- frames -------------------------------------------------------------------------------- */

static bool ends_with(struct stet_view text, const char *end)
{
    size_t n = strlen(end);

    return text.len >= n && memcmp(text.ptr + text.len - n, end, n) == 0;
}

static bool holds_calls(struct stet_view file)
{
#define PYCALL(name)                                                                               \
    if (ends_with(file, name))                                                                     \
        return true;
#include "intercept/pycalls.def"
#undef PYCALL
    return false;
}

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

/* Bounds what is read next. */
static void allow(struct look *l, unsigned objects, uint32_t bytes)
{
    uint32_t used = l->read.out->used;

    l->read.left = objects;
    l->read.room = bytes < STET_VALUES_SIZE - used ? used + bytes : STET_VALUES_SIZE;
}

/* How many axes the mesh has that is set around the call. The mesh is a part of JAX's own key. */
static void read_mesh(struct look *l, PyObject *mesh)
{
    PyObject *axes = stet_intercept_pyread_member(l->py, mesh, "axis_names");

    if (!axes || l->mesh_found)
        return;
    l->mesh_found = true;
    l->read.scope = STET_SCOPE_CALLED;
    stet_intercept_pyread_named(&l->read, STET_VIEW("mesh"), axes, 0, 0);
}

/* Inner frames have the arguments flattened and no function; an outer frame may know how it was
 * jitted. */
static void read_call(struct look *l, PyObject *frame, PyObject *code)
{
    enum { FUN, ARGS, KWARGS, JIT, MESH, NAMES };
    static const char *const names[NAMES] = {"fun", "args", "kwargs", "jit_info", "ctx_mesh"};
    PyObject *values[NAMES];

    find_variables(l, frame, code, names, values, NAMES);
    allow(l, CALLED_OBJECTS, CALLED_ROOM);
    if (values[MESH])
        read_mesh(l, values[MESH]);
    if (!l->call_found && values[FUN] && values[ARGS] && values[KWARGS]) {
        l->call_found = true;
        read_called(l, values[FUN]);
        allow(l, CALL_OBJECTS, CALL_ROOM);
        l->read.scope = STET_SCOPE_ARGUMENT;
        stet_intercept_pyread_among(&l->read, 2, STET_VIEW("args"), values[ARGS], CALL_DEPTH,
                                    CALL_INSIDE);
        stet_intercept_pyread_among(&l->read, 1, STET_VIEW("kwargs"), values[KWARGS], CALL_DEPTH,
                                    CALL_INSIDE);
    }
    allow(l, CALLED_OBJECTS, CALLED_ROOM);
    if (l->call_found && values[JIT]) {
        l->jit_found = true;
        l->read.scope = STET_SCOPE_CALLED;
        stet_intercept_pyread_named(&l->read, STET_VIEW("jit_info"), values[JIT], 2, 0);
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (values[i])
            l->py->Py_DecRef(values[i]);
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
    struct stet_pyvars v;
    unsigned allowed;

    l->user_frames++;
    /* The innermost frame gets most. */
    allowed = l->frame_objects < FRAME_OBJECTS ? l->frame_objects : FRAME_OBJECTS;
    allow(l, allowed, (uint32_t)(STET_VALUES_SIZE - l->read.out->used) / 2);
    stet_intercept_pyframe_open(&l->read, frame, code, &v);
    stet_intercept_pysuspended_stack(&l->suspended, &v);
    for (size_t i = 0; i < v.count && l->read.left; i++) {
        struct stet_view text = stet_intercept_pyread_text(py, v.names[i]);
        PyObject *value = stet_intercept_pyframe_variable(&l->read, &v, i);

        if (value)
            stet_intercept_pysuspended_note(&l->suspended, value, text);
        l->read.scope = v.scopes[i];
        if (value && text.len && text.ptr[0] != '.' && /* an iterator without a name */
            !stet_intercept_pyread_is(py, value, py->PyFunction_Type))
            stet_intercept_pyread_among(&l->read, v.count - i, text, value, FRAME_DEPTH,
                                        FRAME_INSIDE);
        if (value)
            py->Py_DecRef(value);
    }
    if (globals && module)
        read_module(l, globals);
    else if (globals)
        read_globals(l, code, globals);
    l->frame_objects -= allowed - l->read.left;
    stet_intercept_pyframe_close(&l->read, &v);
    if (globals)
        py->Py_DecRef(globals);
    if (name)
        py->Py_DecRef(name);
}

static const struct file *file_of(struct look *l, PyObject *name)
{
    struct file *f = &l->files[((uintptr_t)name >> 4) % FILES_KEPT];
    struct stet_view text;

    if (name && f->name == name)
        return f;
    text = stet_intercept_pyread_text(l->py, name);
    *f = (struct file){name, stet_path_is_installed(text), holds_calls(text)};
    return f;
}

static void read_frame(struct look *l, PyObject *frame, uint32_t index)
{
    const struct stet_intercept_python *py = l->py;
    PyObject *code = py->PyFrame_GetCode(frame);
    PyObject *name =
        code ? stet_intercept_pyread_attribute(&l->read, code, STET_PYNAME_co_filename, STET_BY_C)
             : NULL;
    const struct file *file = file_of(l, name);

    l->read.frame = index;
    if (!file->installed) {
        if (l->user_frames < USER_FRAMES_MAX && l->frame_objects)
            read_user(l, frame, code);
    } else if (!l->jit_found && !l->user_frames && file->calls) {
        read_call(l, frame, code);
    }
    if (name)
        py->Py_DecRef(name);
    if (code)
        py->Py_DecRef(code);
}

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

void stet_intercept_pyvalues_read(const struct stet_intercept_python *py, PyObject *frame,
                                  bool hide_numbers, struct stet_journal_values *out)
{
    struct look l = {.py = py, .frame_objects = FRAMES_OBJECTS, .globals = GLOBALS_MAX};
    PyObject *next = frame;

    out->used = out->dropped = 0;
    if (!py->values)
        return;
    stet_intercept_pyread_init(&l.read, py, out, hide_numbers, process_salt());
    l.suspended.read = &l.read;
    for (uint32_t i = 0; next && i < FRAMES_MAX; i++) {
        PyObject *back;

        read_frame(&l, next, i);
        back = py->PyFrame_GetBack(next);
        if (next != frame)
            py->Py_DecRef(next);
        next = back;
    }
    if (next && next != frame)
        py->Py_DecRef(next);
    stet_intercept_pysuspended_read(&l.suspended);
    py->PyErr_Clear();
}
