/* Python numbers that become part of a lazy PyTorch/XLA graph: shifts, positions, counts and sizes.
 * The numbers of plain arithmetic are passed as data instead. */
#include "lint/rules.h"

/* Each makes one program per number in PyTorch/XLA, whereas x * n, clamp, masked_fill and
 * add(alpha=n) make one for all: tests/lint/lazy_ops.py checks this. */
static const char *const shaped_by[] = {
    "roll",   "narrow",  "select",    "repeat",         "tile",          "repeat_interleave",
    "rot90",  "tril",    "triu",      "diagonal",       "diag_embed",    "unfold",
    "expand", "view",    "reshape",   "split",          "chunk",         "tensor_split",
    "pad",    "pow",     "kthvalue",  "one_hot",        "flip",          "permute",
    "diag",   "movedim", "transpose", "select_scatter", "slice_scatter", NULL};

/* The tensor that a call works on, in the host's memory or unknown; 0 if it is not such a call. */
static lint_ref worked_on(struct lint_walk *w, lint_ref call, bool *library)
{
    lint_ref function = lint_bare(w->ast, lint_field(w->ast, call, LINT_FIELD_FUNCTION));
    lint_ref object = lint_callee_object(w, call);
    char room[160];

    *library = stet_view_starts(lint_imported(w, function, room), "torch.");
    if (*library)
        return lint_arg_at(w, call, 0);
    return object && lint_is_tensor(lint_value_of(w, object)) ? object : 0;
}

static void look_number(struct lint_walk *w, lint_ref n)
{
    struct lint_value v = lint_value_of(w, n);

    if (w->step_loops && v.kind <= LINT_V_PYTHON && (v.flags & LINT_STEPS))
        lint_report(w, LINT_RULE_baked_schedule, n, 0, LINT_ANY, 0,
                    "`%.*s` is another number in each step, and a part of the graph",
                    STET_FMT(lint_quote(w, n)));
    else if (!w->step_loops && v.kind != LINT_V_SHAPE && v.kind != LINT_V_HOST &&
             (v.deps & ~LINT_ALWAYS))
        lint_report(w, LINT_RULE_baked_schedule, n, LINT_XLA, LINT_VARYING, v.deps & ~LINT_ALWAYS,
                    "`%.*s` is another number in each step, and a part of the graph",
                    STET_FMT(lint_quote(w, n)));
}

void lint_shaped_call(struct lint_walk *w, lint_ref call)
{
    const struct lint_ast *a = w->ast;
    lint_ref args = lint_field(a, call, LINT_FIELD_ARGUMENTS), tensor;
    bool library;

    if (!(w->facts & LINT_USES_TORCH) || !lint_any_of(lint_callee_name(w, call), shaped_by) ||
        lint_kind(a, args) != LINT_ARGUMENTS)
        return;
    tensor = worked_on(w, call, &library);
    if (!tensor || (lint_value_of(w, tensor).f.traits & LINT_TRAIT_HOST))
        return;
    for (lint_ref c = lint_child(a, args); c; c = lint_next(a, c)) {
        if (c != tensor && lint_kind(a, c) != LINT_COMMENT)
            look_number(w, lint_arg_value(w, c));
    }
}

/* x[n] and x[:, n] become a part of the graph; slice-start reports slices. */
void lint_shaped_subscript(struct lint_walk *w, lint_ref n)
{
    const struct lint_ast *a = w->ast;
    lint_ref value = lint_field(a, n, LINT_FIELD_VALUE);
    struct lint_value v = lint_value_of(w, value);

    if (!w->step_loops || !lint_is_strong(v) ||
        (v.f.traits & (LINT_TRAIT_HOST | LINT_TRAIT_LIST | LINT_TRAIT_DICT)))
        return;
    for (lint_ref c = lint_next(a, value); c; c = lint_next(a, c)) {
        struct lint_facts f = lint_value_of(w, c).f;

        if (lint_kind(a, c) != LINT_SLICE && !(f.flags & LINT_F_TEXT) &&
            !(f.traits & LINT_TRAIT_LIST)) /* a name for several slices */
            look_number(w, c);
    }
}

/* average.mul_(0.9).add_(level), average += level: the name whose tensor keeps its buffer; 0 for
 * other nodes. */
static uint32_t overwritten(const struct lint_ast *a, lint_ref n)
{
    struct stet_view method;
    lint_ref object;

    if (lint_kind(a, n) == LINT_AUGMENTED)
        return lint_name(a, lint_field(a, n, LINT_FIELD_LEFT));
    n = lint_kind(a, n) == LINT_CALL ? lint_field(a, n, LINT_FIELD_FUNCTION) : 0;
    if (lint_kind(a, n) != LINT_ATTRIBUTE)
        return 0;
    object = lint_field(a, n, LINT_FIELD_OBJECT);
    method = lint_text(a, lint_field(a, n, LINT_FIELD_ATTRIBUTE));
    return stet_view_ends(method, "_") && !stet_view_ends(method, "__") ? lint_name(a, object) : 0;
}

/* Is another tensor assigned to the name in this block? */
static bool replaces(const struct lint_walk *w, lint_ref block, uint32_t name)
{
    const struct lint_ast *a = w->ast;

    for (lint_ref c = block; block && lint_within(w, c, block); c++) {
        if (a->nodes[c].kind == LINT_ASSIGNMENT &&
            lint_name(a, lint_field(a, c, LINT_FIELD_LEFT)) == name)
            return true;
    }
    return false;
}

/* A tensor that is overwritten in one block and replaced in the other; 0 for none. */
static uint32_t kept_one_way(const struct lint_walk *w, lint_ref one, lint_ref other)
{
    for (lint_ref c = one; one && other && lint_within(w, c, one); c++) {
        uint32_t name = overwritten(w->ast, c);
        struct lint_binding *b = name ? lint_scope_find(&w->fns[w->fn].scope, name) : NULL;

        if (b && lint_is_tensor(b->value) && !(b->value.f.traits & LINT_TRAIT_HOST) &&
            replaces(w, other, name) && !replaces(w, one, name))
            return name;
    }
    return 0;
}

/* In a step, a tensor that is overwritten is donated, and one that is replaced is not. */
void lint_donated_one_way(struct lint_walk *w, lint_ref test)
{
    const struct lint_ast *a = w->ast;
    lint_ref yes = lint_field(a, w->statement, LINT_FIELD_CONSEQUENCE);
    lint_ref no = lint_child_of(a, w->statement, LINT_ELSE);
    uint32_t name;

    if (!w->step_loops || lint_kind(a, w->statement) != LINT_IF ||
        !(lint_value_of(w, test).flags & LINT_STEPS))
        return;
    no = no ? lint_field(a, no, LINT_FIELD_BODY) : 0;
    name = kept_one_way(w, yes, no);
    name = name ? name : kept_one_way(w, no, yes);
    if (name)
        lint_report(w, LINT_RULE_donation_change, test, 0, LINT_ANY, 0,
                    "`%.*s` is overwritten one way and replaced the other",
                    STET_FMT(a->names.items[name]));
}
