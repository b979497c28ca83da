/* Assigns a value to a target: what a name, a field or an item holds after a branch or a loop. */
#include "flow/walk.h"

/* Is the value before this branch possible after it? */
static bool is_alternative(const struct stet_flow_walk *w, const struct stet_flow_binding *old)
{
    if (!w->branch_start || old->at >= w->branch_start)
        return false;
    return w->if_open || old->at >= w->if_start;
}

/* Was it bound in the innermost block, before this place? Then its old value is gone. */
static bool is_dead(const struct stet_flow_walk *w, const struct stet_flow_binding *old)
{
    uint32_t loop = w->loop ? stet_python_at(w->ast, w->loop)->start : 0;

    return old->at && old->at >= (w->branch_start > loop ? w->branch_start : loop);
}

/* The test of the `if` around a place of the same function; 0 for none. */
static stet_python_ref test_around(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref up = w->module->parents[n];

    while (up && stet_python_kind(a, up) != PY_IF && stet_python_kind(a, up) != PY_FUNCTION)
        up = w->module->parents[up];
    return stet_python_kind(a, up) == PY_IF
               ? stet_python_bare(a, stet_python_field(a, up, PY_FIELD_CONDITION))
               : 0;
}

/* if state is None: state = init() — no None is left after it. */
static bool replaces_none(const struct stet_flow_walk *w, const struct stet_flow_binding *old,
                          stet_python_ref target)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref test, name;

    if (!(old->value.f.flags & (FLOW_F_NONE | FLOW_F_MAYBE_NONE)))
        return false;
    test = test_around(w, target);
    name = stet_python_kind(a, test) == PY_COMPARISON && stet_python_at(a, test)->op == 's'
               ? stet_python_child(a, test)
               : 0;
    return name && stet_python_name(a, name) == old->name &&
           stet_python_kind(a, stet_python_next(a, name)) == PY_NONE_;
}

/* if not isinstance(size, list): size = size.tolist() — it is one after that. */
static bool replaces_unchecked(const struct stet_flow_walk *w, stet_python_ref target)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref test = test_around(w, target), of;
    bool container;

    of = stet_python_kind(a, test) == PY_NOT
             ? stet_flow_checked_host(w, stet_python_child(a, test), &container)
             : 0;
    return of && stet_python_name(a, of) == stet_python_name(a, target);
}

/* if isinstance(x, Tensor): x = x.cpu().numpy() — what comes to the other side was none. */
static bool replaces_array(const struct stet_flow_walk *w, stet_python_ref target)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;
    stet_python_ref statement = m->parents[m->parents[target]],
                    up = m->parents[m->parents[statement]], of;

    of = stet_python_kind(a, up) == PY_IF && !stet_python_child_of(a, up, PY_ELIF) &&
                 m->parents[statement] == stet_python_field(a, up, PY_FIELD_CONSEQUENCE)
             ? stet_flow_checked_array(
                   w, stet_python_bare(a, stet_python_field(a, up, PY_FIELD_CONDITION)))
             : 0;
    return of && stet_python_name(a, of) == stet_python_name(a, target);
}

/* batch["mask"] = … in one branch only; lengths[0] = n with an n that varies. */
static void assign_item(struct stet_flow_walk *w, stet_python_ref target, struct stet_flow_value v)
{
    stet_python_ref base = stet_python_field(w->ast, target, PY_FIELD_VALUE);
    uint32_t name = stet_python_name(w->ast, base);
    struct stet_flow_binding *b = name ? stet_flow_scope_find(&w->fns[w->fn].scope, name) : NULL;

    if (!b)
        return;
    if ((b->value.f.traits & FLOW_TRAIT_DICT) && is_alternative(w, b) &&
        stet_python_kind(w->ast, stet_python_next(w->ast, base)) == PY_STRING)
        b->value.f.flags |= FLOW_F_KEYS;
    if ((v.flags & FLOW_VARIES) && v.kind <= FLOW_V_PYTHON && b->value.kind <= FLOW_V_PYTHON)
        b->value.flags |= v.flags & FLOW_CHANGES;
    if (!stet_flow_on_host(v))
        b->value.f.traits = (uint8_t)(b->value.f.traits & ~FLOW_TRAIT_HOST);
}

void stet_flow_assign(struct stet_flow_walk *w, stet_python_ref target, struct stet_flow_value v)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_function *f = &w->fns[w->fn];

    if (!v.from)
        v.from = w->statement;
    switch (stet_python_kind(a, target)) {
    case PY_IDENTIFIER: {
        struct stet_flow_binding *old =
            stet_flow_scope_find(&f->scope, stet_python_name(a, target));
        struct stet_flow_facts facts = v.f;

        if (old && is_alternative(w, old) && !replaces_none(w, old, target))
            facts = stet_flow_facts_of(old->value, v);
        if (old && w->branches && !is_dead(w, old) && !replaces_unchecked(w, target) &&
            !(v.kind == FLOW_V_HOST && replaces_array(w, target)))
            v = stet_flow_join(old->value, v);
        v.f = facts;
        stet_flow_bind(w, &f->scope, stet_python_name(a, target), v);
        break;
    }
    case PY_PATTERN_LIST:
    case PY_TUPLE_PATTERN:
    case PY_LIST_PATTERN:
        for (stet_python_ref c = stet_python_child(a, target); c; c = stet_python_next(a, c))
            stet_flow_assign(w, c, stet_flow_item(v));
        break;
    case PY_ATTRIBUTE: {
        stet_python_ref object = stet_python_field(a, target, PY_FIELD_OBJECT);
        uint32_t owner = stet_flow_self_class(w, object);

        if (owner != FLOW_NONE)
            stet_flow_bind(w, &w->classes[owner].attributes,
                           stet_python_name(a, stet_python_field(a, target, PY_FIELD_ATTRIBUTE)),
                           v);
        else
            stet_flow_eval(w, object);
        break;
    }
    case PY_SUBSCRIPT:
        w->target = true;
        stet_flow_eval(w, target);
        w->target = false;
        assign_item(w, target, v);
        break;
    case PY_LIST_SPLAT_PATTERN:
        stet_flow_assign(w, stet_python_child(a, target), v);
        break;
    default:
        break;
    }
}
