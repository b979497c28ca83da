/* Values that are read between compiled steps: what the loop around them does with them. */
#include "lint/rules.h"

/* state = step(state, batch), x = x - r: does a turn of the loop go on from what the one before
 * computed? */
static bool feeds_itself(struct stet_flow_walk *w, stet_python_ref assignment)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, assignment, PY_FIELD_LEFT),
                    right = stet_python_field(a, assignment, PY_FIELD_RIGHT);
    bool call = stet_python_kind(a, right) == PY_CALL;

    for (stet_python_ref l = left; stet_flow_within(w, l, left); l++) {
        uint32_t name = stet_python_name(a, l);
        const struct stet_flow_binding *b = name ? stet_flow_lookup(w, w->fn, name) : NULL;

        if (name && (call || (b && stet_flow_is_tensor(b->value))) &&
            lint_holds_name(w, right, name))
            return true;
    }
    return false;
}

/* optimizer.step(), train_step(model, batch): a call for what it changes. */
static bool is_called_for_effect(const struct stet_flow_walk *w, stet_python_ref statement)
{
    stet_python_ref call = stet_python_child(w->ast, statement);

    if (stet_python_kind(w->ast, call) != PY_CALL || lint_logs(w, call))
        return false;
    return stet_python_call_meaning(w->module, call) != PY_MEANS_PRINTS &&
           !lint_fills_list(w, call);
}

/* Is this a loop that trains, or another that computes each turn from the one before? One that only
 * evaluates waits as well, but nothing is queued up behind it. */
static bool goes_on(struct stet_flow_walk *w)
{
    stet_python_ref loop = w->outer_loop;

    for (stet_python_ref c = loop; stet_flow_within(w, c, loop); c++) {
        if (w->ast->nodes[c].kind == PY_ASSIGNMENT && feeds_itself(w, c))
            return true;
        if (w->ast->nodes[c].kind == PY_EXPRESSION_STATEMENT && is_called_for_effect(w, c))
            return true;
    }
    return false;
}

/* if error > limit: solver = rebuild(…) — does the value, or one computed from it, decide what the
 * loop computes next? No loop can choose so before the value is there. */
static bool decides_work(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t name = stet_python_name(a, lint_assigned_to(w, n)), next = name;

    for (stet_python_ref c = w->outer_loop; name && stet_flow_within(w, c, w->outer_loop); c++) {
        stet_python_ref test =
            a->nodes[c].kind == PY_IF ? stet_python_field(a, c, PY_FIELD_CONDITION) : 0;
        stet_python_ref block = test ? stet_python_field(a, c, PY_FIELD_CONSEQUENCE) : 0;

        if (a->nodes[c].kind == PY_ASSIGNMENT &&
            lint_holds_name(w, stet_python_field(a, c, PY_FIELD_RIGHT), name) &&
            stet_python_name(a, stet_python_field(a, c, PY_FIELD_LEFT)))
            next = stet_python_name(a, stet_python_field(a, c, PY_FIELD_LEFT));
        if (!test || (!lint_holds_name(w, test, name) && !lint_holds_name(w, test, next)))
            continue;
        for (stet_python_ref s = block; s && stet_flow_within(w, s, block); s++)
            if (a->nodes[s].kind == PY_ASSIGNMENT &&
                stet_python_kind(a, stet_python_field(a, s, PY_FIELD_RIGHT)) == PY_CALL)
                return true;
    }
    return false;
}

bool lint_sync_eager(struct stet_flow_walk *w, stet_python_ref n, struct stet_flow_value v)
{
    if (!w->loop || w->periodic || !(v.f.flags & FLOW_F_EAGER) ||
        !(w->facts & (FLOW_USES_JAX | FLOW_USES_TPU)))
        return false;
    lint_minor(lint_report(w, LINT_RULE_host_sync, n, 0, LINT_ANY, 0,
                           "`%.*s` computes between the compiled steps and waits for it",
                           STET_FMT(lint_quote(w, n))),
               lint_decides_end(w, n) || decides_work(w, n) || !goes_on(w) ? LINT_MINOR
                                                                           : LINT_FULL);
    return true;
}
