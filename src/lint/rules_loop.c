/* Rules about loops of Python in compiled code: each turn makes the program longer. */
#include "lint/rules.h"

/* for key in batch: batch[key], or key == "image" — these are the names of a dictionary. */
static bool runs_over_keys(const struct stet_flow_walk *w, stet_python_ref loop)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = stet_python_field(a, loop, PY_FIELD_BODY);
    uint32_t key = stet_python_name(a, stet_python_field(a, loop, PY_FIELD_LEFT));
    struct stet_view whole = stet_python_text(a, stet_python_field(a, loop, PY_FIELD_RIGHT));

    for (stet_python_ref c = body; key && body && stet_flow_within(w, c, body); c++) {
        stet_python_ref value =
            a->nodes[c].kind == PY_SUBSCRIPT ? stet_python_field(a, c, PY_FIELD_VALUE) : 0;
        stet_python_ref first = a->nodes[c].kind == PY_COMPARISON ? stet_python_child(a, c) : 0;

        if (value && stet_python_name(a, stet_python_next(a, value)) == key &&
            stet_view_eq(stet_python_text(a, value), whole))
            return true;
        if (first && stet_python_name(a, first) == key &&
            stet_python_kind(a, stet_python_next(a, first)) == PY_STRING)
            return true;
    }
    return false;
}

/* Is it a list or another object of Python, as far as its name shows? */
static bool is_object(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_flow_binding *b =
        stet_python_name(w->ast, n) ? stet_flow_lookup(w, w->fn, stet_python_name(w->ast, n))
                                    : NULL;

    return b && b->value.kind <= FLOW_V_PYTHON;
}

bool lint_fills_list(const struct stet_flow_walk *w, stet_python_ref call)
{
    switch (stet_python_call_meaning(w->module, call)) {
    case PY_MEANS_ADDS_ITEM:
    case PY_MEANS_ADDS_ITEMS:
    case PY_MEANS_INSERTS_ITEM:
        return true;
    default:
        return false;
    }
}

/* x.shape, x.size(0), x.dtype: what is known before the program runs. */
static bool is_only_measured(const struct stet_flow_walk *w, stet_python_ref attribute)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref call = w->module->parents[attribute];
    struct stet_view name =
        stet_python_text(a, stet_python_field(a, attribute, PY_FIELD_ATTRIBUTE));
    bool called = stet_python_kind(a, call) == PY_CALL &&
                  stet_python_field(a, call, PY_FIELD_FUNCTION) == attribute;
    enum stet_python_effect effect =
        called ? stet_python_library_method(name) : stet_python_library_attribute(name);

    return effect == PY_GIVES_SIZE || effect == PY_GIVES_RANK || effect == PY_GIVES_TYPE;
}

/* Does this use of an array compute something: not x[i] alone, x[i].shape, nor rows.append(x[i])?
 * An array as an index gathers. */
static bool computes(struct stet_flow_walk *w, stet_python_ref use)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref below = use, up = m->parents[use];; below = up, up = m->parents[up]) {
        switch (stet_python_kind(a, up)) {
        case PY_SUBSCRIPT:
            if (below != stet_python_field(a, up, PY_FIELD_VALUE))
                return !is_object(w, stet_python_field(a, up, PY_FIELD_VALUE));
            break;
        case PY_LIST:
        case PY_TUPLE:
        case PY_DICTIONARY:
        case PY_PAIR:
        case PY_PARENTHESIZED:
        case PY_EXPRESSION_LIST:
            break;
        case PY_ATTRIBUTE:
            return !is_only_measured(w, up);
        case PY_ARGUMENTS:
            return !lint_fills_list(w, m->parents[up]);
        case PY_ASSIGNMENT:
            return below != stet_python_field(a, up, PY_FIELD_RIGHT);
        case PY_EXPRESSION_STATEMENT:
        case PY_FOR:
            return false;
        default:
            return true;
        }
    }
}

bool lint_makes_operations(struct stet_flow_walk *w, stet_python_ref body, uint64_t numbers)
{
    const struct stet_python_ast *a = w->ast;
    char room[160];

    for (stet_python_ref c = body; body && stet_flow_within(w, c, body); c++) {
        const struct stet_flow_binding *b =
            stet_python_name(a, c) && a->nodes[c].field != PY_FIELD_ATTRIBUTE
                ? stet_flow_lookup(w, w->fn, stet_python_name(a, c))
                : NULL;

        if (b && b->value.kind == FLOW_V_TENSOR && (b->value.deps & ~numbers) && computes(w, c))
            return true;
        if (a->nodes[c].kind == PY_CALL && lint_array_library(w, c, room).len &&
            stet_python_call_meaning(w->module, c) != PY_MEANS_ASSERTS)
            return true;
    }
    return false;
}

/* x.shape[-1] or x.size(-1), or a name of it: features, channels, the taps of a filter. The model
 * decides it, and not the batch. */
static bool is_last_size(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    const struct stet_flow_binding *b =
        stet_python_name(a, n) ? stet_flow_lookup(w, w->fn, stet_python_name(a, n)) : NULL;
    stet_python_ref index = 0;

    if (b)
        n = b->writes == 1 ? b->value.from : 0;
    if (stet_python_kind(a, n) == PY_SUBSCRIPT)
        index = stet_python_next(a, stet_python_field(a, n, PY_FIELD_VALUE));
    else if (stet_python_kind(a, n) == PY_CALL && stet_python_callee_object(w->module, n))
        index = stet_python_argument(w->module, n, 0);
    return stet_view_is(stet_python_text(a, index), "-1");
}

/* range(0, n, step): one turn for each part of a large array, so that less memory is needed. */
static bool walks_in_parts(const struct stet_flow_walk *w, stet_python_ref range)
{
    stet_python_ref step = stet_python_argument(w->module, range, 2);

    return step && stet_python_integer(w->module, step) != 1 &&
           stet_python_kind(w->ast, step) != PY_UNARY;
}

/* The names that hold another number at each turn: the loop's own, and those computed from them. */
struct turn_names {
    uint32_t names[16];
    unsigned count;
};

static bool holds_turn(const struct stet_flow_walk *w, stet_python_ref n,
                       const struct turn_names *turn)
{
    for (unsigned i = 0; n && i < turn->count; i++)
        if (lint_holds_name(w, n, turn->names[i]))
            return true;
    return false;
}

static void add_names(const struct stet_flow_walk *w, stet_python_ref n, struct turn_names *turn)
{
    for (stet_python_ref c = n; n && stet_flow_within(w, c, n); c++)
        if (stet_python_kind(w->ast, c) == PY_IDENTIFIER && turn->count < 16)
            turn->names[turn->count++] = stet_python_name(w->ast, c);
}

static struct turn_names names_of_turn(const struct stet_flow_walk *w, stet_python_ref loop)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = stet_python_field(a, loop, PY_FIELD_BODY);
    struct turn_names turn = {.count = 0};

    add_names(w, stet_python_field(a, loop, PY_FIELD_LEFT), &turn);
    for (stet_python_ref c = body; body && stet_flow_within(w, c, body); c++) {
        stet_python_ref left =
            a->nodes[c].kind == PY_ASSIGNMENT ? stet_python_field(a, c, PY_FIELD_LEFT) : 0;
        stet_python_ref right = left ? stet_python_field(a, c, PY_FIELD_RIGHT) : 0;

        if ((stet_python_kind(a, left) == PY_IDENTIFIER ||
             stet_python_kind(a, left) == PY_PATTERN_LIST) &&
            right && stet_flow_value_of(w, right).kind != FLOW_V_TENSOR &&
            holds_turn(w, right, &turn))
            add_names(w, left, &turn);
    }
    return turn;
}

/* x[:i], x[i:i + size_of_i] */
static bool slices_by_turn(const struct stet_flow_walk *w, stet_python_ref slice,
                           const struct turn_names *turn)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref first = stet_python_child(a, slice), length;

    if (!first || stet_python_at(a, first)->start != stet_python_at(a, slice)->start)
        return holds_turn(w, first, turn);
    length = lint_slice_length(w, first);
    return length ? holds_turn(w, length, turn) : holds_turn(w, slice, turn);
}

/* Do the turns compute with arrays of different sizes? Then no scan can replace the loop. */
static bool turns_differ(struct stet_flow_walk *w, stet_python_ref loop)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = stet_python_field(a, loop, PY_FIELD_BODY);
    struct turn_names turn = names_of_turn(w, loop);

    for (stet_python_ref c = body; body && stet_flow_within(w, c, body); c++) {
        const struct stet_python_array *array =
            a->nodes[c].kind == PY_CALL ? stet_flow_array_call(w, c) : NULL;

        if (array && array->role & PY_SIZED &&
            !(array->role & (PY_ONLY_FIRST | PY_ONLY_KEYWORDS)) &&
            holds_turn(w, stet_python_field(a, c, PY_FIELD_ARGUMENTS), &turn))
            return true;
        if (a->nodes[c].kind == PY_SLICE && slices_by_turn(w, c, &turn))
            return true;
    }
    return false;
}

/* A loop of the library in the body: whoever wrote it knows both kinds, and chose. */
static bool holds_library_loop(const struct stet_flow_walk *w, stet_python_ref body)
{
    for (stet_python_ref c = body; body && stet_flow_within(w, c, body); c++)
        if (stet_python_kind(w->ast, c) == PY_CALL &&
            stet_python_call_meaning(w->module, c) == PY_MEANS_LOOPS)
            return true;
    return false;
}

/* for i in range(len(x)): x[i] += 1 — a list: no array of JAX is changed so. */
static bool changes_items(const struct stet_flow_walk *w, stet_python_ref range)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;
    stet_python_ref loop = m->parents[range];
    stet_python_ref body =
        stet_python_kind(a, loop) == PY_FOR ? stet_python_field(a, loop, PY_FIELD_BODY) : 0;

    for (stet_python_ref c = body; body && stet_flow_within(w, c, body); c++) {
        stet_python_ref left = a->nodes[c].kind == PY_ASSIGNMENT || a->nodes[c].kind == PY_AUGMENTED
                                   ? stet_python_field(a, c, PY_FIELD_LEFT)
                                   : 0;
        uint32_t name = stet_python_kind(a, left) == PY_SUBSCRIPT
                            ? stet_python_name(a, stet_python_field(a, left, PY_FIELD_VALUE))
                            : 0;

        if (name && lint_holds_name(w, stet_python_field(a, range, PY_FIELD_ARGUMENTS), name))
            return true;
    }
    return false;
}

/* rows[i]["name"], "name" in rows[i]: the items of `rows`, which the range counts, have names. */
static bool has_named_items(const struct stet_flow_walk *w, stet_python_ref n,
                            stet_python_ref range)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref item = 0, rows;

    if (a->nodes[n].kind == PY_SUBSCRIPT) {
        item = stet_python_field(a, n, PY_FIELD_VALUE);
        item = stet_python_kind(a, stet_python_next(a, item)) == PY_STRING ? item : 0;
    } else if (a->nodes[n].kind == PY_COMPARISON &&
               stet_python_kind(a, stet_python_child(a, n)) == PY_STRING)
        item = stet_python_next(a, stet_python_child(a, n));
    rows =
        stet_python_kind(a, item) == PY_SUBSCRIPT ? stet_python_field(a, item, PY_FIELD_VALUE) : 0;
    return rows && stet_python_name(a, rows) &&
           lint_holds_name(w, stet_python_field(a, range, PY_FIELD_ARGUMENTS),
                           stet_python_name(a, rows));
}

/* for i in range(len(rows)): rows[i]["name"] — a list of dictionaries, and not an array. */
static bool counts_records(const struct stet_flow_walk *w, stet_python_ref loop,
                           stet_python_ref range)
{
    stet_python_ref body = stet_python_field(w->ast, loop, PY_FIELD_BODY);

    for (stet_python_ref c = body; body && stet_flow_within(w, c, body); c++)
        if (has_named_items(w, c, range))
            return true;
    return false;
}

/* A loop over range(): how often its body is part of the program. */
static void counted_loop(struct stet_flow_walk *w, stet_python_ref range, struct stet_flow_value v)
{
    stet_python_ref to = stet_python_argument(w->module, range, 1);
    uint8_t lanes = walks_in_parts(w, range) ? FLOW_JAX | FLOW_FLAX : FLOW_TRACED;

    if (changes_items(w, range))
        lanes &= (uint8_t)~(FLOW_JAX | FLOW_FLAX);
    if (v.kind == FLOW_V_HOST)
        lanes &= lint_lanes_reading(v);

    if (v.kind != FLOW_V_SHAPE && v.kind != FLOW_V_HOST) {
        lint_report(w, LINT_RULE_python_loop, range, FLOW_JAX | FLOW_TORCH | FLOW_XLA, LINT_STATIC,
                    v.deps, "the loop is unrolled `%.*s` times, a Python argument",
                    STET_FMT(lint_quote(w, range)));
        return;
    }
    if (v.kind == FLOW_V_SHAPE &&
        is_last_size(w, to ? to : stet_python_argument(w->module, range, 0)))
        return;
    /* PyTorch has no other loop for the parts; JAX has lax.map. Each shape has a program of its own
     * anyway. */
    lint_minor(lint_report(w, LINT_RULE_python_loop, range, lanes, LINT_TENSOR, v.deps,
                           "the loop is unrolled `%.*s` times, which %s",
                           STET_FMT(lint_quote(w, range)),
                           v.kind == FLOW_V_SHAPE ? "follows the size of an input"
                                                  : "is a value read back"),
               v.kind == FLOW_V_SHAPE ? LINT_MINOR : LINT_FULL);
}

/* jnp.arange(-2, 3), of numbers that no argument gives: as many turns in every program. */
static bool has_fixed_rows(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_array *array =
        stet_python_kind(w->ast, n) == PY_CALL ? stet_flow_array_call(w, n) : NULL;

    return array && array->role & PY_SIZED && stet_flow_value_of(w, n).deps == FLOW_ALWAYS;
}

/* Is it decorated as a kernel, or is it the first argument where one is made? */
static bool is_kernel(const struct stet_flow_walk *w, uint32_t fn)
{
    const struct stet_python_ast *a = w->ast;
    const struct stet_flow_function *f = &w->fns[fn];

    for (stet_python_ref c = f->decorated ? stet_python_child(a, f->decorated) : 0; c;
         c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_DECORATOR && stet_flow_means(w, c, PY_MEANS_KERNEL))
            return true;
    for (stet_python_ref c = 1; f->name && c < a->count && stet_flow_spend(w); c++)
        if (a->nodes[c].kind == PY_CALL &&
            stet_python_call_meaning(w->module, c) == PY_MEANS_KERNEL &&
            lint_holds_name(w, stet_python_argument(w->module, c, 0), f->name))
            return true;
    return false;
}

/* A kernel is written out by hand: its loops are short, and no program of XLA's. */
static bool in_kernel(const struct stet_flow_walk *w)
{
    for (uint32_t fn = w->fn; fn; fn = w->fns[fn].parent)
        if (is_kernel(w, fn))
            return true;
    return false;
}

void rule_python_loop(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref right = stet_python_field(a, n, PY_FIELD_RIGHT);
    struct stet_flow_value v = stet_flow_value_of(w, right);
    bool range = stet_python_kind(a, right) == PY_CALL &&
                 stet_python_call_meaning(w->module, right) == PY_MEANS_COUNTS;

    if (w->step_loops) {
        if (range && (v.flags & FLOW_STEPS) && v.kind <= FLOW_V_PYTHON)
            lint_report(w, LINT_RULE_python_loop, right, 0, LINT_ANY, 0,
                        "`%.*s` is another count in each step", STET_FMT(lint_quote(w, right)));
        return;
    }
    if (!lint_makes_operations(w, stet_python_field(a, n, PY_FIELD_BODY),
                               range && v.kind == FLOW_V_TENSOR ? v.deps : 0))
        return; /* it fills lists and tables of the host, and makes no program longer */
    if (range && (turns_differ(w, n) || counts_records(w, n, right) ||
                  holds_library_loop(w, stet_python_field(a, n, PY_FIELD_BODY))))
        return;
    if ((w->facts & FLOW_USES_JIT) && in_kernel(w))
        return;
    if (range && v.deps)
        counted_loop(w, right, v);
    else if (stet_flow_is_strong(v) && !(v.flags & FLOW_BOOL) && !runs_over_keys(w, n) &&
             !has_fixed_rows(w, right))
        lint_report(w, LINT_RULE_python_loop, right, lint_lanes_reading(v), LINT_TENSOR, v.deps,
                    "the loop is unrolled over the rows of `%.*s`", STET_FMT(lint_quote(w, right)));
}
