/* Classes: their methods, the name of the object in them, and the methods that run while an object
 * is made. */
#include "python/module.h"

stet_python_ref stet_python_method_of(const struct stet_python_module *m,
                                      stet_python_ref class_node, uint32_t name)
{
    uint32_t found = stet_map_get(&m->methods, stet_map_pair(class_node, name));

    return found == STET_MAP_NONE ? 0 : found;
}

stet_python_ref stet_python_method(const struct stet_python_module *m, stet_python_ref class_node,
                                   struct stet_view name)
{
    uint32_t number = stet_intern_find(&m->ast.names, name);

    return number == STET_INTERN_NONE || !number ? 0 : stet_python_method_of(m, class_node, number);
}

bool stet_python_is_method(const struct stet_python_module *m, stet_python_ref function)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref list = stet_python_field(a, function, PY_FIELD_PARAMETERS);
    stet_python_ref decorated = m->parents[function], c;

    if (stet_python_kind(a, function) != PY_FUNCTION || !list ||
        !stet_python_name(a, stet_python_child(a, list)) || !stet_python_class_around(m, function))
        return false;
    c = stet_python_kind(a, decorated) == PY_DECORATED ? stet_python_child(a, decorated) : 0;
    for (; c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_DECORATOR &&
            stet_python_meaning(m, stet_python_child(a, c)) == PY_MEANS_STATIC_METHOD)
            return false;
    return true;
}

stet_python_ref stet_python_self_class(const struct stet_python_module *m, stet_python_ref object)
{
    const struct stet_python_ast *a = &m->ast;
    uint32_t name = stet_python_name(a, object);

    for (stet_python_ref f = name ? stet_python_function_around(m, object) : 0; f;
         f = stet_python_function_around(m, f)) {
        stet_python_ref list = stet_python_field(a, f, PY_FIELD_PARAMETERS);

        if (stet_python_is_method(m, f) && stet_python_name(a, stet_python_child(a, list)) == name)
            return stet_python_class_around(m, f);
        if (stet_python_binds(m, f, name))
            return 0;
    }
    return 0;
}

stet_python_ref stet_python_method_around(const struct stet_python_module *m, stet_python_ref n)
{
    for (n = stet_python_function_around(m, n); n; n = stet_python_function_around(m, n))
        if (stet_python_class_around(m, n))
            return n;
    return 0;
}

/* ---- methods that run while an object is made ---- */

enum { MOST_ROUNDS = 8 };

struct builders {
    const struct stet_python_module *m;
    struct stet_map *found;
    bool *foreign; /* by name number: called as a method of something else than self */
};

static bool is_builder(const struct builders *b, stet_python_ref method)
{
    return stet_map_get(b->found, method) != STET_MAP_NONE;
}

/* The method that self.name(…) calls; 0 for all other calls. */
static stet_python_ref own_method(const struct stet_python_module *m, stet_python_ref call)
{
    stet_python_ref class_node = stet_python_self_class(m, stet_python_callee_object(m, call));

    return class_node ? stet_python_method(m, class_node, stet_python_callee(m, call)) : 0;
}

static void find_foreign(struct builders *b)
{
    const struct stet_python_module *m = b->m;

    for (uint32_t i = 0; i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i], object = stet_python_callee_object(m, call);
        uint32_t name = stet_intern_find(&m->ast.names, stet_python_callee(m, call));

        if (object && name != STET_INTERN_NONE && !stet_python_self_class(m, object) &&
            !(stet_python_kind(&m->ast, object) == PY_CALL &&
              stet_python_meaning(m, stet_python_field(&m->ast, object, PY_FIELD_FUNCTION)) ==
                  PY_MEANS_SUPER))
            b->foreign[name] = true;
    }
}

static bool find_constructors(struct builders *b)
{
    const struct stet_python_module *m = b->m;

    for (uint32_t i = 0; i < m->bindings.count; i++) {
        const struct stet_python_binding *x = &m->bindings.items[i];

        if (x->how == PY_BIND_FUNCTION && stet_python_class_around(m, x->value) &&
            stet_python_constructs(m->ast.names.items[x->name]) &&
            !stet_map_put(b->found, x->value, 1))
            return false;
    }
    return true;
}

/* One round: a method joins when builders call it and nothing else does. */
static bool add_builders(struct builders *b, bool *grown)
{
    const struct stet_python_module *m = b->m;
    struct stet_map others = {0};
    bool fine = true;

    *grown = false;
    for (uint32_t i = 0; fine && i < m->calls.count; i++) {
        stet_python_ref method = own_method(m, m->calls.items[i]);

        if (method && !is_builder(b, stet_python_method_around(m, m->calls.items[i])))
            fine = stet_map_put(&others, method, 1);
    }
    for (uint32_t i = 0; fine && i < m->calls.count; i++) {
        stet_python_ref method = own_method(m, m->calls.items[i]);

        if (!method || is_builder(b, method) || stet_map_get(&others, method) != STET_MAP_NONE ||
            b->foreign[stet_python_name(&m->ast,
                                        stet_python_field(&m->ast, method, PY_FIELD_NAME))])
            continue;
        fine = stet_map_put(b->found, method, 1);
        *grown = true;
    }
    stet_map_release(&others);
    return fine;
}

bool stet_python_builders(const struct stet_python_module *m, struct stet_map *out)
{
    struct builders b = {m, out, stet_mem_calloc(m->ast.names.count, sizeof *b.foreign)};
    bool fine = b.foreign && find_constructors(&b), grown = fine;

    if (fine)
        find_foreign(&b);
    for (unsigned round = 0; grown && fine && round < MOST_ROUNDS; round++)
        fine = add_builders(&b, &grown);
    stet_mem_free(b.foreign);
    return fine;
}
