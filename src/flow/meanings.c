/* What the use of a name shows (MEANS in library.def), by what the name resolves to: an import, a
 * name that the file gives to one, or a function of the file that returns it. A name alone decides
 * nothing. */
#include "flow/walk.h"

#include <stdio.h>

enum { DEEPEST = 4 /* names and functions that refer to each other */ };

stet_python_ref stet_flow_whole_name(const struct stet_flow_walk *w, stet_python_ref n)
{
    const stet_python_ref *parents = w->module->parents;

    while (stet_python_kind(w->ast, parents[n]) == PY_ATTRIBUTE &&
           stet_python_field(w->ast, parents[n], PY_FIELD_OBJECT) == n)
        n = parents[n];
    return n;
}

const struct stet_python_array *stet_flow_array_call(const struct stet_flow_walk *w,
                                                     stet_python_ref call)
{
    stet_python_ref object = stet_python_callee_object(w->module, call);
    char room[160];

    if (object && stet_python_self_class(w->module, object))
        return NULL; /* self.topk(x): a part of the user's object */
    return stet_python_array(stet_python_library_callee(w->module, call, room));
}

static bool any_means(const struct stet_flow_walk *w, stet_python_ref n,
                      enum stet_python_meaning meaning, unsigned depth);

/* is_compiling() if is_compiling is not None else False: the value where there is one. */
static stet_python_ref without_default(const struct stet_python_ast *a, stet_python_ref n)
{
    stet_python_ref yes = stet_python_kind(a, n) == PY_CONDITIONAL ? stet_python_child(a, n) : 0;
    stet_python_ref no = yes ? stet_python_next(a, stet_python_next(a, yes)) : 0;

    return stet_python_kind(a, no) == PY_FALSE ? stet_python_bare(a, yes) : n;
}

/* Does the function return such a value as it is? One that negates or chooses it means another
 * thing. */
static bool returns(const struct stet_flow_walk *w, stet_python_ref function,
                    enum stet_python_meaning meaning, unsigned depth)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = function; stet_flow_within(w, c, function); c++) {
        stet_python_ref value =
            a->nodes[c].kind == PY_RETURN
                ? without_default(a, stet_python_bare(a, stet_python_child(a, c)))
                : 0;
        enum stet_python_kind k = value ? stet_python_kind(a, value) : PY_NONE_;
        bool plain = k == PY_CALL || k == PY_BOOLEAN;

        for (stet_python_ref v = value; plain && stet_flow_within(w, v, value); v++)
            plain = a->nodes[v].kind != PY_NOT && a->nodes[v].kind != PY_CONDITIONAL;
        if (plain && any_means(w, value, meaning, depth + 1))
            return true;
    }
    return false;
}

/* getattr(torch.compiler, "is_compiling", None), or one of several such alternatives. */
static bool fetched_means(const struct stet_flow_walk *w, stet_python_ref n,
                          enum stet_python_meaning meaning, unsigned depth)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_view name, object;
    char room[160], whole[200];
    int len;

    n = stet_python_bare(a, n);
    if (stet_python_kind(a, n) == PY_BOOLEAN && depth <= DEEPEST)
        return fetched_means(w, stet_python_field(a, n, PY_FIELD_LEFT), meaning, depth + 1) ||
               fetched_means(w, stet_python_field(a, n, PY_FIELD_RIGHT), meaning, depth + 1);
    if (stet_python_kind(a, n) != PY_CALL ||
        stet_python_call_meaning(w->module, n) != PY_MEANS_GETS_ATTRIBUTE)
        return false;
    object = stet_python_imported(w->module, stet_python_argument(w->module, n, 0), room);
    name = stet_python_string(a, stet_python_argument(w->module, n, 1));
    len = snprintf(whole, sizeof whole, "%.*s.%.*s", STET_FMT(object), STET_FMT(name));
    return object.len && name.len && len > 0 && (size_t)len < sizeof whole &&
           stet_python_library_meaning(stet_view_of(whole, (size_t)len)) == meaning;
}

stet_python_ref stet_flow_local_value(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_module *m = w->module;
    uint32_t name = stet_python_name(w->ast, n);
    stet_python_ref value = 0;

    for (uint32_t i = name && w->fn ? m->first_binding[name] : 0; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->attribute || b->scope != w->fns[w->fn].node)
            continue;
        if (value || b->how != PY_BIND_VALUE || b->position >= 0)
            return 0;
        value = b->value;
    }
    return value;
}

/* A name of this file or function: `tracing = torch.jit.is_tracing`, or a function. */
static bool own_name_means(const struct stet_flow_walk *w, stet_python_ref n,
                           enum stet_python_meaning meaning, unsigned depth)
{
    const struct stet_python_module *m = w->module;
    uint32_t name = stet_python_name(w->ast, n), first = name ? m->first_binding[name] : 0;
    const struct stet_python_binding *b = first ? &m->bindings.items[first - 1] : NULL;
    stet_python_ref local = depth <= DEEPEST ? stet_flow_local_value(w, n) : 0;

    if (local) /* checking = not torch.compiler.is_compiling() */
        return any_means(w, local, meaning, depth + 1);
    if (!b || b->next || b->scope || b->attribute || depth > DEEPEST)
        return false;
    if (b->how == PY_BIND_FUNCTION)
        return returns(w, b->value, meaning, depth);
    if (b->how != PY_BIND_VALUE || b->position >= 0)
        return false;
    if (stet_python_kind(w->ast, b->value) == PY_ATTRIBUTE ||
        stet_python_kind(w->ast, b->value) == PY_IDENTIFIER)
        return any_means(w, b->value, meaning, depth + 1);
    return fetched_means(w, b->value, meaning, depth + 1);
}

static bool any_means(const struct stet_flow_walk *w, stet_python_ref n,
                      enum stet_python_meaning meaning, unsigned depth)
{
    const struct stet_python_ast *a = w->ast;
    char room[160];

    for (stet_python_ref c = n; n && stet_flow_within(w, c, n); c++) {
        stet_python_ref whole;
        struct stet_view dotted;

        if (a->nodes[c].kind != PY_IDENTIFIER || a->nodes[c].field == PY_FIELD_ATTRIBUTE)
            continue;
        whole = stet_flow_whole_name(w, c);
        dotted = stet_python_imported(w->module, whole, room);
        if (dotted.len ? stet_python_library_meaning(dotted) == meaning
                       : whole == c && own_name_means(w, c, meaning, depth))
            return true;
    }
    return false;
}

bool stet_flow_means(const struct stet_flow_walk *w, stet_python_ref n,
                     enum stet_python_meaning meaning)
{
    return any_means(w, n, meaning, 0);
}

bool stet_flow_returns(const struct stet_flow_walk *w, stet_python_ref function,
                       enum stet_python_meaning meaning)
{
    return returns(w, function, meaning, 0);
}

bool stet_flow_denies(const struct stet_flow_walk *w, stet_python_ref function,
                      enum stet_python_meaning meaning)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = function; stet_flow_within(w, c, function); c++) {
        stet_python_ref value =
            a->nodes[c].kind == PY_RETURN ? stet_python_bare(a, stet_python_child(a, c)) : 0;
        stet_python_ref denied = stet_python_kind(a, value) == PY_NOT
                                     ? stet_python_bare(a, stet_python_child(a, value))
                                     : 0;

        if (stet_python_kind(a, denied) == PY_CALL && any_means(w, denied, meaning, 1))
            return true;
    }
    return false;
}

static bool reads_variable(const struct stet_flow_walk *w, stet_python_ref range, unsigned depth)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;
    char room[160];

    for (stet_python_ref c = range; depth <= 1 && stet_flow_within(w, c, range); c++) {
        stet_python_ref own;

        if (a->nodes[c].kind != PY_IDENTIFIER || a->nodes[c].field == PY_FIELD_ATTRIBUTE)
            continue;
        switch (stet_python_library_meaning(
            stet_python_imported(m, stet_flow_whole_name(w, c), room))) {
        case PY_MEANS_ENVIRONMENT:
        case PY_MEANS_READS_VARIABLE:
            return true;
        default:
            break;
        }
        own = stet_python_defined(m, 0, stet_python_name(a, c));
        if (stet_python_kind(a, own) == PY_FUNCTION && reads_variable(w, own, depth + 1))
            return true;
    }
    return false;
}

bool stet_flow_asks_variable(const struct stet_flow_walk *w, stet_python_ref test)
{
    return (w->facts & FLOW_ASKS_VARIABLES) && test && reads_variable(w, test, 0);
}

/* The dotted name of a function of another file that the condition calls; empty for none. */
static struct stet_view asked_elsewhere(const struct stet_flow_walk *w, stet_python_ref test,
                                        char room[160], bool *negated)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_view dotted;

    test = stet_python_bare(a, test);
    if (stet_python_kind(a, test) == PY_NOT) {
        *negated = !*negated;
        return asked_elsewhere(w, stet_python_child(a, test), room, negated);
    }
    if (stet_python_kind(a, test) == PY_BOOLEAN && stet_python_at(a, test)->op == 'a') {
        dotted = asked_elsewhere(w, stet_python_field(a, test, PY_FIELD_LEFT), room, negated);
        if (dotted.len && *negated)
            return dotted;
        *negated = false;
        return asked_elsewhere(w, stet_python_field(a, test, PY_FIELD_RIGHT), room, negated);
    }
    if (stet_python_kind(a, test) != PY_CALL)
        return (struct stet_view){0};
    dotted = stet_python_imported(w->module, stet_python_field(a, test, PY_FIELD_FUNCTION), room);
    return stet_flow_is_library(dotted) ? (struct stet_view){0} : dotted;
}

/* The number of the guard; 0 for an empty name. */
static uint32_t add_guard(struct stet_flow_walk *w, struct stet_view dotted)
{
    struct stet_flow_summary *s = w->out;

    if (!dotted.len)
        return 0;
    for (uint32_t i = 0; i < s->guard_count && stet_flow_spend(w); i++)
        if (stet_view_eq(s->guards[i], dotted))
            return i + 1;
    if (!stet_flow_room(w, &s->guards, &w->guard_room, s->guard_count, sizeof *s->guards))
        return 0;
    s->guards[s->guard_count] = stet_arena_copy(&s->arena, dotted);
    return ++s->guard_count;
}

uint32_t stet_flow_guard(struct stet_flow_walk *w, stet_python_ref test, bool *negated)
{
    char room[160];

    *negated = false;
    return add_guard(w, asked_elsewhere(w, test, room, negated));
}

uint32_t stet_flow_denial(struct stet_flow_walk *w, uint32_t guard)
{
    char room[161];
    int len =
        snprintf(room, sizeof room, "%c%.*s", FLOW_DENIAL, STET_FMT(w->out->guards[guard - 1]));

    return len > 0 && (size_t)len < sizeof room ? add_guard(w, stet_view_of(room, (size_t)len)) : 0;
}

static bool is_false(const struct stet_flow_walk *w, stet_python_ref value)
{
    return stet_python_kind(w->ast, value) == PY_FALSE;
}

/* frozen=True, or a value that only the run knows. */
static bool asks_for(const struct stet_flow_walk *w, stet_python_ref call, struct stet_view keyword)
{
    stet_python_ref value = stet_python_keyword(w->module, call, keyword);

    return value && !is_false(w, value);
}

/* @dataclass(frozen=True): does the decorator make equal objects have one hash? */
static bool decorates_by_value(const struct stet_flow_walk *w, stet_python_ref decorator)
{
    stet_python_ref f = stet_python_bare(w->ast, stet_python_child(w->ast, decorator)), call = 0;
    char room[160];

    if (stet_python_kind(w->ast, f) == PY_CALL) {
        call = f;
        f = stet_python_field(w->ast, call, PY_FIELD_FUNCTION);
    }
    if (call && is_false(w, stet_python_keyword(w->module, call, STET_VIEW("eq"))))
        return false;
    switch (stet_python_library_meaning(stet_python_imported(w->module, f, room))) {
    case PY_MEANS_BY_VALUE: /* @flax.struct.dataclass, unless frozen=False takes the hash away */
        return !call || !is_false(w, stet_python_keyword(w->module, call, STET_VIEW("frozen")));
    case PY_MEANS_FROZEN:
        return call && (asks_for(w, call, STET_VIEW("frozen")) ||
                        asks_for(w, call, STET_VIEW("unsafe_hash")));
    default:
        return false;
    }
}

static bool base_by_value(const struct stet_flow_walk *w, stet_python_ref base, unsigned depth);

static bool class_by_value(const struct stet_flow_walk *w, stet_python_ref class_node,
                           unsigned depth)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref outer = w->module->parents[class_node];
    stet_python_ref bases = stet_python_field(a, class_node, PY_FIELD_SUPERCLASSES);

    if (stet_python_method(w->module, class_node, STET_VIEW("__hash__")))
        return true;
    for (stet_python_ref c =
             stet_python_kind(a, outer) == PY_DECORATED ? stet_python_child(a, outer) : 0;
         c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_DECORATOR && decorates_by_value(w, c))
            return true;
    for (stet_python_ref c = bases ? stet_python_child(a, bases) : 0; c; c = stet_python_next(a, c))
        if (base_by_value(w, c, depth))
            return true;
    return false;
}

static bool base_by_value(const struct stet_flow_walk *w, stet_python_ref base, unsigned depth)
{
    const struct stet_python_module *m = w->module;
    stet_python_ref own;
    struct stet_view dotted;
    char room[160];

    if (stet_python_kind(w->ast, base) == PY_CALL) /* class Point(namedtuple("Point", "x y")) */
        base = stet_python_field(w->ast, base, PY_FIELD_FUNCTION);
    dotted = stet_python_imported(m, base, room);
    if (dotted.len)
        return stet_python_library_meaning(dotted) == PY_MEANS_BY_VALUE;
    own = stet_python_name(w->ast, base)
              ? stet_python_defined(m, stet_python_function_around(m, base),
                                    stet_python_name(w->ast, base))
              : 0;
    return own && stet_python_kind(w->ast, own) == PY_CLASS && depth < DEEPEST &&
           class_by_value(w, own, depth + 1);
}

bool stet_flow_compares_by_value(const struct stet_flow_walk *w, uint32_t class_index)
{
    return class_by_value(w, w->classes[class_index].node, 0);
}
