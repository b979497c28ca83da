/* Infers from a parameter's uses what it is, if neither a type nor a caller shows it. */
#include "flow/walk.h"

/* x.view(…), x.sum(), x.to(…): a method of tensors. */
static bool is_tensor_method(struct stet_view name)
{
    enum stet_python_effect effect = stet_python_library_method(name);

    return stet_python_array(name) || effect == PY_GIVES_SCALAR || effect == PY_GIVES_ARRAYS ||
           effect == PY_GIVES_HOSTED || effect == PY_GIVES_REDUCES || effect == PY_GIVES_SIZE ||
           effect == PY_GIVES_RANK || effect == PY_GIVES_MOVES || effect == PY_GIVES_TENSOR ||
           effect == PY_GIVES_PARTS || effect == PY_GIVES_GRADS;
}

/* torch.relu(x), F.linear(x, …): the first argument is a tensor unless it is a size, or what a
 * tensor is made from. */
static bool is_array_function(struct stet_flow_walk *w, stet_python_ref call)
{
    stet_python_ref function = stet_python_field(w->ast, call, PY_FIELD_FUNCTION);
    char room[160], called_room[160];
    struct stet_view dotted = stet_python_imported(w->module, function, room);
    struct stet_view last = stet_python_library_callee(w->module, call, called_room);
    const struct stet_python_array *array = stet_python_array(last);
    enum stet_python_meaning meaning = stet_python_library_meaning(dotted);

    return dotted.len && last.len && stet_python_is_device(stet_python_library(dotted)) &&
           meaning != PY_MEANS_CONVERTS && meaning != PY_MEANS_ASSEMBLES &&
           meaning != PY_MEANS_PICTURES && last.ptr[0] >= 'a' && !(array && array->first == 0);
}

/* self.layer(x): a module that is an attribute is called with a tensor. */
static bool is_submodule(const struct stet_flow_walk *w, uint32_t fn, stet_python_ref function)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t owner = w->fns[fn].owner;

    return owner != FLOW_NONE && stet_python_kind(a, function) == PY_ATTRIBUTE &&
           stet_python_self_class(w->module, stet_python_field(a, function, PY_FIELD_OBJECT)) &&
           stet_python_field(a, w->classes[owner].node, PY_FIELD_SUPERCLASSES) &&
           stet_flow_method(
               w, owner, stet_python_name(a, stet_python_field(a, function, PY_FIELD_ATTRIBUTE))) ==
               FLOW_NONE;
}

static bool is_jit(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_transform *t;
    char room[160];

    n = stet_python_bare(w->ast, n);
    if (stet_python_kind(w->ast, n) == PY_CALL)
        n = stet_python_field(w->ast, n, PY_FIELD_FUNCTION);
    t = stet_python_transform(stet_python_imported(w->module, n, room));
    return t && t->kind == PY_JITS;
}

void stet_flow_note_compiled(struct stet_flow_walk *w)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (uint32_t i = 0; i < m->bindings.count; i++) {
        const struct stet_python_binding *b = &m->bindings.items[i];

        if (b->how == PY_BIND_VALUE && !b->attribute && b->position < 0 &&
            stet_python_kind(a, b->value) == PY_CALL && is_jit(w, b->value))
            w->compiled[b->name] = true;
    }
    for (uint32_t f = 1; f < w->fn_count; f++) {
        stet_python_ref c = w->fns[f].decorated ? stet_python_child(a, w->fns[f].decorated) : 0;

        for (; c; c = stet_python_next(a, c))
            if (stet_python_kind(a, c) == PY_DECORATOR && is_jit(w, stet_python_child(a, c)))
                w->compiled[w->fns[f].name] = true;
    }
    w->compiled[0] = false;
}

static bool call_takes(struct stet_flow_walk *w, uint32_t fn, stet_python_ref call, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref f = stet_python_field(a, call, PY_FIELD_FUNCTION);
    stet_python_ref object =
        stet_python_kind(a, f) == PY_ATTRIBUTE ? stet_python_field(a, f, PY_FIELD_OBJECT) : 0;

    if (stet_python_name(a, object) == name)
        return is_tensor_method(stet_python_callee(w->module, call));
    return stet_python_name(a, stet_python_argument(w->module, call, 0)) == name &&
           (is_array_function(w, call) || is_submodule(w, fn, f) ||
            w->compiled[stet_python_name(a, f)]);
}

/* x[:, 0], x[..., None], x[y > 0]: only arrays are indexed so. */
static bool has_dimensions(const struct stet_python_ast *a, stet_python_ref n)
{
    stet_python_ref first = stet_python_next(a, stet_python_field(a, n, PY_FIELD_VALUE));

    return first && (stet_python_next(a, first) || stet_python_kind(a, first) == PY_ELLIPSIS ||
                     stet_python_kind(a, first) == PY_COMPARISON);
}

static bool is_tensor_use(struct stet_flow_walk *w, uint32_t fn, stet_python_ref n, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;

    switch (stet_python_kind(a, n)) {
    case PY_CALL:
        return call_takes(w, fn, n, name);
    case PY_ATTRIBUTE: {
        struct stet_view attribute =
            stet_python_text(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE));

        return stet_python_name(a, stet_python_field(a, n, PY_FIELD_OBJECT)) == name &&
               stet_python_only_arrays(attribute);
    }
    case PY_SUBSCRIPT:
        return stet_python_name(a, stet_python_field(a, n, PY_FIELD_VALUE)) == name &&
               has_dimensions(a, n);
    case PY_BINARY:
        return a->nodes[n].op == '@' &&
               (stet_python_name(a, stet_python_field(a, n, PY_FIELD_LEFT)) == name ||
                stet_python_name(a, stet_python_field(a, n, PY_FIELD_RIGHT)) == name);
    default:
        return false;
    }
}

bool stet_flow_used_as_tensor(struct stet_flow_walk *w, uint32_t fn, uint32_t name)
{
    stet_python_ref body = w->fns[fn].body;

    for (stet_python_ref n = body; body && name && stet_flow_within(w, n, body); n++)
        if (is_tensor_use(w, fn, n, name))
            return true;
    return false;
}

static bool is_mask_use(struct stet_flow_walk *w, stet_python_ref n, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    enum stet_python_meaning meaning;
    bool method;

    if (stet_python_kind(a, n) == PY_UNARY)
        return a->nodes[n].op == '~' && stet_python_name(a, stet_python_child(a, n)) == name;
    if (stet_python_kind(a, n) != PY_CALL)
        return false;
    meaning = stet_python_call_meaning(w->module, n);
    if (stet_python_name(a, stet_python_callee_object(w->module, n)) == name)
        return meaning == PY_MEANS_TESTS_MASK;
    if (!stet_python_argument(w->module, n, 1))
        return false;
    /* where(m, …), x.masked_fill(m, …), torch.masked_fill(x, m, …) */
    method = !stet_python_meaning(w->module, stet_python_field(a, n, PY_FIELD_FUNCTION));
    if (meaning == PY_MEANS_TAKES_MASK)
        return stet_python_name(a, stet_python_argument(w->module, n, method ? 0 : 1)) == name;
    return (meaning == PY_MEANS_SELECTS_BY_MASK || meaning == PY_MEANS_TESTS_MASK) &&
           stet_python_name(a, stet_python_argument(w->module, n, 0)) == name;
}

bool stet_flow_draws(struct stet_flow_walk *w, uint32_t fn, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = w->fns[fn].body;

    for (stet_python_ref n = body; body && name && stet_flow_within(w, n, body); n++)
        if (stet_python_kind(a, n) == PY_CALL &&
            stet_python_name(a, stet_python_callee_object(w->module, n)) == name &&
            stet_python_library_method(stet_python_callee(w->module, n)) == PY_GIVES_DRAWS)
            return true;
    return false;
}

bool stet_flow_used_as_image(struct stet_flow_walk *w, uint32_t fn, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = w->fns[fn].body;
    bool used = false;

    for (stet_python_ref n = body; body && name && stet_flow_within(w, n, body); n++) {
        stet_python_ref f =
            stet_python_kind(a, n) == PY_CALL ? stet_python_field(a, n, PY_FIELD_FUNCTION) : 0;
        enum stet_python_meaning meaning;

        if (!f || stet_python_name(a, stet_python_argument(w->module, n, 0)) != name)
            continue;
        meaning = stet_python_meaning(w->module, f);
        if (meaning == PY_MEANS_CHECKS_TYPE)
            return false; /* it may be an array too */
        used |= meaning == PY_MEANS_PICTURES;
    }
    return used;
}

bool stet_flow_used_as_number(struct stet_flow_walk *w, uint32_t fn, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = w->fns[fn].body;

    for (stet_python_ref n = body; body && name && stet_flow_within(w, n, body); n++) {
        stet_python_ref up = stet_python_name(a, n) == name ? w->module->parents[n] : 0;

        while (stet_python_kind(a, up) == PY_UNARY || stet_python_kind(a, up) == PY_BINARY)
            up = w->module->parents[up];
        if (stet_python_kind(a, up) == PY_SLICE)
            return true;
        if (stet_python_kind(a, up) == PY_ARGUMENTS &&
            stet_python_call_meaning(w->module, w->module->parents[up]) == PY_MEANS_COUNTS)
            return true;
    }
    return false;
}

/* x > 0, ~y, torch.isnan(x) */
static bool gives_mask(const struct stet_python_ast *a, stet_python_ref n)
{
    n = stet_python_bare(a, n);
    return stet_python_kind(a, n) == PY_COMPARISON ||
           (stet_python_kind(a, n) == PY_UNARY && a->nodes[n].op == '~');
}

/* A call of the function in this file passes a mask at the parameter's place. */
static bool is_given_mask(struct stet_flow_walk *w, uint32_t fn, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref list = w->fns[fn].parameters;
    unsigned position = 0;
    stet_python_ref p = list ? stet_python_child(a, list) : 0;

    while (p && stet_python_name(a, p) != name)
        p = stet_python_next(a, p), position++;
    for (stet_python_ref n = 1; p && w->fns[fn].name && stet_flow_within(w, n, 0); n++)
        if (stet_python_kind(a, n) == PY_CALL &&
            stet_python_name(a, stet_python_field(a, n, PY_FIELD_FUNCTION)) == w->fns[fn].name &&
            gives_mask(a, stet_python_argument(w->module, n, position)))
            return true;
    return false;
}

/* x[m] */
static bool is_index(const struct stet_python_ast *a, stet_python_ref n, uint32_t name)
{
    stet_python_ref c = stet_python_kind(a, n) == PY_SUBSCRIPT
                            ? stet_python_next(a, stet_python_field(a, n, PY_FIELD_VALUE))
                            : 0;

    while (c && stet_python_name(a, c) != name)
        c = stet_python_next(a, c);
    return c != 0;
}

bool stet_flow_used_as_mask(struct stet_flow_walk *w, uint32_t fn, uint32_t name)
{
    stet_python_ref body = w->fns[fn].node;
    bool indexes = false;

    for (stet_python_ref n = body; name && !indexes && stet_flow_within(w, n, body); n++)
        indexes = is_index(w->ast, n, name);
    if (!indexes)
        return false;
    for (stet_python_ref n = body; name && stet_flow_within(w, n, body); n++)
        if (is_mask_use(w, n, name))
            return true;
    return fn && is_given_mask(w, fn, name);
}
