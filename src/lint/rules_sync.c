/* Rules about values that leave the device, and other host work inside compiled code. */
#include "lint/rules.h"

bool lint_logs(const struct stet_flow_walk *w, stet_python_ref call)
{
    char room[160];
    struct stet_view dotted =
        stet_python_imported(w->module, stet_python_field(w->ast, call, PY_FIELD_FUNCTION), room);

    return dotted.len
               ? stet_python_library(dotted) == PY_GIVES_SHOWS
               : stet_flow_origins(w, stet_python_callee_object(w->module, call)) & PY_FROM_LOGGER;
}

/* Does the condition, or a part of it, need the values of a tensor? */
static bool decides_by_value(struct stet_flow_walk *w, stet_python_ref condition)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_value v;

    for (condition = stet_python_bare(a, condition); stet_python_kind(a, condition) == PY_BOOLEAN;
         condition = stet_python_field(a, condition, PY_FIELD_LEFT)) {
        v = stet_flow_value_of(w, stet_python_field(a, condition, PY_FIELD_RIGHT));
        if (stet_flow_is_tensor(v) || (v.kind == FLOW_V_HOST && v.deps))
            return true;
    }
    v = stet_flow_value_of(w, condition);
    return stet_flow_is_tensor(v) || (v.kind == FLOW_V_HOST && v.deps);
}

/* if loss > 1: print(loss.item()): the branch has read the values, and is reported. The message
 * adds nothing to what every step pays. */
static bool is_in_message_of_branch(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    bool shown = false;

    for (stet_python_ref up = w->module->parents[n]; up && stet_python_kind(a, up) != PY_FUNCTION;
         up = w->module->parents[up]) {
        if (stet_python_kind(a, up) == PY_CALL)
            shown |= stet_python_call_meaning(w->module, up) == PY_MEANS_PRINTS || lint_logs(w, up);
        else if (stet_python_kind(a, up) == PY_IF && shown)
            return decides_by_value(w, stet_python_field(a, up, PY_FIELD_CONDITION));
    }
    return false;
}

uint8_t lint_lanes_reading(struct stet_flow_value v)
{
    return v.deps == FLOW_ALWAYS && (v.f.traits & FLOW_TRAIT_HOST)
               ? FLOW_TRACED & ~(FLOW_MODULE | FLOW_XLA)
               : FLOW_TRACED;
}

/* return x.cpu().numpy(): the function is there to give its caller an array of the host. */
static bool is_returned(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref up = w->module->parents[n], top = n;
    char room[160];

    for (; stet_python_kind(a, up) == PY_ATTRIBUTE || stet_python_kind(a, up) == PY_CALL;
         up = w->module->parents[up])
        top = up;
    return stet_python_kind(a, up) == PY_RETURN && stet_python_kind(a, top) == PY_CALL &&
           stet_python_library_method(stet_python_library_callee(w->module, top, room)) ==
               PY_GIVES_ARRAYS;
}

/* float(x) if isinstance(x, Tensor) else x */
static bool converts_or_keeps(const struct stet_flow_walk *w, stet_python_ref conditional,
                              stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref yes = stet_python_child(a, conditional), test = stet_python_next(a, yes);
    stet_python_ref no = test ? stet_python_next(a, test) : 0;
    stet_python_ref of = test ? stet_flow_checked_array(w, stet_python_bare(a, test)) : 0;

    return of && no && a->nodes[n].end <= a->nodes[yes].end &&
           stet_python_name(a, no) == stet_python_name(a, of);
}

/* if isinstance(x, Tensor): x = x.cpu().numpy() — a conversion, for a caller that wants one. */
static bool converts_itself(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = 0, of = 0;

    for (stet_python_ref up = m->parents[n]; up && stet_python_kind(a, up) != PY_FUNCTION;
         up = m->parents[up]) {
        if (stet_python_kind(a, up) == PY_CONDITIONAL && converts_or_keeps(w, up, n))
            return true;
        if (stet_python_kind(a, up) == PY_ASSIGNMENT)
            left = stet_python_field(a, up, PY_FIELD_LEFT);
        if (left && (stet_python_kind(a, up) == PY_IF || stet_python_kind(a, up) == PY_ELIF)) {
            of = stet_flow_checked_array(w, stet_python_field(a, up, PY_FIELD_CONDITION));
            break;
        }
    }
    return of && stet_python_name(a, left) && stet_python_name(a, left) == stet_python_name(a, of);
}

/* str(x.item()), f"{x.item()}", hash(tuple(x.tolist())): a text or a key, which no program
 * computes. Where only some users compile the module, this part is meant for the host. */
static bool becomes_text(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    char room[160];

    for (stet_python_ref up = w->module->parents[n]; up; up = w->module->parents[up]) {
        struct stet_view name;

        switch (stet_python_kind(a, up)) {
        case PY_INTERPOLATION:
            return true;
        case PY_CALL:
            name =
                stet_python_full_name(w->module, stet_python_field(a, up, PY_FIELD_FUNCTION), room);
            if (stet_python_library_meaning(name) == PY_MEANS_MAKES_TEXT)
                return true;
            if (stet_python_callee_object(w->module, up) == 0 &&
                !stet_view_starts(name, "builtins."))
                return false;
            break;
        case PY_SUBSCRIPT:
        case PY_ATTRIBUTE:
        case PY_BINARY:
        case PY_TUPLE:
        case PY_LIST:
        case PY_PARENTHESIZED:
        case PY_ARGUMENTS:
            break;
        default:
            return false;
        }
    }
    return false;
}

stet_python_ref lint_assigned_to(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref up = w->module->parents[n];

    while (up && stet_python_kind(a, up) != PY_ASSIGNMENT && stet_python_kind(a, up) != PY_BLOCK &&
           stet_python_kind(a, up) != PY_LAMBDA)
        up = w->module->parents[up];
    return stet_python_kind(a, up) == PY_ASSIGNMENT ? stet_python_field(a, up, PY_FIELD_LEFT) : 0;
}

/* Does the block end the loop, or the function with it? */
static bool ends_loop(const struct stet_flow_walk *w, stet_python_ref block)
{
    for (stet_python_ref c = block; block && stet_flow_within(w, c, block); c++)
        if (w->ast->nodes[c].kind == PY_BREAK || w->ast->nodes[c].kind == PY_RETURN)
            return true;
    return false;
}

bool lint_decides_end(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t name = stet_python_name(a, lint_assigned_to(w, n));

    for (stet_python_ref c = w->outer_loop; w->outer_loop && stet_flow_within(w, c, w->outer_loop);
         c++) {
        stet_python_ref test = 0;

        if (a->nodes[c].kind == PY_IF || a->nodes[c].kind == PY_WHILE)
            test = stet_python_field(a, c, PY_FIELD_CONDITION);
        if (!test || !(name ? lint_holds_name(w, test, name)
                            : a->nodes[n].start >= a->nodes[test].start &&
                                  a->nodes[n].end <= a->nodes[test].end))
            continue;
        if (a->nodes[c].kind == PY_WHILE ||
            ends_loop(w, stet_python_field(a, c, PY_FIELD_CONSEQUENCE)))
            return true;
    }
    return false;
}

/* n = x.item() … torch._check(n > 0), or torch.cond(x.item(), …): written for torch.export, which
 * keeps the number a symbol. */
static bool is_symbol(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = lint_assigned_to(w, n);
    char room[160];

    for (stet_python_ref up = m->parents[n]; up && stet_python_kind(a, up) != PY_BLOCK;
         up = m->parents[up])
        if (stet_python_kind(a, up) == PY_CALL &&
            stet_python_library_meaning(stet_python_imported(
                m, stet_python_field(a, up, PY_FIELD_FUNCTION), room)) == PY_MEANS_TAKES_SYMBOL)
            return true;
    return lint_holds_asserted(w, left);
}

/* Does every step in this loop end in a loop inside it? Then the loop counts epochs, and what it
 * reads itself is read once in many steps. */
static bool counts_epochs(const struct stet_flow_walk *w)
{
    bool inside = false;

    for (stet_python_ref c = w->loop; w->step_loops && stet_flow_within(w, c, w->loop); c++) {
        if (stet_python_kind(w->ast, c) != PY_CALL || !stet_flow_ends_step(w, c))
            continue;
        if (stet_python_loop_around(w->module, c) == w->loop)
            return false;
        inside = true;
    }
    return inside;
}

static void report_sync(struct stet_flow_walk *w, stet_python_ref n, uint8_t lanes,
                        enum lint_mode mode, uint64_t deps)
{
    if ((w->step_loops && w->periodic) || w->asked)
        return; /* not at every step: logging-branch reports it; a debug switch: the user asks */
    if (is_in_message_of_branch(w, n) || counts_epochs(w))
        return;
    if (becomes_text(w, n) || is_returned(w, n) || converts_itself(w, n) || is_symbol(w, n))
        lanes &= (uint8_t)~FLOW_MODULE;
    lint_minor(lint_report(w, LINT_RULE_host_sync, n, lanes, mode, deps,
                           "`%.*s` needs the values of a tensor", STET_FMT(lint_quote(w, n))),
               w->loops && lint_decides_end(w, n) ? LINT_PART
               : w->branches && !w->step_loops    ? LINT_MINOR_STEP
                                                  : LINT_FULL);
}

/* x.cpu().numpy(): is the next method of the copy one that reads it? */
static bool is_read_next(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref up = w->module->parents[n], call = up ? w->module->parents[up] : 0;
    char room[160];
    enum stet_python_effect effect;

    if (stet_python_kind(a, up) != PY_ATTRIBUTE || stet_python_kind(a, call) != PY_CALL)
        return false;
    effect = stet_python_library_method(stet_python_library_callee(w->module, call, room));
    return effect == PY_GIVES_SCALAR || effect == PY_GIVES_ARRAYS || effect == PY_GIVES_HOSTED;
}

/* x.item(), x.tolist(), x.cpu(), x.numpy(), x.to("cpu") */
static bool sync_method(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref object = stet_python_callee_object(w->module, n),
                    first = stet_python_argument(w->module, n, 0);
    char room[160];
    enum stet_python_effect effect =
        stet_python_library_method(stet_python_library_callee(w->module, n, room));
    struct stet_flow_value v;
    uint8_t lanes = FLOW_TRACED;

    if (!object)
        return false;
    v = stet_flow_value_of(w, object);
    if (effect == PY_GIVES_MOVES && stet_view_is(stet_python_string(w->ast, first), "cpu"))
        effect = PY_GIVES_HOSTED;
    if (effect != PY_GIVES_SCALAR && effect != PY_GIVES_ARRAYS && effect != PY_GIVES_HOSTED)
        return false;
    if (lint_sync_eager(w, n, v))
        return true;
    if (effect == PY_GIVES_HOSTED && is_read_next(w, n))
        return true;               /* x.cpu().numpy() is reported as a whole */
    if (effect == PY_GIVES_HOSTED) /* torch.compile has an operation that copies */
        lanes &= (uint8_t)~(FLOW_MODULE | FLOW_TORCH);
    if (v.kind == FLOW_V_TENSOR && v.deps && !(v.flags & FLOW_TREE))
        report_sync(w, n, lint_lanes_reading(v) & lanes, LINT_TENSOR, v.deps);
    else if (effect != PY_GIVES_ARRAYS && !first && v.kind == FLOW_V_UNKNOWN &&
             (w->facts & (FLOW_USES_TORCH | FLOW_USES_JAX)))
        report_sync(w, n, lanes, LINT_ANY, 0);
    return true;
}

/* Does the function only look at the type or the shape of its argument? np.result_type(x) */
static bool asks_no_value(struct stet_view dotted)
{
    enum stet_python_effect effect = stet_python_library(dotted);

    return stet_view_starts(dotted, "numpy.") && !stet_view_starts(dotted, "numpy.random.") &&
           (effect == PY_GIVES_HOST || effect == PY_GIVES_RANK || effect == PY_GIVES_SIZE);
}

static bool sync_function(struct stet_flow_walk *w, stet_python_ref n)
{
    char room[160], called_room[160];
    struct stet_view dotted =
        stet_python_imported(w->module, stet_python_field(w->ast, n, PY_FIELD_FUNCTION), room);
    enum stet_python_effect effect =
        dotted.len
            ? stet_python_library(dotted)
            : stet_python_library_method(stet_python_library_callee(w->module, n, called_room));

    if (effect == PY_GIVES_WAITS && !w->asked && !(w->step_loops && w->periodic)) {
        lint_report(w, LINT_RULE_host_sync, n, FLOW_TRACED, LINT_ANY, 0,
                    "`%.*s` waits until the device has finished", STET_FMT(lint_quote(w, n)));
        return true;
    }
    if (effect == PY_GIVES_WAITS)
        return true;
    if (dotted.len && effect == PY_GIVES_ARRAYS) {
        report_sync(w, n, FLOW_TRACED, LINT_ANY, 0);
        return true;
    }
    if (stet_python_library_meaning(dotted) == PY_MEANS_ENDS_STEP && !w->step_loops) {
        lint_report(w, LINT_RULE_host_sync, n, FLOW_TRACED & ~FLOW_XLA, LINT_ANY, 0,
                    "`%.*s` ends the step in the middle of it", STET_FMT(lint_quote(w, n)));
        return true;
    }
    if (asks_no_value(dotted) || stet_view_starts(dotted, "numpy.random."))
        return true; /* traced-side-effect reports the random numbers */
    if (stet_view_starts(dotted, "numpy.") || stet_view_starts(dotted, "math.") ||
        stet_view_starts(dotted, "scipy.")) {
        for (unsigned i = 0; stet_python_argument(w->module, n, i); i++) {
            struct stet_flow_value v = stet_flow_value_of(w, stet_python_argument(w->module, n, i));

            if (stet_flow_is_tensor(v) && !(v.flags & (FLOW_GUESS | FLOW_TREE))) {
                report_sync(w, n,
                            stet_python_library_meaning(dotted) == PY_MEANS_CALLS_METHOD
                                ? FLOW_TRACED & ~(FLOW_JAX | FLOW_FLAX) /* that one is traced */
                                : FLOW_TRACED,
                            LINT_TENSOR, v.deps);
                return true;
            }
        }
    }
    return false;
}

/* config.size, params["size"] */
static bool is_field(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    enum stet_python_kind kind = stet_python_kind(a, n = stet_python_bare(a, n));
    stet_python_ref value = kind == PY_SUBSCRIPT ? stet_python_field(a, n, PY_FIELD_VALUE) : 0;

    return kind == PY_ATTRIBUTE ||
           (value && stet_python_kind(a, stet_python_next(a, value)) == PY_STRING);
}

/* int(x), float(x), bool(x), complex(x) */
static bool is_cast(const struct stet_flow_walk *w, stet_python_ref call)
{
    char room[160];
    struct stet_view name =
        stet_python_full_name(w->module, stet_python_field(w->ast, call, PY_FIELD_FUNCTION), room);

    return stet_view_starts(name, "builtins.") && stet_python_library(name) == PY_GIVES_SCALAR;
}

void rule_host_sync(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref first = stet_python_argument(w->module, n, 0);
    struct stet_flow_value v;

    if (sync_method(w, n) || sync_function(w, n) || !first || !is_cast(w, n))
        return;
    v = stet_flow_value_of(w, first);
    if (lint_sync_eager(w, n, v))
        return;
    /* In JAX, a field of a tree that is cast is a Python number: else tracing fails. */
    if (stet_flow_is_tensor(v) && !(v.flags & (FLOW_GUESS | FLOW_TREE)))
        report_sync(w, n,
                    is_field(w, first) ? FLOW_TRACED & ~(FLOW_JAX | FLOW_FLAX)
                                       : lint_needing_lanes(v) & lint_lanes_reading(v),
                    LINT_TENSOR, v.deps);
}

/* Tensors among what is printed, f-strings opened up. */
static uint64_t printed_tensors(struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    uint64_t deps = 0;

    for (stet_python_ref c = args ? stet_python_child(a, args) : 0; c; c = stet_python_next(a, c)) {
        struct stet_flow_value v = stet_flow_value_of(w, c);

        if (stet_flow_is_tensor(v) && !(v.flags & FLOW_GUESS))
            deps |= v.deps;
        if (stet_python_kind(a, c) != PY_STRING)
            continue;
        for (stet_python_ref i = stet_python_child(a, c); i; i = stet_python_next(a, i)) {
            v = stet_python_kind(a, i) == PY_INTERPOLATION && stet_python_child(a, i)
                    ? stet_flow_value_of(w, stet_python_child(a, i))
                    : (struct stet_flow_value){0};
            if (stet_flow_is_tensor(v) && !(v.flags & FLOW_GUESS))
                deps |= v.deps;
        }
    }
    return deps;
}

/* Offers jax.debug.print("{} {}", a, b) for print(a, b), if it is simple to write. */
static void offer_debug_print(struct stet_flow_walk *w, stet_python_ref n, struct lint_candidate *c)
{
    uint32_t jax = stet_python_ast_name(w->ast, "jax");
    stet_python_ref args = stet_python_field(w->ast, n, PY_FIELD_ARGUMENTS);
    struct stet_buf text = STET_BUF_INIT;
    unsigned count = stet_python_argument_count(w->module, n);

    if (!c || !jax || !stet_view_is(w->module->imports[jax], "jax") || !count || count > 6)
        return;
    stet_buf_str(&text, "jax.debug.print(\"");
    for (stet_python_ref a = stet_python_child(w->ast, args); a; a = stet_python_next(w->ast, a)) {
        if (stet_python_kind(w->ast, a) == PY_STRING ||
            stet_python_kind(w->ast, a) == PY_KEYWORD_ARGUMENT ||
            stet_python_kind(w->ast, a) == PY_LIST_SPLAT ||
            stet_python_kind(w->ast, a) == PY_COMMENT) {
            stet_buf_release(&text);
            return;
        }
        stet_buf_str(&text, a == stet_python_child(w->ast, args) ? "{}" : " {}");
    }
    stet_buf_char(&text, '"');
    for (unsigned i = 0; i < count; i++)
        stet_buf_printf(&text, ", %.*s",
                        STET_FMT(stet_python_text(w->ast, stet_python_argument(w->module, n, i))));
    stet_buf_char(&text, ')');
    if (!text.failed)
        c->edit =
            (struct lint_edit){stet_python_at(w->ast, n)->start, stet_python_at(w->ast, n)->end,
                               stet_arena_copy(&w->out->arena, stet_buf_as_view(&text))};
    stet_buf_release(&text);
}

void rule_traced_print(struct stet_flow_walk *w, stet_python_ref n)
{
    bool print = stet_python_call_meaning(w->module, n) == PY_MEANS_PRINTS;
    uint64_t deps = printed_tensors(w, n);

    if (!print && !(deps && stet_python_callee_object(w->module, n) && lint_logs(w, n)))
        return;
    if (w->asked)
        return; /* a debug switch: the user asks for it */
    if (deps)
        offer_debug_print(w, n,
                          lint_report(w, LINT_RULE_traced_print, n, FLOW_TRACED, LINT_TENSOR, deps,
                                      "`%.*s` shows a tensor", STET_FMT(lint_quote(w, n))));
    else if (print)
        lint_report(w, LINT_RULE_traced_print, n, FLOW_TORCH, LINT_ANY, 0,
                    "`%.*s` breaks the graph", STET_FMT(lint_quote(w, n)));
}

/* Is it a side of an operation whose other side is a tensor, or holds one by its name? */
static bool is_operand(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref up = w->module->parents[n], other = 0;

    if (stet_python_kind(a, up) == PY_BINARY)
        other = stet_python_field(a, up, PY_FIELD_LEFT);
    if (other == n)
        other = stet_python_field(a, up, PY_FIELD_RIGHT);
    for (stet_python_ref c = other; other && stet_flow_within(w, c, other); c++) {
        const struct stet_flow_binding *b =
            stet_python_name(a, c) ? stet_flow_lookup(w, w->fn, stet_python_name(a, c)) : NULL;

        if (b && stet_flow_is_tensor(b->value))
            return true;
    }
    return false;
}

/* Is the name used for anything but operations on tensors: a test, a size, an index? */
static bool is_used_otherwise(struct stet_flow_walk *w, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref fn = w->fns[w->fn].node;

    for (stet_python_ref c = fn; name && stet_flow_within(w, c, fn); c++)
        if (stet_python_name(a, c) == name && !is_operand(w, c) &&
            stet_python_kind(a, w->module->parents[c]) != PY_ASSIGNMENT)
            return true;
    return false;
}

/* x * random.uniform(0, 1): torch.compile draws the number itself, and the graph takes it as an
 * input. Where such a number decides a branch or a size, each outcome has a graph. */
static bool enters_graph(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    char room[160];
    struct stet_view name =
        stet_python_imported(w->module, stet_python_field(a, n, PY_FIELD_FUNCTION), room);
    stet_python_ref up = w->module->parents[n];

    if (!stet_python_drawn(name))
        return false;
    if (stet_python_kind(a, up) == PY_ASSIGNMENT) {
        uint32_t to = stet_python_name(a, stet_python_field(a, up, PY_FIELD_LEFT));

        return to && !is_used_otherwise(w, to);
    }
    return is_operand(w, n);
}

void rule_side_effect(struct stet_flow_walk *w, stet_python_ref n)
{
    enum stet_python_meaning meaning =
        stet_python_meaning(w->module, stet_python_field(w->ast, n, PY_FIELD_FUNCTION));
    bool file = meaning == PY_MEANS_OPENS, dice = meaning == PY_MEANS_DRAWS;
    uint8_t lanes;

    if (meaning == PY_MEANS_SEEDS) /* default_rng(0): the same numbers whenever it is traced */
        dice = stet_python_kind(w->ast, stet_python_argument(w->module, n, 0)) != PY_INTEGER;
    if (!dice && !file && meaning != PY_MEANS_ACTS_ON_HOST)
        return;
    if (w->step_loops)
        return; /* the loop itself runs on the host */
    lanes = dice ? FLOW_TRACED & ~FLOW_XLA : FLOW_JAX | FLOW_TORCH;
    if (enters_graph(w, n))
        lanes &= FLOW_JAX | FLOW_FLAX;
    /* A file that is read while tracing gives a constant: usually a setting. */
    lint_minor(lint_report(w, LINT_RULE_side_effect, n, lanes, LINT_ANY, 0,
                           "`%.*s` happens on the host, and not in the compiled program",
                           STET_FMT(lint_quote(w, n))),
               file ? LINT_MINOR : LINT_FULL);
}

void rule_barrier(struct stet_flow_walk *w, stet_python_ref n)
{
    if (!w->loops || w->branches > w->loops || !(w->facts & (FLOW_USES_XLA | FLOW_USES_JAX)))
        return;
    if (stet_python_call_meaning(w->module, n) == PY_MEANS_BARRIER)
        lint_report(w, LINT_RULE_barrier, n, 0, LINT_ANY, 0,
                    "every turn of the loop waits in `%.*s`", STET_FMT(lint_quote(w, n)));
}
