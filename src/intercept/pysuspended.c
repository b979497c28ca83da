/* See pysuspended.h. An iterator that is no generator (enumerate, zip, a class of the user's) is
 * searched through its tp_traverse, which is C in every type: it is what the garbage collector
 * calls. */
#include "intercept/pysuspended.h"

#include "base/path.h"
#include "intercept/pyobject.h"
#include "intercept/pyscalar.h"

#include <stdio.h>

/* Slots of the stable ABI, and fields of a type in 3.9, which gives slots only of heap types. */
enum { TP_ITERNEXT = 63, TP_TRAVERSE = 71, TP_ITERNEXT_39 = 224, TP_TRAVERSE_39 = 184 };
/* Py_TPFLAGS_*, part of the stable ABI. */
#define HAVE_GC        (1UL << 14)
#define HEAP_TYPE      (1UL << 9)
#define IMMUTABLE_TYPE (1UL << 8) /* of C's, from 3.10 */
#define TYPE_SUBCLASS  (1UL << 31)

enum {
    VISITS_MOST = 192,
    DEEPEST = 3,
    VARIABLES = 40, /* of one generator */
    DEPTH = 5,
    INSIDE = 4,
};

typedef int visit_fn(PyObject *o, void *context);
typedef int traverse_fn(PyObject *o, visit_fn *visit, void *context);

static void *slot_of(const struct stet_intercept_python *py, PyObject *type, int slot, size_t field)
{
    void *found;

    if (py->minor < 10)
        memcpy(&found, (const char *)type + field, sizeof found);
    else
        found = py->PyType_GetSlot(type, slot);
    py->PyErr_Clear();
    return found;
}

/* ---- the search ---- */

struct search {
    struct stet_pysuspended *s;
    struct stet_view name;
    bool inner;
    unsigned depth;
};

static void add(struct search *x, PyObject *generator)
{
    struct stet_pysuspended *s = x->s;

    for (size_t i = 0; i < s->count; i++) {
        if (s->found[i].generator == generator)
            return;
    }
    if (s->count == STET_PYSUSPENDED_MOST)
        return;
    s->read->py->Py_IncRef(generator);
    s->found[s->count].generator = generator;
    s->found[s->count].frame = s->read->frame;
    s->found[s->count].inner = x->inner;
    s->found[s->count++].variable = x->name;
}

static void search(struct search *x, PyObject *o);

/* Asked for each object that an iterator holds; not 0 ends it. */
static int visit(PyObject *o, void *context)
{
    struct search *x = context;

    if (x->s->visits >= VISITS_MOST)
        return 1;
    x->s->visits++;
    search(x, o);
    return 0;
}

/* Is it looked into: an iterator, or what an iterator keeps its fields in? */
static bool is_searched(struct search *x, const struct stet_pytype *k)
{
    const struct stet_intercept_python *py = x->s->read->py;

    if (!(k->flags & HAVE_GC) || x->depth >= DEEPEST)
        return false;
    if (x->depth && (k->type == py->PyTuple_Type || k->type == py->PyDict_Type))
        return true;
    return k->form == STET_FORM_OBJECT && slot_of(py, k->type, TP_ITERNEXT, TP_ITERNEXT_39);
}

/* Is it an object of a class of Python's that a loop goes over: for row in table? */
static bool is_taken_from(const struct search *x, const struct stet_pytype *k)
{
    static const enum stet_pyread_name methods[] = {STET_PYNAME___next__, STET_PYNAME___iter__,
                                                    STET_PYNAME___getitem__};

    if (x->name.len || k->form != STET_FORM_OBJECT || !(k->flags & HEAP_TYPE) ||
        (k->flags & (IMMUTABLE_TYPE | TYPE_SUBCLASS)))
        return false;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (stet_intercept_pyread_lookup(x->s->read, k->type, methods[i]))
            return true;
    }
    return false;
}

static void search(struct search *x, PyObject *o)
{
    const struct stet_intercept_python *py = x->s->read->py;
    const struct stet_pytype *k = stet_intercept_pyread_known(x->s->read, o);
    union {
        void *slot;
        traverse_fn *call;
    } traverse;

    if (k->type == py->PyGen_Type || is_taken_from(x, k))
        add(x, o);
    if (k->type == py->PyGen_Type || !is_searched(x, k))
        return;
    traverse.slot = slot_of(py, k->type, TP_TRAVERSE, TP_TRAVERSE_39);
    x->depth++;
    if (traverse.slot)
        traverse.call(o, visit, x);
    x->depth--;
}

void stet_intercept_pysuspended_note(struct stet_pysuspended *s, PyObject *value,
                                     struct stet_view name)
{
    if (s->count < STET_PYSUSPENDED_MOST && s->visits < VISITS_MOST)
        search(&(struct search){.s = s, .name = name}, value);
}

static void note_stack(struct stet_pysuspended *s, const struct stet_pyvars *v, bool inner)
{
    PyObject *loops[STET_PYLOOPS_MOST];
    size_t n = s->count < STET_PYSUSPENDED_MOST && s->visits < VISITS_MOST
                   ? stet_intercept_pyframe_stack(s->read, v, loops)
                   : 0;

    while (n-- > 0) /* the innermost loop first */
        search(&(struct search){.s = s, .inner = inner}, loops[n]);
}

void stet_intercept_pysuspended_stack(struct stet_pysuspended *s, const struct stet_pyvars *v)
{
    note_stack(s, v, false);
}

/* ---- reading ---- */

static bool is_users(struct stet_pyread *r, PyObject *code)
{
    PyObject *file = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_filename, STET_BY_C);
    bool is = file && !stet_path_is_installed(stet_intercept_pyread_text(r->py, file));

    if (file)
        r->py->Py_DecRef(file);
    return is;
}

/* The name of what holds it: "frames[2].loader", "frames[2]" for a loop, "suspended[0]" for a loop
 * of another generator. */
static void write_holder(struct stet_pysuspended *s, size_t i)
{
    struct stet_pyread *r = s->read;
    struct stet_view held = s->found[i].variable;
    int n =
        snprintf(r->path, sizeof r->path, "%s[%u]%s%.*s",
                 s->found[i].inner ? "suspended" : "frames", s->found[i].frame, held.len ? "." : "",
                 (int)(held.len < 64 ? held.len : 64), held.len ? held.ptr : "");

    r->length = (uint32_t)n;
}

/* Where the generator waits. */
static void emit_head(struct stet_pysuspended *s, size_t i, PyObject *frame, PyObject *code)
{
    struct stet_pyread *r = s->read;
    const struct stet_intercept_python *py = r->py;
    PyObject *file = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_filename, STET_BY_C);
    PyObject *name = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_qualname, STET_BY_C);
    int line = py->PyFrame_GetLineNumber(frame);
    struct stet_journal_value v;

    stet_journal_value_init(&v, STET_VALUE_FUNCTION);
    if (!name)
        name = stet_intercept_pyread_attribute(r, code, STET_PYNAME_co_name, STET_BY_C);
    v.address = (uint64_t)(uintptr_t)s->found[i].generator;
    v.text = stet_intercept_pyread_text(py, name);
    v.file = stet_intercept_pyread_text(py, file);
    v.line = line > 0 ? (uint32_t)line : 0;
    write_holder(s, i);
    stet_intercept_pyscalar_emit(r, stet_intercept_pyread_known(r, s->found[i].generator), &v);
    if (file)
        py->Py_DecRef(file);
    if (name)
        py->Py_DecRef(name);
}

static void read_variables(struct stet_pysuspended *s, const struct stet_pyvars *v, bool users)
{
    struct stet_pyread *r = s->read;

    for (size_t i = 0; i < v->count && r->left; i++) {
        PyObject *value = stet_intercept_pyframe_variable(r, v, i);
        struct stet_view name = stet_intercept_pyread_text(r->py, v->names[i]);

        if (!value)
            continue;
        if (s->count < STET_PYSUSPENDED_MOST && s->visits < VISITS_MOST)
            search(&(struct search){.s = s, .inner = true}, value);
        if (users && name.len && name.ptr[0] != '.' &&
            !stet_intercept_pyread_is(r->py, value, r->py->PyFunction_Type))
            stet_intercept_pyobject_root(r, name, value, DEPTH, INSIDE);
        r->py->Py_DecRef(value);
    }
}

/* Bounds what is read of one. */
static void allow(struct stet_pysuspended *s, size_t i)
{
    s->read->frame = (uint32_t)i;
    s->read->scope = STET_SCOPE_SUSPENDED;
    s->read->left = VARIABLES;
}

static void read_object(struct stet_pysuspended *s, size_t i)
{
    struct stet_pyread *r = s->read;

    allow(s, i);
    write_holder(s, i);
    if (r->length > sizeof s->found[i].path)
        return;
    memcpy(s->found[i].path, r->path, r->length);
    stet_intercept_pyobject_root(r, stet_view_of(s->found[i].path, r->length),
                                 s->found[i].generator, DEPTH, INSIDE);
}

static void read_one(struct stet_pysuspended *s, size_t i)
{
    struct stet_pyread *r = s->read;
    const struct stet_intercept_python *py = r->py;
    PyObject *frame =
        stet_intercept_pyread_attribute(r, s->found[i].generator, STET_PYNAME_gi_frame, STET_BY_C);
    PyObject *code = frame && frame != py->_Py_NoneStruct ? py->PyFrame_GetCode(frame) : NULL;
    struct stet_pyvars v;
    bool users;

    if (code) {
        users = is_users(r, code);
        allow(s, i);
        if (users)
            emit_head(s, i, frame, code);
        stet_intercept_pyframe_open(r, frame, code, &v);
        note_stack(s, &v, true);
        read_variables(s, &v, users);
        stet_intercept_pyframe_close(r, &v);
        py->Py_DecRef(code);
    }
    if (frame)
        py->Py_DecRef(frame);
    py->PyErr_Clear();
}

void stet_intercept_pysuspended_read(struct stet_pysuspended *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (stet_intercept_pyread_is(s->read->py, s->found[i].generator, s->read->py->PyGen_Type))
            read_one(s, i); /* may note further ones */
        else
            read_object(s, i);
    }
}

void stet_intercept_pysuspended_drop(struct stet_pysuspended *s)
{
    for (size_t i = 0; i < s->count; i++)
        s->read->py->Py_DecRef(s->found[i].generator);
    s->count = 0;
}
