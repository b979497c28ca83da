/* What a line of the source makes, or the call that waits in it is given. */
#include "python/trail_begin.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* What a line makes; of containers the arrays in them, and not how many there are. */
static verdict of_arrays(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;

    switch (stet_python_kind(a, stet_python_bare(a, n))) {
    case PY_LIST:
    case PY_TUPLE:
    case PY_DICTIONARY:
    case PY_EXPRESSION_LIST:
    case PY_LIST_COMPREHENSION:
    case PY_DICT_COMPREHENSION:
        return stet_python_trail_into(t, n, (struct stet_python_part){PY_AT_INDEX, -1, {0}});
    default:
        return stet_python_trail_of(t, n);
    }
}

/* What a statement assigns or takes; otherwise what its first call is given. */
static verdict of_statement(struct stet_python_trail *t, stet_python_ref statement)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref n = 0;

    if (stet_python_kind(&m->ast, statement) == PY_FOR)
        return stet_python_trail_into(t, stet_python_field(&m->ast, statement, PY_FIELD_RIGHT),
                                      (struct stet_python_part){PY_AT_EACH, -1, {0}});
    while (stet_python_own_next(m, statement, &n)) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if (k == PY_ASSIGNMENT)
            return of_arrays(t, stet_python_field(&m->ast, n, PY_FIELD_RIGHT));
        if (k == PY_RETURN || k == PY_YIELD)
            return of_arrays(t, stet_python_child(&m->ast, n));
        if (k == PY_CALL)
            return stet_python_trail_of(t, n);
    }
    return stays;
}

verdict stet_python_held_line(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    const struct stet_python_module *m = stet_python_open(t->x->sources, what->at_file);
    stet_python_ref statement = m ? stet_python_statement_at(m, what->at_line) : 0;
    stet_python_ref function;
    verdict v;

    if (!statement)
        return stays;
    function = stet_python_function_around(m, statement);
    stet_python_trail_begin(
        t, (struct stet_python_frame){
               .module = m, .function = function, .seen = stet_python_trail_seen(t, m, function)});
    v = of_statement(t, statement);
    return v.how >= PY_COUNTS ? v : stet_python_verdict_at(t, statement, PY_MAY_VARY);
}

/* A library's function around the called one took the arguments apart: the one that differs. */
verdict stet_python_held_call(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    stet_python_ref call = stet_python_trail_waiting(t, what), list;
    const struct stet_python_module *m = t->first.module;
    const struct stet_python_ast *a;
    verdict v = stays;

    if (!call)
        return stays;
    a = &m->ast;
    t->inside = true;
    list = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    for (stet_python_ref c = list ? stet_python_child(a, list) : 0; c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_LIST_SPLAT)
            v = stet_python_verdict_join(
                t, call, v,
                stet_python_trail_into(t, stet_python_child(a, c),
                                       (struct stet_python_part){PY_AT_INDEX, -1, {0}}));
        else
            v = stet_python_verdict_join(t, call, v,
                                         stet_python_trail_of(t, stet_python_argument_value(m, c)));
    return v.how >= PY_COUNTS ? v : stays;
}

/* One argument of the call that waits, by its place or keyword. */
verdict stet_python_held_passed(struct stet_python_trail *t,
                                const struct stet_python_followed *what)
{
    stet_python_ref call = stet_python_trail_waiting(t, what), given = 0;
    const struct stet_python_module *m = t->first.module;
    const struct stet_python_part *head;

    stet_python_trail_path(t, what->path);
    if (!call || !t->parts)
        return stays;
    head = &t->path[--t->parts];
    if (head->how == PY_AT_KEY)
        given = stet_python_keyword(m, call, head->name);
    else if (head->index >= 0)
        given = stet_python_argument(m, call, (uint32_t)head->index);
    return given ? stet_python_trail_of(t, given) : stays;
}

/* Which function a call runs: `steps[kind](x)`. */
verdict stet_python_held_callee(struct stet_python_trail *t,
                                const struct stet_python_followed *what)
{
    stet_python_ref call = stet_python_trail_waiting(t, what);
    const struct stet_python_ast *a;
    stet_python_ref function;
    verdict v = stays;

    if (!call)
        return stays;
    a = &t->first.module->ast;
    function = stet_python_bare(a, stet_python_field(a, call, PY_FIELD_FUNCTION));
    if (stet_python_kind(a, function) == PY_SUBSCRIPT) /* what chooses, before the table */
        v = stet_python_trail_ask(
            t, stet_python_next(a, stet_python_field(a, function, PY_FIELD_VALUE)), PY_OF_VALUE);
    return v.how >= PY_COUNTS ? v : stet_python_trail_of(t, function);
}
