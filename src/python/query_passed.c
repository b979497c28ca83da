/* Follows an argument of a call back to the line that decided it: the one that assigned the
 * variable, through the functions that pass it on, or the call that has another expression. */
#include "python/queries_internal.h"

#define UNKNOWN UINT32_MAX

/* A parameter of the function that is called next. */
struct wanted {
    struct stet_view name;
    uint32_t position; /* in a call, or UNKNOWN */
    const struct stet_python_module *module;
    stet_python_ref function; /* 0 when it is not known */
};

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

/* How likely it is that a call runs the function. */
enum likely {
    LIKELY_NOT,    /* it runs another one */
    LIKELY_METHOD, /* a method that has the name of a library's */
    LIKELY_MAYBE,  /* it is not known what it runs */
    LIKELY_YES,
};

static enum likely runs(const struct stet_python_callee *c, const struct wanted *w)
{
    if (c->definition)
        return !w->function || (c->definition == w->function && c->module == w->module)
                   ? LIKELY_YES
                   : LIKELY_NOT;
    if (c->effect <= PY_GIVES_UNKNOWN && !c->transform)
        return LIKELY_MAYBE;
    return c->object ? LIKELY_METHOD : LIKELY_NOT;
}

/* The position of a parameter in a call of its function: a bound object is not passed. */
static uint32_t position_in(const struct stet_python_module *m, stet_python_ref function,
                            struct stet_view name, uint32_t bound)
{
    uint32_t number = stet_intern_find(&m->ast.names, name), position = 0;

    if (number == STET_INTERN_NONE || !stet_python_parameter(m, function, number, &position) ||
        position < bound)
        return UNKNOWN;
    return position - bound;
}

/* Does the function take any number of arguments? */
static bool takes_any(const struct stet_python_module *m, stet_python_ref function)
{
    stet_python_ref list = stet_python_field(&m->ast, function, PY_FIELD_PARAMETERS);

    return list && stet_python_child_of(&m->ast, list, PY_LIST_SPLAT_PATTERN);
}

static stet_python_ref passed_to(struct stet_python_flow *x, stet_python_ref call,
                                 const struct stet_python_callee *c, const struct wanted *w)
{
    const struct stet_python_module *m = x->frame->module;
    stet_python_ref argument = stet_python_keyword(m, call, w->name);
    bool bound = c->bound || (c->definition && stet_python_is_method(c->module, c->definition) &&
                              stet_python_callee_object(m, call));
    uint32_t position =
        c->definition ? position_in(c->module, c->definition, w->name, bound) : w->position;

    if (c->definition && position == UNKNOWN && takes_any(c->module, c->definition))
        position = w->position;
    if (!argument && position != UNKNOWN)
        argument = stet_python_argument(m, call, position);
    return argument ? stet_python_argument_value(m, argument) : 0;
}

/* What a statement passes as the parameter. *call is the call that does, or that passes on
 * everything it was given (`f(*args, **options)`); then 0 is returned. */
static stet_python_ref passed(struct stet_python_flow *x, stet_python_ref statement,
                              const struct wanted *w, stet_python_ref *call)
{
    const struct stet_python_module *m = x->frame->module;

    *call = 0;
    for (enum likely likely = LIKELY_YES; likely != LIKELY_NOT; likely--)
        for (stet_python_ref n = 0; stet_python_own_next(m, statement, &n);) {
            struct stet_python_callee c;
            stet_python_ref argument, list;

            if (stet_python_kind(&m->ast, n) != PY_CALL)
                continue;
            c = callee_of(x, n);
            if (runs(&c, w) != likely)
                continue;
            argument = passed_to(x, n, &c, w);
            list = stet_python_field(&m->ast, n, PY_FIELD_ARGUMENTS);
            if (argument || stet_python_child_of(&m->ast, list, PY_LIST_SPLAT)) {
                *call = n;
                return argument;
            }
        }
    return 0;
}

stet_python_ref stet_python_passed_in(struct stet_python_flow *x, stet_python_ref statement,
                                      const struct stet_python_module *m, stet_python_ref function,
                                      struct stet_view parameter)
{
    struct wanted w = {.name = parameter,
                       .position =
                           position_in(m, function, parameter, stet_python_is_method(m, function)),
                       .module = m,
                       .function = function};
    stet_python_ref call;

    return passed(x, statement, &w, &call);
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

/* Does the statement name the key: as a text, a keyword or a field? */
static bool names_key(const struct stet_python_module *m, stet_python_ref statement,
                      struct stet_view key)
{
    stet_python_ref n = 0;

    while (stet_python_own_next(m, statement, &n)) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if ((k == PY_STRING && stet_view_eq(stet_python_string(&m->ast, n), key)) ||
            (k == PY_IDENTIFIER && stet_view_eq(stet_python_text(&m->ast, n), key)))
            return true;
    }
    return false;
}

/* The last line before the use that assigns the variable and names the key; 0 for none. */
static uint32_t keyed_line(const struct stet_python_module *m, stet_python_ref use, uint32_t name,
                           struct stet_view key)
{
    stet_python_ref function = stet_python_function_around(m, use);
    uint32_t last = 0, end = stet_python_line(m, use);

    for (uint32_t i = key.len ? m->first_binding[name] : 0; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        stet_python_ref statement = stet_python_statement_of(m, b->target);
        uint32_t line = stet_python_line(m, statement);

        if (b->scope == function && !b->attribute && b->how < PY_BIND_FUNCTION && line < end &&
            line > last && names_key(m, statement, key))
            last = line;
    }
    return last;
}

/* Is it the name of a variable or a field whose value is used, not of a function or a keyword? */
static bool is_read(const struct stet_python_module *m, stet_python_ref n)
{
    enum stet_python_field f = m->ast.nodes[n].field;

    if (f == PY_FIELD_ATTRIBUTE)
        f = m->ast.nodes[m->parents[n]].field;
    return stet_python_kind(&m->ast, n) == PY_IDENTIFIER && f != PY_FIELD_FUNCTION &&
           f != PY_FIELD_NAME;
}

/* Does a line of the loop around the use assign the variable or the field, beside the use itself?
 */
static bool is_assigned(const struct stet_python_module *m, stet_python_ref use, stet_python_ref n)
{
    stet_python_ref function = stet_python_function_around(m, use);
    stet_python_ref loop = stet_python_loop_around(m, use);
    bool field = m->ast.nodes[n].field == PY_FIELD_ATTRIBUTE;

    for (uint32_t i = m->first_binding[stet_python_name(&m->ast, n)]; i;
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->scope == function && b->attribute == field && b->how == PY_BIND_VALUE &&
            stet_python_statement_of(m, b->target) != use &&
            (!loop || stet_python_is_inside(m, b->target, loop)))
            return true;
    }
    return false;
}

/* The line that assigned the only variable or field in an expression that the loop assigns; 0 when
 * there is none, or there are several. */
static uint32_t inner_line(struct stet_python_sources *s, const struct stet_python_module *m,
                           stet_python_ref use, stet_python_ref expression)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref found = 0;

    for (stet_python_ref n = expression;
         n < a->count && a->nodes[n].start < a->nodes[expression].end; n++) {
        if (!is_read(m, n) || !is_assigned(m, use, n))
            continue;
        if (found && stet_python_name(a, found) != stet_python_name(a, n))
            return 0;
        found = n;
    }
    if (found && a->nodes[found].field == PY_FIELD_ATTRIBUTE)
        found = m->parents[found];
    return found ? stet_python_binding_line(s, stet_view_str(m->path), stet_python_line(m, use),
                                            stet_python_text(a, found))
                 : 0;
}

/* The line that decided an expression of a statement: 0 when that is a parameter of the function
 * around, which *parameter is then. */
static uint32_t decided(struct stet_python_sources *s, const struct stet_python_module *m,
                        stet_python_ref use, stet_python_ref n,
                        const struct stet_python_passed *what, stet_python_ref *parameter)
{
    struct stet_view file = stet_view_str(m->path);
    uint32_t at = stet_python_line(m, use), line = 0;
    stet_python_ref variable = variable_of(m, n), function = stet_python_function_around(m, use);

    *parameter = 0;
    if (!variable) {
        line = what->parts ? inner_line(s, m, use, n) : 0;
        return line ? line : at;
    }
    line = keyed_line(m, use, stet_python_name(&m->ast, variable), what->key);
    if (!line && stet_python_kind(&m->ast, n) == PY_ATTRIBUTE)
        line = stet_python_binding_line(s, file, at, stet_python_text(&m->ast, n));
    if (!line)
        line = stet_python_binding_line(s, file, at, stet_python_text(&m->ast, variable));
    if (!line && function &&
        stet_python_parameter(m, function, stet_python_name(&m->ast, variable), &(uint32_t){0}))
        *parameter = variable;
    return line || *parameter || variable == n ? line : at;
}

/* Goes on from a function to its caller: with the parameter that it passes on, or with the same
 * argument if `call` passes on all that the function was given. */
static bool ascend(struct wanted *w, const struct stet_python_module *m, stet_python_ref use,
                   stet_python_ref parameter, stet_python_ref call)
{
    stet_python_ref function = stet_python_function_around(m, use);
    uint32_t bound = function && stet_python_is_method(m, function), named = 0, given = 0;
    stet_python_ref list = function ? stet_python_field(&m->ast, function, PY_FIELD_PARAMETERS) : 0;

    if (!function)
        return false;
    w->module = m;
    w->function = function;
    if (parameter) {
        w->name = stet_python_text(&m->ast, parameter);
        w->position = position_in(m, function, w->name, bound);
        return true;
    }
    for (stet_python_ref c = stet_python_child(&m->ast, list); c;
         c = stet_python_next(&m->ast, c)) {
        if (stet_python_kind(&m->ast, c) == PY_LIST_SPLAT_PATTERN) {
            while (stet_python_argument(m, call, given))
                given++;
            if (w->position != UNKNOWN)
                w->position = w->position < given ? UNKNOWN : w->position - given + named - bound;
            return true;
        }
        named++;
    }
    return false;
}

uint32_t stet_python_passed_line(struct stet_python_sources *s,
                                 const struct stet_python_waits *waits,
                                 const struct stet_python_passed *what, size_t *at)
{
    const struct stet_python_module *of = what->file.len ? stet_python_open(s, what->file) : NULL;
    stet_python_ref function = of ? stet_python_function_at(of, what->line) : 0;
    struct wanted w = {.name = what->parameter, .position = UNKNOWN};

    if (function)
        w.position = position_in(of, function, w.name, stet_python_is_method(of, function));
    for (size_t i = 0; i < waits->count; i++) {
        const struct stet_python_waiting *at_call = &waits->calls[i];
        const struct stet_python_module *m = stet_python_open(s, at_call->file);
        stet_python_ref use = m ? stet_python_statement_at(m, at_call->line) : 0;
        stet_python_ref n, call, parameter = 0;
        struct stet_python_question q;

        n = use ? passed(stet_python_ask(&q, s, m), use, &w, &call) : 0;
        if (!n && (!use || !call))
            return 0;
        *at = i;
        if (n) {
            uint32_t line = decided(s, m, use, n, what, &parameter);

            if (line || !parameter)
                return line;
        }
        if (!ascend(&w, m, use, parameter, call))
            return 0;
    }
    return 0;
}

uint32_t stet_python_made_with(struct stet_python_sources *s, struct stet_view file, uint32_t use)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref statement = m ? stet_python_statement_at(m, use) : 0, n = 0, made;

    while (stet_python_own_next(m, statement, &n)) {
        if (stet_python_kind(&m->ast, n) != PY_CALL)
            continue;
        made = stet_python_field(&m->ast, n, PY_FIELD_FUNCTION);
        if (stet_python_kind(&m->ast, made) == PY_CALL) {
            uint32_t line =
                inner_line(s, m, statement, stet_python_field(&m->ast, made, PY_FIELD_ARGUMENTS));

            return line ? line : stet_python_line(m, statement);
        }
    }
    return 0;
}
