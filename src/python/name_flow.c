/* Names: which bindings reach a use, and what flows into parameters and attributes. */
#include "python/value_flow.h"

enum { MOST_SITES = 8 };

struct stet_python_active {
    const struct stet_python_binding *binding;
    const struct stet_python_frame *frame;
    bool sized;
    const struct stet_python_active *outer;
};

static const struct stet_python_value nothing;
static const struct stet_python_value unknown = {.from = PY_FROM_UNKNOWN};

/* ---- one binding ---- */

static stet_python_ref nth(const struct stet_python_ast *a, stet_python_ref n, int position)
{
    stet_python_ref c = stet_python_child(a, n);

    for (; c && position > 0; position--)
        c = stet_python_next(a, c);
    return c;
}

/* `position` of a value that is a tuple as written, or what a function returns. */
static struct stet_python_value part_of(struct stet_python_flow *x, stet_python_ref value,
                                        int position)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    stet_python_ref bare = stet_python_bare(a, value);
    enum stet_python_kind k = stet_python_kind(a, bare);
    int before = x->position;
    struct stet_python_value v;

    if (position >= 0 && (k == PY_TUPLE || k == PY_LIST || k == PY_EXPRESSION_LIST))
        return stet_python_flow_of(x, nth(a, bare, position));
    x->position = k == PY_CALL ? position : -1;
    v = stet_python_flow_of(x, bare);
    x->position = before;
    return v;
}

/* An item of what is iterated over; `position` of its parts: enumerate counts, zip pairs. */
static struct stet_python_value element_of(struct stet_python_flow *x, stet_python_ref value,
                                           int position)
{
    const struct stet_python_module *m = x->frame->module;
    enum stet_python_meaning meaning = stet_python_kind(&m->ast, value) == PY_CALL && position >= 0
                                           ? stet_python_resolve(x, value).meaning
                                           : PY_MEANS_NOTHING_KNOWN;
    stet_python_ref arg =
        meaning == PY_MEANS_ZIPS ? stet_python_argument(m, value, (uint32_t)position) : 0;
    struct stet_python_value v = nothing;

    if (position != 0 || meaning != PY_MEANS_ENUMERATES)
        v = stet_python_flow_of(x, arg ? arg : value);
    if (v.from & PY_FROM_FEED)
        v.from |= PY_FROM_DEVICE;
    v.from |= PY_FROM_TURNS;
    return v;
}

static struct stet_python_value of_definition(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_transform *t;
    stet_python_ref at = 0, options;

    while ((t = stet_python_decorator(x, n, &at, &options)))
        if (t->kind == PY_JITS)
            return (struct stet_python_value){.from = PY_FROM_JITTED};
    return (struct stet_python_value){.from = PY_FROM_FUNCTION};
}

struct stet_python_value stet_python_flow_of_binding(struct stet_python_flow *x,
                                                     const struct stet_python_binding *b)
{
    struct stet_python_active mine = {b, x->frame, x->sized, x->active};
    struct stet_python_value v = nothing;

    for (const struct stet_python_active *a = x->active; a; a = a->outer)
        if (a->binding == b && a->frame == x->frame && a->sized == x->sized)
            return nothing; /* x = f(x): what it was before adds nothing new */
    x->active = &mine;
    switch ((enum stet_python_bind)b->how) {
    case PY_BIND_VALUE:
    case PY_BIND_CONTEXT:
        v = part_of(x, b->value, b->position);
        break;
    case PY_BIND_ELEMENT:
        v = element_of(x, b->value, b->position);
        break;
    case PY_BIND_AUGMENTED:
        v = stet_python_flow_of(x, b->value);
        v.from |= PY_FROM_TURNS;
        break;
    case PY_BIND_FUNCTION:
        v = of_definition(x, b->value);
        break;
    case PY_BIND_CLASS:
        v.from = PY_FROM_FUNCTION;
        break;
    }
    if (x->around && !x->sized)
        v = stet_python_either(v, x->around(x, b->target));
    x->active = mine.outer;
    return v;
}

/* ---- which bindings reach a use ---- */

/* The outermost loop around a node inside its function, or 0. */
static stet_python_ref outermost_loop(const struct stet_python_module *m, stet_python_ref n)
{
    stet_python_ref found = 0;

    for (n = m->parents[n]; n; n = m->parents[n]) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if (k == PY_FUNCTION || k == PY_LAMBDA)
            break;
        if (k == PY_FOR || k == PY_WHILE)
            found = n;
    }
    return found;
}

static bool comes_before(const struct stet_python_module *m, const struct stet_python_binding *b,
                         stet_python_ref use)
{
    const struct stet_python_node *v = &m->ast.nodes[b->value], *u = &m->ast.nodes[use];

    if (b->how == PY_BIND_FUNCTION || b->how == PY_BIND_CLASS)
        return v->start <= u->start;
    return v->end <= u->start && !stet_python_is_inside(m, use, b->value);
}

/* A use in a comprehension comes before its `for` in the text. */
static bool is_of_comprehension(const struct stet_python_module *m,
                                const struct stet_python_binding *b, stet_python_ref use)
{
    stet_python_ref clause = m->parents[b->target];

    while (clause && stet_python_kind(&m->ast, clause) != PY_FOR_IN)
        clause = m->parents[clause];
    return clause && stet_python_is_inside(m, use, m->parents[clause]);
}

/* Does every path to the use pass through the binding? */
static bool covers(const struct stet_python_module *m, const struct stet_python_binding *b,
                   stet_python_ref use)
{
    stet_python_ref s = stet_python_statement_of(m, b->target);

    if (b->how == PY_BIND_AUGMENTED)
        return false;
    if (b->how == PY_BIND_FUNCTION || b->how == PY_BIND_CLASS)
        s = stet_python_kind(&m->ast, m->parents[b->value]) == PY_DECORATED ? m->parents[b->value]
                                                                            : b->value;
    return s && stet_python_is_inside(m, use, m->parents[s]);
}

static bool is_in(const struct stet_python_module *m, const struct stet_python_binding *b,
                  stet_python_ref scope)
{
    return !b->attribute && b->scope == scope &&
           !(b->how == PY_BIND_FUNCTION && stet_python_class_around(m, b->value));
}

static bool has_binding(const struct stet_python_module *m, uint32_t name, stet_python_ref scope)
{
    for (uint32_t i = name ? m->first_binding[name] : 0; i; i = m->bindings.items[i - 1].next)
        if (is_in(m, &m->bindings.items[i - 1], scope))
            return true;
    return false;
}

static uint32_t bindings_in(const struct stet_python_module *m, uint32_t name,
                            stet_python_ref scope, const struct stet_python_binding **out)
{
    uint32_t n = 0;

    for (uint32_t i = name ? m->first_binding[name] : 0; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (!is_in(m, b, scope))
            continue;
        if (n == STET_PYTHON_REACHING)
            memmove(out, out + 1, --n * sizeof *out);
        out[n++] = b;
    }
    return n;
}

uint32_t stet_python_reaching(const struct stet_python_module *m, stet_python_ref use,
                              stet_python_ref scope,
                              const struct stet_python_binding *out[STET_PYTHON_REACHING],
                              uint32_t *straight)
{
    const struct stet_python_binding *list[STET_PYTHON_REACHING];
    uint32_t n = bindings_in(m, stet_python_name(&m->ast, use), scope, list), count = 0;
    bool here = stet_python_function_around(m, use) == scope;
    stet_python_ref loop = here ? outermost_loop(m, use) : 0;
    bool covered = false;

    *straight = 1;
    for (uint32_t i = n; i-- > 0;)
        if (is_of_comprehension(m, list[i], use)) {
            out[0] = list[i];
            return 1;
        }
    for (uint32_t i = n; i-- > 0 && !covered;) {
        if (here && !comes_before(m, list[i], use))
            continue;
        out[count++] = list[i];
        covered = here && covers(m, list[i], use);
        if (covered && loop && stet_python_is_inside(m, list[i]->target, loop))
            loop = 0;
    }
    *straight = count;
    for (uint32_t i = 0; here && loop && i < n; i++) /* the loop goes round */
        if (!comes_before(m, list[i], use) && stet_python_is_inside(m, list[i]->target, loop))
            out[count++] = list[i];
    return count;
}

static struct stet_python_value reaching(struct stet_python_flow *x, stet_python_ref use,
                                         stet_python_ref scope)
{
    const struct stet_python_binding *list[STET_PYTHON_REACHING];
    uint32_t straight, n = stet_python_reaching(x->frame->module, use, scope, list, &straight);
    struct stet_python_value v = nothing;

    for (uint32_t i = 0; i < n; i++) {
        v = stet_python_either(v, stet_python_flow_of_binding(x, list[i]));
        v.from |= i || i >= straight ? PY_FROM_TURNS : 0;
    }
    return v;
}

bool stet_python_flow_of_import(struct stet_python_flow *x, struct stet_view target,
                                struct stet_python_value *out)
{
    struct stet_view rest;
    const struct stet_python_module *m =
        stet_python_import(x->sources, x->frame->module, target, &rest);
    uint32_t name = m && rest.len ? stet_intern_find(&m->ast.names, rest) : STET_INTERN_NONE;
    const struct stet_python_frame *before = x->frame;
    struct stet_python_frame frame = {.module = m};

    *out = m && rest.len ? unknown : nothing;
    if (name == STET_INTERN_NONE)
        return m != NULL;
    *out = nothing;
    x->frame = &frame;
    for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next)
        if (!m->bindings.items[i - 1].scope && !m->bindings.items[i - 1].attribute)
            *out =
                stet_python_either(*out, stet_python_flow_of_binding(x, &m->bindings.items[i - 1]));
    x->frame = before;
    return true;
}

struct stet_python_value stet_python_flow_of_name(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_module *m = x->frame->module;
    uint32_t name = stet_python_name(&m->ast, n), position;
    stet_python_ref scope = stet_python_function_around(m, n);

    for (;; scope = stet_python_function_around(m, scope)) {
        stet_python_ref parameter = scope ? stet_python_parameter(m, scope, name, &position) : 0;
        bool bound = has_binding(m, name, scope);
        struct stet_python_value v = bound ? reaching(x, n, scope) : nothing;

        if (parameter)
            v = stet_python_either(v, stet_python_flow_of_parameter(x, scope, parameter, position));
        if (bound || parameter)
            return v;
        if (!scope)
            break;
    }
    if (m->imports[name].len) {
        struct stet_python_value v;

        stet_python_flow_of_import(x, m->imports[name], &v);
        return v;
    }
    return nothing; /* a builtin */
}

/* ---- parameters ---- */

static stet_python_ref default_of(const struct stet_python_module *m, stet_python_ref parameter)
{
    return stet_python_field(&m->ast, parameter, PY_FIELD_VALUE);
}

/* Returns what an annotation denotes: an array, a plain number, or nothing. */
static struct stet_python_value annotated(const struct stet_python_module *m,
                                          stet_python_ref parameter)
{
    stet_python_ref type = stet_python_field(&m->ast, parameter, PY_FIELD_TYPE);
    stet_python_ref name = type ? stet_python_child(&m->ast, type) : 0;
    char room[160];
    bool imported;
    struct stet_view dotted = stet_python_dotted(m, name, room, &imported);
    enum stet_python_effect effect;

    if (!name || !dotted.len)
        return unknown;
    if (imported && stet_python_is_device(stet_python_library(dotted)))
        return (struct stet_python_value){.from = PY_FROM_DEVICE};
    if (imported && stet_python_library(dotted) == PY_GIVES_HANDLE)
        return (struct stet_python_value){.from = PY_FROM_HANDLE};
    effect = imported || !stet_python_defined(m, stet_python_function_around(m, parameter),
                                              stet_python_name(&m->ast, name))
                 ? stet_python_library_type(dotted)
                 : PY_GIVES_UNKNOWN;
    return effect == PY_GIVES_HOST || effect == PY_GIVES_SCALAR ? nothing : unknown;
}

static struct stet_python_value argument_of(struct stet_python_flow *x,
                                            const struct stet_python_frame *f,
                                            stet_python_ref parameter, uint32_t position)
{
    const struct stet_python_frame *before = x->frame;
    const struct stet_python_module *m = f->caller->module;
    struct stet_view name =
        f->module->ast.names.items[stet_python_parameter_name(f->module, parameter)];
    stet_python_ref arg = stet_python_keyword(m, f->call, name);
    struct stet_python_value v;

    if (!arg && position >= f->bound)
        arg = stet_python_argument(m, f->call, position - f->bound);
    if (position < f->bound)
        return nothing;
    x->frame = arg ? f->caller : f;
    v = arg || default_of(f->module, parameter)
            ? stet_python_flow_of(x, arg ? arg : default_of(f->module, parameter))
            : unknown;
    x->frame = before;
    return v;
}

/* Returns what the calls of a function in its own file pass. */
static struct stet_python_value from_sites(struct stet_python_flow *x, stet_python_ref function,
                                           stet_python_ref parameter, uint32_t position,
                                           uint32_t *sites)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_frame *before = x->frame;
    uint32_t name = stet_python_name(&m->ast, stet_python_field(&m->ast, function, PY_FIELD_NAME));
    struct stet_python_value v = nothing;

    *sites = 0;
    for (size_t i = 0; i < m->calls.count && *sites < MOST_SITES; i++) {
        stet_python_ref call = m->calls.items[i];
        struct stet_python_frame caller = {.module = m};
        struct stet_python_frame f = {.module = m, .function = function, .call = call};
        struct stet_python_callee callee;

        if (m->callees.items[i] != name || stet_python_is_inside(m, call, function))
            continue;
        x->frame = &caller;
        callee = stet_python_resolve(x, call);
        f.caller = &caller;
        f.bound = stet_python_class_around(m, function) != 0;
        if (callee.definition == function || (callee.object && f.bound)) {
            v = stet_python_either(v, argument_of(x, &f, parameter, position));
            ++*sites;
        }
        x->frame = before;
    }
    return v;
}

struct stet_python_value stet_python_flow_of_parameter(struct stet_python_flow *x,
                                                       stet_python_ref function,
                                                       stet_python_ref parameter, uint32_t position)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_value v = nothing;
    uint32_t sites = 0;

    for (const struct stet_python_frame *f = x->frame; f; f = f->caller)
        if (f->call && f->function == function && f->module == m)
            return argument_of(x, f, parameter, position);
    if (x->asked == function && x->asked_in == m && position < 64) {
        v.parameters = (uint64_t)1 << position;
        if (x->asked_static & v.parameters)
            return v;
    }
    if (of_definition(x, function).from & PY_FROM_JITTED)
        v.from |= PY_FROM_DEVICE;
    if (stet_python_kind(&m->ast, function) == PY_FUNCTION)
        v = stet_python_either(v, from_sites(x, function, parameter, position, &sites));
    if (!sites) {
        v = stet_python_either(v, annotated(m, parameter));
        v = stet_python_either(v, stet_python_flow_of(x, default_of(m, parameter)));
    }
    return v;
}

/* ---- attributes ---- */

/* `self.name = …` in the class, a field of its body, or `object.name = …` anywhere, when the object
 * may be one of the class. */
static bool is_field(struct stet_python_flow *x, const struct stet_python_module *m,
                     const struct stet_python_binding *b, stet_python_ref class_node)
{
    const struct stet_python_module *where;
    stet_python_ref its;

    if (!b->attribute)
        return b->how != PY_BIND_FUNCTION && stet_python_is_inside(m, b->target, class_node) &&
               stet_python_class_around(m, b->target) == class_node;
    its = stet_python_class_of(x, stet_python_field(&m->ast, b->target, PY_FIELD_OBJECT), &where);
    return !its || (its == class_node && where == m);
}

struct stet_python_value stet_python_flow_of_field(struct stet_python_flow *x,
                                                   const struct stet_python_module *m,
                                                   stet_python_ref class_node, uint32_t name)
{
    const struct stet_python_frame *before = x->frame;
    struct stet_python_frame frame = {.module = m};
    struct stet_python_value v = nothing;
    uint32_t found = 0;

    if (before->module != m)
        x->frame = &frame;
    for (uint32_t i = name ? m->first_binding[name] : 0; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (!is_field(x, m, b, class_node))
            continue;
        v = stet_python_either(v, stet_python_flow_of_binding(x, b));
        v.from |= found++ ? PY_FROM_TURNS : 0;
    }
    x->frame = before;
    return found ? v : unknown;
}
