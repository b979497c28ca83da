/* See pyobject.h. */
#include "intercept/pyobject.h"

#include "intercept/pyarray.h"
#include "intercept/pychildren.h"
#include "intercept/pypath.h"
#include "intercept/pyscalar.h"

enum {
    ITEMS_MAX = 64,     /* of a container */
    ITEMS_FAR = 24,     /* of one that a variable does not hold directly, if it has no more, */
    ITEMS_FEW = 8,      /* and otherwise */
    NEAR = 2,           /* steps from a root: objects have an address up to here */
    ROOT_STEPS = 3,     /* that each root may have */
    ARRAYS_MAX = 192,   /* added after everything else */
    FUNCTIONS_MAX = 64, /* of which name, file and line are read */
    QUOTA_PART = 8,     /* of all objects, before a root waits for the others */
    SEEN_MAX = STET_PYSEEN_SLOTS / 2,
};

/* ---- what was read already ---- */

static size_t seen_slot(const struct stet_pyread *r, const PyObject *o)
{
    size_t at = ((uintptr_t)o >> 4 ^ (uintptr_t)o >> 14) % STET_PYSEEN_SLOTS;

    while (r->seen->slots[at] && r->seen->slots[at] != o)
        at = (at + 1) % STET_PYSEEN_SLOTS;
    return at;
}

static void note_seen(struct stet_pyread *r, const PyObject *o)
{
    size_t at = seen_slot(r, o);

    if (!r->seen->slots[at] && r->seen->count < SEEN_MAX) {
        r->seen->slots[at] = o;
        r->seen->count++;
    }
}

/* Does the object hold itself? */
static bool is_cycle(const struct stet_pysteps *q, const struct stet_pystep *s)
{
    for (const struct stet_pystep *up = s; up->kind != STET_STEP_ROOT;) {
        up = &q->items[up->holder];
        if (up->o == s->o)
            return true;
    }
    return false;
}

/* ---- paths ---- */

static void push_step(struct stet_pyread *r, const struct stet_pystep *s)
{
    PyObject *key = (PyObject *)(uintptr_t)s->at; /* a root's text is not used as an object */

    switch ((enum stet_pystep_kind)s->kind) {
    case STET_STEP_ROOT:
        stet_intercept_pypath_name(r, stet_view_of(s->at, s->number));
        break;
    case STET_STEP_FIELD:
        stet_intercept_pypath_field(r, key);
        break;
    case STET_STEP_INDEX:
        stet_intercept_pypath_index(r, s->number);
        break;
    case STET_STEP_KEY:
        stet_intercept_pypath_key(r, key);
        break;
    }
}

/* Makes the reader's path that of a step, and its scope and frame. The paths of holders are kept:
 * most values are read after another one of the same holder. */
static void go_to(struct stet_pyread *r, struct stet_pystep *s)
{
    const struct stet_pystep *way[STET_PYDEPTH_MOST + 1], *up = s;
    struct stet_pysteps *q = &r->steps;
    size_t n = 0;

    r->scope = (enum stet_journal_value_scope)s->scope;
    r->frame = s->frame;
    for (; !up->length && up->kind != STET_STEP_ROOT; up = &q->items[up->holder])
        way[n++] = up;
    r->length = up->length;
    if (up->length)
        memcpy(r->path, q->text + up->path, up->length);
    else
        way[n++] = up;
    while (n)
        push_step(r, way[--n]);
    if (!s->array && !s->length && r->length <= sizeof q->text - q->text_used) {
        s->path = (uint16_t)q->text_used;
        s->length = (uint16_t)r->length;
        memcpy(q->text + q->text_used, r->path, r->length);
        q->text_used += r->length;
    }
}

/* ---- values that hold others ---- */

static bool has_room(struct stet_pyread *r)
{
    return r->left && r->out->used < r->room;
}

static void cut(struct stet_pyread *r, const struct stet_pystep *s)
{
    r->steps.cut[s->root] = true;
    r->cut = false;
}

static void add_address(struct stet_pyread *r, const struct stet_pytype *k, PyObject *o,
                        enum stet_journal_value_kind kind)
{
    struct stet_journal_value v;

    stet_journal_value_init(&v, kind);
    v.address = (uint64_t)(uintptr_t)o;
    stet_intercept_pyscalar_emit(r, k, &v);
}

/* Adds the value of a step itself, once. The reader's path is its own. */
static void add_head(struct stet_pyread *r, struct stet_pystep *s, const struct stet_pytype *k)
{
    if (s->added)
        return;
    s->added = true;
    switch (k->form) {
    case STET_FORM_FUNCTION:
    case STET_FORM_METHOD:
        if (r->steps.functions++ < FUNCTIONS_MAX)
            stet_intercept_pyscalar_function(
                r, k, k->form == STET_FORM_METHOD ? r->py->PyMethod_Function(s->o) : s->o,
                stet_intercept_pychildren_self(r, k, s->o));
        break;
    case STET_FORM_TUPLE:
    case STET_FORM_LIST:
    case STET_FORM_DICT:
        add_address(r, k, s->o, STET_VALUE_CONTAINER);
        break;
    default:
        add_address(r, k, s->o, STET_VALUE_OBJECT);
    }
}

static bool is_container(const struct stet_pytype *k)
{
    return k->form == STET_FORM_TUPLE || k->form == STET_FORM_LIST || k->form == STET_FORM_DICT;
}

static bool is_array(const struct stet_pytype *k)
{
    return k->form == STET_FORM_JAX_ARRAY || k->form == STET_FORM_JAX_KEY ||
           k->form == STET_FORM_NUMPY_ARRAY || k->form == STET_FORM_TORCH_TENSOR;
}

static bool is_function(const struct stet_pytype *k)
{
    return k->form == STET_FORM_FUNCTION || k->form == STET_FORM_METHOD;
}

/* A stand-in of a transformation: what it holds is the framework's. */
static bool is_tracer(const struct stet_pytype *k)
{
    return k->length > 6 && strcmp(k->name + k->length - 6, "Tracer") == 0;
}

/* Is there a step left for it? Each root has some of its own. */
static bool take_step(struct stet_pysteps *q, const struct stet_pystep *s)
{
    uint32_t kept = ROOT_STEPS * q->roots;

    if (q->count == STET_PYSTEPS_MOST)
        return false;
    if (q->used[s->root] >= ROOT_STEPS) {
        if (q->shared + kept >= STET_PYSTEPS_MOST || (s->array && q->arrays >= ARRAYS_MAX))
            return false;
        q->shared++;
        q->arrays += s->array;
    }
    q->used[s->root]++;
    return true;
}

static bool queue(struct stet_pyread *r, const struct stet_pystep *s)
{
    struct stet_pysteps *q = &r->steps;

    if (!take_step(q, s)) {
        cut(r, s);
        return false;
    }
    if (s->first)
        q->step[s->root] = (uint16_t)(q->count + 1);
    q->items[q->count] = *s;
    if (s->kind == STET_STEP_ROOT)
        q->items[q->count].holder = (uint16_t)q->count;
    q->count++;
    return true;
}

/* Adds the value if it is near, and what is below it to the steps. The path is its own. */
static void add_holder(struct stet_pyread *r, struct stet_pystep *s, const struct stet_pytype *k)
{
    bool container = is_container(k), deeper = container ? s->depth : s->depth && s->inside;
    Py_ssize_t n = container ? stet_intercept_pychildren_size(r, k, s->o) : 0;

    if (container && (k->form == STET_FORM_LIST || !deeper || n > ITEMS_MAX))
        stet_intercept_pyscalar_length(r, k, n); /* lists grow: the length is a value of its own */
    if (!container && (s->level <= NEAR || (is_function(k) && s->scope != STET_SCOPE_LOCAL)))
        add_head(r, s, k);
    if (deeper && (!container || n) && !is_tracer(k) && !is_cycle(&r->steps, s))
        queue(r, s);
}

/* Arrays are read last. */
static bool add_array(struct stet_pyread *r, struct stet_pystep *s)
{
    s->array = is_array(stet_intercept_pyread_known(r, s->o));
    if (s->array)
        queue(r, s);
    return s->array;
}

/* Adds a value, or a step for what it holds. */
static void add_value(struct stet_pyread *r, struct stet_pystep *s)
{
    const struct stet_pytype *known = stet_intercept_pyread_known(r, s->o);
    struct stet_pytype k;
    PyObject *wrapped;

    if (stet_intercept_pyscalar_read(r, known, s->o) || known->form == STET_FORM_SKIPPED)
        return;
    k = *known; /* its slot may be taken */
    wrapped = k.form == STET_FORM_OBJECT && s->inside
                  ? stet_intercept_pychildren_wrapped(r, &k, s->o)
                  : NULL;
    if (wrapped) {
        s->o = wrapped;
        s->added = true;
        if (r->steps.functions++ < FUNCTIONS_MAX)
            stet_intercept_pyscalar_function(r, &k, wrapped, NULL);
        k = *stet_intercept_pyread_known(r, wrapped);
    }
    add_holder(r, s, &k);
}

/* ---- one step further ---- */

/* What is being read: the step, and what its children begin with. */
struct reading {
    struct stet_pyread *r;
    struct stet_pystep *of;
    struct stet_pytype k;
    struct stet_pystep child;
    uint32_t length; /* of the path */
};

static uint16_t new_root(struct stet_pysteps *q)
{
    uint32_t root = q->roots < STET_PYROOTS_MOST ? q->roots++ : STET_PYROOTS_MOST - 1;

    if (root + 1 == q->roots) {
        q->looked[root] = q->used[root] = q->step[root] = 0;
        q->cut[root] = false;
    }
    return (uint16_t)root;
}

static bool add_child(void *data, enum stet_pystep_kind kind, const void *at, uint32_t number,
                      PyObject *o)
{
    struct reading *now = data;
    struct stet_pyread *r = now->r;
    struct stet_pystep s = now->child;
    uint32_t used = r->out->used, count = r->steps.count;

    if (!has_room(r))
        return false;
    r->left--;
    r->steps.looked[s.root]++;
    s.o = o;
    s.kind = (uint8_t)kind;
    s.at = at;
    s.number = number;
    if (now->of->spread) {
        s.root = new_root(&r->steps);
        s.first = true;
    }
    if (!add_array(r, &s)) {
        push_step(r, &s);
        add_value(r, &s);
        r->length = now->length;
    }
    if (r->cut)
        cut(r, &s);
    /* A container of a recorded value is recorded too, by its address. */
    if (is_container(&now->k) ? now->of->level <= NEAR && r->steps.count != count
                              : r->out->used != used)
        add_head(r, now->of, &now->k);
    return true;
}

/* How many items of a container are read. A long list far from the user's variables is data. */
static Py_ssize_t items_of(struct stet_pyread *r, const struct stet_pystep *s,
                           const struct stet_pytype *k)
{
    bool call = s->scope == STET_SCOPE_ARGUMENT || s->scope == STET_SCOPE_CALLED;

    if (call || s->level <= 1 || !is_container(k))
        return ITEMS_MAX;
    return stet_intercept_pychildren_size(r, k, s->o) > ITEMS_FAR ? ITEMS_FEW : ITEMS_FAR;
}

static void read_step(struct stet_pyread *r, struct stet_pystep *s)
{
    struct reading now = {.r = r, .of = s, .k = *stet_intercept_pyread_known(r, s->o)};

    go_to(r, s);
    now.length = r->length;
    if (r->steps.once && r->seen->slots[seen_slot(r, s->o)]) {
        if (s->level <= NEAR)
            add_head(r, s, &now.k);
        return;
    }
    now.child = (struct stet_pystep){
        .holder = (uint16_t)(s - r->steps.items),
        .root = s->root,
        .frame = s->frame,
        .scope = s->scope,
        .level = (uint8_t)(s->level + 1),
        .depth = (uint8_t)(s->depth - 1),
        .inside = (uint8_t)(s->inside - (now.k.form == STET_FORM_OBJECT)),
    };
    if (!stet_intercept_pychildren(r, &now.k, s->o, items_of(r, s, &now.k), add_child, &now))
        cut(r, s);
    if (s->added)
        note_seen(r, s->o);
}

static void read_array(struct stet_pyread *r, struct stet_pystep *s)
{
    struct stet_pystep *holder = &r->steps.items[s->holder];
    struct stet_pytype k = *stet_intercept_pyread_known(r, s->o);

    if (r->out->used >= r->room) {
        cut(r, s);
        return;
    }
    if (holder != s && !holder->added) {
        struct stet_pytype of = *stet_intercept_pyread_known(r, holder->o);

        go_to(r, holder);
        if (!is_container(&of))
            add_head(r, holder, &of);
    }
    go_to(r, s);
    if (!stet_intercept_pyarray_read(r, &k, s->o))
        add_head(r, s, &k);
    if (r->cut)
        cut(r, s);
}

/* ---- all ---- */

void stet_intercept_pyobject_begin(struct stet_pyread *r, unsigned objects, uint32_t bytes,
                                   bool once)
{
    struct stet_pysteps *q = &r->steps;
    uint32_t used = r->out->used;

    r->left = objects;
    r->room = bytes < STET_VALUES_SIZE - used ? used + bytes : (uint32_t)STET_VALUES_SIZE;
    r->cut = false;
    q->count = q->shared = q->arrays = q->functions = q->roots = 0;
    q->once = once;
    q->text_used = 0;
}

static void add_root(struct stet_pyread *r, struct stet_view name, PyObject *o,
                     struct stet_pystep s)
{
    if (!o || !has_room(r))
        return;
    r->left--;
    s.o = o;
    s.kind = STET_STEP_ROOT;
    s.at = name.ptr;
    s.number = (uint32_t)name.len;
    s.root = new_root(&r->steps);
    s.first = true;
    s.frame = (uint16_t)r->frame;
    s.scope = (uint8_t)r->scope;
    if (add_array(r, &s))
        return;
    r->length = 0;
    push_step(r, &s);
    add_value(r, &s);
    if (r->cut)
        cut(r, &s);
}

void stet_intercept_pyobject_root(struct stet_pyread *r, struct stet_view name, PyObject *o,
                                  unsigned depth, unsigned inside)
{
    add_root(r, name, o, (struct stet_pystep){.depth = (uint8_t)depth, .inside = (uint8_t)inside});
}

void stet_intercept_pyobject_roots(struct stet_pyread *r, struct stet_view name, PyObject *o,
                                   unsigned depth, unsigned inside)
{
    add_root(
        r, name, o,
        (struct stet_pystep){.depth = (uint8_t)depth, .inside = (uint8_t)inside, .spread = true});
}

/* Records which arguments were not read to their end, because readers must not take what is missing
 * for absent. */
static void add_cuts(struct stet_pyread *r)
{
    struct stet_pysteps *q = &r->steps;

    r->room = (uint32_t)STET_VALUES_SIZE;
    for (uint32_t i = 0; i < q->roots; i++) {
        struct stet_pystep *s = q->cut[i] && q->step[i] ? &q->items[q->step[i] - 1] : NULL;

        if (!s || (s->scope != STET_SCOPE_ARGUMENT && s->scope != STET_SCOPE_PASSED))
            continue;
        go_to(r, s);
        stet_intercept_pypath_name(r, STET_VIEW(STET_VALUES_CUT));
        stet_intercept_pyscalar_length(r, stet_intercept_pyread_known(r, s->o), 0);
    }
}

/* Reads the steps of all roots that have not had this many objects yet. False if there are others.
 */
static bool read_steps(struct stet_pyread *r, unsigned quota)
{
    struct stet_pysteps *q = &r->steps;
    bool all = true;

    for (uint32_t i = 0; i < q->count; i++) {
        struct stet_pystep *s = &q->items[i];

        if (s->array || s->read)
            continue;
        s->read = q->looked[s->root] < quota;
        all &= s->read;
        if (s->read)
            read_step(r, s);
    }
    return all;
}

void stet_intercept_pyobject_end(struct stet_pyread *r)
{
    struct stet_pysteps *q = &r->steps;

    if (!read_steps(r, r->left / QUOTA_PART))
        read_steps(r, UINT16_MAX);
    for (uint32_t i = 0; i < q->count; i++)
        if (q->items[i].array)
            read_array(r, &q->items[i]);
    add_cuts(r);
    r->py->PyErr_Clear();
}
