/* The rule about compiled functions that are created again and again. */
#include "lint/rules.h"

/* The text right after a node, blanks skipped. */
static char following(const struct stet_flow_walk *w, stet_python_ref n)
{
    uint32_t at = stet_python_at(w->ast, n)->end;

    while (at < w->ast->text.len && w->ast->text.ptr[at] == ' ')
        at++;
    return at < w->ast->text.len ? w->ast->text.ptr[at] : '\n';
}

/* Is it a function object that is made anew each time this place runs? */
static bool is_fresh(struct stet_flow_walk *w, stet_python_ref operand)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_value v;
    char room[160];

    operand = stet_python_bare(a, operand);
    v = stet_flow_value_of(w, operand);
    if (stet_python_kind(a, operand) == PY_LAMBDA)
        return true;
    if (stet_python_kind(a, operand) == PY_CALL) {
        struct stet_view made =
            stet_python_imported(w->module, stet_python_field(a, operand, PY_FIELD_FUNCTION), room);

        return stet_python_transform(made) != NULL;
    }
    if (v.kind != FLOW_V_FN || stet_python_kind(a, operand) != PY_IDENTIFIER ||
        w->fns[v.index].parent != w->fn || !w->fn)
        return false;
    /* jax.jit finds what it compiled for the same function object. */
    return !w->loops || a->nodes[w->fns[v.index].node].start > a->nodes[w->loop].start;
}

/* Does the call put something into a container? */
static bool keeps(const struct stet_flow_walk *w, stet_python_ref call)
{
    enum stet_python_meaning meaning = stet_python_call_meaning(w->module, call);

    return meaning == PY_MEANS_ADDS_ITEM || meaning == PY_MEANS_INSERTS_ITEM ||
           meaning == PY_MEANS_ADDS_ITEMS;
}

/* Stored under a key or in a list: a table of compiled functions, each created once. */
static bool is_collected(const struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref inner = stet_python_child(a, w->statement), left;

    if (stet_python_kind(a, w->statement) == PY_RETURN)
        return true;
    if (stet_python_kind(a, inner) == PY_CALL)
        return keeps(w, inner);
    if (stet_python_kind(a, inner) != PY_ASSIGNMENT)
        return false;
    left = stet_python_field(a, inner, PY_FIELD_LEFT);
    for (stet_python_ref c = w->loop;
         w->loop && stet_python_name(a, left) && stet_flow_within(w, c, w->loop); c++)
        if (a->nodes[c].kind == PY_CALL &&
            stet_python_name(a, stet_python_argument(w->module, c, 0)) ==
                stet_python_name(a, left) &&
            keeps(w, c))
            return true; /* kept by a later statement */
    return stet_python_kind(a, left) == PY_SUBSCRIPT || stet_python_kind(a, left) == PY_ATTRIBUTE ||
           stet_python_child_of(a, inner, PY_LIST_COMPREHENSION) ||
           stet_python_child_of(a, inner, PY_DICT_COMPREHENSION);
}

/* Runs once because of its place: at module level, memoized, behind "if it is not made yet", or in
 * a method that runs while an object is made. */
static bool runs_once(const struct stet_flow_walk *w)
{
    return !w->fn || w->once || w->fns[w->fn].memoized ||
           stet_map_get(&w->builders, w->fns[w->fn].node) != STET_MAP_NONE;
}

/* Is every use of the function's name at module level outside of loops, or in a function of which
 * that holds? app.run(main) counts as a call. */
static bool is_called_once(const struct stet_flow_walk *w, uint32_t fn, unsigned depth)
{
    const struct stet_python_ast *a = w->ast;
    const struct stet_flow_function *f = &w->fns[fn];
    bool used = false;

    if (!fn || f->owner != FLOW_NONE || f->parent || !f->name || depth > 4)
        return false;
    for (stet_python_ref c = 1; c < a->count && stet_flow_spend(w); c++) {
        uint32_t around;

        if (stet_python_name(a, c) != f->name || a->nodes[c].field == PY_FIELD_ATTRIBUTE ||
            stet_python_kind(a, w->module->parents[c]) == PY_FUNCTION)
            continue;
        around = stet_flow_fn_at(w, stet_python_function_around(w->module, c));
        if (stet_python_loop_around(w->module, c) ||
            (around != FLOW_NONE && around && !is_called_once(w, around, depth + 1)))
            return false;
        used = true;
    }
    return used;
}

/* jit(partial(f, rate=rate)) with a rate that varies: the number is baked in. */
static bool bakes_bound(struct stet_flow_walk *w, stet_python_ref operand)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args;
    char room[160];
    bool found = false;

    operand = stet_python_bare(a, operand);
    if (stet_python_kind(a, operand) != PY_CALL || !w->loops ||
        stet_python_library_meaning(stet_python_imported(
            w->module, stet_python_field(a, operand, PY_FIELD_FUNCTION), room)) != PY_MEANS_BINDS)
        return false;
    args = stet_python_field(a, operand, PY_FIELD_ARGUMENTS);
    for (stet_python_ref c = stet_python_child(a, args); c; c = stet_python_next(a, c)) {
        stet_python_ref value = stet_python_argument_value(w->module, c);
        struct stet_flow_value v =
            value ? stet_flow_value_of(w, value) : (struct stet_flow_value){0};

        if (v.kind > FLOW_V_PYTHON || !(v.flags & FLOW_VARIES))
            continue;
        lint_report(w, LINT_RULE_baked_schedule, value, 0, LINT_ANY, 0,
                    "`%.*s` is bound into the function, and is another value at each turn",
                    STET_FMT(lint_quote(w, value)));
        found = true;
    }
    return found;
}

/* step = jit(…), and step is then called in this function and not stored anywhere. */
static bool is_used_here_only(const struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref assign = stet_python_child(a, w->statement), left, fn = w->fns[w->fn].node;
    bool called = false;
    uint32_t name;

    if (stet_python_kind(a, w->statement) != PY_EXPRESSION_STATEMENT ||
        stet_python_kind(a, assign) != PY_ASSIGNMENT ||
        stet_python_field(a, assign, PY_FIELD_RIGHT) != call)
        return false;
    left = stet_python_field(a, assign, PY_FIELD_LEFT);
    name = stet_python_name(a, left);
    for (stet_python_ref c = fn + 1; name && stet_flow_within(w, c, fn); c++) {
        if (a->nodes[c].kind == PY_CALL &&
            stet_python_name(a, stet_python_field(a, c, PY_FIELD_FUNCTION)) == name)
            called = true;
        else if (stet_python_name(a, c) == name && c != left &&
                 a->nodes[c].field != PY_FIELD_FUNCTION)
            return false;
    }
    return called;
}

/* Is a variable of a loop around this place in it? */
static bool mentions_turn(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n; n && stet_flow_within(w, c, n); c++)
        if (stet_python_name(a, c) && a->nodes[c].field != PY_FIELD_ATTRIBUTE &&
            stet_flow_turns(stet_flow_value_of(w, c)))
            return true;
    return false;
}

/* loss = make_loss(config) in the loop that gives config: a factory makes another function. */
static bool is_made_by_turn(const struct stet_flow_walk *w, uint32_t name)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (uint32_t i = m->first_binding[name]; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        stet_python_ref target = m->bindings.items[i - 1].target, assign = m->parents[target];
        stet_python_ref made = stet_python_kind(a, assign) == PY_ASSIGNMENT
                                   ? stet_python_field(a, assign, PY_FIELD_RIGHT)
                                   : 0;

        if (stet_python_kind(a, made) == PY_CALL && stet_python_loop_around(m, target) == w->loop &&
            mentions_turn(w, stet_python_field(a, made, PY_FIELD_ARGUMENTS)))
            return true;
    }
    return false;
}

/* Does what is compiled, or an option, change with the loop by more than numbers: another function
 * of a factory, another sharding? Then each turn needs its own program. */
static bool makes_others(const struct stet_flow_walk *w, stet_python_ref call,
                         stet_python_ref operand)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);

    operand = stet_python_bare(a, operand);
    for (stet_python_ref c = args ? stet_python_child(a, args) : 0; c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_KEYWORD_ARGUMENT &&
            (mentions_turn(w, stet_python_field(a, c, PY_FIELD_VALUE)) ||
             lint_follows_loop(w, stet_python_field(a, c, PY_FIELD_VALUE))))
            return true;
    for (stet_python_ref c = operand; stet_flow_within(w, c, operand); c++)
        if (stet_python_name(a, c) && is_made_by_turn(w, stet_python_name(a, c)))
            return true;
    return false;
}

/* kernel = make_kernel(block); jit(lambda x: kernel(x)) — what a call of this function compiles is
 * another function, which a factory made of its arguments. */
static bool calls_made_function(struct stet_flow_walk *w, stet_python_ref operand)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = operand; operand && stet_flow_within(w, c, operand); c++) {
        const struct stet_flow_binding *b =
            stet_python_name(a, c) && a->nodes[c].field == PY_FIELD_FUNCTION
                ? stet_flow_scope_find(&w->fns[w->fn].scope, stet_python_name(a, c))
                : NULL;
        stet_python_ref made = b ? b->value.from : 0;

        if (stet_python_kind(a, made) == PY_CALL && b->value.kind != FLOW_V_JITTED &&
            stet_python_argument_count(w->module, made))
            return true;
    }
    return false;
}

/* modules[name], getattr(model, name): each turn compiles another one, which was there before.
 * What a function of this file returns, as in scaled(factor), is made by the turn. */
static bool is_found_by_turn(const struct stet_flow_walk *w, stet_python_ref operand)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref f = stet_python_kind(a, operand) == PY_CALL
                            ? stet_python_field(a, operand, PY_FIELD_FUNCTION)
                            : 0;

    return lint_follows_loop(w, operand) && !(f && stet_flow_value_of(w, f).kind == FLOW_V_FN);
}

void rule_fresh_jit(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref operand = stet_python_argument(w->module, n, 0);
    bool in_loop = w->loops && !w->once && !(w->fn && w->fns[w->fn].memoized);
    struct stet_flow_value v = stet_flow_value_of(w, n);
    uint8_t lane = v.kind == FLOW_V_JITTED ? w->jits[v.index].lane : FLOW_JAX;

    if (!operand || bakes_bound(w, operand) || lint_in_compiled(w))
        return;
    if (lane != FLOW_JAX) { /* torch compiles code once, whatever wraps it; other numbers anew */
        bool lambda = stet_python_kind(w->ast, stet_python_bare(w->ast, operand)) == PY_LAMBDA;

        if (in_loop && lane == FLOW_TORCH && !is_collected(w) &&
            (lambda ? lint_follows_loop(w, operand)
                    : mentions_turn(w, operand) && !is_found_by_turn(w, operand)))
            lint_report(w, LINT_RULE_fresh_jit, n, 0, LINT_ANY, 0,
                        "`%.*s` compiles another function at each turn of the loop",
                        STET_FMT(lint_quote(w, n)));
        return;
    }
    if (in_loop && !is_collected(w) && is_fresh(w, operand)) {
        lint_minor(lint_report(w, LINT_RULE_fresh_jit, n, 0, LINT_ANY, 0,
                               "`%.*s` is made anew at each turn of the loop",
                               STET_FMT(lint_quote(w, n))),
                   makes_others(w, n, operand) ? LINT_MINOR : LINT_FULL);
        return;
    }
    if (w->loops || !is_fresh(w, operand))
        return;
    if (is_called_once(w, w->fn, 0))
        return;
    if (!runs_once(w) && following(w, n) == '(')
        lint_minor(lint_report(w, LINT_RULE_fresh_jit, n, 0, LINT_ANY, 0,
                               "`%.*s` is made anew at each call of %.*s",
                               STET_FMT(lint_quote(w, n)), STET_FMT(w->out->fns[w->fn].name)),
                   LINT_MINOR_ONCE);
    else if (w->fn && !w->once && !w->fns[w->fn].memoized && is_used_here_only(w, n))
        lint_minor(lint_report(w, LINT_RULE_fresh_jit, n, 0, LINT_REPEATED, 0,
                               "`%.*s` is made anew at each call of %.*s, which a loop calls",
                               STET_FMT(lint_quote(w, n)), STET_FMT(w->out->fns[w->fn].name)),
                   calls_made_function(w, operand) ? LINT_MINOR : LINT_FULL);
}

const struct stet_flow_jit *lint_called_jit(struct stet_flow_walk *w, stet_python_ref call,
                                            unsigned *shift)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref f = stet_python_field(a, call, PY_FIELD_FUNCTION);
    struct stet_flow_value v = stet_flow_value_of(w, f);
    uint32_t owner = stet_python_kind(a, f) == PY_ATTRIBUTE
                         ? stet_flow_self_class(w, stet_python_field(a, f, PY_FIELD_OBJECT))
                         : FLOW_NONE;

    *shift = 0;
    if (owner != FLOW_NONE) {
        struct stet_flow_binding *b;

        b = stet_flow_scope_find(&w->classes[owner].attributes,
                                 stet_python_name(a, stet_python_field(a, f, PY_FIELD_ATTRIBUTE)));
        v = b ? b->value : (struct stet_flow_value){0};
        /* A decorated method counts self among its positions, jax.jit(self.step) does not. */
        if (v.kind == FLOW_V_JITTED && w->jits[v.index].fn != FLOW_NONE &&
            w->fns[w->jits[v.index].fn].jit == v.index + 1)
            *shift = 1;
    } else if (stet_python_kind(a, f) == PY_ATTRIBUTE) {
        return NULL; /* a method of the compiled function: lower, eval_shape */
    }
    return v.kind == FLOW_V_JITTED ? &w->jits[v.index] : NULL;
}
