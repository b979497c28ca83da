/* Questions about functions: their parameters, their calls, and what makes them compiled. */
#include "python/queries_internal.h"

stet_python_ref stet_python_find_function(const struct stet_python_module *m, struct stet_view name,
                                          uint32_t line)
{
    stet_python_ref n = line ? stet_python_statement_at(m, line) : 0;

    for (n = n ? stet_python_function_around(m, n) : 0; n; n = stet_python_function_around(m, n)) {
        stet_python_ref its = stet_python_field(&m->ast, n, PY_FIELD_NAME);

        if (its && stet_view_eq(stet_python_text(&m->ast, its), name))
            return n;
    }
    return stet_python_function_named(m, name);
}

uint32_t stet_python_only_loop(struct stet_python_sources *s, struct stet_view file,
                               struct stet_view function, uint32_t line)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref f = m ? stet_python_find_function(m, function, line) : 0, found = 0;

    for (stet_python_ref n = f;
         f && n < m->ast.count && m->ast.nodes[n].start < m->ast.nodes[f].end; n++) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if ((k != PY_FOR && k != PY_WHILE) || stet_python_function_around(m, n) != f)
            continue;
        if (found)
            return 0;
        found = n;
    }
    return found ? stet_python_line(m, found) : 0;
}

/* ---- calls ---- */

/* Is it an object of a library's: what an import from outside the project made, directly or
 * through one name? Its methods are none of the user's functions. */
static bool is_librarys(struct stet_python_flow *x, stet_python_ref n, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_value unused;
    uint32_t name;

    while (n && stet_python_kind(&m->ast, n) != PY_IDENTIFIER)
        n = stet_python_child(&m->ast, n);
    name = stet_python_name(&m->ast, n);
    if (!name)
        return false;
    if (m->imports[name].len)
        return !stet_python_flow_of_import(x, m->imports[name], &unused);
    for (uint32_t i = depth ? 0 : m->first_binding[name]; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->how == PY_BIND_VALUE && !b->attribute &&
            stet_python_kind(&m->ast, b->value) == PY_CALL && is_librarys(x, b->value, depth + 1))
            return true;
    }
    return false;
}

bool stet_python_called_elsewhere(struct stet_python_sources *s, struct stet_view file,
                                  struct stet_view function, uint32_t line)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref mine = m ? stet_python_statement_at(m, line) : 0;
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, m);

    for (size_t i = 0; m && i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i];

        if (stet_view_eq(stet_python_callee(m, call), function) &&
            m->ast.nodes[call].row + 1 != line && /* a line may have two statements */
            stet_python_statement_of(m, call) != mine &&
            !is_librarys(x, stet_python_callee_object(m, call), 0))
            return true;
    }
    return false;
}

/* ---- parameters ---- */

/* `name is None`, `name is not None` somewhere in the function. */
static bool compared_with_none(const struct stet_python_module *m, stet_python_ref function,
                               uint32_t name)
{
    const struct stet_python_ast *a = &m->ast;

    for (stet_python_ref n = function + 1;
         n < a->count && a->nodes[n].start < a->nodes[function].end; n++) {
        bool named = false, none = false;

        if (a->nodes[n].kind != PY_COMPARISON)
            continue;
        for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
            named |= stet_python_name(a, c) == name;
            none |= stet_python_kind(a, c) == PY_NONE_;
        }
        if (named && none)
            return true;
    }
    return false;
}

bool stet_python_may_be_absent(struct stet_python_sources *s, struct stet_view file,
                               struct stet_view function, struct stet_view parameter)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref f = m ? stet_python_find_function(m, function, 0) : 0, p;
    uint32_t name = f ? stet_intern_find(&m->ast.names, parameter) : STET_INTERN_NONE, position;

    if (!f || name == STET_INTERN_NONE)
        return false;
    p = stet_python_parameter(m, f, name, &position);
    return (p && stet_python_field(&m->ast, p, PY_FIELD_VALUE)) || compared_with_none(m, f, name);
}

stet_python_ref stet_python_function_at(const struct stet_python_module *m, uint32_t line)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref n = stet_python_statement_at(m, line), lambda = 0;

    if (stet_python_kind(a, n) == PY_DECORATED)
        n = stet_python_field(a, n, PY_FIELD_DEFINITION);
    if (stet_python_kind(a, n) == PY_FUNCTION)
        return n;
    for (stet_python_ref c = n; n && c < a->count && a->nodes[c].start < a->nodes[n].end; c++)
        if (!lambda && a->nodes[c].kind == PY_LAMBDA && a->nodes[c].row + 1 == line)
            lambda = c;
    return lambda;
}

enum stet_python_name_role stet_python_name_role(struct stet_python_sources *s,
                                                 struct stet_view file, uint32_t line,
                                                 struct stet_view name, struct stet_view *value)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref f = m ? stet_python_function_at(m, line) : 0, p, text;
    uint32_t number = f ? stet_intern_find(&m->ast.names, name) : STET_INTERN_NONE, position;

    *value = (struct stet_view){0};
    if (!f)
        return PY_NAME_UNKNOWN;
    p = number == STET_INTERN_NONE ? 0 : stet_python_parameter(m, f, number, &position);
    if (!p)
        return PY_NAME_FREE;
    text = stet_python_field(&m->ast, p, PY_FIELD_VALUE);
    *value = text ? stet_python_text(&m->ast, text) : *value;
    return text ? PY_NAME_DEFAULT : PY_NAME_PARAMETER;
}

uint32_t stet_python_def_line(struct stet_python_sources *s, struct stet_view file, uint32_t line)
{
    bool decorated = stet_view_starts(stet_python_line_text(s, file, line), "@");
    const struct stet_python_module *m = decorated ? stet_python_open(s, file) : NULL;
    stet_python_ref n = m ? stet_python_statement_at(m, line) : 0;

    if (!n || stet_python_kind(&m->ast, n) != PY_DECORATED)
        return line;
    n = stet_python_field(&m->ast, n, PY_FIELD_DEFINITION);
    return n ? stet_python_line(m, n) : line;
}

/* ---- static arguments ---- */

static uint64_t number_bit(const struct stet_python_ast *a, stet_python_ref n)
{
    struct stet_view v = stet_python_text(a, n);
    uint32_t value = 0;

    if (stet_python_kind(a, n) != PY_INTEGER)
        return 0;
    for (size_t i = 0; i < v.len && v.ptr[i] >= '0' && v.ptr[i] <= '9' && value < 64; i++)
        value = value * 10 + (uint32_t)(v.ptr[i] - '0');
    return value < 64 ? (uint64_t)1 << value : 0;
}

/* 2, "n", (0, "n"), ["a", "b"]: the positions that an option names or numbers. */
static uint64_t listed(const struct stet_python_module *m, stet_python_ref function,
                       const struct stet_python_module *by, stet_python_ref option)
{
    const struct stet_python_ast *a = &by->ast;
    struct stet_view text = option ? stet_python_string(a, option) : (struct stet_view){0};
    uint64_t bits = option ? number_bit(a, option) : 0;
    uint32_t position, name;

    if (text.len) {
        name = stet_intern_find(&m->ast.names, text);
        if (name != STET_INTERN_NONE && stet_python_parameter(m, function, name, &position) &&
            position < 64)
            bits |= (uint64_t)1 << position;
        return bits;
    }
    for (stet_python_ref c = option ? stet_python_child(a, option) : 0; c;
         c = stet_python_next(a, c))
        bits |= listed(m, function, by, c);
    return bits;
}

static uint64_t options_of(const struct stet_python_module *m, stet_python_ref function,
                           const struct stet_python_module *by, stet_python_ref call)
{
    uint64_t bits = 0;
    const struct stet_python_option *known;

    for (size_t i = 0; call && (known = stet_python_option(i)); i++) {
        stet_python_ref option = stet_python_keyword(by, call, stet_view_str(known->name));

        if (known->what != PY_STATIC_PLACES && known->what != PY_STATIC_NAMES)
            continue;

        /* STATIC = ("n",) above, and static_argnames=STATIC here */
        for (uint32_t b = option && stet_python_name(&by->ast, option)
                              ? by->first_binding[stet_python_name(&by->ast, option)]
                              : 0;
             b; b = by->bindings.items[b - 1].next)
            bits |= listed(m, function, by, by->bindings.items[b - 1].value);
        bits |= listed(m, function, by, option);
    }
    return bits;
}

/* The parameters that are static for jit: by a decorator, or by a call that names the function. */
static uint64_t static_of(struct stet_python_flow *x, stet_python_ref function)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_transform *t;
    stet_python_ref at = 0, options;
    uint64_t bits = 0;

    while ((t = stet_python_decorator(x, function, &at, &options)))
        bits |= t->kind == PY_JITS ? options_of(m, function, m, options) : 0;
    for (size_t i = 0; i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i], operand = stet_python_argument(m, call, 0);

        t = operand ? stet_python_resolve(x, call).transform : NULL;
        if (t && t->kind == PY_JITS && stet_python_resolve_name(x, operand).definition == function)
            bits |= options_of(m, function, m, call);
    }
    return bits;
}

/* Returns the part of a statement that gives a beginning: x[n:…], x[n], roll(x, n). */
static stet_python_ref start_in(struct stet_python_flow *x, stet_python_ref n, stet_python_ref at)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    const struct stet_python_array *array;
    stet_python_ref c;
    uint32_t first;

    if (stet_python_kind(a, n) == PY_SUBSCRIPT) {
        c = at ? stet_python_next(a, at)
               : stet_python_next(a, stet_python_field(a, n, PY_FIELD_VALUE));
        return c;
    }
    array = !at && stet_python_kind(a, n) == PY_CALL ? stet_python_array_call(x, n) : NULL;
    if (!array || !(array->role & (PY_STARTS | PY_SPLITS | PY_GATHERS)))
        return 0;
    first = array->first - (stet_python_resolve(x, n).object && array->first ? 1 : 0);
    c = stet_python_field(a, n, PY_FIELD_ARGUMENTS);
    for (c = c ? stet_python_child(a, c) : 0; c && first; first--)
        c = stet_python_next(a, c);
    return c;
}

/* Of a slice, only the part before its colon. */
static stet_python_ref begin_of(const struct stet_python_ast *a, stet_python_ref n)
{
    stet_python_ref c;

    if (stet_python_kind(a, n) != PY_SLICE)
        return n;
    c = stet_python_child(a, n);
    return c && a->nodes[c].start == a->nodes[n].start ? c : 0;
}

static uint64_t starts_by(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    uint64_t bits = 0;

    for (stet_python_ref part = start_in(x, n, 0); part; part = start_in(x, n, part))
        bits |= stet_python_flow_of(x, begin_of(a, part)).parameters;
    return bits;
}

static struct stet_view parameter_at(const struct stet_python_module *m, stet_python_ref function,
                                     uint64_t bits)
{
    stet_python_ref list = stet_python_field(&m->ast, function, PY_FIELD_PARAMETERS);
    uint32_t position = 0;

    for (stet_python_ref c = list ? stet_python_child(&m->ast, list) : 0; c;
         c = stet_python_next(&m->ast, c)) {
        uint32_t name = stet_python_parameter_name(m, c);

        if (name && position < 64 && (bits & (uint64_t)1 << position))
            return m->ast.names.items[name];
        position += name != 0;
    }
    return (struct stet_view){0};
}

struct stet_view stet_python_static_used(struct stet_python_sources *s, struct stet_view file,
                                         struct stet_view function, struct stet_view where,
                                         uint32_t at, bool starts)
{
    struct stet_python_question q;
    const struct stet_python_module *m = stet_python_open(s, file), *used;
    stet_python_ref f = m ? stet_python_find_function(m, function, 0) : 0, statement, n = 0;
    struct stet_python_flow *x;
    uint64_t bits = 0;

    if (!f)
        return (struct stet_view){0};
    x = stet_python_ask(&q, s, m);
    x->asked_static = static_of(x, f);
    used = x->asked_static ? stet_python_open(s, where) : NULL;
    statement = used ? stet_python_statement_at(used, at) : 0;
    if (!statement)
        return (struct stet_view){0};
    x->asked = f;
    x->asked_in = m;
    q.frame.module = used;
    while (!(bits & x->asked_static) && stet_python_own_next(used, statement, &n)) {
        enum stet_python_kind k = stet_python_kind(&used->ast, n);

        x->steps = 0;
        if (starts)
            bits |= starts_by(x, n);
        else if (k == PY_IDENTIFIER && used->ast.nodes[n].field != PY_FIELD_ATTRIBUTE)
            bits |= stet_python_flow_of(x, n).parameters;
    }
    return parameter_at(m, f, bits & x->asked_static);
}

struct stet_view stet_python_traced_parameter(struct stet_python_sources *s, struct stet_view file,
                                              struct stet_view function, uint32_t line,
                                              struct stet_view operation)
{
    struct stet_python_question q;
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref f = m ? stet_python_find_function(m, function, line) : 0;
    stet_python_ref statement = f ? stet_python_statement_at(m, line) : 0, at = 0, options;
    const struct stet_python_transform *t;
    struct stet_python_flow *x;
    bool traced = false;

    if (!statement)
        return (struct stet_view){0};
    x = stet_python_ask(&q, s, m);
    while (!traced && (t = stet_python_decorator(x, f, &at, &options)))
        traced = t->kind == PY_JITS && t->lane == PY_LANE_XLA;
    for (size_t i = 0; !traced && i < m->calls.count; i++) {
        t = stet_python_resolve(x, m->calls.items[i]).transform;
        traced =
            t && t->kind == PY_JITS && t->lane == PY_LANE_XLA &&
            stet_python_resolve_name(x, stet_python_argument(m, m->calls.items[i], 0)).definition ==
                f;
    }
    x->asked = f;
    x->asked_in = m;
    x->asked_static = UINT64_MAX;
    return traced
               ? parameter_at(m, f, stet_python_numbers_given(x, statement, operation).parameters)
               : (struct stet_view){0};
}

struct stet_view stet_python_function_name(const struct stet_python_module *m, stet_python_ref n)
{
    stet_python_ref function = stet_python_function_around(m, n);
    stet_python_ref name = function ? stet_python_field(&m->ast, function, PY_FIELD_NAME) : 0;

    return name       ? stet_python_text(&m->ast, name)
           : function ? STET_VIEW("<lambda>")
                      : STET_VIEW("<module>");
}
