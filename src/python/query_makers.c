/* Finds the statement that made a value: from the one that assigns or hands it over, back through
 * names, iterators, copies to a device and functions that give their argument back. */
#include "python/varying.h"

enum { DEEPEST = 24, MOST_STEPS = 4096 };

static struct stet_python_maker at(const struct stet_python_module *m, stet_python_ref n)
{
    return (struct stet_python_maker){
        .module = m, .line = stet_python_line(m, stet_python_statement_of(m, n)), .ours = true};
}

stet_python_ref stet_python_taken_from(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_module *m = x->frame->module;

    return stet_python_resolve(x, call).meaning == PY_MEANS_TAKES_NEXT
               ? stet_python_argument(m, call, 0)
               : 0;
}

static bool is_conversion(enum stet_python_meaning how)
{
    return how == PY_MEANS_CONVERTS || how == PY_MEANS_ASSEMBLES;
}

/* Does the expression denote a function that converts its argument: jnp.asarray, or a lambda that
 * calls it? */
static bool converts(const struct stet_python_flow *x, stet_python_ref f)
{
    const struct stet_python_module *m = x->frame->module;

    f = stet_python_bare(&m->ast, f);
    if (stet_python_kind(&m->ast, f) == PY_LAMBDA)
        f = stet_python_bare(&m->ast, stet_python_field(&m->ast, f, PY_FIELD_BODY));
    if (stet_python_kind(&m->ast, f) == PY_CALL)
        f = stet_python_field(&m->ast, f, PY_FIELD_FUNCTION);
    return is_conversion(stet_python_meaning(m, f));
}

/* Returns what a call of a library passes on: x of jnp.asarray(x) and of tree.map(jnp.asarray, x).
 */
static stet_python_ref converted(struct stet_python_flow *x, stet_python_ref call,
                                 const struct stet_python_callee *c)
{
    const struct stet_python_module *m = x->frame->module;
    uint32_t count = stet_python_argument_count(m, call);

    if (c->transform && c->transform->kind == PY_MAPS)
        return count == 2 && converts(x, stet_python_argument(m, call, 0))
                   ? stet_python_argument(m, call, 1)
                   : 0;
    if (!converts(x, call) || (count > 1 && !x->sizes))
        return 0;
    return stet_python_argument(m, call, c->meaning == PY_MEANS_ASSEMBLES);
}

/* A function that gives its argument back, changed in one place at most: that place, or the maker
 * of the argument. */
static struct stet_python_maker through_function(struct stet_python_flow *x, stet_python_ref call,
                                                 const struct stet_python_callee *c, unsigned depth)
{
    const struct stet_python_module *m = c->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref f = c->definition, change = 0;
    uint32_t name = 0, position = 0, changes = 0;

    for (stet_python_ref n = f; n < a->count && a->nodes[n].start < a->nodes[f].end; n++) {
        stet_python_ref value;

        if (stet_python_kind(a, n) != PY_RETURN || stet_python_function_around(m, n) != f)
            continue;
        value = stet_python_child(a, n) ? stet_python_bare(a, stet_python_child(a, n)) : 0;
        if (value && stet_python_name(a, value) &&
            stet_python_parameter(m, f, stet_python_name(a, value), &position)) {
            if (name && name != stet_python_name(a, value))
                return (struct stet_python_maker){0};
            name = stet_python_name(a, value);
        } else {
            change = n;
            changes++;
        }
    }
    if (!name)
        return (struct stet_python_maker){0};
    for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->scope == f && !b->attribute && b->how < PY_BIND_FUNCTION) {
            change = b->target;
            changes++;
        }
    }
    if (changes > 1)
        return (struct stet_python_maker){0};
    if (changes)
        return at(m, change);
    (void)stet_python_parameter(m, f, name, &position);
    return stet_python_value_of(
        x, stet_python_given(x->frame->module, call, m->ast.names.items[name], position, c->bound),
        depth + 1);
}

/* What a binding gives its name. */
static struct stet_python_maker of_binding(struct stet_python_flow *x,
                                           const struct stet_python_binding *b, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_maker found = {0};

    if (b->how == PY_BIND_ELEMENT)
        found = stet_python_items_of(x, b->value, depth + 1);
    else if (b->how == PY_BIND_VALUE && b->position < 0)
        found = stet_python_put_into(x, b, depth + 1);
    if (b->how == PY_BIND_VALUE && b->position < 0 && !stet_python_is_made(&found))
        found = stet_python_value_of(x, b->value, depth + 1);
    return stet_python_is_made(&found) ? found : at(m, b->target);
}

/* Returns the first binding in a statement, of one name or (0) of any; NULL for none. */
static const struct stet_python_binding *binding_in(const struct stet_python_module *m,
                                                    stet_python_ref statement, uint32_t name)
{
    for (size_t i = 0; i < m->bindings.count; i++) {
        const struct stet_python_binding *b = &m->bindings.items[i];

        if (b->how < PY_BIND_FUNCTION && (!name || b->name == name) &&
            stet_python_statement_of(m, b->target) == statement)
            return b;
    }
    return NULL;
}

/* The statement that last assigned the name before a use of it, followed further. */
static struct stet_python_maker of_name(struct stet_python_flow *x, stet_python_ref n,
                                        unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    uint32_t use = stet_python_line(m, stet_python_statement_of(m, n));
    uint32_t line = stet_python_binding_line(x->sources, stet_view_str(m->path), use,
                                             stet_python_text(&m->ast, n));
    const struct stet_python_binding *b =
        line ? binding_in(m, stet_python_statement_at(m, line), stet_python_name(&m->ast, n))
             : NULL;

    return b ? of_binding(x, b, depth) : (struct stet_python_maker){0};
}

static struct stet_python_maker of_call(struct stet_python_flow *x, stet_python_ref call,
                                        unsigned depth)
{
    struct stet_python_callee c = stet_python_resolve(x, call);
    stet_python_ref from = stet_python_taken_from(x, call);

    if (from)
        return stet_python_items_of(x, from, depth + 1);
    if (c.definition)
        return stet_python_kind(&c.module->ast, c.definition) == PY_FUNCTION
                   ? through_function(x, call, &c, depth)
                   : (struct stet_python_maker){0};
    from = converted(x, call, &c);
    if (!from && c.object && !stet_python_argument_count(x->frame->module, call))
        return stet_python_items_of(x, c.object, depth + 1); /* queue.get() */
    return from ? stet_python_value_of(x, from, depth + 1) : (struct stet_python_maker){0};
}

static bool cuts(const struct stet_python_ast *a, stet_python_ref subscript)
{
    for (stet_python_ref n = subscript; n < a->count && a->nodes[n].start < a->nodes[subscript].end;
         n++)
        if (stet_python_kind(a, n) == PY_SLICE)
            return true;
    return false;
}

struct stet_python_maker stet_python_value_of(struct stet_python_flow *x, stet_python_ref n,
                                              unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_maker found = {0};

    n = n ? stet_python_bare(&m->ast, n) : 0;
    if (!n || depth > DEEPEST || ++x->steps > MOST_STEPS)
        return found;
    switch (stet_python_kind(&m->ast, n)) {
    case PY_NONE_:
    case PY_TRUE:
    case PY_FALSE:
    case PY_INTEGER:
    case PY_FLOAT:
    case PY_STRING:
        return found;
    case PY_IDENTIFIER:
        found = of_name(x, n, depth);
        break;
    case PY_SUBSCRIPT:
        if (!cuts(&m->ast, n))
            found = stet_python_items_of(x, n, depth + 1);
        break;
    case PY_CALL:
        found = of_call(x, n, depth);
        break;
    default:
        break;
    }
    return stet_python_is_made(&found) ? found : at(m, n);
}

uint32_t stet_python_maker_line(struct stet_python_sources *s, struct stet_python_waiting use,
                                const struct stet_python_waits *w, bool sizes,
                                struct stet_view *from)
{
    const struct stet_python_module *m = stet_python_open(s, use.file);
    stet_python_ref statement = m ? stet_python_statement_at(m, use.line) : 0;
    const struct stet_python_binding *b = statement ? binding_in(m, statement, 0) : NULL;
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, m);
    struct stet_python_maker found;

    if (!b)
        return 0;
    x->sizes = sizes;
    x->waits = w;
    found = of_binding(x, b, 0);
    if (found.several || !found.line)
        return 0;
    *from = stet_view_str(found.module->path);
    return found.line;
}
