/* jit, grad, scan, torch.compile and similar: the calls and decorators that make code traced. */
#include "flow/walk.h"

#include "base/mem.h"

#include <stdlib.h>

static uint8_t lane_of(const struct stet_python_transform *t)
{
    static const uint8_t lanes[] = {[PY_LANE_NONE] = 0,
                                    [PY_LANE_JAX] = FLOW_JAX,
                                    [PY_LANE_TORCH] = FLOW_TORCH,
                                    [PY_LANE_XLA] = FLOW_XLA};

    return lanes[t->lane];
}

/* 2, or (0, 2): bits. */
static uint64_t positions(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    long one = stet_python_integer(w->module, n);
    uint64_t bits = 0;

    if (one >= 0 && one < 64)
        return (uint64_t)1 << one;
    if (stet_python_kind(a, n) != PY_TUPLE && stet_python_kind(a, n) != PY_LIST)
        return 0;
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        one = stet_python_integer(w->module, c);
        if (one >= 0 && one < 64)
            bits |= (uint64_t)1 << one;
    }
    return bits;
}

static void names(struct stet_flow_walk *w, struct stet_flow_jit *j, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    if (stet_python_kind(a, n) == PY_STRING) {
        if (j->static_name_count < 8)
            j->static_names[j->static_name_count++] =
                stet_arena_copy(&w->out->arena, stet_python_string(a, n));
        return;
    }
    if (stet_python_kind(a, n) != PY_TUPLE && stet_python_kind(a, n) != PY_LIST &&
        stet_python_kind(a, n) != PY_SET)
        return;
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_STRING)
            names(w, j, c);
    }
}

static uint64_t named_positions(struct stet_flow_walk *w, uint32_t fn, stet_python_ref n)
{
    struct stet_flow_jit all = {0};
    uint64_t bits = 0;

    if (fn == FLOW_NONE || !n)
        return 0;
    names(w, &all, n);
    for (uint32_t k = 0; k < all.static_name_count; k++) {
        for (uint32_t i = 0; i < w->out->fns[fn].positional && i < 64; i++) {
            if (stet_view_eq(w->out->fns[fn].params[i], all.static_names[k]))
                bits |= (uint64_t)1 << i;
        }
    }
    return bits;
}

/* The target of a function operand: in this file, elsewhere by name, or a method of self's
 * bases. */
struct operand {
    uint32_t fn, owner;
    struct stet_view target;
    uint64_t bound;           /* positions bound by partial */
    stet_python_ref bound_by; /* the partial call */
};

static struct operand operand_of(struct stet_flow_walk *w, stet_python_ref n, char room[160])
{
    const struct stet_python_ast *a = w->ast;
    struct operand o = {FLOW_NONE, FLOW_NONE, {0}, 0, 0};
    struct stet_flow_value v;
    char inner[160];

    n = stet_python_bare(a, n);
    v = n ? stet_flow_value_of(w, n) : (struct stet_flow_value){0};
    if (stet_python_kind(a, n) == PY_CALL) {
        stet_python_ref function = stet_python_field(a, n, PY_FIELD_FUNCTION);
        const struct stet_python_transform *t =
            stet_python_transform(stet_python_imported(w->module, function, inner));

        if (t && t->kind == PY_PARTIAL) {
            o = operand_of(w, stet_python_argument(w->module, n, 0), room);
            for (unsigned i = 1; stet_python_argument(w->module, n, i) && i < 60; i++)
                o.bound |= (uint64_t)1 << (i - 1);
            o.bound_by = n;
            return o;
        }
    }
    if (v.kind == FLOW_V_FN)
        o.fn = v.index;
    else if (v.kind == FLOW_V_JITTED)
        o.fn = w->jits[v.index].fn;
    if (o.fn == FLOW_NONE && n) {
        struct stet_view dotted = stet_python_imported(w->module, n, room);

        if (dotted.len && !stet_flow_is_library(dotted))
            o.target = dotted;
    }
    return o;
}

static uint32_t add_jit(struct stet_flow_walk *w, struct stet_flow_jit j)
{
    if (!stet_flow_room(w, &w->jits, &w->jit_room, w->jit_count, sizeof *w->jits))
        return FLOW_NONE;
    w->jits[w->jit_count] = j;
    return w->jit_count++;
}

/* Reads the options of a jit call, or of the call that makes the decorator. */
static struct stet_flow_jit read_jit(struct stet_flow_walk *w, stet_python_ref call, uint32_t fn,
                                     uint8_t lane)
{
    struct stet_flow_jit j = {.fn = fn, .lane = lane, .node = call};
    const struct stet_python_option *option;
    stet_python_ref dynamic = call ? stet_python_keyword(w->module, call, STET_VIEW("dynamic")) : 0;

    j.dynamic = stet_python_kind(w->ast, dynamic) == PY_TRUE;
    j.fixed = stet_python_kind(w->ast, dynamic) == PY_FALSE;
    if (!call)
        return j;
    for (size_t i = 0; (option = stet_python_option(i)); i++) {
        stet_python_ref listed = stet_python_keyword(w->module, call, stet_view_str(option->name));

        switch (option->what) {
        case PY_STATIC_PLACES:
            j.static_positions |= positions(w, listed);
            break;
        case PY_STATIC_NAMES:
            names(w, &j, listed);
            j.static_positions |= named_positions(w, fn, listed);
            break;
        case PY_DONATED_PLACES:
            j.donated_positions |= positions(w, listed);
            break;
        case PY_DONATED_NAMES:
            j.donated_positions |= named_positions(w, fn, listed);
            break;
        }
    }
    return j;
}

/* Of the operand's parameters, only those at these places are traced. The others reach it as its
 * caller gives them. */
static void trace_places(struct stet_flow_walk *w, struct stet_flow_call *c,
                         const struct operand *o, uint64_t places)
{
    unsigned shift = (unsigned)__builtin_popcountll(o->bound);

    c->args = STET_NEW_ARRAY(&w->out->arena, struct stet_flow_arg,
                             (unsigned)__builtin_popcountll(places) + 1);
    for (unsigned i = 0; c->args && i + shift < 64; i++)
        if (places >> i & 1)
            c->args[c->arg_count++] =
                (struct stet_flow_arg){.position = (int32_t)(i + shift), .deps = FLOW_ALWAYS};
    c->all_tensors = false;
    c->in_loop = false; /* it names the function and does not call it */
}

/* jax.grad traces the arguments it differentiates, the first unless argnums says otherwise. */
static uint64_t differentiated(struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref argnums = call ? stet_python_keyword(w->module, call, STET_VIEW("argnums")) : 0;

    if (call && !argnums)
        argnums = stet_python_argument(w->module, call, 1);
    return argnums ? positions(w, argnums) : 1;
}

/* vmap(f, in_axes=(0, None)), shard_map(f, in_specs=(spec, None)): an argument with None is not
 * mapped. Returns the places of the others; 0 if all are mapped or it is not written here. */
static uint64_t mapped(const struct stet_flow_walk *w, const struct stet_python_transform *t,
                       stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref axes = call ? stet_python_keyword(w->module, call, STET_VIEW("in_axes")) : 0;
    uint64_t places = 0;
    unsigned i = 0;
    bool left_out = false;

    if (call && !axes)
        axes = stet_python_keyword(w->module, call, STET_VIEW("in_specs"));
    if (call && !axes && stet_python_library_meaning(stet_view_str(t->name)) == PY_MEANS_MAPS_AXES)
        axes = stet_python_argument(w->module, call, 1);
    axes = stet_python_bare(a, axes);
    if (stet_python_kind(a, axes) != PY_TUPLE && stet_python_kind(a, axes) != PY_LIST)
        return 0;
    for (stet_python_ref c = stet_python_child(a, axes); c && i < 64; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_COMMENT)
            continue;
        if (stet_python_kind(a, c) == PY_NONE_)
            left_out = true;
        else
            places |= (uint64_t)1 << i;
        i++;
    }
    return left_out ? places : 0;
}

/* Records that this place traces the operand. */
static void trace(struct stet_flow_walk *w, stet_python_ref at, const struct operand *o,
                  const struct stet_flow_jit *j, const struct stet_python_transform *t,
                  stet_python_ref call)
{
    struct stet_flow_call *c;

    if (o->fn == FLOW_NONE && !o->target.len)
        return;
    c = stet_flow_add_call(w, at, o->fn, o->target, o->owner, lane_of(t), t->name);
    if (!c)
        return;
    if (stet_python_library_meaning(stet_view_str(t->name)) == PY_MEANS_CUSTOM_GRADIENT) {
        c->in_loop = false; /* its arguments are what the caller gives */
        return;
    }
    if (stet_python_library(stet_view_str(t->name)) == PY_GIVES_GRADIENT) {
        trace_places(w, c, o, differentiated(w, call));
        return;
    }
    if (t->kind == PY_TRACES && mapped(w, t, call)) {
        trace_places(w, c, o, mapped(w, t, call));
        return;
    }
    c->all_tensors = true;
    c->static_positions = o->bound;
    if (j) {
        unsigned shift = (unsigned)__builtin_popcountll(o->bound);

        c->static_positions |= j->static_positions << shift;
        c->static_names = STET_NEW_ARRAY(&w->out->arena, struct stet_view, 16);
        for (uint32_t i = 0; c->static_names && i < j->static_name_count; i++)
            c->static_names[c->static_name_count++] = j->static_names[i];
    }
    if (o->bound_by) {
        stet_python_ref args = stet_python_field(w->ast, o->bound_by, PY_FIELD_ARGUMENTS);

        if (!c->static_names)
            c->static_names = STET_NEW_ARRAY(&w->out->arena, struct stet_view, 16);
        for (stet_python_ref n = stet_python_child(w->ast, args); n;
             n = stet_python_next(w->ast, n)) {
            stet_python_ref name = stet_python_kind(w->ast, n) == PY_KEYWORD_ARGUMENT
                                       ? stet_python_field(w->ast, n, PY_FIELD_NAME)
                                       : 0;

            if (name && c->static_names && c->static_name_count < 16)
                c->static_names[c->static_name_count++] =
                    stet_arena_copy(&w->out->arena, stet_python_text(w->ast, name));
        }
    }
}

/* Every function among the arguments is traced (scan, cond, while_loop). */
static struct stet_flow_value trace_all(struct stet_flow_walk *w, stet_python_ref call,
                                        const struct stet_python_transform *t)
{
    struct stet_flow_value out = {.kind = FLOW_V_TENSOR, .deps = FLOW_ALWAYS, .flags = FLOW_WEAK};
    stet_python_ref args = stet_python_field(w->ast, call, PY_FIELD_ARGUMENTS);
    bool first = true;
    char room[160];

    for (stet_python_ref n = args ? stet_python_child(w->ast, args) : 0; n;
         n = stet_python_next(w->ast, n)) {
        stet_python_ref value = stet_python_argument_value(w->module, n);
        struct operand o = operand_of(w, value, room);

        if (o.fn == FLOW_NONE && !first)
            o.target = (struct stet_view){0};
        if (o.fn != FLOW_NONE || o.target.len) {
            if (t->kind == PY_MAPS) {
                struct stet_flow_call *c =
                    stet_flow_add_call(w, n, o.fn, o.target, o.owner, 0, t->name);

                if (c)
                    c->all_tensors = true;
            } else {
                trace(w, n, &o, NULL, t, call);
            }
            if (first && o.fn != FLOW_NONE && t->kind == PY_TRACES &&
                !stet_view_starts(stet_view_str(t->name), "jax.lax."))
                out = (struct stet_flow_value){.kind = FLOW_V_FN, .index = o.fn};
        }
        first = false;
    }
    return out;
}

static struct stet_flow_value make_jit(struct stet_flow_walk *w, stet_python_ref call,
                                       const struct stet_python_transform *t)
{
    char room[160];
    struct operand o = operand_of(w, stet_python_argument(w->module, call, 0), room);
    struct stet_flow_jit j = read_jit(w, call, o.fn, lane_of(t));
    uint32_t index;

    j.shifted = o.bound != 0;
    j.module = stet_python_name(w->ast,
                                stet_python_bare(w->ast, stet_python_argument(w->module, call, 0)));
    trace(w, call, &o, &j, t, call);
    index = add_jit(w, j);
    if (t->lane == PY_LANE_TORCH)
        w->facts |= FLOW_USES_COMPILE;
    if (index == FLOW_NONE)
        return (struct stet_flow_value){0};
    return (struct stet_flow_value){.kind = FLOW_V_JITTED, .index = index};
}

bool stet_flow_maps_to_host(const struct stet_flow_walk *w, stet_python_ref call)
{
    char room[160];
    struct stet_view name =
        stet_python_full_name(w->module, stet_python_argument(w->module, call, 0), room);

    switch (stet_python_library(name)) {
    case PY_GIVES_SCALAR:
    case PY_GIVES_SIZE:
    case PY_GIVES_RANK:
        return true;
    default:
        return false;
    }
}

/* Does the function that jax.tree.map applies make arrays, whatever is in the trees? */
static bool maps_to_arrays(struct stet_flow_walk *w, stet_python_ref mapped)
{
    struct stet_flow_value f = stet_flow_value_of(w, mapped);
    char room[160];

    if (f.kind != FLOW_V_FN)
        return f.kind == FLOW_V_JITTED || stet_python_is_device(stet_python_library(
                                              stet_python_imported(w->module, mapped, room)));
    if (w->fns[f.index].progress == FLOW_NOT_YET && w->depth < 60)
        stet_flow_run_function(w, f.index);
    return w->fns[f.index].returns.kind == FLOW_V_TENSOR &&
           (w->fns[f.index].returns.deps & FLOW_ALWAYS);
}

/* What jax.tree.map gives: arrays where there are some in a tree. A tree of Python numbers stays
 * one: jax.tree.map(lambda n: n // 2, sizes). */
static struct stet_flow_value mapped_trees(struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref mapped = stet_python_argument(w->module, call, 0), tree;
    struct stet_flow_value all = {0};

    if (stet_flow_maps_to_host(w, call))
        return (struct stet_flow_value){.kind = FLOW_V_PYTHON};
    for (unsigned i = 1; (tree = stet_python_argument(w->module, call, i)); i++)
        all = stet_flow_join(all, stet_flow_value_of(w, tree));
    all.flags = stet_flow_is_strong(all) ? FLOW_WEAK : FLOW_WEAK | FLOW_TREE;
    if (mapped && maps_to_arrays(w, mapped))
        all = (struct stet_flow_value){
            .kind = FLOW_V_TENSOR, .deps = FLOW_ALWAYS, .flags = all.flags};
    return all.kind == FLOW_V_TENSOR ? all : (struct stet_flow_value){0};
}

bool stet_flow_transform(struct stet_flow_walk *w, stet_python_ref call, struct stet_view dotted,
                         struct stet_flow_value *out)
{
    const struct stet_python_transform *t = stet_python_transform(dotted);
    char room[160];

    if (!t)
        return false;
    switch (t->kind) {
    case PY_JITS:
        *out = make_jit(w, call, t);
        w->values[call] = *out;
        stet_flow_tell(w, FLOW_ON_JIT, call);
        return true;
    case PY_TRACES:
    case PY_MAPS:
        *out = trace_all(w, call, t);
        if (t->kind == PY_MAPS)
            *out = mapped_trees(w, call);
        return true;
    case PY_PARTIAL: {
        struct operand o = operand_of(w, stet_python_argument(w->module, call, 0), room);

        *out = (struct stet_flow_value){0};
        if (o.fn != FLOW_NONE && stet_python_argument_count(w->module, call) == 1)
            *out = (struct stet_flow_value){.kind = FLOW_V_FN, .index = o.fn};
        return true;
    }
    case PY_NO_TRANSFORM:
    case PY_DISABLES:
    case PY_MEMOIZES:
        break;
    }
    return false;
}

/* @jax.jit, @jax.jit(…), @partial(jax.jit, …): the transform and the call that holds its options.
 */
static const struct stet_python_transform *
decorator_transform(struct stet_flow_walk *w, stet_python_ref n, stet_python_ref *options)
{
    const struct stet_python_transform *t;
    char room[160];

    *options = 0;
    n = stet_python_bare(w->ast, n);
    if (stet_python_kind(w->ast, n) != PY_CALL)
        return stet_python_transform(stet_python_imported(w->module, n, room));
    t = stet_python_transform(
        stet_python_imported(w->module, stet_python_field(w->ast, n, PY_FIELD_FUNCTION), room));
    *options = n;
    if (t && t->kind == PY_PARTIAL)
        t = stet_python_transform(
            stet_python_imported(w->module, stet_python_argument(w->module, n, 0), room));
    return t;
}

void stet_flow_decorators(struct stet_flow_walk *w, uint32_t fn)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref decorated = w->fns[fn].decorated;

    for (stet_python_ref c = decorated ? stet_python_child(a, decorated) : 0; c;
         c = stet_python_next(a, c)) {
        struct operand o = {fn, FLOW_NONE, {0}, 0, 0};
        const struct stet_python_transform *t;
        stet_python_ref options;

        if (stet_python_kind(a, c) != PY_DECORATOR || !stet_python_child(a, c))
            continue;
        t = decorator_transform(w, stet_python_child(a, c), &options);
        if (!t)
            continue;
        if (t->kind == PY_DISABLES) {
            w->out->fns[fn].disabled = true;
        } else if (t->kind == PY_MEMOIZES) {
            w->fns[fn].memoized = true;
        } else if (t->kind == PY_JITS) {
            struct stet_flow_jit j = read_jit(w, options, fn, lane_of(t));

            if (w->out->fns[fn].is_method) /* positions count self there */
                j.static_positions >>= 1;
            trace(w, c, &o, &j, t, options);
            j = read_jit(w, options, fn, lane_of(t));
            w->fns[fn].jit = add_jit(w, j) + 1;
            w->out->fns[fn].compiled = true;
            if (t->lane == PY_LANE_TORCH)
                w->facts |= FLOW_USES_COMPILE;
        } else if (t->kind == PY_TRACES) {
            trace(w, c, &o, NULL, t, options);
        }
    }
}
