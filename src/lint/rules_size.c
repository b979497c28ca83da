/* Rules about sizes that follow values: gathers, top-k, capacities, slices, loop counts. */
#include "lint/rules.h"

static bool is_array_library(struct stet_view dotted)
{
    return stet_view_starts(dotted, "jax.numpy.") || stet_view_starts(dotted, "torch.") ||
           stet_view_starts(dotted, "jax.lax.");
}

static struct stet_view library_name(struct stet_flow_walk *w, stet_python_ref call, char room[160])
{
    struct stet_view dotted =
        stet_python_imported(w->module, stet_python_field(w->ast, call, PY_FIELD_FUNCTION), room);

    return is_array_library(dotted) ? dotted : STET_VIEW("");
}

static void report_gather(struct stet_flow_walk *w, stet_python_ref n, bool library, uint64_t deps)
{
    lint_report(w, LINT_RULE_mask_gather, n, FLOW_TRACED, library ? LINT_ANY : LINT_TENSOR, deps,
                "the size of `%.*s` depends on values", STET_FMT(lint_quote(w, n)));
}

/* Is it a name that the function uses as only a mask can be used? */
static bool is_mask(struct stet_flow_walk *w, stet_python_ref n)
{
    return stet_python_kind(w->ast, n) == PY_IDENTIFIER &&
           stet_flow_used_as_mask(w, w->fn, stet_python_name(w->ast, n));
}

/* The same between compiled functions: each size makes a small program, and one program of each
 * function that takes it. */
static bool gather_eager(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = stet_python_next(a, stet_python_field(a, n, PY_FIELD_VALUE)); c;
         c = stet_python_next(a, c)) {
        struct stet_flow_value index = stet_flow_value_of(w, c);
        bool mask =
            index.f.dtype == PY_BOOL || (index.flags & (FLOW_BOOL | FLOW_DYNAMIC)) || is_mask(w, c);

        if (!mask || stet_python_kind(a, c) == PY_STRING || index.kind == FLOW_V_HOST)
            continue; /* a mask of NumPy: so is what it selects from */
        lint_report(w, LINT_RULE_mask_gather, n, 0, LINT_ANY, 0,
                    "the size of `%.*s` depends on values, between compiled functions",
                    STET_FMT(lint_quote(w, n)));
        return true;
    }
    return false;
}

/* x[mask] read, not written. */
static void gather_by_mask(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref value = stet_python_field(a, n, PY_FIELD_VALUE);
    struct stet_flow_value v = stet_flow_value_of(w, value);

    if (stet_python_kind(a, value) == PY_ATTRIBUTE &&
        stet_python_library_attribute(stet_python_text(
            a, stet_python_field(a, value, PY_FIELD_ATTRIBUTE))) == PY_GIVES_UPDATED)
        return; /* x.at[mask].set(0) has the size of x */
    if (!w->target && w->loops && (v.f.flags & FLOW_F_DEVICE) && gather_eager(w, n))
        return;
    if (w->target || !stet_flow_is_tensor(v) || (v.flags & (FLOW_TREE | FLOW_GUESS)))
        return;
    for (stet_python_ref c = stet_python_next(a, value); c; c = stet_python_next(a, c)) {
        struct stet_flow_value index = stet_flow_value_of(w, c);

        if (stet_flow_is_strong(index) && ((index.flags & FLOW_BOOL) || is_mask(w, c))) {
            report_gather(w, n, false, v.deps & index.deps ? v.deps & index.deps : index.deps);
            return;
        }
    }
}

void rule_mask_gather(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_array *array;
    enum stet_python_meaning meaning;
    struct stet_view dotted;
    struct stet_flow_value v;
    char room[160];
    bool one, sized;

    if (stet_python_kind(w->ast, n) == PY_SUBSCRIPT) {
        gather_by_mask(w, n);
        return;
    }
    if (stet_python_kind(w->ast, n) != PY_CALL || stet_flow_fixes_size(w, n))
        return;
    array = stet_flow_array_call(w, n);
    meaning = stet_python_call_meaning(w->module, n);
    dotted = library_name(w, n, room);
    v = stet_python_callee_object(w->module, n)
            ? stet_flow_value_of(w, stet_python_callee_object(w->module, n))
            : (struct stet_flow_value){0};
    one = meaning == PY_MEANS_SELECTS_BY_MASK && dotted.len &&
          stet_python_argument(w->module, n, 0) && !stet_python_argument(w->module, n, 1);
    if (meaning == PY_MEANS_REPEATS) {
        stet_python_ref counts = stet_python_argument(w->module, n, dotted.len ? 1 : 0);

        if (!counts)
            counts = stet_python_keyword(w->module, n, STET_VIEW("repeats"));
        one = counts && stet_flow_is_strong(stet_flow_value_of(w, counts));
        if (one)
            v.deps = stet_flow_value_of(w, counts).deps;
        if (one && !dotted.len) {
            report_gather(w, n, false, v.deps);
            return;
        }
    }
    sized = array && array->role & (PY_FINDS | PY_SELECTS);
    if (dotted.len && (one || sized))
        report_gather(w, n, true, 0);
    else if (!dotted.len && sized && stet_flow_is_tensor(v) &&
             !(v.flags & (FLOW_TREE | FLOW_GUESS)))
        report_gather(w, n, false, v.deps);
}

/* min(k, n), here or at the name's binding: an upper bound, usually the first argument. */
static bool is_clamped(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_binding *b = stet_python_name(w->ast, n)
                                      ? stet_flow_lookup(w, w->fn, stet_python_name(w->ast, n))
                                      : NULL;

    if (b && b->value.from)
        n = b->value.from;
    return stet_python_kind(w->ast, n) == PY_CALL &&
           stet_python_call_meaning(w->module, n) == PY_MEANS_SMALLEST;
}

void rule_topk_k(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_array *array = stet_flow_array_call(w, n);
    struct stet_flow_value v;
    char room[160];
    stet_python_ref k;

    if (!array || !(array->role & PY_TOPK))
        return;
    k = stet_python_keyword(w->module, n, STET_VIEW("k"));
    if (!k)
        k = stet_python_argument(w->module, n, library_name(w, n, room).len ? 1 : 0);
    if (!k || is_clamped(w, k))
        return;
    v = stet_flow_value_of(w, k);
    if (w->step_loops && v.kind <= FLOW_V_PYTHON && (v.flags & FLOW_STEPS)) {
        lint_report(w, LINT_RULE_topk_k, n, 0, LINT_ANY, 0,
                    "k is `%.*s`, another number in each step", STET_FMT(lint_quote(w, k)));
        return;
    }
    if (v.kind == FLOW_V_SHAPE && !(v.flags & FLOW_DYNAMIC))
        return; /* each shape has a program of its own anyway */
    if (v.deps && (v.kind == FLOW_V_HOST || v.kind == FLOW_V_SHAPE || stet_flow_is_strong(v)))
        lint_report(w, LINT_RULE_topk_k, n, FLOW_TRACED, LINT_TENSOR, v.deps,
                    "k is `%.*s`, which depends on values", STET_FMT(lint_quote(w, k)));
    else if (v.deps & ~FLOW_ALWAYS)
        lint_report(w, LINT_RULE_topk_k, n, FLOW_JAX | FLOW_TORCH, LINT_VARYING,
                    v.deps & ~FLOW_ALWAYS, "k is `%.*s`, another number at each turn of a loop",
                    STET_FMT(lint_quote(w, k)));
}

static bool is_keyword(const struct stet_flow_walk *w, stet_python_ref argument, const char *name)
{
    return stet_python_kind(w->ast, argument) == PY_KEYWORD_ARGUMENT &&
           stet_view_is(
               stet_python_text(w->ast, stet_python_field(w->ast, argument, PY_FIELD_NAME)), name);
}

void rule_size_from_value(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_array *array = stet_flow_array_call(w, n);
    stet_python_ref args = stet_python_field(w->ast, n, PY_FIELD_ARGUMENTS), object;
    struct stet_view library;
    char room[160];

    if (!array || !(array->role & (PY_SIZED | PY_SPLITS)))
        return;
    library = library_name(w, n, room);
    if (stet_view_starts(library, "torch.") &&
        stet_python_library_meaning(library) == PY_MEANS_ONE_HOT &&
        !stet_python_argument(w->module, n, 1) &&
        !stet_python_keyword(w->module, n, STET_VIEW("num_classes"))) {
        lint_report(w, LINT_RULE_size_from_value, n, FLOW_TRACED, LINT_ANY, 0,
                    "one_hot without num_classes takes its size from the largest value");
        return;
    }
    object = stet_python_callee_object(w->module, n);
    if (!library.len && (!object || stet_python_imported(w->module, object, room).len ||
                         stet_flow_value_of(w, object).kind == FLOW_V_HOST ||
                         stet_flow_value_of(w, object).kind == FLOW_V_PYTHON))
        return; /* it makes an array of the host */
    for (stet_python_ref c = args ? stet_python_child(w->ast, args) : 0; c;
         c = stet_python_next(w->ast, c)) {
        struct stet_flow_value v = stet_flow_value_of(w, c);
        stet_python_ref value = stet_python_argument_value(w->module, c);

        if (stet_python_kind(w->ast, c) == PY_KEYWORD_ARGUMENT && value)
            v = stet_flow_value_of(w, value);
        if (array->role & PY_ONLY_FIRST && c != stet_python_child(w->ast, args))
            break; /* the fill value is not a size */
        if (array->role & PY_ONLY_KEYWORDS && !is_keyword(w, c, "size"))
            continue; /* the bounds are not sizes */
        if (v.kind == FLOW_V_HOST && v.deps) {
            /* In JAX, a field of a tree that becomes a size is a Python number. */
            lint_report(w, LINT_RULE_size_from_value, n,
                        v.flags & FLOW_WEAK ? FLOW_TRACED & ~(FLOW_JAX | FLOW_FLAX) : FLOW_TRACED,
                        LINT_TENSOR, v.deps, "`%.*s` is a size and comes from a tensor's value",
                        STET_FMT(lint_quote(w, value ? value : c)));
            return;
        }
    }
}

/* x[mask].shape[1], where the mask is the first index: only the first size depends on values. */
static bool is_other_size(struct stet_flow_walk *w, stet_python_ref n, stet_python_ref object)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref around = w->module->parents[n], index = 0, made = object, first;
    const struct stet_flow_binding *b =
        stet_python_name(a, object) ? stet_flow_lookup(w, w->fn, stet_python_name(a, object))
                                    : NULL;
    struct stet_view text;

    if (stet_python_kind(a, n) == PY_CALL)
        index = stet_python_argument(w->module, n, 0);
    else if (stet_python_kind(a, around) == PY_SUBSCRIPT)
        index = stet_python_next(a, stet_python_field(a, around, PY_FIELD_VALUE));
    text = stet_python_text(a, index);
    if (b && b->value.from)
        made = b->value.from;
    first = stet_python_kind(a, made) == PY_SUBSCRIPT
                ? stet_python_next(a, stet_python_field(a, made, PY_FIELD_VALUE))
                : 0;
    if (stet_python_kind(a, first) == PY_SLICE || stet_python_kind(a, first) == PY_ELLIPSIS)
        return false; /* x[:, mask] */
    return stet_view_is(text, "-1") || (index && stet_python_integer(w->module, index) > 0);
}

void rule_dim_readback(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref object = stet_python_kind(a, n) == PY_CALL
                                 ? stet_python_callee_object(w->module, n)
                                 : stet_python_field(a, n, PY_FIELD_OBJECT);
    struct stet_flow_value v = object ? stet_flow_value_of(w, object) : (struct stet_flow_value){0};

    if (stet_flow_is_tensor(v) && (v.flags & FLOW_DYNAMIC) && !is_other_size(w, n, object))
        lint_report(w, LINT_RULE_dim_readback, n, FLOW_TRACED, LINT_TENSOR, v.deps,
                    "`%.*s` is a size that depends on values", STET_FMT(lint_quote(w, n)));
}

/* Is it computed with a division, as a fraction is? A size that is only copied follows its array,
 * which is not a leak. */
static bool is_share(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n; stet_flow_within(w, c, n); c++)
        if (a->nodes[c].kind == PY_BINARY && a->nodes[c].op == '/')
            return true;
    return false;
}

static bool holds_name(const struct stet_flow_walk *w, stet_python_ref n, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n; n && stet_flow_within(w, c, n); c++)
        if (stet_python_name(a, c) == name)
            return true;
    return false;
}

/* Returns the end of a test whose truth value Python needs: `if n < name` compares two numbers. */
static uint32_t test_end(const struct stet_python_ast *a, stet_python_ref n)
{
    stet_python_ref test = 0;

    switch (stet_python_kind(a, n)) {
    case PY_IF:
    case PY_ELIF:
    case PY_WHILE:
        test = stet_python_field(a, n, PY_FIELD_CONDITION);
        return test ? a->nodes[test].end : 0;
    case PY_ASSERT:
    case PY_CONDITIONAL:
        return a->nodes[n].end;
    default:
        return 0;
    }
}

/* `ranks < name`, as an array: elements over the limit are cut off. */
static bool cuts_at(const struct stet_flow_walk *w, stet_python_ref n, uint32_t name)
{
    char op = w->ast->nodes[n].op;
    enum stet_python_kind around = stet_python_kind(w->ast, w->module->parents[n]);

    if (around == PY_LAMBDA || around == PY_RETURN)
        return false; /* the condition of a loop */
    return (op == '<' || op == '>') && holds_name(w, n, name);
}

/* top_k(x, limit), one_hot(x, limit), x.lt(limit) */
static bool is_limited_by(const struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_array *array = stet_flow_array_call(w, call);
    enum stet_python_meaning meaning = stet_python_call_meaning(w->module, call);

    return (array && array->role & PY_TOPK) || meaning == PY_MEANS_ONE_HOT ||
           meaning == PY_MEANS_LIMITS;
}

/* Does the function use it as a limit: top_k(x, name), one_hot(x, name), x < name? */
static bool limits(const struct stet_flow_walk *w, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref fn = w->fns[w->fn].node;
    uint32_t tested = 0;

    for (stet_python_ref n = fn; name && stet_flow_within(w, n, fn); n++) {
        tested = test_end(a, n) > tested ? test_end(a, n) : tested;
        if (a->nodes[n].kind == PY_COMPARISON && a->nodes[n].start >= tested && cuts_at(w, n, name))
            return true;
        if (a->nodes[n].kind == PY_CALL &&
            holds_name(w, stet_python_field(a, n, PY_FIELD_ARGUMENTS), name) && is_limited_by(w, n))
            return true;
    }
    return false;
}

void rule_capacity_leak(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT), name = left;
    struct stet_flow_value v = stet_flow_value_of(w, n);

    if (!left || !v.deps ||
        (v.kind != FLOW_V_HOST && !(v.kind == FLOW_V_SHAPE && (v.flags & FLOW_DYNAMIC))))
        return; /* each shape has a program of its own anyway */
    if (stet_python_kind(a, left) == PY_ATTRIBUTE)
        name = stet_python_field(a, left, PY_FIELD_ATTRIBUTE);
    if (is_share(w, stet_python_field(a, n, PY_FIELD_RIGHT)) &&
        limits(w, stet_python_name(a, name)))
        lint_report(w, LINT_RULE_capacity_leak, n, FLOW_TRACED, LINT_TENSOR, v.deps,
                    "`%.*s` follows the values in the batch, and limits how many are kept",
                    STET_FMT(stet_python_text(a, left)));
}

void rule_varlen(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_array *array = stet_flow_array_call(w, n);
    stet_python_ref object = stet_python_callee_object(w->module, n);

    if (object && stet_python_argument(w->module, n, 0) && array && array->role & PY_SPLITS) {
        struct stet_flow_value v = stet_flow_value_of(w, stet_python_argument(w->module, n, 0));

        if (stet_flow_is_tensor(stet_flow_value_of(w, object)) && v.deps & ~FLOW_ALWAYS)
            lint_report(w, LINT_RULE_varlen, n, FLOW_JAX | FLOW_TORCH, LINT_VARYING,
                        v.deps & ~FLOW_ALWAYS, "`%.*s` is split into other lengths by each call",
                        STET_FMT(lint_quote(w, n)));
        return;
    }
    if (stet_python_call_meaning(w->module, n) == PY_MEANS_PACKS)
        lint_report(w, LINT_RULE_varlen, n, FLOW_TRACED, LINT_ANY, 0,
                    "`%.*s` takes its layout from the lengths in the batch",
                    STET_FMT(lint_quote(w, n)));
}

/* Finds the attribute in `self.pos`, somewhere in n, that changes. */
static bool moving_attribute(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n; stet_flow_within(w, c, n); c++) {
        uint32_t owner = a->nodes[c].kind == PY_ATTRIBUTE
                             ? stet_flow_self_class(w, stet_python_field(a, c, PY_FIELD_OBJECT))
                             : FLOW_NONE;

        if (owner != FLOW_NONE &&
            lint_steps_on(w, owner,
                          stet_python_name(a, stet_python_field(a, c, PY_FIELD_ATTRIBUTE))))
            return true;
    }
    return false;
}

bool lint_follows_loop(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref up = m->parents[n]; up && stet_python_kind(a, up) != PY_FUNCTION;
         up = m->parents[up]) {
        stet_python_ref left =
            stet_python_kind(a, up) == PY_FOR ? stet_python_field(a, up, PY_FIELD_LEFT) : 0;
        stet_python_ref clause = stet_python_child_of(a, up, PY_FOR_IN); /* of a comprehension */

        left = clause ? stet_python_field(a, clause, PY_FIELD_LEFT) : left;
        for (stet_python_ref c = n; left && stet_flow_within(w, c, n); c++)
            if (stet_python_name(a, c) && holds_name(w, left, stet_python_name(a, c)))
                return true;
    }
    return false;
}

/* x[n:n + 4]: as long wherever it starts. Another start of x[n:] is another size, and needs a
 * program of its own. */
static bool keeps_size(const struct stet_flow_walk *w, stet_python_ref start)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref stop = stet_python_bare(a, stet_python_next(a, start));
    stet_python_ref left = stet_python_kind(a, stop) == PY_BINARY && a->nodes[stop].op == '+'
                               ? stet_python_field(a, stop, PY_FIELD_LEFT)
                               : 0;
    struct stet_view from = stet_python_text(a, start);

    start = stet_python_bare(a, start);
    if (stop && stet_python_kind(a, start) == PY_BINARY && a->nodes[start].op == '-' &&
        stet_view_eq(stet_python_text(a, stet_python_field(a, start, PY_FIELD_LEFT)),
                     stet_python_text(a, stop)))
        return true; /* x[n - 4:n] */
    return left &&
           (stet_view_eq(stet_python_text(a, left), from) ||
            stet_view_eq(stet_python_text(a, stet_python_field(a, stop, PY_FIELD_RIGHT)), from));
}

void rule_slice_start(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref value = stet_python_field(a, n, PY_FIELD_VALUE);
    struct stet_flow_value sliced = stet_flow_value_of(w, value);

    if (sliced.kind == FLOW_V_PYTHON && stet_python_kind(a, value) != PY_ATTRIBUTE)
        return;
    if (sliced.kind == FLOW_V_SHAPE || sliced.kind == FLOW_V_HOST || (sliced.flags & FLOW_TREE))
        return;
    for (stet_python_ref c = stet_python_next(a, value); c; c = stet_python_next(a, c)) {
        stet_python_ref start = stet_python_kind(a, c) == PY_SLICE ? stet_python_child(a, c) : 0;
        struct stet_flow_value v;

        if (!start || stet_python_at(a, start)->start != stet_python_at(a, c)->start)
            continue; /* x[:n] */
        v = stet_flow_value_of(w, start);
        if (v.kind == FLOW_V_HOST && v.deps && !lint_follows_loop(w, start))
            lint_report(w, LINT_RULE_slice_start, n, FLOW_TRACED, LINT_TENSOR, v.deps,
                        "`%.*s` starts at a value read back from a tensor",
                        STET_FMT(lint_quote(w, n)));
        else if (w->step_loops && (v.flags & FLOW_STEPS) && stet_flow_is_strong(sliced) &&
                 !(sliced.f.traits & FLOW_TRAIT_HOST))
            lint_report(w, LINT_RULE_slice_start, n, FLOW_XLA, LINT_ANY, 0,
                        "`%.*s` starts elsewhere at each turn", STET_FMT(lint_quote(w, n)));
        else if (v.deps && v.kind != FLOW_V_SHAPE && stet_flow_is_tensor(sliced) &&
                 !lint_follows_loop(w, start))
            lint_report(w, LINT_RULE_slice_start, n, FLOW_JAX | FLOW_XLA,
                        keeps_size(w, start) ? LINT_STATIC : LINT_VARYING, v.deps,
                        "`%.*s` starts at a static argument", STET_FMT(lint_quote(w, n)));
        else if (moving_attribute(w, start))
            lint_report(w, LINT_RULE_slice_start, n, FLOW_TRACED, LINT_ANY, 0,
                        "`%.*s` starts at an attribute that moves", STET_FMT(lint_quote(w, n)));
    }
}

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

bool lint_makes_operations(struct stet_flow_walk *w, stet_python_ref body, uint64_t numbers)
{
    const struct stet_python_ast *a = w->ast;
    char room[160];

    for (stet_python_ref c = body; body && stet_flow_within(w, c, body); c++) {
        const struct stet_flow_binding *b =
            stet_python_name(a, c) && a->nodes[c].field != PY_FIELD_ATTRIBUTE
                ? stet_flow_lookup(w, w->fn, stet_python_name(a, c))
                : NULL;

        if (b && b->value.kind == FLOW_V_TENSOR && (b->value.deps & ~numbers))
            return true;
        if (a->nodes[c].kind == PY_CALL && library_name(w, c, room).len)
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

/* A loop over range(): how often its body is part of the program. */
static void counted_loop(struct stet_flow_walk *w, stet_python_ref range, struct stet_flow_value v)
{
    stet_python_ref to = stet_python_argument(w->module, range, 1);

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
    lint_minor(lint_report(w, LINT_RULE_python_loop, range,
                           walks_in_parts(w, range) ? FLOW_JAX | FLOW_FLAX : FLOW_TRACED,
                           LINT_TENSOR, v.deps, "the loop is unrolled `%.*s` times, which %s",
                           STET_FMT(lint_quote(w, range)),
                           v.kind == FLOW_V_SHAPE ? "follows the shape" : "is a value read back"),
               v.kind == FLOW_V_SHAPE ? LINT_MINOR : LINT_FULL);
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
    if (range && !lint_makes_operations(w, stet_python_field(a, n, PY_FIELD_BODY),
                                        v.kind == FLOW_V_TENSOR ? v.deps : 0))
        return; /* it fills lists and tables of the host, and makes no program longer */
    if (range && v.deps)
        counted_loop(w, right, v);
    else if (stet_flow_is_strong(v) && !(v.flags & FLOW_BOOL) && !runs_over_keys(w, n))
        lint_report(w, LINT_RULE_python_loop, right, FLOW_TRACED, LINT_TENSOR, v.deps,
                    "the loop is unrolled over the rows of `%.*s`", STET_FMT(lint_quote(w, right)));
}
