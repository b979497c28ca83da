/* Rules about compiled functions: how they are created, their arguments, and what they close
 * over. */
#include "lint/rules.h"
#include "python/library.h"

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

        return stet_view_is(made, "functools.partial") || stet_view_starts(made, "jax.");
    }
    return v.kind == FLOW_V_FN && stet_python_kind(a, operand) == PY_IDENTIFIER &&
           w->fns[v.index].parent == w->fn && w->fn;
}

/* Stored under a key or in a list: a table of compiled functions, each created once. */
static bool is_collected(const struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    static const char *const keeps[] = {"append", "setdefault", "add", "extend", NULL};
    stet_python_ref inner = stet_python_child(a, w->statement), left;

    if (stet_python_kind(a, w->statement) == PY_RETURN)
        return true;
    if (stet_python_kind(a, inner) == PY_CALL)
        return stet_view_in(stet_python_callee(w->module, inner), keeps);
    if (stet_python_kind(a, inner) != PY_ASSIGNMENT)
        return false;
    left = stet_python_field(a, inner, PY_FIELD_LEFT);
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
        !stet_view_is(
            stet_python_imported(w->module, stet_python_field(a, operand, PY_FIELD_FUNCTION), room),
            "functools.partial"))
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

void rule_fresh_jit(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref operand = stet_python_argument(w->module, n, 0);
    bool in_loop = w->loops && !w->once && !(w->fn && w->fns[w->fn].memoized);
    struct stet_flow_value v = stet_flow_value_of(w, n);

    if (!operand || bakes_bound(w, operand))
        return;
    if (in_loop && !is_collected(w) &&
        (is_fresh(w, operand) ||
         (v.kind == FLOW_V_JITTED && w->jits[v.index].lane == FLOW_TORCH))) {
        lint_report(w, LINT_RULE_fresh_jit, n, 0, LINT_ANY, 0,
                    "`%.*s` is made anew at each turn of the loop", STET_FMT(lint_quote(w, n)));
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
        lint_report(w, LINT_RULE_fresh_jit, n, 0, LINT_REPEATED, 0,
                    "`%.*s` is made anew at each call of %.*s, which a loop calls",
                    STET_FMT(lint_quote(w, n)), STET_FMT(w->out->fns[w->fn].name));
}

static const struct stet_flow_jit *called_jit(struct stet_flow_walk *w, stet_python_ref call,
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

static bool is_static_name(const struct stet_flow_jit *j, struct stet_view name)
{
    for (uint32_t i = 0; i < j->static_name_count; i++) {
        if (stet_view_eq(j->static_names[i], name))
            return true;
    }
    return false;
}

/* Calls `look` for each argument in a static place. */
static void each_static(struct stet_flow_walk *w, stet_python_ref call,
                        void (*look)(struct stet_flow_walk *, stet_python_ref call,
                                     stet_python_ref value))
{
    const struct stet_python_ast *a = w->ast;
    unsigned shift, position = 0;
    const struct stet_flow_jit *j = called_jit(w, call, &shift);
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);

    if (!j || (!j->static_positions && !j->static_name_count))
        return;
    for (stet_python_ref c = args ? stet_python_child(a, args) : 0; c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_KEYWORD_ARGUMENT) {
            if (is_static_name(j, stet_python_text(a, stet_python_field(a, c, PY_FIELD_NAME))))
                look(w, call, stet_python_field(a, c, PY_FIELD_VALUE));
        } else if (stet_python_kind(a, c) != PY_COMMENT) {
            if (position + shift < 64 && (j->static_positions >> (position + shift) & 1))
                look(w, call, c);
            position++;
        }
    }
}

/* self.calls, which a method counts up */
static bool counts_itself(const struct stet_flow_walk *w, stet_python_ref value)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref class_node =
        stet_python_kind(a, value) == PY_ATTRIBUTE
            ? stet_python_self_class(w->module, stet_python_field(a, value, PY_FIELD_OBJECT))
            : 0;

    if (!class_node)
        return false;
    for (stet_python_ref c = class_node + 1; stet_flow_within(w, c, class_node); c++) {
        if (a->nodes[c].kind == PY_AUGMENTED &&
            stet_view_eq(stet_python_text(a, stet_python_field(a, c, PY_FIELD_LEFT)),
                         stet_python_text(a, value)))
            return true;
    }
    return false;
}

/* A truth value, not a number: late-branch reports what it switches. */
static bool is_switch(const struct stet_flow_walk *w, stet_python_ref value)
{
    enum stet_python_kind k = stet_python_kind(w->ast, stet_python_bare(w->ast, value));

    return k == PY_COMPARISON || k == PY_NOT || k == PY_BOOLEAN;
}

/* … also under a name: train = i < 8. It has two values, and so two programs. */
static bool is_flag(struct stet_flow_walk *w, stet_python_ref value)
{
    const struct stet_flow_binding *b = stet_flow_lookup(w, w->fn, stet_python_name(w->ast, value));

    return is_switch(w, value) || (b && b->value.from && is_switch(w, b->value.from));
}

static void look_varies(struct stet_flow_walk *w, stet_python_ref call, stet_python_ref value)
{
    struct stet_flow_value v = stet_flow_value_of(w, value);

    if (counts_itself(w, value)) {
        lint_report(w, LINT_RULE_python_counter, value, 0, LINT_ANY, 0,
                    "`%.*s` counts calls, and is a static argument",
                    STET_FMT(lint_quote(w, value)));
        return;
    }
    if (w->loops && is_flag(w, value) &&
        (v.kind == FLOW_V_HOST || (v.kind <= FLOW_V_PYTHON && (v.flags & FLOW_VARIES)))) {
        lint_advise(lint_report(w, LINT_RULE_static_varies, value, 0, LINT_ANY, 0,
                                "static argument `%.*s` is a flag that turns over in the loop",
                                STET_FMT(lint_quote(w, value))),
                    "two programs: warm both up before the first step");
        return;
    }
    if ((w->loops && v.kind <= FLOW_V_PYTHON && (v.flags & FLOW_VARIES)) || v.kind == FLOW_V_HOST ||
        (v.kind == FLOW_V_SHAPE && (v.flags & FLOW_DYNAMIC)))
        lint_report(w, LINT_RULE_static_varies, value, 0, LINT_ANY, 0, "static argument `%.*s` %s",
                    STET_FMT(lint_quote(w, value)),
                    v.kind == FLOW_V_HOST || v.kind == FLOW_V_SHAPE
                        ? "depends on a tensor's values"
                        : "has another value at each turn");
    (void)call;
}

void rule_static_varies(struct stet_flow_walk *w, stet_python_ref n)
{
    each_static(w, n, look_varies);
    lint_fed_static(w, n);
}

static void look_unhashable(struct stet_flow_walk *w, stet_python_ref call, stet_python_ref value)
{
    struct lint_candidate *c;
    struct stet_view text = stet_python_text(w->ast, value);
    enum stet_python_kind k = stet_python_kind(w->ast, value);
    bool list = k == PY_LIST;

    if (!list && k != PY_DICTIONARY && k != PY_SET && k != PY_LIST_COMPREHENSION &&
        k != PY_DICT_COMPREHENSION && k != PY_LAMBDA &&
        !(k == PY_CALL && stet_flow_is_strong(stet_flow_value_of(w, value))))
        return;
    c = lint_report(w, LINT_RULE_static_unhashable, value, 0, LINT_ANY, 0,
                    "static argument `%.*s` %s", STET_FMT(lint_quote(w, value)),
                    k == PY_LAMBDA ? "is a new function at each call" : "cannot be hashed");
    if (c && list && text.len >= 2) {
        bool one = stet_python_child(w->ast, value) &&
                   !stet_python_next(w->ast, stet_python_child(w->ast, value)) &&
                   !memchr(text.ptr, ',', text.len);

        c->edit = (struct lint_edit){
            stet_python_at(w->ast, value)->start, stet_python_at(w->ast, value)->end,
            stet_arena_printf(&w->out->arena, "(%.*s%s)", (int)(text.len - 2), text.ptr + 1,
                              one ? "," : "")};
    }
    (void)call;
}

void rule_static_unhashable(struct stet_flow_walk *w, stet_python_ref n)
{
    each_static(w, n, look_unhashable);
}

void rule_static_self(struct stet_flow_walk *w, stet_python_ref n)
{
    uint32_t fn = stet_flow_fn_at(w, n);
    const struct stet_flow_jit *j;
    uint32_t hash = stet_python_ast_name(w->ast, "__hash__"),
             frozen = stet_python_ast_name(w->ast, "frozen");

    if (fn == FLOW_NONE || !w->fns[fn].jit || !w->out->fns[fn].is_method)
        return;
    j = &w->jits[w->fns[fn].jit - 1];
    if (j->lane != FLOW_JAX ||
        (!(j->static_positions & 1) && !is_static_name(j, STET_VIEW("self"))))
        return;
    if (frozen || (hash && stet_flow_method(w, w->fns[fn].owner, hash) != FLOW_NONE))
        return;
    lint_report(w, LINT_RULE_static_self, n, 0, LINT_ANY, 0, "%.*s is compiled once per object",
                STET_FMT(w->out->fns[fn].name));
}

void rule_baked_schedule(struct stet_flow_walk *w, stet_python_ref n)
{
    unsigned shift;
    const struct stet_flow_jit *j;
    stet_python_ref args;

    if (stet_python_kind(w->ast, n) == PY_SUBSCRIPT) {
        lint_shaped_subscript(w, n);
        return;
    }
    lint_shaped_call(w, n);
    j = called_jit(w, n, &shift);
    args = stet_python_field(w->ast, n, PY_FIELD_ARGUMENTS);
    if (!w->loops || !j || j->lane == FLOW_JAX)
        return;
    for (stet_python_ref c = args ? stet_python_child(w->ast, args) : 0; c;
         c = stet_python_next(w->ast, c)) {
        stet_python_ref value = stet_python_argument_value(w->module, c);
        struct stet_flow_value v =
            value ? stet_flow_value_of(w, value) : (struct stet_flow_value){0};

        if (!(v.flags & FLOW_VARIES) || (v.deps & FLOW_ALWAYS) || is_switch(w, value) ||
            (v.kind != FLOW_V_PYTHON && !(v.kind == FLOW_V_TENSOR && (v.flags & FLOW_WEAK))))
            continue;
        if (v.f.flags & FLOW_F_TEXT)
            lint_report(w, LINT_RULE_static_varies, value, 0, LINT_ANY, 0,
                        "`%.*s` is another string at each turn", STET_FMT(lint_quote(w, value)));
        else if (!j->fixed || !lint_passes_limit(w, j, value))
            lint_report(w, LINT_RULE_baked_schedule, value, 0, LINT_ANY, 0,
                        "`%.*s` is another Python value at each turn",
                        STET_FMT(lint_quote(w, value)));
    }
}

/* A parameter of the function around it: baked into what is compiled inside. */
static void closure_value(struct stet_flow_walk *w, stet_python_ref n, uint32_t name)
{
    struct stet_flow_binding *b = NULL;
    uint32_t fn = w->fns[w->fn].parent;

    if (!(w->facts & FLOW_USES_JIT) || stet_flow_scope_find(&w->fns[w->fn].scope, name))
        return;
    for (; fn && !b; fn = w->fns[fn].parent)
        b = stet_flow_scope_find(&w->fns[fn].scope, name);
    if (!b || b->writes != 1 || !(b->value.deps & ~FLOW_ALWAYS) || b->value.kind == FLOW_V_FN ||
        b->value.kind == FLOW_V_JITTED || b->value.kind == FLOW_V_SHAPE ||
        stet_python_at(w->ast, n)->field == PY_FIELD_FUNCTION ||
        stet_python_kind(w->ast, w->statement) == PY_FOR) /* python-loop reports it */
        return;
    if (lint_reported(w, LINT_RULE_baked_schedule, LINT_VARYING, b->value.deps))
        return; /* once a value */
    lint_report(w, LINT_RULE_baked_schedule, n, FLOW_TRACED, LINT_VARYING,
                b->value.deps & ~FLOW_ALWAYS,
                "`%.*s` is baked in, and is another value from call to call",
                STET_FMT(w->ast->names.items[name]));
}

static bool is_called_in_loop(const struct stet_flow_walk *w, uint32_t name)
{
    const struct stet_python_module *m = w->module;

    for (uint32_t i = 0; name && i < m->calls.count && stet_flow_spend(w); i++) {
        stet_python_ref call = m->calls.items[i];

        if (stet_python_name(w->ast, stet_python_field(w->ast, call, PY_FIELD_FUNCTION)) == name &&
            stet_python_loop_around(m, call))
            return true;
    }
    return false;
}

/* The same of a method: trainer.anneal() */
static bool is_called_in_loop_by(const struct stet_flow_walk *w, uint32_t name)
{
    const struct stet_python_module *m = w->module;

    for (uint32_t i = 0; name && i < m->calls.count && stet_flow_spend(w); i++) {
        stet_python_ref call = m->calls.items[i];

        if (stet_view_eq(stet_python_callee(m, call), w->ast->names.items[name]) &&
            stet_python_loop_around(m, call))
            return true;
    }
    return false;
}

/* Is the global written in a loop, or by a function that a loop of this file calls? Otherwise it is
 * a setting: a caller may change it, and most change it before the first step. */
static bool keeps_changing(const struct stet_flow_walk *w, uint32_t name)
{
    const struct stet_python_module *m = w->module;

    for (uint32_t i = m->first_binding[name]; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        uint32_t fn;

        if (b->attribute)
            continue;
        if (stet_python_loop_around(m, b->target))
            return true;
        fn = stet_flow_fn_at(w, stet_python_function_around(m, b->target));
        if (fn != FLOW_NONE && fn && is_called_in_loop(w, w->fns[fn].name))
            return true;
    }
    return false;
}

void rule_global_value(struct stet_flow_walk *w, stet_python_ref n)
{
    uint32_t name = stet_python_name(w->ast, n);
    struct stet_flow_binding *b;

    if (!w->fn || !name)
        return;
    closure_value(w, n, name);
    for (uint32_t fn = w->fn; fn; fn = w->fns[fn].parent) {
        if (stet_flow_scope_find(&w->fns[fn].scope, name))
            return;
    }
    b = stet_flow_scope_find(&w->fns[0].scope, name);
    if (!b || b->value.kind > FLOW_V_PYTHON ||
        (!w->global_writes[name] && !(b->value.flags & FLOW_VARIES)))
        return;
    lint_minor(lint_report(w, LINT_RULE_global_value, n, FLOW_JAX | FLOW_TORCH, LINT_ANY, 0,
                           "the global `%.*s` is reassigned elsewhere in this file",
                           STET_FMT(w->ast->names.items[name])),
               keeps_changing(w, name) ? LINT_FULL : LINT_MINOR);
}

/* A method that is itself compiled, or made into a compiled function elsewhere. */
static bool is_compiled(const struct stet_flow_walk *w, uint32_t fn)
{
    for (uint32_t i = 0; i < w->jit_count && stet_flow_spend(w); i++) {
        if (w->jits[i].fn == fn && w->jits[i].lane == FLOW_JAX)
            return true;
    }
    return false;
}

static bool in_condition(const struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref test = stet_python_field(w->ast, w->statement, PY_FIELD_CONDITION);

    return test && stet_python_at(w->ast, n)->start >= stet_python_at(w->ast, test)->start &&
           stet_python_at(w->ast, n)->end <= stet_python_at(w->ast, test)->end;
}

/* An attribute that a loop elsewhere sets: config.scale, or self.scale of an object made there. */
static bool outside_value(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t object = stet_python_name(a, stet_python_field(a, n, PY_FIELD_OBJECT));
    uint32_t attribute = stet_python_name(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE));
    uint32_t owner = stet_flow_self_class(w, stet_python_field(a, n, PY_FIELD_OBJECT));
    uint32_t fn = w->fn;
    bool self = owner != FLOW_NONE;

    if (!w->moves.count || !w->fn || !object || w->target)
        return false;
    while (stet_python_kind(a, w->fns[fn].node) == PY_LAMBDA) /* runs where it is written */
        fn = w->fns[fn].parent;
    if (self ? !stet_flow_class_attribute_moved(w, owner, attribute)
             : !stet_flow_object_attribute_moved(w, object, attribute) ||
                   stet_flow_scope_find(&w->fns[fn].scope, object))
        return !self;
    if (stet_python_kind(a, w->statement) == PY_IF && in_condition(w, n))
        return true; /* late-branch reports it */
    lint_report(w, LINT_RULE_self_value, n, FLOW_TRACED, LINT_ANY, 0,
                "`%.*s` is set in a loop elsewhere, and its value here is baked in",
                STET_FMT(lint_quote(w, n)));
    return true;
}

/* Is the attribute changed by a method in terms of itself (self.n += 1, self.rate *= 0.9) or in a
 * loop? Others are set again when something else is loaded. */
static bool steps_on(const struct stet_flow_walk *w, uint32_t owner, uint32_t name)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (uint32_t i = m->first_binding[name]; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        stet_python_ref object =
            b->attribute ? stet_python_field(a, b->target, PY_FIELD_OBJECT) : 0;
        stet_python_ref setter;

        if (!object || stet_python_self_class(m, object) != w->classes[owner].node)
            continue;
        setter = stet_python_method_around(m, b->target);
        if (stet_python_kind(a, m->parents[b->target]) == PY_AUGMENTED ||
            stet_python_loop_around(m, b->target) ||
            (stet_flow_fn_at(w, setter) != FLOW_NONE &&
             is_called_in_loop_by(w, w->fns[stet_flow_fn_at(w, setter)].name)))
            return true;
    }
    return false;
}

void rule_self_value(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t fn = w->fn, name;

    if (stet_python_kind(a, n) != PY_ATTRIBUTE || outside_value(w, n))
        return;
    while (fn && w->fns[fn].owner == FLOW_NONE)
        fn = w->fns[fn].parent;
    if (!fn || !is_compiled(w, fn))
        return;
    name = stet_python_name(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE));
    if (stet_flow_method(w, w->fns[fn].owner, name) != FLOW_NONE ||
        !(stet_flow_attribute_moves(w, w->fns[fn].owner, name) & FLOW_KEEPS_MOVING))
        return;
    lint_minor(
        lint_report(w, LINT_RULE_self_value, n, FLOW_JAX, LINT_ANY, 0,
                    "`self.%.*s` is changed after construction, and its value here is baked in",
                    STET_FMT(w->ast->names.items[name])),
        steps_on(w, w->fns[fn].owner, name) ? LINT_FULL : LINT_MINOR);
}

/* x.shape, x["a"].dtype, x.keys(), len(x): a donated array still has these. */
static bool reads_metadata(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;
    stet_python_ref up = m->parents[n];

    while (stet_python_kind(a, up) == PY_SUBSCRIPT &&
           stet_python_field(a, up, PY_FIELD_VALUE) == n) {
        n = up;
        up = m->parents[n];
    }
    if (stet_python_kind(a, up) == PY_ATTRIBUTE && stet_python_field(a, up, PY_FIELD_OBJECT) == n) {
        struct stet_view name = stet_python_text(a, stet_python_field(a, up, PY_FIELD_ATTRIBUTE));
        enum stet_python_effect effect =
            stet_python_kind(a, m->parents[up]) == PY_CALL &&
                    stet_python_field(a, m->parents[up], PY_FIELD_FUNCTION) == up
                ? stet_python_library_method(name)
                : stet_python_library_attribute(name);

        return effect == PY_GIVES_SIZE || effect == PY_GIVES_RANK || effect == PY_GIVES_HOST ||
               effect == PY_GIVES_TYPE || effect == PY_GIVES_KEYS;
    }
    return stet_python_kind(a, up) == PY_ARGUMENTS &&
           stet_view_is(stet_python_callee(m, m->parents[up]), "len");
}

/* Returns the node that reads the name in this range before it is bound again, or 0. */
static stet_python_ref read_before_write(const struct stet_flow_walk *w, uint32_t name,
                                         stet_python_ref from, uint32_t until, bool *rebound)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = from; c < a->count && a->nodes[c].start < until && stet_flow_spend(w);
         c++) {
        if (a->nodes[c].kind == PY_ASSIGNMENT) {
            stet_python_ref left = stet_python_field(a, c, PY_FIELD_LEFT);
            stet_python_ref right = stet_python_field(a, c, PY_FIELD_RIGHT), use = 0;

            for (stet_python_ref r = right; right && stet_flow_within(w, r, right); r++) {
                if (stet_python_name(a, r) == name && !reads_metadata(w, r))
                    use = r;
            }
            if (use)
                return use;
            for (stet_python_ref l = left; left && stet_flow_within(w, l, left); l++) {
                if (stet_python_name(a, l) == name && stet_python_kind(a, left) != PY_ATTRIBUTE &&
                    stet_python_kind(a, left) != PY_SUBSCRIPT) {
                    *rebound = true;
                    return 0;
                }
            }
        } else if (a->nodes[c].kind == PY_DELETE) {
            *rebound = true;
            return 0;
        } else if (a->nodes[c].kind == PY_KEYWORD_ARGUMENT) {
            c++; /* the keyword itself */
        } else if (stet_python_name(a, c) == name && a->nodes[c].field != PY_FIELD_ATTRIBUTE &&
                   !reads_metadata(w, c)) {
            return c;
        }
    }
    return 0;
}

static stet_python_ref first_after(const struct stet_python_ast *a, uint32_t offset,
                                   stet_python_ref from)
{
    while (from < a->count && a->nodes[from].start < offset)
        from++;
    return from;
}

static bool rebinds(const struct stet_flow_walk *w, stet_python_ref statement, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref assign = stet_python_child(a, statement), left;

    if (stet_python_kind(a, statement) == PY_RETURN)
        return true;
    if (stet_python_kind(a, assign) != PY_ASSIGNMENT)
        return false;
    left = stet_python_field(a, assign, PY_FIELD_LEFT);
    for (stet_python_ref l = left; stet_flow_within(w, l, left); l++) {
        if (stet_python_name(a, l) == name)
            return true;
    }
    return false;
}

static void check_donated(struct stet_flow_walk *w, stet_python_ref call, stet_python_ref arg)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t name = stet_python_name(a, arg), end;
    uint32_t statement_end = stet_python_at(a, w->statement)->end;
    bool rebound = false;
    stet_python_ref use;

    if (!name || rebinds(w, w->statement, name))
        return;
    end = w->branches
              ? w->block_end
              : (w->fn ? stet_python_at(a, w->fns[w->fn].node)->end : (uint32_t)a->text.len);
    use = read_before_write(w, name, first_after(a, statement_end, call), end, &rebound);
    if (!use && !rebound && w->loop && w->branches == w->loops) {
        stet_python_ref body = stet_python_field(a, w->loop, PY_FIELD_BODY);

        use = body ? read_before_write(w, name, body + 1, stet_python_at(a, w->statement)->start,
                                       &rebound)
                   : 0;
        if (!use && !rebound)
            use = arg;
    }
    if (use)
        lint_report(w, LINT_RULE_donated_reuse, use, 0, LINT_ANY, 0,
                    "`%.*s` was donated to the call on line %u", STET_FMT(a->names.items[name]),
                    stet_python_at(a, call)->row + 1);
}

void rule_donated_reuse(struct stet_flow_walk *w, stet_python_ref n)
{
    unsigned shift;
    const struct stet_flow_jit *j = called_jit(w, n, &shift);

    if (!j || !j->donated_positions)
        return;
    for (unsigned i = 0; i + shift < 64; i++) {
        stet_python_ref arg = stet_python_argument(w->module, n, i);

        if (!arg)
            break;
        if (j->donated_positions >> (i + shift) & 1)
            check_donated(w, n, arg);
    }
}
