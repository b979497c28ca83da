/* Numbers and sizes that torch._check() bounds: written for torch.export, which keeps them symbols.
 */
#include "lint/rules.h"

/* The function of this file that is called, also by a line that comes later. 0 for none. */
static stet_python_ref called_here(const struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref callee = stet_python_field(w->ast, call, PY_FIELD_FUNCTION);
    struct stet_flow_value f = stet_flow_value_of(w, callee);
    uint32_t owner =
        stet_python_kind(w->ast, callee) == PY_ATTRIBUTE
            ? stet_flow_self_class(w, stet_python_field(w->ast, callee, PY_FIELD_OBJECT))
            : FLOW_NONE;
    uint32_t fn = f.kind == FLOW_V_FN ? f.index : FLOW_NONE;

    if (fn == FLOW_NONE && owner != FLOW_NONE)
        fn = stet_flow_method(
            w, owner,
            stet_python_name(w->ast, stet_python_field(w->ast, callee, PY_FIELD_ATTRIBUTE)));
    return fn == FLOW_NONE ? 0 : w->fns[fn].node;
}

/* torch._check(n > 0), or a function of this file that does so for its arguments. */
static bool asserts(const struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref range = called_here(w, call);

    if (stet_python_call_meaning(w->module, call) == PY_MEANS_ASSERTS)
        return true;
    for (stet_python_ref c = range; range && stet_flow_within(w, c, range); c++)
        if (stet_python_kind(w->ast, c) == PY_CALL &&
            stet_python_call_meaning(w->module, c) == PY_MEANS_ASSERTS)
            return true;
    return false;
}

bool lint_is_asserted(const struct stet_flow_walk *w, uint32_t name)
{
    stet_python_ref fn = w->fns[w->fn].node;

    for (stet_python_ref c = fn; name && (w->facts & FLOW_ASSERTS) && stet_flow_within(w, c, fn);
         c++)
        if (stet_python_kind(w->ast, c) == PY_CALL &&
            lint_holds_name(w, stet_python_field(w->ast, c, PY_FIELD_ARGUMENTS), name) &&
            asserts(w, c))
            return true;
    return false;
}

bool lint_holds_asserted(const struct stet_flow_walk *w, stet_python_ref n)
{
    for (stet_python_ref c = n; n && stet_flow_within(w, c, n); c++)
        if (lint_is_asserted(w, stet_python_name(w->ast, c)))
            return true;
    return false;
}

/* torch._check(x[mask].numel() == n): a check that torch.compile makes part of the graph. */
static bool is_in_assertion(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref up = w->module->parents[n]; up && stet_python_kind(a, up) != PY_BLOCK;
         up = w->module->parents[up])
        if (stet_python_kind(a, up) == PY_CALL &&
            stet_python_call_meaning(w->module, up) == PY_MEANS_ASSERTS)
            return true;
    return false;
}

uint8_t lint_lanes_of_size(const struct stet_flow_walk *w, stet_python_ref n)
{
    return is_in_assertion(w, n) ? FLOW_TRACED & ~FLOW_MODULE : FLOW_TRACED;
}
