/* Definitions: functions, classes, imports and the names bound in them. */
#include "flow/walk.h"

#include <stdio.h>

enum { MAX_FUNCTIONS = 1 << 16 };

uint32_t stet_flow_fn_at(const struct stet_flow_walk *w, stet_python_ref node)
{
    return node ? stet_map_get(&w->index_of, node) : 0;
}

/* Fewer than this are found faster by a linear search. */
enum { INDEX_FROM = 16 };

/* The items that are not in the index yet. */
static bool index_scope(struct stet_flow_scope *s)
{
    for (uint32_t i = s->index.count; i < s->count; i++)
        if (!stet_map_put(&s->index, s->items[i].name, i))
            return false;
    return true;
}

struct stet_flow_binding *stet_flow_scope_find(struct stet_flow_scope *s, uint32_t name)
{
    if (s->index.count) {
        uint32_t at = stet_map_get(&s->index, name);

        return at == STET_MAP_NONE ? NULL : &s->items[at];
    }
    for (uint32_t i = s->count; i-- > 0;) {
        if (s->items[i].name == name)
            return &s->items[i];
    }
    return NULL;
}

void stet_flow_scope_release(struct stet_flow_scope *s)
{
    stet_mem_free(s->items);
    stet_map_release(&s->index);
}

void stet_flow_bind(struct stet_flow_walk *w, struct stet_flow_scope *s, uint32_t name,
                    struct stet_flow_value v)
{
    struct stet_flow_binding *b;

    if (!name)
        return;
    b = stet_flow_scope_find(s, name);
    if (!b) {
        if (s->count >= 4096 || !stet_flow_room(w, &s->items, &s->room, s->count, sizeof *s->items))
            return;
        b = &s->items[s->count++];
        *b = (struct stet_flow_binding){.name = name};
        if (s->count > INDEX_FROM && !index_scope(s)) {
            w->failed = true;
            return;
        }
    }
    b->value = v;
    b->at = stet_python_at(w->ast, w->statement)->start;
    b->writes++;
}

struct stet_flow_binding *stet_flow_lookup(struct stet_flow_walk *w, uint32_t fn, uint32_t name)
{
    for (;;) {
        struct stet_flow_binding *b = stet_flow_scope_find(&w->fns[fn].scope, name);

        if (b)
            return b;
        if (!fn)
            return NULL;
        fn = w->fns[fn].parent;
    }
}

bool stet_flow_is_parameter(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_flow_binding *b =
        stet_python_name(w->ast, n) ? stet_flow_lookup(w, w->fn, stet_python_name(w->ast, n))
                                    : NULL;

    return b && b->writes == 1 && !b->value.from && (b->value.deps & ~FLOW_ALWAYS);
}

uint32_t stet_flow_method(const struct stet_flow_walk *w, uint32_t owner, uint32_t name)
{
    stet_python_ref found = stet_python_method_of(w->module, w->classes[owner].node, name);

    return found ? stet_flow_fn_at(w, found) : FLOW_NONE;
}

uint32_t stet_flow_class_at(const struct stet_flow_walk *w, stet_python_ref node)
{
    return node ? stet_map_get(&w->index_of, node) : FLOW_NONE;
}

uint32_t stet_flow_self_class(const struct stet_flow_walk *w, stet_python_ref object)
{
    return stet_flow_class_at(w, stet_python_self_class(w->module, object));
}

/* The imports, for the linker. */
static bool collect_imports(struct stet_flow_walk *w)
{
    struct stet_flow_summary *s = w->out;

    for (uint32_t name = 1; name < w->ast->names.count; name++) {
        if (!w->module->imports[name].len)
            continue;
        if (!stet_flow_room(w, &s->imports, &w->import_room, s->import_count, sizeof *s->imports))
            return false;
        s->imports[s->import_count++] =
            (struct stet_flow_import){stet_arena_copy(&s->arena, w->ast->names.items[name]),
                                      stet_arena_copy(&s->arena, w->module->imports[name])};
    }
    return true;
}

static void add_function(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref around = n ? w->module->parents[n] : 0;

    if (w->fn_count >= MAX_FUNCTIONS ||
        !stet_flow_room(w, &w->fns, &w->fn_room, w->fn_count, sizeof *w->fns))
        return;
    w->fns[w->fn_count] = (struct stet_flow_function){
        .node = n,
        .body = n ? stet_python_field(a, n, PY_FIELD_BODY) : 0,
        .parameters = n ? stet_python_field(a, n, PY_FIELD_PARAMETERS) : 0,
        .decorated = stet_python_kind(a, around) == PY_DECORATED ? around : 0,
        .parent = stet_flow_fn_at(w, stet_python_function_around(w->module, n)),
        .owner = stet_flow_class_at(w, stet_python_class_around(w->module, n)),
        .name = n ? stet_python_name(a, stet_python_field(a, n, PY_FIELD_NAME)) : 0,
    };
    if (n && !stet_map_put(&w->index_of, n, w->fn_count))
        w->failed = true;
    w->fn_count++;
}

static void add_class(struct stet_flow_walk *w, stet_python_ref n)
{
    if (!stet_flow_room(w, &w->classes, &w->class_room, w->class_count, sizeof *w->classes))
        return;
    w->classes[w->class_count] = (struct stet_flow_class_info){
        .node = n,
        .name = stet_python_name(w->ast, stet_python_field(w->ast, n, PY_FIELD_NAME)),
        .decorated = stet_python_kind(w->ast, w->module->parents[n]) == PY_DECORATED};
    if (!stet_map_put(&w->index_of, n, w->class_count))
        w->failed = true;
    w->class_count++;
}

static void note_globals(struct stet_flow_walk *w, stet_python_ref n)
{
    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c)) {
        if (stet_python_name(w->ast, c))
            w->global_writes[stet_python_name(w->ast, c)]++;
    }
}

bool stet_flow_collect(struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;

    add_function(w, 0);
    for (stet_python_ref n = 1; n < a->count && w->fn_count && !w->failed; n++) {
        switch ((enum stet_python_kind)a->nodes[n].kind) {
        case PY_GLOBAL:
            note_globals(w, n);
            break;
        case PY_FUNCTION:
        case PY_LAMBDA:
            add_function(w, n);
            break;
        case PY_CLASS:
            add_class(w, n);
            break;
        default:
            break;
        }
    }
    return w->fn_count && !w->failed && collect_imports(w);
}
