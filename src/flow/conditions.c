/* Questions about a condition: does it test the rank of the process, does it hold in some steps
 * only? */
#include "flow/walk.h"

bool stet_flow_asks_rank(struct stet_flow_walk *w, stet_python_ref n)
{
    return n && (w->facts & FLOW_USES_PROCESS) && stet_flow_origins(w, n) & PY_FROM_PROCESS;
}

/* What an instance of the type is, or of each of several: a container, or another thing of the
 * host; otherwise PY_GIVES_UNKNOWN. */
static enum stet_python_effect instance_of(const struct stet_flow_walk *w, stet_python_ref type)
{
    static const char builtins[] = "builtins.";
    const struct stet_python_ast *a = w->ast;
    enum stet_python_effect all = PY_GIVES_UNKNOWN;
    struct stet_view dotted;
    char room[160];

    type = stet_python_bare(a, type);
    if (stet_python_kind(a, type) == PY_SUBSCRIPT) { /* list[str]: what it holds decides */
        type = stet_python_field(a, type, PY_FIELD_VALUE);
        for (stet_python_ref c = stet_python_next(a, type); c; c = stet_python_next(a, c))
            if (instance_of(w, c) != PY_GIVES_HOST)
                return instance_of(w, type);
        return instance_of(w, type) == PY_GIVES_HOLDS ? PY_GIVES_HOST : PY_GIVES_UNKNOWN;
    }
    if (stet_python_kind(a, type) == PY_TUPLE) {
        for (stet_python_ref c = stet_python_child(a, type); c; c = stet_python_next(a, c)) {
            enum stet_python_effect one = instance_of(w, c);

            if (one == PY_GIVES_UNKNOWN || (all != PY_GIVES_UNKNOWN && all != one))
                return PY_GIVES_UNKNOWN;
            all = one;
        }
        return all;
    }
    dotted = stet_python_full_name(w->module, type, room);
    if (stet_view_starts(dotted, builtins))
        dotted = stet_view_of(dotted.ptr + sizeof builtins - 1, dotted.len - sizeof builtins + 1);
    switch (stet_python_library_type(dotted)) {
    case PY_GIVES_HOLDS:
        return PY_GIVES_HOLDS;
    case PY_GIVES_HOST:
    case PY_GIVES_SCALAR:
    case PY_GIVES_IMAGE:
    case PY_GIVES_UNKNOWN: /* an array of the host */
        return PY_GIVES_HOST;
    default:
        return PY_GIVES_UNKNOWN;
    }
}

stet_python_ref stet_flow_checked_host(const struct stet_flow_walk *w, stet_python_ref test,
                                       bool *container)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref of, type;
    enum stet_python_effect is;

    test = stet_python_bare(a, test);
    *container = false;
    if (stet_python_kind(a, test) == PY_BOOLEAN && stet_python_at(a, test)->op == 'a') {
        of = stet_flow_checked_host(w, stet_python_field(a, test, PY_FIELD_LEFT), container);
        return of ? of
                  : stet_flow_checked_host(w, stet_python_field(a, test, PY_FIELD_RIGHT),
                                           container);
    }
    if (stet_python_kind(a, test) != PY_CALL ||
        stet_python_call_meaning(w->module, test) != PY_MEANS_CHECKS_TYPE)
        return 0;
    of = stet_python_argument(w->module, test, 0);
    type = stet_python_argument(w->module, test, 1);
    while (stet_python_kind(a, of) == PY_SUBSCRIPT) /* isinstance(x[0], int): all items are */
        of = stet_python_field(a, of, PY_FIELD_VALUE);
    if (!of || !type || !stet_python_name(a, of))
        return 0;
    is = instance_of(w, type);
    *container = of == stet_python_argument(w->module, test, 0) && is == PY_GIVES_HOLDS;
    return *container || is == PY_GIVES_HOST ? of : 0;
}

/* A class of this file, or of another one that is no library's. */
static bool is_own_class(const struct stet_flow_walk *w, stet_python_ref type)
{
    const struct stet_python_module *m = w->module;
    char room[160];
    struct stet_view dotted = stet_python_imported(m, type, room);
    uint32_t name = stet_python_name(w->ast, type);

    if (dotted.len)
        return !stet_flow_is_library(dotted) &&
               stet_python_library_type(dotted) == PY_GIVES_NOTHING_KNOWN;
    return name &&
           stet_python_kind(w->ast, stet_python_defined(m, stet_python_function_around(m, type),
                                                        name)) == PY_CLASS;
}

stet_python_ref stet_flow_checked_object(const struct stet_flow_walk *w, stet_python_ref test)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref of, type;

    test = stet_python_bare(a, test);
    if (stet_python_kind(a, test) != PY_CALL ||
        stet_python_call_meaning(w->module, test) != PY_MEANS_CHECKS_TYPE)
        return 0;
    of = stet_python_argument(w->module, test, 0);
    type = stet_python_bare(a, stet_python_argument(w->module, test, 1));
    return stet_python_name(a, of) && type && is_own_class(w, type) ? of : 0;
}

/* Is the type, or one of several, an array on a device? */
static bool names_array(const struct stet_flow_walk *w, stet_python_ref type)
{
    const struct stet_python_ast *a = w->ast;
    char room[160];

    type = stet_python_bare(a, type);
    if (stet_python_kind(a, type) != PY_TUPLE)
        return stet_python_library_type(stet_python_full_name(w->module, type, room)) ==
               PY_GIVES_DEVICE;
    for (stet_python_ref c = stet_python_child(a, type); c; c = stet_python_next(a, c))
        if (names_array(w, c))
            return true;
    return false;
}

stet_python_ref stet_flow_checked_array(const struct stet_flow_walk *w, stet_python_ref test)
{
    stet_python_ref of, type;

    if (stet_python_kind(w->ast, test) != PY_CALL ||
        stet_python_call_meaning(w->module, test) != PY_MEANS_CHECKS_TYPE)
        return 0;
    of = stet_python_argument(w->module, test, 0);
    type = stet_python_argument(w->module, test, 1);
    return stet_python_name(w->ast, of) && type && names_array(w, type) ? of : 0;
}

/* Is it a Python number that counts: a loop's, or an attribute that a method changes? */
static bool counts(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_value v = stet_flow_value_of(w, n);
    stet_python_ref object =
        stet_python_kind(a, n) == PY_ATTRIBUTE ? stet_python_field(a, n, PY_FIELD_OBJECT) : 0;
    uint32_t owner = stet_flow_self_class(w, object);

    if (v.kind <= FLOW_V_PYTHON && stet_flow_turns(v))
        return true;
    return owner != FLOW_NONE &&
           (stet_flow_attribute_moves(
                w, owner, stet_python_name(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE))) &
            FLOW_KEEPS_MOVING);
}

/* step, step + 1, state.step: what was passed, and no number that is computed from it. */
static bool is_passed(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left;

    n = stet_python_bare(a, n);
    switch (stet_python_kind(a, n)) {
    case PY_IDENTIFIER:
        return stet_flow_is_parameter(w, n);
    case PY_ATTRIBUTE:
        return is_passed(w, stet_python_field(a, n, PY_FIELD_OBJECT));
    case PY_BINARY:
        left = stet_python_field(a, n, PY_FIELD_LEFT);
        return stet_python_kind(a, stet_python_field(a, n, PY_FIELD_RIGHT)) == PY_INTEGER &&
               (a->nodes[n].op == '+' || a->nodes[n].op == '-') && is_passed(w, left);
    default:
        return false;
    }
}

/* The left side of step % n in the condition counts by itself, or is a parameter: then *deps. */
stet_python_ref stet_flow_every_n(struct stet_flow_walk *w, stet_python_ref n, uint64_t *deps)
{
    const struct stet_python_ast *a = w->ast;

    *deps = 0;
    for (stet_python_ref c = n; stet_flow_within(w, c, n); c++) {
        stet_python_ref left = a->nodes[c].kind == PY_BINARY && a->nodes[c].op == '%'
                                   ? stet_python_bare(a, stet_python_field(a, c, PY_FIELD_LEFT))
                                   : 0;
        struct stet_flow_value v = stet_flow_value_of(w, left);

        for (stet_python_ref part = left; left && stet_flow_within(w, part, left); part++) {
            if (a->nodes[part].kind == PY_SUBSCRIPT)
                break; /* shape[i] % 8: an item, and not its number */
            if (counts(w, part))
                return c;
        }
        if (left && !stet_flow_is_strong(v) && v.kind != FLOW_V_SHAPE && v.kind != FLOW_V_HOST &&
            is_passed(w, left))
            *deps = v.deps & ~FLOW_ALWAYS;
        if (*deps)
            return c;
    }
    return 0;
}

bool stet_flow_leaves(const struct stet_flow_walk *w, stet_python_ref block)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref last = stet_python_child(a, block);

    while (last && stet_python_next(a, last))
        last = stet_python_next(a, last);
    switch (stet_python_kind(a, last)) {
    case PY_RETURN:
    case PY_RAISE:
    case PY_CONTINUE:
    case PY_BREAK:
        return true;
    default:
        return false;
    }
}

/* raise …, assert False, torch._assert(False, …) */
static bool raises(const struct stet_flow_walk *w, stet_python_ref statement)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref first = stet_python_child(a, statement);

    switch (stet_python_kind(a, statement)) {
    case PY_RAISE:
        return true;
    case PY_ASSERT:
        return stet_python_kind(a, first) == PY_FALSE;
    case PY_EXPRESSION_STATEMENT:
        return stet_python_kind(a, first) == PY_CALL &&
               stet_python_call_meaning(w->module, first) == PY_MEANS_ASSERTS &&
               stet_python_kind(a, stet_python_argument(w->module, first, 0)) == PY_FALSE;
    default:
        return false;
    }
}

bool stet_flow_fails(const struct stet_flow_walk *w, stet_python_ref block)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref last = block ? stet_python_child(a, block) : 0;

    while (last && stet_python_next(a, last))
        last = stet_python_next(a, last);
    if (!last || !raises(w, last))
        return false;
    for (stet_python_ref c = block; stet_flow_within(w, c, block); c++) {
        switch (a->nodes[c].kind) {
        case PY_RETURN:
        case PY_CONTINUE:
        case PY_BREAK:
        case PY_TRY:
            return false;
        default:
            break;
        }
    }
    return true;
}

/* The name in table[key], if it is one of the module's. */
static uint32_t table_of(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t name = stet_python_kind(a, n) == PY_SUBSCRIPT
                        ? stet_python_name(a, stet_python_field(a, n, PY_FIELD_VALUE))
                        : 0;

    return name && stet_flow_scope_find(&w->fns[0].scope, name) ? name : 0;
}

static bool is_read_before(const struct stet_flow_walk *w, stet_python_ref body,
                           stet_python_ref target, uint32_t table)
{
    for (stet_python_ref c = body; c < target && stet_flow_spend(w); c++)
        if (stet_python_name(w->ast, c) == table)
            return true;
    return false;
}

bool stet_flow_keeps_result(const struct stet_flow_walk *w, uint32_t fn)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = w->fns[fn].body, last = 0;
    uint32_t result, table;

    if (stet_python_kind(a, body) != PY_BLOCK)
        return false;
    for (stet_python_ref c = stet_python_child(a, body); c; c = stet_python_next(a, c))
        last = stet_python_kind(a, c) == PY_COMMENT ? last : c;
    last = stet_python_kind(a, last) == PY_RETURN ? stet_python_child(a, last) : 0;
    result = last ? stet_python_name(a, last) : 0;
    for (stet_python_ref c = body; last && stet_flow_within(w, c, body); c++) {
        stet_python_ref left =
            a->nodes[c].kind == PY_ASSIGNMENT ? stet_python_field(a, c, PY_FIELD_LEFT) : 0;

        if (!left || !(table = table_of(w, left)) || !is_read_before(w, body, left, table))
            continue;
        if (table_of(w, last) == table ||
            (result && stet_python_name(a, stet_python_field(a, c, PY_FIELD_RIGHT)) == result))
            return true;
    }
    return false;
}
