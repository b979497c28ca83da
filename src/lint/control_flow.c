/* Visits statements in order: names get values, loops and branches are counted, rules run. */
#include "lint/rules.h"
#include "lint/walk.h"

#include "base/mem.h"

static const struct lint_value unknown = {.kind = LINT_V_UNKNOWN};

/* Conditions that mean "this code is not being compiled" when true. */
static const char *const compiling[] = {
    "is_compiling",   "is_torchdynamo_compiling", "is_tracing",
    "is_scripting",   "is_torch_fx_proxy",        "is_dynamo_compiling",
    "is_fake_tensor", "is_jax_tracing",           NULL};

static bool is_negated(const struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    n = stet_python_bare(a, n);
    if (stet_python_kind(a, n) == PY_NOT)
        return lint_mentions(w, n, compiling);
    if (stet_python_kind(a, n) == PY_BOOLEAN)
        return is_negated(w, stet_python_field(a, n, PY_FIELD_LEFT)) ||
               is_negated(w, stet_python_field(a, n, PY_FIELD_RIGHT));
    return false;
}

void lint_condition(struct lint_walk *w, stet_python_ref n)
{
    if (n)
        lint_rules(w, ON_CONDITION, n);
}

/* `if self._fn is None`, `if key not in cache`: the guarded code runs once. */
static bool guards_once(const struct lint_walk *w, stet_python_ref n)
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

/* i % 10, of a number that the loop counts */
static bool counts_turns(const struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n; w->loops && lint_within(w, c, n); c++) {
        if (a->nodes[c].kind == PY_BINARY && a->nodes[c].op == '%' &&
            (lint_value_of(w, stet_python_field(a, c, PY_FIELD_LEFT)).flags & LINT_VARIES))
            return true;
    }
    return false;
}

static void run_if(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref test = stet_python_field(a, n, PY_FIELD_CONDITION);
    bool about_compiling = lint_mentions(w, test, compiling);
    bool negated = about_compiling && is_negated(w, test), once = guards_once(w, test);
    bool periodic, open = w->if_open, closed = stet_python_child_of(a, n, PY_ELSE);
    uint32_t if_start = w->if_start, branch_start = w->branch_start;
    uint64_t deps;

    w->quiet += negated;
    lint_eval(w, test);
    lint_condition(w, test);
    w->quiet -= negated;
    periodic = lint_every_n(w, test, &deps) || lint_asks_rank(w, test) || counts_turns(w, test);
    w->branches++;
    w->periodic += periodic;
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, n) == PY_IF) { /* an elif belongs to its if */
            w->if_start = stet_python_at(a, n)->start;
            w->if_open = !closed;
        }
        w->branch_start = stet_python_at(a, c)->start;
        switch (stet_python_kind(a, c)) {
        case PY_BLOCK:
            w->quiet += negated;
            w->once += once;
            lint_run_block(w, c);
            w->once -= once;
            w->quiet -= negated;
            break;
        case PY_ELIF:
        case PY_ELSE:
            w->quiet += about_compiling && !negated;
            if (stet_python_kind(a, c) == PY_ELIF)
                run_if(w, c);
            else
                lint_run_block(w, stet_python_field(a, c, PY_FIELD_BODY));
            w->quiet -= about_compiling && !negated;
            break;
        default:
            break;
        }
    }
    w->periodic -= periodic;
    w->branches--;
    w->if_start = if_start;
    w->branch_start = branch_start;
    w->if_open = open;
}

static void run_with(struct lint_walk *w, stet_python_ref n)
{
    static const char *const module[] = {"torch_xla", NULL};
    const struct stet_python_ast *a = w->ast;
    stet_python_ref clause = stet_python_child_of(a, n, PY_WITH_CLAUSE);
    static const char *const silent[] = {"no_grad", "inference_mode", NULL};
    bool step = false, no_grad = clause && lint_mentions(w, clause, silent);

    for (stet_python_ref c = clause ? stet_python_child(a, clause) : 0; c;
         c = stet_python_next(a, c)) {
        stet_python_ref value = stet_python_field(a, c, PY_FIELD_VALUE), call = value;

        if (!value)
            continue;
        if (stet_python_kind(a, value) == PY_AS_PATTERN) {
            call = stet_python_child(a, value);
            lint_eval(w, call);
            lint_assign(w, stet_python_child(a, stet_python_child_of(a, value, PY_AS_TARGET)),
                        unknown);
        } else {
            lint_eval(w, value);
        }
        if (stet_python_kind(a, call) == PY_CALL &&
            stet_view_is(stet_python_callee(w->module, call), "step") &&
            lint_mentions(w, stet_python_field(a, call, PY_FIELD_FUNCTION), module))
            step = true;
    }
    lint_rules(w, ON_WITH, n);
    w->step_loops += step;
    w->no_grad += no_grad;
    lint_run_block(w, stet_python_field(a, n, PY_FIELD_BODY));
    w->no_grad -= no_grad;
    w->step_loops -= step;
}

static void run_assignment(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT),
                    right = stet_python_field(a, n, PY_FIELD_RIGHT);
    enum stet_python_kind targets = stet_python_kind(a, left);
    struct lint_value v = unknown;

    if (!right)
        return;
    if (stet_python_kind(a, right) == PY_ASSIGNMENT) {
        run_assignment(w, right);
        v = lint_value_of(w, right);
    } else if ((targets == PY_PATTERN_LIST || targets == PY_TUPLE_PATTERN) &&
               (stet_python_kind(a, right) == PY_EXPRESSION_LIST ||
                stet_python_kind(a, right) == PY_TUPLE)) {
        stet_python_ref l = stet_python_child(a, left), r = stet_python_child(a, right);

        lint_eval(w, right);
        for (; l && r; l = stet_python_next(a, l), r = stet_python_next(a, r))
            lint_assign(w, l, lint_value_of(w, r));
        lint_rules(w, ON_ASSIGN, n);
        return;
    } else {
        v = lint_eval(w, right);
    }
    if (targets == PY_PATTERN_LIST && (v.f.traits & LINT_TRAIT_LIST))
        v.f.flags &= (uint16_t)~LINT_F_SHORT; /* each part has a name, and its own size */
    v.from = right;
    w->values[n] = v;
    lint_assign(w, left, v);
    lint_note_items(w, left, right);
    lint_rules(w, ON_ASSIGN, n);
}

static void run_augmented(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT);
    struct lint_value l, r = lint_eval(w, stet_python_field(a, n, PY_FIELD_RIGHT));

    w->target = true;
    if (stet_python_kind(a, left) == PY_IDENTIFIER) {
        struct lint_binding *b = lint_lookup(w, w->fn, stet_python_name(a, left));

        l = b ? b->value : unknown;
    } else {
        l = stet_python_kind(a, left) == PY_ATTRIBUTE ? (struct lint_value){.kind = LINT_V_PYTHON}
                                                      : lint_eval(w, left);
    }
    w->target = false;
    l = lint_join(lint_element(l), lint_element(r));
    if (w->loops && l.kind <= LINT_V_PYTHON) {
        l.kind = LINT_V_PYTHON;
        l.flags |= w->ends_step ? LINT_CHANGES : LINT_VARIES;
    }
    lint_rules(w, ON_AUGASSIGN, n);
    if (stet_python_kind(a, left) == PY_IDENTIFIER)
        lint_assign(w, left, l);
}

static void define(struct lint_walk *w, stet_python_ref n)
{
    uint32_t fn = lint_fn_at(w, n);
    struct lint_value v = {.kind = LINT_V_FN, .index = fn};

    if (fn == LINT_NONE)
        return;
    lint_decorators(w, fn);
    if (w->fns[fn].jit) {
        v.kind = LINT_V_JITTED;
        v.index = w->fns[fn].jit - 1;
        w->values[n] = v;
        lint_rules(w, ON_FUNCTION, n);
    }
    if (w->fns[fn].owner == LINT_NONE)
        lint_bind(w, &w->fns[w->fn].scope, w->fns[fn].name, v);
    else if (w->fns[fn].jit)
        lint_bind(w, &w->classes[w->fns[fn].owner].attributes, w->fns[fn].name, v);
}

static void run_simple(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_ASSIGNMENT)
            run_assignment(w, c);
        else if (stet_python_kind(a, c) == PY_AUGMENTED)
            run_augmented(w, c);
        else
            lint_eval(w, c);
    }
}

void lint_note_return(struct lint_walk *w, stet_python_ref value, struct lint_value v)
{
    const struct stet_python_ast *a = w->ast;
    struct lint_function *f = &w->fns[w->fn];
    struct lint_facts facts = f->returned ? lint_facts_either(f->returns.f, v.f) : v.f;
    uint8_t count = 0;

    f->returns = lint_join(f->returns, v);
    f->returns.f = facts;
    if (stet_python_kind(a, value) == PY_EXPRESSION_LIST ||
        stet_python_kind(a, value) == PY_TUPLE) {
        for (stet_python_ref c = stet_python_child(a, value); c && count < 4;
             c = stet_python_next(a, c), count++)
            f->items[count] = f->returned
                                  ? lint_facts_either(f->items[count], lint_value_of(w, c).f)
                                  : lint_value_of(w, c).f;
    }
    f->item_count = f->returned && f->item_count < count ? f->item_count : count;
    f->returned = 1;
}

static void run_return(struct lint_walk *w, stet_python_ref n)
{
    stet_python_ref value = stet_python_child(w->ast, n);

    lint_note_return(w, value, value ? lint_eval(w, value) : unknown);
}

static void run_assert(struct lint_walk *w, stet_python_ref n)
{
    stet_python_ref test = stet_python_child(w->ast, n);

    for (stet_python_ref c = test; c; c = stet_python_next(w->ast, c))
        lint_eval(w, c);
    lint_condition(w, test);
}

static void run_statement(struct lint_walk *w, stet_python_ref n)
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
        run_if(w, n);
        break;
    case PY_FOR:
        lint_run_for(w, n);
        break;
    case PY_WHILE:
        lint_run_while(w, n);
        break;
    case PY_WITH:
        run_with(w, n);
        break;
    case PY_ASSERT:
        run_assert(w, n);
        break;
    case PY_DECORATED:
        if (stet_python_kind(a, stet_python_field(a, n, PY_FIELD_DEFINITION)) == PY_CLASS)
            lint_run_block(w, stet_python_field(a, stet_python_field(a, n, PY_FIELD_DEFINITION),
                                                PY_FIELD_BODY));
        else
            define(w, stet_python_field(a, n, PY_FIELD_DEFINITION));
        break;
    case PY_FUNCTION:
        define(w, n);
        break;
    case PY_CLASS:
    case PY_BLOCK:
        lint_run_block(
            w, stet_python_kind(a, n) == PY_BLOCK ? n : stet_python_field(a, n, PY_FIELD_BODY));
        break;
    case PY_TRY:
    case PY_EXCEPT:
    case PY_FINALLY:
    case PY_ELSE:
    case PY_MATCH:
    case PY_CASE:
    case PY_ERROR:
        w->branches++;
        lint_run_block(w, n);
        w->branches--;
        break;
    case PY_IMPORT:
    case PY_IMPORT_FROM:
    case PY_GLOBAL:
    case PY_NONLOCAL:
    case PY_COMMENT:
        break;
    default:
        lint_eval(w, n);
        break;
    }
}

/* Statements among the children; also of try, match and what the parser could not place. */
void lint_run_block(struct lint_walk *w, stet_python_ref block)
{
    uint32_t outer;

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
}

/* Parameters as values: their callers decide whether they are tensors. */
static void bind_parameters(struct lint_walk *w, uint32_t fn)
{
    const struct lint_fn *f = &w->out->fns[fn];
    const struct stet_python_ast *a = w->ast;
    uint32_t i = 0;

    if (!w->fns[fn].parameters)
        return;
    for (stet_python_ref c = stet_python_child(a, w->fns[fn].parameters); c && i < f->param_count;
         c = stet_python_next(a, c)) {
        stet_python_ref name =
            stet_python_kind(a, c) == PY_IDENTIFIER ? c : stet_python_field(a, c, PY_FIELD_NAME);
        uint64_t bit = f->first_bit + i < LINT_BITS ? (uint64_t)1 << (f->first_bit + i) : 0;
        struct lint_value v = {.kind = LINT_V_TENSOR, .deps = bit, .flags = LINT_WEAK};

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
                v.kind = LINT_V_PYTHON;
            else if (f->tensor_mask & bit)
                v.flags = 0;
            if (!bit)
                v = unknown;
        }
        lint_bind(w, &w->fns[fn].scope, stet_python_name(a, name), v);
    }
}

/* Nested functions that were not called yet. */
static void run_inner(struct lint_walk *w, uint32_t fn)
{
    for (uint32_t f = fn + 1; f < w->fn_count; f++) {
        if (fn && stet_python_at(w->ast, w->fns[f].node)->start >=
                      stet_python_at(w->ast, w->fns[fn].node)->end)
            break;
        if (w->fns[f].parent == fn && w->fns[f].progress == LINT_NOT_YET)
            lint_run_function(w, f);
    }
}

void lint_run_function(struct lint_walk *w, uint32_t fn)
{
    struct lint_walk outer = *w;
    struct lint_function *f = &w->fns[fn];

    if (w->depth >= 120) {
        f->progress = LINT_DONE;
        return;
    }
    f->progress = LINT_RUNNING;
    w->fn = fn;
    w->loops = w->branches = w->step_loops = w->quiet = w->once = 0;
    w->periodic = w->no_grad = w->if_start = w->branch_start = 0;
    w->loop = w->outer_loop = 0;
    w->ends_step = false;
    w->statement = f->node;
    w->depth++;
    bind_parameters(w, fn);
    if (fn && stet_python_kind(w->ast, f->node) == PY_LAMBDA)
        f->returns = lint_eval(w, f->body);
    else
        lint_run_block(w, f->body);
    f->progress = LINT_DONE;
    run_inner(w, fn);
    w->fn = outer.fn;
    w->loops = outer.loops;
    w->branches = outer.branches;
    w->step_loops = outer.step_loops;
    w->ends_step = outer.ends_step;
    w->quiet = outer.quiet;
    w->once = outer.once;
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
