/* Rules about sizes that follow values: gathers, top-k, capacities, lengths of rows. */
#include "lint/rules.h"

static bool is_array_library(struct stet_view dotted)
{
    return stet_view_starts(dotted, "jax.numpy.") || stet_view_starts(dotted, "torch.") ||
           stet_view_starts(dotted, "jax.lax.");
}

struct stet_view lint_array_library(struct stet_flow_walk *w, stet_python_ref call, char room[160])
{
    struct stet_view dotted =
        stet_python_imported(w->module, stet_python_field(w->ast, call, PY_FIELD_FUNCTION), room);

    return is_array_library(dotted) ? dotted : STET_VIEW("");
}

/* Does the call bring its object to the host: x.tolist(), x.cpu(); or one value of it, x.item(), if
 * no name is between? */
static bool reads_back(const struct stet_flow_walk *w, stet_python_ref call, bool named)
{
    char room[160];
    enum stet_python_effect effect =
        stet_python_callee_object(w->module, call)
            ? stet_python_library_method(stet_python_library_callee(w->module, call, room))
            : PY_GIVES_NOTHING_KNOWN;

    return effect == PY_GIVES_ARRAYS || effect == PY_GIVES_HOSTED ||
           (effect == PY_GIVES_SCALAR && !named);
}

static bool is_read_back(const struct stet_flow_walk *w, stet_python_ref n, unsigned depth);

/* Is each use of the name in this function read back, or a part of something that is? */
static bool are_read_back(const struct stet_flow_walk *w, stet_python_ref target, unsigned depth)
{
    stet_python_ref fn = w->fns[w->fn].node;
    uint32_t name = stet_python_name(w->ast, target);
    bool used = false;

    for (stet_python_ref c = fn; name && depth < 4 && stet_flow_within(w, c, fn); c++) {
        if (stet_python_name(w->ast, c) != name || c == target ||
            w->ast->nodes[c].field == PY_FIELD_ATTRIBUTE)
            continue;
        if (!is_read_back(w, c, depth + 1))
            return false;
        used = true;
    }
    return used;
}

/* mask.nonzero().flatten().tolist(): numbers of Python, so that no array has this size. host-sync
 * reports it. The same through names: found = mask.nonzero(); pairs = torch.stack([found, found]);
 * pairs.tolist(). */
static bool is_read_back(const struct stet_flow_walk *w, stet_python_ref n, unsigned depth)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref up = w->module->parents[n];; up = w->module->parents[up]) {
        switch (stet_python_kind(a, up)) {
        case PY_CALL:
            if (reads_back(w, up, depth != 0))
                return true;
            break;
        case PY_ASSIGNMENT:
            return are_read_back(w, stet_python_field(a, up, PY_FIELD_LEFT), depth);
        case PY_ATTRIBUTE:
        case PY_SUBSCRIPT:
        case PY_ARGUMENTS:
        case PY_BINARY:
        case PY_LIST:
        case PY_TUPLE:
        case PY_PARENTHESIZED:
            break;
        default:
            return false;
        }
    }
}

static void report_gather(struct stet_flow_walk *w, stet_python_ref n, bool library, uint64_t deps)
{
    if (is_read_back(w, n, 0))
        return;
    lint_report(w, LINT_RULE_mask_gather, n, lint_lanes_of_size(w, n),
                library ? LINT_ANY : LINT_TENSOR, deps, "the size of `%.*s` depends on values",
                STET_FMT(lint_quote(w, n)));
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
    dotted = lint_array_library(w, n, room);
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
        k = stet_python_argument(w->module, n, lint_array_library(w, n, room).len ? 1 : 0);
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

/* A number of the function around this one, which no parameter gives: it was read before this code
 * is traced. */
static bool is_captured(struct stet_flow_walk *w, stet_python_ref n, struct stet_flow_value v)
{
    uint32_t name = stet_python_name(w->ast, n);

    return name && v.deps == FLOW_ALWAYS && !stet_flow_scope_find(&w->fns[w->fn].scope, name);
}

void rule_size_from_value(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_array *array = stet_flow_array_call(w, n);
    stet_python_ref args = stet_python_field(w->ast, n, PY_FIELD_ARGUMENTS), object;
    struct stet_view library;
    char room[160];

    if (!array || !(array->role & (PY_SIZED | PY_SPLITS)))
        return;
    library = lint_array_library(w, n, room);
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
        if (v.kind == FLOW_V_HOST && v.deps && !is_captured(w, value ? value : c, v)) {
            /* In JAX, a field of a tree that becomes a size is a Python number. */
            uint8_t lanes =
                v.flags & FLOW_WEAK ? FLOW_TRACED & ~(FLOW_JAX | FLOW_FLAX) : FLOW_TRACED;

            lanes &= lint_lanes_reading(v);
            if (lint_holds_asserted(w, value ? value : c))
                lanes &= (uint8_t)~FLOW_MODULE;
            lint_report(w, LINT_RULE_size_from_value, n, lanes, LINT_TENSOR, v.deps,
                        "`%.*s` is a size and comes from a tensor's value",
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
        lint_report(w, LINT_RULE_dim_readback, n, lint_lanes_of_size(w, n), LINT_TENSOR, v.deps,
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

bool lint_holds_name(const struct stet_flow_walk *w, stet_python_ref n, uint32_t name)
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
    return (op == '<' || op == '>') && lint_holds_name(w, n, name);
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
            lint_holds_name(w, stet_python_field(a, n, PY_FIELD_ARGUMENTS), name) &&
            is_limited_by(w, n))
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
