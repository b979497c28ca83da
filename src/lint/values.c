/* Evaluates an expression: a tensor, a Python value, a shape, a value read back. */
#include "lint/rules.h"
#include "lint/walk.h"
#include "python/library.h"

/* Deeper expressions are generated or hostile and count as unknown. */
enum { MAX_DEPTH = 150 };

static const struct lint_value python = {.kind = LINT_V_PYTHON};
static const struct lint_value unknown = {.kind = LINT_V_UNKNOWN};

/* Of two possible values, the one that matters more to rules, and its dependencies. */
struct lint_value lint_join(struct lint_value a, struct lint_value b)
{
    static const uint8_t weight[] = {[LINT_V_UNKNOWN] = 0, [LINT_V_PYTHON] = 1, [LINT_V_JITTED] = 3,
                                     [LINT_V_FN] = 3,      [LINT_V_SHAPE] = 4,  [LINT_V_HOST] = 5,
                                     [LINT_V_TENSOR] = 6};
    struct lint_value v = weight[a.kind] >= weight[b.kind] ? a : b;

    if (a.kind == LINT_V_TENSOR && b.kind == LINT_V_TENSOR) {
        /* Strong when either is: x = x.float() if … else x. */
        v.flags = (uint8_t)((a.flags | b.flags) & ~(LINT_WEAK | LINT_TREE));
        v.flags |= (uint8_t)(a.flags & b.flags & (LINT_WEAK | LINT_TREE));
    } else {
        v.flags = (uint8_t)(v.flags | ((a.flags | b.flags) & LINT_CHANGES));
    }
    /* n * x.shape[0] is a tensor only if n is one. */
    if (weight[a.kind] == weight[b.kind] || weight[v.kind] <= 1)
        v.deps = a.deps | b.deps;
    return v;
}

struct lint_value lint_element(struct lint_value v)
{
    v.f.traits = (uint8_t)(v.f.traits & ~LINT_TRAIT_LIST);
    if (v.kind == LINT_V_TENSOR && (v.flags & LINT_TREE)) {
        v.flags = (uint8_t)((v.flags & ~LINT_TREE) | LINT_WEAK);
        return v;
    }
    if (v.kind == LINT_V_FN || v.kind == LINT_V_JITTED)
        return unknown;
    return v;
}

/* Is the value before this branch possible after it? */
static bool is_alternative(const struct lint_walk *w, const struct lint_binding *old)
{
    if (!w->branch_start || old->at >= w->branch_start)
        return false;
    return w->if_open || old->at >= w->if_start;
}

/* batch["mask"] = … in one branch only; lengths[0] = n with an n that varies. */
static void assign_item(struct lint_walk *w, stet_python_ref target, struct lint_value v)
{
    stet_python_ref base = stet_python_field(w->ast, target, PY_FIELD_VALUE);
    uint32_t name = stet_python_name(w->ast, base);
    struct lint_binding *b = name ? lint_scope_find(&w->fns[w->fn].scope, name) : NULL;

    if (!b)
        return;
    if ((b->value.f.traits & LINT_TRAIT_DICT) && is_alternative(w, b) &&
        stet_python_kind(w->ast, stet_python_next(w->ast, base)) == PY_STRING)
        b->value.f.flags |= LINT_F_KEYS;
    if ((v.flags & LINT_VARIES) && v.kind <= LINT_V_PYTHON && b->value.kind <= LINT_V_PYTHON)
        b->value.flags |= v.flags & LINT_CHANGES;
}

void lint_assign(struct lint_walk *w, stet_python_ref target, struct lint_value v)
{
    const struct stet_python_ast *a = w->ast;
    struct lint_function *f = &w->fns[w->fn];

    if (!v.from)
        v.from = w->statement;
    switch (stet_python_kind(a, target)) {
    case PY_IDENTIFIER: {
        struct lint_binding *old = lint_scope_find(&f->scope, stet_python_name(a, target));
        struct lint_facts facts = v.f;

        if (old && is_alternative(w, old))
            facts = lint_facts_either(old->value.f, v.f);
        if (old && w->branches)
            v = lint_join(old->value, v);
        v.f = facts;
        lint_bind(w, &f->scope, stet_python_name(a, target), v);
        break;
    }
    case PY_PATTERN_LIST:
    case PY_TUPLE_PATTERN:
    case PY_LIST_PATTERN:
        for (stet_python_ref c = stet_python_child(a, target); c; c = stet_python_next(a, c))
            lint_assign(w, c, lint_element(v));
        break;
    case PY_ATTRIBUTE: {
        stet_python_ref object = stet_python_field(a, target, PY_FIELD_OBJECT);
        uint32_t owner = lint_self_class(w, object);

        if (owner != LINT_NONE)
            lint_bind(w, &w->classes[owner].attributes,
                      stet_python_name(a, stet_python_field(a, target, PY_FIELD_ATTRIBUTE)), v);
        else
            lint_eval(w, object);
        break;
    }
    case PY_SUBSCRIPT:
        w->target = true;
        lint_eval(w, target);
        w->target = false;
        assign_item(w, target, v);
        break;
    case PY_LIST_SPLAT_PATTERN:
        lint_assign(w, stet_python_child(a, target), v);
        break;
    default:
        break;
    }
}

/* Attributes of a tensor that need no read-back. */
static struct lint_value tensor_attribute(struct lint_value v, struct stet_view name)
{
    switch (stet_python_library_attribute(name)) {
    case PY_GIVES_THROUGH:
    case PY_GIVES_GRADIENT:
        return v;
    case PY_GIVES_SIZE:
        v.kind = LINT_V_SHAPE;
        return v;
    case PY_GIVES_RANK:
        v = python;
        v.f.traits = LINT_TRAIT_MEASURE;
        return v;
    case PY_GIVES_NOTHING_KNOWN:
        v.flags |= LINT_WEAK | LINT_TREE;
        return v;
    default:
        return python;
    }
}

static struct lint_value eval_attribute(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref object = stet_python_field(a, n, PY_FIELD_OBJECT);
    stet_python_ref attribute = stet_python_field(a, n, PY_FIELD_ATTRIBUTE);
    struct lint_value v;
    uint32_t owner;

    if (!object || !attribute)
        return unknown;
    owner = lint_self_class(w, object);
    if (owner != LINT_NONE) {
        struct lint_binding *b;

        lint_rules(w, ON_NAME, n);
        b = lint_scope_find(&w->classes[owner].attributes, stet_python_name(a, attribute));
        if (b && (b->value.kind == LINT_V_JITTED || b->value.kind == LINT_V_FN))
            return b->value;
        if (lint_method(w, owner, stet_python_name(a, attribute)) != LINT_NONE)
            return (struct lint_value){
                .kind = LINT_V_FN, .index = lint_method(w, owner, stet_python_name(a, attribute))};
        return python;
    }
    v = lint_eval(w, object);
    if (w->moves.count && stet_python_kind(a, object) == PY_IDENTIFIER)
        lint_rules(w, ON_NAME, n);
    if (v.kind == LINT_V_TENSOR && v.deps) {
        v = tensor_attribute(v, stet_python_text(a, attribute));
        if (v.kind == LINT_V_SHAPE)
            lint_rules(w, ON_READBACK, n);
        return v;
    }
    if (v.kind == LINT_V_SHAPE || v.kind == LINT_V_HOST)
        return v;
    return v.kind == LINT_V_PYTHON ? v : unknown;
}

static struct lint_value eval_subscript(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    struct lint_value v = unknown, index = unknown;
    stet_python_ref value = stet_python_field(a, n, PY_FIELD_VALUE);
    bool target = w->target;

    w->target = false;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        struct lint_value part = lint_eval(w, c);

        if (c == value)
            v = part;
        else
            index = lint_join(index, part);
    }
    w->values[n] = v;
    w->target = target;
    lint_rules(w, ON_SUBSCRIPT, n);
    w->target = false;
    v.f = lint_facts_subscript(w, n);
    if (v.kind == LINT_V_TENSOR) {
        stet_python_ref first = stet_python_next(a, value);

        if (v.flags & LINT_TREE)
            v.flags = (uint8_t)(v.flags & ~LINT_TREE);
        if (stet_python_kind(a, first) == PY_STRING)
            v.flags |= LINT_WEAK; /* a field of a tree: a tensor, or a list of them */
        if (lint_is_strong(index) && (index.flags & LINT_BOOL))
            v.flags |= LINT_DYNAMIC;
        return v;
    }
    if (v.kind == LINT_V_FN || v.kind == LINT_V_JITTED)
        return unknown;
    return v;
}

static bool has_literal_text(const struct lint_walk *w, stet_python_ref n)
{
    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c)) {
        enum stet_python_kind k = stet_python_kind(w->ast, stet_python_bare(w->ast, c));

        if (k == PY_STRING || k == PY_CONCATENATED_STRING || k == PY_NONE_)
            return true;
    }
    return false;
}

static struct lint_value eval_comparison(struct lint_walk *w, stet_python_ref n)
{
    struct lint_value v = unknown;
    char op = stet_python_at(w->ast, n)->op;
    struct lint_facts facts = {0};

    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c)) {
        struct lint_value part = lint_eval(w, c);

        facts = facts.rank || facts.flags ? facts : part.f;
        v = lint_join(v, lint_element(part));
    }
    facts.dtype = facts.rank ? LINT_DTYPE_BOOL : 0;
    facts.flags &= LINT_F_DRIFTS | LINT_F_SHORT | LINT_F_DEVICE | LINT_F_EAGER;
    if (op == 'i' || op == 'n' || op == 's' || op == 't' || has_literal_text(w, n))
        return (struct lint_value){.kind = LINT_V_PYTHON,
                                   .flags = v.kind <= LINT_V_PYTHON ? v.flags & LINT_CHANGES : 0};
    if (v.kind == LINT_V_TENSOR)
        v.flags = (uint8_t)((v.flags | LINT_BOOL) & ~LINT_DYNAMIC);
    v.f = facts;
    return v;
}

static struct lint_value eval_binary(struct lint_walk *w, stet_python_ref n)
{
    struct lint_value l = lint_eval(w, stet_python_field(w->ast, n, PY_FIELD_LEFT));
    struct lint_value r = lint_eval(w, stet_python_field(w->ast, n, PY_FIELD_RIGHT));
    struct lint_value v = lint_join(lint_element(l), lint_element(r));
    char op = stet_python_at(w->ast, n)->op;

    if (v.kind == LINT_V_TENSOR && op != '&' && op != '|' && op != '^')
        v.flags = (uint8_t)(v.flags & ~LINT_BOOL);
    v.f = l.f.rank || l.f.dtype || l.f.flags ? l.f : r.f;
    v.f.flags &= (uint16_t)~(LINT_F_NUMBER | LINT_F_OBJECT);
    if ((l.f.flags | r.f.flags) & LINT_F_DEVICE)
        v.f.flags |= LINT_F_DEVICE | LINT_F_EAGER;
    return v;
}

static struct lint_value eval_items(struct lint_walk *w, stet_python_ref n)
{
    struct lint_value all = python;
    struct lint_facts facts = {0};
    bool first = true, turns = false;

    for (stet_python_ref c = stet_python_child(w->ast, n); c;
         c = stet_python_next(w->ast, c), first = false) {
        struct lint_value part = lint_eval(w, c);

        facts = first ? part.f : lint_facts_either(facts, part.f);
        turns |= lint_turns(part);
        all = lint_join(all, lint_element(part));
    }
    if (all.kind == LINT_V_TENSOR)
        all.flags = LINT_TREE | LINT_WEAK;
    all.f = stet_python_kind(w->ast, n) == PY_DICTIONARY
                ? lint_facts_dictionary(w, n)
                : lint_facts_list(stet_python_kind(w->ast, n) == PY_LIST ? facts
                                                                         : (struct lint_facts){0});
    all.f.flags |= turns ? LINT_F_TURNS : 0;
    return all;
}

/* A generator's items are what it yields. */
static struct lint_value eval_yield(struct lint_walk *w, stet_python_ref n)
{
    stet_python_ref value = stet_python_child(w->ast, n);

    if (value) {
        struct lint_value v = lint_eval(w, value);

        lint_note_return(w, value, v);
    }
    return unknown;
}

static struct lint_value eval_comprehension(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = stet_python_field(a, n, PY_FIELD_BODY);
    struct lint_value v;
    bool varies = false;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_FOR_IN) {
            stet_python_ref right = stet_python_field(a, c, PY_FIELD_RIGHT);
            struct lint_value over = right ? lint_eval(w, right) : unknown;

            varies |= over.kind <= LINT_V_PYTHON && (over.flags & LINT_VARIES) &&
                      stet_python_kind(a, right) == PY_CALL;
            lint_assign(w, stet_python_field(a, c, PY_FIELD_LEFT), lint_element(over));
        } else if (stet_python_kind(a, c) == PY_IF_CLAUSE && stet_python_child(a, c)) {
            lint_eval(w, stet_python_child(a, c));
            lint_condition(w, stet_python_child(a, c));
        }
    }
    w->loops++;
    v = body ? lint_eval(w, body) : unknown;
    w->loops--;
    v.f = lint_facts_list(v.f);
    v.f.flags |= varies ? LINT_F_LIST : 0;
    if (v.kind == LINT_V_TENSOR)
        v.flags = LINT_TREE | LINT_WEAK;
    return v;
}

static struct lint_value eval_conditional(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref yes = stet_python_child(a, n), test = yes ? stet_python_next(a, yes) : 0;
    stet_python_ref no = test ? stet_python_next(a, test) : 0;
    struct lint_value v, other;
    struct lint_facts facts;

    if (!no)
        return unknown;
    lint_eval(w, test);
    lint_condition(w, test);
    v = lint_eval(w, yes);
    other = lint_eval(w, no);
    facts = lint_facts_either(v.f, other.f);
    v = lint_join(v, other);
    v.f = facts;
    if (lint_value_of(w, test).kind <= LINT_V_PYTHON)
        v.flags |= lint_value_of(w, test).flags & LINT_CHANGES;
    return v;
}

static struct lint_value eval_children(struct lint_walk *w, stet_python_ref n)
{
    struct lint_value last = unknown;

    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c))
        last = lint_eval(w, c);
    return last;
}

static struct lint_value eval_name(struct lint_walk *w, stet_python_ref n)
{
    struct lint_binding *b = lint_lookup(w, w->fn, stet_python_name(w->ast, n));

    lint_rules(w, ON_NAME, n);
    return b ? b->value : unknown;
}

static struct lint_value eval_boolean(struct lint_walk *w, stet_python_ref n)
{
    stet_python_ref left = stet_python_field(w->ast, n, PY_FIELD_LEFT);
    struct lint_value l = lint_eval(w, left);

    return lint_join(l, lint_eval(w, stet_python_field(w->ast, n, PY_FIELD_RIGHT)));
}

static struct lint_value eval_slice(struct lint_walk *w, stet_python_ref n)
{
    struct lint_value v = python;

    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c))
        v = lint_join(v, lint_eval(w, c));
    v.flags = (uint8_t)(v.flags & ~LINT_BOOL);
    if (v.kind == LINT_V_TENSOR)
        v.flags |= LINT_WEAK;
    return v;
}

static struct lint_value eval_kind(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    switch (stet_python_kind(a, n)) {
    case PY_IDENTIFIER:
        return eval_name(w, n);
    case PY_INTEGER:
    case PY_FLOAT:
        return (struct lint_value){.kind = LINT_V_PYTHON, .f = {.flags = LINT_F_NUMBER}};
    case PY_NONE_:
        return (struct lint_value){.kind = LINT_V_PYTHON, .f = {.flags = LINT_F_NONE}};
    case PY_TRUE:
    case PY_FALSE:
    case PY_ELLIPSIS:
        return python;
    case PY_STRING:
    case PY_CONCATENATED_STRING:
        eval_children(w, n);
        return (struct lint_value){.kind = LINT_V_PYTHON, .f = {.flags = LINT_F_TEXT}};
    case PY_ATTRIBUTE:
        return eval_attribute(w, n);
    case PY_SUBSCRIPT:
        return eval_subscript(w, n);
    case PY_SLICE:
        return eval_slice(w, n);
    case PY_CALL:
        return lint_eval_call(w, n);
    case PY_BINARY:
        return eval_binary(w, n);
    case PY_BOOLEAN:
        return eval_boolean(w, n);
    case PY_COMPARISON:
        return eval_comparison(w, n);
    case PY_NOT:
        eval_children(w, n);
        return python;
    case PY_CONDITIONAL:
        return eval_conditional(w, n);
    case PY_LAMBDA:
        return (struct lint_value){.kind = LINT_V_FN, .index = lint_fn_at(w, n)};
    case PY_TUPLE:
    case PY_LIST:
    case PY_SET:
    case PY_DICTIONARY:
    case PY_EXPRESSION_LIST:
        return eval_items(w, n);
    case PY_YIELD:
        return eval_yield(w, n);
    case PY_PAIR:
        return lint_eval(w, stet_python_field(a, n, PY_FIELD_VALUE));
    case PY_LIST_COMPREHENSION:
    case PY_DICT_COMPREHENSION:
    case PY_SET_COMPREHENSION:
    case PY_GENERATOR:
        return eval_comprehension(w, n);
    case PY_NAMED_EXPRESSION: {
        struct lint_value v = lint_eval(w, stet_python_field(a, n, PY_FIELD_VALUE));

        lint_assign(w, stet_python_field(a, n, PY_FIELD_NAME), v);
        return v;
    }
    default:
        return eval_children(w, n);
    }
}

struct lint_value lint_eval(struct lint_walk *w, stet_python_ref n)
{
    struct lint_value v;

    if (!n || w->depth >= MAX_DEPTH)
        return unknown;
    w->depth++;
    v = eval_kind(w, n);
    w->depth--;
    if (v.kind == LINT_V_FN && v.index == LINT_NONE)
        v = unknown;
    w->values[n] = v;
    return v;
}
