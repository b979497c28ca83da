/* Finds the line that makes a value of a compiled function differ from call to call. */
#include "python/varying.h"

enum { MOST_FOUND = 16 };

typedef struct stet_python_made made;

static const made none;

/* The function or lambda whose code begins at a line. */
static stet_python_ref function_at(struct stet_python_sources *s,
                                   const struct stet_python_module *m, struct stet_view file,
                                   uint32_t line)
{
    uint32_t def = stet_python_def_line(s, file, line);

    for (stet_python_ref n = 1; n < m->ast.count; n++) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if ((k == PY_FUNCTION || k == PY_LAMBDA) && stet_python_line(m, n) == def)
            return n;
    }
    return 0;
}

/* Counts the lines of a file that call the function; the statement of the last one. */
static stet_python_ref call_sites(struct stet_python_asking *a, const struct stet_python_module *m)
{
    struct stet_python_frame frame = {.module = m};
    stet_python_ref found = 0;
    uint32_t bound;

    a->slice.x->frame = &frame;
    for (size_t i = 0; i < m->calls.count; i++)
        if (stet_python_runs(&a->slice, m->calls.items[i], a->module, a->function, &bound)) {
            found = stet_python_statement_of(m, m->calls.items[i]);
            a->calls++;
        }
    a->slice.x->frame = &a->q.frame;
    return found;
}

void stet_python_ask_compiled(struct stet_python_asking *a, struct stet_python_sources *s,
                              const struct stet_python_compiled *c)
{
    const struct stet_python_module *near = stet_python_open(s, c->call_file), *where = NULL;
    stet_python_ref found = 0, other = 0;

    *a = (struct stet_python_asking){.module = stet_python_open(s, c->file)};
    if (a->module)
        a->function = c->resumed ? stet_python_function_around(
                                       a->module, stet_python_statement_at(a->module, c->line))
                                 : function_at(s, a->module, c->file, c->line);
    a->slice.x = stet_python_ask(&a->q, s, near ? near : a->module);
    if (a->function) {
        where = a->module;
        found = call_sites(a, where);
        other = near && near != where ? call_sites(a, near) : 0;
    }
    if (other) {
        where = near;
        found = other;
    }
    if (c->call_line && near) {
        where = near;
        found = stet_python_statement_at(near, c->call_line);
    } else if (a->calls != 1) {
        found = 0;
    }
    a->slice.statement = found;
    a->slice.module = found ? where : NULL;
    if (found)
        a->q.frame.module = where;
}

made stet_python_made_at(const struct stet_python_module *m, stet_python_ref n)
{
    stet_python_ref statement = stet_python_statement_of(m, n);
    stet_python_ref function = stet_python_function_around(m, n);
    stet_python_ref name = function ? stet_python_field(&m->ast, function, PY_FIELD_NAME) : 0;

    return (made){stet_view_str(m->path),
                  name       ? stet_python_text(&m->ast, name)
                  : function ? STET_VIEW("<lambda>")
                             : STET_VIEW("<module>"),
                  stet_python_line(m, statement ? statement : n)};
}

static made answer(const struct stet_python_varied *v)
{
    stet_python_ref n = v->module && v->line ? stet_python_statement_at(v->module, v->line) : 0;

    return n ? stet_python_made_at(v->module, n) : none;
}

/* ---- arguments ---- */

/* The call of the function in the statement; otherwise the only one that may be it: of nothing that
 * is known to be something else. */
static stet_python_ref call_in(struct stet_python_asking *a, uint32_t *bound)
{
    const struct stet_python_module *m = a->slice.module;
    stet_python_ref n = 0, maybe = 0;
    unsigned several = 0;

    *bound = 0;
    while (stet_python_own_next(m, a->slice.statement, &n)) {
        struct stet_python_callee c;

        if (stet_python_kind(&m->ast, n) != PY_CALL)
            continue;
        if (a->function && stet_python_runs(&a->slice, n, a->module, a->function, bound))
            return n;
        c = stet_python_denoted(&a->slice, stet_python_field(&m->ast, n, PY_FIELD_FUNCTION), -1, 0);
        if (c.definition || c.transform || c.effect != PY_GIVES_NOTHING_KNOWN)
            continue;
        maybe = n;
        several++;
    }
    *bound = a->function && stet_python_is_method(a->module, a->function);
    return several == 1 ? maybe : 0;
}

/* A call from another line than before: the line that made the argument of this one. */
static made made_before(struct stet_python_asking *a, struct stet_python_sources *s,
                        stet_python_ref given)
{
    const struct stet_python_module *m = a->slice.module;
    made here = stet_python_made_at(m, given);
    uint32_t line =
        stet_python_name(&m->ast, given)
            ? stet_python_binding_line(s, here.file, here.line, stet_python_text(&m->ast, given))
            : 0;

    here.line = line ? line : here.line;
    return here;
}

/* Does a function assign one of its parameters? */
static bool is_assigned(const struct stet_python_module *m, stet_python_ref function, uint32_t name)
{
    for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next)
        if (m->bindings.items[i - 1].scope == function && !m->bindings.items[i - 1].attribute)
            return true;
    return false;
}

made stet_python_made_argument(struct stet_python_sources *s, const struct stet_python_compiled *c,
                               struct stet_view parameter, enum stet_python_differs what)
{
    struct stet_python_asking a;
    stet_python_ref call, given;
    struct stet_python_varied v;
    uint32_t bound, name, position = 0;

    stet_python_ask_compiled(&a, s, c);
    if (!a.slice.module || !a.function)
        return none;
    name = stet_intern_find(&a.module->ast.names, parameter);
    if (name == STET_INTERN_NONE || !stet_python_parameter(a.module, a.function, name, &position) ||
        (c->resumed && is_assigned(a.module, a.function, name)))
        return none;
    call = call_in(&a, &bound);
    given = call ? stet_python_given(a.slice.module, call, parameter, position, bound) : 0;
    if (!given)
        return none;
    a.slice.gradient = what == PY_DIFFERS_GRADIENT;
    v = stet_python_varying(&a.slice, given,
                            what == PY_DIFFERS_VALUE ? PY_ASK_VALUE : PY_ASK_ARRAY);
    if (v.how == PY_COUNTS && !v.line)
        return stet_python_made_at(a.slice.module, given);
    if (v.how == PY_STAYS && (c->elsewhere || a.calls > 1))
        return made_before(&a, s, given);
    return answer(&v);
}

/* ---- assignments ---- */

struct found {
    const struct stet_python_module *module;
    stet_python_ref node, value; /* value: what is assigned, or 0 */
};

struct finds {
    struct found items[MOST_FOUND];
    uint32_t count;
};

static void add(struct finds *f, const struct stet_python_module *m, stet_python_ref node,
                stet_python_ref value)
{
    if (f->count < MOST_FOUND)
        f->items[f->count++] = (struct found){m, node, value};
}

/* The nearest before the call in the innermost loop around it that has any, or in its function;
 * otherwise the only one of all. */
static const struct found *nearest(const struct stet_python_asking *a, const struct finds *f)
{
    const struct stet_python_module *m = a->slice.module;
    stet_python_ref call = a->slice.statement;
    stet_python_ref scope = m ? stet_python_function_around(m, call) : 0;

    for (stet_python_ref around = m ? stet_python_loop_around(m, call) : 0; m;
         around = around ? stet_python_loop_around(m, around) : 0) {
        const struct found *before = NULL, *after = NULL;

        for (uint32_t i = 0; i < f->count; i++) {
            const struct found *one = &f->items[i];

            if (one->module != m || stet_python_function_around(m, one->node) != scope ||
                (around && !stet_python_is_inside(m, one->node, around)))
                continue;
            if (one->node < call)
                before = one;
            else
                after = after ? after : one;
        }
        if (before || (around && after))
            return before ? before : after;
        if (!around)
            break;
    }
    return f->count == 1 ? &f->items[0] : NULL;
}

/* Follows the value that is assigned there; the line itself when it does not lead further. */
static made follow(struct stet_python_asking *a, const struct found *f)
{
    struct stet_python_frame frame;
    struct stet_python_varied v;

    if (!f)
        return none;
    frame = (struct stet_python_frame){.module = f->module};
    a->slice.x->frame = &frame;
    v = stet_python_varying(&a->slice, f->value, PY_ASK_VALUE);
    return v.how == PY_VARIES ? answer(&v) : stet_python_made_at(f->module, f->node);
}

/* Calls a visitor for the file of the call and that of the function. */
static void each_module(struct stet_python_asking *a,
                        void (*visit)(struct stet_python_asking *a,
                                      const struct stet_python_module *m, void *context),
                        void *context)
{
    if (a->slice.module)
        visit(a, a->slice.module, context);
    if (a->module && a->module != a->slice.module)
        visit(a, a->module, context);
}

struct attribute {
    struct stet_view name;
    bool own; /* of the object whose method was compiled */
    struct finds *finds;
};

static bool constructs(const struct stet_python_module *m, stet_python_ref n)
{
    stet_python_ref method = stet_python_method_around(m, n);
    stet_python_ref name = method ? stet_python_field(&m->ast, method, PY_FIELD_NAME) : 0;

    return name && stet_python_constructs(stet_python_text(&m->ast, name));
}

/* Can it be an object of the class whose method was compiled? */
static bool may_be_own(struct stet_python_asking *a, const struct stet_python_module *m,
                       stet_python_ref object)
{
    stet_python_ref own = a->function ? stet_python_class_around(a->module, a->function) : 0;
    stet_python_ref self = stet_python_self_class(m, object);
    struct stet_python_frame frame = {.module = m};
    struct stet_python_callee c;

    if (self)
        return self == own && m == a->module;
    a->slice.x->frame = &frame;
    c = stet_python_denoted(&a->slice, object, -1, 0);
    return !c.definition || (c.definition == own && c.module == a->module);
}

static void find_attribute(struct stet_python_asking *a, const struct stet_python_module *m,
                           void *context)
{
    const struct attribute *want = context;
    uint32_t name = stet_intern_find(&m->ast.names, want->name);

    for (uint32_t i = name == STET_INTERN_NONE ? 0 : m->first_binding[name]; i;
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->attribute && b->how <= PY_BIND_AUGMENTED && !constructs(m, b->target) &&
            (!want->own ||
             may_be_own(a, m, stet_python_field(&m->ast, b->target, PY_FIELD_OBJECT))))
            add(want->finds, m, b->target, b->how == PY_BIND_VALUE ? b->value : 0);
    }
    for (size_t i = 0; i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i], text = stet_python_argument(m, call, 1);

        if (text &&
            stet_python_meaning(m, stet_python_field(&m->ast, call, PY_FIELD_FUNCTION)) ==
                PY_MEANS_SETS_ATTRIBUTE &&
            stet_view_eq(stet_python_string(&m->ast, text), want->name))
            add(want->finds, m, call, stet_python_argument(m, call, 2));
    }
}

made stet_python_made_attribute(struct stet_python_sources *s, const struct stet_python_compiled *c,
                                struct stet_view object, struct stet_view name)
{
    struct finds finds = {.count = 0};
    struct attribute want = {.name = name, .finds = &finds};
    struct stet_python_asking a;
    uint32_t number, position = 1;

    stet_python_ask_compiled(&a, s, c);
    number = a.function ? stet_intern_find(&a.module->ast.names, object) : STET_INTERN_NONE;
    want.own = number != STET_INTERN_NONE && stet_python_is_method(a.module, a.function) &&
               stet_python_parameter(a.module, a.function, number, &position) && !position;
    each_module(&a, find_attribute, &want);
    return follow(&a, nearest(&a, &finds));
}

/* ---- variables of modules and enclosing functions ---- */

/* Does the function declare the name with `global` or `nonlocal`? */
static bool declares(const struct stet_python_module *m, stet_python_ref function, uint32_t name,
                     enum stet_python_kind kind)
{
    const struct stet_python_ast *a = &m->ast;

    for (stet_python_ref n = function; n < a->count && a->nodes[n].start < a->nodes[function].end;
         n++)
        if (stet_python_kind(a, n) == kind && stet_python_function_around(m, n) == function)
            for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c))
                if (stet_python_name(a, c) == name)
                    return true;
    return false;
}

/* Assignments of a name in functions that declare it so. */
static void find_declared(const struct stet_python_module *m, uint32_t name,
                          enum stet_python_kind kind, stet_python_ref inside, struct finds *out)
{
    for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (!b->attribute && b->scope && b->how <= PY_BIND_CONTEXT &&
            (!inside || stet_python_is_inside(m, b->scope, inside)) &&
            declares(m, b->scope, name, kind))
            add(out, m, b->target, b->how == PY_BIND_VALUE ? b->value : 0);
    }
}

/* globals(), vars(module), f.__globals__, module.__dict__, or a function that returns one. */
static bool is_namespace(struct stet_python_flow *x, stet_python_ref n, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_frame *before = x->frame;
    const struct stet_python_binding *b = NULL;
    struct stet_python_callee c;
    struct stet_python_frame frame;
    struct stet_view name;
    bool found = false;

    n = n ? stet_python_bare(&m->ast, n) : 0;
    if (!n || depth > 4)
        return false;
    if (stet_python_kind(&m->ast, n) == PY_ATTRIBUTE) {
        name = stet_python_text(&m->ast, stet_python_field(&m->ast, n, PY_FIELD_ATTRIBUTE));
        return stet_view_is(name, "__globals__") || stet_view_is(name, "__dict__");
    }
    if (stet_python_kind(&m->ast, n) == PY_IDENTIFIER) {
        for (uint32_t i = m->first_binding[stet_python_name(&m->ast, n)]; i;
             i = m->bindings.items[i - 1].next)
            if (m->bindings.items[i - 1].how == PY_BIND_VALUE &&
                !m->bindings.items[i - 1].attribute)
                b = &m->bindings.items[i - 1];
        return b && is_namespace(x, b->value, depth + 1);
    }
    if (stet_python_kind(&m->ast, n) != PY_CALL)
        return false;
    c = stet_python_resolve(x, n);
    if (!c.definition)
        return c.meaning == PY_MEANS_NAMESPACE;
    frame = (struct stet_python_frame){.module = c.module};
    x->frame = &frame;
    for (stet_python_ref r = c.definition;
         !found && r < c.module->ast.count &&
         c.module->ast.nodes[r].start < c.module->ast.nodes[c.definition].end;
         r++)
        found = stet_python_kind(&c.module->ast, r) == PY_RETURN &&
                is_namespace(x, stet_python_child(&c.module->ast, r), depth + 1);
    x->frame = before;
    return found;
}

/* Does an object denote the module in which the function is defined? */
static bool is_its_module(struct stet_python_asking *a, const struct stet_python_module *m,
                          stet_python_ref object)
{
    char room[160];
    struct stet_view dotted = stet_python_imported(m, object, room), rest;

    return dotted.len && stet_python_import(a->slice.x->sources, m, dotted, &rest) == a->module &&
           !rest.len;
}

static void find_global(struct stet_python_asking *a, const struct stet_python_module *m,
                        void *context)
{
    const struct attribute *want = context;
    struct stet_python_frame frame = {.module = m};
    uint32_t name = stet_intern_find(&m->ast.names, want->name);
    const struct stet_python_ast *t = &m->ast;

    a->slice.x->frame = &frame;
    if (name != STET_INTERN_NONE && m == a->module) {
        find_declared(m, name, PY_GLOBAL, 0, want->finds);
        for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next) {
            const struct stet_python_binding *b = &m->bindings.items[i - 1];

            if (!b->attribute && !b->scope && b->how <= PY_BIND_CONTEXT &&
                stet_python_loop_around(m, b->target))
                add(want->finds, m, b->target, b->how == PY_BIND_VALUE ? b->value : 0);
        }
    }
    for (uint32_t i = name == STET_INTERN_NONE ? 0 : m->first_binding[name]; i;
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->attribute && b->how <= PY_BIND_AUGMENTED &&
            is_its_module(a, m, stet_python_field(t, b->target, PY_FIELD_OBJECT)))
            add(want->finds, m, b->target, b->how == PY_BIND_VALUE ? b->value : 0);
    }
    for (stet_python_ref n = 1; n < t->count; n++) {
        stet_python_ref left, index;

        if (stet_python_kind(t, n) != PY_ASSIGNMENT && stet_python_kind(t, n) != PY_AUGMENTED)
            continue;
        left = stet_python_field(t, n, PY_FIELD_LEFT);
        index = stet_python_kind(t, left) == PY_SUBSCRIPT
                    ? stet_python_next(t, stet_python_child(t, left))
                    : 0;
        if (index && stet_view_eq(stet_python_string(t, index), want->name) &&
            is_namespace(a->slice.x, stet_python_child(t, left), 0))
            add(want->finds, m, n, stet_python_field(t, n, PY_FIELD_RIGHT));
    }
}

made stet_python_made_global(struct stet_python_sources *s, const struct stet_python_compiled *c,
                             struct stet_view name)
{
    struct finds finds = {.count = 0};
    struct attribute want = {name, false, &finds};
    struct stet_python_asking a;

    stet_python_ask_compiled(&a, s, c);
    each_module(&a, find_global, &want);
    return follow(&a, nearest(&a, &finds));
}

/* The function around the compiled one that has the variable. */
static stet_python_ref owner_of(const struct stet_python_module *m, stet_python_ref function,
                                uint32_t name)
{
    for (function = stet_python_function_around(m, function); function;
         function = stet_python_function_around(m, function))
        if (stet_python_binds(m, function, name))
            return function;
    return 0;
}

made stet_python_made_free(struct stet_python_sources *s, const struct stet_python_compiled *c,
                           struct stet_view text)
{
    struct finds finds = {.count = 0};
    struct stet_python_varied v = {0};
    struct stet_python_frame frame;
    struct stet_python_asking a;
    stet_python_ref owner;
    uint32_t name;

    stet_python_ask_compiled(&a, s, c);
    name = a.function ? stet_intern_find(&a.module->ast.names, text) : STET_INTERN_NONE;
    owner = name == STET_INTERN_NONE ? 0 : owner_of(a.module, a.function, name);
    if (!owner)
        return name == STET_INTERN_NONE ? none : stet_python_made_global(s, c, text);
    find_declared(a.module, name, PY_NONLOCAL, owner, &finds);
    if (finds.count)
        return follow(&a, nearest(&a, &finds));
    frame = (struct stet_python_frame){.module = a.module};
    a.slice.x->frame = &frame;
    for (stet_python_ref n = a.function;
         n < a.module->ast.count &&
         a.module->ast.nodes[n].start < a.module->ast.nodes[a.function].end;
         n++)
        if (stet_python_name(&a.module->ast, n) == name) {
            v = stet_python_varying_name(&a.slice, n, PY_ASK_VALUE);
            break;
        }
    return answer(&v);
}
