/* Rules about PyTorch's training loops: counters, gradients, optimizers, checkpoints. */
#include "lint/rules.h"

/* Registered as a buffer, or a tensor from the start: not a Python number. */
static bool is_buffer(const struct stet_flow_walk *w, uint32_t owner, struct stet_view name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref c = w->classes[owner].node, end = c;

    for (c++; stet_flow_within(w, c, end); c++) {
        if (a->nodes[c].kind == PY_CALL &&
            stet_view_eq(stet_python_string(a, stet_python_argument(w->module, c, 0)), name) &&
            stet_python_call_meaning(w->module, c) == PY_MEANS_REGISTERS_BUFFER)
            return true;
        if (a->nodes[c].kind == PY_ASSIGNMENT) {
            stet_python_ref left = stet_python_field(a, c, PY_FIELD_LEFT),
                            right = stet_python_field(a, c, PY_FIELD_RIGHT);

            if (stet_python_kind(a, left) == PY_ATTRIBUTE &&
                stet_python_kind(a, right) == PY_CALL &&
                stet_view_eq(stet_python_text(a, stet_python_field(a, left, PY_FIELD_ATTRIBUTE)),
                             name))
                return true;
        }
    }
    return false;
}

/* while need > self.end: self.end *= 2 — it grows at times, and does not count calls. */
static bool grows_to_fit(const struct stet_flow_walk *w, stet_python_ref n, struct stet_view name)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;
    stet_python_ref up = m->parents[n], test;

    while (up && stet_python_kind(a, up) != PY_WHILE && stet_python_kind(a, up) != PY_FUNCTION)
        up = m->parents[up];
    test = stet_python_kind(a, up) == PY_WHILE ? stet_python_field(a, up, PY_FIELD_CONDITION) : 0;
    for (stet_python_ref c = test; test && stet_flow_within(w, c, test); c++)
        if (a->nodes[c].kind == PY_ATTRIBUTE && stet_view_eq(stet_python_text(a, c), name))
            return true;
    return false;
}

bool lint_is_undone(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref fn = stet_python_function_around(w->module, n);
    char op = a->nodes[n].op;
    struct stet_view name = stet_python_text(a, stet_python_field(a, n, PY_FIELD_LEFT)),
                     by = stet_python_text(a, stet_python_field(a, n, PY_FIELD_RIGHT));

    for (stet_python_ref c = fn;
         a->nodes[n].kind == PY_AUGMENTED && fn && stet_flow_within(w, c, fn); c++)
        if (a->nodes[c].kind == PY_AUGMENTED && a->nodes[c].op == (op == '+' ? '-' : '+') &&
            stet_view_eq(stet_python_text(a, stet_python_field(a, c, PY_FIELD_LEFT)), name) &&
            stet_view_eq(stet_python_text(a, stet_python_field(a, c, PY_FIELD_RIGHT)), by))
            return true;
    return false;
}

static void report_counter(struct stet_flow_walk *w, stet_python_ref n, struct stet_view name)
{
    if (lint_is_undone(w, n))
        return;
    lint_report(w, LINT_RULE_python_counter, n, FLOW_TRACED, LINT_ANY, 0,
                "`%.*s` is a Python number that changes at each call", STET_FMT(name));
}

void rule_python_counter(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT),
                    right = stet_python_field(a, n, PY_FIELD_RIGHT);
    struct stet_flow_value v;
    uint32_t owner;

    if (!left || !right || w->step_loops)
        return;
    if (stet_python_kind(a, n) == PY_ASSIGNMENT) { /* self.n = self.n + 1 */
        stet_python_ref inner = stet_python_kind(a, right) == PY_BINARY
                                    ? stet_python_field(a, right, PY_FIELD_LEFT)
                                    : 0;

        if (stet_python_kind(a, left) != PY_ATTRIBUTE || !inner ||
            !stet_view_eq(stet_python_text(a, left), stet_python_text(a, inner)))
            return;
        right = stet_python_field(a, right, PY_FIELD_RIGHT);
    }
    v = stet_flow_value_of(w, right);
    if (v.kind != FLOW_V_PYTHON || stet_python_kind(a, right) == PY_STRING ||
        stet_python_kind(a, right) == PY_LIST || stet_python_kind(a, right) == PY_TUPLE)
        return;
    if (stet_python_kind(a, left) == PY_IDENTIFIER) {
        uint32_t name = stet_python_name(a, left);

        if (w->fn && w->global_writes[name] && !stet_flow_scope_find(&w->fns[w->fn].scope, name))
            report_counter(w, n, stet_python_text(a, left));
        return;
    }
    owner = stet_python_kind(a, left) == PY_ATTRIBUTE
                ? stet_flow_self_class(w, stet_python_field(a, left, PY_FIELD_OBJECT))
                : FLOW_NONE;
    if (owner == FLOW_NONE)
        return;
    if (grows_to_fit(w, n, stet_python_text(a, left)))
        return;
    if (!is_buffer(w, owner, stet_python_text(a, stet_python_field(a, left, PY_FIELD_ATTRIBUTE))))
        report_counter(w, n, stet_python_text(a, left));
}

/* Offers keyword=value as an argument of the call. */
static void offer_keyword(struct stet_flow_walk *w, stet_python_ref call, struct lint_candidate *c,
                          const char *text)
{
    stet_python_ref args = stet_python_field(w->ast, call, PY_FIELD_ARGUMENTS);
    uint32_t close = args ? stet_python_at(w->ast, args)->end : 0;
    bool empty = args && !stet_python_child(w->ast, args);

    if (!c || !close || w->ast->text.ptr[close - 1] != ')')
        return;
    close--;
    while (close && (w->ast->text.ptr[close - 1] == ' ' || w->ast->text.ptr[close - 1] == '\n'))
        close--;
    if (close && w->ast->text.ptr[close - 1] == ',')
        empty = true;
    c->edit = (struct lint_edit){
        close, close, stet_arena_printf(&w->out->arena, "%s%s", empty ? "" : ", ", text)};
}

static void offer_replace(struct stet_flow_walk *w, struct lint_candidate *c, stet_python_ref n,
                          const char *text)
{
    if (c)
        c->edit =
            (struct lint_edit){stet_python_at(w->ast, n)->start, stet_python_at(w->ast, n)->end,
                               stet_arena_copy(&w->out->arena, stet_view_str(text))};
}

/* Do several calls of backward add to one gradient: in a loop inside this one, or because the
 * optimizer takes its step in some turns only? */
static bool accumulates(const struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    bool sometimes;

    for (stet_python_ref c = w->loop + 1; stet_flow_within(w, c, w->loop); c++) {
        if (a->nodes[c].kind == PY_FOR && stet_flow_computes_gradients(w, c) &&
            !stet_flow_clears_gradients(w, c))
            return true;
    }
    return stet_flow_computes_gradients(w, w->loop) && stet_flow_updates(w, w->loop, &sometimes) &&
           sometimes;
}

void rule_grad_accumulate(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref kept = stet_python_keyword(w->module, n, STET_VIEW("set_to_none"));
    struct lint_candidate *c;

    if (!w->loops || !(w->facts & FLOW_USES_XLA) ||
        (kept && stet_python_kind(w->ast, kept) != PY_TRUE))
        return;
    if (!stet_flow_call_clears(w, n) || !accumulates(w))
        return;
    c = lint_report(w, LINT_RULE_grad_accumulate, n, 0, LINT_ANY, 0,
                    "`%.*s` drops the gradients, so the next micro-step creates them",
                    STET_FMT(lint_quote(w, n)));
    if (kept)
        offer_replace(w, c, kept, "False");
    else
        offer_keyword(w, n, c, "set_to_none=False");
}

/* Does a turn of the loop only add to gradients, because the optimizer takes its step after the
 * loop or in some turns? `step` is the compiled function that a turn calls, or FLOW_NONE. */
static bool is_micro_loop(const struct stet_flow_walk *w, stet_python_ref loop, uint32_t step)
{
    bool sometimes, inside;
    bool gradients = stet_flow_computes_gradients(w, loop) ||
                     (step != FLOW_NONE && stet_flow_computes_gradients(w, w->fns[step].node));

    if (!gradients || (step != FLOW_NONE && stet_flow_updates(w, w->fns[step].node, &inside)))
        return false;
    return !stet_flow_updates(w, loop, &sometimes) || sometimes;
}

void rule_micro_step(struct stet_flow_walk *w, stet_python_ref n)
{
    uint32_t step = FLOW_NONE;
    stet_python_ref call = n;
    enum stet_python_meaning meaning;
    bool region = stet_python_kind(w->ast, n) == PY_WITH;

    if (!w->loop || !(w->facts & FLOW_USES_XLA))
        return;
    if (region) {
        stet_python_ref item =
            stet_python_child(w->ast, stet_python_child_of(w->ast, n, PY_WITH_CLAUSE));

        call = item ? stet_python_field(w->ast, item, PY_FIELD_VALUE) : 0;
        if (stet_python_kind(w->ast, call) != PY_CALL)
            return;
    }
    meaning = stet_python_call_meaning(w->module, call);
    if (meaning != PY_MEANS_ENDS_STEP && meaning != PY_MEANS_STEP_REGION) {
        struct stet_flow_value f =
            stet_flow_value_of(w, stet_python_field(w->ast, call, PY_FIELD_FUNCTION));

        if (f.kind != FLOW_V_JITTED || w->jits[f.index].lane != FLOW_XLA)
            return;
        step = w->jits[f.index].fn;
    } else if (meaning == PY_MEANS_STEP_REGION && !region) {
        return;
    }
    if (w->branches > w->loops)
        return;
    if (is_micro_loop(w, w->loop, step))
        lint_report(w, LINT_RULE_micro_step, region ? call : n, 0, LINT_ANY, 0,
                    "`%.*s` closes a program at every micro-step", STET_FMT(lint_quote(w, call)));
}

/* optimizer.param_groups[0], the name of a loop over optimizer.param_groups, or a name for them */
static bool is_group(const struct stet_flow_walk *w, stet_python_ref n, unsigned depth)
{
    enum { DEEPEST = 4 };
    const struct stet_python_module *m = w->module;
    uint32_t name = stet_python_name(w->ast, n);

    if (!name)
        return stet_flow_holds_groups(w, n);
    for (uint32_t i = m->first_binding[name]; i && depth < DEEPEST && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next)
        if (is_group(w, m->bindings.items[i - 1].value, depth + 1))
            return true;
    return false;
}

static void report_lr_write(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT), key;

    if (stet_python_kind(a, left) != PY_SUBSCRIPT || !w->loops ||
        !is_group(w, stet_python_field(a, left, PY_FIELD_VALUE), 0))
        return;
    key = stet_python_next(a, stet_python_field(a, left, PY_FIELD_VALUE));
    if (!key || !stet_view_is(stet_python_string(a, key), "lr") ||
        stet_flow_is_tensor(stet_flow_value_of(w, stet_python_field(a, n, PY_FIELD_RIGHT))))
        return;
    lint_report(w, LINT_RULE_optimizer_scalar, n, 0, LINT_ANY, 0,
                "the learning rate is a new Python number at each step");
}

/* optax.adamw(rate) with a rate that is a static argument; optimizer.step() of a scheduled rate. */
static void scalar_in_step(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref object = stet_python_callee_object(w->module, n),
                    rate = stet_python_argument(w->module, n, 0);
    struct stet_flow_binding *b =
        object ? stet_flow_lookup(w, w->fn, stet_python_name(w->ast, object)) : NULL;
    char room[160];

    if (!rate)
        rate = stet_python_keyword(w->module, n, STET_VIEW("learning_rate"));
    if (rate && stet_python_call_meaning(w->module, n) == PY_MEANS_TAKES_RATE) {
        lint_report(w, LINT_RULE_optimizer_scalar, n, FLOW_JAX, LINT_STATIC,
                    stet_flow_value_of(w, rate).deps & ~FLOW_ALWAYS,
                    "the rate of `%.*s` is a Python argument, baked in",
                    STET_FMT(lint_quote(w, n)));
        return;
    }
    if (!b || !(w->facts & FLOW_USES_SCHEDULER) || !b->value.from ||
        stet_python_library_method(stet_python_library_callee(w->module, n, room)) !=
            PY_GIVES_STEPS)
        return;
    if (stet_python_kind(w->ast, b->value.from) == PY_CALL) {
        stet_python_ref lr = stet_python_keyword(w->module, b->value.from, STET_VIEW("lr"));

        if (stet_flow_call_effect(w, b->value.from) == PY_GIVES_OPTIMIZER &&
            stet_python_kind(w->ast, lr) != PY_CALL)
            lint_report(w, LINT_RULE_optimizer_scalar, n, FLOW_TORCH, LINT_ANY, 0,
                        "a scheduler changes the rate of `%.*s`, a Python number",
                        STET_FMT(lint_quote(w, object)));
    }
}

void rule_optimizer_scalar(struct stet_flow_walk *w, stet_python_ref n)
{
    struct lint_candidate *c;
    stet_python_ref kept;

    if (stet_python_kind(w->ast, n) == PY_CALL)
        scalar_in_step(w, n);
    if (!(w->facts & (FLOW_USES_XLA | FLOW_COMPILES_OPTIMIZER)))
        return;
    if (stet_python_kind(w->ast, n) == PY_ASSIGNMENT) {
        report_lr_write(w, n);
        return;
    }
    if (stet_python_call_meaning(w->module, n) != PY_MEANS_CAPTURABLE)
        return;
    kept = stet_python_keyword(w->module, n, STET_VIEW("capturable"));
    if (kept && stet_python_kind(w->ast, kept) != PY_FALSE)
        return;
    if (stet_python_child_of(w->ast, stet_python_field(w->ast, n, PY_FIELD_ARGUMENTS),
                             PY_DICT_SPLAT))
        return;
    c = lint_report(w, LINT_RULE_optimizer_scalar, n, 0, LINT_ANY, 0,
                    "%.*s without capturable=True counts its steps in Python%s",
                    STET_FMT(stet_python_callee(w->module, n)),
                    w->facts & FLOW_USES_SCHEDULER ? ", and a scheduler changes its lr" : "");
    if (kept)
        offer_replace(w, c, kept, "True");
    else
        offer_keyword(w, n, c, "capturable=True");
}

/* Is the object made without storage (device "meta")? Then nothing is replaced. */
static bool is_made_empty(const struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref fn = w->fns[w->fn].node;

    for (stet_python_ref c = fn; w->fn && stet_flow_within(w, c, fn); c++)
        if (a->nodes[c].kind == PY_STRING && stet_view_is(stet_python_string(a, c), "meta"))
            return true;
    return false;
}

/* state = model.state_dict() … model.load_state_dict(state): the tensors that it has, or had. */
static bool loads_own_state(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref made = stet_flow_local_value(w, stet_python_argument(w->module, n, 0));
    stet_python_ref of = stet_python_callee_object(w->module, n);

    return stet_python_kind(a, made) == PY_CALL && of &&
           stet_view_eq(stet_python_text(a, stet_python_callee_object(w->module, made)),
                        stet_python_text(a, of));
}

void rule_load_assign(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref assign = stet_python_keyword(w->module, n, STET_VIEW("assign"));

    if (!assign || !(w->facts & FLOW_USES_XLA) || stet_python_kind(w->ast, assign) != PY_TRUE ||
        stet_python_call_meaning(w->module, n) != PY_MEANS_LOADS_STATE || is_made_empty(w) ||
        loads_own_state(w, n))
        return;
    offer_replace(w,
                  lint_report(w, LINT_RULE_load_assign, n, 0, LINT_ANY, 0,
                              "the checkpoint's tensors replace the parameters on the device"),
                  assign, "False");
}

static void report_stacked(struct stet_flow_walk *w, stet_python_ref at)
{
    lint_report(w, LINT_RULE_compile_on_xla, at, 0, LINT_ANY, 0,
                "torch.compile in a file that runs on PyTorch/XLA");
}

/* Is torch_xla imported whenever the file is? Under a condition, the file also runs without it. */
static bool always_has_xla(const struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = stet_python_child(a, 0); c; c = stet_python_next(a, c)) {
        enum stet_python_kind kind = stet_python_kind(a, c);
        struct stet_view text = stet_python_text(a, c);

        if ((kind == PY_IMPORT && stet_view_starts(text, "import torch_xla")) ||
            (kind == PY_IMPORT_FROM && stet_view_starts(text, "from torch_xla")))
            return true;
    }
    return false;
}

void rule_compile_on_xla(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_value v = stet_flow_value_of(w, n);
    stet_python_ref call, backend;

    if (!(w->facts & FLOW_USES_TORCH_XLA) || v.kind != FLOW_V_JITTED ||
        w->jits[v.index].lane != FLOW_TORCH || !always_has_xla(w))
        return;
    call = w->jits[v.index].node;
    backend = call ? stet_python_keyword(w->module, call, STET_VIEW("backend")) : 0;
    if (backend && !stet_view_is(stet_python_string(w->ast, backend), "inductor"))
        return;
    report_stacked(w, n);
}

static bool compiled_file(const struct stet_flow_walk *w)
{
    return (w->facts & (FLOW_USES_XLA | FLOW_USES_COMPILE)) || w->jit_count;
}

static bool is_loader(const struct stet_flow_walk *w, stet_python_ref call)
{
    return stet_python_call_meaning(w->module, call) == PY_MEANS_BATCHES;
}

static bool is_shuffled(const struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref shuffle = stet_python_keyword(w->module, call, STET_VIEW("shuffle"));

    if (!shuffle)
        shuffle = stet_python_argument(w->module, call, 2);
    return stet_python_keyword(w->module, call, STET_VIEW("sampler")) ||
           (shuffle && stet_python_kind(w->ast, shuffle) != PY_FALSE);
}

/* Data that is shuffled or sampled is for training. A loader that reads its data in order, in a
 * file that also has a shuffling one, is for evaluation: its last batch comes once per pass. */
static bool is_for_training(struct stet_flow_walk *w, stet_python_ref call)
{
    if (is_shuffled(w, call))
        return true;
    for (stet_python_ref c = 1; stet_flow_within(w, c, 0); c++)
        if (w->ast->nodes[c].kind == PY_CALL && c != call && is_loader(w, c) && is_shuffled(w, c))
            return false;
    return true;
}

/* DataLoader(data, batch_size=len(data)): one batch, and no rest. */
static bool takes_all(const struct stet_flow_walk *w, stet_python_ref call, stet_python_ref size)
{
    stet_python_ref data = stet_python_argument(w->module, call, 0);

    return data && stet_python_kind(w->ast, size) == PY_CALL &&
           stet_python_call_meaning(w->module, size) == PY_MEANS_LENGTH &&
           stet_view_eq(stet_python_text(w->ast, stet_python_argument(w->module, size, 0)),
                        stet_python_text(w->ast, data));
}

static void loader_last_batch(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref size = stet_python_keyword(w->module, n, STET_VIEW("batch_size"));

    if (!is_loader(w, n) || !compiled_file(w) ||
        stet_python_keyword(w->module, n, STET_VIEW("drop_last")) ||
        stet_python_keyword(w->module, n, STET_VIEW("batch_sampler")))
        return;
    if (!size)
        size = stet_python_argument(w->module, n, 1);
    if (!size || stet_python_kind(w->ast, size) == PY_NONE_ ||
        stet_python_integer(w->module, size) == 1 || takes_all(w, n, size) ||
        stet_python_child_of(w->ast, stet_python_field(w->ast, n, PY_FIELD_ARGUMENTS),
                             PY_DICT_SPLAT))
        return;
    if (!is_for_training(w, n))
        return;
    lint_report(w, LINT_RULE_last_batch, n, 0, LINT_ANY, 0,
                "the loader's last batch may be short: no drop_last");
}

void rule_last_batch(struct stet_flow_walk *w, stet_python_ref n)
{
    lint_fed_short(w, n);
    loader_last_batch(w, n);
}

void rule_dynamic_padding(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref padding = stet_python_keyword(w->module, n, STET_VIEW("padding"));
    bool collator = stet_python_call_meaning(w->module, n) == PY_MEANS_PADS_TO_LONGEST;
    struct stet_view word = padding ? stet_python_string(w->ast, padding) : (struct stet_view){0};

    if (!compiled_file(w) || stet_python_keyword(w->module, n, STET_VIEW("pad_to_multiple_of")))
        return;
    if (!(padding || collator) || !(w->facts & FLOW_FEEDS_BATCHES))
        return;
    if (padding ? stet_python_kind(w->ast, padding) == PY_TRUE || stet_view_is(word, "longest")
                : collator)
        lint_report(w, LINT_RULE_dynamic_padding, n, 0, LINT_ANY, 0,
                    "`%.*s` pads to the longest of each batch",
                    STET_FMT(stet_python_callee(w->module, n)));
}

/* saved = config.limit … config.limit = saved: the function takes the change back. */
static bool is_restored(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref fn = w->fn ? w->fns[w->fn].node : 0;
    struct stet_view target = stet_python_text(a, stet_python_field(a, n, PY_FIELD_LEFT));

    for (stet_python_ref c = fn; fn && stet_flow_within(w, c, fn); c++)
        if (c != n && a->nodes[c].kind == PY_ASSIGNMENT &&
            stet_python_name(a, stet_python_field(a, c, PY_FIELD_RIGHT)) &&
            stet_view_eq(stet_python_text(a, stet_python_field(a, c, PY_FIELD_LEFT)), target))
            return true;
    return false;
}

void rule_recompile_limit(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref right = stet_python_field(w->ast, n, PY_FIELD_RIGHT);
    long value = right ? stet_python_integer(w->module, right) : -1;

    if (value > 8 &&
        stet_python_meaning(w->module, stet_python_field(w->ast, n, PY_FIELD_LEFT)) ==
            PY_MEANS_RECOMPILE_LIMIT &&
        !is_restored(w, n))
        lint_report(w, LINT_RULE_recompile_limit, n, 0, LINT_ANY, 0, "the limit is raised to %ld",
                    value);
}
