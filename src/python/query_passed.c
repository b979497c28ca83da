/* Follows an argument of a call back to the line that assigned it, through the functions that pass
 * it on. */
#include "python/queries_internal.h"

/* A function that waits for a call of its own; `node` is 0 when it is not known. */
struct inner {
    const struct stet_python_module *module;
    stet_python_ref node;
};

/* Does the call run this function? Where the callee is not found in the project, it may. */
static bool may_run(const struct stet_python_callee *callee, const struct inner *inner)
{
    return !inner->node || !callee->definition ||
           (callee->definition == inner->node && callee->module == inner->module);
}

/* The function that a call runs: also the one in `step = jax.jit(function)`. */
static struct stet_python_callee callee_of(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_callee c = stet_python_resolve(x, call);
    stet_python_ref name = stet_python_field(&m->ast, call, PY_FIELD_FUNCTION);

    if (c.definition || stet_python_kind(&m->ast, name) != PY_IDENTIFIER)
        return c;
    for (uint32_t i = m->first_binding[stet_python_name(&m->ast, name)]; i;
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        const struct stet_python_transform *t =
            !b->attribute && stet_python_kind(&m->ast, b->value) == PY_CALL
                ? stet_python_resolve(x, b->value).transform
                : NULL;

        if (t && t->kind == PY_JITS)
            return stet_python_resolve_name(x, stet_python_argument(m, b->value, 0));
    }
    return c;
}

/* Returns what a call passes as a parameter; 0 when it passes nothing, or its position is not
 * known. */
static stet_python_ref passed(struct stet_python_flow *x, stet_python_ref call,
                              const struct inner *inner, struct stet_view parameter)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_callee callee = callee_of(x, call);
    stet_python_ref argument = stet_python_keyword(m, call, parameter);
    uint32_t name, position = 0;

    if (!may_run(&callee, inner))
        return 0;
    if (argument)
        return stet_python_argument_value(m, argument);
    if (!callee.definition || !callee.module)
        return 0;
    name = stet_intern_find(&callee.module->ast.names, parameter);
    if (name == STET_INTERN_NONE ||
        !stet_python_parameter(callee.module, callee.definition, name, &position) ||
        position < callee.bound)
        return 0;
    return stet_python_argument(m, call, position - callee.bound);
}

/* The variable of an argument: `batch` of batch, batch["x"] and batch.x; 0 for another expression.
 */
static stet_python_ref variable_of(const struct stet_python_module *m, stet_python_ref n)
{
    while (n && (stet_python_kind(&m->ast, n) == PY_SUBSCRIPT ||
                 stet_python_kind(&m->ast, n) == PY_ATTRIBUTE))
        n = stet_python_child(&m->ast, n);
    return n && stet_python_kind(&m->ast, n) == PY_IDENTIFIER ? n : 0;
}

uint32_t stet_python_passed_line(struct stet_python_sources *s,
                                 const struct stet_python_waiting *calls, size_t count,
                                 struct stet_view parameter, size_t *at)
{
    struct inner inner = {0};

    for (size_t i = 0; i < count; i++) {
        const struct stet_python_module *m = stet_python_open(s, calls[i].file);
        stet_python_ref statement = m ? stet_python_statement_at(m, calls[i].line) : 0;
        stet_python_ref n = 0, variable = 0;
        struct stet_python_question q;
        struct stet_python_flow *x = stet_python_ask(&q, s, m);
        uint32_t line;

        while (!variable && stet_python_own_next(m, statement, &n))
            if (stet_python_kind(&m->ast, n) == PY_CALL)
                variable = variable_of(m, passed(x, n, &inner, parameter));
        if (!variable)
            return 0;
        parameter = stet_python_text(&m->ast, variable);
        line = stet_python_binding_line(s, calls[i].file, calls[i].line, parameter);
        *at = i;
        inner = (struct inner){m, stet_python_function_around(m, statement)};
        if (line || !inner.node ||
            !stet_python_parameter(m, inner.node, stet_python_name(&m->ast, variable),
                                   &(uint32_t){0}))
            return line;
    }
    return 0;
}
