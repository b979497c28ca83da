/* Sizes, ranks and dtypes, as far as the calls that create arrays show them. */
#include "flow/walk.h"

static const char *const dtype_names[] = {"float32", "float64", "float16", "bfloat16", "int32",
                                          "int64",   "uint8",   "bool_",   "int8",     "int16",
                                          "uint32",  "uint16",  NULL};
static const char *const dtype_aliases[] = {"float", "double", "half", "bfloat16", "int",
                                            "long",  "byte",   "bool", "char",     "short",
                                            "uint",  "",       NULL};
enum { DTYPE_FLOAT32 = 1, DTYPE_INT64 = 6 };

bool stet_flow_is_constant(const struct stet_python_ast *a, stet_python_ref n)
{
    struct stet_view text = stet_python_text(a, n);
    enum stet_python_kind k = stet_python_kind(a, n);

    if (k == PY_INTEGER || k == PY_FLOAT || k == PY_STRING || k == PY_UNARY || k == PY_TRUE ||
        k == PY_FALSE || k == PY_NONE_)
        return true;
    if (k != PY_IDENTIFIER && k != PY_BINARY)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] >= 'a' && text.ptr[i] <= 'z') || text.ptr[i] == '(')
            return false;
    return true;
}

enum { LARGEST = 1000000000 };

/* Computes left * right and similar if both are known; the tree keeps an operator's first
 * character. */
static long computed(const struct stet_flow_walk *w, stet_python_ref left, stet_python_ref right,
                     char op, long l, long r)
{
    uint32_t from = stet_python_at(w->ast, left)->end, to = stet_python_at(w->ast, right)->start;
    struct stet_view between = stet_view_of(w->ast->text.ptr + from, to - from);
    bool twice = stet_view_contains(between, "**") || stet_view_contains(between, "//");

    switch (op) {
    case '+':
        return l + r;
    case '-':
        return l - r;
    case '*':
        return twice ? -1 : l * r;
    case '/':
        return twice && r ? l / r : -1;
    case '%':
        return r ? l % r : -1;
    default:
        return -1;
    }
}

static long known_integer(struct stet_flow_walk *w, stet_python_ref n, unsigned depth)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_binding *b;
    stet_python_ref left, right;
    long l, r, value;

    n = stet_python_bare(a, n);
    if (stet_python_kind(a, n) == PY_INTEGER)
        return stet_python_integer(w->module, n) < LARGEST ? stet_python_integer(w->module, n) : -1;
    if (depth > 8) /* each name may occur twice in the next: 2^8 at most */
        return -1;
    if (stet_python_kind(a, n) == PY_IDENTIFIER) {
        b = stet_flow_lookup(w, w->fn, stet_python_name(a, n));
        return b && b->writes == 1 ? known_integer(w, b->value.from, depth + 1) : -1;
    }
    if (stet_python_kind(a, n) != PY_BINARY)
        return -1;
    left = stet_python_field(a, n, PY_FIELD_LEFT);
    right = stet_python_field(a, n, PY_FIELD_RIGHT);
    l = known_integer(w, left, depth + 1);
    r = l < 0 ? -1 : known_integer(w, right, depth + 1);
    value = r < 0 ? -1 : computed(w, left, right, stet_python_at(a, n)->op, l, r);
    return value < LARGEST ? value : -1;
}

long stet_flow_known_integer(struct stet_flow_walk *w, stet_python_ref n)
{
    return known_integer(w, n, 0);
}

static uint32_t known_size(struct stet_flow_walk *w, stet_python_ref n)
{
    long size = stet_flow_known_integer(w, n);

    return size > 0 ? (uint32_t)size : 0;
}

static uint8_t dtype_named(struct stet_view name)
{
    for (uint8_t i = 0; dtype_names[i]; i++) {
        if (stet_view_is(name, dtype_names[i]) || stet_view_is(name, dtype_aliases[i]))
            return (uint8_t)(i + 1);
    }
    return 0;
}

/* np.float32, torch.half, "float32", bool */
static uint8_t dtype_of(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    if (stet_python_kind(a, n) == PY_STRING)
        return dtype_named(stet_python_string(a, n));
    if (stet_python_kind(a, n) == PY_ATTRIBUTE)
        n = stet_python_field(a, n, PY_FIELD_ATTRIBUTE);
    return stet_python_kind(a, n) == PY_IDENTIFIER ? dtype_named(stet_python_text(a, n)) : 0;
}

static void add_dim(struct stet_flow_walk *w, struct stet_flow_facts *f, stet_python_ref n,
                    bool *known)
{
    struct stet_flow_value v = stet_flow_value_of(w, n);

    if (stet_python_kind(w->ast, n) == PY_LIST_SPLAT) {
        v = stet_flow_value_of(w, stet_python_child(w->ast, n));
        if (v.flags & FLOW_VARIES)
            f->flags |= FLOW_F_RANKS;
        *known = false;
        f->rank = 0;
        return;
    }
    if ((v.flags & FLOW_VARIES) && v.kind <= FLOW_V_PYTHON)
        f->flags |= FLOW_F_DRIFTS;
    if (f->rank == 1)
        f->rows = known_size(w, n);
    if (f->rank && f->rank < 32)
        f->rank++;
    if (stet_flow_is_constant(w->ast, n)) {
        struct stet_view text = stet_python_text(w->ast, n);

        for (size_t i = 0; i < text.len; i++)
            f->dims = (f->dims ^ (uint8_t)text.ptr[i]) * 16777619u;
        f->dims = f->dims * 16777619u + 1;
    } else {
        *known = false;
    }
}

/* (n, 3), [n, 3] or n. */
static void read_shape(struct stet_flow_walk *w, struct stet_flow_facts *f, stet_python_ref shape)
{
    const struct stet_python_ast *a = w->ast;
    bool known = true;

    f->rank = 1;
    f->dims = 2166136261u;
    if (stet_python_kind(a, shape) == PY_TUPLE || stet_python_kind(a, shape) == PY_LIST) {
        for (stet_python_ref c = stet_python_child(a, shape); c; c = stet_python_next(a, c))
            add_dim(w, f, c, &known);
    } else {
        add_dim(w, f, shape, &known);
        if (!stet_flow_is_constant(a, shape))
            f->rank = 0; /* a number or a whole shape */
    }
    if (!known)
        f->dims = 0;
}

/* torch.ones(n, 3): each argument is a size. */
static void read_sizes(struct stet_flow_walk *w, struct stet_flow_facts *f, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    bool known = true;

    f->rank = 1;
    f->dims = 2166136261u;
    for (stet_python_ref c = stet_python_child(a, args); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) != PY_KEYWORD_ARGUMENT && stet_python_kind(a, c) != PY_COMMENT)
            add_dim(w, f, c, &known);
    }
    if (!known)
        f->dims = 0;
}

static const struct maker {
    const char *name;
    uint8_t shape, dtype; /* positions; dtype 9: none */
    bool spread;          /* in torch each argument is a size */
} makers[] = {
    {"zeros", 0, 1, true},
    {"ones", 0, 1, true},
    {"empty", 0, 1, true},
    {"full", 0, 2, false},
    {"randn", 0, 9, true},
    {"rand", 0, 9, true},
    {"normal", 1, 9, false},
    {"uniform", 1, 9, false},
    {"integers", 2, 9, false},
    {"randint", 2, 9, false},
    {"random", 0, 9, false},
    {"standard_normal", 0, 9, false},
    {"ShapeDtypeStruct", 0, 1, false},
    {"arange", 0, 9, false},
};

static const struct maker *find_maker(struct stet_view name)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        if (stet_view_is(name, makers[i].name))
            return &makers[i];
    }
    return NULL;
}

static bool made(struct stet_flow_walk *w, stet_python_ref call, const struct maker *m,
                 struct stet_view dotted, struct stet_flow_facts *f)
{
    bool torch = stet_view_starts(dotted, "torch.");
    stet_python_ref shape = stet_python_keyword(w->module, call, STET_VIEW("size")),
                    dtype = stet_python_keyword(w->module, call, STET_VIEW("dtype"));
    stet_python_ref grad = stet_python_keyword(w->module, call, STET_VIEW("requires_grad")),
                    first = stet_python_argument(w->module, call, 0);
    stet_python_ref args = stet_python_field(w->ast, call, PY_FIELD_ARGUMENTS);
    unsigned at = stet_view_starts(dotted, "jax.random.") ? 1 : m->shape;
    bool sure = at != m->shape || !at; /* uniform(0, 9, rows): other libraries, other places */

    *f = (struct stet_flow_facts){0};
    if (!shape)
        shape = stet_python_keyword(w->module, call, STET_VIEW("shape"));
    sure = shape || (sure && !(stet_view_is(STET_VIEW("arange"), m->name) &&
                               stet_python_argument(w->module, call, 1)));
    if (!shape && m->spread && (torch || m->dtype == 9) &&
        stet_python_kind(w->ast, first) != PY_TUPLE && stet_python_kind(w->ast, first) != PY_LIST) {
        if (stet_python_kind(w->ast, args) != PY_ARGUMENTS)
            return false;
        read_sizes(w, f, call);
    } else {
        if (!shape)
            shape = stet_python_argument(w->module, call, at);
        if (!shape)
            return false;
        read_shape(w, f, shape);
        sure = sure || stet_python_kind(w->ast, shape) == PY_TUPLE;
    }
    if (!sure)
        f->rows = 0;
    if (!stet_python_keyword(w->module, call, STET_VIEW("device")) &&
        (torch || stet_view_starts(dotted, "numpy.")))
        f->traits |= FLOW_TRAIT_HOST;
    if (!dtype && m->dtype != 9 && !torch)
        dtype = stet_python_argument(w->module, call, m->dtype);
    f->dtype = dtype ? dtype_of(w, dtype) : 0;
    if (torch && !dtype && !stet_view_is(STET_VIEW("arange"), m->name))
        f->dtype = stet_view_is(STET_VIEW("randint"), m->name) ? DTYPE_INT64 : DTYPE_FLOAT32;
    if (stet_python_kind(w->ast, grad) == PY_TRUE)
        f->traits |= FLOW_TRAIT_GRAD;
    return true;
}

/* The facts of what `split` and similar return, if the sizes are known. `at`: the argument that
 * gives the size. */
static struct stet_flow_facts pieces(struct stet_flow_walk *w, stet_python_ref call,
                                     struct stet_view name, struct stet_flow_facts whole,
                                     unsigned at)
{
    static const char *const counts[] = {"array_split", "tensor_split", NULL};
    struct stet_flow_facts f = {.flags =
                                    whole.flags & (FLOW_F_DRIFTS | FLOW_F_SHORT | FLOW_F_DEVICE),
                                .traits = FLOW_TRAIT_LIST | (whole.traits & FLOW_TRAIT_HOST)};
    stet_python_ref dim = stet_python_argument(w->module, call, at + 1);
    uint32_t size = known_size(w, stet_python_argument(w->module, call, at)), rest;

    if (f.flags & FLOW_F_DEVICE)
        f.flags |= FLOW_F_EAGER;
    dim = dim ? dim : stet_python_keyword(w->module, call, STET_VIEW("dim"));
    dim = dim ? dim : stet_python_keyword(w->module, call, STET_VIEW("axis"));
    if (!size || !whole.rows || whole.rows <= size ||
        (dim && stet_python_integer(w->module, dim) != 0))
        return f;
    if (stet_view_is(name, "chunk"))
        size = (whole.rows + size - 1) / size;
    rest = whole.rows % size;
    if (rest) {
        f.flags |= FLOW_F_SHORT;
        f.rows = stet_view_in(name, counts) ? whole.rows / size : rest;
    }
    return f;
}

/* numpy's own split raises an exception if it does not divide. */
static bool is_split(struct stet_view name, bool torch)
{
    static const char *const splits[] = {"array_split", "tensor_split", "chunk", "split", NULL};

    return stet_view_in(name, splits) && (torch || !stet_view_is(name, "split"));
}

/* A method of an array: the facts that it keeps. */
static struct stet_flow_facts method(struct stet_flow_walk *w, stet_python_ref call,
                                     struct stet_view name, struct stet_flow_facts f)
{
    static const char *const same[] = {"copy", "clone", "detach",     "cuda",
                                       "cpu",  "numpy", "pin_memory", "clip",
                                       "to",   "type",  "contiguous", NULL};
    static const char *const trees[] = {
        "items", "values", "keys", "get", "item", "tolist", "_asdict", "block_until_ready", NULL};
    stet_python_ref first = stet_python_argument(w->module, call, 0);
    uint8_t dtype = first ? dtype_of(w, first) : 0;

    if (stet_view_is(name, "astype")) {
        f.dtype = dtype;
        return f;
    }
    if (stet_view_in(name, same)) {
        if (dtype && (stet_view_is(name, "to") || stet_view_is(name, "type")))
            f.dtype = dtype;
        if (stet_view_is(name, "contiguous"))
            f.traits = (uint8_t)(f.traits & ~FLOW_TRAIT_TURNED);
        if (stet_view_is(name, "cuda") || (stet_view_is(name, "to") && !dtype))
            f.traits = (uint8_t)(f.traits & ~FLOW_TRAIT_HOST);
        if ((w->facts & FLOW_USES_TPU) &&
            stet_view_starts(stet_python_string(w->ast, first), "tpu"))
            f.flags |= FLOW_F_DEVICE;
        return f;
    }
    if (!first && dtype_named(name)) {
        f.dtype = dtype_named(name);
        return f;
    }
    if (stet_view_is(name, "t") || stet_view_is(name, "transpose")) {
        f.traits |= FLOW_TRAIT_TURNED;
        f.dims = f.rows = 0;
        return f;
    }
    if (stet_view_is(name, "requires_grad_")) {
        f.traits |= FLOW_TRAIT_GRAD;
        return f;
    }
    if (stet_view_is(name, "unsqueeze")) {
        f.rank = f.rank ? (uint8_t)(f.rank + 1) : 0;
        f.dims = f.rows = 0;
        return f;
    }
    if (is_split(name, true))
        return pieces(w, call, name, f, 0);
    if (stet_view_is(name, "reshape") || stet_view_is(name, "view")) {
        struct stet_flow_facts made_so = {0};

        if (first && (stet_python_kind(w->ast, first) == PY_TUPLE))
            read_shape(w, &made_so, first);
        else
            read_sizes(w, &made_so, call);
        made_so.dtype = f.dtype;
        made_so.traits = f.traits & FLOW_TRAIT_HOST;
        made_so.flags |= f.flags & FLOW_F_DRIFTS;
        return made_so;
    }
    f = (struct stet_flow_facts){
        .flags = f.flags & (FLOW_F_DRIFTS | FLOW_F_SHORT | FLOW_F_DEVICE | FLOW_F_EAGER),
        .traits = f.traits & FLOW_TRAIT_HOST};
    if ((f.flags & FLOW_F_DEVICE) && !stet_view_in(name, trees))
        f.flags |= FLOW_F_EAGER;
    return f;
}

/* The facts of a result of the array libraries' functions. */
static struct stet_flow_facts through(struct stet_flow_walk *w, stet_python_ref call,
                                      struct stet_view dotted)
{
    static const char *const same[] = {
        "asarray", "array", "device_put", "from_numpy", "as_tensor", "ascontiguousarray", NULL};
    stet_python_ref args = stet_python_field(w->ast, call, PY_FIELD_ARGUMENTS),
                    first = stet_python_argument(w->module, call, 0);
    struct stet_view name = stet_python_callee(w->module, call);
    struct stet_flow_facts f = {0};
    bool host = false, elsewhere = stet_python_keyword(w->module, call, STET_VIEW("device"));

    if (first && is_split(name, stet_view_starts(dotted, "torch."))) {
        f = stet_flow_value_of(w, first).f;
        if (!stet_view_starts(dotted, "jax."))
            f.flags &= (uint16_t)~FLOW_F_DEVICE;
        return pieces(w, call, name, f, 1);
    }
    if (first && stet_view_in(name, same)) {
        stet_python_ref dtype = stet_python_keyword(w->module, call, STET_VIEW("dtype"));

        f = stet_flow_value_of(w, first).f;
        if (elsewhere || stet_view_starts(dotted, "jax."))
            f.traits = (uint8_t)(f.traits & ~FLOW_TRAIT_HOST);
        f.flags &= (uint16_t)~FLOW_F_NUMBER;
        if (stet_view_starts(dotted, "numpy."))
            f.flags &= (uint16_t) ~(FLOW_F_DEVICE | FLOW_F_EAGER);
        if (dtype)
            f.dtype = dtype_of(w, dtype);
        return f;
    }
    for (stet_python_ref c = args ? stet_python_child(w->ast, args) : 0; c;
         c = stet_python_next(w->ast, c)) {
        struct stet_flow_value v = stet_flow_value_of(w, stet_python_argument_value(w->module, c));

        f.flags |= v.f.flags & (FLOW_F_DRIFTS | FLOW_F_SHORT | FLOW_F_DEVICE);
        host |= v.f.traits & FLOW_TRAIT_HOST;
        elsewhere |= v.kind == FLOW_V_TENSOR && !(v.f.traits & FLOW_TRAIT_HOST);
    }
    f.traits = host && !elsewhere ? FLOW_TRAIT_HOST : 0;
    if (!stet_view_starts(dotted, "jax.") && !(w->facts & FLOW_USES_TPU))
        f.flags &= (uint16_t)~FLOW_F_DEVICE;
    if (f.flags & FLOW_F_DEVICE)
        f.flags |= FLOW_F_EAGER;
    return f;
}

/* True for Config(…) of a class that defines no equality. */
static bool makes_object(struct stet_flow_walk *w, stet_python_ref function)
{
    uint32_t name = stet_python_name(w->ast, function), c, hash, eq;
    stet_python_ref made =
        stet_python_defined(w->module, stet_python_function_around(w->module, function), name);

    c = stet_python_kind(w->ast, made) == PY_CLASS ? stet_flow_class_at(w, made) : FLOW_NONE;
    if (c == FLOW_NONE || stet_python_field(w->ast, w->classes[c].node, PY_FIELD_SUPERCLASSES))
        return false;
    hash = stet_python_ast_name(w->ast, "__hash__");
    eq = stet_python_ast_name(w->ast, "__eq__");
    return !w->classes[c].decorated && (!hash || stet_flow_method(w, c, hash) == FLOW_NONE) &&
           (!eq || stet_flow_method(w, c, eq) == FLOW_NONE);
}

struct stet_flow_facts stet_flow_facts_list(struct stet_flow_facts element)
{
    element.flags &= FLOW_F_RANKS | FLOW_F_DTYPES | FLOW_F_DRIFTS;
    element.traits = FLOW_TRAIT_LIST;
    element.rows = 0;
    return element;
}

/* rows.append(x): a list may later hold other arrays than those it was made with. */
static void add_element(struct stet_flow_walk *w, stet_python_ref call, stet_python_ref object)
{
    static const char *const adds[] = {"append", "insert", NULL};
    uint32_t name = stet_python_name(w->ast, object);
    struct stet_flow_binding *b = name ? stet_flow_scope_find(&w->fns[w->fn].scope, name) : NULL;
    struct stet_view method_name = stet_python_callee(w->module, call);
    stet_python_ref added =
        stet_python_argument(w->module, call, stet_view_is(method_name, "insert") ? 1 : 0);

    if (b && added && (b->value.f.traits & FLOW_TRAIT_LIST) && stet_view_in(method_name, adds) &&
        b->value.f.rank)
        b->value.f = stet_flow_facts_list(
            stet_flow_facts_either(b->value.f, stet_flow_value_of(w, added).f));
}

struct stet_flow_facts stet_flow_facts_call(struct stet_flow_walk *w, stet_python_ref call,
                                            struct stet_flow_facts so_far)
{
    stet_python_ref function =
        stet_python_bare(w->ast, stet_python_field(w->ast, call, PY_FIELD_FUNCTION));
    stet_python_ref object = stet_python_callee_object(w->module, call);
    struct stet_view name = stet_python_callee(w->module, call), dotted;
    const struct maker *m = find_maker(name);
    struct stet_flow_facts f;
    char room[160];

    dotted = stet_python_imported(w->module, function, room);
    if (m && (dotted.len || object) &&
        (dotted.len || stet_flow_value_of(w, object).kind <= FLOW_V_PYTHON) &&
        made(w, call, m, dotted, &f))
        return f;
    if (dotted.len) {
        f = through(w, call, dotted);
        f.flags |= so_far.flags;
        return f;
    }
    if (object && !stet_python_self_class(w->module, object)) {
        add_element(w, call, object);
        return method(w, call, name, stet_flow_value_of(w, object).f);
    }
    if (stet_python_kind(w->ast, function) == PY_IDENTIFIER &&
        stet_python_argument(w->module, call, 0) &&
        (stet_view_is(name, "list") || stet_view_is(name, "tuple")))
        so_far.traits |= stet_flow_value_of(w, stet_python_argument(w->module, call, 0)).f.traits &
                         FLOW_TRAIT_LIST;
    if (stet_python_kind(w->ast, function) == PY_IDENTIFIER && makes_object(w, function))
        so_far.flags |= FLOW_F_OBJECT;
    return so_far;
}

struct stet_flow_facts stet_flow_facts_subscript(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref value = stet_python_field(a, n, PY_FIELD_VALUE);
    struct stet_flow_facts f = stet_flow_value_of(w, value).f;

    f.dims = 0;
    if (f.traits & FLOW_TRAIT_DICT)
        return (struct stet_flow_facts){.flags = f.flags &
                                                 (FLOW_F_DEVICE | FLOW_F_EAGER | FLOW_F_SHORT)};
    if (f.traits & FLOW_TRAIT_LIST) { /* an element, or a part of the list */
        stet_python_ref index = stet_python_next(a, value);

        if (stet_python_kind(a, index) == PY_SLICE || stet_flow_is_constant(a, index)) {
            f.flags &= (uint16_t)~FLOW_F_SHORT; /* the same each time, or without the last */
            f.rows = 0;
        }
        if (stet_python_kind(a, index) != PY_SLICE)
            f.traits = (uint8_t)(f.traits & ~FLOW_TRAIT_LIST);
        f.flags &= (uint16_t)~FLOW_F_LIST;
        return f;
    }
    f.rows = 0;
    for (stet_python_ref c = stet_python_next(a, value); c; c = stet_python_next(a, c)) {
        struct stet_flow_value index = stet_flow_value_of(w, c);
        stet_python_ref start = stet_python_kind(a, c) == PY_SLICE ? stet_python_child(a, c) : 0;

        if (stet_python_kind(a, c) == PY_NONE_)
            f.rank = f.rank ? (uint8_t)(f.rank + 1) : 0;
        else if (stet_python_kind(a, c) == PY_INTEGER)
            f.rank = f.rank > 1 ? (uint8_t)(f.rank - 1) : 0;
        else if (start && (stet_flow_value_of(w, start).f.flags & FLOW_F_STRIDES) &&
                 stet_python_next(a, start))
            f.flags |= FLOW_F_SHORT;
        else if (stet_python_kind(a, c) != PY_SLICE)
            f.rank = 0;
        if (index.f.flags & FLOW_F_SHORT)
            f.flags |= FLOW_F_SHORT;
    }
    return f;
}

/* The facts of a dictionary's keys, if all of them are literals. */
struct stet_flow_facts stet_flow_facts_dictionary(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_facts f = {.traits = FLOW_TRAIT_DICT, .dims = 2166136261u};

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        stet_python_ref key = stet_python_kind(a, c) == PY_PAIR ? stet_python_child(a, c) : 0;
        struct stet_view text;

        if (stet_python_kind(a, c) == PY_COMMENT)
            continue;
        if (stet_python_kind(a, key) != PY_STRING) {
            f.dims = 0;
            return f;
        }
        f.flags |= stet_flow_value_of(w, stet_python_field(a, c, PY_FIELD_VALUE)).f.flags &
                   FLOW_F_SHORT;
        text = stet_python_text(a, key);
        for (size_t i = 0; i < text.len; i++)
            f.dims = (f.dims ^ (uint8_t)text.ptr[i]) * 16777619u;
    }
    return f;
}

struct stet_flow_facts stet_flow_facts_either(struct stet_flow_facts a, struct stet_flow_facts b)
{
    struct stet_flow_facts f = {.flags =
                                    (a.flags | b.flags) & (uint16_t)~(FLOW_F_NONE | FLOW_F_NUMBER)};
    bool nothing = a.flags & FLOW_F_NONE, nothing_either = b.flags & FLOW_F_NONE;

    if (nothing != nothing_either)
        f.flags |= FLOW_F_MAYBE_NONE;
    else if (nothing)
        f.flags |= FLOW_F_NONE;
    if (nothing)
        a = b;
    if (nothing_either)
        b = a;
    if (a.rank && b.rank && a.rank != b.rank)
        f.flags |= FLOW_F_RANKS;
    else if (a.dims && b.dims && a.dims != b.dims)
        f.flags |= a.traits & b.traits & FLOW_TRAIT_DICT ? FLOW_F_KEYS : FLOW_F_DRIFTS;
    if (a.dtype && b.dtype && a.dtype != b.dtype)
        f.flags |= FLOW_F_DTYPES;
    f.rank = a.rank == b.rank ? a.rank : 0;
    f.dtype = a.dtype == b.dtype ? a.dtype : 0;
    f.dims = a.dims == b.dims ? a.dims : 0;
    f.rows = a.rows == b.rows ? a.rows : 0;
    f.traits = a.traits & b.traits;
    return f;
}
