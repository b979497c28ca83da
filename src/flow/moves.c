/* Attributes that change: in a loop elsewhere, or in methods that run after the object was made.
 * They are found before the walk, because a method is usually written above the loop. */
#include "flow/walk.h"

static void add_pair(struct stet_flow_walk *w, struct stet_map *pairs, uint32_t a, uint32_t b)
{
    if (!stet_map_put(pairs, stet_map_pair(a, b), 1))
        w->failed = true;
}

/* A move of `object.attribute`; also of each class of this file that the object is made of. */
static void add_move(struct stet_flow_walk *w, uint32_t object, uint32_t attribute)
{
    const struct stet_python_module *m = w->module;

    if (!object || !attribute)
        return;
    add_pair(w, &w->moves, object, attribute);
    for (uint32_t i = m->first_binding[object]; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        stet_python_ref value = m->bindings.items[i - 1].value;
        uint32_t made =
            stet_python_kind(w->ast, value) == PY_CALL
                ? stet_python_name(w->ast, stet_python_field(w->ast, value, PY_FIELD_FUNCTION))
                : 0;

        if (made)
            add_pair(w, &w->class_moves, made, attribute);
    }
}

/* Is the object another one at each turn: made in the loop, or what it runs over? */
static bool is_of_turn(const struct stet_flow_walk *w, uint32_t object, stet_python_ref loop)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (uint32_t i = loop && object ? m->first_binding[object] : 0; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (!b->attribute && a->nodes[b->target].start >= a->nodes[loop].start &&
            a->nodes[b->target].end <= a->nodes[loop].end)
            return true;
    }
    return false;
}

/* `object.attribute = …` outside of the object's own methods, in a loop or by it. */
static void note_binding(struct stet_flow_walk *w, const struct stet_python_binding *b)
{
    const struct stet_python_module *m = w->module;
    stet_python_ref object;

    if (!b->attribute || stet_python_kind(w->ast, m->parents[b->target]) == PY_SUBSCRIPT ||
        (b->how != PY_BIND_ELEMENT && !stet_python_loop_around(m, b->target)))
        return;
    object = stet_python_field(w->ast, b->target, PY_FIELD_OBJECT);
    if (!stet_python_self_class(m, object) &&
        !is_of_turn(w, stet_python_name(w->ast, object), stet_python_loop_around(m, b->target)))
        add_move(w, stet_python_name(w->ast, object), b->name);
}

/* eqx.tree_at(lambda m: m.rate, model, …) */
static void note_replaced(struct stet_flow_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref where = stet_python_argument(w->module, call, 0);
    stet_python_ref object = stet_python_argument(w->module, call, 1), body;

    if (stet_python_kind(a, where) != PY_LAMBDA || !object)
        return;
    body = stet_python_field(a, where, PY_FIELD_BODY);
    if (stet_python_kind(a, body) == PY_ATTRIBUTE)
        add_move(w, stet_python_name(a, object),
                 stet_python_name(a, stet_python_field(a, body, PY_FIELD_ATTRIBUTE)));
}

void stet_flow_note_moves(struct stet_flow_walk *w)
{
    const struct stet_python_module *m = w->module;
    char room[160];

    for (uint32_t i = 0; i < m->bindings.count; i++)
        note_binding(w, &m->bindings.items[i]);
    for (uint32_t i = 0; i < m->calls.count; i++) {
        stet_python_ref f = stet_python_field(w->ast, m->calls.items[i], PY_FIELD_FUNCTION);

        if (stet_python_library_meaning(stet_python_imported(m, f, room)) == PY_MEANS_REPLACES &&
            stet_python_loop_around(m, m->calls.items[i]))
            note_replaced(w, m->calls.items[i]);
    }
}

bool stet_flow_object_attribute_moved(const struct stet_flow_walk *w, uint32_t object,
                                      uint32_t attribute)
{
    return stet_map_get(&w->moves, stet_map_pair(object, attribute)) != STET_MAP_NONE;
}

bool stet_flow_class_attribute_moved(const struct stet_flow_walk *w, uint32_t owner,
                                     uint32_t attribute)
{
    return stet_map_get(&w->class_moves, stet_map_pair(w->classes[owner].name, attribute)) !=
           STET_MAP_NONE;
}

/* Counts the writes of an attribute after construction, and in it, other than of None. */
static unsigned count_moves(const struct stet_flow_walk *w, uint32_t owner, uint32_t name)
{
    const struct stet_python_module *m = w->module;
    unsigned writes = 0, begun = 0;

    for (uint32_t i = m->first_binding[name]; i && stet_flow_spend(w);
         i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        stet_python_ref object =
            b->attribute ? stet_python_field(w->ast, b->target, PY_FIELD_OBJECT) : 0;

        if (!object || stet_python_kind(w->ast, m->parents[b->target]) == PY_SUBSCRIPT ||
            stet_python_self_class(m, object) != w->classes[owner].node)
            continue;
        if (stet_map_get(&w->builders, stet_python_method_around(m, b->target)) == STET_MAP_NONE)
            writes++;
        else
            begun += stet_python_kind(w->ast, b->value) != PY_NONE_;
    }
    return !writes ? 0 : FLOW_MOVES | (writes > 1 || begun ? FLOW_KEEPS_MOVING : 0u);
}

unsigned stet_flow_attribute_moves(const struct stet_flow_walk *w, uint32_t owner, uint32_t name)
{
    uint64_t key = stet_map_pair(owner, name);
    uint32_t known = stet_map_get(w->attribute_moves, key);

    if (known == STET_MAP_NONE) {
        known = name ? count_moves(w, owner, name) : 0;
        stet_map_put(w->attribute_moves, key, known); /* otherwise it is counted again */
    }
    return known;
}
