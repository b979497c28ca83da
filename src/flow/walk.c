/* One file from tree to summary: parameters and facts first, then the walk. */
#include "flow/walk.h"

#include "base/mem.h"

static enum stet_flow_role role_of_default(const struct stet_python_ast *a, stet_python_ref value)
{
    switch (stet_python_kind(a, value)) {
    case PY_TRUE:
    case PY_FALSE:
    case PY_STRING:
    case PY_LAMBDA:
    case PY_ATTRIBUTE:
    case PY_TUPLE:
        return FLOW_ROLE_PYTHON;
    case PY_INTEGER:
    case PY_FLOAT:
        return FLOW_ROLE_SCALAR;
    default:
        return FLOW_ROLE_UNKNOWN;
    }
}

/* Adds one parameter to the function in the summary. */
static void add_parameter(struct stet_flow_walk *w, uint32_t fn, struct stet_flow_fn *f,
                          stet_python_ref c)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref name =
        stet_python_kind(a, c) == PY_IDENTIFIER ? c : stet_python_field(a, c, PY_FIELD_NAME);
    stet_python_ref type = stet_python_field(a, c, PY_FIELD_TYPE),
                    value = stet_python_field(a, c, PY_FIELD_VALUE);
    enum stet_flow_role role = FLOW_ROLE_UNKNOWN;
    char room[160];
    uint64_t bit;

    if (!name && stet_python_kind(a, c) == PY_TYPED_PARAMETER)
        name = stet_python_child(a, c);
    if (!stet_python_name(a, name)) {
        if (stet_python_kind(a, c) == PY_LIST_SPLAT_PATTERN ||
            stet_python_kind(a, c) == PY_KEYWORD_SEPARATOR)
            f->positional = f->param_count;
        return;
    }
    bit = f->first_bit + f->param_count < FLOW_BITS ? (uint64_t)1 << (f->first_bit + f->param_count)
                                                    : 0;
    if (type)
        role = stet_flow_annotated(w, type);
    if (role == FLOW_ROLE_TENSOR &&
        (stet_python_kind(a, value) == PY_FALSE || stet_python_kind(a, value) == PY_TRUE))
        role = FLOW_ROLE_PYTHON; /* flag: Tensor | None = False */
    if (role == FLOW_ROLE_TENSOR && (w->facts & FLOW_USES_PICTURES) &&
        stet_flow_used_as_image(w, fn, stet_python_name(a, name)) &&
        !stet_flow_used_as_tensor(w, fn, stet_python_name(a, name)))
        role = FLOW_ROLE_IMAGE; /* transforms of torchvision take both, and say so of none */
    if (role == FLOW_ROLE_UNKNOWN && value)
        role = role_of_default(a, value);
    if (role == FLOW_ROLE_UNKNOWN && (w->facts & FLOW_USES_PICTURES) &&
        stet_flow_used_as_image(w, fn, stet_python_name(a, name)))
        role = FLOW_ROLE_IMAGE;
    if (role == FLOW_ROLE_UNKNOWN && (stet_flow_used_as_tensor(w, fn, stet_python_name(a, name)) ||
                                      stet_flow_used_as_mask(w, fn, stet_python_name(a, name))))
        role = FLOW_ROLE_TENSOR;
    else if (role == FLOW_ROLE_UNKNOWN && stet_flow_draws(w, fn, stet_python_name(a, name)))
        role = FLOW_ROLE_PYTHON;
    if (f->is_method && f->param_count == 0)
        role = FLOW_ROLE_PYTHON;
    if (role == FLOW_ROLE_PYTHON || role == FLOW_ROLE_SCALAR || role == FLOW_ROLE_IMAGE)
        f->python_mask |= bit;
    if (role == FLOW_ROLE_IMAGE)
        f->disabled = true;
    if (role == FLOW_ROLE_SCALAR)
        f->scalar_mask |= bit;
    if (role == FLOW_ROLE_TENSOR)
        f->tensor_mask |= bit;
    if (role == FLOW_ROLE_UNKNOWN && stet_flow_used_as_number(w, fn, stet_python_name(a, name)))
        f->number_mask |= bit;
    if (type && role == FLOW_ROLE_UNKNOWN)
        f->types[f->param_count] =
            stet_arena_copy(&w->out->arena, stet_flow_annotated_class(w, type, room));
    f->params[f->param_count++] = stet_arena_copy(&w->out->arena, stet_python_text(a, name));
}

static uint32_t nest_of(const struct stet_flow_walk *w, uint32_t fn)
{
    while (fn && w->fns[fn].parent)
        fn = w->fns[fn].parent;
    return fn;
}

static bool summarize_functions(struct stet_flow_walk *w, uint32_t *used)
{
    const struct stet_python_ast *a = w->ast;

    w->out->fns = STET_NEW_ARRAY(&w->out->arena, struct stet_flow_fn, w->fn_count);
    if (!w->out->fns)
        return false;
    w->out->fn_count = w->fn_count;
    for (uint32_t i = 0; i < w->fn_count; i++) {
        struct stet_flow_fn *f = &w->out->fns[i];
        stet_python_ref parameters = w->fns[i].parameters, first;
        uint32_t count = 0;

        f->name = i ? stet_arena_copy(&w->out->arena, a->names.items[w->fns[i].name])
                    : STET_VIEW("<module>");
        if (i && stet_python_kind(a, w->fns[i].node) == PY_LAMBDA)
            f->name = STET_VIEW("<lambda>");
        f->class_index = w->fns[i].owner;
        f->nest = nest_of(w, i);
        f->nested = f->nest != i;
        f->line = stet_python_at(a, w->fns[i].node)->row + 1;
        if (i && !f->nested && w->fns[i].owner == FLOW_NONE) {
            f->asks_compiling = stet_flow_returns(w, w->fns[i].node, PY_MEANS_COMPILING);
            f->denies_compiling = stet_flow_denies(w, w->fns[i].node, PY_MEANS_COMPILING);
        }
        f->first_bit = used[f->nest];
        for (stet_python_ref c = parameters ? stet_python_child(a, parameters) : 0; c;
             c = stet_python_next(a, c))
            count++;
        f->params = STET_NEW_ARRAY(&w->out->arena, struct stet_view, count + 1);
        f->positional = UINT32_MAX;
        f->types = STET_NEW_ARRAY(&w->out->arena, struct stet_view, count + 1);
        first = parameters ? stet_python_child(a, parameters) : 0;
        f->is_method = i && stet_python_is_method(w->module, w->fns[i].node);
        for (stet_python_ref c = first; c && f->params && f->types; c = stet_python_next(a, c))
            add_parameter(w, i, f, c);
        f->positional = f->positional < f->param_count ? f->positional : f->param_count;
        used[f->nest] += f->param_count;
    }
    return !w->out->arena.failed;
}

static bool summarize_classes(struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    char room[160];

    w->out->classes = STET_NEW_ARRAY(&w->out->arena, struct stet_flow_class, w->class_count + 1);
    if (!w->out->classes)
        return false;
    w->out->class_count = w->class_count;
    for (uint32_t i = 0; i < w->class_count; i++) {
        struct stet_flow_class *c = &w->out->classes[i];
        stet_python_ref bases = stet_python_field(a, w->classes[i].node, PY_FIELD_SUPERCLASSES);
        uint32_t count = 0;

        c->name = stet_arena_copy(&w->out->arena, a->names.items[w->classes[i].name]);
        for (stet_python_ref b = bases ? stet_python_child(a, bases) : 0; b;
             b = stet_python_next(a, b))
            count++;
        c->is_plain = stet_flow_is_plain_class(w, w->classes[i].node);
        c->bases = STET_NEW_ARRAY(&w->out->arena, struct stet_view, count + 1);
        for (stet_python_ref b = bases ? stet_python_child(a, bases) : 0; b && c->bases;
             b = stet_python_next(a, b)) {
            bool imported;
            struct stet_view base = stet_python_dotted(w->module, b, room, &imported);

            if (base.len)
                c->bases[c->base_count++] = stet_arena_copy(&w->out->arena, base);
        }
    }
    return !w->out->arena.failed;
}

bool stet_flow_mentions(const struct stet_flow_walk *w, stet_python_ref n, const char *const *names)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n; n && stet_flow_within(w, c, n); c++) {
        if (a->nodes[c].kind == PY_IDENTIFIER &&
            stet_view_in(a->names.items[a->nodes[c].child], names))
            return true;
    }
    return false;
}

bool stet_flow_holds_shape(const struct stet_flow_walk *w, stet_python_ref n)
{
    for (stet_python_ref c = n; n && stet_flow_within(w, c, n); c++)
        if (stet_flow_value_of(w, c).kind == FLOW_V_SHAPE)
            return true;
    return false;
}

static void release(struct stet_flow_walk *w)
{
    for (uint32_t i = 0; i < w->fn_count; i++)
        stet_flow_scope_release(&w->fns[i].scope);
    for (uint32_t i = 0; i < w->class_count; i++)
        stet_flow_scope_release(&w->classes[i].attributes);
    stet_mem_free(w->fns);
    stet_mem_free(w->classes);
    stet_mem_free(w->jits);
    stet_map_release(&w->index_of);
    stet_map_release(&w->moves);
    stet_map_release(&w->class_moves);
    stet_map_release(&w->builders);
    stet_mem_free(w->global_writes);
    stet_mem_free(w->compiled);
    stet_mem_free(w->values);
}

static bool walk(struct stet_flow_walk *w)
{
    uint32_t *used = NULL;
    bool fine;

    w->global_writes = stet_mem_calloc(w->ast->names.count, sizeof *w->global_writes);
    w->compiled = stet_mem_calloc(w->ast->names.count, sizeof *w->compiled);
    w->values = stet_mem_calloc(w->ast->count, sizeof *w->values);
    if (!w->global_writes || !w->compiled || !w->values || !stet_flow_collect(w))
        return false;
    if (!stet_python_builders(w->module, &w->builders))
        return false;
    stet_flow_note_moves(w);
    stet_flow_note_compiled(w);
    w->facts = stet_flow_file_facts(w);
    used = stet_mem_calloc(w->fn_count, sizeof *used);
    fine = used && summarize_functions(w, used) && summarize_classes(w);
    stet_mem_free(used);
    if (!fine)
        return false;
    stet_flow_run_function(w, 0);
    return !w->failed;
}

enum stet_rc stet_flow_walk_file(struct stet_flow_summary *out,
                                 const struct stet_python_module *module,
                                 const struct stet_flow_listener *listener, struct stet_err *err)
{
    struct stet_flow_work work = {.most = (1 << 16) + (uint64_t)module->ast.count * 256};
    struct stet_map moves = {0};
    struct stet_flow_walk w = {.module = module,
                               .ast = &module->ast,
                               .out = out,
                               .listener = listener,
                               .work = &work,
                               .attribute_moves = &moves};
    bool fine;

    *out = (struct stet_flow_summary){.broken = module->ast.broken};
    stet_arena_init(&out->arena, (size_t)256 << 20);
    out->module = stet_arena_copy(&out->arena, module->name);
    fine = walk(&w);
    out->imports =
        stet_arena_adopt(&out->arena, out->imports, out->import_count, sizeof *out->imports);
    out->calls = stet_arena_adopt(&out->arena, out->calls, out->call_count, sizeof *out->calls);
    out->guards = stet_arena_adopt(&out->arena, out->guards, out->guard_count, sizeof *out->guards);
    out->steps = work.steps;
    release(&w);
    stet_map_release(&moves);
    if (!fine || w.failed || out->arena.failed) {
        stet_flow_summary_release(out);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    return STET_OK;
}
