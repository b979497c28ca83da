/* Rules about Python values that become constants of a compiled function: arguments, globals,
 * variables of the function around it, attributes. */
#include "lint/rules.h"

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
    j = lint_called_jit(w, n, &shift);
    args = stet_python_field(w->ast, n, PY_FIELD_ARGUMENTS);
    if (!w->loops || !j || j->lane == FLOW_JAX)
        return;
    for (stet_python_ref c = args ? stet_python_child(w->ast, args) : 0; c;
         c = stet_python_next(w->ast, c)) {
        stet_python_ref value = stet_python_argument_value(w->module, c);
        struct stet_flow_value v =
            value ? stet_flow_value_of(w, value) : (struct stet_flow_value){0};

        if (!(v.flags & FLOW_VARIES) || (v.deps & FLOW_ALWAYS) || lint_is_switch(w, value) ||
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
    if (stet_python_kind(w->ast, b->value.from) == PY_CALL &&
        stet_python_call_meaning(w->module, b->value.from) == PY_MEANS_SHARDING)
        return; /* no number; sharding-change reports it where it differs */
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

/* if not warned: warned = True, or if warned: return … warned = True — the program does not depend
 * on it, or it is made once. If the branch can only fail, it does not depend on it either. */
static bool guards_itself(const struct stet_flow_walk *w, stet_python_ref n, uint32_t name)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;
    stet_python_ref test = n, branch, range;

    while (test && stet_python_kind(a, m->parents[test]) != PY_IF &&
           stet_python_kind(a, m->parents[test]) != PY_BLOCK)
        test = m->parents[test];
    if (!test || stet_python_field(a, m->parents[test], PY_FIELD_CONDITION) != test)
        return false;
    branch = stet_python_field(a, m->parents[test], PY_FIELD_CONSEQUENCE);
    if (stet_flow_fails(w, branch))
        return true;
    range = stet_flow_leaves(w, branch) ? m->parents[m->parents[test]] : m->parents[test];
    for (uint32_t i = m->first_binding[name]; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (!b->attribute && stet_flow_within(w, b->target, range) &&
            stet_python_at(a, b->target)->start > stet_python_at(a, test)->start)
            return true;
    }
    return false;
}

/* saved = flag … flag = saved: does the function give the global its old value back? */
static bool restores(const struct stet_flow_walk *w, uint32_t name, stet_python_ref function)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (uint32_t i = m->first_binding[name]; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        uint32_t saved = b->how == PY_BIND_VALUE ? stet_python_name(a, b->value) : 0;

        if (!saved || stet_python_function_around(m, b->target) != function)
            continue;
        for (uint32_t k = m->first_binding[saved]; k && stet_flow_spend(w);
             k = m->bindings.items[k - 1].next)
            if (stet_python_function_around(m, m->bindings.items[k - 1].target) == function &&
                stet_python_name(a, m->bindings.items[k - 1].value) == name)
                return true;
    }
    return false;
}

/* Is each change of the global taken back by the function that makes it? */
static bool counts_depth(const struct stet_flow_walk *w, uint32_t name)
{
    const struct stet_python_module *m = w->module;
    bool undone = false;

    for (uint32_t i = m->first_binding[name]; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        stet_python_ref target = m->bindings.items[i - 1].target, statement = m->parents[target];
        stet_python_ref function = stet_python_function_around(m, target);

        if (m->bindings.items[i - 1].attribute || !function)
            continue;
        if (!restores(w, name, function) &&
            (stet_python_kind(w->ast, statement) != PY_AUGMENTED || !lint_is_undone(w, statement)))
            return false;
        undone = true;
    }
    return undone;
}

/* if flag is None, if not flag */
static bool asks_unset(const struct stet_flow_walk *w, stet_python_ref function, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = function; stet_flow_within(w, c, function); c++) {
        stet_python_ref test =
            stet_python_kind(a, c) == PY_IF ? stet_python_field(a, c, PY_FIELD_CONDITION) : 0;

        for (stet_python_ref t = test; test && stet_flow_within(w, t, test); t++) {
            char op = a->nodes[t].op;

            if ((stet_python_kind(a, t) == PY_NOT ||
                 (stet_python_kind(a, t) == PY_COMPARISON && (op == 's' || op == 't'))) &&
                stet_python_name(a, stet_python_child(a, t)) == name)
                return true;
        }
    }
    return false;
}

/* Do functions give the global another value, again and again? One that is None at first and set by
 * the first that asks for it has one value from then on. One whose items change is not reassigned.
 */
static bool is_reassigned(const struct stet_flow_walk *w, uint32_t name)
{
    const struct stet_python_module *m = w->module;

    for (uint32_t i = w->global_writes[name] ? m->first_binding[name] : 0; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        stet_python_ref function = stet_python_function_around(m, b->target);

        if (!b->attribute && function && !asks_unset(w, function, name) &&
            stet_python_kind(w->ast, b->target) != PY_SUBSCRIPT &&
            stet_python_kind(w->ast, m->parents[b->target]) != PY_SUBSCRIPT) /* a table's item */
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
        (!is_reassigned(w, name) && !(b->value.flags & FLOW_VARIES)) || guards_itself(w, n, name) ||
        counts_depth(w, name))
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

/* self.pos + 1, as the new value of self.pos */
static bool is_of_itself(const struct stet_flow_walk *w, const struct stet_python_binding *b)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = b->value; b->value && stet_flow_within(w, c, b->value); c++)
        if (stet_python_kind(a, c) == PY_ATTRIBUTE &&
            stet_view_eq(stet_python_text(a, c), stet_python_text(a, b->target)))
            return true;
    return false;
}

bool lint_steps_on(const struct stet_flow_walk *w, uint32_t owner, uint32_t name)
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
        if (stet_map_get(&w->builders, setter) != STET_MAP_NONE)
            continue; /* while the object is made */
        if (stet_python_kind(a, m->parents[b->target]) == PY_AUGMENTED || is_of_itself(w, b) ||
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
    const struct stet_flow_binding *b;
    uint32_t fn = w->fn, name;

    if (stet_python_kind(a, n) != PY_ATTRIBUTE || outside_value(w, n))
        return;
    while (fn && w->fns[fn].owner == FLOW_NONE)
        fn = w->fns[fn].parent;
    if (!fn || !is_compiled(w, fn))
        return;
    if (w->fns[fn].jit && w->out->fns[fn].is_method && !lint_takes_self_static(w, fn))
        return; /* the object is an argument: what it holds is traced, or compared in each call */
    name = stet_python_name(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE));
    b = stet_flow_scope_find(&w->classes[w->fns[fn].owner].attributes, name);
    if (b && b->value.kind == FLOW_V_JITTED)
        return; /* code that makes it again wants it compiled again */
    if (stet_flow_method(w, w->fns[fn].owner, name) != FLOW_NONE ||
        !(stet_flow_attribute_moves(w, w->fns[fn].owner, name) & FLOW_KEEPS_MOVING))
        return;
    lint_minor(
        lint_report(w, LINT_RULE_self_value, n, FLOW_JAX, LINT_ANY, 0,
                    "`self.%.*s` is changed after construction, and its value here is baked in",
                    STET_FMT(w->ast->names.items[name])),
        lint_steps_on(w, w->fns[fn].owner, name) ? LINT_FULL : LINT_MINOR);
}
