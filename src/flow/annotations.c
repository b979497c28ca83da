/* What a type annotation shows about a value, by what its names resolve to: imports, builtins, and
 * classes and aliases of the same file. A name alone decides nothing. */
#include "flow/walk.h"

#include <stdio.h>

enum { DEEPEST = 6 /* aliases and classes that refer to each other */ };

/* The kinds of types that an annotation names. */
struct named {
    bool arrays, containers, numbers, objects, images;
    bool others; /* names of which nothing is known */
};

static enum stet_flow_role role_at(struct stet_flow_walk *w, stet_python_ref type, unsigned depth);

static void add_effect(struct named *t, enum stet_python_effect effect)
{
    switch (effect) {
    case PY_GIVES_DEVICE:
        t->arrays = true;
        break;
    case PY_GIVES_HOLDS:
    case PY_GIVES_UNKNOWN:
        t->containers = true;
        break;
    case PY_GIVES_SCALAR:
        t->numbers = true;
        break;
    case PY_GIVES_HOST:
        t->objects = true;
        break;
    case PY_GIVES_IMAGE:
        t->images = true;
        break;
    case PY_GIVES_THROUGH:
        break;
    default:
        t->others = true;
    }
}

static void add_role(struct named *t, enum stet_flow_role role)
{
    t->arrays |= role == FLOW_ROLE_TENSOR;
    t->containers |= role == FLOW_ROLE_TREE;
    t->numbers |= role == FLOW_ROLE_SCALAR;
    t->objects |= role == FLOW_ROLE_PYTHON;
    t->images |= role == FLOW_ROLE_IMAGE;
    t->others |= role == FLOW_ROLE_UNKNOWN;
}

/* What the bases of a class make of an object: Python if one is a Python object, TREE if all leave
 * it to the fields. */
static enum stet_flow_role role_of_bases(struct stet_flow_walk *w, stet_python_ref class_node,
                                         unsigned depth)
{
    stet_python_ref bases = stet_python_field(w->ast, class_node, PY_FIELD_SUPERCLASSES);
    enum stet_flow_role all = FLOW_ROLE_TREE;

    for (stet_python_ref b = bases ? stet_python_child(w->ast, bases) : 0; b;
         b = stet_python_next(w->ast, b)) {
        enum stet_flow_role role = role_at(w, b, depth + 1);

        if (role == FLOW_ROLE_PYTHON || role == FLOW_ROLE_SCALAR)
            return FLOW_ROLE_PYTHON;
        if (role != FLOW_ROLE_TREE)
            all = FLOW_ROLE_UNKNOWN;
    }
    return all;
}

/* By the types of its fields: a class that holds only Python values is one. */
static enum stet_flow_role judge_class(struct stet_flow_walk *w, stet_python_ref class_node,
                                       unsigned depth)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref body = stet_python_field(a, class_node, PY_FIELD_BODY);
    enum stet_flow_role bases = role_of_bases(w, class_node, depth);
    struct named t = {0};

    if (bases != FLOW_ROLE_TREE)
        return bases;
    for (stet_python_ref c = body ? stet_python_child(a, body) : 0; c; c = stet_python_next(a, c)) {
        stet_python_ref type = stet_python_field(a, stet_python_child(a, c), PY_FIELD_TYPE);

        if (stet_python_kind(a, c) == PY_EXPRESSION_STATEMENT && type)
            add_role(&t, role_at(w, type, depth + 1));
    }
    return !t.arrays && !t.containers && !t.others && (t.numbers || t.objects || t.images)
               ? FLOW_ROLE_PYTHON
               : FLOW_ROLE_UNKNOWN;
}

/* A class of this file; each is judged once, because bases of bases can be reached by more paths
 * than there are classes. */
static enum stet_flow_role role_of_class(struct stet_flow_walk *w, stet_python_ref class_node,
                                         unsigned depth)
{
    uint32_t index = stet_flow_class_at(w, class_node);
    struct stet_flow_class_info *c = index == FLOW_NONE ? NULL : &w->classes[index];

    if (!c)
        return FLOW_ROLE_UNKNOWN;
    if (!c->judged) {
        c->judged = true; /* a class that is its own base stays unknown */
        c->role = judge_class(w, class_node, depth);
    }
    return c->role;
}

/* A class of this file, or a name that it gives to a type: Array = jax.Array. */
static enum stet_flow_role role_of_name(struct stet_flow_walk *w, uint32_t name, unsigned depth)
{
    const struct stet_python_module *m = w->module;
    uint32_t first = m->first_binding[name];
    const struct stet_python_binding *b = first ? &m->bindings.items[first - 1] : NULL;

    if (!b || b->next || b->scope || b->attribute || depth > DEEPEST)
        return FLOW_ROLE_UNKNOWN;
    if (b->how == PY_BIND_CLASS)
        return role_of_class(w, b->value, depth);
    return b->how == PY_BIND_VALUE && b->position < 0 ? role_at(w, b->value, depth + 1)
                                                      : FLOW_ROLE_UNKNOWN;
}

static void add_name(struct stet_flow_walk *w, struct named *t, stet_python_ref n, unsigned depth)
{
    uint32_t name = stet_python_name(w->ast, n);
    char room[160];
    bool imported;
    struct stet_view dotted = stet_python_dotted(w->module, n, room, &imported);

    if (!imported && name && stet_python_binds(w->module, 0, name))
        add_role(t, role_of_name(w, name, depth));
    else
        add_effect(t, imported || name ? stet_python_library_type(dotted) : PY_GIVES_NOTHING_KNOWN);
}

/* "torch.Tensor", quoted because the name is bound later; a string that is not a name of this file
 * is the value of a Literal. */
static void add_string(struct stet_flow_walk *w, struct named *t, stet_python_ref n, unsigned depth)
{
    struct stet_view text = stet_python_string(w->ast, n);
    const char *dot = text.len ? memchr(text.ptr, '.', text.len) : NULL;
    struct stet_view head = stet_view_of(text.ptr, dot ? (size_t)(dot - text.ptr) : text.len);
    uint32_t name = head.len ? stet_intern_find(&w->ast->names, head) : STET_INTERN_NONE;
    char whole[160];
    int len;

    if (name == STET_INTERN_NONE)
        return;
    if (!w->module->imports[name].len) {
        if (!dot && stet_python_binds(w->module, 0, name))
            add_role(t, role_of_name(w, name, depth));
        return;
    }
    len = snprintf(whole, sizeof whole, "%.*s%.*s", STET_FMT(w->module->imports[name]),
                   (int)(text.len - head.len), text.ptr + head.len);
    if (len > 0 && (size_t)len < sizeof whole)
        add_effect(t, stet_python_library_type(stet_view_of(whole, (size_t)len)));
}

static enum stet_flow_role role_at(struct stet_flow_walk *w, stet_python_ref type, unsigned depth)
{
    const struct stet_python_ast *a = w->ast;
    struct named t = {0};

    for (stet_python_ref c = type;
         depth <= DEEPEST && stet_flow_within(w, c, type) && stet_flow_spend(w); c++) {
        enum stet_python_kind k = stet_python_kind(a, c);
        bool part = c != type && stet_python_kind(a, w->module->parents[c]) == PY_ATTRIBUTE;

        if ((k == PY_IDENTIFIER || k == PY_ATTRIBUTE) && !part)
            add_name(w, &t, c, depth);
        else if (k == PY_STRING)
            add_string(w, &t, c, depth);
    }
    if (t.arrays)
        return t.containers ? FLOW_ROLE_TREE : FLOW_ROLE_TENSOR;
    if (t.others)
        return FLOW_ROLE_UNKNOWN;
    if (t.images)
        return FLOW_ROLE_IMAGE;
    if (t.numbers && !t.objects && !t.containers)
        return FLOW_ROLE_SCALAR;
    if (t.numbers || t.objects)
        return FLOW_ROLE_PYTHON;
    return t.containers ? FLOW_ROLE_TREE : FLOW_ROLE_UNKNOWN;
}

enum stet_flow_role stet_flow_annotated(struct stet_flow_walk *w, stet_python_ref type)
{
    return role_at(w, type, 0);
}

enum stet_flow_role stet_flow_annotated_field(struct stet_flow_walk *w, stet_python_ref type,
                                              uint32_t field)
{
    const struct stet_python_ast *a = w->ast;
    const struct stet_python_module *m = w->module;
    uint32_t name, first;
    stet_python_ref body;

    if (stet_python_kind(a, type) == PY_TYPE)
        type = stet_python_child(a, type);
    name = stet_python_name(a, type);
    first = name ? m->first_binding[name] : 0;
    if (!first || m->bindings.items[first - 1].how != PY_BIND_CLASS)
        return FLOW_ROLE_UNKNOWN;
    body = stet_python_field(a, m->bindings.items[first - 1].value, PY_FIELD_BODY);
    for (stet_python_ref c = body ? stet_python_child(a, body) : 0; c; c = stet_python_next(a, c)) {
        stet_python_ref of = stet_python_child(a, c);

        if (stet_python_kind(a, c) == PY_EXPRESSION_STATEMENT &&
            stet_python_field(a, of, PY_FIELD_TYPE) &&
            stet_python_name(a, stet_python_field(a, of, PY_FIELD_LEFT)) == field)
            return role_at(w, stet_python_field(a, of, PY_FIELD_TYPE), 0);
    }
    return FLOW_ROLE_UNKNOWN;
}

struct stet_view stet_flow_annotated_class(struct stet_flow_walk *w, stet_python_ref type,
                                           char room[160])
{
    if (stet_python_kind(w->ast, type) == PY_TYPE)
        type = stet_python_child(w->ast, type);
    return stet_python_imported(w->module, type, room);
}

bool stet_flow_is_plain_class(struct stet_flow_walk *w, stet_python_ref class_node)
{
    return role_of_class(w, class_node, 0) == FLOW_ROLE_PYTHON;
}
