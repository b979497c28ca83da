/* Arrays that grow by each call: cache = step(cache, …), where step joins it with more. */
#include "lint/rules.h"

static bool joins(const struct stet_flow_walk *w, stet_python_ref call)
{
    return stet_python_call_meaning(w->module, call) == PY_MEANS_JOINS;
}

/* Is the name, a field of it or its attribute among the parts that are joined, and not a slice? */
static bool joins_whole(const struct stet_flow_walk *w, stet_python_ref call, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);

    for (stet_python_ref c = args; args && stet_flow_within(w, c, args); c++) {
        stet_python_ref up = w->module->parents[c], part = c;

        if (stet_python_name(a, c) != name || a->nodes[c].field == PY_FIELD_ATTRIBUTE)
            continue;
        while ((stet_python_kind(a, up) == PY_SUBSCRIPT &&
                stet_python_kind(a, stet_python_next(a, part)) == PY_STRING) ||
               stet_python_kind(a, up) == PY_ATTRIBUTE) {
            part = up;
            up = w->module->parents[up];
        }
        if (up == args || stet_python_kind(a, up) == PY_LIST || stet_python_kind(a, up) == PY_TUPLE)
            return true;
    }
    return false;
}

static bool contains(const struct stet_python_ast *a, stet_python_ref outer, stet_python_ref inner)
{
    return a->nodes[outer].start <= a->nodes[inner].start &&
           a->nodes[inner].end <= a->nodes[outer].end;
}

/* Does the function give the joined array back as this part of its result? */
static bool gives_back(const struct stet_flow_walk *w, stet_python_ref fn, stet_python_ref call,
                       int part)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t name = 0;

    for (stet_python_ref c = fn; stet_flow_within(w, c, fn); c++) {
        stet_python_ref value = 0;

        if (a->nodes[c].kind == PY_ASSIGNMENT && stet_python_field(a, c, PY_FIELD_RIGHT) &&
            contains(a, stet_python_field(a, c, PY_FIELD_RIGHT), call))
            name = stet_python_name(a, stet_python_field(a, c, PY_FIELD_LEFT));
        if (a->nodes[c].kind != PY_RETURN || !stet_python_child(a, c))
            continue;
        value = stet_python_child(a, c);
        if (stet_python_kind(a, value) == PY_EXPRESSION_LIST ||
            stet_python_kind(a, value) == PY_TUPLE) {
            value = stet_python_child(a, value);
            for (int i = 0; value && i < part; i++)
                value = stet_python_next(a, value);
        }
        if (value && (contains(a, value, call) || (name && stet_python_name(a, value) == name)))
            return true;
    }
    return false;
}

uint32_t lint_grows(const struct stet_flow_walk *w, uint32_t fn, unsigned position, int part)
{
    const struct stet_python_ast *a = w->ast;
    const struct stet_flow_fn *f = &w->out->fns[fn];
    stet_python_ref node = w->fns[fn].node;
    uint32_t name = 0;

    for (stet_python_ref c = w->fns[fn].parameters;
         position < f->param_count && stet_flow_within(w, c, w->fns[fn].parameters) && !name; c++)
        if (stet_python_name(a, c) && stet_view_eq(stet_python_text(a, c), f->params[position]))
            name = stet_python_name(a, c);
    for (stet_python_ref c = node; name && stet_flow_within(w, c, node); c++)
        if (a->nodes[c].kind == PY_CALL && joins(w, c) && joins_whole(w, c, name) &&
            gives_back(w, node, c, part))
            return a->nodes[c].row + 1;
    return 0;
}
