/* Finds the line that makes the items of an iterator: from the `for` or next() that takes one,
 * through names and calls, into the generator, function or class that hands them over. */
#include "python/queries_internal.h"

enum { DEEPEST = 8 };

struct loader {
    struct stet_python_flow *x;
    const struct stet_python_module *module;
    uint32_t line; /* 0 for none */
    bool ours;     /* in a function of the project, not a call of a library */
    bool several;
};

static struct loader from(struct stet_python_flow *x, stet_python_ref n, unsigned depth);

/* One of the project's own hides one of a library; two different ones are none. */
static struct loader either(struct loader a, struct loader b)
{
    if (!b.line && !b.several)
        return a;
    if ((!a.line && !a.several) || (b.ours && !a.ours))
        return b;
    if (a.ours == b.ours && (a.line != b.line || a.module != b.module))
        a.several = true;
    return a;
}

static struct loader at(const struct stet_python_module *m, stet_python_ref n, bool ours)
{
    return (struct loader){
        .module = m, .line = stet_python_line(m, stet_python_statement_of(m, n)), .ours = ours};
}

/* `batch = rows[a:b]; yield batch` makes it in the first line. */
static struct loader made_in(struct stet_python_flow *x, const struct stet_python_module *m,
                             stet_python_ref n)
{
    stet_python_ref value = stet_python_bare(&m->ast, stet_python_child(&m->ast, n));
    struct loader found = at(m, n, true);
    uint32_t line = stet_python_name(&m->ast, value)
                        ? stet_python_binding_line(x->sources, stet_view_str(m->path), found.line,
                                                   stet_python_text(&m->ast, value))
                        : 0;

    found.line = line ? line : found.line;
    return found;
}

/* What the function yields; otherwise what it returns, followed further. */
static struct loader from_function(struct stet_python_flow *x, const struct stet_python_module *m,
                                   stet_python_ref function, unsigned depth)
{
    const struct stet_python_ast *a = &m->ast;
    const struct stet_python_frame *before = x->frame;
    struct stet_python_frame frame = {.module = m, .function = function};
    struct loader yields = {0}, returns = {0};

    x->frame = &frame;
    for (stet_python_ref n = function; n < a->count && a->nodes[n].start < a->nodes[function].end;
         n++) {
        enum stet_python_kind k = stet_python_kind(a, n);
        struct loader further;

        if ((k != PY_YIELD && k != PY_RETURN) || stet_python_function_around(m, n) != function ||
            !stet_python_child(a, n))
            continue;
        if (k == PY_YIELD) {
            yields = either(yields, made_in(x, m, n));
            continue;
        }
        further = from(x, stet_python_child(a, n), depth + 1);
        further = further.line || further.several ? further : made_in(x, m, n);
        further.ours = true;
        returns = either(returns, further);
    }
    x->frame = before;
    return yields.line || yields.several ? yields : returns;
}

/* The methods through which a loop takes the items of an object. */
static struct loader from_class(struct stet_python_flow *x, const struct stet_python_module *m,
                                stet_python_ref class_node, unsigned depth)
{
    static const char *const methods[] = {"__next__", "__iter__", "__getitem__"};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        stet_python_ref f = stet_python_method(m, class_node, stet_view_str(methods[i]));

        if (f)
            return from_function(x, m, f, depth + 1);
    }
    return (struct loader){0};
}

/* enumerate(batches()), iter(loader), map(f, rows): what a library is given to iterate. */
static struct loader through_library(struct stet_python_flow *x, stet_python_ref call,
                                     const struct stet_python_callee *c, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    struct loader found = c->object ? from(x, c->object, depth + 1) : (struct loader){0};
    uint32_t count = stet_python_argument_count(m, call);

    for (uint32_t i = 0; i < count; i++) {
        stet_python_ref argument = stet_python_argument(m, call, i);

        if (argument)
            found = either(found, from(x, argument, depth + 1));
    }
    return found;
}

static struct loader from_call(struct stet_python_flow *x, stet_python_ref call, unsigned depth)
{
    struct stet_python_callee c = stet_python_resolve(x, call);

    if (!c.definition)
        return through_library(x, call, &c, depth);
    return stet_python_kind(&c.module->ast, c.definition) == PY_CLASS
               ? from_class(x, c.module, c.definition, depth)
               : from_function(x, c.module, c.definition, depth);
}

/* The bindings of a name in the innermost scope that has any. */
static struct loader from_name(struct stet_python_flow *x, stet_python_ref n, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    uint32_t name = stet_python_name(&m->ast, n);
    stet_python_ref scope = stet_python_function_around(m, n);
    struct loader found = {0};

    while (scope && !stet_python_binds(m, scope, name))
        scope = stet_python_function_around(m, scope);
    for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        struct loader one;

        if (b->scope != scope || b->attribute || b->how > PY_BIND_ELEMENT)
            continue;
        one = from(x, b->value, depth + 1);
        if (!one.line && !one.several &&
            stet_python_kind(&m->ast, stet_python_bare(&m->ast, b->value)) == PY_CALL)
            one = at(m, b->target, false);
        found = either(found, one);
    }
    return found;
}

static struct loader from(struct stet_python_flow *x, stet_python_ref n, unsigned depth)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    struct loader found = {0};

    n = n ? stet_python_bare(a, n) : 0;
    if (!n || depth > DEEPEST)
        return found;
    switch (stet_python_kind(a, n)) {
    case PY_CALL:
        return from_call(x, n, depth);
    case PY_IDENTIFIER:
        return from_name(x, n, depth);
    case PY_SUBSCRIPT:
    case PY_ATTRIBUTE:
        return from(x, stet_python_child(a, n), depth + 1);
    case PY_DICTIONARY:
    case PY_LIST:
    case PY_TUPLE:
    case PY_EXPRESSION_LIST:
        for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c))
            found = either(found, from(x,
                                       stet_python_kind(a, c) == PY_PAIR
                                           ? stet_python_field(a, c, PY_FIELD_VALUE)
                                           : c,
                                       depth + 1));
        return found;
    default:
        return found;
    }
}

static bool is_next(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_callee c = stet_python_resolve(x, call);

    return !c.definition && !c.object &&
           c.effect == stet_python_library(STET_VIEW("builtins.next")) &&
           stet_view_is(stet_python_callee(m, call), "next");
}

uint32_t stet_python_loader_line(struct stet_python_sources *s, struct stet_view file, uint32_t use,
                                 struct stet_view *where)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref statement = m ? stet_python_statement_at(m, use) : 0, n = 0;
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, m);
    struct loader found = {0};

    if (!statement)
        return 0;
    if (stet_python_kind(&m->ast, statement) == PY_FOR)
        found = from(x, stet_python_field(&m->ast, statement, PY_FIELD_RIGHT), 0);
    while (stet_python_own_next(m, statement, &n))
        if (stet_python_kind(&m->ast, n) == PY_CALL && is_next(x, n))
            found = either(found, from(x, stet_python_argument(m, n, 0), 0));
    if (found.several || !found.line)
        return 0;
    *where = stet_view_str(found.module->path);
    return found.line;
}
