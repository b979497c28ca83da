/* Visits statements in order: names get values, loops and branches are counted, rules run. */
#include "flow/walk.h"

#include <string.h>

static const struct stet_flow_value unknown = {.kind = FLOW_V_UNKNOWN};

static void run_with(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref clause = stet_python_child_of(a, n, PY_WITH_CLAUSE);
    bool step = false, no_grad = stet_flow_means(w, clause, PY_MEANS_NO_GRADIENT), apart = false;

    for (stet_python_ref c = clause ? stet_python_child(a, clause) : 0; c;
         c = stet_python_next(a, c)) {
        stet_python_ref value = stet_python_field(a, c, PY_FIELD_VALUE), call = value;
        enum stet_python_meaning meaning;

        if (!value)
            continue;
        if (stet_python_kind(a, value) == PY_AS_PATTERN) {
            call = stet_python_child(a, value);
            stet_flow_eval(w, call);
            stet_flow_assign(w, stet_python_child(a, stet_python_child_of(a, value, PY_AS_TARGET)),
                             unknown);
        } else {
            stet_flow_eval(w, value);
        }
        meaning = stet_python_kind(a, call) == PY_CALL ? stet_python_call_meaning(w->module, call)
                                                       : PY_MEANS_NOTHING_KNOWN;
        step |= meaning == PY_MEANS_STEP_REGION;
        apart |= meaning == PY_MEANS_COMPILE_TIME;
    }
    stet_flow_tell(w, FLOW_ON_WITH, n);
    w->quiet += apart;
    w->step_loops += step;
    w->no_grad += no_grad;
    stet_flow_run_block(w, stet_python_field(a, n, PY_FIELD_BODY));
    w->no_grad -= no_grad;
    w->step_loops -= step;
    w->quiet -= apart;
}

static void run_assignment(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT),
                    right = stet_python_field(a, n, PY_FIELD_RIGHT);
    enum stet_python_kind targets = stet_python_kind(a, left);
    struct stet_flow_value v = unknown;

    if (!right)
        return;
    if (stet_python_kind(a, right) == PY_ASSIGNMENT) {
        run_assignment(w, right);
        v = stet_flow_value_of(w, right);
    } else if ((targets == PY_PATTERN_LIST || targets == PY_TUPLE_PATTERN) &&
               (stet_python_kind(a, right) == PY_EXPRESSION_LIST ||
                stet_python_kind(a, right) == PY_TUPLE)) {
        stet_python_ref l = stet_python_child(a, left), r = stet_python_child(a, right);

        stet_flow_eval(w, right);
        for (; l && r; l = stet_python_next(a, l), r = stet_python_next(a, r))
            stet_flow_assign(w, l, stet_flow_value_of(w, r));
        stet_flow_tell(w, FLOW_ON_ASSIGN, n);
        return;
    } else {
        v = stet_flow_eval(w, right);
    }
    if (targets == PY_PATTERN_LIST && (v.f.traits & FLOW_TRAIT_LIST))
        v.f.flags &= (uint16_t)~FLOW_F_SHORT; /* each part has a name, and its own size */
    v.from = right;
    w->values[n] = v;
    stet_flow_assign(w, left, v);
    stet_flow_note_items(w, left, right);
    stet_flow_tell(w, FLOW_ON_ASSIGN, n);
}

static void run_augmented(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT);
    struct stet_flow_value l, r = stet_flow_eval(w, stet_python_field(a, n, PY_FIELD_RIGHT));

    w->target = true;
    if (stet_python_kind(a, left) == PY_IDENTIFIER) {
        struct stet_flow_binding *b = stet_flow_lookup(w, w->fn, stet_python_name(a, left));

        l = b ? b->value : unknown;
    } else {
        l = stet_python_kind(a, left) == PY_ATTRIBUTE
                ? (struct stet_flow_value){.kind = FLOW_V_PYTHON}
                : stet_flow_eval(w, left);
    }
    w->target = false;
    l = stet_flow_join(stet_flow_element(l), stet_flow_element(r));
    if (l.kind == FLOW_V_TENSOR && !strchr("&|^", stet_python_at(a, n)->op))
        l.flags = (uint8_t)(l.flags & ~FLOW_BOOL); /* rows += rows > limit */
    if (w->loops && l.kind <= FLOW_V_PYTHON) {
        l.kind = FLOW_V_PYTHON;
        l.flags |= w->ends_step ? FLOW_CHANGES : FLOW_VARIES;
    }
    stet_flow_tell(w, FLOW_ON_AUGASSIGN, n);
    if (stet_python_kind(a, left) == PY_IDENTIFIER)
        stet_flow_assign(w, left, l);
}

static void define(struct stet_flow_walk *w, stet_python_ref n)
{
    uint32_t fn = stet_flow_fn_at(w, n);
    struct stet_flow_value v = {.kind = FLOW_V_FN, .index = fn};

    if (fn == FLOW_NONE)
        return;
    stet_flow_decorators(w, fn);
    if (w->fns[fn].jit) {
        v.kind = FLOW_V_JITTED;
        v.index = w->fns[fn].jit - 1;
        w->values[n] = v;
        stet_flow_tell(w, FLOW_ON_FUNCTION, n);
    }
    if (w->fns[fn].owner == FLOW_NONE)
        stet_flow_bind(w, &w->fns[w->fn].scope, w->fns[fn].name, v);
    else if (w->fns[fn].jit)
        stet_flow_bind(w, &w->classes[w->fns[fn].owner].attributes, w->fns[fn].name, v);
}

static void run_simple(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_ASSIGNMENT)
            run_assignment(w, c);
        else if (stet_python_kind(a, c) == PY_AUGMENTED)
            run_augmented(w, c);
        else
            stet_flow_eval(w, c);
    }
}

void stet_flow_note_return(struct stet_flow_walk *w, stet_python_ref value,
                           struct stet_flow_value v)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_function *f = &w->fns[w->fn];
    struct stet_flow_facts facts = f->returned ? stet_flow_facts_either(f->returns.f, v.f) : v.f;
    uint8_t count = 0;

    f->returns = stet_flow_join(f->returns, v);
    f->returns.f = facts;
    if (stet_python_kind(a, value) == PY_EXPRESSION_LIST ||
        stet_python_kind(a, value) == PY_TUPLE) {
        for (stet_python_ref c = stet_python_child(a, value); c && count < FLOW_ITEMS;
             c = stet_python_next(a, c), count++) {
            struct stet_flow_value item = stet_flow_value_of(w, c);

            f->item_kinds[count] |= (uint8_t)(1u << item.kind);
            f->items[count] =
                f->returned ? stet_flow_facts_either(f->items[count], item.f) : item.f;
        }
    }
    f->item_count = f->returned && f->item_count < count ? f->item_count : count;
    f->returned = 1;
}

static void run_return(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref value = stet_python_child(w->ast, n);

    stet_flow_note_return(w, value, value ? stet_flow_eval(w, value) : unknown);
}

static void run_assert(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref test = stet_python_child(w->ast, n);

    stet_flow_eval(w, test);
    stet_flow_condition(w, test);
    w->quiet++; /* the message: nothing of it runs unless the step fails */
    for (stet_python_ref c = stet_python_next(w->ast, test); c; c = stet_python_next(w->ast, c))
        stet_flow_eval(w, c);
    w->quiet--;
}

/* A function or a class. */
static void run_definition(struct stet_flow_walk *w, stet_python_ref n)
{
    if (stet_python_kind(w->ast, n) == PY_CLASS)
        stet_flow_run_block(w, stet_python_field(w->ast, n, PY_FIELD_BODY));
    else
        define(w, n);
}

/* A block that need not run. */
static void run_branch(struct stet_flow_walk *w, stet_python_ref n)
{
    w->branches++;
    stet_flow_run_block(w, n);
    w->branches--;
}

static void run_except(struct stet_flow_walk *w, stet_python_ref n)
{
    bool fails = stet_flow_fails(w, stet_python_child_of(w->ast, n, PY_BLOCK));

    w->quiet += fails;
    run_branch(w, n);
    w->quiet -= fails;
}

static void run_raise(struct stet_flow_walk *w, stet_python_ref n)
{
    w->quiet++;
    stet_flow_eval(w, n);
    w->quiet--;
}

static void run_statement(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    w->statement = n;
    switch (stet_python_kind(a, n)) {
    case PY_EXPRESSION_STATEMENT:
        run_simple(w, n);
        break;
    case PY_RETURN:
        run_return(w, n);
        break;
    case PY_IF:
        stet_flow_run_if(w, n);
        stet_flow_after_if(w, n);
        break;
    case PY_FOR:
        stet_flow_run_for(w, n);
        break;
    case PY_WHILE:
        stet_flow_run_while(w, n);
        break;
    case PY_WITH:
        run_with(w, n);
        break;
    case PY_ASSERT:
        run_assert(w, n);
        break;
    case PY_DECORATED:
        run_definition(w, stet_python_field(a, n, PY_FIELD_DEFINITION));
        break;
    case PY_FUNCTION:
    case PY_CLASS:
        run_definition(w, n);
        break;
    case PY_BLOCK:
        stet_flow_run_block(w, n);
        break;
    case PY_EXCEPT:
        run_except(w, n);
        break;
    case PY_TRY:
    case PY_FINALLY:
    case PY_ELSE:
    case PY_MATCH:
    case PY_CASE:
    case PY_ERROR:
        run_branch(w, n);
        break;
    case PY_RAISE:
        run_raise(w, n);
        break;
    case PY_IMPORT:
    case PY_IMPORT_FROM:
    case PY_GLOBAL:
    case PY_NONLOCAL:
    case PY_COMMENT:
        break;
    default:
        stet_flow_eval(w, n);
        break;
    }
}

/* Statements among the children; also of try, match and what the parser could not place. */
void stet_flow_run_block(struct stet_flow_walk *w, stet_python_ref block)
{
    uint32_t outer, quiet = w->quiet, guard = w->guard, asked = w->asked;

    if (w->depth >= 120 || (!block && w->fn))
        return;
    outer = w->block_end;
    w->block_end = stet_python_at(w->ast, block)->end;
    w->depth++;
    for (stet_python_ref c = stet_python_child(w->ast, block); c && !w->failed;
         c = stet_python_next(w->ast, c))
        run_statement(w, c);
    w->depth--;
    w->block_end = outer;
    w->quiet = quiet;
    w->guard = guard;
    w->asked = asked;
}

/* Parameters as values: their callers decide whether they are tensors. */
static void bind_parameters(struct stet_flow_walk *w, uint32_t fn)
{
    const struct stet_flow_fn *f = &w->out->fns[fn];
    const struct stet_python_ast *a = w->ast;
    uint32_t i = 0;

    if (!w->fns[fn].parameters)
        return;
    for (stet_python_ref c = stet_python_child(a, w->fns[fn].parameters); c && i < f->param_count;
         c = stet_python_next(a, c)) {
        stet_python_ref name =
            stet_python_kind(a, c) == PY_IDENTIFIER ? c : stet_python_field(a, c, PY_FIELD_NAME);
        uint64_t bit = f->first_bit + i < FLOW_BITS ? (uint64_t)1 << (f->first_bit + i) : 0;
        struct stet_flow_value v = {.kind = FLOW_V_TENSOR, .deps = bit, .flags = FLOW_WEAK};

        if (!name)
            name = stet_python_child(a, c);
        if (stet_python_kind(a, name) == PY_LIST_SPLAT_PATTERN ||
            stet_python_kind(a, name) == PY_DICT_SPLAT_PATTERN ||
            stet_python_kind(a, c) == PY_LIST_SPLAT_PATTERN ||
            stet_python_kind(a, c) == PY_DICT_SPLAT_PATTERN) {
            stet_python_ref inner = stet_python_kind(a, c) == PY_LIST_SPLAT_PATTERN ||
                                            stet_python_kind(a, c) == PY_DICT_SPLAT_PATTERN
                                        ? c
                                        : name;
            name = stet_python_child(a, inner);
            v = unknown;
        } else if (!stet_python_name(a, name)) {
            continue;
        } else {
            i++;
            if (f->python_mask & bit)
                v.kind = FLOW_V_PYTHON;
            else if (f->tensor_mask & bit)
                v.flags = 0;
            if (!bit)
                v = unknown;
        }
        stet_flow_bind(w, &w->fns[fn].scope, stet_python_name(a, name), v);
    }
}

/* Nested functions that were not called yet. */
/* Is it defined in a block that never runs? */
static bool is_never_defined(const struct stet_flow_walk *w, stet_python_ref function)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref below = function, up = m->parents[function];
         up && stet_python_kind(a, up) != PY_FUNCTION && stet_flow_spend(w);
         below = up, up = m->parents[up])
        if (stet_python_kind(a, up) == PY_IF &&
            below == stet_python_field(a, up, PY_FIELD_CONSEQUENCE) &&
            stet_flow_is_never(w, stet_python_field(a, up, PY_FIELD_CONDITION)))
            return true;
    return false;
}

static void run_inner(struct stet_flow_walk *w, uint32_t fn)
{
    for (uint32_t f = fn + 1; f < w->fn_count; f++) {
        if (fn && stet_python_at(w->ast, w->fns[f].node)->start >=
                      stet_python_at(w->ast, w->fns[fn].node)->end)
            break;
        if (w->fns[f].parent == fn && w->fns[f].progress == FLOW_NOT_YET)
            stet_flow_run_function(w, f);
    }
}

void stet_flow_run_function(struct stet_flow_walk *w, uint32_t fn)
{
    struct stet_flow_walk outer = *w;
    struct stet_flow_function *f = &w->fns[fn];

    if (w->depth >= 120 || (fn && is_never_defined(w, f->node))) {
        f->progress = FLOW_DONE;
        return;
    }
    f->progress = FLOW_RUNNING;
    w->fn = fn;
    w->loops = w->branches = w->step_loops = w->quiet = w->once = w->absent = w->guard = 0;
    w->periodic = w->no_grad = w->if_start = w->branch_start = w->asked = 0;
    w->loop = w->outer_loop = 0;
    w->given = 0;
    w->ends_step = false;
    w->statement = f->node;
    w->depth++;
    bind_parameters(w, fn);
    f->memoized |= fn && stet_flow_keeps_result(w, fn);
    w->quiet = f->memoized; /* it runs once for its arguments, not in each step */
    if (fn && stet_python_kind(w->ast, f->node) == PY_LAMBDA)
        f->returns = stet_flow_eval(w, f->body);
    else
        stet_flow_run_block(w, f->body);
    f->progress = FLOW_DONE;
    if (fn)
        stet_flow_tell(w, FLOW_ON_END, f->node);
    run_inner(w, fn);
    w->fn = outer.fn;
    w->loops = outer.loops;
    w->branches = outer.branches;
    w->step_loops = outer.step_loops;
    w->ends_step = outer.ends_step;
    w->quiet = outer.quiet;
    w->guard = outer.guard;
    w->once = outer.once;
    w->asked = outer.asked;
    w->given = outer.given;
    w->absent = outer.absent;
    w->periodic = outer.periodic;
    w->no_grad = outer.no_grad;
    w->if_start = outer.if_start;
    w->branch_start = outer.branch_start;
    w->if_open = outer.if_open;
    w->loop = outer.loop;
    w->outer_loop = outer.outer_loop;
    w->statement = outer.statement;
    w->block_end = outer.block_end;
    w->target = outer.target;
    w->depth = outer.depth;
}
