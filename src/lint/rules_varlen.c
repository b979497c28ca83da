/* The rule about layouts that follow the lengths in a batch. */
#include "lint/rules.h"

/* What the name holds here: the last value that a statement before this place gives it, in a block
 * around it. 0 for none. */
static stet_python_ref last_value(const struct stet_flow_walk *w, stet_python_ref at, uint32_t name)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref up = at; up && stet_python_kind(a, up) != PY_FUNCTION;
         up = m->parents[up]) {
        stet_python_ref block = m->parents[up], value = 0;

        if (stet_python_kind(a, block) != PY_BLOCK)
            continue;
        for (stet_python_ref c = stet_python_child(a, block); c && c != up && stet_flow_spend(w);
             c = stet_python_next(a, c)) {
            stet_python_ref to = stet_python_child(a, c);

            if (stet_python_kind(a, to) == PY_ASSIGNMENT &&
                stet_python_name(a, stet_python_field(a, to, PY_FIELD_LEFT)) == name)
                value = stet_python_field(a, to, PY_FIELD_RIGHT);
        }
        if (value)
            return value;
    }
    return 0;
}

/* starts = torch.arange(0, (n + 1) * length, length): all rows are as long as the padded ones. */
static bool has_equal_rows(const struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);

    for (stet_python_ref c = args ? stet_python_child(a, args) : 0; c; c = stet_python_next(a, c)) {
        uint32_t name = stet_python_name(a, stet_python_argument_value(w->module, c));
        stet_python_ref made = name ? last_value(w, call, name) : 0;

        if (stet_python_kind(a, made) == PY_CALL &&
            stet_python_call_meaning(w->module, made) == PY_MEANS_SPACED)
            return true;
    }
    return false;
}

void rule_varlen(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_array *array = stet_flow_array_call(w, n);
    stet_python_ref object = stet_python_callee_object(w->module, n);

    if (object && stet_python_argument(w->module, n, 0) && array && array->role & PY_SPLITS) {
        struct stet_flow_value v = stet_flow_value_of(w, stet_python_argument(w->module, n, 0));

        if (stet_flow_is_tensor(stet_flow_value_of(w, object)) && v.deps & ~FLOW_ALWAYS)
            lint_report(w, LINT_RULE_varlen, n, FLOW_JAX | FLOW_TORCH, LINT_VARYING,
                        v.deps & ~FLOW_ALWAYS, "`%.*s` is split into other lengths by each call",
                        STET_FMT(lint_quote(w, n)));
        return;
    }
    if (stet_python_call_meaning(w->module, n) == PY_MEANS_PACKS && !has_equal_rows(w, n) &&
        !(w->fn && lint_reported_since(w, LINT_RULE_varlen, w->fns[w->fn].node))) /* one layout */
        lint_report(w, LINT_RULE_varlen, n, FLOW_TRACED, LINT_ANY, 0,
                    "`%.*s` takes its layout from the lengths in the batch",
                    STET_FMT(lint_quote(w, n)));
}
