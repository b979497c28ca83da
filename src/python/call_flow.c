/* Calls: finds the target, and what flows out of it. */
#include "python/value_flow.h"

enum { MOST_RETURNS = 16 };

static const struct stet_python_value nothing;
static const struct stet_python_value unknown = {.from = PY_FROM_UNKNOWN};

/* ---- the target ---- */

/* "Class.method" or "function" in a module of the project. */
static void find_in(const struct stet_python_module *m, struct stet_view name,
                    struct stet_python_callee *c)
{
    const char *dot = name.len ? memchr(name.ptr, '.', name.len) : NULL;
    size_t n = dot ? (size_t)(dot - name.ptr) : name.len;
    uint32_t head = stet_intern_find(&m->ast.names, stet_view_of(name.ptr, n));
    stet_python_ref found = head == STET_INTERN_NONE ? 0 : stet_python_defined(m, 0, head);

    if (found && dot)
        found = stet_python_kind(&m->ast, found) == PY_CLASS
                    ? stet_python_method(m, found, stet_view_of(dot + 1, name.len - n - 1))
                    : 0;
    c->module = m;
    c->definition = found;
}

/* Fills in what is known of a library's function. */
static void look_up(struct stet_view dotted, struct stet_python_callee *c)
{
    c->transform = stet_python_transform(dotted);
    c->effect = stet_python_library(dotted);
    c->meaning = stet_python_library_meaning(dotted);
    if (c->meaning && c->effect == PY_GIVES_NOTHING_KNOWN)
        c->effect = PY_GIVES_UNKNOWN;
}

static void resolve_import(struct stet_python_flow *x, struct stet_view dotted,
                           struct stet_python_callee *c)
{
    struct stet_view rest;
    const struct stet_python_module *m;

    look_up(dotted, c);
    if (c->transform || c->effect != PY_GIVES_NOTHING_KNOWN)
        return;
    m = stet_python_import(x->sources, x->frame->module, dotted, &rest);
    if (m)
        find_in(m, rest, c);
    c->effect = c->definition ? PY_GIVES_NOTHING_KNOWN : PY_GIVES_UNKNOWN;
}

/* A function or class of a file of which all names are imported. */
static void resolve_star(struct stet_python_flow *x, stet_python_ref n,
                         struct stet_python_callee *c)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_view rest;

    for (size_t i = 0; !c->definition && i < m->stars.count; i++) {
        const struct stet_python_module *from =
            stet_python_import(x->sources, m, m->stars.items[i], &rest);

        if (from && !rest.len)
            find_in(from, stet_python_text(&m->ast, n), c);
    }
    if (!c->definition)
        c->module = m;
}

static void resolve_identifier(struct stet_python_flow *x, stet_python_ref n,
                               struct stet_python_callee *c)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_binding *b;
    char room[160];

    c->definition =
        stet_python_defined(m, stet_python_function_around(m, n), stet_python_name(&m->ast, n));
    b = c->definition ? NULL : stet_python_only_binding(m, n);
    if (b && b->how == PY_BIND_VALUE && stet_python_kind(&m->ast, b->value) == PY_LAMBDA)
        c->definition = b->value;
    if (!c->definition)
        look_up(stet_python_full_name(m, n, room), c);
    if (!c->definition && !c->transform && !c->meaning && c->effect == PY_GIVES_NOTHING_KNOWN && !b)
        resolve_star(x, n, c);
}

stet_python_ref stet_python_class_of(struct stet_python_flow *x, stet_python_ref object,
                                     const struct stet_python_module **module)
{
    const struct stet_python_module *m = x->frame->module;
    stet_python_ref self = stet_python_self_class(m, object), value;
    const struct stet_python_binding *b;
    struct stet_python_callee made;

    *module = m;
    if (self)
        return self;
    b = stet_python_only_binding(m, object);
    value = b && b->how == PY_BIND_VALUE ? stet_python_bare(&m->ast, b->value) : 0;
    if (stet_python_kind(&m->ast, value) != PY_CALL || x->depth > 40)
        return 0;
    x->depth++;
    made = stet_python_resolve(x, value);
    while (made.object && stet_python_kind(&m->ast, made.object) == PY_CALL)
        made = stet_python_resolve(x, made.object); /* Model().to(device).eval() */
    x->depth--;
    *module = made.module;
    return made.definition && stet_python_kind(&made.module->ast, made.definition) == PY_CLASS
               ? made.definition
               : 0;
}

static enum stet_python_meaning method_meaning(const struct stet_python_module *m,
                                               stet_python_ref n)
{
    stet_python_ref name = stet_python_field(&m->ast, n, PY_FIELD_ATTRIBUTE);

    return name ? stet_python_library_method_meaning(stet_python_text(&m->ast, name))
                : PY_MEANS_NOTHING_KNOWN;
}

static void resolve_attribute(struct stet_python_flow *x, stet_python_ref n,
                              struct stet_python_callee *c)
{
    const struct stet_python_module *m = x->frame->module, *where;
    stet_python_ref object = stet_python_field(&m->ast, n, PY_FIELD_OBJECT);
    struct stet_view name =
        stet_python_text(&m->ast, stet_python_field(&m->ast, n, PY_FIELD_ATTRIBUTE));
    stet_python_ref class_node = stet_python_class_of(x, object, &where);

    if (class_node)
        c->definition = stet_python_method(where, class_node, name);
    if (c->definition) {
        c->module = where;
        c->bound = stet_python_is_method(where, c->definition);
        return;
    }
    c->object = object;
    c->effect = stet_python_library_method(name);
    c->meaning = method_meaning(m, n);
}

struct stet_python_callee stet_python_resolve_name(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_callee c = {.module = m};
    char room[160];
    bool imported;
    struct stet_view dotted;

    n = stet_python_bare(&m->ast, n);
    dotted = stet_python_dotted(m, n, room, &imported);
    if (imported) {
        resolve_import(x, dotted, &c);
        if (!c.definition && c.effect == PY_GIVES_UNKNOWN && !c.meaning)
            c.meaning = method_meaning(m, n); /* of an object of another file */
    } else if (stet_python_kind(&m->ast, n) == PY_IDENTIFIER)
        resolve_identifier(x, n, &c);
    else if (stet_python_kind(&m->ast, n) == PY_ATTRIBUTE)
        resolve_attribute(x, n, &c);
    else if (stet_python_kind(&m->ast, n) == PY_LAMBDA)
        c.definition = n;
    return c;
}

struct stet_python_callee stet_python_resolve(struct stet_python_flow *x, stet_python_ref call)
{
    return stet_python_resolve_name(
        x, stet_python_field(&x->frame->module->ast, call, PY_FIELD_FUNCTION));
}

/* ---- transforms ---- */

const struct stet_python_transform *
stet_python_transform_in(struct stet_python_flow *x, stet_python_ref n, stet_python_ref *options)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    const struct stet_python_transform *t;

    *options = 0;
    n = stet_python_bare(a, n);
    if (stet_python_kind(a, n) != PY_CALL)
        return stet_python_resolve_name(x, n).transform;
    t = stet_python_resolve(x, n).transform;
    *options = n;
    if (t && t->kind == PY_PARTIAL)
        t = stet_python_resolve_name(x, stet_python_argument(x->frame->module, n, 0)).transform;
    return t;
}

const struct stet_python_transform *stet_python_decorator(struct stet_python_flow *x,
                                                          stet_python_ref definition,
                                                          stet_python_ref *at,
                                                          stet_python_ref *options)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref decorated = m->parents[definition];
    stet_python_ref c = *at ? stet_python_next(a, *at) : 0;

    if (stet_python_kind(a, decorated) != PY_DECORATED)
        return NULL;
    for (c = *at ? c : stet_python_child(a, decorated); c; c = stet_python_next(a, c)) {
        const struct stet_python_transform *t =
            stet_python_kind(a, c) == PY_DECORATOR
                ? stet_python_transform_in(x, stet_python_child(a, c), options)
                : NULL;

        *at = c;
        if (t)
            return t;
    }
    return NULL;
}

/* ---- the result ---- */

static struct stet_python_value arguments(struct stet_python_flow *x, stet_python_ref call)
{
    return stet_python_flow_of(x,
                               stet_python_field(&x->frame->module->ast, call, PY_FIELD_ARGUMENTS));
}

/* Of everything but DEVICE, what shapes an array: jnp.zeros(count). */
static struct stet_python_value shaped(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_array *array =
        stet_python_array(stet_python_callee(x->frame->module, call));
    struct stet_python_value v = nothing;

    if (array) {
        v = arguments(x, call);
        v.from &= PY_FROM_NUMBER | PY_FROM_SURE | PY_FROM_TURNS;
        v.parameters = 0;
    }
    v.from |= PY_FROM_DEVICE;
    return v;
}

static struct stet_python_value by_effect(struct stet_python_flow *x, stet_python_ref call,
                                          enum stet_python_effect effect,
                                          struct stet_python_value v)
{
    switch (effect) {
    case PY_GIVES_HOST:
    case PY_GIVES_DESCRIBES:
    case PY_GIVES_DRAWS:
    case PY_GIVES_KEYS:
    case PY_GIVES_SCHEDULER:
    case PY_GIVES_CLEARS:
        return nothing;
    case PY_GIVES_CALLBACK:
    case PY_GIVES_DEVICE:
    case PY_GIVES_OPAQUE:
    case PY_GIVES_MAKER:
    case PY_GIVES_PARTS:
        return shaped(x, call);
    case PY_GIVES_SCALAR:
        return stet_python_read_in(x, call, v, true);
    case PY_GIVES_ARRAYS:
    case PY_GIVES_HOSTED:
    case PY_GIVES_WAITS:
        return stet_python_read_in(x, call, v, false);
    case PY_GIVES_SHOWS:
        v = stet_python_read_in(x, call, v, false);
        v.from |= PY_FROM_LOGGER;
        return v;
    case PY_GIVES_COPIES:
        return stet_python_may_read(x, call, &v) ? stet_python_read_in(x, call, v, false) : v;
    case PY_GIVES_ITERATES:
        return v.from & PY_FROM_READ || stet_python_may_read(x, call, &v)
                   ? stet_python_read_in(x, call, v, true)
                   : v;
    case PY_GIVES_REDUCES:
        return v.from & PY_FROM_READ && !(v.from & PY_FROM_DEVICE)
                   ? stet_python_read_in(x, call, v, true)
                   : v;
    case PY_GIVES_TENSOR:
    case PY_GIVES_GRADS:
        v.from |= v.from & PY_FROM_READ ? 0 : PY_FROM_DEVICE;
        return v;
    case PY_GIVES_THROUGH:
    case PY_GIVES_UPDATED:
    case PY_GIVES_HOLDS:
    case PY_GIVES_KEYED:
    case PY_GIVES_BARS:
        return v;
    case PY_GIVES_MOVES:
        v.from = PY_FROM_DEVICE;
        return v;
    case PY_GIVES_SIZE:
    case PY_GIVES_RANK:
    case PY_GIVES_TYPE:
    case PY_GIVES_HANDLE:
        return stet_python_described(effect);
    case PY_GIVES_FEEDS:
        return (struct stet_python_value){.from = PY_FROM_FEED};
    case PY_GIVES_OPTIMIZER:
        return (struct stet_python_value){.from = PY_FROM_OPTIMIZER};
    case PY_GIVES_PROCESS:
    case PY_GIVES_IMAGE:
        return (struct stet_python_value){.from = PY_FROM_PROCESS};
    case PY_GIVES_GRADIENT:
        return (struct stet_python_value){.from = PY_FROM_GRADIENT | PY_FROM_DEVICE};
    case PY_GIVES_LOADER:
    case PY_GIVES_TRAINER:
    case PY_GIVES_STEPS:
    case PY_GIVES_GROUPS:
    case PY_GIVES_UNKNOWN:
    case PY_GIVES_NOTHING_KNOWN:
        break;
    }
    return unknown;
}

/* A method of an object whose class is not the project's. */
static struct stet_python_value method(struct stet_python_flow *x, stet_python_ref call,
                                       const struct stet_python_callee *c)
{
    struct stet_python_value v = stet_python_flow_of(x, c->object);

    if (v.from & PY_FROM_LOGGER || c->effect == PY_GIVES_SHOWS)
        return by_effect(x, call, PY_GIVES_SHOWS, arguments(x, call));
    if (v.from & PY_FROM_TEXT)
        return stet_python_read_in(x, call, stet_python_either(v, arguments(x, call)), false);
    if (c->effect == PY_GIVES_MOVES && !(v.from & PY_FROM_DEVICE))
        return (struct stet_python_value){.from = PY_FROM_DEVICE};
    if (c->effect != PY_GIVES_NOTHING_KNOWN && c->effect != PY_GIVES_PARTS)
        return by_effect(x, call, c->effect, v);
    if (v.from & PY_FROM_OPTIMIZER)
        return (struct stet_python_value){.from = PY_FROM_DEVICE};
    if (v.from & PY_FROM_DEVICE)
        return stet_python_either(v, shaped(x, call));
    return x->copies ? stet_python_either(v, stet_python_flow_of_opaque(x, call)) : v;
}

/* A class: what its base is known to be, and a container of its arguments. */
static struct stet_python_value instance(struct stet_python_flow *x, stet_python_ref call,
                                         const struct stet_python_callee *c)
{
    const struct stet_python_ast *a = &c->module->ast;
    stet_python_ref bases = stet_python_field(a, c->definition, PY_FIELD_SUPERCLASSES);
    struct stet_python_value v = arguments(x, call);
    char room[160];

    for (stet_python_ref b = bases ? stet_python_child(a, bases) : 0; b;
         b = stet_python_next(a, b)) {
        bool imported;
        struct stet_view dotted = stet_python_dotted(c->module, b, room, &imported);
        enum stet_python_effect effect =
            imported ? stet_python_library(dotted) : PY_GIVES_NOTHING_KNOWN;

        v.from |= effect == PY_GIVES_OPTIMIZER ? PY_FROM_OPTIMIZER : 0;
        v.from |= stet_python_is_device(effect) ? PY_FROM_DEVICE : 0;
    }
    return v;
}

bool stet_python_is_compiled(struct stet_python_flow *x, const struct stet_python_callee *c)
{
    const struct stet_python_frame *before = x->frame;
    struct stet_python_frame frame = {.module = c->module};
    const struct stet_python_transform *t;
    stet_python_ref at = 0, options;
    bool found = false;

    x->frame = &frame;
    while (!found && (t = stet_python_decorator(x, c->definition, &at, &options)))
        found = t->kind == PY_JITS || t->kind == PY_TRACES;
    x->frame = before;
    return found;
}

struct stet_python_value stet_python_flow_of_returns(struct stet_python_flow *x,
                                                     const struct stet_python_frame *frame)
{
    const struct stet_python_module *m = frame->module;
    const struct stet_python_ast *a = &m->ast;
    const struct stet_python_frame *before = x->frame;
    stet_python_ref body = stet_python_field(a, frame->function, PY_FIELD_BODY);
    int position = x->position;
    struct stet_python_value v = nothing;
    unsigned returns = 0;

    x->frame = frame;
    x->position = -1;
    if (stet_python_kind(a, frame->function) == PY_LAMBDA)
        v = stet_python_flow_of(x, body);
    else
        for (stet_python_ref n = body; n < a->count && a->nodes[n].start < a->nodes[body].end;
             n++) {
            stet_python_ref value = stet_python_child(a, n), part;
            enum stet_python_kind k = stet_python_kind(a, n);

            if ((k != PY_RETURN && k != PY_YIELD) || !value || returns++ >= MOST_RETURNS ||
                stet_python_function_around(m, n) != frame->function)
                continue;
            part = stet_python_bare(a, value);
            k = stet_python_kind(a, part);
            if (position >= 0 && (k == PY_TUPLE || k == PY_EXPRESSION_LIST)) {
                part = stet_python_child(a, part);
                for (int i = position; part && i > 0; i--)
                    part = stet_python_next(a, part);
            }
            v = stet_python_either(v, stet_python_flow_of(x, part));
        }
    x->frame = before;
    x->position = position;
    return v;
}

struct stet_python_value stet_python_flow_of_project(struct stet_python_flow *x,
                                                     stet_python_ref call,
                                                     const struct stet_python_callee *c)
{
    struct stet_python_frame frame = {.module = c->module,
                                      .function = c->definition,
                                      .call = call,
                                      .caller = x->frame,
                                      .bound = c->bound};
    unsigned deep = 0;

    if (stet_python_kind(&c->module->ast, c->definition) == PY_CLASS)
        return instance(x, call, c);
    if (stet_python_is_compiled(x, c))
        return x->sized ? arguments(x, call) : (struct stet_python_value){.from = PY_FROM_DEVICE};
    for (const struct stet_python_frame *f = x->frame; f; f = f->caller)
        if (++deep > 12 || (f->function == c->definition && f->module == c->module))
            return nothing; /* recursion adds nothing new */
    return stet_python_flow_of_returns(x, &frame);
}

/* jax.grad(f) is a function, jax.lax.scan(f, …) has called it. */
static struct stet_python_value transformed(const struct stet_python_callee *c)
{
    switch (c->transform->kind) {
    case PY_JITS:
        return (struct stet_python_value){.from = PY_FROM_JITTED};
    case PY_TRACES:
        return (struct stet_python_value){
            .from = PY_FROM_JITTED | PY_FROM_DEVICE |
                    (c->effect == PY_GIVES_GRADIENT ? PY_FROM_GRADIENT : 0)};
    default:
        return unknown;
    }
}

/* The target is itself a value: a compiled function, a layer, model.apply. */
static struct stet_python_value value_call(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    struct stet_python_value f =
        stet_python_flow_of(x, stet_python_field(a, call, PY_FIELD_FUNCTION));

    if (f.from & (PY_FROM_JITTED | PY_FROM_DEVICE))
        return (struct stet_python_value){.from = PY_FROM_DEVICE | (f.from & PY_FROM_GRADIENT)};
    if (f.from & PY_FROM_LOGGER)
        return by_effect(x, call, PY_GIVES_SHOWS, arguments(x, call));
    return stet_python_flow_of_opaque(x, call);
}

bool stet_python_variable(const struct stet_python_module *m, stet_python_ref text,
                          struct stet_python_value *out)
{
    enum stet_python_effect effect =
        stet_python_kind(&m->ast, text) == PY_STRING
            ? stet_python_library_variable(stet_python_string(&m->ast, text))
            : PY_GIVES_NOTHING_KNOWN;

    *out = (struct stet_python_value){.from = PY_FROM_PROCESS};
    return effect == PY_GIVES_PROCESS;
}

struct stet_python_value stet_python_flow_of_call(struct stet_python_flow *x, stet_python_ref n)
{
    struct stet_python_callee c = stet_python_resolve(x, n);
    int position = x->position;
    struct stet_python_value v;

    if (c.definition)
        return stet_python_flow_of_project(x, n, &c);
    if (x->copies && c.effect == PY_GIVES_SIZE) /* len(x), x.size() */
        return stet_python_flow_of_count(
            x, c.object ? c.object : stet_python_argument(x->frame->module, n, 0));
    if (c.meaning == PY_MEANS_READS_VARIABLE && /* os.getenv("RANK") */
        stet_python_variable(x->frame->module, stet_python_argument(x->frame->module, n, 0), &v))
        return v;
    x->position = -1;
    if (c.transform && c.transform->kind != PY_MAPS)
        v = transformed(&c);
    else if (c.object)
        v = method(x, n, &c);
    else if (c.effect != PY_GIVES_NOTHING_KNOWN)
        v = by_effect(x, n, c.effect, arguments(x, n));
    else
        v = value_call(x, n);
    x->position = position;
    return v;
}
