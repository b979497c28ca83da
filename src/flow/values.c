/* Evaluates an expression: a tensor, a Python value, a shape, a value read back. */
#include "flow/walk.h"

/* Deeper expressions are generated or hostile and count as unknown. */
enum { MAX_DEPTH = 150 };

static const struct stet_flow_value python = {.kind = FLOW_V_PYTHON};
static const struct stet_flow_value unknown = {.kind = FLOW_V_UNKNOWN};

/* Of two possible values, the one that matters more to rules, and its dependencies. */
struct stet_flow_value stet_flow_join(struct stet_flow_value a, struct stet_flow_value b)
{
    static const uint8_t weight[] = {[FLOW_V_UNKNOWN] = 0, [FLOW_V_PYTHON] = 1, [FLOW_V_JITTED] = 3,
                                     [FLOW_V_FN] = 3,      [FLOW_V_SHAPE] = 4,  [FLOW_V_HOST] = 5,
                                     [FLOW_V_TENSOR] = 6};
    struct stet_flow_value v = weight[a.kind] >= weight[b.kind] ? a : b;

    if (a.kind == FLOW_V_TENSOR && b.kind == FLOW_V_TENSOR) {
        /* Strong when either is: x = x.float() if … else x. */
        v.flags = (uint8_t)((a.flags | b.flags) & ~(FLOW_WEAK | FLOW_TREE | FLOW_FIELD));
        v.flags |= (uint8_t)(a.flags & b.flags & (FLOW_WEAK | FLOW_TREE | FLOW_FIELD));
    } else {
        v.flags = (uint8_t)(v.flags | ((a.flags | b.flags) & FLOW_CHANGES));
    }
    /* n * x.shape[0] is a tensor only if n is one. */
    if (weight[a.kind] == weight[b.kind] || weight[v.kind] <= 1)
        v.deps = a.deps | b.deps;
    return v;
}

struct stet_flow_value stet_flow_element(struct stet_flow_value v)
{
    v.f.traits = (uint8_t)(v.f.traits & ~FLOW_TRAIT_LIST);
    if (v.kind == FLOW_V_TENSOR && (v.flags & FLOW_TREE)) {
        v.flags = (uint8_t)((v.flags & ~FLOW_TREE) | FLOW_WEAK);
        return v;
    }
    if (v.kind == FLOW_V_FN || v.kind == FLOW_V_JITTED)
        return unknown;
    return v;
}

struct stet_flow_value stet_flow_item(struct stet_flow_value v)
{
    bool tree = v.kind == FLOW_V_TENSOR && (v.flags & FLOW_TREE);

    v = stet_flow_element(v);
    v.flags |= tree ? FLOW_FIELD : 0;
    return v;
}

/* Attributes of a tensor that need no read-back. */
static struct stet_flow_value tensor_attribute(struct stet_flow_value v, struct stet_view name)
{
    switch (stet_python_library_attribute(name)) {
    case PY_GIVES_THROUGH:
    case PY_GIVES_UPDATED:
    case PY_GIVES_GRADIENT:
        return v;
    case PY_GIVES_SIZE:
        v.kind = FLOW_V_SHAPE;
        return v;
    case PY_GIVES_RANK:
        v = python;
        v.f.traits = FLOW_TRAIT_MEASURE;
        return v;
    case PY_GIVES_NOTHING_KNOWN:
        v.flags |= FLOW_WEAK | FLOW_TREE;
        return v;
    default:
        return python;
    }
}

/* Is it a parameter? *type is its annotation, or 0. */
static bool is_parameter_of_type(const struct stet_flow_walk *w, stet_python_ref n,
                                 stet_python_ref *type)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t name = stet_python_name(a, n);

    for (uint32_t fn = w->fn; name && fn; fn = w->fns[fn].parent) {
        stet_python_ref list = w->fns[fn].parameters;

        for (stet_python_ref c = list ? stet_python_child(a, list) : 0; c;
             c = stet_python_next(a, c)) {
            stet_python_ref of = stet_python_kind(a, c) == PY_TYPED_PARAMETER
                                     ? stet_python_child(a, c)
                                     : stet_python_field(a, c, PY_FIELD_NAME);

            *type = stet_python_field(a, c, PY_FIELD_TYPE);
            if (stet_python_name(a, c) == name || stet_python_name(a, of) == name)
                return true;
        }
        if (stet_flow_scope_find(&w->fns[fn].scope, name))
            return false;
    }
    return false;
}

static struct stet_flow_value eval_attribute(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref object = stet_python_field(a, n, PY_FIELD_OBJECT);
    stet_python_ref attribute = stet_python_field(a, n, PY_FIELD_ATTRIBUTE);
    struct stet_flow_value v;
    stet_python_ref type = 0;
    bool parameter;
    uint32_t owner;

    if (!object || !attribute)
        return unknown;
    owner = stet_flow_self_class(w, object);
    if (owner != FLOW_NONE) {
        struct stet_flow_binding *b;

        stet_flow_tell(w, FLOW_ON_NAME, n);
        b = stet_flow_scope_find(&w->classes[owner].attributes, stet_python_name(a, attribute));
        if (b && (b->value.kind == FLOW_V_JITTED || b->value.kind == FLOW_V_FN))
            return b->value;
        if (stet_flow_method(w, owner, stet_python_name(a, attribute)) != FLOW_NONE)
            return (struct stet_flow_value){
                .kind = FLOW_V_FN,
                .index = stet_flow_method(w, owner, stet_python_name(a, attribute))};
        return python;
    }
    v = stet_flow_eval(w, object);
    if (w->moves.count && stet_python_kind(a, object) == PY_IDENTIFIER)
        stet_flow_tell(w, FLOW_ON_NAME, n);
    if (v.kind == FLOW_V_TENSOR && v.deps) {
        parameter = is_parameter_of_type(w, object, &type);
        if (parameter && type &&
            stet_flow_annotated_field(w, type, stet_python_name(a, attribute)) == FLOW_ROLE_PYTHON)
            return python;
        v = tensor_attribute(v, stet_python_text(a, attribute));
        if (v.kind == FLOW_V_TENSOR && (v.flags & FLOW_TREE) && parameter && !type)
            v.flags |= FLOW_FIELD;
        if (v.kind == FLOW_V_SHAPE)
            stet_flow_tell(w, FLOW_ON_READBACK, n);
        return v;
    }
    if (v.kind == FLOW_V_SHAPE || v.kind == FLOW_V_HOST)
        return v;
    return v.kind == FLOW_V_PYTHON ? v : unknown;
}

static struct stet_flow_value eval_subscript(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_value v = unknown, index = unknown;
    stet_python_ref value = stet_python_field(a, n, PY_FIELD_VALUE);
    bool target = w->target;

    w->target = false;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        struct stet_flow_value part = stet_flow_eval(w, c);

        if (c == value)
            v = part;
        else
            index = stet_flow_join(index, part);
    }
    w->values[n] = v;
    w->target = target;
    stet_flow_tell(w, FLOW_ON_SUBSCRIPT, n);
    w->target = false;
    v.f = stet_flow_facts_subscript(w, n);
    if (v.kind == FLOW_V_TENSOR) {
        stet_python_ref first = stet_python_next(a, value);

        if (v.flags & FLOW_TREE)
            v.flags = (uint8_t)(v.flags & ~FLOW_TREE);
        if (stet_python_kind(a, first) == PY_STRING)
            v.flags |= FLOW_WEAK | FLOW_FIELD; /* a tensor, or a list of them */
        if (stet_flow_is_strong(index) && (index.flags & FLOW_BOOL))
            v.flags |= FLOW_DYNAMIC;
        return v;
    }
    if (v.kind == FLOW_V_FN || v.kind == FLOW_V_JITTED)
        return unknown;
    return v;
}

static bool has_literal_text(const struct stet_flow_walk *w, stet_python_ref n)
{
    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c)) {
        enum stet_python_kind k = stet_python_kind(w->ast, stet_python_bare(w->ast, c));

        if (k == PY_STRING || k == PY_CONCATENATED_STRING || k == PY_NONE_)
            return true;
    }
    return false;
}

static struct stet_flow_value eval_comparison(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_value v = unknown;
    char op = stet_python_at(w->ast, n)->op;
    struct stet_flow_facts facts = {0};

    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c)) {
        struct stet_flow_value part = stet_flow_eval(w, c);

        facts = facts.rank || facts.flags ? facts : part.f;
        v = stet_flow_join(v, stet_flow_element(part));
    }
    facts.dtype = facts.rank ? PY_BOOL : 0;
    facts.flags &= FLOW_F_DRIFTS | FLOW_F_SHORT | FLOW_F_DEVICE | FLOW_F_EAGER;
    if (op == 'i' || op == 'n' || op == 's' || op == 't' || has_literal_text(w, n))
        return (struct stet_flow_value){
            .kind = FLOW_V_PYTHON, .flags = v.kind <= FLOW_V_PYTHON ? v.flags & FLOW_CHANGES : 0};
    if (v.kind == FLOW_V_TENSOR)
        v.flags = (uint8_t)((v.flags | FLOW_BOOL) & ~FLOW_DYNAMIC);
    v.f = facts;
    return v;
}

static bool is_literal_items(const struct stet_flow_walk *w, stet_python_ref n)
{
    enum stet_python_kind kind = stet_python_kind(w->ast, n);

    return kind == PY_TUPLE || kind == PY_LIST;
}

static struct stet_flow_value eval_binary(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref left = stet_python_field(w->ast, n, PY_FIELD_LEFT);
    stet_python_ref right = stet_python_field(w->ast, n, PY_FIELD_RIGHT);
    struct stet_flow_value l = stet_flow_eval(w, left), r = stet_flow_eval(w, right);
    struct stet_flow_value v = stet_flow_join(stet_flow_element(l), stet_flow_element(r));
    char op = stet_python_at(w->ast, n)->op;

    if (v.kind == FLOW_V_TENSOR && op == '+' &&
        (is_literal_items(w, left) || is_literal_items(w, right)))
        v.flags |= FLOW_TREE | FLOW_WEAK; /* (1,) + strides: a tuple with more items */
    if (v.kind == FLOW_V_TENSOR && op != '&' && op != '|' && op != '^')
        v.flags = (uint8_t)(v.flags & ~FLOW_BOOL);
    v.f = l.f.rank || l.f.dtype || l.f.flags ? l.f : r.f;
    v.f.flags &= (uint16_t)~(FLOW_F_NUMBER | FLOW_F_OBJECT | FLOW_F_NONE | FLOW_F_MAYBE_NONE);
    if (stet_flow_hosted(l) || stet_flow_hosted(r))
        v.f.traits |= (l.kind == FLOW_V_TENSOR && !stet_flow_hosted(l)) ||
                              (r.kind == FLOW_V_TENSOR && !stet_flow_hosted(r))
                          ? 0
                          : FLOW_TRAIT_HOST;
    if ((l.f.flags | r.f.flags) & FLOW_F_DEVICE)
        v.f.flags |= FLOW_F_DEVICE | FLOW_F_EAGER;
    return v;
}

static struct stet_flow_value eval_items(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_value all = python;
    struct stet_flow_facts facts = {0};
    bool first = true, turns = false, hosted = false, elsewhere = false;

    for (stet_python_ref c = stet_python_child(w->ast, n); c;
         c = stet_python_next(w->ast, c), first = false) {
        struct stet_flow_value part = stet_flow_eval(w, c);

        hosted |= stet_flow_hosted(part);
        elsewhere |= !stet_flow_on_host(part);

        facts = first ? part.f : stet_flow_facts_either(facts, part.f);
        turns |= stet_flow_turns(part);
        all = stet_flow_join(all, stet_flow_element(part));
    }
    if (all.kind == FLOW_V_TENSOR)
        all.flags = FLOW_TREE | FLOW_WEAK;
    all.f = stet_python_kind(w->ast, n) == PY_DICTIONARY
                ? stet_flow_facts_dictionary(w, n)
                : stet_flow_facts_list(
                      stet_python_kind(w->ast, n) == PY_LIST ? facts : (struct stet_flow_facts){0});
    all.f.flags |= turns ? FLOW_F_TURNS : 0;
    if (hosted && !elsewhere && stet_python_kind(w->ast, n) != PY_LIST) /* lists take more */
        all.f.traits |= FLOW_TRAIT_HOST;
    return all;
}

/* A generator's items are what it yields. */
static struct stet_flow_value eval_yield(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref value = stet_python_child(w->ast, n);

    if (value) {
        struct stet_flow_value v = stet_flow_eval(w, value);

        w->fns[w->fn].yields = true;
        stet_flow_note_return(w, value, v);
    }
    return unknown;
}

static struct stet_flow_value eval_comprehension(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = stet_python_field(a, n, PY_FIELD_BODY);
    struct stet_flow_value v;
    bool varies = false;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_FOR_IN) {
            stet_python_ref right = stet_python_field(a, c, PY_FIELD_RIGHT);
            struct stet_flow_value over = right ? stet_flow_eval(w, right) : unknown;

            varies |= over.kind <= FLOW_V_PYTHON && (over.flags & FLOW_VARIES) &&
                      stet_python_kind(a, right) == PY_CALL;
            stet_flow_assign(w, stet_python_field(a, c, PY_FIELD_LEFT), stet_flow_element(over));
        } else if (stet_python_kind(a, c) == PY_IF_CLAUSE && stet_python_child(a, c)) {
            stet_flow_eval(w, stet_python_child(a, c));
            stet_flow_condition(w, stet_python_child(a, c));
        }
    }
    w->loops++;
    v = body ? stet_flow_eval(w, body) : unknown;
    w->loops--;
    v.f = stet_flow_facts_list(v.f);
    v.f.flags |= varies ? FLOW_F_LIST : 0;
    if (v.kind == FLOW_V_TENSOR)
        v.flags = FLOW_TREE | FLOW_WEAK | (v.flags & FLOW_GUESS);
    return v;
}

static struct stet_flow_value eval_conditional(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref yes = stet_python_child(a, n), test = yes ? stet_python_next(a, yes) : 0;
    stet_python_ref no = test ? stet_python_next(a, test) : 0;
    struct stet_flow_value v, other;
    struct stet_flow_facts facts;
    struct stet_flow_narrowed kept;
    bool narrowed;

    if (!no)
        return unknown;
    stet_flow_eval(w, test);
    stet_flow_condition(w, test);
    v = stet_flow_eval(w, yes);
    narrowed = stet_flow_narrow(w, test, &kept);
    other = stet_flow_eval(w, no);
    if (narrowed)
        stet_flow_widen(w, &kept);
    facts = stet_flow_facts_of(v, other);
    v = stet_flow_join(v, other);
    v.f = facts;
    if (stet_flow_value_of(w, test).kind <= FLOW_V_PYTHON)
        v.flags |= stet_flow_value_of(w, test).flags & FLOW_CHANGES;
    return v;
}

static struct stet_flow_value eval_children(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_value last = unknown;

    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c))
        last = stet_flow_eval(w, c);
    return last;
}

/* Was it bound in an earlier branch of an `if` around this place? That one did not run. */
static bool is_of_other_branch(const struct stet_flow_walk *w, stet_python_ref n, uint32_t at)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref up = m->parents[n], below = n;
         up && stet_python_kind(a, up) != PY_FUNCTION && stet_flow_spend(w);
         below = up, up = m->parents[up])
        if (stet_python_kind(a, up) == PY_IF && at > a->nodes[up].start &&
            at < a->nodes[below].start &&
            (stet_python_kind(a, below) == PY_ELSE || stet_python_kind(a, below) == PY_ELIF))
            return true;
    return false;
}

static struct stet_flow_value eval_name(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_binding *b = stet_flow_lookup(w, w->fn, stet_python_name(w->ast, n));
    struct stet_flow_value v = b ? b->value : unknown;

    stet_flow_tell(w, FLOW_ON_NAME, n);
    if ((v.flags & FLOW_DYNAMIC) && is_of_other_branch(w, n, b->at))
        v.flags = (uint8_t)(v.flags & ~FLOW_DYNAMIC);
    return v;
}

static struct stet_flow_value eval_boolean(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref left = stet_python_field(w->ast, n, PY_FIELD_LEFT);
    struct stet_flow_value l = stet_flow_eval(w, left);

    return stet_flow_join(l, stet_flow_eval(w, stet_python_field(w->ast, n, PY_FIELD_RIGHT)));
}

static struct stet_flow_value eval_slice(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_value v = python;

    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c))
        v = stet_flow_join(v, stet_flow_eval(w, c));
    v.flags = (uint8_t)(v.flags & ~FLOW_BOOL);
    if (v.kind == FLOW_V_TENSOR)
        v.flags |= FLOW_WEAK;
    return v;
}

/* (n := len(x)) */
static struct stet_flow_value eval_named(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_value v = stet_flow_eval(w, stet_python_field(w->ast, n, PY_FIELD_VALUE));

    stet_flow_assign(w, stet_python_field(w->ast, n, PY_FIELD_NAME), v);
    return v;
}

static struct stet_flow_value eval_kind(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    switch (stet_python_kind(a, n)) {
    case PY_IDENTIFIER:
        return eval_name(w, n);
    case PY_INTEGER:
    case PY_FLOAT:
        return (struct stet_flow_value){.kind = FLOW_V_PYTHON, .f = {.flags = FLOW_F_NUMBER}};
    case PY_NONE_:
        return (struct stet_flow_value){.kind = FLOW_V_PYTHON, .f = {.flags = FLOW_F_NONE}};
    case PY_TRUE:
    case PY_FALSE:
    case PY_ELLIPSIS:
        return python;
    case PY_STRING:
    case PY_CONCATENATED_STRING:
        eval_children(w, n);
        return (struct stet_flow_value){.kind = FLOW_V_PYTHON, .f = {.flags = FLOW_F_TEXT}};
    case PY_ATTRIBUTE:
        return eval_attribute(w, n);
    case PY_SUBSCRIPT:
        return eval_subscript(w, n);
    case PY_SLICE:
        return eval_slice(w, n);
    case PY_CALL:
        return stet_flow_eval_call(w, n);
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
        return (struct stet_flow_value){.kind = FLOW_V_FN, .index = stet_flow_fn_at(w, n)};
    case PY_TUPLE:
    case PY_LIST:
    case PY_SET:
    case PY_DICTIONARY:
    case PY_EXPRESSION_LIST:
        return eval_items(w, n);
    case PY_YIELD:
        return eval_yield(w, n);
    case PY_PAIR:
        return stet_flow_eval(w, stet_python_field(a, n, PY_FIELD_VALUE));
    case PY_LIST_COMPREHENSION:
    case PY_DICT_COMPREHENSION:
    case PY_SET_COMPREHENSION:
    case PY_GENERATOR:
        return eval_comprehension(w, n);
    case PY_NAMED_EXPRESSION:
        return eval_named(w, n);
    default:
        return eval_children(w, n);
    }
}

struct stet_flow_value stet_flow_eval(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_value v;

    if (!n || w->depth >= MAX_DEPTH)
        return unknown;
    w->depth++;
    v = eval_kind(w, n);
    w->depth--;
    if (v.kind == FLOW_V_FN && v.index == FLOW_NONE)
        v = unknown;
    w->values[n] = v;
    return v;
}
