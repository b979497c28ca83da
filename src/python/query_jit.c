/* Where the function that a waiting call runs was jitted: through names, fields, containers, what
 * functions return, parameters, partials and decorators, in all files of the project. */
#include "python/waiting.h"

enum { MOST_DEPTH = 16, MOST_VISITS = 2000 };

/* A line that jits. */
struct jitting {
    const struct stet_python_module *module;
    stet_python_ref at; /* the call, or the decorator; 0 for none */
};

struct search {
    struct stet_python_waiting *w;
    uint32_t visits;
    bool several;          /* another line may have made it */
    struct jitting called; /* the call, nearest to the waiting one, of a function that jits */
};

static const struct jitting none;

static struct jitting follow(struct search *s, stet_python_ref n, int position, unsigned depth);

static const struct stet_python_frame *frame_of(const struct search *s)
{
    return s->w->q.flow.frame;
}

static struct jitting follow_in(struct search *s, const struct stet_python_frame *frame,
                                stet_python_ref n, int position, unsigned depth)
{
    const struct stet_python_frame *before = frame_of(s);
    struct jitting found;

    s->w->q.flow.frame = frame;
    found = follow(s, n, position, depth + 1);
    s->w->q.flow.frame = before;
    return found;
}

/* ---- definitions ---- */

/* The decorator that jits a function. */
static struct jitting decorated(struct search *s, const struct stet_python_module *m,
                                stet_python_ref definition)
{
    const struct stet_python_frame *before = frame_of(s);
    struct stet_python_frame frame = {.module = m};
    const struct stet_python_transform *t;
    stet_python_ref at = 0, options;
    struct jitting found = none;

    s->w->q.flow.frame = &frame;
    while (!found.at && (t = stet_python_decorator(&s->w->q.flow, definition, &at, &options)))
        if (t->kind == PY_JITS)
            found = (struct jitting){m, at};
    s->w->q.flow.frame = before;
    return found;
}

/* What a call of a function gives: what it returns, or yields to a `with`. */
static struct jitting returned(struct search *s, const struct stet_python_callee *c,
                               stet_python_ref call, int position, unsigned depth)
{
    struct stet_python_frame frame = {.module = c->module,
                                      .function = c->definition,
                                      .call = call,
                                      .caller = frame_of(s),
                                      .bound = c->bound};
    const struct stet_python_ast *a = &c->module->ast;
    stet_python_ref body = stet_python_field(a, c->definition, PY_FIELD_BODY);
    struct jitting found = none;

    if (stet_python_kind(a, c->definition) == PY_LAMBDA)
        return follow_in(s, &frame, body, position, depth);
    for (stet_python_ref n = body; n && n < a->count && a->nodes[n].start < a->nodes[body].end;
         n++) {
        enum stet_python_kind k = stet_python_kind(a, n);
        struct jitting one;

        if ((k != PY_RETURN && k != PY_YIELD) || !stet_python_child(a, n) ||
            stet_python_function_around(c->module, n) != c->definition)
            continue;
        one = follow_in(s, &frame, stet_python_child(a, n), position, depth);
        s->several |= one.at && found.at && one.at != found.at;
        found = found.at ? found : one;
    }
    if (found.at && call)
        s->called = (struct jitting){frame.caller->module, call};
    return found;
}

/* ---- calls ---- */

static struct jitting of_call(struct search *s, stet_python_ref n, int position, unsigned depth)
{
    const struct stet_python_module *m = frame_of(s)->module;
    stet_python_ref f = stet_python_field(&m->ast, n, PY_FIELD_FUNCTION), options, given;
    const struct stet_python_transform *t = stet_python_transform_in(&s->w->q.flow, f, &options);
    struct stet_python_callee c;

    if (t && t->kind == PY_JITS)
        return (struct jitting){m, n};
    given = stet_python_argument(m, n, 0);
    if (t && t->kind != PY_PARTIAL)
        return follow(s, given, -1, depth + 1); /* vmap(jitted), lru_cache(make) */
    c = stet_python_trail_callee(&s->w->trail, n);
    if (c.definition && stet_python_kind(&c.module->ast, c.definition) != PY_CLASS)
        return returned(s, &c, n, position, depth);
    if (c.definition)
        return none;
    if (c.object && c.meaning == PY_MEANS_LOOKS_UP) /* table.get(key) */
        return follow(s, c.object, -1, depth + 1);
    if (c.object) { /* jitted.lower(x).compile() */
        struct jitting found = follow(s, c.object, -1, depth + 1);

        if (found.at)
            return found;
    }
    /* partial(jitted, …), update_wrapper(jitted, f) */
    return given ? follow(s, stet_python_argument_value(m, given), -1, depth + 1) : none;
}

/* ---- names ---- */

static struct jitting of_binding(struct search *s, const struct stet_python_module *m,
                                 const struct stet_python_binding *b, unsigned depth)
{
    switch ((enum stet_python_bind)b->how) {
    case PY_BIND_FUNCTION:
        return decorated(s, m, b->value);
    case PY_BIND_VALUE:
    case PY_BIND_CONTEXT:
    case PY_BIND_ELEMENT:
        return follow(s, b->value, b->position, depth + 1);
    case PY_BIND_AUGMENTED:
    case PY_BIND_CLASS:
        break;
    }
    return none;
}

/* What a call passes for a parameter: by its name, or at its place behind what is bound. */
static struct jitting passed(struct search *s, const struct stet_python_frame *caller,
                             stet_python_ref call, struct stet_view name, uint32_t position,
                             uint32_t bound, unsigned depth)
{
    stet_python_ref given = stet_python_keyword(caller->module, call, name);

    if (!given && position >= bound)
        given = stet_python_argument(caller->module, call, position - bound);
    return given
               ? follow_in(s, caller, stet_python_argument_value(caller->module, given), -1, depth)
               : none;
}

/* The same of all calls in the files that were read; of a constructor, those of its class. */
static struct jitting passed_anywhere(struct search *s, const struct stet_python_module *m,
                                      stet_python_ref function, struct stet_view name,
                                      uint32_t position, unsigned depth)
{
    const struct stet_python_sources *all = s->w->q.flow.sources;
    const struct stet_python_frame *before = frame_of(s);
    struct jitting found = none;

    for (uint32_t k = 0; k < all->count; k++) {
        const struct stet_python_module *where = all->modules[k];

        for (size_t i = 0; where->parsed && i < where->calls.count; i++) {
            stet_python_ref call = where->calls.items[i];
            struct stet_python_frame frame = {.module = where,
                                              .function = stet_python_function_around(where, call)};
            struct jitting one;
            bool runs;

            frame.seen = stet_python_trail_seen(&s->w->trail, where, frame.function);
            s->w->q.flow.frame = &frame;
            runs = stet_python_trail_runs(&s->w->trail, call, m, function);
            s->w->q.flow.frame = before;
            if (!runs || ++s->visits > MOST_VISITS)
                continue;
            one =
                passed(s, &frame, call, name, position, stet_python_is_method(m, function), depth);
            s->several |= one.at && found.at && one.at != found.at;
            found = found.at ? found : one;
        }
    }
    return found;
}

/* What the call of the function passes for its parameter; any call if that is not known. */
static struct jitting of_parameter(struct search *s, stet_python_ref function, uint32_t name,
                                   uint32_t position, unsigned depth)
{
    const struct stet_python_frame *f = frame_of(s);
    const struct stet_python_module *m = f->module;

    if (!f->call && f->seen && f->seen <= s->w->count)
        f = &s->w->frames[f->seen - 1];
    for (; f; f = f->caller)
        if (f->call && f->module == m && f->function == function)
            return passed(s, f->caller, f->call, m->ast.names.items[name], position, f->bound,
                          depth);
    return passed_anywhere(s, m, function, m->ast.names.items[name], position, depth);
}

/* A variable of another file. */
static struct jitting of_import(struct search *s, struct stet_view dotted, unsigned depth)
{
    struct stet_view rest;
    const struct stet_python_module *m =
        stet_python_import(s->w->q.flow.sources, frame_of(s)->module, dotted, &rest);
    uint32_t name = m && rest.len ? stet_intern_find(&m->ast.names, rest) : STET_INTERN_NONE;
    const struct stet_python_frame *before = frame_of(s);
    struct stet_python_frame frame = {.module = m};
    struct jitting found = none;

    if (name == STET_INTERN_NONE)
        return none;
    s->w->q.flow.frame = &frame;
    for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next) {
        struct jitting one = m->bindings.items[i - 1].scope || m->bindings.items[i - 1].attribute
                                 ? none
                                 : of_binding(s, m, &m->bindings.items[i - 1], depth);

        found = one.at ? one : found; /* the last one counts */
    }
    s->w->q.flow.frame = before;
    return found;
}

static struct jitting of_name(struct search *s, stet_python_ref n, unsigned depth)
{
    const struct stet_python_module *m = frame_of(s)->module;
    const struct stet_python_binding *list[STET_PYTHON_REACHING];
    uint32_t name = stet_python_name(&m->ast, n), position, straight;
    stet_python_ref scope = stet_python_function_around(m, n);

    for (;; scope = stet_python_function_around(m, scope)) {
        uint32_t count = stet_python_reaching(m, n, scope, list, &straight);
        struct jitting found = none;

        for (uint32_t i = 0; i < count; i++) {
            struct jitting one = of_binding(s, m, list[i], depth);

            s->several |= one.at && found.at && one.at != found.at;
            found = found.at ? found : one;
        }
        if (found.at)
            return found;
        if (scope && stet_python_parameter(m, scope, name, &position))
            return of_parameter(s, scope, name, position, depth);
        if (count || !scope)
            break;
    }
    return m->imports[name].len ? of_import(s, m->imports[name], depth) : none;
}

/* ---- fields ---- */

/* What assigns a field: of an object of the class, or of any object if that is not known. */
static struct jitting assigned(struct search *s, const struct stet_python_module *m,
                               stet_python_ref class_node, struct stet_view field, unsigned depth)
{
    uint32_t name = stet_intern_find(&m->ast.names, field);
    const struct stet_python_frame *before = frame_of(s);
    struct jitting found = none;

    for (uint32_t i = name == STET_INTERN_NONE ? 0 : m->first_binding[name]; i;
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        stet_python_ref its =
            b->attribute
                ? stet_python_self_class(m, stet_python_field(&m->ast, b->target, PY_FIELD_OBJECT))
                : 0;
        struct stet_python_frame frame = {.module = m, .function = b->scope};
        struct jitting one;

        if (b->attribute ? its && class_node && its != class_node
                         : !class_node || stet_python_class_around(m, b->target) != class_node ||
                               b->how == PY_BIND_FUNCTION)
            continue;
        frame.seen = stet_python_trail_seen(&s->w->trail, m, b->scope);
        s->w->q.flow.frame = &frame;
        one = of_binding(s, m, b, depth);
        s->w->q.flow.frame = before;
        s->several |= one.at && found.at && one.at != found.at;
        found = found.at ? found : one;
    }
    return found;
}

static struct jitting of_field(struct search *s, const struct stet_python_module *m,
                               stet_python_ref class_node, struct stet_view field, unsigned depth)
{
    const struct stet_python_sources *all = s->w->q.flow.sources;
    struct jitting found = m ? assigned(s, m, class_node, field, depth) : none;

    for (uint32_t i = 0; !found.at && i < all->count; i++)
        if (all->modules[i] != m && all->modules[i]->parsed)
            found = assigned(s, all->modules[i], 0, field, depth);
    return found;
}

static struct jitting of_attribute(struct search *s, stet_python_ref n, unsigned depth)
{
    const struct stet_python_module *m = frame_of(s)->module, *where = m;
    stet_python_ref object = stet_python_field(&m->ast, n, PY_FIELD_OBJECT), class_node, method;
    struct stet_view field =
        stet_python_text(&m->ast, stet_python_field(&m->ast, n, PY_FIELD_ATTRIBUTE));
    struct stet_python_callee c = {0};
    struct jitting found;
    char room[160];
    bool imported;
    struct stet_view dotted = stet_python_dotted(m, n, room, &imported);

    if (imported)
        return of_import(s, dotted, depth);
    class_node = stet_python_trail_class(&s->w->trail, object, &where);
    c.module = where;
    method = class_node ? stet_python_trail_method(&s->w->trail, &c.module, class_node, field) : 0;
    if (!method)
        return of_field(s, class_node ? where : m, class_node, field, depth);
    found = decorated(s, c.module, method);
    c.definition = method;
    c.bound = true;
    return found.at ? found : returned(s, &c, 0, -1, depth); /* a property */
}

/* ---- containers ---- */

/* An item of a container as written; any of them for position -1. */
static struct jitting item_of(struct search *s, stet_python_ref n, int position, unsigned depth)
{
    const struct stet_python_ast *a = &frame_of(s)->module->ast;
    struct jitting found = none;
    int at = 0;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        struct jitting one;

        if (stet_python_kind(a, c) == PY_COMMENT || (position >= 0 && at++ != position))
            continue;
        one = follow(
            s, stet_python_kind(a, c) == PY_PAIR ? stet_python_field(a, c, PY_FIELD_VALUE) : c, -1,
            depth + 1);
        s->several |= one.at && found.at && one.at != found.at;
        found = found.at ? found : one;
    }
    return found;
}

/* `table[key] = jax.jit(f)`, wherever the table is written so. */
static struct jitting put_into(struct search *s, stet_python_ref container, unsigned depth)
{
    const struct stet_python_module *m = frame_of(s)->module;
    const struct stet_python_ast *a = &m->ast;
    struct jitting found = none;

    for (stet_python_ref n = 1; n < a->count; n++) {
        stet_python_ref left, value;
        struct jitting one;

        if (stet_python_kind(a, n) != PY_ASSIGNMENT)
            continue;
        left = stet_python_field(a, n, PY_FIELD_LEFT);
        value = stet_python_field(a, n, PY_FIELD_RIGHT);
        if (stet_python_kind(a, left) != PY_SUBSCRIPT || !value ||
            !stet_view_eq(stet_python_text(a, stet_python_field(a, left, PY_FIELD_VALUE)),
                          stet_python_text(a, container)))
            continue;
        one = follow(s, value, -1, depth + 1);
        s->several |= one.at && found.at && one.at != found.at;
        found = found.at ? found : one;
    }
    return found;
}

static struct jitting of_item(struct search *s, stet_python_ref n, unsigned depth)
{
    const struct stet_python_module *m = frame_of(s)->module;
    stet_python_ref container = stet_python_field(&m->ast, n, PY_FIELD_VALUE);
    stet_python_ref index = stet_python_next(&m->ast, container);
    struct jitting found = follow(s, container, (int)stet_python_integer(m, index), depth + 1);

    return found.at ? found : put_into(s, container, depth);
}

/* ---- all ---- */

static struct jitting follow(struct search *s, stet_python_ref n, int position, unsigned depth)
{
    const struct stet_python_ast *a = &frame_of(s)->module->ast;
    struct jitting found;

    n = n ? stet_python_bare(a, n) : 0;
    if (!n || depth > MOST_DEPTH || ++s->visits > MOST_VISITS)
        return none;
    switch (stet_python_kind(a, n)) {
    case PY_CALL:
        return of_call(s, n, position, depth);
    case PY_IDENTIFIER:
        return of_name(s, n, depth);
    case PY_ATTRIBUTE:
        return of_attribute(s, n, depth);
    case PY_SUBSCRIPT:
        return of_item(s, n, depth);
    case PY_CONDITIONAL:
        found = follow(s, stet_python_child(a, n), position, depth + 1);
        return found.at
                   ? found
                   : follow(s, stet_python_next(a, stet_python_next(a, stet_python_child(a, n))),
                            position, depth + 1);
    case PY_LIST:
    case PY_TUPLE:
    case PY_EXPRESSION_LIST:
    case PY_DICTIONARY:
        return item_of(s, n, position, depth);
    case PY_LIST_COMPREHENSION:
    case PY_DICT_COMPREHENSION:
        found = none;
        n = stet_python_field(a, n, PY_FIELD_BODY);
        return follow(
            s, stet_python_kind(a, n) == PY_PAIR ? stet_python_field(a, n, PY_FIELD_VALUE) : n, -1,
            depth + 1);
    case PY_BOOLEAN:
        return item_of(s, n, -1, depth);
    case PY_NAMED_EXPRESSION:
        return follow(s, stet_python_field(a, n, PY_FIELD_VALUE), position, depth + 1);
    case PY_AWAIT:
        return follow(s, stet_python_child(a, n), position, depth + 1);
    default:
        return none;
    }
}

/* The call of jit, or the decorator, that is given the function, wherever the result went. */
static struct jitting of_definition(struct search *s, const struct stet_python_module *m,
                                    stet_python_ref function)
{
    const struct stet_python_frame *before = frame_of(s);
    struct jitting found = decorated(s, m, function);

    for (size_t i = 0; i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i], options, given = stet_python_argument(m, call, 0);
        struct stet_python_frame frame = {.module = m,
                                          .function = stet_python_function_around(m, call)};
        const struct stet_python_transform *t;

        s->w->q.flow.frame = &frame;
        t = stet_python_transform_in(&s->w->q.flow,
                                     stet_python_field(&m->ast, call, PY_FIELD_FUNCTION), &options);
        if (t && t->kind == PY_JITS && given &&
            stet_python_resolve_name(&s->w->q.flow, given).definition == function) {
            s->several |= found.at != 0;
            found = found.at ? found : (struct jitting){m, call};
        }
        s->w->q.flow.frame = before;
    }
    return found;
}

/* The call that is known to run the function, otherwise the first one whose function was jitted. */
static struct jitting of_waiting(struct search *s, const struct stet_python_module *m,
                                 stet_python_ref function)
{
    struct stet_python_waiting *w = s->w;
    const struct stet_python_module *here = w->frames[0].module;
    stet_python_ref n = 0;
    struct jitting found = none;

    while (function && !found.at && stet_python_own_next(here, w->waits[0], &n)) {
        struct stet_python_callee c;

        if (stet_python_kind(&here->ast, n) != PY_CALL)
            continue;
        c = stet_python_trail_callee(&w->trail, n);
        if (c.definition == function && c.module == m)
            found = follow(s, stet_python_field(&here->ast, n, PY_FIELD_FUNCTION), -1, 0);
    }
    n = 0;
    while (!found.at && stet_python_own_next(here, w->waits[0], &n))
        if (stet_python_kind(&here->ast, n) == PY_CALL)
            found = follow(s, stet_python_field(&here->ast, n, PY_FIELD_FUNCTION), -1, 0);
    return found.at || !function ? found : of_definition(s, m, function);
}

struct stet_python_made stet_python_jitted(struct stet_python_sources *sources,
                                           const struct stet_python_stack *stack,
                                           struct stet_view file, uint32_t line, bool caller)
{
    const struct stet_python_module *m = file.len ? stet_python_open(sources, file) : NULL;
    struct stet_python_waiting w;
    struct search s = {.w = &w};
    struct jitting found;

    stet_python_waiting_init(&w, sources, stack);
    if (!w.count)
        return (struct stet_python_made){.line = 0};
    found = of_waiting(&s, m, m ? stet_python_function_at(m, line) : 0);
    if (!found.at)
        return (struct stet_python_made){.line = 0};
    if (caller && s.called.at)
        found = s.called;
    return (struct stet_python_made){stet_view_str(found.module->path),
                                     stet_python_function_name(found.module, found.at),
                                     stet_python_line(found.module, found.at), !s.several};
}
