/* Loops: what their targets are, which numbers change with their turns, and whether they contain a
 * step. */
#include "lint/rules.h"
#include "lint/walk.h"

/* A torch_xla step ends somewhere in this loop. */
static bool holds_step(const struct lint_walk *w, stet_python_ref n)
{
    static const char *const ends[] = {"mark_step", "optimizer_step", NULL};
    static const char *const module[] = {"torch_xla", "xm", NULL};
    const struct stet_python_ast *a = w->ast;

    if (!(w->facts & LINT_USES_XLA))
        return false;
    if (lint_mentions(w, n, ends))
        return true;
    for (stet_python_ref c = n + 1; lint_within(w, c, n); c++) {
        if (stet_python_kind(a, c) == PY_CALL) {
            struct stet_view name = stet_python_callee(w->module, c);

            if ((stet_view_is(name, "sync") || stet_view_is(name, "step")) &&
                lint_mentions(w, stet_python_field(a, c, PY_FIELD_FUNCTION), module))
                return true;
        }
    }
    return false;
}

/* A loop inside a step is unrolled: its numbers are the same in the next step. */
static uint8_t changes_with(bool ends_step)
{
    return ends_step ? LINT_CHANGES : LINT_VARIES;
}

static void mark_counter(struct lint_walk *w, stet_python_ref left, uint8_t how)
{
    struct lint_binding *b = lint_scope_find(&w->fns[w->fn].scope, stet_python_name(w->ast, left));

    if (b && b->value.kind == LINT_V_PYTHON)
        b->value.flags |= how;
}

/* lr = lr * decay */
static void mark_scaled(struct lint_walk *w, stet_python_ref left, stet_python_ref right,
                        uint8_t how)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t name = stet_python_name(a, left);

    if (!name || stet_python_kind(a, right) != PY_BINARY)
        return;
    for (stet_python_ref c = right; lint_within(w, c, right); c++) {
        if (stet_python_name(a, c) == name) {
            mark_counter(w, left, how);
            return;
        }
    }
}

/* Numbers that the loop counts up vary from its first line on. */
static void mark_counters(struct lint_walk *w, stet_python_ref n, uint8_t how)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n + 1; lint_within(w, c, n); c++) {
        stet_python_ref left = stet_python_field(a, c, PY_FIELD_LEFT), right;

        if (a->nodes[c].kind == PY_AUGMENTED)
            mark_counter(w, left, how);
        if (a->nodes[c].kind != PY_ASSIGNMENT)
            continue;
        right = stet_python_field(a, c, PY_FIELD_RIGHT);
        if (stet_python_kind(a, left) == PY_PATTERN_LIST &&
            stet_python_kind(a, right) == PY_EXPRESSION_LIST) {
            stet_python_ref r = stet_python_child(a, right);

            for (stet_python_ref l = stet_python_child(a, left); l && r;
                 l = stet_python_next(a, l), r = stet_python_next(a, r))
                mark_scaled(w, l, r, how);
        } else {
            mark_scaled(w, left, right, how);
        }
    }
}

static void run_loop(struct lint_walk *w, stet_python_ref n, stet_python_ref body)
{
    bool ends = holds_step(w, n), step = !w->step_loops && ends, ended = w->ends_step;
    stet_python_ref outer = w->loop, outermost = w->outer_loop;

    mark_counters(w, n, changes_with(ends));
    w->ends_step = ends;
    w->loops++;
    w->branches++;
    w->loop = n;
    w->outer_loop = outermost ? outermost : n;
    w->step_loops += step || w->step_loops;
    lint_run_block(w, body);
    w->step_loops -= w->step_loops && (step || w->step_loops > 1);
    w->ends_step = ended;
    w->loop = outer;
    w->outer_loop = outermost;
    w->branches--;
    w->loops--;
}

/* A constant, or a list, tuple or object made of such. */
static bool is_written_down(const struct stet_python_ast *a, stet_python_ref n, unsigned depth)
{
    if (lint_is_constant(a, n))
        return true;
    if (stet_python_kind(a, n) == PY_CALL)
        n = stet_python_field(a, n, PY_FIELD_ARGUMENTS);
    if (depth > 3 || (stet_python_kind(a, n) != PY_LIST && stet_python_kind(a, n) != PY_TUPLE &&
                      stet_python_kind(a, n) != PY_ARGUMENTS))
        return false;
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (!is_written_down(a, c, depth + 1))
            return false;
    }
    return true;
}

/* range(0, rows, batch), unless batch is known to divide rows */
static bool leaves_rest(struct lint_walk *w, stet_python_ref range)
{
    long whole, stride;

    if (stet_python_argument_count(w->module, range) != 3)
        return false;
    whole = lint_known_integer(w, stet_python_argument(w->module, range, 1));
    stride = lint_known_integer(w, stet_python_argument(w->module, range, 2));
    return whole < 0 || stride <= 0 || whole % stride;
}

/* A list or tuple written out, of constants that are not all the same. */
static bool lists_constants(const struct lint_walk *w, stet_python_ref right)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_view first = {0};
    bool differ = false;

    if (stet_python_kind(a, right) != PY_LIST && stet_python_kind(a, right) != PY_TUPLE)
        return false;
    for (stet_python_ref c = stet_python_child(a, right); c; c = stet_python_next(a, c)) {
        struct stet_view text = stet_python_text(a, c);

        if (!is_written_down(a, c, 0))
            return false;
        differ |= first.ptr && !stet_view_eq(first, text);
        first = first.ptr ? first : text;
    }
    return differ;
}

/* What a loop's target is bound to. */
static struct lint_value loop_value(struct lint_walk *w, stet_python_ref n, stet_python_ref right)
{
    struct lint_value v = lint_element(lint_value_of(w, right));
    struct stet_view name = stet_python_kind(w->ast, right) == PY_CALL
                                ? stet_python_callee(w->module, right)
                                : (struct stet_view){0};

    if (v.kind == LINT_V_TENSOR && v.deps) {
        /* A step loop's batches are tensors, whatever the loader is. */
        if (!(v.deps & LINT_ALWAYS) && holds_step(w, n))
            v.deps |= LINT_ALWAYS;
        return v;
    }
    if (lists_constants(w, right) || stet_view_is(name, "range") || stet_view_is(name, "count") ||
        stet_view_is(name, "arange") || stet_view_is(name, "linspace")) {
        v.flags |= changes_with(holds_step(w, n));
        if (v.kind == LINT_V_UNKNOWN)
            v.kind = LINT_V_PYTHON;
        v.f = (struct lint_facts){0};
        if (stet_python_kind(w->ast, right) != PY_CALL &&
            stet_python_kind(w->ast, stet_python_child(w->ast, right)) == PY_STRING)
            v.f.flags = LINT_F_TEXT;
        else if (stet_view_is(name, "range") && leaves_rest(w, right))
            v.f.flags = LINT_F_STRIDES;
        return v;
    }
    if (holds_step(w, n) && v.kind == LINT_V_UNKNOWN)
        return (struct lint_value){
            .kind = LINT_V_TENSOR, .deps = LINT_ALWAYS, .flags = LINT_WEAK | LINT_TREE};
    return v;
}

/* What is known of each part of a tuple that a function of this file returns or yields. */
void lint_note_items(struct lint_walk *w, stet_python_ref left, stet_python_ref right)
{
    const struct stet_python_ast *a = w->ast;
    struct lint_value f;
    uint32_t fn, i = 0;

    if (stet_python_kind(a, right) != PY_CALL || stet_python_kind(a, left) != PY_PATTERN_LIST)
        return;
    f = lint_value_of(w, stet_python_bare(a, stet_python_field(a, right, PY_FIELD_FUNCTION)));
    if (f.kind != LINT_V_FN && f.kind != LINT_V_JITTED)
        return;
    fn = f.kind == LINT_V_FN ? f.index : w->jits[f.index].fn;
    if (fn == LINT_NONE || w->fns[fn].progress != LINT_DONE)
        return;
    for (stet_python_ref l = stet_python_child(a, left); l && i < w->fns[fn].item_count;
         l = stet_python_next(a, l), i++) {
        struct lint_binding *b = lint_scope_find(&w->fns[w->fn].scope, stet_python_name(a, l));

        if (!b)
            continue;
        b->value.f = w->fns[fn].items[i];
        if (f.kind == LINT_V_JITTED)
            b->value.f.flags = (uint16_t)((b->value.f.flags & ~LINT_F_EAGER) | LINT_F_DEVICE);
    }
}

void lint_run_for(struct lint_walk *w, stet_python_ref n)
{
    struct lint_value counter = {.kind = LINT_V_PYTHON};
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT),
                    right = stet_python_field(a, n, PY_FIELD_RIGHT);
    stet_python_ref otherwise = stet_python_child_of(a, n, PY_ELSE), first;
    struct lint_value v;

    lint_eval(w, right);
    v = loop_value(w, n, right);
    lint_assign(w, left, v);
    lint_note_items(w, left, right);
    first = stet_python_kind(a, left) == PY_PATTERN_LIST ? stet_python_child(a, left) : 0;
    if (first && stet_python_kind(a, right) == PY_CALL &&
        stet_view_is(stet_python_callee(w->module, right), "enumerate")) {
        counter.flags = changes_with(holds_step(w, n));
        lint_assign(w, first, counter);
    }
    lint_rules(w, ON_FOR, n);
    run_loop(w, n, stet_python_field(a, n, PY_FIELD_BODY));
    if (otherwise)
        lint_run_block(w, stet_python_field(a, otherwise, PY_FIELD_BODY));
}

void lint_run_while(struct lint_walk *w, stet_python_ref n)
{
    stet_python_ref test = stet_python_field(w->ast, n, PY_FIELD_CONDITION);

    lint_eval(w, test);
    lint_condition(w, test);
    run_loop(w, n, stet_python_field(w->ast, n, PY_FIELD_BODY));
}
