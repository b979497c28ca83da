/* Rules about the arguments of compiled functions: those whose size, rank, dtype, fields or length
 * differ from call to call, as far as the source shows it. */
#include "lint/rules.h"

#include <stdio.h>

/* x.to("xla") and x.to(device): where a step's inputs reach the device. */
static stet_python_ref moved_to_device(const struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref first;

    if (!w->step_loops || stet_python_call_meaning(w->module, call) != PY_MEANS_MOVES_OR_CASTS)
        return 0;
    first = stet_python_argument(w->module, call, 0);
    if (stet_python_kind(w->ast, first) != PY_STRING &&
        stet_python_kind(w->ast, first) != PY_IDENTIFIER)
        return 0;
    return stet_python_callee_object(w->module, call);
}

struct feed {
    struct stet_flow_jit *jit;
    stet_python_ref call, arg; /* the argument's value */
    unsigned position;         /* among the parameters */
    struct stet_flow_value v;
    struct stet_flow_fed *first; /* how that position was fed at first, or NULL */
};

/* Returns the position of an argument among the parameters, FLOW_FED when it is unknown. */
static unsigned position_of(const struct stet_flow_walk *w, const struct stet_flow_jit *j,
                            stet_python_ref arg, unsigned position)
{
    struct stet_view name;

    if (stet_python_kind(w->ast, arg) != PY_KEYWORD_ARGUMENT)
        return position;
    name = stet_python_text(w->ast, stet_python_field(w->ast, arg, PY_FIELD_NAME));
    if (j->fn == FLOW_NONE)
        return FLOW_FED;
    for (unsigned i = 0; i < w->out->fns[j->fn].param_count && i < FLOW_FED; i++) {
        if (stet_view_eq(w->out->fns[j->fn].params[i], name))
            return i;
    }
    return FLOW_FED;
}

/* Calls `look` for each value that is passed to a compiled function or moved to the device here. */
static void each_fed(struct stet_flow_walk *w, stet_python_ref call,
                     void (*look)(struct stet_flow_walk *, const struct feed *))
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS),
                    moved = moved_to_device(w, call);
    struct feed f = {.jit = stet_flow_jit_called(w, call), .call = call};
    unsigned position = 0;

    if (moved) {
        f.arg = call;
        f.v = stet_flow_value_of(w, moved);
        f.jit = NULL;
        look(w, &f);
        return;
    }
    if (!f.jit || stet_python_kind(a, args) != PY_ARGUMENTS)
        return;
    for (stet_python_ref c = stet_python_child(a, args); c; c = stet_python_next(a, c)) {
        unsigned at;

        if (stet_python_kind(a, c) == PY_COMMENT)
            continue;
        if (stet_python_kind(a, c) == PY_LIST_SPLAT || stet_python_kind(a, c) == PY_DICT_SPLAT)
            return;
        at = position_of(w, f.jit, c, position);
        position += stet_python_kind(a, c) != PY_KEYWORD_ARGUMENT;
        f.position = at;
        f.arg = stet_python_argument_value(w->module, c);
        f.v = stet_flow_value_of(w, f.arg);
        f.first = at < FLOW_FED && f.jit->fed[at].line && f.jit->fed[at].fn == w->fn
                      ? &f.jit->fed[at]
                      : NULL;
        look(w, &f);
    }
}

static struct lint_candidate *report_fed(struct stet_flow_walk *w, unsigned rule,
                                         const struct feed *f, const char *what)
{
    return lint_report(w, rule, f->arg, 0, LINT_ANY, 0, "`%.*s` %s",
                       STET_FMT(lint_quote(w, f->arg)), what);
}

static void report_other(struct stet_flow_walk *w, unsigned rule, const struct feed *f,
                         const char *what)
{
    lint_report(w, rule, f->arg, 0, LINT_ANY, 0, "`%.*s` has %s than on line %u",
                STET_FMT(lint_quote(w, f->arg)), what, f->first->line);
}

/* How many turns a loop makes, if it is a literal; 0 otherwise. */
static long turns(struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref right = w->loop ? stet_python_field(a, w->loop, PY_FIELD_RIGHT) : 0;
    long count = 0, from, to;

    if (stet_python_kind(a, right) == PY_LIST || stet_python_kind(a, right) == PY_TUPLE) {
        for (stet_python_ref c = stet_python_child(a, right); c; c = stet_python_next(a, c))
            count++;
        return count;
    }
    if (stet_python_kind(a, right) != PY_CALL ||
        stet_python_call_meaning(w->module, right) != PY_MEANS_COUNTS)
        return 0;
    from = stet_python_argument(w->module, right, 1)
               ? stet_flow_known_integer(w, stet_python_argument(w->module, right, 0))
               : 0;
    to = stet_flow_known_integer(
        w,
        stet_python_argument(w->module, right, stet_python_argument(w->module, right, 1) ? 1 : 0));
    return from < 0 || to < from ? 0 : to - from;
}

/* torch.compile stops compiling a frame after eight programs. */
bool lint_passes_limit(struct stet_flow_walk *w, const struct stet_flow_jit *j, stet_python_ref at)
{
    long n = turns(w);

    if (j->lane != FLOW_TORCH || n <= 8)
        return false;
    lint_report(w, LINT_RULE_recompile_limit, at, 0, LINT_ANY, 0,
                "`%.*s` has %ld values in this loop, and torch.compile keeps 8 programs",
                STET_FMT(lint_quote(w, at)), n);
    return true;
}

static bool is_list(const struct stet_flow_walk *w, const struct feed *f)
{
    enum stet_python_kind k = stet_python_kind(w->ast, f->arg);

    return (f->v.f.flags & FLOW_F_LIST) || k == PY_LIST || k == PY_LIST_COMPREHENSION;
}

/* The elements of a tree may differ from each other. */
static bool is_tree(const struct feed *f)
{
    return f->v.f.traits & (FLOW_TRAIT_LIST | FLOW_TRAIT_DICT);
}

/* In `x, y = call(…)`: which part this name takes, or -1. */
static int part_named(const struct stet_flow_walk *w, stet_python_ref call, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref assign = stet_python_child(a, w->statement), left;
    int i = 0;

    if (stet_python_kind(a, w->statement) != PY_EXPRESSION_STATEMENT ||
        stet_python_kind(a, assign) != PY_ASSIGNMENT ||
        stet_python_field(a, assign, PY_FIELD_RIGHT) != call || !name)
        return -1;
    left = stet_python_field(a, assign, PY_FIELD_LEFT);
    if (stet_python_name(a, left) == name)
        return 0;
    if (stet_python_kind(a, left) != PY_PATTERN_LIST)
        return -1;
    for (stet_python_ref l = stet_python_child(a, left); l; l = stet_python_next(a, l), i++) {
        if (stet_python_name(a, l) == name)
            return i;
    }
    return -1;
}

/* cache = step(cache, …) in a loop, where step joins it with more. */
static bool report_growth(struct stet_flow_walk *w, const struct feed *f)
{
    int part = w->loops && f->jit && f->jit->fn != FLOW_NONE && f->jit->lane != FLOW_TORCH
                   ? part_named(w, f->call, stet_python_name(w->ast, f->arg))
                   : -1;
    uint32_t line = part >= 0 ? lint_grows(w, f->jit->fn, f->position, part) : 0;

    if (line)
        lint_advise(lint_report(w, LINT_RULE_shape_drift, f->arg, 0, LINT_ANY, 0,
                                "`%.*s` is longer at each turn: line %u joins it with more",
                                STET_FMT(lint_quote(w, f->arg)), line),
                    "allocate the greatest length once and write with lax.dynamic_update_slice "
                    "(index_copy_) "
                    "at a position that is an array");
    return line != 0;
}

static void look_shape(struct stet_flow_walk *w, const struct feed *f)
{
    if ((f->jit && f->jit->dynamic) || report_growth(w, f) || is_tree(f))
        return;
    if ((f->v.f.flags & FLOW_F_DRIFTS) && w->loops && !is_list(w, f))
        report_fed(w, LINT_RULE_shape_drift, f, "has another size at each turn");
    else if (f->first && f->v.f.dims && f->first->f.dims && f->v.f.rank == f->first->f.rank &&
             f->v.f.dims != f->first->f.dims && !(f->v.f.traits & FLOW_TRAIT_DICT))
        report_other(w, LINT_RULE_shape_drift, f, "another size");
}

void rule_shape_drift(struct stet_flow_walk *w, stet_python_ref n)
{
    each_fed(w, n, look_shape);
}

static void look_rank(struct stet_flow_walk *w, const struct feed *f)
{
    if (is_tree(f))
        return;
    if (f->v.f.flags & FLOW_F_RANKS) {
        if (!f->jit || !w->loops || !lint_passes_limit(w, f->jit, f->arg))
            report_fed(w, LINT_RULE_rank_change, f,
                       "has another number of dimensions on another path");
    } else if (f->first && f->v.f.rank && f->first->f.rank && f->v.f.rank != f->first->f.rank) {
        report_other(w, LINT_RULE_rank_change, f, "another number of dimensions");
    }
}

void rule_rank_change(struct stet_flow_walk *w, stet_python_ref n)
{
    each_fed(w, n, look_rank);
}

static void look_dtype(struct stet_flow_walk *w, const struct feed *f)
{
    int part = w->loops ? part_named(w, f->call, stet_python_name(w->ast, f->arg)) : -1;
    const struct stet_flow_function *fn =
        f->jit && f->jit->fn != FLOW_NONE ? &w->fns[f->jit->fn] : NULL;

    if (is_tree(f))
        return;
    if (f->v.f.flags & FLOW_F_DTYPES) /* a call outside of a loop takes one of the paths */
        lint_minor(report_fed(w, LINT_RULE_dtype_change, f, "has another dtype on another path"),
                   w->loops ? LINT_FULL : LINT_MINOR);
    else if (f->first && f->v.f.dtype && f->first->f.dtype && f->v.f.dtype != f->first->f.dtype)
        report_other(w, LINT_RULE_dtype_change, f, "another dtype");
    else if (part >= 0 && f->jit && f->jit->lane == FLOW_JAX && (f->v.f.flags & FLOW_F_NUMBER))
        report_fed(w, LINT_RULE_dtype_change, f,
                   "starts as a Python number, weakly typed, and comes back as an array");
    else if (part >= 0 && fn && part < fn->item_count && f->v.f.dtype && fn->items[part].dtype &&
             fn->items[part].dtype != f->v.f.dtype)
        report_fed(w, LINT_RULE_dtype_change, f,
                   "comes back with another dtype than it starts with");
}

void rule_dtype_change(struct stet_flow_walk *w, stet_python_ref n)
{
    each_fed(w, n, look_dtype);
}

static void look_list(struct stet_flow_walk *w, const struct feed *f)
{
    if ((f->v.f.flags & FLOW_F_LIST) && w->loops)
        report_fed(w, LINT_RULE_list_length, f, "is a list of another length at each turn");
}

void rule_list_length(struct stet_flow_walk *w, stet_python_ref n)
{
    each_fed(w, n, look_list);
}

static void look_grad(struct stet_flow_walk *w, const struct feed *f)
{
    if (f->first && f->jit->lane == FLOW_TORCH && f->v.f.rank && f->first->f.rank &&
        ((f->v.f.traits ^ f->first->f.traits) & FLOW_TRAIT_GRAD))
        report_other(w, LINT_RULE_requires_grad, f, "another requires_grad");
}

void rule_requires_grad(struct stet_flow_walk *w, stet_python_ref n)
{
    each_fed(w, n, look_grad);
}

static void look_stride(struct stet_flow_walk *w, const struct feed *f)
{
    if (f->first && f->jit->lane == FLOW_TORCH && f->v.f.rank && f->first->f.rank &&
        ((f->v.f.traits ^ f->first->f.traits) & FLOW_TRAIT_TURNED))
        report_other(w, LINT_RULE_stride_change, f, "another order in memory");
}

void rule_stride_change(struct stet_flow_walk *w, stet_python_ref n)
{
    each_fed(w, n, look_stride);
}

/* state = step(state, …): the result replaces it, whatever it was at first. */
static bool replaces_itself(const struct stet_flow_walk *w, stet_python_ref arg)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref assign = stet_python_child(a, w->statement);
    stet_python_ref left = stet_python_kind(a, assign) == PY_ASSIGNMENT
                               ? stet_python_field(a, assign, PY_FIELD_LEFT)
                               : 0;

    for (stet_python_ref c = left; left && stet_flow_within(w, c, left); c++)
        if (stet_python_name(a, c) && stet_python_name(a, c) == stet_python_name(a, arg))
            return true;
    return false;
}

/* Did a statement before the outermost loop decide what it is? Then every turn passes the same. */
static bool is_settled(struct stet_flow_walk *w, stet_python_ref arg)
{
    uint32_t name = stet_python_name(w->ast, arg);
    const struct stet_flow_binding *b = name ? stet_flow_lookup(w, w->fn, name) : NULL;

    return b && b->at < stet_python_at(w->ast, w->outer_loop)->start;
}

/* f(x, mask=None if masks is None else masks[i]): a name that no turn changes decides. */
static bool is_decided_before(struct stet_flow_walk *w, stet_python_ref arg)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref value = stet_python_bare(a, stet_python_argument_value(w->module, arg));
    stet_python_ref test = stet_python_kind(a, value) == PY_CONDITIONAL
                               ? stet_python_next(a, stet_python_child(a, value))
                               : 0;

    for (stet_python_ref c = test; test && stet_flow_within(w, c, test); c++) {
        uint32_t name = a->nodes[c].field == PY_FIELD_ATTRIBUTE ? 0 : stet_python_name(a, c);
        const struct stet_flow_binding *b = name ? stet_flow_lookup(w, w->fn, name) : NULL;

        if (stet_python_kind(a, c) == PY_CALL ||
            (b && b->at >= stet_python_at(a, w->outer_loop)->start))
            return false;
    }
    return test != 0;
}

static void look_key(struct stet_flow_walk *w, const struct feed *f)
{
    if (f->v.f.flags & FLOW_F_KEYS)
        report_fed(w, LINT_RULE_optional_key, f, "has a field on one path only");
    else if ((f->v.f.flags & FLOW_F_MAYBE_NONE) && w->loops && !replaces_itself(w, f->arg) &&
             !is_decided_before(w, f->arg))
        lint_minor(report_fed(w, LINT_RULE_optional_key, f, "is None in some calls only"),
                   is_settled(w, f->arg) ? LINT_MINOR : LINT_FULL);
    else if (f->first && (f->v.f.traits & f->first->f.traits & FLOW_TRAIT_DICT) && f->v.f.dims &&
             f->first->f.dims && f->v.f.dims != f->first->f.dims)
        report_other(w, LINT_RULE_optional_key, f, "other fields");
}

void lint_fed_keys(struct stet_flow_walk *w, stet_python_ref n)
{
    each_fed(w, n, look_key);
}

static void look_short(struct stet_flow_walk *w, const struct feed *f)
{
    if (!(f->v.f.flags & FLOW_F_SHORT) || !w->loops || (f->jit && f->jit->dynamic) ||
        (f->v.f.traits & FLOW_TRAIT_LIST))
        return;
    if (w->loop && lint_reported_since(w, LINT_RULE_last_batch, w->loop))
        return; /* one rest, whatever takes it */
    if (f->v.f.rows)
        lint_report(w, LINT_RULE_last_batch, f->arg, 0, LINT_ANY, 0,
                    "`%.*s` is shorter in the last turn: %u", STET_FMT(lint_quote(w, f->arg)),
                    f->v.f.rows);
    else
        report_fed(w, LINT_RULE_last_batch, f,
                   "is shorter in the last turn, unless the stride divides");
}

void lint_fed_short(struct stet_flow_walk *w, stet_python_ref n)
{
    each_fed(w, n, look_short);
}

/* acc = step(acc, …) in a loop, with acc None again at each turn of the loop around it. */
static void look_none(struct stet_flow_walk *w, const struct feed *f)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_binding *b;

    if (!(f->v.f.flags & FLOW_F_NONE) || !f->jit || w->loops < 2 || w->loop == w->outer_loop ||
        part_named(w, f->call, stet_python_name(a, f->arg)) < 0)
        return;
    b = stet_flow_scope_find(&w->fns[w->fn].scope, stet_python_name(a, f->arg));
    if (b && b->at > stet_python_at(a, w->outer_loop)->start &&
        b->at < stet_python_at(a, w->loop)->start)
        report_fed(w, LINT_RULE_grad_from_none, f,
                   "is None in the first call of each cycle and an array in the others");
}

void rule_grad_from_none(struct stet_flow_walk *w, stet_python_ref n)
{
    each_fed(w, n, look_none);
}

/* Literal values of a static place that differ between the calls of one loop. */
static void look_static(struct stet_flow_walk *w, const struct feed *f)
{
    struct stet_view text = stet_python_text(w->ast, f->arg);
    unsigned position = 0;

    if (!f->first || !w->loops || stet_python_kind(w->ast, f->arg) != PY_FLOAT ||
        !f->first->text.len || stet_view_eq(f->first->text, text))
        return;
    position = (unsigned)(f->first - f->jit->fed);
    if (f->jit->static_positions >> position & 1)
        lint_report(w, LINT_RULE_static_varies, f->arg, 0, LINT_ANY, 0,
                    "static argument `%.*s` is %.*s elsewhere in the loop",
                    STET_FMT(lint_quote(w, f->arg)), STET_FMT(f->first->text));
}

/* A call without the static argument uses its default. */
static struct stet_view default_of(const struct stet_flow_walk *w, const struct stet_flow_jit *j,
                                   unsigned at)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref c = j->fn != FLOW_NONE && w->fns[j->fn].parameters
                            ? stet_python_child(a, w->fns[j->fn].parameters)
                            : 0;
    stet_python_ref value;

    for (unsigned i = 0; c && i < at; i++)
        c = stet_python_next(a, c);
    value = c ? stet_python_field(a, c, PY_FIELD_VALUE) : 0;
    return stet_python_kind(a, value) == PY_FLOAT ? stet_python_text(a, value)
                                                  : (struct stet_view){0};
}

void lint_fed_static(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_jit *j = stet_flow_jit_called(w, n);
    unsigned at;

    if (!j || j->lane != FLOW_JAX || !j->static_positions || !w->loops)
        return;
    for (at = 0; at < FLOW_FED && stet_python_argument(w->module, n, at); at++) {
        struct stet_view text = default_of(w, j, at);

        if ((j->static_positions >> at & 1) && text.len && !j->fed[at].line)
            j->fed[at] =
                (struct stet_flow_fed){.line = stet_python_at(w->ast, w->fns[j->fn].node)->row + 1,
                                       .fn = w->fn,
                                       .text = text};
    }
    each_fed(w, n, look_static);
}

void rule_static_object(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_jit *j = stet_flow_jit_called(w, n);

    for (unsigned i = 0; j && j->static_positions && i < 8 && stet_python_argument(w->module, n, i);
         i++) {
        stet_python_ref arg = stet_python_argument(w->module, n, i);
        struct stet_flow_binding *b;

        if (!(j->static_positions >> i & 1) || !w->outer_loop ||
            !(stet_flow_value_of(w, arg).f.flags & FLOW_F_OBJECT))
            continue;
        b = stet_flow_scope_find(&w->fns[w->fn].scope, stet_python_name(w->ast, arg));
        if (stet_python_kind(w->ast, arg) == PY_CALL ||
            (b && b->at > stet_python_at(w->ast, w->outer_loop)->start))
            lint_report(w, LINT_RULE_static_object, arg, 0, LINT_ANY, 0,
                        "`%.*s` is made anew in the loop, and its class has no equality",
                        STET_FMT(lint_quote(w, arg)));
    }
}

/* Called with gradients in one place and without in another; in training mode in one and in
 * evaluation mode in another. */
void rule_grad_mode(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_jit *j = stet_flow_jit_called(w, n);
    uint8_t mode = w->no_grad ? 2 : 1;

    if (!j || j->lane != FLOW_TORCH || (j->modes & mode))
        return;
    j->modes |= mode;
    if ((j->modes & 3) == 3)
        lint_report(w, LINT_RULE_grad_mode, n, 0, LINT_ANY, 0,
                    "`%.*s` is called with gradients and without", STET_FMT(lint_quote(w, n)));
}

void rule_eval_mode(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref object = stet_python_callee_object(w->module, n);
    struct stet_flow_jit *j = stet_flow_jit_called(w, n);

    if (object && stet_python_call_meaning(w->module, n) == PY_MEANS_EVALUATES &&
        !stet_python_argument(w->module, n, 0)) {
        for (uint32_t i = 0; i < w->jit_count && stet_flow_spend(w); i++) {
            struct stet_flow_value v = stet_flow_value_of(w, object);

            if (w->jits[i].lane == FLOW_TORCH && (w->jits[i].modes & 4) &&
                (w->jits[i].module == stet_python_name(w->ast, object) ||
                 (v.kind == FLOW_V_JITTED && v.index == i)))
                w->jits[i].modes |= 8;
        }
        return;
    }
    if (!j || j->lane != FLOW_TORCH || !j->module)
        return;
    if ((j->modes & (8 | 16)) == 8) {
        j->modes |= 16;
        lint_report(w, LINT_RULE_eval_mode, n, 0, LINT_ANY, 0,
                    "`%.*s` was called in training mode before", STET_FMT(lint_quote(w, n)));
    }
    j->modes |= 4;
}
