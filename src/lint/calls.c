/* The result of a call, and the call graph of a file. */
#include "lint/rules.h"
#include "lint/walk.h"

#include "base/mem.h"

static const struct lint_value python = {.kind = LINT_V_PYTHON};
static const struct lint_value unknown = {.kind = LINT_V_UNKNOWN};

struct lint_call *lint_add_call(struct lint_walk *w, stet_python_ref at, uint32_t callee,
                                struct stet_view target, uint32_t owner, uint8_t lanes,
                                const char *how)
{
    struct lint_summary *s = w->out;
    struct lint_call *c;

    if (w->quiet && !lanes)
        return NULL;
    if (!lint_room(w, &s->calls, &w->call_room, s->call_count, sizeof *s->calls))
        return NULL;
    if (w->step_loops && !lanes) {
        lanes = LINT_XLA;
        how = "a torch_xla step";
    }
    c = &s->calls[s->call_count++];
    *c = (struct lint_call){.caller = w->fn ? w->fn : LINT_NONE,
                            .callee = callee,
                            .target = callee == LINT_NONE ? stet_arena_copy(&s->arena, target)
                                                          : (struct stet_view){0},
                            .class_index = owner,
                            .lanes = lanes,
                            .in_loop = w->loops != 0,
                            .line = stet_python_at(w->ast, at)->row + 1,
                            .how = stet_view_str(how)};
    return c;
}

/* Records the call's arguments. */
static void pass_arguments(struct lint_walk *w, stet_python_ref call, struct lint_call *c)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    uint32_t count = 0;
    int32_t position = 0;

    if (!c || stet_python_kind(a, args) != PY_ARGUMENTS)
        return;
    for (stet_python_ref n = stet_python_child(a, args); n; n = stet_python_next(a, n))
        count++;
    c->args = STET_NEW_ARRAY(&w->out->arena, struct lint_arg, count + 1);
    if (!c->args)
        return;
    for (stet_python_ref n = stet_python_child(a, args); n; n = stet_python_next(a, n)) {
        struct lint_value v;
        struct lint_arg *arg = &c->args[c->arg_count];

        if (stet_python_kind(a, n) == PY_COMMENT)
            continue;
        if (stet_python_kind(a, n) == PY_LIST_SPLAT || stet_python_kind(a, n) == PY_DICT_SPLAT)
            break;
        v = lint_value_of(w, stet_python_argument_value(w->module, n));
        *arg = (struct lint_arg){.position = -1};
        if (stet_python_kind(a, n) == PY_KEYWORD_ARGUMENT)
            arg->name = stet_arena_copy(
                &w->out->arena, stet_python_text(a, stet_python_field(a, n, PY_FIELD_NAME)));
        else
            arg->position = position++;
        if (v.kind == LINT_V_TENSOR && !((v.flags & LINT_WEAK) && (v.flags & LINT_TREE)))
            arg->deps = v.deps;
        else if (v.kind == LINT_V_PYTHON)
            arg->static_deps = v.deps;
        arg->varies =
            v.kind <= LINT_V_PYTHON && (v.flags & (w->step_loops ? LINT_STEPS : LINT_VARIES));
        c->arg_count++;
    }
}

/* The union of what the arguments are; tensors become "perhaps a tensor". */
static struct lint_value of_arguments(struct lint_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    struct lint_value all = python;
    bool turns = false;

    if (stet_python_kind(a, args) != PY_ARGUMENTS)
        return lint_element(lint_value_of(w, args));
    for (stet_python_ref n = stet_python_child(a, args); n; n = stet_python_next(a, n)) {
        struct lint_value v = lint_value_of(w, stet_python_argument_value(w->module, n));

        if (v.kind != LINT_V_FN && v.kind != LINT_V_JITTED)
            all = lint_join(all, lint_element(v));
        turns |= lint_turns(v);
    }
    all.f.flags |= turns ? LINT_F_TURNS : 0;
    return all;
}

static struct lint_value weakly(struct lint_value v)
{
    if (v.kind != LINT_V_TENSOR)
        return (struct lint_value){.flags = v.kind <= LINT_V_PYTHON ? v.flags & LINT_CHANGES : 0,
                                   .f = {.flags = v.f.flags & LINT_F_TURNS}};
    v.flags = LINT_WEAK | LINT_GUESS;
    v.f = (struct lint_facts){.flags = v.f.flags & (LINT_F_DRIFTS | LINT_F_SHORT | LINT_F_TURNS)};
    return v;
}

/* Translates a value from the callee's terms into the caller's: its parameters' bits become the
 * arguments'. */
static struct lint_value returned(struct lint_walk *w, stet_python_ref call, uint32_t callee)
{
    const struct lint_fn *f = &w->out->fns[callee];
    struct lint_value v = w->fns[callee].returns;
    uint64_t own = 0, deps = 0;
    unsigned skip = f->is_method ? 1 : 0;

    if (w->fns[callee].progress != LINT_DONE)
        return weakly(of_arguments(w, call));
    for (uint32_t i = 0; i < f->param_count && f->first_bit + i < LINT_BITS; i++)
        own |= (uint64_t)1 << (f->first_bit + i);
    if (f->nest == w->out->fns[w->fn].nest)
        deps = v.deps & ~own;
    deps |= v.deps & LINT_ALWAYS;
    for (uint32_t i = skip; i < f->param_count && f->first_bit + i < LINT_BITS; i++) {
        stet_python_ref arg;

        if (!(v.deps & (uint64_t)1 << (f->first_bit + i)))
            continue;
        arg = stet_python_argument(w->module, call, i - skip);
        if (!arg)
            arg = stet_python_keyword(w->module, call, f->params[i]);
        if (arg)
            deps |= lint_value_of(w, arg).deps;
    }
    v.deps = deps;
    if (!deps && v.kind >= LINT_V_TENSOR && v.kind <= LINT_V_HOST)
        v = (struct lint_value){.f = v.f};
    return v;
}

static struct lint_value call_function(struct lint_walk *w, stet_python_ref n, uint32_t callee)
{
    pass_arguments(w, n, lint_add_call(w, n, callee, (struct stet_view){0}, LINT_NONE, 0, ""));
    if (w->fns[callee].progress == LINT_NOT_YET && w->depth < 60)
        lint_run_function(w, callee);
    return returned(w, n, callee);
}

bool lint_is_library(struct stet_view dotted)
{
    static const char *const known[] = {
        "jax.",         "torch.",       "numpy.",      "flax.",      "optax.",     "math.",
        "os.",          "functools.",   "typing.",     "re.",        "logging.",   "time.",
        "random.",      "json.",        "sys.",        "haiku.",     "chex.",      "equinox.",
        "einops.",      "scipy.",       "itertools.",  "torch_xla.", "warnings.",  "copy.",
        "dataclasses.", "collections.", "tensorflow.", "pathlib.",   "shutil.",    "inspect.",
        "contextlib.",  "PIL.",         "enum.",       "tqdm.",      "torch_tpu.", NULL};

    for (const char *const *k = known; *k; k++) {
        if (stet_view_starts(dotted, *k))
            return true;
    }
    return false;
}

/* int(), len(), range() and similar; true when it is one of them. */
static bool call_builtin(struct lint_walk *w, stet_python_ref n, struct stet_view name,
                         struct lint_value *out)
{
    static const char *const reads[] = {"int", "float", "bool",   "complex",
                                        "str", "repr",  "format", NULL};
    static const char *const plain[] = {"isinstance", "issubclass", "hasattr", "type", "callable",
                                        "id",         "print",      "super",   "open", "hash",
                                        "vars",       "dir",        NULL};
    static const char *const through[] = {"max",    "min", "sum",   "abs",   "round",
                                          "divmod", "pow", "range", "slice", NULL};
    static const char *const trees[] = {"enumerate", "zip",  "list",   "tuple", "reversed",
                                        "sorted",    "map",  "filter", "dict",  "set",
                                        "iter",      "next", NULL};
    struct lint_value v = of_arguments(w, n);

    if (lint_any_of(name, reads)) {
        if (v.kind == LINT_V_TENSOR)
            v.kind = LINT_V_HOST;
        *out = v;
    } else if (stet_view_is(name, "len")) {
        if (v.kind == LINT_V_TENSOR)
            v.kind = LINT_V_SHAPE;
        *out = v;
    } else if (lint_any_of(name, plain)) {
        *out = python;
    } else if (lint_any_of(name, through)) {
        *out = v;
    } else if (lint_any_of(name, trees)) {
        if (v.kind == LINT_V_TENSOR)
            v.flags |= LINT_TREE | LINT_WEAK;
        *out = v;
    } else if (stet_view_is(name, "getattr")) {
        *out = unknown;
    } else {
        return false;
    }
    return true;
}

static const char *const bool_names[] = {"any",         "all",         "isnan",
                                         "isinf",       "isfinite",    "eq",
                                         "ne",          "gt",          "lt",
                                         "ge",          "le",          "bool",
                                         "logical_and", "logical_or",  "logical_not",
                                         "logical_xor", "equal",       "not_equal",
                                         "greater",     "less",        "greater_equal",
                                         "less_equal",  "allclose",    "isclose",
                                         "isin",        "array_equal", NULL};
static const char *const dynamic_names[] = {
    "nonzero",  "unique",  "masked_select", "argwhere", "flatnonzero", "unique_consecutive",
    "compress", "extract", "unique_values", NULL};

static uint8_t result_flags(struct stet_view name)
{
    if (lint_any_of(name, bool_names))
        return LINT_BOOL;
    return lint_any_of(name, dynamic_names) ? LINT_DYNAMIC : 0;
}

/* A method of a tensor. */
static struct lint_value call_method(struct lint_walk *w, stet_python_ref n, struct lint_value self,
                                     struct stet_view name)
{
    static const char *const reads[] = {"item",    "tolist",    "numpy", "__bool__",
                                        "__int__", "__float__", NULL};
    static const char *const sizes[] = {"size", "numel", "nelement", "__len__", NULL};
    static const char *const plain[] = {"dim",
                                        "ndimension",
                                        "is_floating_point",
                                        "is_contiguous",
                                        "is_complex",
                                        "get_device",
                                        "element_size",
                                        "stride",
                                        "type",
                                        "is_fully_replicated",
                                        "keys",
                                        "is_sparse",
                                        "data_ptr",
                                        "register_hook",
                                        "get_seq_length",
                                        "get_mask_sizes",
                                        "get_max_cache_shape",
                                        "backward",
                                        NULL};
    static const char *const trees[] = {"items", "values",  "split", "chunk",        "unbind",
                                        "get",   "_asdict", "pop",   "tensor_split", NULL};
    struct lint_value args = of_arguments(w, n);

    if (lint_any_of(name, reads)) {
        self.kind = LINT_V_HOST;
    } else if (lint_any_of(name, sizes)) {
        self.kind = LINT_V_SHAPE;
        w->values[n] = self;
        lint_rules(w, ON_READBACK, n);
    } else if (lint_any_of(name, plain)) {
        return python;
    } else if (lint_any_of(name, trees)) {
        self.flags |= LINT_TREE;
    } else {
        uint8_t weak = self.flags & (LINT_WEAK | LINT_TREE);

        /* .to(), .sum(), …: a method that only tensors have makes it one. */
        if (result_flags(name) || stet_view_is(name, "sum") || stet_view_is(name, "max"))
            weak = weak & LINT_TREE ? weak : 0;
        if (lint_is_strong(args))
            self.deps |= args.deps;
        self.flags = (uint8_t)(weak | result_flags(name));
    }
    return self;
}

/* Functions of the array libraries that return Python values. */
static bool gives_python(struct stet_view dotted, struct stet_view last)
{
    static const char *const lasts[] = {"finfo",
                                        "iinfo",
                                        "dtype",
                                        "device",
                                        "Size",
                                        "result_type",
                                        "promote_types",
                                        "issubdtype",
                                        "isscalar",
                                        "ndim",
                                        "is_tensor",
                                        "is_floating_point",
                                        "is_complex",
                                        "get_default_dtype",
                                        "Generator",
                                        "is_grad_enabled",
                                        "is_autocast_enabled",
                                        "get_autocast_gpu_dtype",
                                        "get_autocast_dtype",
                                        "no_grad",
                                        "enable_grad",
                                        "set_grad_enabled",
                                        "autocast",
                                        "is_inference_mode_enabled",
                                        "inference_mode",
                                        "manual_seed",
                                        "load",
                                        "save",
                                        "canonicalize_dtype",
                                        "iscomplexobj",
                                        "can_cast",
                                        "is_storage",
                                        "broadcast_shapes",
                                        "are_deterministic_algorithms_enabled",
                                        "set_default_dtype",
                                        "float32",
                                        "tree_structure",
                                        NULL};
    static const char *const prefixes[] = {"torch.cuda.",     "torch.distributed.",
                                           "torch.compiler.", "torch.jit.",
                                           "torch._dynamo.",  "torch.backends.",
                                           "torch.utils.",    "torch.nn.Module",
                                           "torch.nn.init.",  "torch.mps.",
                                           "torch.xpu.",      "torch._C.",
                                           "torch.version.",  "torch.onnx.",
                                           "torch.fx.",       "torch.profiler.",
                                           "torch.autograd.", "torch.amp.",
                                           "torch.hub.",      "torch.optim.",
                                           "torch.export.",   NULL};

    if (lint_any_of(last, lasts))
        return true;
    for (const char *const *p = prefixes; *p; p++) {
        if (stet_view_starts(dotted, *p))
            return true;
    }
    /* torch.nn.Linear(…) is a layer, torch.nn.functional.linear a tensor. */
    if (stet_view_starts(dotted, "torch.nn.") && !stet_view_starts(dotted, "torch.nn.functional."))
        return true;
    return false;
}

/* A function of jax, torch or numpy; true when it is one. */
static bool call_library(struct lint_walk *w, stet_python_ref n, struct stet_view dotted,
                         struct lint_value *out)
{
    static const char *const arrays[] = {"jax.numpy.",  "jax.lax.",   "jax.nn.",
                                         "jax.random.", "jax.scipy.", "torch.",
                                         "jax.image.",  "jax.ops.",   NULL};
    struct stet_view last = stet_python_callee(w->module, n);
    struct lint_value args = of_arguments(w, n);

    for (const char *const *p = arrays; *p; p++) {
        if (!stet_view_starts(dotted, *p))
            continue;
        if (gives_python(dotted, last)) {
            *out = python;
        } else if (stet_view_is(last, "shape") || stet_view_is(last, "size") ||
                   stet_view_is(last, "numel")) {
            args.kind = args.kind == LINT_V_TENSOR ? LINT_V_SHAPE : args.kind;
            *out = args;
        } else {
            *out = (struct lint_value){.kind = LINT_V_TENSOR, .deps = LINT_ALWAYS};
            out->flags = result_flags(last);
            if ((stet_view_is(last, "split") || stet_view_is(last, "chunk") ||
                 stet_view_is(last, "unbind")))
                out->flags |= LINT_TREE;
            /* A random key is an array, but code does not branch on its value. */
            if (stet_view_starts(dotted, "jax.lax.axis_") || stet_view_ends(dotted, "PRNGKey"))
                out->flags |= LINT_WEAK;
        }
        return true;
    }
    if (stet_view_starts(dotted, "numpy.") || stet_view_starts(dotted, "math.")) {
        if (args.kind == LINT_V_TENSOR)
            args.kind = LINT_V_HOST;
        *out = args;
        return true;
    }
    return false;
}

/* Functions given to a function we don't know: called there, with values we don't know. */
static void pass_functions(struct lint_walk *w, stet_python_ref call)
{
    stet_python_ref args = stet_python_field(w->ast, call, PY_FIELD_ARGUMENTS);

    for (stet_python_ref n = args ? stet_python_child(w->ast, args) : 0; n;
         n = stet_python_next(w->ast, n)) {
        struct lint_value v = lint_value_of(w, stet_python_argument_value(w->module, n));

        if (v.kind == LINT_V_FN)
            lint_add_call(w, n, v.index, (struct stet_view){0}, LINT_NONE, 0, "");
    }
}

static void eval_arguments(struct lint_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);

    if (stet_python_kind(a, args) != PY_ARGUMENTS) {
        lint_eval(w, args);
        return;
    }
    for (stet_python_ref n = stet_python_child(a, args); n; n = stet_python_next(a, n))
        w->values[n] = lint_eval(w, stet_python_argument_value(w->module, n));
}

/* Calls a name that an import binds: a library's, or a function of another file. */
static struct lint_value call_imported(struct lint_walk *w, stet_python_ref n,
                                       struct stet_view dotted)
{
    struct lint_value out;
    bool known = call_library(w, n, dotted, &out);

    if (!known && !lint_is_library(dotted))
        pass_arguments(w, n, lint_add_call(w, n, LINT_NONE, dotted, LINT_NONE, 0, ""));
    pass_functions(w, n);
    return known ? out : weakly(of_arguments(w, n));
}

static struct lint_value call_attribute(struct lint_walk *w, stet_python_ref n,
                                        stet_python_ref function, struct stet_view dotted)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref object = stet_python_field(a, function, PY_FIELD_OBJECT);
    stet_python_ref attribute = stet_python_field(a, function, PY_FIELD_ATTRIBUTE);
    struct stet_view name = attribute ? stet_python_text(a, attribute) : (struct stet_view){0};
    uint32_t owner = lint_self_class(w, object);
    struct lint_value self, out;

    if (owner != LINT_NONE) {
        uint32_t callee = lint_method(w, owner, stet_python_name(a, attribute));

        if (callee != LINT_NONE)
            return call_function(w, n, callee);
        self = lint_eval(w, function);
        if (self.kind != LINT_V_JITTED)
            pass_arguments(w, n, lint_add_call(w, n, LINT_NONE, name, owner, 0, ""));
        pass_functions(w, n);
        return weakly(of_arguments(w, n));
    }
    if (dotted.len)
        return call_imported(w, n, dotted);
    self = lint_eval(w, object);
    w->values[function] = self;
    if (self.kind == LINT_V_TENSOR && self.deps)
        return call_method(w, n, self, name);
    if (self.kind == LINT_V_HOST || self.kind == LINT_V_SHAPE)
        return self;
    pass_functions(w, n);
    out = weakly(of_arguments(w, n));
    if (self.kind <= LINT_V_PYTHON && out.kind == LINT_V_UNKNOWN && (self.flags & LINT_VARIES)) {
        out.kind = self.kind; /* a method of what varies */
        out.flags |= self.flags & LINT_CHANGES;
    }
    return out;
}

/* A compiled function's result is on the device; its arguments may vary. */
static struct lint_value call_jitted(struct lint_walk *w, stet_python_ref n, uint32_t jit)
{
    uint32_t fn = w->jits[jit].fn;

    if (fn != LINT_NONE && w->fns[fn].progress == LINT_NOT_YET && w->depth < 60)
        lint_run_function(w, fn);
    if (w->jits[jit].fn != LINT_NONE && !w->jits[jit].shifted)
        pass_arguments(
            w, n, lint_add_call(w, n, w->jits[jit].fn, (struct stet_view){0}, LINT_NONE, 0, ""));
    return (struct lint_value){.kind = LINT_V_TENSOR,
                               .deps = LINT_ALWAYS,
                               .flags = LINT_WEAK | LINT_TREE,
                               .f = {.flags = LINT_F_DEVICE}};
}

static struct lint_value call_value(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref function = stet_python_bare(a, stet_python_field(a, n, PY_FIELD_FUNCTION));
    struct stet_view dotted;
    struct lint_value f, out;
    char room[160];

    if (!function)
        return unknown;
    eval_arguments(w, n);
    dotted = stet_python_imported(w->module, function, room);
    if (dotted.len && lint_transform(w, n, dotted, &out))
        return out;
    if (stet_python_kind(a, function) == PY_ATTRIBUTE)
        return call_attribute(w, n, function, dotted);
    if (dotted.len)
        return call_imported(w, n, dotted);
    if (stet_python_name(a, function) && !lint_lookup(w, w->fn, stet_python_name(a, function)) &&
        call_builtin(w, n, stet_python_text(a, function), &out)) {
        pass_functions(w, n);
        return out;
    }
    f = lint_eval(w, function);
    if (f.kind == LINT_V_FN)
        return call_function(w, n, f.index);
    pass_functions(w, n);
    if (f.kind == LINT_V_JITTED)
        return call_jitted(w, n, f.index);
    return weakly(of_arguments(w, n));
}

struct lint_value lint_eval_call(struct lint_walk *w, stet_python_ref n)
{
    struct lint_value v = call_value(w, n);

    v.f = lint_facts_call(w, n, v.f);
    w->values[n] = v;
    lint_rules(w, ON_CALL, n);
    lint_fed_remember(w, n);
    return v;
}
