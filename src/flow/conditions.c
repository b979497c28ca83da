/* Questions about a condition: does it test the rank of the process, does it hold in some steps
 * only? */
#include "flow/walk.h"
#include "python/value_flow.h"

bool stet_flow_asks_rank(struct stet_flow_walk *w, stet_python_ref n)
{
    return n && (w->facts & FLOW_USES_PROCESS) && stet_flow_origins(w, n) & PY_FROM_PROCESS;
}

/* Is the type, or each of several, among these? */
static bool is_type_of(const struct stet_flow_walk *w, stet_python_ref type,
                       const char *const *types)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_view dotted;
    char room[160];

    type = stet_python_bare(a, type);
    if (stet_python_kind(a, type) == PY_TUPLE) {
        for (stet_python_ref c = stet_python_child(a, type); c; c = stet_python_next(a, c))
            if (!is_type_of(w, c, types))
                return false;
        return stet_python_child(a, type) != 0;
    }
    dotted = stet_python_imported(w->module, type, room);
    return stet_view_in(dotted.len ? dotted : stet_python_text(a, type), types);
}

stet_python_ref stet_flow_checked_host(const struct stet_flow_walk *w, stet_python_ref test,
                                       bool *container)
{
    static const char *const numbers[] = {"int",
                                          "float",
                                          "bool",
                                          "str",
                                          "complex",
                                          "numpy.ndarray",
                                          "numpy.generic",
                                          "numpy.integer",
                                          "numbers.Integral",
                                          "numbers.Number",
                                          "numbers.Real",
                                          NULL};
    static const char *const containers[] = {"list",
                                             "tuple",
                                             "dict",
                                             "set",
                                             "collections.abc.Mapping",
                                             "typing.Mapping",
                                             "typing.Sequence",
                                             "collections.abc.Sequence",
                                             NULL};
    const struct stet_python_ast *a = w->ast;
    stet_python_ref of, type;

    test = stet_python_bare(a, test);
    *container = false;
    if (stet_python_kind(a, test) == PY_BOOLEAN && stet_python_at(a, test)->op == 'a') {
        of = stet_flow_checked_host(w, stet_python_field(a, test, PY_FIELD_LEFT), container);
        return of ? of
                  : stet_flow_checked_host(w, stet_python_field(a, test, PY_FIELD_RIGHT),
                                           container);
    }
    if (stet_python_kind(a, test) != PY_CALL ||
        !stet_view_is(stet_python_callee(w->module, test), "isinstance"))
        return 0;
    of = stet_python_argument(w->module, test, 0);
    type = stet_python_argument(w->module, test, 1);
    while (stet_python_kind(a, of) == PY_SUBSCRIPT) /* isinstance(x[0], int): all items are */
        of = stet_python_field(a, of, PY_FIELD_VALUE);
    if (!of || !type || !stet_python_name(a, of))
        return 0;
    *container = of == stet_python_argument(w->module, test, 0) && is_type_of(w, type, containers);
    return *container || is_type_of(w, type, numbers) ? of : 0;
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

/* The left side of step % n in the condition counts by itself, or is a parameter: then *deps. */
stet_python_ref stet_flow_every_n(const struct stet_flow_walk *w, stet_python_ref n, uint64_t *deps)
{
    const struct stet_python_ast *a = w->ast;

    *deps = 0;
    for (stet_python_ref c = n; stet_flow_within(w, c, n); c++) {
        stet_python_ref left = a->nodes[c].kind == PY_BINARY && a->nodes[c].op == '%'
                                   ? stet_python_bare(a, stet_python_field(a, c, PY_FIELD_LEFT))
                                   : 0;
        struct stet_flow_value v = stet_flow_value_of(w, left);

        for (stet_python_ref part = left; left && stet_flow_within(w, part, left); part++)
            if (counts(w, part))
                return c;
        if (left && !stet_flow_is_strong(v) && v.kind != FLOW_V_SHAPE && v.kind != FLOW_V_HOST)
            *deps = v.deps & ~FLOW_ALWAYS;
        if (*deps)
            return c;
    }
    return 0;
}
