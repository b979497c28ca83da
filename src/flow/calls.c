/* The result of a call, and the call graph of a file. */
#include "flow/walk.h"

#include "base/mem.h"

#include <stdio.h>

static const struct stet_flow_value python = {.kind = FLOW_V_PYTHON};
static const struct stet_flow_value unknown = {.kind = FLOW_V_UNKNOWN};

struct stet_flow_call *stet_flow_add_call(struct stet_flow_walk *w, stet_python_ref at,
                                          uint32_t callee, struct stet_view target, uint32_t owner,
                                          uint8_t lanes, const char *how)
{
    struct stet_flow_summary *s = w->out;
    struct stet_flow_call *c;

    if (w->quiet && !lanes)
        return NULL;
    if (!stet_flow_room(w, &s->calls, &w->call_room, s->call_count, sizeof *s->calls))
        return NULL;
    if (w->step_loops && !lanes) {
        lanes = FLOW_XLA;
        how = "a torch_xla step";
    }
    c = &s->calls[s->call_count++];
    *c = (struct stet_flow_call){.caller = w->fn ? w->fn : FLOW_NONE,
                                 .callee = callee,
                                 .target = callee == FLOW_NONE ? stet_arena_copy(&s->arena, target)
                                                               : (struct stet_view){0},
                                 .class_index = owner,
                                 .lanes = lanes,
                                 .in_loop = w->loops != 0,
                                 .line = stet_python_at(w->ast, at)->row + 1,
                                 .how = stet_view_str(how),
                                 .guard = w->guard,
                                 .spreads = true,
                                 .asked = w->given};
    return c;
}

/* Records the call's arguments. */
static void pass_arguments(struct stet_flow_walk *w, stet_python_ref call, struct stet_flow_call *c)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    uint32_t count = 0;
    int32_t position = 0;

    if (!c || stet_python_kind(a, args) != PY_ARGUMENTS)
        return;
    for (stet_python_ref n = stet_python_child(a, args); n; n = stet_python_next(a, n))
        count++;
    c->args = STET_NEW_ARRAY(&w->out->arena, struct stet_flow_arg, count + 1);
    if (!c->args)
        return;
    c->spreads = false;
    for (stet_python_ref n = stet_python_child(a, args); n; n = stet_python_next(a, n)) {
        struct stet_flow_value v;
        struct stet_flow_arg *arg = &c->args[c->arg_count];
        stet_python_ref given;

        if (stet_python_kind(a, n) == PY_COMMENT)
            continue;
        if (stet_python_kind(a, n) == PY_LIST_SPLAT || stet_python_kind(a, n) == PY_DICT_SPLAT) {
            c->spreads = true;
            break;
        }
        given = stet_python_argument_value(w->module, n);
        v = stet_flow_value_of(w, given);
        *arg = (struct stet_flow_arg){.position = -1,
                                      .nothing = stet_python_kind(a, given) == PY_FALSE ||
                                                 stet_python_kind(a, given) == PY_NONE_};
        if (stet_python_kind(a, n) == PY_KEYWORD_ARGUMENT)
            arg->name = stet_arena_copy(
                &w->out->arena, stet_python_text(a, stet_python_field(a, n, PY_FIELD_NAME)));
        else
            arg->position = position++;
        if (v.kind == FLOW_V_TENSOR && !((v.flags & FLOW_WEAK) && (v.flags & FLOW_TREE)))
            arg->deps = v.deps;
        else if (v.kind == FLOW_V_PYTHON)
            arg->static_deps = v.deps;
        arg->guess = v.flags & FLOW_GUESS;
        arg->varies =
            v.kind <= FLOW_V_PYTHON && (v.flags & (w->step_loops ? FLOW_STEPS : FLOW_VARIES));
        c->arg_count++;
    }
}

/* The union of what the arguments are; tensors become "perhaps a tensor". */
static struct stet_flow_value of_arguments(struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    struct stet_flow_value all = python;
    bool turns = false;

    if (stet_python_kind(a, args) != PY_ARGUMENTS)
        return stet_flow_element(stet_flow_value_of(w, args));
    for (stet_python_ref n = stet_python_child(a, args); n; n = stet_python_next(a, n)) {
        struct stet_flow_value v = stet_flow_value_of(w, stet_python_argument_value(w->module, n));

        if (v.kind != FLOW_V_FN && v.kind != FLOW_V_JITTED)
            all = stet_flow_join(all, stet_flow_element(v));
        turns |= stet_flow_turns(v);
    }
    all.f.flags |= turns ? FLOW_F_TURNS : 0;
    return all;
}

static struct stet_flow_value weakly(struct stet_flow_value v)
{
    if (v.kind != FLOW_V_TENSOR)
        return (struct stet_flow_value){.flags =
                                            v.kind <= FLOW_V_PYTHON ? v.flags & FLOW_CHANGES : 0,
                                        .f = {.flags = v.f.flags & FLOW_F_TURNS}};
    v.flags = FLOW_WEAK | FLOW_GUESS;
    v.f = (struct stet_flow_facts){.flags =
                                       v.f.flags & (FLOW_F_DRIFTS | FLOW_F_SHORT | FLOW_F_TURNS)};
    return v;
}

/* Translates a value from the callee's terms into the caller's: its parameters' bits become the
 * arguments'. */
static struct stet_flow_value returned(struct stet_flow_walk *w, stet_python_ref call,
                                       uint32_t callee)
{
    const struct stet_flow_fn *f = &w->out->fns[callee];
    struct stet_flow_value v = w->fns[callee].returns;
    uint64_t own = 0, deps = 0, sizes = 0; /* sizes: the bits of arguments that are sizes */
    unsigned skip = f->is_method ? 1 : 0;

    if (w->fns[callee].progress != FLOW_DONE)
        return weakly(of_arguments(w, call));
    for (uint32_t i = 0; i < f->param_count && f->first_bit + i < FLOW_BITS; i++)
        own |= (uint64_t)1 << (f->first_bit + i);
    if (f->nest == w->out->fns[w->fn].nest)
        deps = v.deps & ~own;
    deps |= v.deps & FLOW_ALWAYS;
    for (uint32_t i = skip; i < f->param_count && f->first_bit + i < FLOW_BITS; i++) {
        stet_python_ref arg;

        if (!(v.deps & (uint64_t)1 << (f->first_bit + i)))
            continue;
        arg = stet_python_argument(w->module, call, i - skip);
        if (!arg)
            arg = stet_python_keyword(w->module, call, f->params[i]);
        if (!arg)
            continue;
        if (stet_flow_value_of(w, arg).kind == FLOW_V_SHAPE &&
            (v.kind == FLOW_V_TENSOR || v.kind == FLOW_V_HOST)) {
            sizes |= stet_flow_value_of(w, arg).deps;
        } else {
            deps |= stet_flow_value_of(w, arg).deps;
        }
    }
    if (!w->fns[callee].yields)
        v.flags = (uint8_t)(v.flags & ~FLOW_CHANGES); /* its own loops are done */
    if (!deps && sizes) {                             /* computed from sizes alone */
        v.kind = FLOW_V_SHAPE;
        deps = sizes;
    }
    v.deps = deps;
    if (!deps && v.kind >= FLOW_V_TENSOR && v.kind <= FLOW_V_HOST)
        v = (struct stet_flow_value){.f = v.f};
    return v;
}

static struct stet_flow_value call_function(struct stet_flow_walk *w, stet_python_ref n,
                                            uint32_t callee)
{
    pass_arguments(w, n, stet_flow_add_call(w, n, callee, (struct stet_view){0}, FLOW_NONE, 0, ""));
    if (w->fns[callee].progress == FLOW_NOT_YET && w->depth < 60)
        stet_flow_run_function(w, callee);
    return returned(w, n, callee);
}

bool stet_flow_is_library(struct stet_view dotted)
{
    return stet_python_library(dotted) != PY_GIVES_NOTHING_KNOWN;
}

/* What a function of another file returned, a field of a structure, or one of several names for the
 * parts of an argument: nothing shows that it is an array and no list of them. */
static bool may_be_list(struct stet_flow_walk *w, stet_python_ref n, struct stet_flow_value v)
{
    uint32_t name = stet_python_name(w->ast, n), i = name ? w->module->first_binding[name] : 0;

    if (v.kind != FLOW_V_TENSOR || !(v.flags & FLOW_WEAK))
        return false;
    if (v.flags & (FLOW_GUESS | FLOW_FIELD))
        return true;
    return i && !w->module->bindings.items[i - 1].next &&
           w->module->bindings.items[i - 1].position >= 0;
}

/* int(), len(), range() and similar; true when it is one of them. */
static bool call_builtin(struct stet_flow_walk *w, stet_python_ref n, struct stet_view name,
                         struct stet_flow_value *out)
{
    struct stet_flow_value v = of_arguments(w, n), given;
    char room[64];
    int length = snprintf(room, sizeof room, "builtins.%.*s", STET_FMT(name));

    if (length < 0 || (size_t)length >= sizeof room)
        return false;
    switch (stet_python_library(stet_view_of(room, (size_t)length))) {
    case PY_GIVES_SCALAR:
    case PY_GIVES_ARRAYS:
        v.kind = v.kind == FLOW_V_TENSOR ? FLOW_V_HOST : v.kind;
        break;
    case PY_GIVES_SIZE: /* of a shape: the rank; of a list or a dict: its parts, not their sizes */
        given = stet_flow_value_of(w, stet_python_argument(w->module, n, 0));
        if (given.kind == FLOW_V_SHAPE ||
            (given.kind == FLOW_V_TENSOR && given.flags & FLOW_TREE) ||
            may_be_list(w, stet_python_argument(w->module, n, 0), given))
            v = (struct stet_flow_value){.kind = FLOW_V_PYTHON,
                                         .f = {.traits = FLOW_TRAIT_MEASURE}};
        v.kind = v.kind == FLOW_V_TENSOR ? FLOW_V_SHAPE : v.kind;
        break;
    case PY_GIVES_HOST:
    case PY_GIVES_SHOWS:
        v = python;
        break;
    case PY_GIVES_THROUGH:
    case PY_GIVES_ITERATES:
        break;
    case PY_GIVES_HOLDS:
        v.flags |= v.kind == FLOW_V_TENSOR ? FLOW_TREE | FLOW_WEAK : 0;
        break;
    case PY_GIVES_UNKNOWN:
        v = unknown;
        break;
    default:
        return false;
    }
    *out = v;
    return true;
}

bool stet_flow_fixes_size(const struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);

    for (stet_python_ref c = args ? stet_python_child(a, args) : 0; c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_KEYWORD_ARGUMENT &&
            stet_python_bound(stet_python_text(a, stet_python_field(a, c, PY_FIELD_NAME))))
            return true;
    return false;
}

static uint8_t result_flags(struct stet_view name)
{
    const struct stet_python_array *array = stet_python_array(name);

    if (stet_python_compares(name))
        return FLOW_BOOL;
    return array && array->role & (PY_FINDS | PY_SELECTS) ? FLOW_DYNAMIC : 0;
}

/* x.to(…), x.sum(): another tensor. */
static struct stet_flow_value call_tensor_method(struct stet_flow_walk *w, stet_python_ref n,
                                                 struct stet_flow_value self, struct stet_view name,
                                                 enum stet_python_effect effect)
{
    struct stet_flow_value args = of_arguments(w, n);
    uint8_t weak = self.flags & (FLOW_WEAK | FLOW_TREE);

    /* A method that only tensors have makes it one. */
    if (result_flags(name) || effect == PY_GIVES_REDUCES)
        weak = weak & FLOW_TREE ? weak : 0;
    if (stet_flow_is_strong(args))
        self.deps |= args.deps;
    self.flags = (uint8_t)(weak | result_flags(name));
    return self;
}

/* A method of a tensor. */
static struct stet_flow_value call_method(struct stet_flow_walk *w, stet_python_ref n,
                                          struct stet_flow_value self, struct stet_view name)
{
    enum stet_python_effect effect = stet_python_library_method(name);

    switch (effect) {
    case PY_GIVES_SCALAR:
    case PY_GIVES_ARRAYS:
        self.kind = FLOW_V_HOST;
        return self;
    case PY_GIVES_SIZE:
        self.kind = FLOW_V_SHAPE;
        w->values[n] = self;
        stet_flow_tell(w, FLOW_ON_READBACK, n);
        return self;
    case PY_GIVES_RANK:
    case PY_GIVES_HOST:
    case PY_GIVES_KEYS:
    case PY_GIVES_GRADS:
    case PY_GIVES_CLEARS:
        return python;
    case PY_GIVES_KEYED:
        self.flags |= FLOW_TREE | FLOW_FIELD;
        return self;
    case PY_GIVES_PARTS:
        self.flags |= FLOW_TREE;
        return self;
    case PY_GIVES_NOTHING_KNOWN:
        /* No array is known to have it: perhaps the object wraps one. */
        if (!(self.deps & FLOW_ALWAYS) && !stet_python_array(name) && !result_flags(name) &&
            stet_python_kind(w->ast, stet_python_callee_object(w->module, n)) != PY_SUBSCRIPT) {
            self.flags = FLOW_WEAK | FLOW_GUESS;
            return self;
        }
        return call_tensor_method(w, n, self, name, effect);
    default:
        return call_tensor_method(w, n, self, name, effect);
    }
}

/* torch.Tensor([rows, columns]); torch.Tensor(rows, columns) makes an array of these sizes. */
static bool makes_of_list(const struct stet_flow_walk *w, stet_python_ref call,
                          struct stet_view dotted)
{
    enum stet_python_kind k = stet_python_kind(w->ast, stet_python_argument(w->module, call, 0));

    return stet_python_library_type(dotted) == PY_GIVES_DEVICE &&
           (k == PY_LIST || k == PY_TUPLE || k == PY_LIST_COMPREHENSION);
}

/* torch.zeros(rows), torch.randperm(rows): the sizes are not its elements. */
static bool makes_array(struct stet_flow_walk *w, stet_python_ref call, struct stet_view dotted)
{
    const struct stet_python_array *array = stet_flow_array_call(w, call);

    return stet_python_shaper(stet_python_callee(w->module, call)) ||
           (array && array->role & PY_SIZED) ||
           stet_python_library_meaning(dotted) == PY_MEANS_DRAWS_ARRAY ||
           stet_python_library_meaning(dotted) == PY_MEANS_SPACED ||
           stet_python_library_type(dotted) == PY_GIVES_DEVICE;
}

/* torch.npu.is_available(): a function of a module of PyTorch that takes nothing makes no tensor,
 * also of a device that is not in the lists here. */
static bool is_question(const struct stet_flow_walk *w, stet_python_ref call,
                        struct stet_view dotted)
{
    const size_t torch = sizeof "torch." - 1;

    return stet_view_starts(dotted, "torch.") && !stet_python_argument_count(w->module, call) &&
           memchr(dotted.ptr + torch, '.', dotted.len - torch);
}

/* What a function that computes on a device gives. `args`: its arguments, joined. */
static struct stet_flow_value of_device(struct stet_flow_walk *w, stet_python_ref n,
                                        struct stet_view dotted, struct stet_flow_value args)
{
    struct stet_view last = stet_python_callee(w->module, n);
    stet_python_ref first = stet_python_argument(w->module, n, 0);
    enum stet_python_meaning meaning = stet_python_library_meaning(dotted);
    struct stet_flow_value v = {.kind = FLOW_V_TENSOR, .deps = FLOW_ALWAYS};

    if (meaning == PY_MEANS_SUMS_AXIS && stet_python_kind(w->ast, first) == PY_INTEGER)
        return python; /* the number of devices along the axis */
    if (is_question(w, n, dotted))
        return python;
    if (args.kind == FLOW_V_SHAPE && stet_view_starts(dotted, "torch.") &&
        !stet_python_keyword(w->module, n, STET_VIEW("device")) &&
        (meaning == PY_MEANS_CONVERTS || makes_of_list(w, n, dotted) ||
         (stet_flow_value_of(w, first).f.traits & FLOW_TRAIT_HOST) ||
         (stet_flow_value_of(w, first).kind == FLOW_V_SHAPE && !makes_array(w, n, dotted))))
        return args; /* torch.tensor(x.shape), torch.div(h, 2): sizes, on the host */
    v.flags = result_flags(last);
    if (stet_flow_fixes_size(w, n))
        v.flags &= (uint8_t)~FLOW_DYNAMIC; /* jnp.nonzero(x, size=n) */
    if (stet_python_library_method(last) == PY_GIVES_PARTS)
        v.flags |= FLOW_TREE;
    return v;
}

/* A function of jax, torch or numpy; true when it is one. */
static bool call_library(struct stet_flow_walk *w, stet_python_ref n, struct stet_view dotted,
                         struct stet_flow_value *out)
{
    struct stet_flow_value args = of_arguments(w, n);
    enum stet_python_effect effect = stet_python_library(dotted);

    if (effect == PY_GIVES_SCALAR && stet_python_compares(stet_python_callee(w->module, n)))
        effect = PY_GIVES_DEVICE; /* torch.equal(x, y): a branch on it is one on the tensors */
    switch (effect) {
    case PY_GIVES_CALLBACK:
    case PY_GIVES_DEVICE:
        args = of_device(w, n, dotted, args);
        break;
    case PY_GIVES_OPAQUE:
        args = (struct stet_flow_value){
            .kind = FLOW_V_TENSOR, .deps = FLOW_ALWAYS, .flags = FLOW_WEAK};
        break;
    case PY_GIVES_SIZE:
        args.kind = args.kind == FLOW_V_TENSOR ? FLOW_V_SHAPE : args.kind;
        break;
    case PY_GIVES_SCALAR:
    case PY_GIVES_COPIES:
    case PY_GIVES_ITERATES:
        args.kind = args.kind == FLOW_V_TENSOR ? FLOW_V_HOST : args.kind;
        break;
    case PY_GIVES_HOST:
    case PY_GIVES_PROCESS:
    case PY_GIVES_RANK:
    case PY_GIVES_TYPE:
    case PY_GIVES_HANDLE:
    case PY_GIVES_GRADIENT:
    case PY_GIVES_OPTIMIZER:
    case PY_GIVES_SCHEDULER:
    case PY_GIVES_LOADER:
        args = python;
        break;
    default:
        return false;
    }
    *out = args;
    return true;
}

/* Functions given to a function we don't know: called there, with values we don't know. */
static void pass_functions(struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref args = stet_python_field(w->ast, call, PY_FIELD_ARGUMENTS);

    for (stet_python_ref n = args ? stet_python_child(w->ast, args) : 0; n;
         n = stet_python_next(w->ast, n)) {
        struct stet_flow_value v = stet_flow_value_of(w, stet_python_argument_value(w->module, n));

        if (v.kind == FLOW_V_FN)
            stet_flow_add_call(w, n, v.index, (struct stet_view){0}, FLOW_NONE, 0, "");
    }
}

static void eval_arguments(struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);

    if (stet_python_kind(a, args) != PY_ARGUMENTS) {
        stet_flow_eval(w, args);
        return;
    }
    for (stet_python_ref n = stet_python_child(a, args); n; n = stet_python_next(a, n))
        w->values[n] = stet_flow_eval(w, stet_python_argument_value(w->module, n));
}

/* Calls a name that an import binds: a library's, or a function of another file. */
static struct stet_flow_value call_imported(struct stet_flow_walk *w, stet_python_ref n,
                                            struct stet_view dotted)
{
    struct stet_flow_value out;
    bool known = call_library(w, n, dotted, &out);

    if (!known && !stet_flow_is_library(dotted))
        pass_arguments(w, n, stet_flow_add_call(w, n, FLOW_NONE, dotted, FLOW_NONE, 0, ""));
    if (stet_python_library(dotted) != PY_GIVES_CALLBACK)
        pass_functions(w, n);
    return known ? out : weakly(of_arguments(w, n));
}

static struct stet_flow_value call_attribute(struct stet_flow_walk *w, stet_python_ref n,
                                             stet_python_ref function, struct stet_view dotted)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref object = stet_python_field(a, function, PY_FIELD_OBJECT);
    stet_python_ref attribute = stet_python_field(a, function, PY_FIELD_ATTRIBUTE);
    struct stet_view name = attribute ? stet_python_text(a, attribute) : (struct stet_view){0};
    uint32_t owner = stet_flow_self_class(w, object);
    struct stet_flow_value self, out;

    if (owner != FLOW_NONE) {
        uint32_t callee = stet_flow_method(w, owner, stet_python_name(a, attribute));

        if (callee != FLOW_NONE) {
            w->values[function] = (struct stet_flow_value){.kind = FLOW_V_FN, .index = callee};
            return call_function(w, n, callee);
        }
        self = stet_flow_eval(w, function);
        if (self.kind != FLOW_V_JITTED)
            pass_arguments(w, n, stet_flow_add_call(w, n, FLOW_NONE, name, owner, 0, ""));
        pass_functions(w, n);
        return weakly(of_arguments(w, n));
    }
    if (dotted.len)
        return call_imported(w, n, dotted);
    self = stet_flow_eval(w, object);
    w->values[function] = self;
    if (self.kind == FLOW_V_TENSOR && self.deps)
        return call_method(w, n, self, name);
    if (self.kind == FLOW_V_HOST || self.kind == FLOW_V_SHAPE)
        return self;
    pass_functions(w, n);
    out = weakly(of_arguments(w, n));
    if (self.kind <= FLOW_V_PYTHON && out.kind == FLOW_V_UNKNOWN && (self.flags & FLOW_VARIES)) {
        out.kind = self.kind; /* a method of what varies */
        out.flags |= self.flags & FLOW_CHANGES;
    }
    return out;
}

/* A call of a jitted function: records its arguments, and returns a value of the device. */
static struct stet_flow_value call_jitted(struct stet_flow_walk *w, stet_python_ref n, uint32_t jit)
{
    uint32_t fn = w->jits[jit].fn;
    struct stet_flow_call *c = NULL;

    if (fn != FLOW_NONE && w->fns[fn].progress == FLOW_NOT_YET && w->depth < 60)
        stet_flow_run_function(w, fn);
    if (w->jits[jit].fn != FLOW_NONE && !w->jits[jit].shifted)
        c = stet_flow_add_call(w, n, w->jits[jit].fn, (struct stet_view){0}, FLOW_NONE, 0, "");
    if (c)
        c->compiled = true;
    pass_arguments(w, n, c);
    return (struct stet_flow_value){.kind = FLOW_V_TENSOR,
                                    .deps = FLOW_ALWAYS,
                                    .flags = FLOW_WEAK | FLOW_TREE,
                                    .f = {.flags = FLOW_F_DEVICE}};
}

static struct stet_flow_value call_value(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref function = stet_python_bare(a, stet_python_field(a, n, PY_FIELD_FUNCTION));
    struct stet_view dotted;
    struct stet_flow_value f, out;
    char room[160];

    if (!function)
        return unknown;
    eval_arguments(w, n);
    dotted = stet_python_imported(w->module, function, room);
    if (dotted.len && stet_flow_transform(w, n, dotted, &out))
        return out;
    if (stet_python_kind(a, function) == PY_ATTRIBUTE)
        return call_attribute(w, n, function, dotted);
    if (dotted.len)
        return call_imported(w, n, dotted);
    if (stet_python_name(a, function) &&
        !stet_flow_lookup(w, w->fn, stet_python_name(a, function)) &&
        call_builtin(w, n, stet_python_text(a, function), &out)) {
        pass_functions(w, n);
        return out;
    }
    f = stet_flow_eval(w, function);
    if (f.kind == FLOW_V_FN)
        return call_function(w, n, f.index);
    pass_functions(w, n);
    if (f.kind == FLOW_V_JITTED)
        return call_jitted(w, n, f.index);
    return weakly(of_arguments(w, n));
}

struct stet_flow_jit *stet_flow_jit_called(struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref f =
        stet_python_bare(w->ast, stet_python_field(w->ast, call, PY_FIELD_FUNCTION));
    struct stet_flow_value v = stet_flow_value_of(w, f);

    if (stet_python_kind(w->ast, f) == PY_ATTRIBUTE)
        return NULL; /* a method of the compiled function: lower, eval_shape */
    return v.kind == FLOW_V_JITTED && !w->jits[v.index].shifted ? &w->jits[v.index] : NULL;
}

/* Remembers the first call of a place; later ones are compared with it. */
static void remember_arguments(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_jit *j = stet_flow_jit_called(w, n);

    for (unsigned i = 0; j && i < FLOW_FED && stet_python_argument(w->module, n, i); i++) {
        stet_python_ref arg = stet_python_argument(w->module, n, i);

        if (!j->fed[i].line)
            j->fed[i] = (struct stet_flow_fed){stet_flow_value_of(w, arg).f,
                                               stet_python_at(w->ast, n)->row + 1, w->fn,
                                               stet_python_text(w->ast, arg)};
    }
}

struct stet_flow_value stet_flow_eval_call(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_value v = call_value(w, n);

    v.f = stet_flow_facts_call(w, n, v.f);
    v.f.traits |= v.kind == FLOW_V_SHAPE ? FLOW_TRAIT_MEASURE : 0;
    w->values[n] = v;
    stet_flow_tell(w, FLOW_ON_CALL, n);
    remember_arguments(w, n);
    return v;
}
