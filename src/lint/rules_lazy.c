/* Python numbers that become part of a lazy PyTorch/XLA graph: shifts, positions, counts and sizes.
 * The numbers of plain arithmetic are passed as data instead. */
#include "lint/rules.h"

/* Returns the tensor of a call, in the host's memory or unknown; 0 when it is not such a call. */
static stet_python_ref worked_on(struct stet_flow_walk *w, stet_python_ref call, bool *library)
{
    stet_python_ref function =
        stet_python_bare(w->ast, stet_python_field(w->ast, call, PY_FIELD_FUNCTION));
    stet_python_ref object = stet_python_callee_object(w->module, call);
    char room[160];

    *library = stet_view_starts(stet_python_imported(w->module, function, room), "torch.");
    if (*library)
        return stet_python_argument(w->module, call, 0);
    return object && stet_flow_is_tensor(stet_flow_value_of(w, object)) ? object : 0;
}

static void look_number(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_value v = stet_flow_value_of(w, n);

    if (w->step_loops && v.kind <= FLOW_V_PYTHON && (v.flags & FLOW_STEPS))
        lint_report(w, LINT_RULE_baked_schedule, n, 0, LINT_ANY, 0,
                    "`%.*s` is another number in each step, and a part of the graph",
                    STET_FMT(lint_quote(w, n)));
    else if (!w->step_loops && v.kind != FLOW_V_SHAPE && v.kind != FLOW_V_HOST &&
             (v.deps & ~FLOW_ALWAYS))
        lint_report(w, LINT_RULE_baked_schedule, n, FLOW_XLA, LINT_VARYING, v.deps & ~FLOW_ALWAYS,
                    "`%.*s` is another number in each step, and a part of the graph",
                    STET_FMT(lint_quote(w, n)));
}

void lint_shaped_call(struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS), tensor;
    char room[160];
    bool library;

    if (!(w->facts & FLOW_USES_TORCH) ||
        !stet_python_lazy(stet_python_library_callee(w->module, call, room)) ||
        stet_python_kind(a, args) != PY_ARGUMENTS)
        return;
    tensor = worked_on(w, call, &library);
    if (!tensor || (stet_flow_value_of(w, tensor).f.traits & FLOW_TRAIT_HOST))
        return;
    for (stet_python_ref c = stet_python_child(a, args); c; c = stet_python_next(a, c)) {
        if (c != tensor && stet_python_kind(a, c) != PY_COMMENT)
            look_number(w, stet_python_argument_value(w->module, c));
    }
}

/* x[n] and x[:, n] make the position a part of the graph; slice-start reports slices. */
void lint_shaped_subscript(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref value = stet_python_field(a, n, PY_FIELD_VALUE);
    struct stet_flow_value v = stet_flow_value_of(w, value);

    if (!w->step_loops || !stet_flow_is_strong(v) ||
        (v.f.traits & (FLOW_TRAIT_HOST | FLOW_TRAIT_LIST | FLOW_TRAIT_DICT)))
        return;
    for (stet_python_ref c = stet_python_next(a, value); c; c = stet_python_next(a, c)) {
        struct stet_flow_facts f = stet_flow_value_of(w, c).f;

        if (stet_python_kind(a, c) != PY_SLICE && !(f.flags & FLOW_F_TEXT) &&
            !(f.traits & FLOW_TRAIT_LIST)) /* a name for several slices */
            look_number(w, c);
    }
}

/* average.mul_(0.9).add_(level), average += level: returns the name whose tensor keeps its buffer;
 * 0 for other nodes. */
static uint32_t overwritten(const struct stet_python_ast *a, stet_python_ref n)
{
    struct stet_view method;
    stet_python_ref object;

    if (stet_python_kind(a, n) == PY_AUGMENTED)
        return stet_python_name(a, stet_python_field(a, n, PY_FIELD_LEFT));
    n = stet_python_kind(a, n) == PY_CALL ? stet_python_field(a, n, PY_FIELD_FUNCTION) : 0;
    if (stet_python_kind(a, n) != PY_ATTRIBUTE)
        return 0;
    object = stet_python_field(a, n, PY_FIELD_OBJECT);
    method = stet_python_text(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE));
    return stet_view_ends(method, "_") && !stet_view_ends(method, "__")
               ? stet_python_name(a, object)
               : 0;
}

/* Does the name get another tensor somewhere in this block? */
static bool replaces(const struct stet_flow_walk *w, stet_python_ref block, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = block; block && stet_flow_within(w, c, block); c++) {
        if (a->nodes[c].kind == PY_ASSIGNMENT &&
            stet_python_name(a, stet_python_field(a, c, PY_FIELD_LEFT)) == name)
            return true;
    }
    return false;
}

/* Returns a tensor that is overwritten in one block and replaced in the other; 0 for none. */
static uint32_t kept_one_way(const struct stet_flow_walk *w, stet_python_ref one,
                             stet_python_ref other)
{
    for (stet_python_ref c = one; one && other && stet_flow_within(w, c, one); c++) {
        uint32_t name = overwritten(w->ast, c);
        struct stet_flow_binding *b =
            name ? stet_flow_scope_find(&w->fns[w->fn].scope, name) : NULL;

        if (b && stet_flow_is_tensor(b->value) && !(b->value.f.traits & FLOW_TRAIT_HOST) &&
            replaces(w, other, name) && !replaces(w, one, name))
            return name;
    }
    return 0;
}

/* In a step, an overwritten tensor is donated, and a replaced one is not. */
void lint_donated_one_way(struct stet_flow_walk *w, stet_python_ref test)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref yes = stet_python_field(a, w->statement, PY_FIELD_CONSEQUENCE);
    stet_python_ref no = stet_python_child_of(a, w->statement, PY_ELSE);
    uint32_t name;

    if (!w->step_loops || stet_python_kind(a, w->statement) != PY_IF ||
        !(stet_flow_value_of(w, test).flags & FLOW_STEPS))
        return;
    no = no ? stet_python_field(a, no, PY_FIELD_BODY) : 0;
    name = kept_one_way(w, yes, no);
    name = name ? name : kept_one_way(w, no, yes);
    if (name)
        lint_report(w, LINT_RULE_donation_change, test, 0, LINT_ANY, 0,
                    "`%.*s` is overwritten on one path and replaced on another",
                    STET_FMT(a->names.items[name]));
}
