/* Rules about branches: on values, on fields, on ranks, on step counts. */
#include "lint/rules.h"

static bool is_number(const struct stet_flow_walk *w, stet_python_ref n)
{
    enum stet_python_kind k = stet_python_kind(w->ast, stet_python_bare(w->ast, n));

    if (k == PY_UNARY)
        k = stet_python_kind(w->ast, stet_python_child(w->ast, stet_python_bare(w->ast, n)));
    return k == PY_INTEGER || k == PY_FLOAT;
}

/* A value that may be a tensor counts when it is compared with a number. */
static bool compared_with_number(const struct stet_flow_walk *w, stet_python_ref n)
{
    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c)) {
        if (is_number(w, c))
            return true;
    }
    return false;
}

/* config.layers > 0: trees hold numbers of the configuration beside their arrays, and tracing fails
 * where such a field is an array. */
static bool reads_field(const struct stet_flow_walk *w, stet_python_ref n)
{
    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c)) {
        if (stet_python_kind(w->ast, stet_python_bare(w->ast, c)) == PY_ATTRIBUTE)
            return true;
    }
    return false;
}

/* An `if` in a loop, with a compiled function called inside. */
static bool chooses_program(struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = stet_python_kind(a, w->statement) == PY_IF && w->loops && !w->periodic
                               ? stet_python_field(a, w->statement, PY_FIELD_CONSEQUENCE)
                               : 0;

    for (stet_python_ref c = body; body && stet_flow_within(w, c, body); c++) {
        uint32_t name = a->nodes[c].kind == PY_CALL
                            ? stet_python_name(a, stet_python_field(a, c, PY_FIELD_FUNCTION))
                            : 0;
        struct stet_flow_binding *b = name ? stet_flow_lookup(w, w->fn, name) : NULL;

        if (b && b->value.kind == FLOW_V_JITTED)
            return true;
    }
    return false;
}

/* isinstance(x, int) and x == 1: the right part has a Python number. */
static bool is_checked(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_bare(a, stet_python_field(a, n, PY_FIELD_LEFT));
    stet_python_ref right = stet_python_field(a, n, PY_FIELD_RIGHT);
    bool container = false;
    stet_python_ref of =
        stet_python_at(a, n)->op == 'a' ? stet_flow_checked_host(w, left, &container) : 0;

    return of && !container && stet_flow_value_of(w, right).deps == stet_flow_value_of(w, of).deps;
}

/* Made on the host by torch: a lazy step does not contain it. */
static bool is_on_host(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    bool host = false;

    for (stet_python_ref c = n; stet_flow_within(w, c, n); c++) {
        struct stet_flow_value v = stet_python_name(a, c) || stet_python_kind(a, c) == PY_CALL
                                       ? stet_flow_value_of(w, c)
                                       : (struct stet_flow_value){0};

        if (stet_flow_value_of(w, c).kind == FLOW_V_SHAPE) { /* x.shape[0], wherever x is */
            uint32_t end = a->nodes[c].end;

            while (c + 1 < a->count && a->nodes[c + 1].start < end)
                c++;
            continue;
        }

        if (stet_flow_is_strong(v) && !(v.f.traits & FLOW_TRAIT_HOST))
            return false;
        host |= v.kind == FLOW_V_TENSOR && (v.f.traits & FLOW_TRAIT_HOST);
    }
    return host;
}

/* Does the call make a part of a model: a class of torch.nn, of this file, or of another one? */
static bool makes_part(const struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_module *m = w->module;
    stet_python_ref f = stet_python_field(w->ast, call, PY_FIELD_FUNCTION), own;
    char room[160];
    struct stet_view dotted = stet_python_imported(m, f, room);

    if (dotted.len)
        return stet_view_starts(dotted, "torch.nn.") || !stet_flow_is_library(dotted);
    own = stet_python_name(w->ast, f) ? stet_python_defined(m, stet_python_function_around(m, call),
                                                            stet_python_name(w->ast, f))
                                      : 0;
    return stet_python_kind(w->ast, own) == PY_CLASS;
}

/* Has the module weights or parts that have? One without is no layer of a model: it prepares data
 * on the host, and what it draws there is no part of a program. */
static bool is_layer(const struct stet_flow_walk *w)
{
    uint32_t fn = w->fn;
    stet_python_ref init;

    while (fn && w->fns[fn].owner == FLOW_NONE)
        fn = w->fns[fn].parent;
    init =
        fn ? stet_python_method(w->module, w->classes[w->fns[fn].owner].node, STET_VIEW("__init__"))
           : 0;
    for (stet_python_ref c = init; init && stet_flow_within(w, c, init); c++)
        if (stet_python_kind(w->ast, c) == PY_CALL && makes_part(w, c))
            return true;
    return !init;
}

/* The lanes that a branch on this value matters to. */
static uint8_t lanes_branching(const struct stet_flow_walk *w, stet_python_ref n,
                               struct stet_flow_value v)
{
    uint8_t lanes = is_on_host(w, n) ? FLOW_TRACED & ~FLOW_XLA : lint_needing_lanes(v);

    if (v.deps == FLOW_ALWAYS && is_on_host(w, n) && !is_layer(w))
        lanes &= (uint8_t)~FLOW_MODULE;
    return lanes;
}

/* def f(x=unset): if x == unset — asks whether the caller gave it. No array is a default. */
static bool asks_for_default(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_child(a, n), right = left ? stet_python_next(a, left) : 0;
    stet_python_ref parameters = w->fns[w->fn].parameters;

    for (stet_python_ref c = parameters ? stet_python_child(a, parameters) : 0;
         c && right && stet_python_kind(a, n) == PY_COMPARISON; c = stet_python_next(a, c)) {
        stet_python_ref given = stet_python_field(a, c, PY_FIELD_VALUE);
        stet_python_ref name = stet_python_field(a, c, PY_FIELD_NAME);
        enum stet_python_kind k = given ? stet_python_kind(a, given) : PY_NONE_;

        if ((k == PY_IDENTIFIER || k == PY_ATTRIBUTE) && name &&
            stet_view_eq(stet_python_text(a, name), stet_python_text(a, left)) &&
            stet_view_eq(stet_python_text(a, given), stet_python_text(a, right)))
            return true;
    }
    return false;
}

/* Reports the first part of a condition that needs a value: the others are read with it. */
static bool branches_on_value(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_value v;

    n = stet_python_bare(a, n);
    switch (stet_python_kind(a, n)) {
    case PY_BOOLEAN:
        return branches_on_value(w, stet_python_field(a, n, PY_FIELD_LEFT)) ||
               (!is_checked(w, n) && branches_on_value(w, stet_python_field(a, n, PY_FIELD_RIGHT)));
    case PY_NOT:
        return branches_on_value(w, stet_python_child(a, n));
    case PY_COMPARISON:
    case PY_CALL:
    case PY_IDENTIFIER:
    case PY_SUBSCRIPT:
    case PY_BINARY:
    case PY_UNARY:
        break;
    default:
        return false;
    }
    v = stet_flow_value_of(w, n);
    if (v.kind == FLOW_V_HOST && (v.f.flags & FLOW_F_DEVICE) && chooses_program(w)) {
        lint_report(w, LINT_RULE_value_branch, n, 0, LINT_ANY, 0,
                    "`%.*s` waits for the device, and decides which program runs",
                    STET_FMT(lint_quote(w, n)));
        return true;
    }
    if (!stet_flow_is_tensor(v) || (v.flags & (FLOW_GUESS | FLOW_TREE)))
        return false;
    if ((v.flags & FLOW_WEAK) && (stet_python_kind(a, n) != PY_COMPARISON ||
                                  !compared_with_number(w, n) || reads_field(w, n)))
        return false;
    if ((w->step_loops && is_on_host(w, n)) || asks_for_default(w, n))
        return false;
    lint_minor(lint_report(w, LINT_RULE_value_branch, n, lanes_branching(w, n, v), LINT_TENSOR,
                           v.deps,
                           "Python branches on `%.*s`, which depends on the values of a tensor",
                           STET_FMT(lint_quote(w, n))),
               w->loops && lint_decides_end(w, n) ? LINT_PART : LINT_FULL);
    return true;
}

void rule_value_branch(struct stet_flow_walk *w, stet_python_ref n)
{
    branches_on_value(w, n);
}

/* Does the function use an item of the object, other than to ask whether it is there? */
static bool uses_items(const struct stet_flow_walk *w, stet_python_ref object)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref fn = w->fns[w->fn].node;
    uint32_t name = stet_python_name(a, object);

    for (stet_python_ref c = fn; name && stet_flow_within(w, c, fn); c++) {
        stet_python_ref value =
            stet_python_kind(a, c) == PY_SUBSCRIPT ? stet_python_field(a, c, PY_FIELD_VALUE) : 0;

        if (value && stet_python_name(a, value) == name &&
            stet_python_kind(a, stet_python_next(a, value)) == PY_STRING)
            return true;
    }
    return !name;
}

/* x = batch.get("x"), and x is then used as if it were always there: it is. */
static bool is_always_there(const struct stet_flow_walk *w, stet_python_ref get)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;
    stet_python_ref assign = m->parents[get], fn = w->fns[w->fn].node, left;
    bool used = false;

    if (stet_python_argument(m, get, 1) || stet_python_kind(a, assign) != PY_ASSIGNMENT)
        return false;
    left = stet_python_field(a, assign, PY_FIELD_LEFT);
    for (stet_python_ref c = fn; stet_python_name(a, left) && stet_flow_within(w, c, fn); c++) {
        if (stet_python_name(a, c) != stet_python_name(a, left) || c == left ||
            a->nodes[c].field == PY_FIELD_ATTRIBUTE)
            continue;
        switch (stet_python_kind(a, m->parents[c])) {
        case PY_ATTRIBUTE:
        case PY_SUBSCRIPT:
        case PY_BINARY:
            used = true;
            break;
        case PY_COMPARISON:
        case PY_NOT:
        case PY_BOOLEAN:
        case PY_IF:
        case PY_ELIF:
        case PY_CONDITIONAL:
            return false; /* a test */
        default:
            break;
        }
    }
    return used;
}

/* Is the test true where this part of it is absent: not x, x is None, "x" not in batch? */
static bool is_negated(const struct stet_flow_walk *w, stet_python_ref part, stet_python_ref test)
{
    const struct stet_python_ast *a = w->ast;
    bool negated = false;

    for (stet_python_ref up = part; up; up = up == test ? 0 : w->module->parents[up]) {
        char op = stet_python_kind(a, up) == PY_COMPARISON ? a->nodes[up].op : 0;

        negated ^= op == 'n' || op == 's' || stet_python_kind(a, up) == PY_NOT;
    }
    return negated;
}

/* if "x" not in batch: raise …, assert "x" in batch, x = batch.get("x") with if x is None: raise …:
 * does the function fail without the field? Then every call that works has it. */
static bool is_required(const struct stet_flow_walk *w, stet_python_ref at, stet_python_ref key)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref fn = w->fns[w->fn].node, up = w->module->parents[at];
    uint32_t name = stet_python_kind(a, up) == PY_ASSIGNMENT
                        ? stet_python_name(a, stet_python_field(a, up, PY_FIELD_LEFT))
                        : 0;

    for (stet_python_ref c = fn; stet_flow_within(w, c, fn); c++) {
        bool fails = a->nodes[c].kind == PY_IF &&
                     stet_flow_fails(w, stet_python_field(a, c, PY_FIELD_CONSEQUENCE));
        stet_python_ref test = fails ? stet_python_field(a, c, PY_FIELD_CONDITION)
                               : a->nodes[c].kind == PY_ASSERT ? stet_python_child(a, c)
                                                               : 0;

        for (stet_python_ref part = test; test && stet_flow_within(w, part, test); part++)
            if (((name && stet_python_name(a, part) == name) ||
                 (a->nodes[part].kind == PY_STRING &&
                  stet_view_eq(stet_python_text(a, part), stet_python_text(a, key)))) &&
                is_negated(w, part, test) == fails)
                return true;
    }
    return false;
}

static void report_key(struct stet_flow_walk *w, stet_python_ref at, stet_python_ref object,
                       stet_python_ref key)
{
    struct stet_flow_value v = stet_flow_value_of(w, object);

    if (stet_python_kind(w->ast, key) != PY_STRING || v.kind != FLOW_V_TENSOR || !v.deps ||
        (v.flags & FLOW_GUESS))
        return;
    if (!w->step_loops && !stet_flow_is_parameter(w, object))
        return; /* made by this code, or a part of a larger structure: the code decides its fields
                 */
    if (stet_python_name(w->ast, object) && (v.flags & FLOW_FIELD) && !(v.flags & FLOW_TREE))
        return; /* for key, value in batch.items(): "image" in key */
    if (is_required(w, at, key))
        return;
    /* Most batches have the same fields from the first step to the last. */
    lint_minor(lint_report(w, LINT_RULE_optional_key, at, FLOW_TRACED,
                           uses_items(w, object) ? LINT_ROOTED : LINT_TENSOR, v.deps,
                           "the program depends on whether `%.*s` has %.*s",
                           STET_FMT(lint_quote(w, object)), STET_FMT(lint_quote(w, key))),
               LINT_MINOR);
}

void rule_optional_key(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    char op;

    n = stet_python_bare(a, n);
    if (stet_python_kind(a, n) == PY_CALL) {
        lint_fed_keys(w, n);
        if (stet_python_argument(w->module, n, 0) &&
            stet_python_call_meaning(w->module, n) == PY_MEANS_LOOKS_UP && !is_always_there(w, n))
            report_key(w, n, stet_python_callee_object(w->module, n),
                       stet_python_argument(w->module, n, 0));
        return;
    }
    if (stet_python_kind(a, n) == PY_BOOLEAN) {
        rule_optional_key(w, stet_python_field(a, n, PY_FIELD_LEFT));
        rule_optional_key(w, stet_python_field(a, n, PY_FIELD_RIGHT));
        return;
    }
    if (stet_python_kind(a, n) == PY_NOT) {
        rule_optional_key(w, stet_python_child(a, n));
        return;
    }
    op = stet_python_at(a, n)->op;
    if (stet_python_kind(a, n) == PY_COMPARISON && (op == 'i' || op == 'n')) {
        stet_python_ref key = stet_python_child(a, n), object = key ? stet_python_next(a, key) : 0;

        if (object)
            report_key(w, n, object, key);
    }
}

/* Is something read back, printed or saved inside the statement? */
static bool statement_reads(const struct stet_flow_walk *w)
{
    stet_python_ref n = w->statement;

    for (stet_python_ref c = n; n && stet_flow_within(w, c, n); c++) {
        if (stet_python_kind(w->ast, c) != PY_CALL)
            continue;
        switch (stet_flow_call_effect(w, c)) {
        case PY_GIVES_SCALAR:
        case PY_GIVES_ARRAYS:
        case PY_GIVES_HOSTED:
        case PY_GIVES_SHOWS:
            return true;
        default:
            break;
        }
    }
    return false;
}

/* A tensor of the step is replaced inside the branch: in a lazy loop, this makes another graph. */
static bool statement_computes(struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = stet_python_field(a, w->statement, PY_FIELD_CONSEQUENCE);

    for (stet_python_ref c = body; body && stet_flow_within(w, c, body); c++) {
        struct stet_flow_binding *b = NULL;

        if (a->nodes[c].kind == PY_ASSIGNMENT || a->nodes[c].kind == PY_AUGMENTED)
            b = stet_flow_scope_find(&w->fns[w->fn].scope,
                                     stet_python_name(a, stet_python_field(a, c, PY_FIELD_LEFT)));
        if (b && stet_flow_is_tensor(b->value) && (b->value.deps & FLOW_ALWAYS) &&
            !(b->value.flags & FLOW_TREE))
            return true;
    }
    return false;
}

/* A lazy step is another program only where the branch computes or reads something. */
static uint8_t lanes_touched(struct stet_flow_walk *w)
{
    return w->step_loops || statement_reads(w) || statement_computes(w) ? FLOW_TRACED
                                                                        : FLOW_TRACED & ~FLOW_XLA;
}

static bool only_raises(const struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = stet_python_field(a, w->statement, PY_FIELD_CONSEQUENCE);

    return body && stet_python_kind(a, stet_python_child(a, body)) == PY_RAISE;
}

void rule_rank_branch(struct stet_flow_walk *w, stet_python_ref n)
{
    if (!stet_flow_asks_rank(w, n) || (w->step_loops && !statement_reads(w)))
        return;
    if (stet_python_kind(w->ast, w->statement) == PY_IF && !w->step_loops &&
        !lint_makes_operations(w, w->statement, 0))
        return; /* it prints, warns or raises */
    if (stet_python_kind(w->ast, w->statement) != PY_IF &&
        stet_python_kind(w->ast, w->statement) != PY_WHILE &&
        stet_python_kind(w->ast, stet_python_bare(w->ast, n)) == PY_IDENTIFIER)
        return;
    lint_report(w, LINT_RULE_rank_branch, n, lanes_touched(w), LINT_ANY, 0,
                "`%.*s` differs between ranks", STET_FMT(lint_quote(w, n)));
}

void rule_logging_branch(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref every;
    uint64_t deps;

    if (!n || stet_python_kind(w->ast, w->statement) != PY_IF)
        return;
    every = stet_flow_every_n(w, n, &deps);
    if (!every || (w->step_loops && !statement_reads(w) && !statement_computes(w)))
        return;
    if (!w->step_loops && w->loops &&
        (stet_flow_value_of(w, stet_python_field(w->ast, every, PY_FIELD_LEFT)).flags &
         FLOW_VARIES))
        return; /* the loop is unrolled: always the same program */
    if (only_raises(w))
        return; /* a check of the configuration */
    lint_report(w, LINT_RULE_logging_branch, n, lanes_touched(w), deps ? LINT_VARYING : LINT_ANY,
                deps, "runs at some steps only: `%.*s`", STET_FMT(lint_quote(w, n)));
}

/* self.flag or config.flag that a loop elsewhere sets */
static bool is_switched(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t object, attribute, owner;

    if (stet_python_kind(a, n) != PY_ATTRIBUTE || !w->moves.count)
        return false;
    object = stet_python_name(a, stet_python_field(a, n, PY_FIELD_OBJECT));
    attribute = stet_python_name(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE));
    owner = stet_flow_self_class(w, stet_python_field(a, n, PY_FIELD_OBJECT));
    if (owner != FLOW_NONE)
        return stet_flow_class_attribute_moved(w, owner, attribute);
    return object && stet_flow_object_attribute_moved(w, object, attribute) &&
           !stet_flow_scope_find(&w->fns[w->fn].scope, object);
}

/* A parameter as it was passed, or a name of a condition: train = step < 8. A number that is
 * computed from a parameter is seldom the one that moves. */
static bool may_switch(struct stet_flow_walk *w, stet_python_ref n,
                       const struct stet_flow_binding *b)
{
    return stet_flow_is_parameter(w, n) || (b->value.from && lint_is_switch(w, b->value.from));
}

/* Parameters that the condition reads as Python values. */
static uint64_t switches(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    uint64_t deps = 0;

    for (stet_python_ref c = n; stet_flow_within(w, c, n); c++) {
        struct stet_flow_binding *b =
            stet_python_name(a, c) && a->nodes[c].field != PY_FIELD_ATTRIBUTE
                ? stet_flow_lookup(w, w->fn, stet_python_name(a, c))
                : NULL;

        if (b && !stet_flow_is_strong(b->value) && may_switch(w, c, b) &&
            (b->value.kind == FLOW_V_PYTHON || b->value.kind == FLOW_V_TENSOR))
            deps |= b->value.deps & ~FLOW_ALWAYS;
    }
    return deps;
}

void rule_late_branch(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref test = stet_python_bare(w->ast, n);
    uint64_t deps;

    lint_donated_one_way(w, n);
    if (stet_python_kind(w->ast, test) == PY_NOT)
        test = stet_python_bare(w->ast, stet_python_child(w->ast, test));
    if (is_switched(w, test)) {
        lint_report(w, LINT_RULE_late_branch, n, FLOW_TRACED, LINT_ANY, 0,
                    "`%.*s` is switched in a loop elsewhere", STET_FMT(lint_quote(w, test)));
        return;
    }
    if (!(w->facts & FLOW_USES_JIT) || stet_flow_every_n(w, n, &deps))
        return;
    if (stet_python_kind(w->ast, test) == PY_CALL &&
        stet_python_call_meaning(w->module, test) == PY_MEANS_CHECKS_TYPE)
        return; /* another value, of the same type */
    if (stet_python_kind(w->ast, test) == PY_COMPARISON &&
        (stet_python_at(w->ast, test)->op == 's' || stet_python_at(w->ast, test)->op == 't'))
        return; /* another number is as little None as the one before */
    deps = switches(w, n);
    if (deps && !stet_flow_holds_shape(w, n)) /* each shape has its own program anyway */
        lint_report(w, LINT_RULE_late_branch, n, FLOW_JAX | FLOW_TORCH | FLOW_XLA, LINT_VARYING,
                    deps, "`%.*s` turns over while the caller's loop runs",
                    STET_FMT(lint_quote(w, n)));
}
