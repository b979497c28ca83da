/* Rules about static arguments: their values, their hashes, and an object as one of them. */
#include "lint/rules.h"

#include <inttypes.h>

static bool is_static_name(const struct stet_flow_jit *j, struct stet_view name)
{
    for (uint32_t i = 0; i < j->static_name_count; i++) {
        if (stet_view_eq(j->static_names[i], name))
            return true;
    }
    return false;
}

bool lint_takes_self_static(const struct stet_flow_walk *w, uint32_t fn)
{
    const struct stet_flow_jit *j = &w->jits[w->fns[fn].jit - 1];

    return (j->static_positions & 1) || is_static_name(j, w->out->fns[fn].params[0]);
}

bool lint_in_compiled(const struct stet_flow_walk *w)
{
    for (uint32_t fn = w->fn; fn; fn = w->fns[fn].parent)
        if (w->fns[fn].jit && w->jits[w->fns[fn].jit - 1].lane == FLOW_JAX)
            return true;
    return false;
}

/* Calls `look` for each argument in a static place. */
static void each_static(struct stet_flow_walk *w, stet_python_ref call,
                        void (*look)(struct stet_flow_walk *, stet_python_ref call,
                                     stet_python_ref value))
{
    const struct stet_python_ast *a = w->ast;
    unsigned shift, position = 0;
    const struct stet_flow_jit *j = lint_called_jit(w, call, &shift);
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);

    if (!j || (!j->static_positions && !j->static_name_count))
        return;
    for (stet_python_ref c = args ? stet_python_child(a, args) : 0; c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_KEYWORD_ARGUMENT) {
            if (is_static_name(j, stet_python_text(a, stet_python_field(a, c, PY_FIELD_NAME))))
                look(w, call, stet_python_field(a, c, PY_FIELD_VALUE));
        } else if (stet_python_kind(a, c) == PY_LIST_SPLAT) {
            return; /* the places after it are unknown */
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

bool lint_is_switch(const struct stet_flow_walk *w, stet_python_ref value)
{
    enum stet_python_kind k = stet_python_kind(w->ast, stet_python_bare(w->ast, value));

    return k == PY_COMPARISON || k == PY_NOT || k == PY_BOOLEAN;
}

/* … also under a name: train = i < 8. It has two values, and so two programs. */
static bool is_flag(struct stet_flow_walk *w, stet_python_ref value)
{
    const struct stet_flow_binding *b = stet_flow_lookup(w, w->fn, stet_python_name(w->ast, value));

    return lint_is_switch(w, value) || (b && b->value.from && lint_is_switch(w, b->value.from));
}

/* axis = axis_of(layer) in a loop over layers: a function may give the same number for many. */
static bool is_derived(struct stet_flow_walk *w, stet_python_ref value)
{
    const struct stet_python_ast *a = w->ast;
    const struct stet_flow_binding *b = stet_flow_lookup(w, w->fn, stet_python_name(a, value));
    stet_python_ref made = b ? b->value.from : 0;

    if (stet_python_kind(a, made) == PY_EXPRESSION_STATEMENT)
        made = stet_python_child(a, made);
    if (stet_python_kind(a, made) == PY_ASSIGNMENT)
        made = stet_python_field(a, made, PY_FIELD_RIGHT);
    if (stet_python_kind(a, made) == PY_CONDITIONAL)
        return true;
    return stet_python_kind(a, made) == PY_CALL &&
           (stet_flow_call_effect(w, made) <= PY_GIVES_UNKNOWN ||
            stet_python_call_meaning(w->module, made) == PY_MEANS_SMALLEST); /* min(size, rest) */
}

/* for axis in range(x.ndim): as few programs as x has dimensions, and no array could be the axis.
 */
static bool runs_over_axes(const struct stet_flow_walk *w, stet_python_ref value)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = w->loop ? stet_python_field(a, w->loop, PY_FIELD_LEFT) : 0;
    stet_python_ref right = w->loop ? stet_python_field(a, w->loop, PY_FIELD_RIGHT) : 0;
    stet_python_ref count =
        stet_python_kind(a, right) == PY_CALL ? stet_python_argument(w->module, right, 0) : 0;
    struct stet_flow_value v = count ? stet_flow_value_of(w, count) : (struct stet_flow_value){0};

    return stet_python_name(a, left) && stet_python_name(a, left) == stet_python_name(a, value) &&
           stet_python_call_meaning(w->module, right) == PY_MEANS_COUNTS &&
           v.kind == FLOW_V_PYTHON && (v.f.traits & FLOW_TRAIT_MEASURE);
}

static void look_varies(struct stet_flow_walk *w, stet_python_ref call, stet_python_ref value)
{
    struct stet_flow_value v = stet_flow_value_of(w, value);
    struct lint_candidate *c;

    if (counts_itself(w, value)) {
        lint_report(w, LINT_RULE_python_counter, value, 0, LINT_ANY, 0,
                    "`%.*s` counts calls, and is a static argument",
                    STET_FMT(lint_quote(w, value)));
        return;
    }
    if (w->loops && is_flag(w, value) &&
        (v.kind == FLOW_V_HOST || (v.kind <= FLOW_V_PYTHON && (v.flags & FLOW_VARIES)))) {
        c = lint_report(w, LINT_RULE_static_varies, value, 0, LINT_ANY, 0,
                        "static argument `%.*s` is a flag that turns over in the loop",
                        STET_FMT(lint_quote(w, value)));
        lint_advise(c, "two programs: warm both up before the first step");
        lint_minor(c, LINT_MINOR);
        return;
    }
    if (v.kind == FLOW_V_HOST && (v.flags & FLOW_WEAK) && !w->loops)
        return; /* a field of something: nothing shows that it is an array */
    if (runs_over_axes(w, value))
        return;
    if ((w->loops && v.kind <= FLOW_V_PYTHON && (v.flags & FLOW_VARIES)) || v.kind == FLOW_V_HOST ||
        (v.kind == FLOW_V_SHAPE && (v.flags & FLOW_DYNAMIC)))
        lint_minor(lint_report(w, LINT_RULE_static_varies, value, 0, LINT_ANY, 0,
                               "static argument `%.*s` %s", STET_FMT(lint_quote(w, value)),
                               v.kind == FLOW_V_HOST || v.kind == FLOW_V_SHAPE
                                   ? "depends on a tensor's values"
                               : is_derived(w, value) ? "may have another value at each turn"
                                                      : "has another value at each turn"),
                   is_derived(w, value) ? LINT_MINOR : LINT_FULL);
    (void)call;
}

void rule_static_varies(struct stet_flow_walk *w, stet_python_ref n)
{
    if (lint_in_compiled(w))
        return; /* the caller's program contains each of them */
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

/* @classmethod: its first argument is the class. */
static bool takes_class(const struct stet_flow_walk *w, uint32_t fn)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref decorated = w->fns[fn].decorated;

    for (stet_python_ref c = decorated ? stet_python_child(a, decorated) : 0; c;
         c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_DECORATOR &&
            stet_python_meaning(w->module, stet_python_child(a, c)) == PY_MEANS_CLASS_METHOD)
            return true;
    return false;
}

/* Another method of the same class: one decision, and one finding. `deps`, which need no tracing
 * here, hold the first method and, above that, the number of others. */
static void add_method(struct stet_flow_walk *w, struct lint_candidate *c)
{
    struct stet_view first = w->out->fns[c->deps & UINT32_MAX].name;
    uint64_t others = (c->deps >> 32) + 1;

    c->deps = others << 32 | (c->deps & UINT32_MAX);
    c->what = stet_arena_printf(&w->out->arena,
                                "%.*s and %" PRIu64
                                " other method%s of its class are compiled once per object",
                                STET_FMT(first), others, others > 1 ? "s" : "");
}

void rule_static_self(struct stet_flow_walk *w, stet_python_ref n)
{
    uint32_t fn = stet_flow_fn_at(w, n), owner;
    struct lint_candidate *c;
    const struct stet_flow_jit *j;

    if (fn == FLOW_NONE || !w->fns[fn].jit || !w->out->fns[fn].is_method)
        return;
    j = &w->jits[w->fns[fn].jit - 1];
    if (j->lane != FLOW_JAX || !lint_takes_self_static(w, fn))
        return;
    if (takes_class(w, fn))
        return; /* one program for all objects */
    owner = w->fns[fn].owner;
    if (owner != FLOW_NONE && stet_flow_compares_by_value(w, owner))
        return;
    if (owner != FLOW_NONE &&
        (c = lint_reported_since(w, LINT_RULE_static_self, w->classes[owner].node))) {
        add_method(w, c);
        return;
    }
    c = lint_report(w, LINT_RULE_static_self, n, 0, LINT_ANY, 0, "%.*s is compiled once per object",
                    STET_FMT(w->out->fns[fn].name));
    if (c)
        c->deps = fn;
}
