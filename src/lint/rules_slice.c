/* Slices whose start follows a counter: each start is another program. */
#include "lint/rules.h"

/* self.table.size(1), len(self.table): the size of an attribute, and not its value. */
static bool is_measured(const struct stet_flow_walk *w, stet_python_ref attribute)
{
    stet_python_ref up = w->module->parents[attribute];

    if (stet_python_kind(w->ast, up) == PY_ARGUMENTS) {
        char room[160];
        struct stet_view name = stet_python_full_name(
            w->module, stet_python_field(w->ast, w->module->parents[up], PY_FIELD_FUNCTION), room);

        return stet_python_library_meaning(name) == PY_MEANS_LENGTH;
    }
    return stet_python_kind(w->ast, up) == PY_ATTRIBUTE;
}

/* Finds the attribute in `self.pos`, somewhere in n, that changes. */
static bool moving_attribute(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n; stet_flow_within(w, c, n); c++) {
        uint32_t owner = a->nodes[c].kind == PY_ATTRIBUTE
                             ? stet_flow_self_class(w, stet_python_field(a, c, PY_FIELD_OBJECT))
                             : FLOW_NONE;

        if (owner != FLOW_NONE && !is_measured(w, c) &&
            lint_steps_on(w, owner,
                          stet_python_name(a, stet_python_field(a, c, PY_FIELD_ATTRIBUTE))))
            return true;
    }
    return false;
}

bool lint_follows_loop(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref up = m->parents[n]; up && stet_python_kind(a, up) != PY_FUNCTION;
         up = m->parents[up]) {
        stet_python_ref left =
            stet_python_kind(a, up) == PY_FOR ? stet_python_field(a, up, PY_FIELD_LEFT) : 0;
        stet_python_ref clause = stet_python_child_of(a, up, PY_FOR_IN); /* of a comprehension */

        left = clause ? stet_python_field(a, clause, PY_FIELD_LEFT) : left;
        for (stet_python_ref c = n; left && stet_flow_within(w, c, n); c++)
            if (stet_python_name(a, c) && lint_holds_name(w, left, stet_python_name(a, c)))
                return true;
    }
    return false;
}

stet_python_ref lint_slice_length(const struct stet_flow_walk *w, stet_python_ref start)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref stop = stet_python_bare(a, stet_python_next(a, start)), left = 0, right = 0;
    struct stet_view from = stet_python_text(a, start);

    start = stet_python_bare(a, start);
    if (stop && stet_python_kind(a, start) == PY_BINARY && a->nodes[start].op == '-' &&
        stet_view_eq(stet_python_text(a, stet_python_field(a, start, PY_FIELD_LEFT)),
                     stet_python_text(a, stop)))
        return stet_python_field(a, start, PY_FIELD_RIGHT); /* x[n - 4:n] */
    if (stet_python_kind(a, stop) == PY_BINARY && a->nodes[stop].op == '+') {
        left = stet_python_field(a, stop, PY_FIELD_LEFT);
        right = stet_python_field(a, stop, PY_FIELD_RIGHT);
    }
    if (left && stet_view_eq(stet_python_text(a, left), from))
        return right;
    return left && stet_view_eq(stet_python_text(a, right), from) ? left : 0;
}

/* x[k:2 * k]: what moves the start makes the size, too. A traced start would not help. */
static bool start_is_size(const struct stet_flow_walk *w, stet_python_ref start, uint64_t deps)
{
    stet_python_ref length = lint_slice_length(w, start);

    if (!length)
        length = stet_python_next(w->ast, start);
    return length && (stet_flow_value_of(w, length).deps & deps & ~FLOW_ALWAYS);
}

/* x[k:k + 1, k:n]: or so in another dimension. */
static bool starts_are_sizes(const struct stet_flow_walk *w, stet_python_ref n, uint64_t deps)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = stet_python_next(a, stet_python_field(a, n, PY_FIELD_VALUE)); c;
         c = stet_python_next(a, c)) {
        stet_python_ref start = stet_python_kind(a, c) == PY_SLICE ? stet_python_child(a, c) : 0;

        if (!start)
            continue;
        if (stet_python_at(a, start)->start != stet_python_at(a, c)->start
                ? stet_flow_value_of(w, start).deps & deps & ~FLOW_ALWAYS
                : start_is_size(w, start, deps) ||
                      (!lint_slice_length(w, start) && stet_python_next(a, start) &&
                       (stet_flow_value_of(w, start).deps & deps & ~FLOW_ALWAYS)))
            return true;
    }
    return false;
}

void rule_slice_start(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref value = stet_python_field(a, n, PY_FIELD_VALUE);
    struct stet_flow_value sliced = stet_flow_value_of(w, value);

    if (sliced.kind == FLOW_V_PYTHON && stet_python_kind(a, value) != PY_ATTRIBUTE)
        return;
    if (sliced.kind == FLOW_V_SHAPE || sliced.kind == FLOW_V_HOST || (sliced.flags & FLOW_TREE))
        return;
    for (stet_python_ref c = stet_python_next(a, value); c; c = stet_python_next(a, c)) {
        stet_python_ref start = stet_python_kind(a, c) == PY_SLICE ? stet_python_child(a, c) : 0;
        struct stet_flow_value v;

        if (!start || stet_python_at(a, start)->start != stet_python_at(a, c)->start)
            continue; /* x[:n] */
        v = stet_flow_value_of(w, start);
        if (v.kind == FLOW_V_HOST && v.deps && !lint_follows_loop(w, start))
            lint_report(w, LINT_RULE_slice_start, n, FLOW_TRACED, LINT_TENSOR, v.deps,
                        "`%.*s` starts at a value read back from a tensor",
                        STET_FMT(lint_quote(w, n)));
        else if (w->step_loops && (v.flags & FLOW_STEPS) && stet_flow_is_strong(sliced) &&
                 !(sliced.f.traits & FLOW_TRAIT_HOST))
            lint_report(w, LINT_RULE_slice_start, n, FLOW_XLA, LINT_ANY, 0,
                        "`%.*s` starts elsewhere at each turn", STET_FMT(lint_quote(w, n)));
        else if (v.deps && v.kind != FLOW_V_SHAPE && stet_flow_is_tensor(sliced) &&
                 !lint_follows_loop(w, start) && !starts_are_sizes(w, n, v.deps))
            lint_report(w, LINT_RULE_slice_start, n, FLOW_JAX | FLOW_XLA,
                        lint_slice_length(w, start) ? LINT_STATIC : LINT_VARYING, v.deps,
                        "`%.*s` starts at a static argument", STET_FMT(lint_quote(w, n)));
        else if (moving_attribute(w, start))
            lint_report(w, LINT_RULE_slice_start, n, FLOW_TRACED, LINT_ANY, 0,
                        "`%.*s` starts at an attribute that moves", STET_FMT(lint_quote(w, n)));
    }
}
