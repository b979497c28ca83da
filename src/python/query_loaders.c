/* Finds the line that makes the items of an iterator: from the `for` or next() that takes one,
 * through names and calls, into the generator, function or class that hands them over. */
#include "python/varying.h"

enum { DEEPEST = 24, MOST_STEPS = 4096 };

/* One of the project's own hides one of a library; two different ones are none. */
static struct stet_python_maker either(struct stet_python_maker a, struct stet_python_maker b)
{
    if (!b.line && !b.several)
        return a;
    if ((!a.line && !a.several) || (b.ours && !a.ours))
        return b;
    if (a.ours == b.ours && (a.line != b.line || a.module != b.module))
        a.several = true;
    return a;
}

static struct stet_python_maker at(const struct stet_python_module *m, stet_python_ref n, bool ours)
{
    return (struct stet_python_maker){
        .module = m, .line = stet_python_line(m, stet_python_statement_of(m, n)), .ours = ours};
}

/* What the function yields; otherwise what it returns, followed further. `items`: each call of it
 * returns one item. */
static struct stet_python_maker from_function(struct stet_python_flow *x,
                                              const struct stet_python_frame *called, bool items,
                                              unsigned depth)
{
    const struct stet_python_module *m = called->module;
    const struct stet_python_ast *a = &m->ast;
    const struct stet_python_frame *before = x->frame;
    stet_python_ref f = called->function;
    struct stet_python_maker yields = {0}, returns = {0};

    x->frame = called;
    for (stet_python_ref n = f; n < a->count && a->nodes[n].start < a->nodes[f].end; n++) {
        enum stet_python_kind k = stet_python_kind(a, n);
        struct stet_python_maker further = {0};

        if ((k != PY_YIELD && k != PY_RETURN) || stet_python_function_around(m, n) != f ||
            !stet_python_child(a, n))
            continue;
        if (k == PY_RETURN && !items)
            further = stet_python_items_of(x, stet_python_child(a, n), depth + 1);
        if (!stet_python_is_made(&further))
            further = stet_python_value_of(x, stet_python_child(a, n), depth + 1);
        further.ours = true;
        if (k == PY_YIELD)
            yields = either(yields, further);
        else
            returns = either(returns, further);
    }
    x->frame = before;
    return stet_python_is_made(&yields) ? yields : returns;
}

/* The methods through which a loop takes the items of an object. */
static struct stet_python_maker from_class(struct stet_python_flow *x,
                                           const struct stet_python_module *m,
                                           stet_python_ref class_node, unsigned depth)
{
    static const char *const methods[] = {"__next__", "__iter__", "__getitem__"};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        stet_python_ref f = stet_python_method(m, class_node, stet_view_str(methods[i]));

        if (f)
            return from_function(x, &(struct stet_python_frame){.module = m, .function = f}, i != 1,
                                 depth + 1);
    }
    return (struct stet_python_maker){0};
}

/* enumerate(batches()), iter(loader), map(f, rows): what a library is given to iterate. */
static struct stet_python_maker through_library(struct stet_python_flow *x, stet_python_ref call,
                                                const struct stet_python_callee *c, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_maker found =
        c->object ? stet_python_items_of(x, c->object, depth + 1) : (struct stet_python_maker){0};
    uint32_t count = stet_python_argument_count(m, call);

    for (uint32_t i = 0; i < count; i++) {
        stet_python_ref argument = stet_python_argument(m, call, i);

        if (argument)
            found = either(found, stet_python_items_of(x, argument, depth + 1));
    }
    return found;
}

static struct stet_python_maker from_call(struct stet_python_flow *x, stet_python_ref call,
                                          unsigned depth)
{
    struct stet_python_callee c = stet_python_resolve(x, call);

    if (!c.definition && c.effect == PY_GIVES_LOADER) /* it cuts the batches */
        return at(x->frame->module, call, true);
    if (!c.definition)
        return through_library(x, call, &c, depth);
    return stet_python_kind(&c.module->ast, c.definition) == PY_CLASS
               ? from_class(x, c.module, c.definition, depth)
               : from_function(x,
                               &(struct stet_python_frame){.module = c.module,
                                                           .function = c.definition,
                                                           .call = call,
                                                           .caller = x->frame,
                                                           .bound = c.bound},
                               false, depth);
}

/* The index of the call that waits inside this function; the number of calls for none. */
static size_t waiting_in(const struct stet_python_flow *x, const struct stet_python_module *m,
                         stet_python_ref function)
{
    const struct stet_python_waits *w = x->waits;
    size_t i = 0;

    while (i < w->count && (stet_python_open(x->sources, w->calls[i].file) != m ||
                            stet_python_function_around(
                                m, stet_python_statement_at(m, w->calls[i].line)) != function))
        i++;
    return i;
}

/* What the waiting line of the caller passes as a parameter of the function. */
static struct stet_python_maker from_waiting(struct stet_python_flow *x, stet_python_ref function,
                                             uint32_t name, unsigned depth)
{
    const struct stet_python_frame *before = x->frame;
    const struct stet_python_module *m = before->module;
    size_t caller = x->waits ? waiting_in(x, m, function) + 1 : 0;
    struct stet_python_frame frame = {0};
    struct stet_python_maker found = {0};
    stet_python_ref statement, argument;

    if (!x->waits || caller >= x->waits->count)
        return found;
    frame.module = stet_python_open(x->sources, x->waits->calls[caller].file);
    if (!frame.module)
        return found;
    statement = stet_python_statement_at(frame.module, x->waits->calls[caller].line);
    frame.function = statement ? stet_python_function_around(frame.module, statement) : 0;
    x->frame = &frame;
    argument =
        statement ? stet_python_passed_in(x, statement, m, function, m->ast.names.items[name]) : 0;
    if (argument)
        found = stet_python_items_of(x, argument, depth + 1);
    x->frame = before;
    return found;
}

/* The argument that the call of the frame passes as a parameter. */
static struct stet_python_maker from_parameter(struct stet_python_flow *x, uint32_t name,
                                               unsigned depth)
{
    const struct stet_python_frame *f = x->frame;
    struct stet_python_maker found = {0};
    uint32_t position = 0;
    stet_python_ref argument;

    if (!f->caller || !stet_python_parameter(f->module, f->function, name, &position))
        return found;
    argument = stet_python_given(f->caller->module, f->call, f->module->ast.names.items[name],
                                 position, f->bound);
    x->frame = f->caller;
    if (argument)
        found = stet_python_items_of(x, argument, depth + 1);
    x->frame = f;
    return found;
}

/* The makers of what method calls of a function put into one of its names: queue.put(batch). They
 * are statements, because they give nothing. */
static struct stet_python_maker put_by(struct stet_python_flow *x, stet_python_ref inside,
                                       uint32_t name, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    struct stet_python_maker found = {0};

    for (size_t i = 0; i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i], object = stet_python_callee_object(m, call);

        if (!object || stet_python_name(a, object) != name ||
            (inside && !stet_python_is_inside(m, call, inside)) ||
            stet_python_kind(a, m->parents[call]) != PY_EXPRESSION_STATEMENT ||
            !stet_python_argument(m, call, 0))
            continue;
        found = either(found, stet_python_value_of(x, stet_python_argument(m, call, 0), depth + 1));
    }
    return found;
}

/* The function of the project in a call that is given the name: produce(queue), Thread(target=
 * produce, args=(queue,)). Its parameters get what it puts. */
static struct stet_python_maker put_by_callee(struct stet_python_flow *x, stet_python_ref call,
                                              uint32_t name, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref arguments = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    struct stet_python_callee f = stet_python_resolve(x, call);
    struct stet_python_maker found = {0};
    const struct stet_python_frame *before = x->frame;
    bool given = false;

    for (stet_python_ref n = arguments;
         n && n < a->count && a->nodes[n].start < a->nodes[arguments].end; n++) {
        if (stet_python_kind(a, n) != PY_IDENTIFIER)
            continue;
        if (stet_python_name(a, n) == name)
            given = true;
        else if (!f.definition)
            f = stet_python_resolve_name(x, n);
    }
    if (!given || !f.definition || stet_python_kind(&f.module->ast, f.definition) != PY_FUNCTION)
        return found;
    x->frame = &(struct stet_python_frame){.module = f.module, .function = f.definition};
    for (stet_python_ref p = stet_python_child(
             &f.module->ast, stet_python_field(&f.module->ast, f.definition, PY_FIELD_PARAMETERS));
         p; p = stet_python_next(&f.module->ast, p))
        found = either(found,
                       put_by(x, f.definition, stet_python_parameter_name(f.module, p), depth + 1));
    x->frame = before;
    return found;
}

struct stet_python_maker stet_python_put_into(struct stet_python_flow *x,
                                              const struct stet_python_binding *b, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_maker found = {0};

    if (stet_python_kind(&m->ast, stet_python_bare(&m->ast, b->value)) != PY_CALL ||
        stet_python_resolve(x, stet_python_bare(&m->ast, b->value)).definition)
        return found;
    found = put_by(x, b->scope, b->name, depth);

    for (size_t i = 0; !stet_python_is_made(&found) && i < m->calls.count; i++)
        if (stet_python_function_around(m, m->calls.items[i]) == b->scope)
            found = put_by_callee(x, m->calls.items[i], b->name, depth);
    return found;
}

/* The bindings of a name in the innermost scope that has any. */
static struct stet_python_maker from_name(struct stet_python_flow *x, stet_python_ref n,
                                          unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    uint32_t name = stet_python_name(&m->ast, n);
    stet_python_ref scope = stet_python_function_around(m, n);
    struct stet_python_maker found = {0};

    while (scope && !stet_python_binds(m, scope, name))
        scope = stet_python_function_around(m, scope);
    for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        struct stet_python_maker one;

        if (b->scope != scope || b->attribute || b->how > PY_BIND_ELEMENT)
            continue;
        one = stet_python_items_of(x, b->value, depth + 1);
        if (!stet_python_is_made(&one) &&
            stet_python_kind(&m->ast, stet_python_bare(&m->ast, b->value)) == PY_CALL) {
            one = stet_python_put_into(x, b, depth);
            if (!stet_python_is_made(&one))
                one = at(m, b->target, false);
        }
        found = either(found, one);
    }
    if (!stet_python_is_made(&found))
        found = from_parameter(x, name, depth);
    if (!stet_python_is_made(&found) && scope &&
        stet_python_parameter(m, scope, name, &(uint32_t){0}))
        found = from_waiting(x, scope, name, depth);
    return found;
}

struct stet_python_maker stet_python_items_of(struct stet_python_flow *x, stet_python_ref n,
                                              unsigned depth)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    struct stet_python_maker found = {0};

    n = n ? stet_python_bare(a, n) : 0;
    if (!n || depth > DEEPEST || ++x->steps > MOST_STEPS)
        return found;
    switch (stet_python_kind(a, n)) {
    case PY_CALL:
        return from_call(x, n, depth);
    case PY_IDENTIFIER:
        return from_name(x, n, depth);
    case PY_SUBSCRIPT:
    case PY_ATTRIBUTE:
        return stet_python_items_of(x, stet_python_child(a, n), depth + 1);
    case PY_GENERATOR:
    case PY_LIST_COMPREHENSION:
        return stet_python_value_of(x, stet_python_child(a, n), depth + 1);
    case PY_DICTIONARY:
    case PY_LIST:
    case PY_TUPLE:
    case PY_EXPRESSION_LIST:
        for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c))
            found = either(found, stet_python_items_of(x,
                                                       stet_python_kind(a, c) == PY_PAIR
                                                           ? stet_python_field(a, c, PY_FIELD_VALUE)
                                                           : c,
                                                       depth + 1));
        return found;
    default:
        return found;
    }
}

/* The only maker; 0 for none and for several. */
static uint32_t line_of(const struct stet_python_maker *found, struct stet_view *where)
{
    if (found->several || !found->line)
        return 0;
    *where = stet_view_str(found->module->path);
    return found->line;
}

uint32_t stet_python_loader_line(struct stet_python_sources *s, struct stet_python_waiting use,
                                 const struct stet_python_waits *w, struct stet_view *where)
{
    const struct stet_python_module *m = stet_python_open(s, use.file);
    stet_python_ref statement = m ? stet_python_statement_at(m, use.line) : 0, n = 0;
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, m);
    struct stet_python_maker found = {0};

    if (!statement)
        return 0;
    x->waits = w;
    if (stet_python_kind(&m->ast, statement) == PY_FOR)
        found = stet_python_items_of(x, stet_python_field(&m->ast, statement, PY_FIELD_RIGHT), 0);
    while (stet_python_own_next(m, statement, &n)) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);
        stet_python_ref taken = k == PY_CALL     ? stet_python_taken_from(x, n)
                                : k == PY_FOR_IN ? stet_python_field(&m->ast, n, PY_FIELD_RIGHT)
                                                 : 0;

        if (taken)
            found = either(found, stet_python_items_of(x, taken, 0));
    }
    return line_of(&found, where);
}

uint32_t stet_python_made_for_call(struct stet_python_sources *s, struct stet_python_waiting use,
                                   const struct stet_python_waits *w, struct stet_view *where)
{
    const struct stet_python_module *m = stet_python_open(s, use.file);
    stet_python_ref statement = m ? stet_python_statement_at(m, use.line) : 0, n = 0;
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, m);
    struct stet_python_maker found = {0};

    x->waits = w;
    while (stet_python_own_next(m, statement, &n)) {
        uint32_t given =
            stet_python_kind(&m->ast, n) == PY_CALL ? stet_python_argument_count(m, n) : 0;

        for (uint32_t i = 0; i < given; i++) {
            stet_python_ref argument = stet_python_argument(m, n, i);

            argument = argument ? stet_python_bare(&m->ast, argument) : 0;
            if (stet_python_kind(&m->ast, argument) == PY_CALL &&
                stet_python_resolve(x, argument).definition)
                found = either(found, stet_python_items_of(x, argument, 0));
        }
    }
    return line_of(&found, where);
}
