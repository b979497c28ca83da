/* What decides the sizes of arrays: the numbers that they are made and cut with, and the masks that
 * select from them. The values of an array do not decide its size. */
#include "python/value_flow.h"

enum { MASK_DEPTH = 6 };

static const struct stet_python_value nothing;

static struct stet_python_value in_mode(struct stet_python_flow *x, stet_python_ref n, bool sized)
{
    bool before = x->sized;
    int position = x->position;
    struct stet_python_value v;

    x->sized = sized;
    x->position = -1;
    v = stet_python_flow_of(x, n);
    x->sized = before;
    x->position = position;
    return v;
}

struct stet_python_value stet_python_flow_of_size(struct stet_python_flow *x, stet_python_ref n)
{
    return in_mode(x, n, true);
}

struct stet_python_value stet_python_flow_of_count(struct stet_python_flow *x, stet_python_ref n)
{
    struct stet_python_value v = stet_python_flow_of_size(x, n);

    if (v.made.module == v.read.module && v.made.line == v.read.line)
        v.from &= ~(uint32_t)PY_FROM_SELECTED; /* read where it is counted: their number alone */
    return v;
}

/* A number that becomes a size. */
static struct stet_python_value number(struct stet_python_flow *x, stet_python_ref n)
{
    struct stet_python_value v = in_mode(x, n, false);

    v.from &= PY_FROM_READ | PY_FROM_SURE | PY_FROM_TURNS; /* however many were selected */
    v.parameters = 0;
    return v;
}

/* A mask, or data, of which as many are taken as there are. */
static struct stet_python_value selection(struct stet_python_flow *x, stet_python_ref n)
{
    struct stet_python_value v = number(x, n);

    if (v.from & PY_FROM_READ) {
        v.from |= PY_FROM_SELECTED;
        v.made = stet_python_place_of(x->frame->module, n);
    }
    return v;
}

/* ---- subscripts ---- */

static bool is_mask(struct stet_python_flow *x, stet_python_ref n, unsigned depth);

static bool is_mask_call(struct stet_python_flow *x, stet_python_ref call, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_callee c = stet_python_resolve(x, call);

    if (c.definition)
        return false;
    if (stet_python_compares(stet_python_callee(m, call)))
        return true;
    return (c.meaning == PY_MEANS_CONVERTS || c.meaning == PY_MEANS_STACKS) &&
           is_mask(x, stet_python_argument(m, call, 0), depth + 1);
}

/* Is it an array of truth values, as far as the source shows? */
static bool is_mask(struct stet_python_flow *x, stet_python_ref n, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_binding *b;
    char op;

    n = stet_python_bare(&m->ast, n);
    op = n ? stet_python_at(&m->ast, n)->op : 0;
    if (depth > MASK_DEPTH)
        return false;
    switch (stet_python_kind(&m->ast, n)) {
    case PY_COMPARISON:
        return op != 'i' && op != 'n' && op != 's' && op != 't';
    case PY_UNARY:
        return op == '~' && is_mask(x, stet_python_child(&m->ast, n), depth + 1);
    case PY_BINARY:
        return (op == '&' || op == '|' || op == '^') &&
               is_mask(x, stet_python_field(&m->ast, n, PY_FIELD_LEFT), depth + 1);
    case PY_CALL:
        return is_mask_call(x, n, depth);
    case PY_IDENTIFIER:
        b = stet_python_only_binding(m, n);
        return b && b->how == PY_BIND_VALUE && b->position < 0 && is_mask(x, b->value, depth + 1);
    default:
        return false;
    }
}

/* x[:n], x[mask], x[rows], x["name"] */
static struct stet_python_value subscript(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    stet_python_ref of = stet_python_field(a, n, PY_FIELD_VALUE);
    struct stet_python_value v = stet_python_flow_of_size(x, of);

    for (stet_python_ref c = stet_python_next(a, of); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_SLICE)
            v = stet_python_either(v, number(x, c));
        else if (is_mask(x, c, 0))
            v = stet_python_either(v, selection(x, c));
        else if (stet_python_kind(a, c) != PY_STRING)
            v = stet_python_either(v, stet_python_flow_of_size(x, c));
    }
    return v;
}

/* ---- calls ---- */

static bool has_bound(const struct stet_python_module *m, stet_python_ref args)
{
    const struct stet_python_ast *a = &m->ast;

    for (stet_python_ref c = args ? stet_python_child(a, args) : 0; c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_KEYWORD_ARGUMENT &&
            stet_python_bound(stet_python_text(a, stet_python_field(a, c, PY_FIELD_NAME))))
            return true;
    return false;
}

/* The arguments of an array function: arrays before its numbers, and the numbers, of which those of
 * some functions are elements. */
static struct stet_python_value array_call(struct stet_python_flow *x, stet_python_ref args,
                                           const struct stet_python_array *array, bool method)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    uint32_t first = array->first && method ? array->first - 1 : array->first, position = 0;
    bool selects = (array->role & (PY_SELECTS | PY_FINDS)) != 0;
    struct stet_python_value v = nothing;

    for (stet_python_ref c = stet_python_child(a, args); c; c = stet_python_next(a, c)) {
        bool keyword = stet_python_kind(a, c) == PY_KEYWORD_ARGUMENT;
        bool element =
            keyword
                ? stet_python_setting(stet_python_text(a, stet_python_field(a, c, PY_FIELD_NAME)))
            : array->role & PY_ONLY_KEYWORDS ? true
            : array->role & PY_ONLY_FIRST    ? position > first
                                             : false;
        bool before = !keyword && position < first;

        position += !keyword;
        if (stet_python_kind(a, c) == PY_COMMENT || (element && !before))
            continue;
        if (selects)
            v = stet_python_either(v, selection(x, c));
        else
            v = stet_python_either(v, before ? stet_python_flow_of_size(x, c) : number(x, c));
    }
    return v;
}

/* A selection on a device whose line was seen to read something back: how many there are. */
static struct stet_python_value waited(const struct stet_python_flow *x, stet_python_ref call)
{
    struct stet_python_value v = stet_python_flow_of_opaque(x, call);

    if (!(v.from & PY_FROM_READ))
        return nothing;
    v.from |= PY_FROM_SELECTED;
    v.made = v.read;
    return v;
}

static struct stet_python_value call(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_callee c = stet_python_resolve(x, n);
    stet_python_ref args = stet_python_field(&m->ast, n, PY_FIELD_ARGUMENTS);
    const struct stet_python_array *array;
    struct stet_python_value v;

    if (c.definition)
        return stet_python_flow_of_project(x, n, &c);
    array = stet_python_array(stet_python_callee(m, n));
    if (c.meaning == PY_MEANS_DRAWS || c.effect == PY_GIVES_DRAWS)
        return number(x, args);
    v = c.object ? stet_python_flow_of_size(x, c.object) : nothing;
    if (!array || array->role & (PY_RAISES | PY_STARTS) ||
        stet_python_kind(&m->ast, args) != PY_ARGUMENTS)
        return stet_python_either(v, stet_python_flow_of_size(x, args));
    if (array->role & (PY_SELECTS | PY_FINDS)) {
        if (has_bound(m, args))
            return v;
        v = c.object ? stet_python_either(v, selection(x, c.object)) : v;
        /* On a device it waits for the count, wherever the mask was made. */
        if (c.effect != PY_GIVES_HOST && c.effect != PY_GIVES_COPIES)
            v = stet_python_either(v, waited(x, n));
    }
    return stet_python_either(v, array_call(x, args, array, c.object != 0));
}

/* ---- all ---- */

/* [0] * n */
static struct stet_python_value binary(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT);
    stet_python_ref right = stet_python_field(a, n, PY_FIELD_RIGHT);

    if (stet_python_at(a, n)->op == '*' &&
        stet_python_kind(a, stet_python_bare(a, left)) == PY_LIST)
        return number(x, right);
    return stet_python_flow_of_children(x, n);
}

/* [f(x) for x in rows if x > 3]: as many as there are rows, or as its conditions select. */
static struct stet_python_value comprehension(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    bool selects = stet_python_child_of(a, n, PY_IF_CLAUSE) != 0;
    struct stet_python_value v = stet_python_flow_of(x, stet_python_field(a, n, PY_FIELD_BODY));

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        stet_python_ref rows =
            stet_python_kind(a, c) == PY_FOR_IN ? stet_python_field(a, c, PY_FIELD_RIGHT) : 0;

        if (rows)
            v = stet_python_either(v,
                                   selects ? number(x, rows) : stet_python_flow_of_size(x, rows));
    }
    return v;
}

bool stet_python_flow_sizes(struct stet_python_flow *x, stet_python_ref n,
                            struct stet_python_value *out)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    stet_python_ref yes;

    switch (stet_python_kind(a, n)) {
    case PY_SUBSCRIPT:
        *out = subscript(x, n);
        return true;
    case PY_CALL:
        *out = call(x, n);
        return true;
    case PY_BINARY:
        *out = binary(x, n);
        return true;
    case PY_UNARY:
    case PY_COMPARISON:
        *out = stet_python_flow_of_children(x, n);
        return true;
    case PY_LIST_COMPREHENSION:
    case PY_SET_COMPREHENSION:
    case PY_GENERATOR:
        *out = comprehension(x, n);
        return true;
    case PY_CONDITIONAL:
        yes = stet_python_child(a, n);
        *out = stet_python_flow_of(x, yes);
        yes = yes ? stet_python_next(a, yes) : 0;
        if (yes)
            *out = stet_python_either(*out, stet_python_flow_of(x, stet_python_next(a, yes)));
        return true;
    case PY_BOOLEAN:
    case PY_NOT:
    case PY_STRING:
    case PY_CONCATENATED_STRING:
    case PY_LAMBDA:
        *out = nothing;
        return true;
    default:
        return false;
    }
}
