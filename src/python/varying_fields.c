/* Attributes, and the functions that expressions denote. */
#include "python/varying.h"

enum { MOST_DENOTED = 8, MOST_RESOLVED = 50000 };

typedef struct stet_python_varied varied;

static const varied stays;

/* ---- attributes ---- */

/* The method with @property of a class; 0 for none. */
static stet_python_ref property_of(const struct stet_python_module *m, stet_python_ref class_node,
                                   struct stet_view name)
{
    stet_python_ref method = stet_python_method(m, class_node, name);
    stet_python_ref decorated = method ? m->parents[method] : 0, c;

    if (stet_python_kind(&m->ast, decorated) != PY_DECORATED)
        return 0;
    for (c = stet_python_child(&m->ast, decorated); c; c = stet_python_next(&m->ast, c))
        if (stet_python_kind(&m->ast, c) == PY_DECORATOR &&
            stet_view_ends(stet_python_text(&m->ast, stet_python_child(&m->ast, c)), "property"))
            return method;
    return 0;
}

static bool in_constructor(const struct stet_python_module *m, stet_python_ref n)
{
    stet_python_ref method = stet_python_method_around(m, n);
    stet_python_ref name = method ? stet_python_field(&m->ast, method, PY_FIELD_NAME) : 0;

    return name && stet_python_constructs(stet_python_text(&m->ast, name));
}

/* What assigns an attribute of a class after the object was made; otherwise while it is made. */
static varied field_of(struct stet_python_slice *s, const struct stet_python_module *m,
                       stet_python_ref class_node, struct stet_view attribute,
                       enum stet_python_asked asked)
{
    const struct stet_python_frame *before = s->x->frame;
    struct stet_python_frame frame = {.module = m};
    uint32_t name = stet_intern_find(&m->ast.names, attribute);
    varied later = stays, made = stays;

    if (name == STET_INTERN_NONE)
        return stays;
    if (before->module != m)
        s->x->frame = &frame;
    for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        varied v;

        if (!b->attribute ||
            stet_python_self_class(m, stet_python_field(&m->ast, b->target, PY_FIELD_OBJECT)) !=
                class_node)
            continue;
        v = stet_python_varying(s, b->value, asked);
        if (in_constructor(m, b->target)) {
            made = stet_python_varied_join(s, b->target, made, v);
            continue;
        }
        if (b->how == PY_BIND_AUGMENTED || v.how == PY_COUNTS)
            v = stet_python_varied_at(s, b->target, PY_VARIES);
        later = stet_python_varied_join(s, b->target, later, v);
    }
    s->x->frame = before;
    return later.how ? later : made;
}

/* `knobs.rate = …` before the use, in the same function: the nearest one. */
static const struct stet_python_binding *assigned_before(const struct stet_python_module *m,
                                                         stet_python_ref n, uint32_t name)
{
    const struct stet_python_ast *a = &m->ast;
    struct stet_view object = stet_python_text(a, stet_python_field(a, n, PY_FIELD_OBJECT));
    const struct stet_python_binding *found = NULL;

    for (uint32_t i = name ? m->first_binding[name] : 0; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->attribute && b->scope == stet_python_function_around(m, n) &&
            m->ast.nodes[b->value].end <= m->ast.nodes[n].start &&
            stet_view_eq(stet_python_text(a, stet_python_field(a, b->target, PY_FIELD_OBJECT)),
                         object))
            found = b;
    }
    return found;
}

varied stet_python_varying_attribute(struct stet_python_slice *s, stet_python_ref n,
                                     enum stet_python_asked asked)
{
    const struct stet_python_module *m = s->x->frame->module, *where;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref object = stet_python_field(a, n, PY_FIELD_OBJECT), class_node, method;
    stet_python_ref attribute = stet_python_field(a, n, PY_FIELD_ATTRIBUTE);
    struct stet_view name = stet_python_text(a, attribute);
    const struct stet_python_binding *b;
    enum stet_python_effect effect = stet_python_library_attribute(name);
    char room[160];
    varied v;

    if (stet_python_imported(m, n, room).len)
        return stays;
    b = assigned_before(m, n, stet_python_name(a, attribute));
    if (b && b->how == PY_BIND_VALUE) {
        v = stet_python_varying(s, b->value, asked);
        return v.how == PY_COUNTS ? stet_python_varied_at(s, b->target, PY_VARIES) : v;
    }
    class_node = stet_python_class_of(s->x, object, &where);
    method = class_node ? property_of(where, class_node, name) : 0;
    if (method) {
        struct stet_python_frame frame = {
            .module = where, .function = method, .caller = s->x->frame};

        return stet_python_varying_returns(s, &frame, asked);
    }
    if (class_node)
        return field_of(s, where, class_node, name, asked);
    return stet_python_varying(s, object, effect == PY_GIVES_SIZE ? PY_ASK_ARRAY : asked);
}

/* ---- functions ---- */

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
static struct stet_python_callee returned(struct stet_python_slice *s,
                                          const struct stet_python_callee *made, int position,
                                          unsigned depth)
{
    const struct stet_python_frame *before = s->x->frame;
    struct stet_python_frame frame = {.module = made->module};
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
    s->x->frame = &frame;
    found = stet_python_denoted(s, value, -1, depth + 1);
    s->x->frame = before;
    return found;
}

static struct stet_python_callee denoted_call(struct stet_python_slice *s, stet_python_ref n,
                                              int position, unsigned depth)
{
    struct stet_python_callee c = stet_python_resolve(s->x, n), inner;

    if (c.definition && stet_python_kind(&c.module->ast, c.definition) == PY_CLASS) {
        c.bound = true; /* an object of it */
        return c;
    }
    if (c.definition)
        return returned(s, &c, position, depth);
    if (c.transform)
        return stet_python_denoted(s, stet_python_argument(s->x->frame->module, n, 0), -1,
                                   depth + 1);
    if (c.object) { /* Net().to(device).eval() */
        inner = stet_python_denoted(s, c.object, -1, depth + 1);
        if (inner.definition && stet_python_kind(&inner.module->ast, inner.definition) == PY_CLASS)
            return inner;
    }
    return (struct stet_python_callee){.effect = c.effect};
}

/* The only value that a name, or an attribute of self, is given where it is visible. */
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

        if (b->attribute != attribute ||
            (!attribute && b->scope && !stet_python_is_inside(m, n, b->scope)))
            continue;
        if (found)
            return NULL;
        found = b;
    }
    return found && found->how == PY_BIND_VALUE ? found : NULL;
}

struct stet_python_callee stet_python_denoted(struct stet_python_slice *s, stet_python_ref n,
                                              int position, unsigned depth)
{
    const struct stet_python_module *m = s->x->frame->module;
    struct stet_python_callee c = {0};
    const struct stet_python_binding *b;

    if (!n || depth > MOST_DENOTED)
        return c;
    n = stet_python_bare(&m->ast, n);
    if (stet_python_kind(&m->ast, n) == PY_CALL)
        return denoted_call(s, n, position, depth);
    c = stet_python_resolve_name(s->x, n);
    if (c.definition)
        return c;
    b = only_value(m, n);
    return b ? stet_python_denoted(s, b->value, b->position, depth + 1) : c;
}

bool stet_python_runs(struct stet_python_slice *s, stet_python_ref call,
                      const struct stet_python_module *module, stet_python_ref function,
                      uint32_t *bound)
{
    const struct stet_python_module *m = s->x->frame->module;
    struct stet_python_callee c;

    if (++s->resolved > MOST_RESOLVED) {
        s->steps = UINT32_MAX / 2; /* no answer to this question */
        return false;
    }
    c = stet_python_denoted(s, stet_python_field(&m->ast, call, PY_FIELD_FUNCTION), -1, 0);
    if (!c.definition || c.module != module)
        return false;
    *bound = stet_python_is_method(module, function) ? 1 : 0;
    if (c.definition == function)
        return true;
    return c.bound && stet_python_kind(&module->ast, c.definition) == PY_CLASS &&
           stet_python_class_around(module, function) == c.definition;
}

stet_python_ref stet_python_given(const struct stet_python_module *m, stet_python_ref call,
                                  struct stet_view parameter, uint32_t position, uint32_t bound)
{
    stet_python_ref argument = stet_python_keyword(m, call, parameter);

    if (argument)
        return stet_python_argument_value(m, argument);
    return position < bound ? 0 : stet_python_argument(m, call, position - bound);
}
