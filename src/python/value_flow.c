/* Evaluates expressions. */
#include "python/value_flow.h"

enum { MOST_STEPS = 8000, MOST_DEPTH = 48 };

static const struct stet_python_value nothing;
static const struct stet_python_value unknown = {.from = PY_FROM_UNKNOWN};

struct stet_python_value stet_python_either(struct stet_python_value a, struct stet_python_value b)
{
    if (!a.read.module || (b.read.module && !(a.from & PY_FROM_SURE) && (b.from & PY_FROM_SURE)))
        a.read = b.read.module ? b.read : a.read;
    if (!a.made.module || (b.from & ~a.from & PY_FROM_SELECTED))
        a.made = b.made.module ? b.made : a.made;
    a.from |= b.from;
    a.parameters |= b.parameters;
    return a;
}

struct stet_python_place stet_python_place_of(const struct stet_python_module *m, stet_python_ref n)
{
    stet_python_ref s = stet_python_statement_of(m, n);
    uint32_t end = s ? stet_python_own_end(m, s) : 0;

    while (end && strchr(" \t\r\n", m->ast.text.ptr[end - 1])) /* before the block */
        end--;
    return (struct stet_python_place){m, stet_python_line(m, s ? s : n),
                                      stet_python_row(&m->ast, end ? end - 1 : 0) + 1};
}

static bool was_read(const struct stet_python_flow *x, stet_python_ref n, bool calls)
{
    struct stet_python_place at = stet_python_place_of(x->frame->module, n);

    return x->copies->read(x->copies->context, stet_view_str(at.module->path), at.line, at.last,
                           calls);
}

bool stet_python_may_read(const struct stet_python_flow *x, stet_python_ref n,
                          const struct stet_python_value *v)
{
    if (!x->copies)
        return (v->from & PY_FROM_DEVICE) != 0;
    return v->from & (PY_FROM_DEVICE | PY_FROM_UNKNOWN) && was_read(x, n, false);
}

struct stet_python_value stet_python_read_in(struct stet_python_flow *x, stet_python_ref n,
                                             struct stet_python_value v, bool number)
{
    struct stet_python_place at = stet_python_place_of(x->frame->module, n);

    if (v.from & PY_FROM_READ) {
        v.made = number && !(v.from & PY_FROM_NUMBER) ? at : v.made;
        v.from |= number ? PY_FROM_NUMBER : 0;
    } else if (v.from & (PY_FROM_DEVICE | PY_FROM_UNKNOWN) &&
               (!x->copies || was_read(x, n, false))) {
        v.from |= (number ? PY_FROM_NUMBER : PY_FROM_ARRAY) |
                  (v.from & PY_FROM_DEVICE ? PY_FROM_SURE : 0);
        v.read = at;
    }
    v.from &= ~(uint32_t)(PY_FROM_DEVICE | PY_FROM_UNKNOWN | PY_FROM_GRADIENT);
    return v;
}

struct stet_python_value stet_python_flow_of_opaque(const struct stet_python_flow *x,
                                                    stet_python_ref call)
{
    struct stet_python_value v = unknown;

    if (x->copies && was_read(x, call, true)) {
        v.from = PY_FROM_READ;
        v.read = stet_python_place_of(x->frame->module, call);
    }
    return v;
}

struct stet_python_value stet_python_flow_of_truth(struct stet_python_flow *x, stet_python_ref n)
{
    struct stet_python_value v = stet_python_flow_of(x, n);

    return stet_python_may_read(x, n, &v) ? stet_python_read_in(x, n, v, true) : v;
}

struct stet_python_value stet_python_flow_of_children(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    struct stet_python_value all = nothing;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c))
        all = stet_python_either(all, stet_python_flow_of(x, c));
    return all;
}

/* An operation on an array gives an array, so its other operands are on the device then. */
static struct stet_python_value mixed(struct stet_python_value v)
{
    if (v.from & PY_FROM_DEVICE) {
        v.from &= ~(uint32_t)(PY_FROM_READ | PY_FROM_SURE);
        v.parameters = 0;
    }
    v.from &= ~(uint32_t)PY_FROM_TEXT;
    return v;
}

/* The sum of a gradient and something else is an update, or a parameter. */
static struct stet_python_value operation(struct stet_python_flow *x, stet_python_ref n)
{
    char op = stet_python_at(&x->frame->module->ast, n)->op;
    struct stet_python_value v = mixed(stet_python_flow_of_children(x, n));

    if (stet_python_kind(&x->frame->module->ast, n) == PY_BINARY && (op == '+' || op == '-'))
        v.from &= ~(uint32_t)PY_FROM_GRADIENT;
    return v;
}

static struct stet_python_value comparison(struct stet_python_flow *x, stet_python_ref n)
{
    char op = stet_python_at(&x->frame->module->ast, n)->op;
    struct stet_python_value v = mixed(stet_python_flow_of_children(x, n));

    if (op == 's' || op == 't') /* is, is not */
        return nothing;
    if (op == 'i' || op == 'n')
        v.from &= ~(uint32_t)PY_FROM_DEVICE;
    return v;
}

static struct stet_python_value boolean(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT);
    stet_python_ref right = stet_python_field(a, n, PY_FIELD_RIGHT);

    return stet_python_either(stet_python_flow_of_truth(x, left), stet_python_flow_of(x, right));
}

static struct stet_python_value conditional(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    stet_python_ref yes = stet_python_child(a, n), test = yes ? stet_python_next(a, yes) : 0;
    stet_python_ref no = test ? stet_python_next(a, test) : 0;
    struct stet_python_value v = stet_python_flow_of_truth(x, test);

    v.from &= PY_FROM_READ | PY_FROM_SURE | PY_FROM_TURNS | PY_FROM_PROCESS;
    v = stet_python_either(v, stet_python_flow_of(x, yes));
    return stet_python_either(v, stet_python_flow_of(x, no));
}

/* f"{loss}" reads it back. */
static struct stet_python_value text(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    struct stet_python_value v = nothing;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_STRING)
            v = stet_python_either(v, text(x, c));
        else if (stet_python_kind(a, c) == PY_INTERPOLATION && stet_python_child(a, c))
            v = stet_python_either(
                v,
                stet_python_read_in(x, c, stet_python_flow_of(x, stet_python_child(a, c)), false));
    }
    v.from |= PY_FROM_TEXT;
    return v;
}

/* os.environ["RANK"] */
static bool is_variable(struct stet_python_flow *x, stet_python_ref value, stet_python_ref index,
                        struct stet_python_value *out)
{
    const struct stet_python_module *m = x->frame->module;

    return stet_python_meaning(m, value) == PY_MEANS_ENVIRONMENT &&
           stet_python_variable(m, index, out);
}

/* x[:count] is an array whose size follows count. */
static struct stet_python_value subscript(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    stet_python_ref value = stet_python_field(a, n, PY_FIELD_VALUE);
    struct stet_python_value index = nothing, v;

    if (is_variable(x, value, stet_python_next(a, value), &v))
        return v;
    v = stet_python_flow_of(x, value);

    for (stet_python_ref c = stet_python_next(a, value); c; c = stet_python_next(a, c))
        index = stet_python_either(index, stet_python_flow_of(x, c));
    index.from &= PY_FROM_READ | PY_FROM_SURE | PY_FROM_TURNS;
    index.parameters = v.from & PY_FROM_DEVICE ? 0 : index.parameters;
    v.from &= ~(uint32_t)PY_FROM_TEXT;
    return stet_python_either(v, index);
}

/* `config.width` of an imported module, `jnp.pi`, `torch.float16`. */
static struct stet_python_value imported_attribute(struct stet_python_flow *x,
                                                   struct stet_view dotted)
{
    struct stet_python_value v;

    if (stet_python_flow_of_import(x, dotted, &v))
        return v;
    return (struct stet_python_value){
        .from = stet_python_is_device(stet_python_library(dotted)) ? PY_FROM_TYPE : 0};
}

struct stet_python_value stet_python_described(enum stet_python_effect effect)
{
    return (struct stet_python_value){.from = effect == PY_GIVES_TYPE     ? PY_FROM_TYPE
                                              : effect == PY_GIVES_HANDLE ? PY_FROM_HANDLE
                                                                          : PY_FROM_SHAPE};
}

static struct stet_python_value of_effect(enum stet_python_effect effect,
                                          struct stet_python_value v)
{
    switch (effect) {
    case PY_GIVES_SIZE:
    case PY_GIVES_RANK:
    case PY_GIVES_TYPE:
    case PY_GIVES_HANDLE:
        return stet_python_described(effect);
    case PY_GIVES_HOST:
        return nothing;
    case PY_GIVES_PROCESS:
        return (struct stet_python_value){.from = PY_FROM_PROCESS};
    case PY_GIVES_GRADIENT:
        v.from |= PY_FROM_GRADIENT | PY_FROM_DEVICE;
        return v;
    default:
        return v;
    }
}

/* A field of an object of which nothing is known, by the assignments that write it in the same
 * way: `state.width = …` for state.width. */
static struct stet_python_value assigned_alike(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_module *m = x->frame->module;
    uint32_t name = stet_python_name(&m->ast, stet_python_field(&m->ast, n, PY_FIELD_ATTRIBUTE));
    struct stet_python_value v = nothing;

    for (uint32_t i = name ? m->first_binding[name] : 0; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->attribute &&
            stet_view_eq(stet_python_text(&m->ast, b->target), stet_python_text(&m->ast, n)))
            v = stet_python_either(v, stet_python_flow_of_binding(x, b));
    }
    return v;
}

static struct stet_python_value attribute(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_module *m = x->frame->module, *where;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref object = stet_python_field(a, n, PY_FIELD_OBJECT), class_node;
    struct stet_view name = stet_python_text(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE));
    enum stet_python_effect effect = stet_python_library_attribute(name);
    char room[160];
    bool imported;
    struct stet_view dotted = stet_python_dotted(m, n, room, &imported);

    if (imported)
        return imported_attribute(x, dotted);
    class_node = stet_python_class_of(x, object, &where);
    if (class_node) {
        uint32_t number = stet_intern_find(&where->ast.names, name);

        if (number != STET_INTERN_NONE)
            return stet_python_flow_of_field(x, where, class_node, number);
    }
    if (effect == PY_GIVES_SIZE && x->copies)
        return stet_python_flow_of_count(x, object);
    if (effect == PY_GIVES_NOTHING_KNOWN && x->copies)
        return stet_python_either(assigned_alike(x, n), stet_python_flow_of(x, object));
    return effect == PY_GIVES_NOTHING_KNOWN || effect == PY_GIVES_THROUGH ||
                   effect == PY_GIVES_UPDATED || effect == PY_GIVES_GROUPS
               ? stet_python_flow_of(x, object)
               : of_effect(effect,
                           effect == PY_GIVES_GRADIENT ? stet_python_flow_of(x, object) : nothing);
}

static struct stet_python_value of_kind(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_ast *a = &x->frame->module->ast;

    switch (stet_python_kind(a, n)) {
    case PY_IDENTIFIER:
        return stet_python_flow_of_name(x, n);
    case PY_ATTRIBUTE:
        return attribute(x, n);
    case PY_SUBSCRIPT:
        return subscript(x, n);
    case PY_CALL:
        return stet_python_flow_of_call(x, n);
    case PY_BINARY:
    case PY_UNARY:
        return operation(x, n);
    case PY_COMPARISON:
        return comparison(x, n);
    case PY_BOOLEAN:
        return boolean(x, n);
    case PY_NOT:
        return stet_python_flow_of_truth(x, stet_python_child(a, n));
    case PY_CONDITIONAL:
        return conditional(x, n);
    case PY_STRING:
    case PY_CONCATENATED_STRING:
        return text(x, n);
    case PY_LAMBDA:
        return (struct stet_python_value){.from = PY_FROM_FUNCTION};
    case PY_KEYWORD_ARGUMENT:
    case PY_NAMED_EXPRESSION:
    case PY_PAIR:
        return stet_python_flow_of(x, stet_python_field(a, n, PY_FIELD_VALUE));
    case PY_LIST_COMPREHENSION:
    case PY_DICT_COMPREHENSION:
    case PY_SET_COMPREHENSION:
    case PY_GENERATOR:
        return stet_python_flow_of(x, stet_python_field(a, n, PY_FIELD_BODY));
    case PY_COMMENT:
    case PY_TYPE:
        return nothing;
    default:
        return stet_python_flow_of_children(x, n);
    }
}

struct stet_python_value stet_python_flow_of(struct stet_python_flow *x, stet_python_ref n)
{
    struct stet_python_value v;

    if (!n)
        return nothing;
    if (++x->steps > MOST_STEPS || x->depth >= MOST_DEPTH)
        return unknown;
    x->depth++;
    if (!x->sized || !stet_python_flow_sizes(x, n, &v))
        v = of_kind(x, n);
    x->depth--;
    return v;
}

uint32_t stet_python_origins(const struct stet_python_module *m, stet_python_ref n, uint32_t *steps)
{
    struct stet_python_frame frame = {.module = m};
    struct stet_python_flow x = {.frame = &frame, .position = -1};
    uint32_t from = stet_python_flow_of(&x, n).from;

    *steps = x.steps;
    return from;
}

static struct stet_python_callee resolve_alone(const struct stet_python_module *m,
                                               stet_python_ref call, uint32_t *steps)
{
    struct stet_python_frame frame = {.module = m};
    struct stet_python_flow x = {.frame = &frame, .position = -1};
    struct stet_python_callee c = stet_python_resolve(&x, call);

    *steps = x.steps;
    return c;
}

enum stet_python_effect stet_python_call_effect(const struct stet_python_module *m,
                                                stet_python_ref call, uint32_t *steps)
{
    struct stet_python_callee c = resolve_alone(m, call, steps);

    return c.definition ? PY_GIVES_NOTHING_KNOWN : c.effect;
}

enum stet_python_meaning stet_python_call_meaning(const struct stet_python_module *m,
                                                  stet_python_ref call)
{
    uint32_t steps;

    return resolve_alone(m, call, &steps).meaning;
}

struct stet_view stet_python_library_callee(const struct stet_python_module *m,
                                            stet_python_ref call, char room[160])
{
    stet_python_ref f = stet_python_field(&m->ast, call, PY_FIELD_FUNCTION);
    struct stet_view dotted = stet_python_full_name(m, f, room);
    uint32_t steps;

    if (dotted.len)
        return stet_python_library_name(m, f, room);
    return resolve_alone(m, call, &steps).object ? stet_python_callee(m, call) : STET_VIEW("");
}

bool stet_python_updates(const struct stet_python_module *m, stet_python_ref call, uint32_t *steps)
{
    struct stet_python_frame frame = {.module = m};
    struct stet_python_flow x = {.frame = &frame, .position = -1};
    struct stet_python_callee c = stet_python_resolve(&x, call);
    stet_python_ref arg = stet_python_argument(m, call, 0);
    bool found = false;

    if (!c.definition && c.effect == PY_GIVES_STEPS)
        found = !c.object ||
                stet_python_flow_of(&x, c.object).from & (PY_FROM_OPTIMIZER | PY_FROM_UNKNOWN) ||
                (arg && stet_python_flow_of(&x, arg).from & PY_FROM_OPTIMIZER);
    *steps = x.steps;
    return found;
}
