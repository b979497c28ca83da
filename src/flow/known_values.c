/* Values that are known before the program runs: constants, and names that hold one. */
#include "flow/walk.h"

/* Does a name have one value while the program runs: is it imported, or bound once, at module level
 * and outside of loops? */
static bool is_fixed(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_module *m = w->module;
    uint32_t name = stet_python_name(&m->ast, n), bindings = 0;
    stet_python_ref scope = name ? stet_python_function_around(m, n) : 0;

    for (; scope; scope = stet_python_function_around(m, scope))
        if (stet_python_binds(m, scope, name))
            return false;
    for (uint32_t i = name ? m->first_binding[name] : 0; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->attribute || (b->scope && stet_python_binds(m, b->scope, name)))
            continue; /* of an object, or a local of some function */
        if (b->how != PY_BIND_VALUE || b->scope || stet_python_loop_around(m, b->target))
            return false;
        bindings++;
    }
    return name && !w->global_writes[name] && bindings + (m->imports[name].len != 0) == 1;
}

bool stet_flow_is_never(const struct stet_flow_walk *w, stet_python_ref test)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t name;

    test = stet_python_bare(a, test);
    if (stet_python_kind(a, test) == PY_BOOLEAN && a->nodes[test].op == 'a')
        return stet_flow_is_never(w, stet_python_field(a, test, PY_FIELD_LEFT)) ||
               stet_flow_is_never(w, stet_python_field(a, test, PY_FIELD_RIGHT));
    name = stet_python_kind(a, test) == PY_IDENTIFIER ? stet_python_name(a, test) : 0;
    for (uint32_t i = name && is_fixed(w, test) ? w->module->first_binding[name] : 0; i;
         i = w->module->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &w->module->bindings.items[i - 1];

        if (!b->attribute && !b->scope)
            return stet_python_kind(a, b->value) == PY_FALSE;
    }
    return stet_python_kind(a, test) == PY_FALSE;
}

bool stet_flow_is_constant(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    switch (stet_python_kind(a, n)) {
    case PY_INTEGER:
    case PY_FLOAT:
    case PY_STRING:
    case PY_TRUE:
    case PY_FALSE:
    case PY_NONE_:
        return true;
    case PY_UNARY:
        return stet_flow_is_constant(w, stet_python_child(a, n));
    case PY_BINARY:
        return stet_flow_is_constant(w, stet_python_field(a, n, PY_FIELD_LEFT)) &&
               stet_flow_is_constant(w, stet_python_field(a, n, PY_FIELD_RIGHT));
    case PY_IDENTIFIER:
        return is_fixed(w, n);
    default:
        return false;
    }
}

enum { LARGEST = 1000000000 };

/* Computes left * right and similar if both are known; the tree keeps an operator's first
 * character. */
static long computed(const struct stet_flow_walk *w, stet_python_ref left, stet_python_ref right,
                     char op, long l, long r)
{
    uint32_t from = stet_python_at(w->ast, left)->end, to = stet_python_at(w->ast, right)->start;
    struct stet_view between = stet_view_of(w->ast->text.ptr + from, to - from);
    bool twice = stet_view_contains(between, "**") || stet_view_contains(between, "//");

    switch (op) {
    case '+':
        return l + r;
    case '-':
        return l - r;
    case '*':
        return twice ? -1 : l * r;
    case '/':
        return twice && r ? l / r : -1;
    case '%':
        return r ? l % r : -1;
    default:
        return -1;
    }
}

static long known_integer(struct stet_flow_walk *w, stet_python_ref n, unsigned depth)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_binding *b;
    stet_python_ref left, right;
    long l, r, value;

    n = stet_python_bare(a, n);
    if (stet_python_kind(a, n) == PY_INTEGER)
        return stet_python_integer(w->module, n) < LARGEST ? stet_python_integer(w->module, n) : -1;
    if (depth > 8) /* each name may occur twice in the next: 2^8 at most */
        return -1;
    if (stet_python_kind(a, n) == PY_IDENTIFIER) {
        b = stet_flow_lookup(w, w->fn, stet_python_name(a, n));
        return b && b->writes == 1 ? known_integer(w, b->value.from, depth + 1) : -1;
    }
    if (stet_python_kind(a, n) != PY_BINARY)
        return -1;
    left = stet_python_field(a, n, PY_FIELD_LEFT);
    right = stet_python_field(a, n, PY_FIELD_RIGHT);
    l = known_integer(w, left, depth + 1);
    r = l < 0 ? -1 : known_integer(w, right, depth + 1);
    value = r < 0 ? -1 : computed(w, left, right, stet_python_at(a, n)->op, l, r);
    return value < LARGEST ? value : -1;
}

long stet_flow_known_integer(struct stet_flow_walk *w, stet_python_ref n)
{
    return known_integer(w, n, 0);
}
