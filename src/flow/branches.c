/* Visits `if` statements: which branch runs once, only while the code is not compiled, or only when
 * a value is no tensor. */
#include "flow/walk.h"

/* Is the condition true only where this code is not being compiled? */
static bool is_negated(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    n = stet_python_bare(a, n);
    if (stet_python_kind(a, n) == PY_NOT)
        return stet_flow_means(w, n, PY_MEANS_COMPILING);
    if (stet_python_kind(a, n) == PY_BOOLEAN)
        return is_negated(w, stet_python_field(a, n, PY_FIELD_LEFT)) ||
               is_negated(w, stet_python_field(a, n, PY_FIELD_RIGHT));
    n = stet_flow_local_value(w, n);
    return stet_python_kind(a, n) == PY_NOT && stet_flow_means(w, n, PY_MEANS_COMPILING);
}

void stet_flow_condition(struct stet_flow_walk *w, stet_python_ref n)
{
    if (n)
        stet_flow_tell(w, FLOW_ON_CONDITION, n);
}

/* `if self._fn is None`, `if key not in cache`: the guarded code runs once. */
static bool guards_once(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    char op;

    n = stet_python_bare(a, n);
    if (stet_python_kind(a, n) == PY_BOOLEAN)
        return guards_once(w, stet_python_field(a, n, PY_FIELD_LEFT)) ||
               guards_once(w, stet_python_field(a, n, PY_FIELD_RIGHT));
    if (stet_python_kind(a, n) == PY_NOT)
        return stet_python_kind(a, stet_python_bare(a, stet_python_child(a, n))) == PY_CALL;
    op = stet_python_at(a, n)->op;
    return stet_python_kind(a, n) == PY_COMPARISON && (op == 's' || op == 'n');
}

/* `if not self.checked:` with `self.checked = True` in its block, which runs once per object. */
static bool shuts_itself(const struct stet_flow_walk *w, stet_python_ref test,
                         stet_python_ref block)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref n = stet_python_bare(a, test);
    bool negated = stet_python_kind(a, n) == PY_NOT;
    enum stet_python_kind shut = negated ? PY_TRUE : PY_FALSE;

    if (negated)
        n = stet_python_bare(a, stet_python_child(a, n));
    if (stet_python_kind(a, n) != PY_ATTRIBUTE)
        return false;
    for (stet_python_ref c = block; stet_flow_within(w, c, block) && stet_flow_spend(w); c++) {
        if (stet_python_kind(a, c) == PY_ASSIGNMENT &&
            stet_python_kind(a, stet_python_field(a, c, PY_FIELD_RIGHT)) == shut &&
            stet_view_eq(stet_python_text(a, stet_python_field(a, c, PY_FIELD_LEFT)),
                         stet_python_text(a, n)))
            return true;
    }
    return false;
}

/* i % 10, of a number that the loop counts */
static bool counts_turns(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n; w->loops && stet_flow_within(w, c, n); c++) {
        if (a->nodes[c].kind == PY_BINARY && a->nodes[c].op == '%' &&
            (stet_flow_value_of(w, stet_python_field(a, c, PY_FIELD_LEFT)).flags & FLOW_VARIES))
            return true;
    }
    return false;
}

/* The block under `if isinstance(x, int)`: x is a Python value there. */
static void run_checked(struct stet_flow_walk *w, stet_python_ref test, stet_python_ref block)
{
    bool container;
    stet_python_ref of = stet_flow_checked_host(w, test, &container);
    struct stet_flow_binding *b =
        of ? stet_flow_scope_find(&w->fns[w->fn].scope, stet_python_name(w->ast, of)) : NULL;
    struct stet_flow_value before = b ? b->value : (struct stet_flow_value){.kind = FLOW_V_UNKNOWN};
    uint32_t name = b ? b->name : 0, at = b ? b->at : 0;

    if (!of && (of = stet_flow_checked_object(w, test))) {
        b = stet_flow_scope_find(&w->fns[w->fn].scope, stet_python_name(w->ast, of));
        before = b ? b->value : before;
        name = b ? b->name : 0;
        at = b ? b->at : 0;
        if (b)
            b->value = (struct stet_flow_value){.from = before.from};
    } else if (b && container)
        b->value.flags |= b->value.kind == FLOW_V_TENSOR ? FLOW_TREE | FLOW_WEAK : 0;
    else if (b)
        b->value = (struct stet_flow_value){.kind = FLOW_V_PYTHON, .from = before.from};
    stet_flow_run_block(w, block);
    b = name ? stet_flow_scope_find(&w->fns[w->fn].scope, name)
             : NULL; /* the scope may have grown */
    if (b)
        b->value = b->at == at ? before : stet_flow_join(before, b->value);
}

/* `if p is None` of a parameter: its caller gave nothing. */
static bool asks_absent(struct stet_flow_walk *w, stet_python_ref test)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref name;

    test = stet_python_bare(a, test);
    name = stet_python_kind(a, test) == PY_COMPARISON && stet_python_at(a, test)->op == 's'
               ? stet_python_child(a, test)
               : 0;
    if (!name || stet_python_kind(a, stet_python_next(a, name)) != PY_NONE_)
        return false;
    for (uint32_t i = 0; i < w->out->fns[w->fn].param_count; i++)
        if (stet_view_eq(w->out->fns[w->fn].params[i], stet_python_text(a, name)))
            return true;
    return stet_flow_is_parameter(w, name); /* of a function around this one */
}

/* The parameter of this function that the branch needs: if flag, if x is not None. Its default,
 * where it has one, takes the other way. 0 for none. */
static uint64_t needs_given(struct stet_flow_walk *w, stet_python_ref test)
{
    const struct stet_python_ast *a = w->ast;
    const struct stet_flow_fn *f = &w->out->fns[w->fn];
    stet_python_ref list = w->fns[w->fn].parameters;
    enum stet_python_kind other = PY_FALSE;
    const struct stet_flow_binding *b;

    test = stet_python_bare(a, test);
    if (stet_python_kind(a, test) == PY_BOOLEAN && stet_python_at(a, test)->op == 'a')
        return needs_given(w, stet_python_field(a, test, PY_FIELD_LEFT)) |
               needs_given(w, stet_python_field(a, test, PY_FIELD_RIGHT));
    if (stet_python_kind(a, test) == PY_COMPARISON && stet_python_at(a, test)->op == 't') {
        test = stet_python_child(a, test);
        if (stet_python_kind(a, stet_python_next(a, test)) != PY_NONE_)
            return 0;
        other = PY_NONE_;
    }
    b = stet_python_name(a, test)
            ? stet_flow_scope_find(&w->fns[w->fn].scope, stet_python_name(a, test))
            : NULL;
    if (!b || b->writes != 1)
        return 0;
    for (stet_python_ref c = list ? stet_python_child(a, list) : 0; c; c = stet_python_next(a, c)) {
        stet_python_ref value = stet_python_field(a, c, PY_FIELD_VALUE);

        if (!value || stet_python_name(a, stet_python_field(a, c, PY_FIELD_NAME)) != b->name)
            continue;
        if (stet_python_kind(a, value) != other &&
            !(other == PY_FALSE && stet_python_kind(a, value) == PY_NONE_))
            return 0;
    }
    for (uint32_t i = 0; i < f->param_count && f->first_bit + i < FLOW_BITS; i++)
        if (stet_view_eq(f->params[i], stet_python_text(a, test)))
            return (uint64_t)1 << (f->first_bit + i);
    return 0;
}

/* A test of the alternatives `a or b or c`, or the only one. */
typedef bool alternative(struct stet_flow_walk *w, stet_python_ref test);

static bool any_alternative(struct stet_flow_walk *w, stet_python_ref test, alternative *holds)
{
    const struct stet_python_ast *a = w->ast;
    bool left, right;

    test = stet_python_bare(a, test);
    if (stet_python_kind(a, test) != PY_BOOLEAN || stet_python_at(a, test)->op != 'o')
        return holds(w, test);
    left = any_alternative(w, stet_python_field(a, test, PY_FIELD_LEFT), holds);
    right = any_alternative(w, stet_python_field(a, test, PY_FIELD_RIGHT), holds);
    return left || right;
}

static bool is_compiling(struct stet_flow_walk *w, stet_python_ref test)
{
    return stet_python_kind(w->ast, test) == PY_CALL &&
           stet_flow_means(w, test, PY_MEANS_COMPILING);
}

/* The same of a function of another file. */
static bool guards_rest(struct stet_flow_walk *w, stet_python_ref test)
{
    bool negated;
    uint32_t guard = stet_python_kind(w->ast, test) == PY_CALL && !w->guard
                         ? stet_flow_guard(w, test, &negated)
                         : 0;

    if (guard)
        w->guard = guard;
    return guard != 0;
}

/* The name that is a Python value where the test is false: isinstance(x, Tensor), or
 * not isinstance(n, int). 0 for none. */
static stet_python_ref host_if_false(const struct stet_flow_walk *w, stet_python_ref test)
{
    bool container = false;
    stet_python_ref of;

    test = stet_python_bare(w->ast, test);
    of = stet_python_kind(w->ast, test) == PY_NOT
             ? stet_flow_checked_host(w, stet_python_child(w->ast, test), &container)
             : stet_flow_checked_array(w, test);
    return container ? 0 : of;
}

static bool excludes_tensor(struct stet_flow_walk *w, stet_python_ref test)
{
    stet_python_ref of = host_if_false(w, test);
    struct stet_flow_binding *b =
        of ? stet_flow_scope_find(&w->fns[w->fn].scope, stet_python_name(w->ast, of)) : NULL;

    if (b)
        b->value = (struct stet_flow_value){.kind = FLOW_V_PYTHON, .from = b->value.from};
    return b != NULL;
}

bool stet_flow_narrow(struct stet_flow_walk *w, stet_python_ref test,
                      struct stet_flow_narrowed *out)
{
    stet_python_ref of = host_if_false(w, test);
    uint32_t name = of ? stet_python_name(w->ast, of) : 0;
    const struct stet_flow_binding *b =
        name ? stet_flow_scope_find(&w->fns[w->fn].scope, name) : NULL;

    if (!b)
        return false;
    *out = (struct stet_flow_narrowed){name, b->at, b->value};
    return excludes_tensor(w, test);
}

void stet_flow_widen(struct stet_flow_walk *w, const struct stet_flow_narrowed *kept)
{
    struct stet_flow_binding *b = /* the scope may have grown */
        stet_flow_scope_find(&w->fns[w->fn].scope, kept->name);

    if (b)
        b->value = b->at == kept->at ? kept->before : stet_flow_join(kept->before, b->value);
}

/* Another way of the `if`: its own test and those of each `elif` before this way are false. */
static void run_otherwise(struct stet_flow_walk *w, stet_python_ref n, stet_python_ref way)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_narrowed kept[8];
    unsigned count = stet_flow_narrow(w, stet_python_field(a, n, PY_FIELD_CONDITION), kept);

    for (stet_python_ref c = stet_python_child(a, n); c != way && count < 8 && stet_flow_spend(w);
         c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_ELIF)
            count += stet_flow_narrow(w, stet_python_field(a, c, PY_FIELD_CONDITION), kept + count);
    if (stet_python_kind(a, way) == PY_ELIF)
        stet_flow_run_if(w, way);
    else
        stet_flow_run_block(w, stet_python_field(a, way, PY_FIELD_BODY));
    while (count--)
        stet_flow_widen(w, &kept[count]);
}

/* if is_compiling() or isinstance(x, Tensor): return — what follows in this block runs otherwise.
 */
void stet_flow_after_if(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref test = stet_python_field(a, n, PY_FIELD_CONDITION);

    if (stet_python_child_of(a, n, PY_ELSE) || stet_python_child_of(a, n, PY_ELIF) ||
        !stet_flow_leaves(w, stet_python_field(a, n, PY_FIELD_CONSEQUENCE)))
        return;
    w->quiet += any_alternative(w, test, is_compiling);
    w->asked += stet_flow_asks_variable(w, test);
    any_alternative(w, test, guards_rest);
    any_alternative(w, test, excludes_tensor);
}

/* What the test of an `if` or `elif` asks, before its blocks run. */
struct asked {
    stet_python_ref test;
    bool compiling;           /* whether the code is being compiled */
    bool negated;             /* ...or rather whether it is not */
    bool once;                /* it is true in one turn only */
    uint32_t then, otherwise; /* the guards while it is true, and while it is false */
    uint32_t outer;           /* the guard around it */
};

static struct asked ask(struct stet_flow_walk *w, stet_python_ref test)
{
    bool compiling = stet_flow_means(w, test, PY_MEANS_COMPILING), unless = false;
    uint32_t guard = w->guard ? 0 : stet_flow_guard(w, test, &unless);
    uint32_t denial = guard ? stet_flow_denial(w, guard) : 0;
    uint32_t then = unless ? guard : denial, otherwise = unless ? denial : guard;

    return (struct asked){.test = test,
                          .compiling = compiling,
                          .negated = compiling && is_negated(w, test),
                          .once = guards_once(w, test),
                          .then = then ? then : w->guard,
                          .otherwise = otherwise ? otherwise : w->guard,
                          .outer = w->guard};
}

static void run_test(struct stet_flow_walk *w, const struct asked *q)
{
    w->quiet += q->negated;
    w->guard = q->then;
    stet_flow_eval(w, q->test);
    stet_flow_condition(w, q->test);
    w->guard = q->outer;
    w->quiet -= q->negated;
}

static void run_then(struct stet_flow_walk *w, const struct asked *q, stet_python_ref block)
{
    bool silent = q->negated || shuts_itself(w, q->test, block) || stet_flow_fails(w, block);
    bool absent = asks_absent(w, q->test);
    uint64_t given = w->given;

    if (stet_flow_is_never(w, q->test))
        return;
    w->guard = q->then;
    w->quiet += silent;
    w->once += q->once;
    w->absent += absent;
    w->given |= needs_given(w, q->test);
    run_checked(w, q->test, block);
    w->given = given;
    w->absent -= absent;
    w->once -= q->once;
    w->quiet -= silent;
    w->guard = q->outer;
}

/* An `elif` or `else` of the statement n. */
static void run_else(struct stet_flow_walk *w, const struct asked *q, stet_python_ref n,
                     stet_python_ref way)
{
    const struct stet_python_ast *a = w->ast;
    bool silent = (q->compiling && !q->negated) ||
                  (stet_python_kind(a, way) == PY_ELSE &&
                   stet_flow_fails(w, stet_python_field(a, way, PY_FIELD_BODY)));

    w->guard = q->otherwise;
    w->quiet += silent;
    run_otherwise(w, n, way);
    w->quiet -= silent;
    w->guard = q->outer;
}

void stet_flow_run_if(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref test = stet_python_field(a, n, PY_FIELD_CONDITION);
    struct asked q = ask(w, test);
    bool variable = stet_flow_asks_variable(w, test);
    bool periodic, open = w->if_open, closed = stet_python_child_of(a, n, PY_ELSE);
    uint32_t if_start = w->if_start, branch_start = w->branch_start;
    uint64_t deps;

    run_test(w, &q);
    periodic =
        stet_flow_every_n(w, test, &deps) || stet_flow_asks_rank(w, test) || counts_turns(w, test);
    w->branches++;
    w->asked += variable;
    w->periodic += periodic;
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, n) == PY_IF) { /* an elif belongs to its if */
            w->if_start = stet_python_at(a, n)->start;
            w->if_open = !closed;
        }
        w->branch_start = stet_python_at(a, c)->start;
        if (stet_python_kind(a, c) == PY_BLOCK)
            run_then(w, &q, c);
        else if (stet_python_kind(a, c) == PY_ELIF || stet_python_kind(a, c) == PY_ELSE)
            run_else(w, &q, n, c);
    }
    w->periodic -= periodic;
    w->asked -= variable;
    w->branches--;
    w->if_start = if_start;
    w->branch_start = branch_start;
    w->if_open = open;
}
