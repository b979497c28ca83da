/* Objects: which function or class an expression denotes. */
#include "python/trail.h"

enum { MOST_DENOTED = 12, MOST_RESOLVED = 40000 };

static struct stet_python_callee denoted(struct stet_python_trail *t, stet_python_ref n,
                                         int position, unsigned depth);
static stet_python_ref class_of(struct stet_python_trail *t, stet_python_ref object,
                                const struct stet_python_module **m, unsigned depth);

/* ---- classes ---- */

stet_python_ref stet_python_trail_class_named(const struct stet_python_trail *t,
                                              struct stet_view name,
                                              const struct stet_python_module **m)
{
    const struct stet_python_sources *s = t->x->sources;

    for (uint32_t i = 0; name.len && i < s->count; i++) {
        const struct stet_python_module *where = s->modules[i];
        uint32_t number =
            where->parsed ? stet_intern_find(&where->ast.names, name) : STET_INTERN_NONE;

        for (uint32_t k = number == STET_INTERN_NONE ? 0 : where->first_binding[number]; k;
             k = where->bindings.items[k - 1].next)
            if (where->bindings.items[k - 1].how == PY_BIND_CLASS) {
                *m = where;
                return where->bindings.items[k - 1].value;
            }
    }
    return 0;
}

stet_python_ref stet_python_trail_method(struct stet_python_trail *t,
                                         const struct stet_python_module **m,
                                         stet_python_ref class_node, struct stet_view name)
{
    const struct stet_python_frame *before = t->x->frame;
    const struct stet_python_ast *a = &(*m)->ast;
    stet_python_ref found = stet_python_method(*m, class_node, name);
    stet_python_ref bases = stet_python_field(a, class_node, PY_FIELD_SUPERCLASSES);
    struct stet_python_frame frame = {.module = *m};

    if (found || t->depth > 50)
        return found;
    t->depth++;
    t->x->frame = &frame;
    for (stet_python_ref b = bases ? stet_python_child(a, bases) : 0; b && !found;
         b = stet_python_next(a, b)) {
        struct stet_python_callee c = stet_python_resolve_name(t->x, b);

        if (!c.definition || stet_python_kind(&c.module->ast, c.definition) != PY_CLASS ||
            c.definition == class_node)
            continue;
        found = stet_python_trail_method(t, &c.module, c.definition, name);
        if (found)
            *m = c.module;
    }
    t->x->frame = before;
    t->depth--;
    return found;
}

/* ---- definitions ---- */

static stet_python_ref part_of(const struct stet_python_ast *a, stet_python_ref n, int position)
{
    enum stet_python_kind k = stet_python_kind(a, n);
    stet_python_ref c = stet_python_child(a, n);

    if (position < 0)
        return n;
    if (k != PY_TUPLE && k != PY_EXPRESSION_LIST && k != PY_LIST)
        return 0;
    for (; c && position > 0; position--)
        c = stet_python_next(a, c);
    return c;
}

/* What the only `return` of a function denotes. */
static struct stet_python_callee returned(struct stet_python_trail *t,
                                          const struct stet_python_callee *made,
                                          stet_python_ref call, int position, unsigned depth)
{
    const struct stet_python_frame *before = t->x->frame;
    struct stet_python_frame frame = {.module = made->module,
                                      .function = made->definition,
                                      .call = call,
                                      .caller = before,
                                      .bound = made->bound};
    const struct stet_python_ast *a = &made->module->ast;
    struct stet_python_callee found = {0};
    stet_python_ref value = 0;

    for (stet_python_ref n = made->definition;
         n < a->count && a->nodes[n].start < a->nodes[made->definition].end; n++)
        if (stet_python_kind(a, n) == PY_RETURN && stet_python_child(a, n) &&
            stet_python_function_around(made->module, n) == made->definition)
            value = stet_python_bare(a, stet_python_child(a, n));
    value = value ? part_of(a, value, position) : 0;
    if (!value)
        return found;
    t->x->frame = &frame;
    found = denoted(t, value, -1, depth + 1);
    t->x->frame = before;
    return found;
}

static bool is_class(const struct stet_python_callee *c)
{
    return c->definition && stet_python_kind(&c->module->ast, c->definition) == PY_CLASS;
}

static struct stet_python_callee denoted_call(struct stet_python_trail *t, stet_python_ref n,
                                              int position, unsigned depth)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_callee c =
        denoted(t, stet_python_field(&m->ast, n, PY_FIELD_FUNCTION), -1, depth + 1);
    struct stet_python_callee inner;

    if (is_class(&c) && !c.bound) {
        c.bound = true; /* an object of it */
        return c;
    }
    if (c.definition && !is_class(&c))
        return returned(t, &c, n, position, depth);
    if (c.transform) {
        inner = denoted(t, stet_python_argument(m, n, 0), -1, depth + 1);
        inner.compiled |= c.transform->kind == PY_JITS;
        if (c.transform->kind == PY_PARTIAL)
            inner.given += stet_python_argument_count(m, n) - 1;
        return inner;
    }
    if (c.object) { /* Net().to(device).eval() */
        inner = denoted(t, c.object, -1, depth + 1);
        if (is_class(&inner))
            return inner;
    }
    return (struct stet_python_callee){.module = m, .effect = c.effect, .meaning = c.meaning};
}

/* The only value that a name is given where it is visible, or a field by the methods of a class. */
static const struct stet_python_binding *only_value(const struct stet_python_module *m,
                                                    stet_python_ref n)
{
    const struct stet_python_ast *a = &m->ast;
    bool attribute = stet_python_kind(a, n) == PY_ATTRIBUTE;
    uint32_t name =
        stet_python_name(a, attribute ? stet_python_field(a, n, PY_FIELD_ATTRIBUTE) : n);
    const struct stet_python_binding *found = NULL;

    for (uint32_t i = name ? m->first_binding[name] : 0; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->attribute != attribute || b->how > PY_BIND_ELEMENT ||
            (!attribute && b->scope && !stet_python_is_inside(m, n, b->scope)))
            continue;
        if (stet_python_kind(a, b->value) == PY_NONE_)
            continue;
        if (found && found->how != PY_BIND_ELEMENT)
            return b->how == PY_BIND_VALUE && b->scope == stet_python_function_around(m, n) ? b
                                                                                            : NULL;
        found = b;
    }
    return found && found->how == PY_BIND_VALUE ? found : NULL;
}

/* What is passed for a parameter, if the call is known. */
static struct stet_python_callee denoted_parameter(struct stet_python_trail *t, stet_python_ref n,
                                                   unsigned depth)
{
    const struct stet_python_frame *before = t->x->frame;
    const struct stet_python_module *m = before->module;
    uint32_t name = stet_python_name(&m->ast, n), position;
    struct stet_python_callee c = {0};

    for (const struct stet_python_frame *f = before; f && name && !c.definition; f = f->caller) {
        stet_python_ref argument;

        if (!f->call || f->module != m || !stet_python_parameter(m, f->function, name, &position))
            continue;
        argument = stet_python_keyword(f->caller->module, f->call, m->ast.names.items[name]);
        if (!argument && position >= f->bound)
            argument = stet_python_argument(f->caller->module, f->call, position - f->bound);
        t->x->frame = f->caller;
        if (argument)
            c = denoted(t, stet_python_argument_value(f->caller->module, argument), -1, depth + 1);
        t->x->frame = before;
    }
    return c;
}

/* What the calls of a function, or of its class for a constructor, pass as a parameter. */
static struct stet_python_callee denoted_at_sites(struct stet_python_trail *t, stet_python_ref n,
                                                  unsigned depth)
{
    const struct stet_python_frame *before = t->x->frame;
    const struct stet_python_module *m = before->module;
    const struct stet_python_sources *s = t->x->sources;
    uint32_t name = stet_python_name(&m->ast, n), position;
    stet_python_ref function = stet_python_function_around(m, n), own, class_node;
    struct stet_python_callee c = {0};
    struct stet_view called;

    if (!function || !stet_python_parameter(m, function, name, &position) || before->seen)
        return c;
    own = stet_python_field(&m->ast, function, PY_FIELD_NAME);
    class_node = stet_python_class_around(m, function);
    if (class_node && own && stet_python_constructs(stet_python_text(&m->ast, own)))
        own = stet_python_field(&m->ast, class_node, PY_FIELD_NAME);
    if (!own)
        return c;
    called = stet_python_text(&m->ast, own);
    for (uint32_t k = 0; k < s->count && !c.definition; k++) {
        const struct stet_python_module *where = s->modules[k];
        uint32_t number =
            where->parsed ? stet_intern_find(&where->ast.names, called) : STET_INTERN_NONE;

        for (size_t i = 0; number != STET_INTERN_NONE && i < where->calls.count; i++) {
            stet_python_ref call = where->calls.items[i], argument;
            struct stet_python_frame frame = {.module = where};

            if (where->callees.items[i] != number)
                continue;
            argument = stet_python_keyword(where, call, m->ast.names.items[name]);
            if (!argument && position >= (class_node != 0))
                argument = stet_python_argument(where, call, position - (class_node != 0));
            if (!argument)
                continue;
            frame.function = stet_python_function_around(where, call);
            frame.seen = stet_python_trail_seen(t, where, frame.function);
            t->x->frame = &frame;
            c = denoted(t, stet_python_argument_value(where, argument), -1, depth + 1);
            t->x->frame = before;
            if (c.definition)
                break;
        }
    }
    return c;
}

/* The last value that a method of the class gives a field, other than None. */
static const struct stet_python_binding *
field_value(const struct stet_python_module *m, stet_python_ref class_node, struct stet_view field)
{
    uint32_t name = stet_intern_find(&m->ast.names, field);
    const struct stet_python_binding *found = NULL;

    for (uint32_t i = name == STET_INTERN_NONE ? 0 : m->first_binding[name]; i;
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->attribute && b->how == PY_BIND_VALUE &&
            stet_python_kind(&m->ast, b->value) != PY_NONE_ &&
            stet_python_self_class(m, stet_python_field(&m->ast, b->target, PY_FIELD_OBJECT)) ==
                class_node)
            found = b;
    }
    return found;
}

/* `object.name`: a method of a class of the project, or what a field of it was given. */
static struct stet_python_callee denoted_attribute(struct stet_python_trail *t, stet_python_ref n,
                                                   unsigned depth)
{
    const struct stet_python_frame *before = t->x->frame;
    const struct stet_python_module *m = before->module, *where = m;
    const struct stet_python_ast *a = &m->ast;
    struct stet_view name = stet_python_text(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE));
    stet_python_ref class_node =
        class_of(t, stet_python_field(a, n, PY_FIELD_OBJECT), &where, depth);
    struct stet_python_callee c = {.module = where};
    struct stet_python_frame frame = {.module = where};
    const struct stet_python_binding *b;

    if (!class_node)
        return c;
    c.definition = stet_python_trail_method(t, &c.module, class_node, name);
    c.bound = c.definition != 0 && stet_python_is_method(c.module, c.definition);
    b = c.definition ? NULL : field_value(where, class_node, name);
    if (!b)
        return c;
    frame.function = b->scope;
    frame.seen = stet_python_trail_seen(t, where, b->scope);
    t->x->frame = &frame;
    c = denoted(t, b->value, b->position, depth);
    t->x->frame = before;
    return c;
}

static struct stet_python_callee denoted(struct stet_python_trail *t, stet_python_ref n,
                                         int position, unsigned depth)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_callee c = {.module = m}, other;
    const struct stet_python_binding *b;
    enum stet_python_kind k;

    if (!n || depth > MOST_DENOTED || ++t->resolved > MOST_RESOLVED)
        return c;
    n = stet_python_bare(&m->ast, n);
    k = stet_python_kind(&m->ast, n);
    if (k == PY_CALL)
        return denoted_call(t, n, position, depth);
    if (k == PY_CONDITIONAL) {
        c = denoted(t, stet_python_child(&m->ast, n), -1, depth + 1);
        return c.definition
                   ? c
                   : denoted(t,
                             stet_python_next(
                                 &m->ast, stet_python_next(&m->ast, stet_python_child(&m->ast, n))),
                             -1, depth + 1);
    }
    c = stet_python_resolve_name(t->x, n);
    if (c.definition || k == PY_LAMBDA)
        return c;
    if (k == PY_ATTRIBUTE) {
        other = denoted_attribute(t, n, depth + 1);
        return other.definition || other.meaning ? other : c;
    }
    if (k != PY_IDENTIFIER)
        return c;
    other = denoted_parameter(t, n, depth);
    if (!other.definition)
        other = denoted_at_sites(t, n, depth + 1);
    if (other.definition)
        return other;
    b = only_value(m, n);
    if (b) {
        other = denoted(t, b->value, b->position, depth + 1);
        return other.definition || other.meaning ? other : c;
    }
    return c;
}

struct stet_python_callee stet_python_trail_denoted(struct stet_python_trail *t, stet_python_ref n)
{
    return denoted(t, n, -1, 0);
}

static stet_python_ref class_of(struct stet_python_trail *t, stet_python_ref object,
                                const struct stet_python_module **m, unsigned depth)
{
    const struct stet_python_module *here = t->x->frame->module, *where = here;
    const struct stet_python_ast *a = &here->ast;
    stet_python_ref found, around;
    struct stet_python_callee c;

    *m = here;
    found = stet_python_trail_observed_class(t, object, m);
    if (found)
        return found;
    *m = here;
    found = stet_python_self_class(here, object);
    if (found || depth > MOST_DENOTED)
        return found;
    if (stet_python_kind(a, object) == PY_ATTRIBUTE) {
        around = class_of(t, stet_python_field(a, object, PY_FIELD_OBJECT), &where, depth + 1);
        found = around
                    ? stet_python_trail_observed_field_class(
                          t, where, around,
                          stet_python_text(a, stet_python_field(a, object, PY_FIELD_ATTRIBUTE)), m)
                    : 0;
        if (found)
            return found;
    }
    c = denoted(t, object, -1, depth + 1);
    *m = c.module ? c.module : here;
    return is_class(&c) && c.bound ? c.definition : 0;
}

stet_python_ref stet_python_trail_class(struct stet_python_trail *t, stet_python_ref object,
                                        const struct stet_python_module **m)
{
    return class_of(t, object, m, 0);
}

/* The only method of a name in the project's files that were read. */
static struct stet_python_callee only_method(const struct stet_python_trail *t,
                                             struct stet_view name)
{
    const struct stet_python_sources *s = t->x->sources;
    struct stet_python_callee c = {0};

    for (uint32_t i = 0; i < s->count; i++) {
        const struct stet_python_module *m = s->modules[i];
        uint32_t number =
            stet_python_is_own(m) ? stet_intern_find(&m->ast.names, name) : STET_INTERN_NONE;

        for (uint32_t k = number == STET_INTERN_NONE ? 0 : m->first_binding[number]; k;
             k = m->bindings.items[k - 1].next) {
            const struct stet_python_binding *b = &m->bindings.items[k - 1];

            if (b->how != PY_BIND_FUNCTION || !stet_python_class_around(m, b->value))
                continue;
            if (c.definition)
                return (struct stet_python_callee){0};
            c = (struct stet_python_callee){
                .module = m, .definition = b->value, .bound = true, .guessed = true};
        }
    }
    return c;
}

/* The method that runs when an object of a class is called. */
static struct stet_python_callee calls_object(struct stet_python_trail *t,
                                              const struct stet_python_module *m,
                                              stet_python_ref class_node)
{
    const struct stet_python_called *called;

    for (size_t i = 0; class_node && (called = stet_python_called(i)); i++) {
        const struct stet_python_module *where = m;
        stet_python_ref method =
            stet_python_trail_method(t, &where, class_node, stet_view_str(called->name));

        if (method)
            return (struct stet_python_callee){
                .module = where, .definition = method, .bound = true};
    }
    return (struct stet_python_callee){.module = m};
}

static struct stet_python_callee find_callee(struct stet_python_trail *t, stet_python_ref call)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref f =
        stet_python_bare(&m->ast, stet_python_field(&m->ast, call, PY_FIELD_FUNCTION));
    struct stet_python_callee c = denoted(t, f, -1, 0), other;

    if (is_class(&c) && c.bound) { /* the object is called */
        other = calls_object(t, c.module, c.definition);
        return other.definition ? other : (struct stet_python_callee){.module = m};
    }
    if (!c.definition && stet_python_kind(&m->ast, f) == PY_ATTRIBUTE) { /* self.collate(rows) */
        const struct stet_python_module *where = m;
        stet_python_ref class_node = stet_python_trail_class(t, f, &where);

        other = calls_object(t, where, class_node);
        if (other.definition)
            return other;
    }
    if (c.definition || stet_python_kind(&m->ast, f) != PY_ATTRIBUTE ||
        c.effect > PY_GIVES_UNKNOWN || c.meaning || c.transform)
        return c;
    other = only_method(
        t, stet_python_text(&m->ast, stet_python_field(&m->ast, f, PY_FIELD_ATTRIBUTE)));
    return other.definition ? other : c;
}

/* The same call is resolved many times in one question. What it runs depends on the frame only
 * where a call is being followed. */
struct stet_python_callee stet_python_trail_callee(struct stet_python_trail *t,
                                                   stet_python_ref call)
{
    const struct stet_python_frame *f = t->x->frame;
    struct stet_python_resolved *r =
        &t->known[(call * 31U + (uint32_t)((uintptr_t)f->module >> 5) + f->seen) %
                  STET_PYTHON_RESOLVED];

    if (f->call)
        return find_callee(t, call);
    if (r->module != f->module || r->call != call || r->seen != f->seen)
        *r = (struct stet_python_resolved){f->module, call, f->seen, find_callee(t, call)};
    return r->callee;
}

bool stet_python_trail_runs(struct stet_python_trail *t, stet_python_ref call,
                            const struct stet_python_module *m, stet_python_ref function)
{
    struct stet_python_callee c = stet_python_trail_callee(t, call);
    stet_python_ref name;

    if (!c.definition || c.module != m)
        return false;
    if (c.definition == function)
        return true;
    name = stet_python_field(&m->ast, function, PY_FIELD_NAME);
    return is_class(&c) && stet_python_class_around(m, function) == c.definition && name &&
           stet_python_constructs(stet_python_text(&m->ast, name));
}
