/* What a guard or a frame names: an argument of the function that was called, a variable, a
 * closure, a field. */
#include "python/trail_begin.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* What the call passes is always the same, and another call passes something else: the line that
 * made it, or the call. */
static verdict passed_here(struct stet_python_trail *t, stet_python_ref call,
                           struct stet_view parameter, uint32_t position, bool bound)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref given = stet_python_keyword(m, call, parameter);
    uint32_t line;
    verdict v;

    if (!given && position >= bound)
        given = stet_python_argument(m, call, position - bound);
    if (!given || !t->elsewhere)
        return stays;
    v = stet_python_verdict_at(t, given, PY_VARIES);
    line =
        stet_python_name(&m->ast, given)
            ? stet_python_binding_line(t->x->sources, stet_view_str(m->path),
                                       stet_python_line(m, call), stet_python_text(&m->ast, given))
            : 0;
    if (line) {
        v.line = line;
        v.at = stet_python_statement_at(m, line);
    }
    return v;
}

/* A field of the object whose method was called. */
static verdict own_field(struct stet_python_trail *t, const struct stet_python_module *m,
                         stet_python_ref function)
{
    stet_python_ref class_node = stet_python_class_around(m, function);
    struct stet_python_part head;
    verdict v;

    if (!class_node || !stet_python_trail_begins(t, PY_AT_FIELD))
        return stays;
    head = t->path[--t->parts];
    v = stet_python_trail_field(t, m, class_node, head.name);
    t->path[t->parts++] = head;
    return v;
}

/* The code goes on in the middle of a function: a name as that line sees it. */
static verdict resumed(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    const struct stet_python_module *m;
    stet_python_ref function = stet_python_trail_function(t->x->sources, what, &m);
    struct stet_view name = stet_python_trail_path(t, what->path);

    if (!function)
        return stays;
    stet_python_trail_begin(t, (struct stet_python_frame){.module = m, .function = function});
    return stet_python_trail_variable(t, stet_python_statement_at(m, what->line), name);
}

static verdict argument(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    const struct stet_python_module *m;
    stet_python_ref function = stet_python_trail_function(t->x->sources, what, &m), statement, call;
    struct stet_python_frame called;
    struct stet_view name = stet_python_trail_path(t, what->path);
    uint32_t number, position = 0;
    bool bound;
    verdict v;

    if (!stet_python_trail_enter(t, 0, &statement))
        return stays;
    call = stet_python_trail_runner(t, statement, m, function, &bound);
    number = function ? stet_intern_find(&m->ast.names, name) : STET_INTERN_NONE;
    if (number == STET_INTERN_NONE || !stet_python_parameter(m, function, number, &position))
        return stays;
    if (!position && stet_python_is_method(m, function)) { /* self.steps */
        v = own_field(t, m, function);
        if (v.how)
            return v;
    }
    if (!call)
        return stays;
    called = (struct stet_python_frame){
        .module = m, .function = function, .call = call, .caller = &t->first, .bound = bound};
    t->x->frame = &called;
    v = stet_python_trail_parameter(t, function, number, position);
    t->x->frame = &t->first;
    if (v.queued) { /* what comes in a request is what it is: here it enters the program */
        v = stet_python_verdict_at(t, call, PY_VARIES);
        v.open = true;
    }
    return v.how == PY_STAYS ? passed_here(t, call, name, position, bound) : v;
}

verdict stet_python_held_argument(struct stet_python_trail *t,
                                  const struct stet_python_followed *what)
{
    return what->resumed ? resumed(t, what) : argument(t, what);
}

/* "model.head.scale" of a frame: the field of an object whose class was observed. */
static verdict field_of_object(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    const char *dot = what->path.len ? memrchr(what->path.ptr, '.', what->path.len) : NULL;
    struct stet_view object, field;
    const struct stet_python_module *m;
    stet_python_ref class_node;
    unsigned parts = t->parts;
    verdict v;

    if (!dot || !t->stack->type ||
        memchr(dot, '[', (size_t)(what->path.ptr + what->path.len - dot)))
        return stays;
    object = stet_view_of(what->path.ptr, (size_t)(dot - what->path.ptr));
    field = stet_view_of(dot + 1, what->path.len - object.len - 1);
    class_node = stet_python_trail_class_named(
        t, t->stack->type(t->stack->context, what->frame, object), &m);
    if (!class_node)
        return stays;
    t->parts = 0;
    v = stet_python_trail_field(t, m, class_node, field);
    t->parts = parts;
    return v;
}

/* A name as a statement of a frame sees it. */
verdict stet_python_held_variable(struct stet_python_trail *t,
                                  const struct stet_python_followed *what)
{
    stet_python_ref statement, n = 0, use = 0;
    struct stet_view name = stet_python_trail_path(t, what->path);
    const struct stet_python_module *m;
    verdict v;

    if (!stet_python_trail_enter(t, what->frame, &statement))
        return stays;
    v = field_of_object(t, what);
    if (v.how >= PY_COUNTS)
        return v;
    m = t->first.module;
    while (stet_python_own_next(m, statement, &n))
        if (stet_python_kind(&m->ast, n) == PY_IDENTIFIER &&
            stet_view_eq(stet_python_text(&m->ast, n), name))
            use = n;
    return stet_python_trail_variable(t, use ? use : statement, name);
}

verdict stet_python_held_closure(struct stet_python_trail *t,
                                 const struct stet_python_followed *what)
{
    const struct stet_python_module *m;
    stet_python_ref function = stet_python_trail_function(t->x->sources, what, &m),
                    method = function;
    struct stet_view name = stet_python_trail_path(t, what->path);
    uint32_t number, position = 0;
    stet_python_ref body;

    if (!function)
        return stays;
    body = stet_python_field(&m->ast, function, PY_FIELD_BODY);
    stet_python_trail_begin(t, (struct stet_python_frame){.module = m, .function = function});
    number = stet_intern_find(&m->ast.names, name);
    while (method && number != STET_INTERN_NONE &&
           !stet_python_parameter(m, method, number, &position))
        method = stet_python_function_around(m, method);
    if (method && number != STET_INTERN_NONE && stet_python_is_method(m, method) && !position)
        return own_field(t, m, method); /* also of a function inside the method */
    return stet_python_trail_variable(t, body, name);
}

/* "keywords['k']", "args[0]" of the function that is called: what functools.partial was given. */
static verdict of_called(struct stet_python_trail *t, const struct stet_python_followed *what,
                         stet_python_ref statement, struct stet_view name)
{
    const struct stet_python_module *here = t->x->frame->module, *m;
    stet_python_ref function = stet_python_trail_function(t->x->sources, what, &m);
    bool bound;
    stet_python_ref call = stet_python_trail_runner(t, statement, m, function, &bound);

    return call ? stet_python_trail_into(t, stet_python_field(&here->ast, call, PY_FIELD_FUNCTION),
                                         (struct stet_python_part){PY_AT_FIELD, -1, name})
                : stays;
}

verdict stet_python_held_field(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    stet_python_ref statement;
    struct stet_view name = stet_python_trail_path(t, what->path);
    verdict v;

    if (!stet_python_trail_enter(t, 0, &statement)) {
        const struct stet_python_module *m;

        (void)stet_python_trail_function(t->x->sources, what, &m);
        if (!m)
            return stays;
        stet_python_trail_begin(t, (struct stet_python_frame){.module = m});
    } else {
        v = of_called(t, what, statement, name);
        if (v.how >= PY_COUNTS)
            return v;
    }
    return stet_python_trail_any_field(t, name);
}
