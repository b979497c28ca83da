/* Variables of modules: all that assigns one, also through the namespace of its module. */
#include "python/trail.h"

/* globals(), vars(module), f.__globals__, module.__dict__, or a function that returns one. */
static bool is_namespace(struct stet_python_flow *x, stet_python_ref n, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_frame *before = x->frame;
    const struct stet_python_binding *b;
    struct stet_python_callee c;
    struct stet_python_frame frame;
    bool found = false;

    n = n ? stet_python_bare(&m->ast, n) : 0;
    if (!n || depth > 4)
        return false;
    if (stet_python_kind(&m->ast, n) == PY_ATTRIBUTE) {
        struct stet_view name =
            stet_python_text(&m->ast, stet_python_field(&m->ast, n, PY_FIELD_ATTRIBUTE));

        return stet_view_is(name, "__globals__") || stet_view_is(name, "__dict__");
    }
    b = stet_python_kind(&m->ast, n) == PY_IDENTIFIER ? stet_python_only_binding(m, n) : NULL;
    if (b && b->how == PY_BIND_VALUE)
        return is_namespace(x, b->value, depth + 1);
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

/* globals()["NAME"] = value, in all files */
static void add_namespaces(struct stet_python_trail *t, struct stet_view name,
                           struct stet_python_events *list)
{
    const struct stet_python_frame *before = t->x->frame;
    const struct stet_python_sources *s = t->x->sources;

    for (uint32_t k = 0; k < s->count; k++) {
        const struct stet_python_module *m = s->modules[k];
        const struct stet_python_ast *a = &m->ast;
        struct stet_python_frame frame = {.module = m};

        t->x->frame = &frame;
        for (stet_python_ref n = 1; m->parsed && n < a->count; n++) {
            stet_python_ref left = stet_python_kind(a, n) == PY_ASSIGNMENT
                                       ? stet_python_field(a, n, PY_FIELD_LEFT)
                                       : 0;
            stet_python_ref index = stet_python_kind(a, left) == PY_SUBSCRIPT
                                        ? stet_python_next(a, stet_python_child(a, left))
                                        : 0;

            if (index && stet_view_eq(stet_python_string(a, index), name) &&
                is_namespace(t->x, stet_python_child(a, left), 0))
                stet_python_events_add(
                    list, (struct stet_python_event){m, NULL, n,
                                                     stet_python_field(a, n, PY_FIELD_RIGHT)});
        }
        t->x->frame = before;
    }
}

/* `settings.NAME = value` in other files, where the object is the module. */
static void add_assigned(struct stet_python_trail *t, const struct stet_python_module *of,
                         struct stet_view name, struct stet_python_events *list)
{
    const struct stet_python_sources *s = t->x->sources;

    for (uint32_t k = 0; k < s->count; k++) {
        const struct stet_python_module *m = s->modules[k];
        uint32_t number = m->parsed ? stet_intern_find(&m->ast.names, name) : STET_INTERN_NONE;

        for (uint32_t i = number == STET_INTERN_NONE ? 0 : m->first_binding[number]; i;
             i = m->bindings.items[i - 1].next) {
            const struct stet_python_binding *b = &m->bindings.items[i - 1];
            struct stet_view dotted = {0}, rest;
            char room[160];

            if (b->attribute && b->how <= PY_BIND_AUGMENTED)
                dotted = stet_python_imported(
                    m, stet_python_field(&m->ast, b->target, PY_FIELD_OBJECT), room);
            if (dotted.len && stet_python_import(t->x->sources, m, dotted, &rest) == of &&
                !rest.len)
                stet_python_events_add(list, (struct stet_python_event){m, b, b->target, 0});
        }
    }
}

void stet_python_events_add_globals(struct stet_python_trail *t, const struct stet_python_module *m,
                                    uint32_t name, struct stet_python_events *list)
{
    add_assigned(t, m, m->ast.names.items[name], list);
    add_namespaces(t, m->ast.names.items[name], list);
}
