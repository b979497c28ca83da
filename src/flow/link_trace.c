/* Tracing spreads from its roots along calls, and with it which parameters are tensors, which are
 * static and which vary. */
#include "flow/linker.h"

#include "base/mem.h"
#include "python/library.h"

static void enqueue(struct linker *l, struct stet_flow_place p)
{
    struct stet_flow_state *s = &l->states[p.file][p.fn];

    if (s->queued)
        return;
    STET_VEC_PUSH(&l->queue, p);
    l->failed |= l->queue.failed;
    s->queued = true;
}

/* Tracing reaches a function, with these arguments and from this place. It is repeated only if
 * something is new. */
static void reach(struct linker *l, struct stet_flow_place p, uint8_t lanes, uint64_t tensors,
                  uint64_t statics, uint64_t given, struct stet_flow_why why)
{
    const struct stet_flow_summary *s = l->files[p.file].code;
    struct stet_flow_state *fn = &l->states[p.file][p.fn];
    struct stet_flow_state *nest = &l->states[p.file][s->fns[p.fn].nest];
    uint64_t new_tensors = tensors & ~nest->tensors, new_statics = statics & ~nest->statics;

    if (s->fns[p.fn].disabled ||
        (!(lanes & ~fn->lanes) && !new_tensors && !new_statics && !(given & ~nest->given)))
        return;
    if (!fn->lanes)
        fn->why = why;
    fn->lanes |= lanes;
    nest->tensors |= tensors;
    nest->statics |= statics;
    nest->given |= given;
    if (l->files[p.file].stops && l->files[p.file].stops[p.fn])
        return;
    enqueue(l, p);
    /* Nested functions see the parameters too. */
    for (uint32_t f = p.fn + 1; (new_tensors || new_statics) && f < s->fn_count; f++) {
        if (s->fns[f].nest != s->fns[p.fn].nest)
            break;
        if (l->states[p.file][f].lanes)
            enqueue(l, (struct stet_flow_place){p.file, f});
    }
}

static uint64_t bit_of(const struct stet_flow_fn *f, uint32_t param)
{
    return param < f->param_count && f->first_bit + param < FLOW_BITS
               ? (uint64_t)1 << (f->first_bit + param)
               : 0;
}

static uint32_t param_named(const struct stet_flow_fn *f, struct stet_view name)
{
    for (uint32_t i = 0; i < f->param_count; i++) {
        if (stet_view_eq(f->params[i], name))
            return i;
    }
    return UINT32_MAX;
}

/* The parameter that an argument gives. */
static uint64_t bit_given(const struct stet_flow_fn *f, const struct stet_flow_arg *a)
{
    uint32_t place = a->position >= 0 ? (uint32_t)a->position + (f->is_method ? 1 : 0) : 0;

    if (a->position < 0)
        return bit_of(f, param_named(f, a->name));
    return place < f->positional ? bit_of(f, place) : 0; /* else one of *args */
}

/* Finds the classes that other files define, for the parameters that are annotated with them, and
 * for methods. */
static void resolve_types(struct linker *l)
{
    for (uint32_t f = 0; f < l->file_count; f++) {
        const struct stet_flow_summary *s = l->files[f].code;

        for (uint32_t i = 0; i < s->fn_count; i++) {
            const struct stet_flow_fn *fn = &s->fns[i];

            l->states[f][i].python = fn->python_mask;
            l->states[f][i].hashed =
                fn->compiled && fn->class_index != FLOW_NONE &&
                stet_flow_linker_has_method(l, f, fn->class_index, STET_VIEW("__hash__"));
            for (uint32_t k = 0; k < fn->param_count; k++)
                if (fn->types[k].len && stet_flow_linker_is_plain(l, fn->types[k]))
                    l->states[f][i].python |= bit_of(fn, k);
        }
    }
}

/* A root: which parameters are tensors and which static. */
static void root_masks(const struct stet_flow_fn *f, uint64_t python,
                       const struct stet_flow_call *c, uint8_t lanes, uint64_t *tensors,
                       uint64_t *statics)
{
    uint32_t skip = f->is_method ? 1 : 0;

    for (uint32_t i = skip; i < f->param_count; i++) {
        uint64_t bit = bit_of(f, i);
        bool is_static =
            i - skip < 64 && i < f->positional && (c->static_positions >> (i - skip) & 1);

        for (uint32_t k = 0; k < c->static_name_count; k++)
            is_static |= stet_view_eq(c->static_names[k], f->params[i]);
        if (is_static)
            *statics |= bit;
        else if (lanes & FLOW_JAX || !lanes)
            *tensors |= bit & ~python;
        else if (f->tensor_mask & bit)
            *tensors |= bit;
        else if (!(python & bit) || (f->scalar_mask & bit))
            *statics |= bit;
    }
}

static void apply(struct linker *l, uint32_t file, const struct stet_flow_call *c)
{
    const struct stet_flow_summary *s = l->files[file].code;
    const struct stet_flow_state *caller =
        c->caller == FLOW_NONE ? NULL : &l->states[file][c->caller];
    const struct stet_flow_state *nest =
        c->caller == FLOW_NONE ? NULL : &l->states[file][s->fns[c->caller].nest];
    uint8_t lanes = c->lanes ? c->lanes : caller ? caller->lanes : 0;
    uint64_t live = FLOW_ALWAYS | (nest ? nest->tensors : 0), tensors = 0, statics = 0, python;
    uint64_t given = c->lanes || c->spreads || c->all_tensors ? UINT64_MAX : 0;
    struct stet_flow_place p;
    const struct stet_flow_fn *f;
    struct stet_flow_why why = {{FLOW_NONE, 0}, file, c->line, c->how};

    if (!lanes || (c->guard && l->guards[file][c->guard - 1]) ||
        (nest && !c->lanes && (c->asked & ~nest->given)))
        return;
    p = stet_flow_linker_callee(l, file, c);
    if (p.file == FLOW_NONE)
        return;
    f = &l->files[p.file].code->fns[p.fn];
    python = l->states[p.file][p.fn].python;
    if (!c->lanes)
        why.caller = (struct stet_flow_place){file, c->caller};
    if (c->all_tensors) {
        root_masks(f, python, c, c->lanes, &tensors, &statics);
        l->states[p.file][f->nest].rooted |= statics;
        for (uint32_t i = 0; c->lanes && i < f->param_count; i++)
            l->states[p.file][f->nest].own |= bit_of(f, i);
    }
    for (uint32_t i = 0; i < c->arg_count; i++) {
        const struct stet_flow_arg *a = &c->args[i];
        uint64_t bit = bit_given(f, a);

        given |= a->nothing ? 0 : bit;
        if ((a->deps & live) && !(python & bit) && !(a->guess && (f->number_mask & bit)))
            tensors |= bit;
        if (c->lanes & FLOW_JAX)
            l->states[p.file][f->nest].own |= bit; /* differentiated, or mapped over */
        if (nest && !c->lanes && caller->why.caller.file == FLOW_NONE &&
            (a->deps & (FLOW_ALWAYS | (nest->tensors & nest->own))))
            l->states[p.file][f->nest].near |= bit;
        if (nest && (a->static_deps & nest->statics))
            statics |= bit;
    }
    reach(l, p, lanes, tensors, statics, given, why);
}

/* The framework that calls a method when it calls its object; PY_LANE_NONE for all other
 * functions. */
static enum stet_python_lane calling_lane(struct linker *l, uint32_t file,
                                          const struct stet_flow_fn *fn)
{
    const struct stet_python_called *called;

    for (size_t i = 0; fn->class_index != FLOW_NONE && (called = stet_python_called(i)); i++) {
        enum class_kind of = called->lane == PY_LANE_TORCH ? CLASS_TORCH : CLASS_FLAX;

        if (stet_view_is(fn->name, called->name) &&
            stet_flow_linker_class(l, file, fn->class_index) == of)
            return called->lane;
    }
    return PY_LANE_NONE;
}

/* Starts at the roots: functions named by transforms, and methods through which modules are
 * called. */
static void start(struct linker *l)
{
    for (uint32_t f = 0; f < l->file_count; f++) {
        const struct stet_flow_summary *s = l->files[f].code;

        for (uint32_t i = 0; i < s->call_count; i++) {
            if (s->calls[i].lanes)
                apply(l, f, &s->calls[i]);
        }
        for (uint32_t i = 1; i < s->fn_count; i++) {
            enum stet_python_lane lane = calling_lane(l, f, &s->fns[i]);

            if (lane != PY_LANE_NONE)
                reach(l, (struct stet_flow_place){f, i},
                      lane == PY_LANE_TORCH ? FLOW_MODULE : FLOW_FLAX, s->fns[i].tensor_mask, 0,
                      UINT64_MAX,
                      (struct stet_flow_why){{FLOW_NONE, 0}, f, s->fns[i].line, STET_VIEW("")});
        }
    }
}

/* Calls by caller, so that each step of the queue looks only at one function's calls. */
struct calls_of {
    uint32_t *first, *list;
};

static bool index_calls(const struct stet_flow_summary *s, struct calls_of *out)
{
    out->first = stet_mem_calloc((size_t)s->fn_count + 2, sizeof *out->first);
    out->list = stet_mem_calloc((size_t)s->call_count + 1, sizeof *out->list);
    if (!out->first || !out->list)
        return false;
    for (uint32_t i = 0; i < s->call_count; i++) {
        if (s->calls[i].caller != FLOW_NONE)
            out->first[s->calls[i].caller + 2]++;
    }
    for (uint32_t i = 2; i < s->fn_count + 2; i++)
        out->first[i] += out->first[i - 1];
    for (uint32_t i = 0; i < s->call_count; i++) {
        if (s->calls[i].caller != FLOW_NONE)
            out->list[out->first[s->calls[i].caller + 1]++] = i;
    }
    return true;
}

static void spread(struct linker *l, struct calls_of *index)
{
    while (l->queue.count && !l->failed) {
        struct stet_flow_place p = l->queue.items[--l->queue.count];
        const struct stet_flow_summary *s = l->files[p.file].code;
        struct calls_of *calls = &index[p.file];

        l->states[p.file][p.fn].queued = false;
        if (!calls->first && !index_calls(s, calls)) {
            l->failed = true;
            return;
        }
        for (uint32_t i = calls->first[p.fn]; i < calls->first[p.fn + 1]; i++)
            apply(l, p.file, &s->calls[calls->list[i]]);
    }
}

/* The effect of one call; true if something is new. */
static bool vary_by(struct linker *l, uint32_t file, const struct stet_flow_call *c)
{
    const struct stet_flow_summary *s = l->files[file].code;
    const struct stet_flow_state *caller =
        c->caller == FLOW_NONE ? NULL : &l->states[file][c->caller];
    const struct stet_flow_state *nest =
        c->caller == FLOW_NONE ? NULL : &l->states[file][s->fns[c->caller].nest];
    bool traced = caller && caller->lanes, changed = false;
    /* A loop inside traced code is unrolled: the same values whenever it is traced. */
    bool counts = !(traced && c->in_loop);
    struct stet_flow_place p;
    const struct stet_flow_fn *f;
    struct stet_flow_state *to;
    bool repeated, plain;

    if (c->all_tensors)
        return false; /* the call names the function and does not call it */
    p = stet_flow_linker_callee(l, file, c);
    if (p.file == FLOW_NONE)
        return false;
    f = &l->files[p.file].code->fns[p.fn];
    to = &l->states[p.file][f->nest];
    /* Code that is not compiled calls a part of compiled code, or the plain function of which
     * jax.vmap(f) or jax.jit(f) made another: that call compiles nothing. */
    plain = !traced && !c->lanes && l->states[p.file][p.fn].lanes &&
            (l->states[p.file][p.fn].why.caller.file != FLOW_NONE ||
             (!c->compiled && !f->compiled && l->states[p.file][p.fn].why.how.len));
    for (uint32_t i = 0; !plain && i < c->arg_count; i++) {
        const struct stet_flow_arg *a = &c->args[i];
        uint64_t bit = bit_given(f, a);

        if (((a->varies && counts) || (nest && ((a->deps | a->static_deps) & nest->varying))) &&
            !(to->varying & bit)) {
            to->varying |= bit;
            changed = changed || bit;
        }
    }
    repeated = (!traced && c->in_loop) || (caller && caller->repeated);
    if (repeated && !l->states[p.file][p.fn].repeated)
        l->states[p.file][p.fn].repeated = changed = true;
    return changed;
}

/* Which parameters vary, and which functions are called repeatedly. Computed only for files
 * that need it, and from other files only for calls with a varying argument. */
static void vary(struct linker *l)
{
    for (uint32_t f = 0; f < l->file_count; f++) {
        const struct stet_flow_summary *s = l->files[f].code;

        for (uint32_t i = 0; i < s->call_count; i++) {
            const struct stet_flow_call *c = &s->calls[i];
            bool brings = false;

            for (uint32_t k = 0; k < c->arg_count; k++)
                brings |= c->args[k].varies;
            if (brings && c->callee == FLOW_NONE)
                vary_by(l, f, c);
        }
    }
    for (uint32_t f = 0; f < l->file_count; f++) {
        const struct stet_flow_summary *s = l->files[f].code;
        bool changed = true;

        for (unsigned round = 0; l->files[f].asks_calls && changed && round < 8; round++) {
            changed = false;
            for (uint32_t i = 0; i < s->call_count; i++)
                changed |= s->calls[i].callee != FLOW_NONE && vary_by(l, f, &s->calls[i]);
        }
    }
}

void stet_flow_linker_trace(struct linker *l)
{
    struct calls_of *index = stet_mem_calloc(l->file_count + 1, sizeof *index);

    if (!index) {
        l->failed = true;
        return;
    }
    resolve_types(l);
    start(l);
    spread(l, index);
    vary(l);
    for (size_t f = 0; f < l->file_count; f++) {
        stet_mem_free(index[f].first);
        stet_mem_free(index[f].list);
    }
    stet_mem_free(index);
}
