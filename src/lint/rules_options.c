/* Rules about the options of a compile, and about kernels and defaults that are sometimes used. */
#include "lint/rules.h"

/* Reports a keyword whose value differs at each turn, or depends on a parameter that does. */
static void look_option(struct stet_flow_walk *w, stet_python_ref call, const char *keyword,
                        unsigned rule, const char *what)
{
    stet_python_ref value = stet_python_keyword(w->module, call, stet_view_str(keyword));
    struct stet_flow_value v = value ? stet_flow_value_of(w, value) : (struct stet_flow_value){0};

    if (!value)
        return;
    if (stet_flow_turns(v) && w->loops)
        lint_report(w, rule, value, 0, LINT_ANY, 0, "%s `%.*s` differs between the turns", what,
                    STET_FMT(lint_quote(w, value)));
    else if (v.deps & ~FLOW_ALWAYS)
        lint_report(w, rule, value, 0, LINT_VARYING, v.deps & ~FLOW_ALWAYS,
                    "%s `%.*s` differs between the calls", what, STET_FMT(lint_quote(w, value)));
}

void rule_donation_change(struct stet_flow_walk *w, stet_python_ref n)
{
    look_option(w, n, "donate_argnums", LINT_RULE_donation_change, "what is donated,");
    look_option(w, n, "donate_argnames", LINT_RULE_donation_change, "what is donated,");
}

/* Does the expression, or the one that a name was bound to, mention a layout? */
static bool speaks_of_layout(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    if (stet_flow_means(w, n, PY_MEANS_LAYOUT))
        return true;
    for (stet_python_ref c = n; stet_flow_within(w, c, n); c++) {
        struct stet_flow_binding *b =
            stet_python_name(a, c) ? stet_flow_lookup(w, w->fn, stet_python_name(a, c)) : NULL;

        if (b && b->value.from && stet_flow_means(w, b->value.from, PY_MEANS_LAYOUT))
            return true;
    }
    return false;
}

static void look_sharding(struct stet_flow_walk *w, stet_python_ref n, bool layout)
{
    static const char *const keywords[] = {"in_shardings", "out_shardings", NULL};

    for (const char *const *k = keywords; *k; k++) {
        stet_python_ref value = stet_python_keyword(w->module, n, stet_view_str(*k));

        if (value && speaks_of_layout(w, value) == layout)
            look_option(w, n, *k, layout ? LINT_RULE_layout_change : LINT_RULE_sharding_change,
                        layout ? "the layout" : "the sharding");
    }
}

void rule_layout_change(struct stet_flow_walk *w, stet_python_ref n)
{
    look_sharding(w, n, true);
}

/* jit(…).lower(described(spec)): a sharding that comes from a parameter. */
static void look_lowered(struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref args = stet_python_field(w->ast, call, PY_FIELD_ARGUMENTS);

    for (stet_python_ref c = args ? stet_python_child(w->ast, args) : 0; c;
         c = stet_python_next(w->ast, c)) {
        stet_python_ref f = stet_python_kind(w->ast, c) == PY_CALL
                                ? stet_python_field(w->ast, c, PY_FIELD_FUNCTION)
                                : 0;
        struct stet_flow_value v = stet_flow_value_of(w, c), maker = stet_flow_value_of(w, f);

        if (f && maker.kind == FLOW_V_FN && (v.deps & ~FLOW_ALWAYS) &&
            stet_flow_means(w, w->fns[maker.index].node, PY_MEANS_SHARDING))
            lint_report(w, LINT_RULE_sharding_change, c, 0, LINT_VARYING, v.deps & ~FLOW_ALWAYS,
                        "the sharding of `%.*s` differs between the calls",
                        STET_FMT(lint_quote(w, c)));
    }
}

void rule_sharding_change(struct stet_flow_walk *w, stet_python_ref n)
{
    if (stet_python_call_meaning(w->module, n) == PY_MEANS_LOWERS)
        look_lowered(w, n);
    else
        look_sharding(w, n, false);
}

void rule_options_drift(struct stet_flow_walk *w, stet_python_ref n)
{
    look_option(w, n, "compiler_options", LINT_RULE_options_drift, "the compiler's options");
}

/* f.__defaults__ = … of a function that is compiled */
void rule_default_argument(struct stet_flow_walk *w, stet_python_ref n)
{
    static const char *const names[] = {"__defaults__", "__kwdefaults__", NULL};
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT), object;
    struct stet_flow_value v;

    if (stet_python_kind(a, left) == PY_SUBSCRIPT)
        left = stet_python_field(a, left, PY_FIELD_VALUE);
    if (stet_python_kind(a, left) != PY_ATTRIBUTE ||
        !stet_view_in(stet_python_text(a, stet_python_field(a, left, PY_FIELD_ATTRIBUTE)), names))
        return;
    object = stet_python_field(a, left, PY_FIELD_OBJECT);
    v = stet_flow_value_of(w, object);
    for (uint32_t i = 0; i < w->jit_count && stet_flow_spend(w); i++) {
        if ((v.kind == FLOW_V_FN && w->jits[i].fn == v.index) ||
            (v.kind == FLOW_V_JITTED && v.index == i)) {
            lint_report(w, LINT_RULE_default_argument, n, 0, LINT_ANY, 0,
                        "the defaults of `%.*s`, which is compiled, are replaced",
                        STET_FMT(lint_quote(w, object)));
            return;
        }
    }
}

/* A kernel on one side of a branch that a shape or an argument decides. */
void rule_kernel_fallback(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref test = stet_python_bare(a, n), body;
    char op = stet_python_at(a, test)->op;

    if (stet_python_kind(a, w->statement) != PY_IF || stet_python_kind(a, test) != PY_COMPARISON ||
        op == 's' || op == 't' || op == 'i' || op == 'n')
        return;
    if (stet_python_field(a, w->statement, PY_FIELD_CONDITION) != n ||
        !stet_flow_holds_shape(w, test))
        return;
    body = stet_python_field(a, w->statement, PY_FIELD_CONSEQUENCE);
    if (stet_flow_means(w, body, PY_MEANS_KERNEL) && !stet_python_child_of(a, body, PY_RAISE))
        lint_report(w, LINT_RULE_kernel_fallback, n, FLOW_JAX | FLOW_TORCH, LINT_ANY, 0,
                    "the kernel is used only where `%.*s`", STET_FMT(lint_quote(w, n)));
}

/* x.shape[0] == 4 in a compiled function, in a file that marks dimensions dynamic */
void rule_mark_dynamic(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref test = stet_python_bare(a, n), left, right;

    if (!(w->facts & FLOW_MARKS_DYNAMIC) || stet_python_kind(a, test) != PY_COMPARISON ||
        stet_python_at(a, test)->op != '=')
        return;
    left = stet_python_child(a, test);
    right = left ? stet_python_next(a, left) : 0;
    if (!right || stet_python_kind(a, right) != PY_INTEGER ||
        stet_python_kind(a, left) != PY_SUBSCRIPT ||
        stet_flow_value_of(w, left).kind != FLOW_V_SHAPE)
        return;
    lint_report(w, LINT_RULE_mark_dynamic, test, FLOW_TORCH, LINT_ANY, 0,
                "`%.*s` fixes a dimension, and this file marks dimensions dynamic",
                STET_FMT(lint_quote(w, test)));
}
