/* Sizes, ranks and dtypes, as far as the calls that create arrays show them. */
#include "flow/walk.h"

static uint32_t known_size(struct stet_flow_walk *w, stet_python_ref n)
{
    long size = stet_flow_known_integer(w, n);

    return size > 0 ? (uint32_t)size : 0;
}

/* np.float32, torch.half, "float32", bool */
static uint8_t dtype_of(const struct stet_flow_walk *w, stet_python_ref n)
{
    char room[160];

    return (uint8_t)stet_python_library_dtype(stet_python_kind(w->ast, n) == PY_STRING
                                                  ? stet_python_string(w->ast, n)
                                                  : stet_python_library_name(w->module, n, room));
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
    if (stet_flow_is_constant(w, n)) {
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
        if (!stet_flow_is_constant(w, shape))
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

/* device=x.device; not device="cpu" or device=torch.device("cpu") */
static bool names_device(const struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref device = stet_python_keyword(w->module, call, STET_VIEW("device"));
    char room[160];

    if (stet_python_kind(w->ast, device) == PY_CALL &&
        stet_python_library(stet_python_imported(
            w->module, stet_python_field(w->ast, device, PY_FIELD_FUNCTION), room)) ==
            PY_GIVES_HANDLE)
        device = stet_python_argument(w->module, device, 0);
    return device && !stet_view_is(stet_python_string(w->ast, device), "cpu");
}

/* randint: the elements are integers unless a dtype says otherwise. */
static bool gives_integers(const struct stet_python_shaper *m)
{
    const struct stet_python_array *array = stet_python_array(stet_view_str(m->name));

    return array && array->role & PY_ONLY_KEYWORDS;
}

static bool made(struct stet_flow_walk *w, stet_python_ref call, const struct stet_python_shaper *m,
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
    bool spaced = stet_python_library_meaning(dotted) == PY_MEANS_SPACED;

    *f = (struct stet_flow_facts){0};
    if (!shape)
        shape = stet_python_keyword(w->module, call, STET_VIEW("shape"));
    sure = shape || (sure && !(spaced && stet_python_argument(w->module, call, 1)));
    if (!shape && m->each && (torch || m->dtype == PY_NO_DTYPE) &&
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
    if (!names_device(w, call) && (torch || stet_view_starts(dotted, "numpy.")))
        f->traits |= FLOW_TRAIT_HOST;
    if (!dtype && m->dtype != PY_NO_DTYPE && !torch)
        dtype = stet_python_argument(w->module, call, m->dtype);
    f->dtype = dtype ? dtype_of(w, dtype) : 0;
    if (torch && !dtype && !spaced)
        f->dtype = gives_integers(m) ? PY_INT64 : PY_FLOAT32;
    if (stet_python_kind(w->ast, grad) == PY_TRUE)
        f->traits |= FLOW_TRAIT_GRAD;
    return true;
}

/* The facts of what `split` and similar return, if the sizes are known. `at`: the argument that
 * gives the size. */
static struct stet_flow_facts pieces(struct stet_flow_walk *w, stet_python_ref call,
                                     enum stet_python_meaning how, struct stet_flow_facts whole,
                                     unsigned at)
{
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
    if (how == PY_MEANS_CUTS_BY_COUNT)
        size = (whole.rows + size - 1) / size;
    rest = whole.rows % size;
    if (rest) {
        f.flags |= FLOW_F_SHORT;
        f.rows = how == PY_MEANS_CUTS_EVENLY ? whole.rows / size : rest;
    }
    return f;
}

/* numpy's and JAX's own split raise an exception if the size does not divide. */
static bool is_cut(enum stet_python_meaning how)
{
    return how == PY_MEANS_CUTS_BY_SIZE || how == PY_MEANS_CUTS_BY_COUNT ||
           how == PY_MEANS_CUTS_EVENLY;
}

/* x.to(dtype), x.type(dtype), x.to(device), x.cuda() */
static struct stet_flow_facts moved(const struct stet_flow_walk *w, stet_python_ref first,
                                    enum stet_python_meaning how, uint8_t dtype,
                                    struct stet_flow_facts f)
{
    bool may_cast = how == PY_MEANS_MOVES_OR_CASTS || how == PY_MEANS_CASTS;

    if (may_cast && dtype)
        f.dtype = dtype;
    if (how == PY_MEANS_MAKES_CONTIGUOUS)
        f.traits = (uint8_t)(f.traits & ~FLOW_TRAIT_TURNED);
    if (how == PY_MEANS_MOVES_AWAY || (how == PY_MEANS_MOVES_OR_CASTS && !dtype))
        f.traits = (uint8_t)(f.traits & ~FLOW_TRAIT_HOST);
    if ((w->facts & FLOW_USES_TPU) && stet_view_starts(stet_python_string(w->ast, first), "tpu"))
        f.flags |= FLOW_F_DEVICE;
    return f;
}

static struct stet_flow_facts reshaped(struct stet_flow_walk *w, stet_python_ref call,
                                       stet_python_ref first, struct stet_flow_facts f)
{
    struct stet_flow_facts made_so = {0};
    stet_python_ref attribute = stet_python_kind(w->ast, first) == PY_ATTRIBUTE
                                    ? stet_python_field(w->ast, first, PY_FIELD_ATTRIBUTE)
                                    : 0;

    if (first && (dtype_of(w, first) ||
                  (attribute && stet_python_library_attribute(
                                    stet_python_text(w->ast, attribute)) == PY_GIVES_TYPE))) {
        f.dims = f.rows = 0; /* x.view(dtype) */
        f.dtype = dtype_of(w, first);
        return f;
    }
    if (first && stet_python_kind(w->ast, first) == PY_TUPLE)
        read_shape(w, &made_so, first);
    else
        read_sizes(w, &made_so, call);
    made_so.dtype = f.dtype;
    made_so.traits = f.traits & FLOW_TRAIT_HOST;
    made_so.flags |= f.flags & FLOW_F_DRIFTS;
    return made_so;
}

/* Does the method give something else than an array that the device computes? */
static bool computes_nothing(enum stet_python_effect effect)
{
    return effect == PY_GIVES_KEYED || effect == PY_GIVES_KEYS || effect == PY_GIVES_SCALAR ||
           effect == PY_GIVES_ARRAYS || effect == PY_GIVES_WAITS;
}

/* A method of an array: the facts that it keeps. */
static struct stet_flow_facts method(struct stet_flow_walk *w, stet_python_ref call,
                                     struct stet_view name, struct stet_flow_facts f)
{
    enum stet_python_meaning how = stet_python_library_method_meaning(name);
    stet_python_ref first = stet_python_argument(w->module, call, 0);
    uint8_t dtype = first ? dtype_of(w, first) : 0;

    switch (how) {
    case PY_MEANS_KEEPS_FORM:
    case PY_MEANS_MOVES_AWAY:
    case PY_MEANS_MOVES_OR_CASTS:
    case PY_MEANS_CASTS:
    case PY_MEANS_MAKES_CONTIGUOUS:
        return moved(w, first, how, dtype, f);
    case PY_MEANS_TRANSPOSES:
        f.traits |= FLOW_TRAIT_TURNED;
        f.dims = f.rows = 0;
        return f;
    case PY_MEANS_ASKS_GRADIENT:
        f.traits |= FLOW_TRAIT_GRAD;
        return f;
    case PY_MEANS_ADDS_AXIS:
        f.rank = f.rank ? (uint8_t)(f.rank + 1) : 0;
        f.dims = f.rows = 0;
        return f;
    case PY_MEANS_RESHAPES:
        return reshaped(w, call, first, f);
    default:
        break;
    }
    if (is_cut(how))
        return pieces(w, call, how, f, 0);
    if (!first && stet_python_library_dtype(name)) {
        f.dtype = (uint8_t)stet_python_library_dtype(name);
        return f;
    }
    f = (struct stet_flow_facts){
        .flags = f.flags & (FLOW_F_DRIFTS | FLOW_F_SHORT | FLOW_F_DEVICE | FLOW_F_EAGER),
        .traits = f.traits & FLOW_TRAIT_HOST};
    if ((f.flags & FLOW_F_DEVICE) && !computes_nothing(stet_python_library_method(name)))
        f.flags |= FLOW_F_EAGER;
    return f;
}

/* What torch makes of it is in the memory of the host, unless a device is named. */
static bool is_of_numbers(enum stet_flow_value_kind kind)
{
    return kind == FLOW_V_PYTHON || kind == FLOW_V_SHAPE;
}

/* torch.tensor([…]): of whatever a list holds, the copy is made on the host. */
static bool is_list(const struct stet_flow_walk *w, stet_python_ref n)
{
    enum stet_python_kind k = stet_python_kind(w->ast, n);

    return k == PY_LIST || k == PY_LIST_COMPREHENSION;
}

/* The facts of a result of the array libraries' functions. */
static struct stet_flow_facts through(struct stet_flow_walk *w, stet_python_ref call,
                                      struct stet_view dotted)
{
    enum stet_python_meaning how = stet_python_library_meaning(dotted);
    stet_python_ref args = stet_python_field(w->ast, call, PY_FIELD_ARGUMENTS),
                    first = stet_python_argument(w->module, call, 0);
    struct stet_flow_facts f = {0};
    bool host = false, elsewhere = names_device(w, call);
    const struct stet_python_transform *t = stet_python_transform(dotted);

    if (t && t->kind == PY_MAPS && stet_flow_maps_to_host(w, call))
        return f;
    if (first && is_cut(how)) {
        f = stet_flow_value_of(w, first).f;
        if (!stet_view_starts(dotted, "jax."))
            f.flags &= (uint16_t)~FLOW_F_DEVICE;
        return pieces(w, call, how, f, 1);
    }
    if (how == PY_MEANS_ASSEMBLES)
        first = stet_python_argument(w->module, call, 1);
    if (first && (how == PY_MEANS_CONVERTS || how == PY_MEANS_ASSEMBLES)) {
        stet_python_ref dtype = stet_python_keyword(w->module, call, STET_VIEW("dtype"));

        f = stet_flow_value_of(w, first).f;
        if (stet_view_starts(dotted, "torch.") &&
            (is_of_numbers(stet_flow_value_of(w, first).kind) || is_list(w, first)))
            f.traits |= FLOW_TRAIT_HOST;
        if (elsewhere || stet_view_starts(dotted, "jax."))
            f.traits = (uint8_t)(f.traits & ~FLOW_TRAIT_HOST);
        f.flags &= (uint16_t)~FLOW_F_NUMBER;
        if (stet_view_starts(dotted, "numpy."))
            f.flags &= (uint16_t)~(FLOW_F_DEVICE | FLOW_F_EAGER);
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
    host |= stet_view_starts(dotted, "torch.") &&
            (how == PY_MEANS_DRAWS_ARRAY ||
             (stet_python_library_type(dotted) == PY_GIVES_DEVICE && first &&
              is_of_numbers(stet_flow_value_of(w, first).kind)));
    if (how == PY_MEANS_SPACED && stet_view_starts(dotted, "torch.")) { /* of numbers alone */
        host = true;
        elsewhere = names_device(w, call);
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
static void add_element(struct stet_flow_walk *w, stet_python_ref call, stet_python_ref object,
                        enum stet_python_meaning how)
{
    uint32_t name = stet_python_name(w->ast, object);
    struct stet_flow_binding *b = name ? stet_flow_scope_find(&w->fns[w->fn].scope, name) : NULL;
    stet_python_ref added = how == PY_MEANS_ADDS_ITEM ? stet_python_argument(w->module, call, 0)
                            : how == PY_MEANS_INSERTS_ITEM
                                ? stet_python_argument(w->module, call, 1)
                                : 0;

    if (b && added && (b->value.f.traits & FLOW_TRAIT_LIST) && b->value.f.rank)
        b->value.f = stet_flow_facts_list(
            stet_flow_facts_either(b->value.f, stet_flow_value_of(w, added).f));
}

struct stet_flow_facts stet_flow_facts_call(struct stet_flow_walk *w, stet_python_ref call,
                                            struct stet_flow_facts so_far)
{
    stet_python_ref function =
        stet_python_bare(w->ast, stet_python_field(w->ast, call, PY_FIELD_FUNCTION));
    stet_python_ref object = stet_python_callee_object(w->module, call);
    char called_room[160], room[160];
    struct stet_view name = stet_python_library_callee(w->module, call, called_room), dotted;
    const struct stet_python_shaper *m = stet_python_shaper(name);
    struct stet_flow_facts f;

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
    if (object && name.len && !stet_python_self_class(w->module, object)) {
        add_element(w, call, object, stet_python_library_method_meaning(name));
        f = method(w, call, name, stet_flow_value_of(w, object).f);
        f.flags &= (uint16_t)~(FLOW_F_MAYBE_NONE | FLOW_F_NONE); /* None has no methods */
        return f;
    }
    if (stet_python_argument(w->module, call, 0) &&
        stet_python_meaning(w->module, function) == PY_MEANS_SEQUENCE)
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
    f.flags &= (uint16_t)~(FLOW_F_MAYBE_NONE | FLOW_F_NONE); /* None has no items */
    if (f.traits & FLOW_TRAIT_DICT)
        return (struct stet_flow_facts){.flags =
                                            f.flags & (FLOW_F_DEVICE | FLOW_F_EAGER | FLOW_F_SHORT),
                                        .traits = f.traits & FLOW_TRAIT_HOST};
    if (f.traits & FLOW_TRAIT_LIST) { /* an element, or a part of the list */
        stet_python_ref index = stet_python_next(a, value);

        if (stet_python_kind(a, index) == PY_SLICE || stet_flow_is_constant(w, index)) {
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
        f.flags |=
            stet_flow_value_of(w, stet_python_field(a, c, PY_FIELD_VALUE)).f.flags & FLOW_F_SHORT;
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

bool stet_flow_on_host(struct stet_flow_value v)
{
    return stet_flow_hosted(v) || v.kind <= FLOW_V_PYTHON || v.kind == FLOW_V_SHAPE;
}

struct stet_flow_facts stet_flow_facts_of(struct stet_flow_value a, struct stet_flow_value b)
{
    struct stet_flow_facts f = stet_flow_facts_either(a.f, b.f);

    if ((stet_flow_hosted(a) || stet_flow_hosted(b)) && stet_flow_on_host(a) &&
        stet_flow_on_host(b))
        f.traits |= FLOW_TRAIT_HOST;
    return f;
}
