/* Fields: what assigns an attribute of an object, or made the object with it. */
#include "python/trail.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

static bool in_constructor(const struct stet_python_module *m, stet_python_ref n)
{
    stet_python_ref method = stet_python_method_around(m, n);
    stet_python_ref name = method ? stet_python_field(&m->ast, method, PY_FIELD_NAME) : 0;

    return name && stet_python_constructs(stet_python_text(&m->ast, name));
}

/* Is it the name, or the last part of `blocks.Name`? */
static bool is_last_part(struct stet_view dotted, struct stet_view name)
{
    const char *dot = dotted.len ? memrchr(dotted.ptr, '.', dotted.len) : NULL;

    if (dot)
        dotted = stet_view_of(dot + 1, (size_t)(dotted.ptr + dotted.len - dot - 1));
    return stet_view_eq(dotted, name);
}

/* Is one class the other, or derived from it by name? */
static bool is_related(const struct stet_python_module *m, stet_python_ref class_node,
                       const struct stet_python_module *other_m, stet_python_ref other)
{
    struct stet_view name, base;
    stet_python_ref bases;

    if (m == other_m && class_node == other)
        return true;
    name = stet_python_text(&m->ast, stet_python_field(&m->ast, class_node, PY_FIELD_NAME));
    bases = stet_python_field(&other_m->ast, other, PY_FIELD_SUPERCLASSES);
    for (stet_python_ref b = bases ? stet_python_child(&other_m->ast, bases) : 0; b;
         b = stet_python_next(&other_m->ast, b)) {
        base = stet_python_text(&other_m->ast, b);
        if (name.len && is_last_part(base, name))
            return true;
    }
    return false;
}

/* Can the object of `object.field = …` be one of the class? A class of 0 is any. */
static bool may_be_of(struct stet_python_trail *t, const struct stet_python_module *where,
                      stet_python_ref object, const struct stet_python_module *m,
                      stet_python_ref class_node)
{
    const struct stet_python_frame *before = t->x->frame;
    stet_python_ref function = stet_python_function_around(where, object);
    struct stet_python_frame frame = {
        .module = where, .function = function, .seen = stet_python_trail_seen(t, where, function)};
    stet_python_ref self = stet_python_self_class(where, object), its;
    const struct stet_python_module *its_module;

    if (!class_node)
        return true;
    if (self)
        return is_related(m, class_node, where, self) || is_related(where, self, m, class_node);
    t->x->frame = &frame;
    its = stet_python_trail_class(t, object, &its_module);
    t->x->frame = before;
    return !its || is_related(m, class_node, its_module, its);
}

/* setattr(object, "field", value); setattr(object, field, value) for an empty name. */
static void add_setattr(struct stet_python_events *list, const struct stet_python_module *m,
                        struct stet_view name)
{
    for (size_t i = 0; i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i], text = stet_python_argument(m, call, 1);

        if (text && stet_view_eq(stet_python_string(&m->ast, text), name) &&
            (name.len || stet_python_kind(&m->ast, text) != PY_STRING) &&
            !in_constructor(m, call) &&
            stet_python_meaning(m, stet_python_field(&m->ast, call, PY_FIELD_FUNCTION)) ==
                PY_MEANS_SETS_ATTRIBUTE)
            stet_python_events_add(
                list, (struct stet_python_event){m, NULL, call, stet_python_argument(m, call, 2)});
    }
}

/* All that assigns a field in the files that were read; while an object is made, or later. */
static void events_of(struct stet_python_trail *t, const struct stet_python_module *m,
                      stet_python_ref class_node, struct stet_view field, bool making,
                      struct stet_python_events *list)
{
    const struct stet_python_sources *s = t->x->sources;
    struct stet_python_events calls = {.count = 0};

    list->count = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        const struct stet_python_module *where = s->modules[k];
        uint32_t name =
            where->parsed ? stet_intern_find(&where->ast.names, field) : STET_INTERN_NONE;

        for (uint32_t i = name == STET_INTERN_NONE ? 0 : where->first_binding[name]; i;
             i = where->bindings.items[i - 1].next) {
            const struct stet_python_binding *b = &where->bindings.items[i - 1];

            if (b->attribute && b->how <= PY_BIND_CONTEXT &&
                in_constructor(where, b->target) == making &&
                may_be_of(t, where, stet_python_field(&where->ast, b->target, PY_FIELD_OBJECT), m,
                          class_node))
                stet_python_events_add(list, (struct stet_python_event){where, b, b->target, 0});
        }
        if (making || name == STET_INTERN_NONE)
            continue;
        calls.count = 0;
        stet_python_events_add_calls(t, &calls, where, name, true);
        for (uint32_t i = 0; i < calls.count; i++)
            if (!in_constructor(where, calls.items[i].node))
                stet_python_events_add(list, calls.items[i]);
        add_setattr(list, where, field);
    }
}

/* What the constructor gives it, whoever calls that. */
static verdict made_with(struct stet_python_trail *t, const struct stet_python_events *list)
{
    const struct stet_python_frame *before = t->x->frame;
    verdict v = stays;

    for (uint32_t i = 0; i < list->count; i++) {
        const struct stet_python_event *e = &list->items[i];
        struct stet_python_frame frame = {
            .module = e->module, .function = stet_python_function_around(e->module, e->node)};
        verdict one;

        t->x->frame = &frame;
        for (const struct stet_python_frame *f = before; f; f = f->caller)
            if (f->module == frame.module && f->function == frame.function)
                frame = *f;
        one = stet_python_event_value(t, e);
        v = stet_python_verdict_join(t, e->node, v, one);
    }
    t->x->frame = before;
    return v;
}

/* The annotated fields of a dataclass or a named tuple in order; the position of one, or -1. */
static int position_in_body(const struct stet_python_module *m, stet_python_ref class_node,
                            struct stet_view field)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref body = stet_python_field(a, class_node, PY_FIELD_BODY);
    int at = 0;

    for (stet_python_ref s = body ? stet_python_child(a, body) : 0; s; s = stet_python_next(a, s)) {
        stet_python_ref assigned =
            stet_python_kind(a, s) == PY_EXPRESSION_STATEMENT ? stet_python_child(a, s) : 0;

        if (stet_python_kind(a, assigned) != PY_ASSIGNMENT ||
            !stet_python_field(a, assigned, PY_FIELD_TYPE))
            continue;
        if (stet_view_eq(stet_python_text(a, stet_python_field(a, assigned, PY_FIELD_LEFT)), field))
            return at;
        at++;
    }
    return -1;
}

static verdict at_event(struct stet_python_trail *t, const struct stet_python_event *e)
{
    const struct stet_python_frame *before = t->x->frame;
    struct stet_python_frame frame = {.module = e->module};
    verdict v;

    t->x->frame = &frame;
    v = stet_python_verdict_at(t, e->node, PY_VARIES);
    t->x->frame = before;
    return v;
}

/* What is assigned to a field whose name is computed, in any file. */
static verdict computed_field(struct stet_python_trail *t)
{
    const struct stet_python_sources *s = t->x->sources;
    struct stet_python_events list = {.count = 0};
    verdict v;

    for (uint32_t k = 0; k < s->count; k++)
        if (s->modules[k]->parsed)
            add_setattr(&list, s->modules[k], (struct stet_view){0});
    v = stet_python_events_remote(t, &list);
    if (v.how < PY_COUNTS && list.count == 1)
        v = at_event(t, &list.items[0]);
    v.guessed = true;
    return v;
}

/* What the constructor gives a field: the line that does, if nothing differs there. */
static verdict begun_with(struct stet_python_trail *t, const struct stet_python_module *m,
                          stet_python_ref class_node, struct stet_view name)
{
    struct stet_python_events list;
    verdict v;

    events_of(t, m, class_node, name, true, &list);
    v = made_with(t, &list);
    if (v.how >= PY_COUNTS || !list.count)
        return v;
    return at_event(t, &list.items[0]);
}

verdict stet_python_trail_field(struct stet_python_trail *t, const struct stet_python_module *m,
                                stet_python_ref class_node, struct stet_view name)
{
    struct stet_python_events list;
    verdict v;

    if (t->depth > 56)
        return (verdict){.how = PY_MAY_VARY};
    t->depth++;
    if (t->began && class_node) {
        v = begun_with(t, m, class_node, name);
        t->depth--;
        return v;
    }
    events_of(t, m, class_node, name, false, &list);
    v = stet_python_events_remote(t, &list);
    if (v.how < PY_COUNTS && class_node) {
        events_of(t, m, class_node, name, true, &list);
        v = stet_python_verdict_join(t, class_node, v, made_with(t, &list));
    }
    if (v.how < PY_COUNTS && t->numbers)
        v = stet_python_verdict_join(t, class_node, v, computed_field(t));
    t->depth--;
    return v;
}

verdict stet_python_trail_any_field(struct stet_python_trail *t, struct stet_view name)
{
    return stet_python_trail_field(t, t->x->frame->module, 0, name);
}

/* ---- a use ---- */

/* The method with @property of a class; 0 for none. */
static stet_python_ref property_of(struct stet_python_trail *t, const struct stet_python_module **m,
                                   stet_python_ref class_node, struct stet_view name)
{
    stet_python_ref method = stet_python_trail_method(t, m, class_node, name), c;
    const struct stet_python_ast *a = &(*m)->ast;
    stet_python_ref decorated = method ? (*m)->parents[method] : 0;

    if (stet_python_kind(a, decorated) != PY_DECORATED)
        return 0;
    for (c = stet_python_child(a, decorated); c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_DECORATOR &&
            stet_view_ends(stet_python_text(a, stet_python_child(a, c)), "property"))
            return method;
    return 0;
}

/* `knobs.rate = …` before the use in the same function, of the same object as it is written. */
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

/* A variable of a module: `settings.RATE`. */
static bool of_module(struct stet_python_trail *t, struct stet_view dotted, verdict *v)
{
    struct stet_view rest;
    const struct stet_python_module *m =
        stet_python_import(t->x->sources, t->x->frame->module, dotted, &rest);
    uint32_t name = m && rest.len && !memchr(rest.ptr, '.', rest.len)
                        ? stet_intern_find(&m->ast.names, rest)
                        : STET_INTERN_NONE;

    *v = stays;
    if (name == STET_INTERN_NONE)
        return m == NULL || !rest.len;
    *v = stet_python_trail_global(t, m, name);
    return true;
}

/* What a library's object gives: the sizes or the type of an array, or a part of it. */
static verdict of_library(struct stet_python_trail *t, stet_python_ref n, stet_python_ref object,
                          struct stet_view name)
{
    const struct stet_python_module *m = t->x->frame->module;
    verdict v;

    switch (stet_python_library_attribute(name)) {
    case PY_GIVES_SIZE:
        if (t->cancels_in == m && t->cancels == stet_python_name(&m->ast, object))
            return stays;
        v = stet_python_trail_ask(t, object, PY_OF_SIZE);
        return v.how ? v : stet_python_verdict_at(t, n, PY_MAY_VARY);
    case PY_GIVES_RANK:
        return stet_python_trail_ask(t, object, PY_OF_RANK);
    case PY_GIVES_TYPE:
        return stet_python_trail_ask(t, object, PY_OF_TYPE);
    case PY_GIVES_THROUGH:
        return stet_python_trail_of(t, object);
    default:
        v = stet_python_trail_into(t, object, (struct stet_python_part){PY_AT_FIELD, -1, name});
        return v.how >= PY_COUNTS
                   ? v
                   : stet_python_verdict_join(t, n, v, stet_python_trail_any_field(t, name));
    }
}

verdict stet_python_trail_attribute(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module, *where = m, *its;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref object = stet_python_field(a, n, PY_FIELD_OBJECT), class_node, method;
    stet_python_ref attribute = stet_python_field(a, n, PY_FIELD_ATTRIBUTE);
    struct stet_view name = stet_python_text(a, attribute), dotted;
    enum stet_python_seen seen = stet_python_trail_watch(t, n);
    const struct stet_python_binding *b;
    char room[160];
    verdict v;

    if (seen == PY_SEEN_SAME)
        return stays;
    dotted = stet_python_imported(m, n, room);
    if (dotted.len && of_module(t, dotted, &v))
        return v;
    b = assigned_before(m, n, stet_python_name(a, attribute));
    if (b && b->how == PY_BIND_VALUE) {
        v = stet_python_verdict_used(t, b->target, stet_python_trail_of(t, b->value));
        if (v.how >= PY_COUNTS)
            return v;
    }
    class_node = stet_python_trail_class(t, object, &where);
    if (class_node && seen == PY_UNSEEN)
        seen = stet_python_trail_watch_field(t, where, class_node, name);
    if (seen == PY_SEEN_SAME)
        return stays;
    its = where; /* that of the property may be another one */
    if (!class_node) {
        v = of_library(t, n, object, name);
    } else if ((method = property_of(t, &its, class_node, name))) {
        struct stet_python_frame frame = {
            .module = its, .function = method, .call = n, .caller = t->x->frame, .bound = 1};

        v = stet_python_trail_returns(t, &frame);
    } else {
        v = stet_python_trail_field(t, where, class_node, name);
        if (v.how < PY_COUNTS && (position_in_body(where, class_node, name) >= 0 || !v.how))
            v = stet_python_verdict_join(
                t, n, v,
                stet_python_trail_into(t, object,
                                       (struct stet_python_part){PY_AT_FIELD, -1, name}));
    }
    v.exact |= seen == PY_SEEN_EXACT && v.how >= PY_COUNTS;
    return v;
}

/* ---- an object as it is made ---- */

verdict stet_python_trail_made(struct stet_python_trail *t, stet_python_ref call,
                               const struct stet_python_callee *c)
{
    const struct stet_python_module *m = c->module, *here = t->x->frame->module;
    struct stet_python_part head = *stet_python_trail_head(t);
    stet_python_ref init = stet_python_trail_method(t, &m, c->definition, STET_VIEW("__init__"));
    struct stet_python_frame frame = {
        .module = m, .function = init, .call = call, .caller = t->x->frame, .bound = 1};
    const struct stet_python_frame *before = t->x->frame;
    struct stet_python_events list;
    stet_python_ref given;
    int position;
    verdict v = stays;

    t->parts--;
    events_of(t, c->module, c->definition, head.name, false, &list);
    v = stet_python_events_remote(t, &list);
    if (v.how >= PY_COUNTS) {
        t->path[t->parts++] = head;
        return v;
    }
    if (init) {
        events_of(t, c->module, c->definition, head.name, true, &list);
        t->x->frame = &frame;
        v = made_with(t, &list);
        t->x->frame = before;
    } else {
        position = position_in_body(c->module, c->definition, head.name);
        given = stet_python_keyword(here, call, head.name);
        if (!given && position >= 0)
            given = stet_python_argument(here, call, (uint32_t)position);
        if (given)
            v = stet_python_trail_of(t, stet_python_argument_value(here, given));
    }
    t->path[t->parts++] = head;
    return v;
}
