/* What a file is about: the libraries it uses, and what of them. Names are resolved by the Python
 * reader; those that users choose decide nothing. */
#include "flow/walk.h"

static void spend(const struct stet_flow_walk *w, size_t steps)
{
    w->work->steps += steps;
}

/* A question about the flow of values may look at every call of the file. */
static bool may_ask(const struct stet_flow_walk *w)
{
    if (!stet_flow_spend(w))
        return false;
    spend(w, w->module->calls.count);
    return true;
}

uint32_t stet_flow_origins(const struct stet_flow_walk *w, stet_python_ref n)
{
    uint32_t steps = 0, from = PY_FROM_UNKNOWN;

    if (may_ask(w))
        from = stet_python_origins(w->module, n, &steps);
    spend(w, steps);
    return from;
}

enum stet_python_effect stet_flow_call_effect(const struct stet_flow_walk *w, stet_python_ref call)
{
    uint32_t steps = 0;
    enum stet_python_effect effect =
        may_ask(w) ? stet_python_call_effect(w->module, call, &steps) : PY_GIVES_NOTHING_KNOWN;

    spend(w, steps);
    return effect;
}

static bool updates(const struct stet_flow_walk *w, stet_python_ref call)
{
    uint32_t steps = 0;
    bool found =
        stet_python_library_method(stet_python_callee(w->module, call)) == PY_GIVES_STEPS ||
        !stet_python_callee_object(w->module, call) ||
        stet_python_call_meaning(w->module, call) == PY_MEANS_UPDATES_IN_STEP;

    found = found && may_ask(w) && stet_python_updates(w->module, call, &steps);
    spend(w, steps);
    return found;
}

/* Is the node under an `if` that is itself inside the range? */
static bool is_conditional(const struct stet_flow_walk *w, stet_python_ref n, stet_python_ref range)
{
    for (n = w->module->parents[n]; n && n != range; n = w->module->parents[n])
        if (stet_python_kind(w->ast, n) == PY_IF)
            return true;
    return false;
}

bool stet_flow_updates(const struct stet_flow_walk *w, stet_python_ref range, bool *sometimes)
{
    bool found = false, always = false;

    for (stet_python_ref c = range; !always && stet_flow_within(w, c, range); c++) {
        bool reads_gradient =
            stet_python_kind(w->ast, c) == PY_ATTRIBUTE &&
            stet_python_library_attribute(stet_python_text(
                w->ast, stet_python_field(w->ast, c, PY_FIELD_ATTRIBUTE))) == PY_GIVES_GRADIENT;

        if (!reads_gradient && (stet_python_kind(w->ast, c) != PY_CALL || !updates(w, c)))
            continue;
        found = true;
        always = !is_conditional(w, c, range);
    }
    *sometimes = found && !always;
    return found;
}

bool stet_flow_computes_gradients(const struct stet_flow_walk *w, stet_python_ref range)
{
    for (stet_python_ref c = range; stet_flow_within(w, c, range); c++)
        if (stet_python_kind(w->ast, c) == PY_CALL &&
            stet_python_library_method(stet_python_callee(w->module, c)) == PY_GIVES_GRADS)
            return true;
    return false;
}

/* The one value that a name of this file has: optimizer.zero_grad of clear = optimizer.zero_grad; 0
 * for a name with several, or with none. */
static stet_python_ref only_value(const struct stet_flow_walk *w, uint32_t name)
{
    uint32_t first = name ? w->module->first_binding[name] : 0;
    const struct stet_python_binding *b = first ? &w->module->bindings.items[first - 1] : NULL;

    return b && !b->next && b->how == PY_BIND_VALUE && b->position < 0 ? b->value : 0;
}

bool stet_flow_call_clears(const struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref f = stet_python_field(a, call, PY_FIELD_FUNCTION),
                    alias = only_value(w, stet_python_name(a, f)), method = alias ? alias : f;
    enum stet_python_effect effect = stet_python_library_method(
        stet_python_text(a, stet_python_field(a, method, PY_FIELD_ATTRIBUTE)));

    if (effect != PY_GIVES_CLEARS || stet_python_kind(a, method) != PY_ATTRIBUTE)
        return false;
    return alias ? stet_flow_origins(w, stet_python_field(a, method, PY_FIELD_OBJECT)) &
                       (PY_FROM_OPTIMIZER | PY_FROM_UNKNOWN)
                 : stet_flow_call_effect(w, call) == PY_GIVES_CLEARS;
}

bool stet_flow_clears_gradients(const struct stet_flow_walk *w, stet_python_ref range)
{
    for (stet_python_ref c = range; stet_flow_within(w, c, range); c++)
        if (stet_python_kind(w->ast, c) == PY_CALL && stet_flow_call_clears(w, c))
            return true;
    return false;
}

bool stet_flow_holds_groups(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n; n && stet_flow_within(w, c, n); c++) {
        if (stet_python_kind(a, c) == PY_ATTRIBUTE &&
            stet_python_library_attribute(stet_python_text(
                a, stet_python_field(a, c, PY_FIELD_ATTRIBUTE))) == PY_GIVES_GROUPS &&
            stet_flow_origins(w, c) & (PY_FROM_OPTIMIZER | PY_FROM_UNKNOWN))
            return true;
    }
    return false;
}

static uint32_t imported_facts(struct stet_view target)
{
    uint32_t facts = 0;

    if (stet_view_is(target, "jax") || stet_view_starts(target, "jax."))
        facts |= FLOW_USES_JAX;
    if (stet_view_is(target, "torch") || stet_view_starts(target, "torch."))
        facts |= FLOW_USES_TORCH;
    if (stet_view_starts(target, "torch_xla") || stet_view_starts(target, "torch_tpu"))
        facts |= FLOW_USES_XLA;
    if (stet_view_starts(target, "torch_xla"))
        facts |= FLOW_USES_TORCH_XLA;
    return facts;
}

static uint32_t facts_of_meaning(enum stet_python_meaning meaning)
{
    switch (meaning) {
    case PY_MEANS_MARKS_DYNAMIC:
        return FLOW_MARKS_DYNAMIC;
    case PY_MEANS_ASSERTS:
        return FLOW_ASSERTS;
    case PY_MEANS_PICTURES:
        return FLOW_USES_PICTURES;
    case PY_MEANS_ENVIRONMENT:
    case PY_MEANS_READS_VARIABLE:
        return FLOW_ASKS_VARIABLES;
    default:
        return 0;
    }
}

/* What the use of an imported name shows about the file. */
static uint32_t named_facts(struct stet_flow_walk *w, stet_python_ref n)
{
    char room[160];
    struct stet_view dotted = stet_python_imported(w->module, stet_flow_whole_name(w, n), room);
    const struct stet_python_transform *t = stet_python_transform(dotted);
    uint32_t facts = facts_of_meaning(stet_python_library_meaning(dotted));

    if (t && t->kind == PY_JITS)
        facts |= t->lane == PY_LANE_TORCH ? FLOW_USES_COMPILE | FLOW_USES_JIT : FLOW_USES_JIT;
    switch (dotted.len ? stet_python_library(dotted) : PY_GIVES_NOTHING_KNOWN) {
    case PY_GIVES_PROCESS:
        return facts | FLOW_USES_PROCESS;
    case PY_GIVES_SCHEDULER:
        return facts | FLOW_USES_SCHEDULER;
    case PY_GIVES_LOADER:
    case PY_GIVES_FEEDS:
    case PY_GIVES_OPTIMIZER:
    case PY_GIVES_TRAINER:
        return facts | FLOW_FEEDS_BATCHES;
    default:
        return facts;
    }
}

/* The function that a call or decorator compiles with torch.compile: the node of its body, or of
 * the expression that names it; 0 for none. */
static stet_python_ref compiled_by_torch(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_module *m = w->module;
    bool decorator = stet_python_kind(w->ast, n) == PY_DECORATOR;
    stet_python_ref f = decorator ? stet_python_bare(w->ast, stet_python_child(w->ast, n)) : n;
    const struct stet_python_transform *t;
    stet_python_ref made;
    char room[160];

    if (stet_python_kind(w->ast, f) == PY_CALL)
        f = stet_python_field(w->ast, f, PY_FIELD_FUNCTION);
    t = stet_python_transform(stet_python_imported(m, f, room));
    if (!t || t->kind != PY_JITS || t->lane != PY_LANE_TORCH)
        return 0;
    if (decorator)
        return stet_python_field(w->ast, m->parents[n], PY_FIELD_DEFINITION);
    f = stet_python_bare(w->ast, stet_python_argument(m, n, 0));
    made = stet_python_defined(m, stet_python_function_around(m, n), stet_python_name(w->ast, f));
    return made ? made : f;
}

/* torch.compile(optimizer.step), or a compiled function that calls it */
static bool compiles_optimizer(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref f = compiled_by_torch(w, n);
    bool sometimes;

    if (stet_python_kind(w->ast, f) == PY_ATTRIBUTE)
        return stet_python_library_method(stet_python_text(
                   w->ast, stet_python_field(w->ast, f, PY_FIELD_ATTRIBUTE))) == PY_GIVES_STEPS &&
               stet_flow_origins(w, stet_python_field(w->ast, f, PY_FIELD_OBJECT)) &
                   (PY_FROM_OPTIMIZER | PY_FROM_UNKNOWN);
    return (stet_python_kind(w->ast, f) == PY_FUNCTION ||
            stet_python_kind(w->ast, f) == PY_LAMBDA) &&
           stet_flow_updates(w, f, &sometimes);
}

/* Does the node ask for the number of the process: an attribute, a method, a variable? */
static bool asks_process(const struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_view name;

    if (stet_python_kind(w->ast, n) == PY_STRING)
        return stet_python_library_variable(stet_python_string(w->ast, n)) == PY_GIVES_PROCESS;
    if (stet_python_kind(w->ast, n) != PY_ATTRIBUTE)
        return false;
    name = stet_python_text(w->ast, stet_python_field(w->ast, n, PY_FIELD_ATTRIBUTE));
    return stet_python_library_attribute(name) == PY_GIVES_PROCESS ||
           stet_python_library_method(name) == PY_GIVES_PROCESS;
}

uint32_t stet_flow_file_facts(struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t facts = 0;

    for (uint32_t i = 0; i < w->out->import_count; i++)
        facts |= imported_facts(w->out->imports[i].target);
    for (stet_python_ref n = 1; n < a->count; n++) {
        enum stet_python_kind k = stet_python_kind(a, n);
        struct stet_view text = k == PY_STRING ? stet_python_string(a, n) : STET_VIEW("");

        if (k == PY_IDENTIFIER && w->module->imports[stet_python_name(a, n)].len)
            facts |= named_facts(w, n);
        if (!(facts & FLOW_USES_PROCESS) && asks_process(w, n))
            facts |= FLOW_USES_PROCESS;
        if ((facts & FLOW_USES_TORCH) &&
            (stet_view_is(text, "tpu") || stet_view_starts(text, "tpu:")))
            facts |= FLOW_USES_TPU;
        if ((facts & FLOW_USES_TORCH) && (k == PY_CALL || k == PY_DECORATOR) &&
            !(facts & FLOW_COMPILES_OPTIMIZER) && compiles_optimizer(w, n))
            facts |= FLOW_COMPILES_OPTIMIZER;
    }
    return facts;
}
