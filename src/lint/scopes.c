/* Definitions: functions, classes, imports and the names bound in them. */
#include "lint/walk.h"

#include <stdio.h>

enum { MAX_FUNCTIONS = 1 << 16 };

uint32_t lint_fn_at(const struct lint_walk *w, stet_python_ref node)
{
    return stet_map_get(&w->fn_of_node, node);
}

/* Lookup tables: the first class of a name, and the first method of a name in a class. */
static bool index_functions(struct lint_walk *w)
{
    w->class_of = stet_mem_calloc(w->ast->names.count, sizeof *w->class_of);
    if (!w->class_of)
        return false;
    for (uint32_t f = 0; f < w->fn_count; f++) {
        uint64_t method = stet_map_pair(w->fns[f].owner, w->fns[f].name);

        if (!stet_map_put(&w->fn_of_node, w->fns[f].node, f))
            return false;
        if (f && stet_map_get(&w->method_of, method) == STET_MAP_NONE &&
            !stet_map_put(&w->method_of, method, f))
            return false;
    }
    for (uint32_t c = w->class_count; c-- > 0;)
        w->class_of[w->classes[c].name] = c + 1;
    return true;
}

/* Fewer than this are found faster by a linear search. */
enum { INDEX_FROM = 16 };

/* The items that are not in the index yet. */
static bool index_scope(struct lint_scope *s)
{
    for (uint32_t i = s->index.count; i < s->count; i++)
        if (!stet_map_put(&s->index, s->items[i].name, i))
            return false;
    return true;
}

struct lint_binding *lint_scope_find(struct lint_scope *s, uint32_t name)
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

void lint_scope_release(struct lint_scope *s)
{
    stet_mem_free(s->items);
    stet_map_release(&s->index);
}

void lint_bind(struct lint_walk *w, struct lint_scope *s, uint32_t name, struct lint_value v)
{
    struct lint_binding *b;

    if (!name)
        return;
    b = lint_scope_find(s, name);
    if (!b) {
        if (s->count >= 4096 || !lint_room(w, &s->items, &s->room, s->count, sizeof *s->items))
            return;
        b = &s->items[s->count++];
        *b = (struct lint_binding){.name = name};
        if (s->count > INDEX_FROM && !index_scope(s)) {
            w->failed = true;
            return;
        }
    }
    b->value = v;
    b->at = stet_python_at(w->ast, w->statement)->start;
    b->writes++;
}

struct lint_binding *lint_lookup(struct lint_walk *w, uint32_t fn, uint32_t name)
{
    for (;;) {
        struct lint_binding *b = lint_scope_find(&w->fns[fn].scope, name);

        if (b)
            return b;
        if (!fn)
            return NULL;
        fn = w->fns[fn].parent;
    }
}

uint32_t lint_method(const struct lint_walk *w, uint32_t owner, uint32_t name)
{
    return stet_map_get(&w->method_of, stet_map_pair(owner, name));
}

uint32_t lint_class_named(const struct lint_walk *w, uint32_t name)
{
    return name && w->class_of[name] ? w->class_of[name] - 1 : LINT_NONE;
}

uint32_t lint_fn_named(struct lint_walk *w, uint32_t fn, uint32_t name)
{
    struct lint_binding *b = lint_lookup(w, fn, name);

    if (b)
        return b->value.kind == LINT_V_FN ? b->value.index : LINT_NONE;
    return LINT_NONE;
}

static void add_import(struct lint_walk *w, uint32_t local, struct stet_view target)
{
    struct lint_summary *s = w->out;

    if (!local || !target.ptr)
        return;
    if (w->alias[local].len == 0)
        w->alias[local] = target;
    if (!lint_room(w, &s->imports, &w->import_room, s->import_count, sizeof *s->imports))
        return;
    s->imports[s->import_count++] =
        (struct lint_import){stet_arena_copy(&s->arena, w->ast->names.items[local]), target};
}

/* "..utils" seen from module a.b.c of a package file is a.utils. */
static struct stet_view absolute(struct lint_walk *w, stet_python_ref module)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_view base = w->out->module, rest = {0};
    stet_python_ref prefix, dotted;

    if (stet_python_kind(a, module) != PY_RELATIVE_IMPORT)
        return stet_python_text(a, module);
    prefix = stet_python_child_of(a, module, PY_IMPORT_PREFIX);
    dotted = stet_python_child_of(a, module, PY_DOTTED_NAME);
    if (dotted)
        rest = stet_python_text(a, dotted);
    if (prefix) {
        size_t up = stet_python_text(a, prefix).len;

        if (stet_view_ends(w->path, "__init__.py"))
            up--;
        for (; up && base.len; up--) {
            while (base.len && base.ptr[base.len - 1] != '.')
                base.len--;
            if (base.len)
                base.len--;
        }
    }
    if (!base.len)
        return rest;
    if (!rest.len)
        return stet_arena_copy(&w->out->arena, base);
    return stet_arena_printf(&w->out->arena, "%.*s.%.*s", STET_FMT(base), STET_FMT(rest));
}

static uint32_t first_name(const struct stet_python_ast *a, stet_python_ref dotted)
{
    return stet_python_name(a, stet_python_child(a, dotted));
}

static void import_statement(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_DOTTED_NAME) {
            uint32_t head = first_name(a, c);

            if (head)
                add_import(w, head, stet_arena_copy(&w->out->arena, a->names.items[head]));
        } else if (stet_python_kind(a, c) == PY_ALIASED_IMPORT) {
            stet_python_ref name = stet_python_field(a, c, PY_FIELD_NAME);
            uint32_t local = stet_python_name(a, stet_python_field(a, c, PY_FIELD_ALIAS));

            if (name)
                add_import(w, local, stet_arena_copy(&w->out->arena, stet_python_text(a, name)));
        }
    }
}

static void import_from(struct lint_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref module = stet_python_field(a, n, PY_FIELD_MODULE_NAME);
    struct stet_view from;

    if (!module)
        return;
    from = absolute(w, module);
    for (stet_python_ref c = stet_python_next(a, module); c; c = stet_python_next(a, c)) {
        stet_python_ref name = c;
        uint32_t local;

        if (stet_python_kind(a, c) == PY_ALIASED_IMPORT) {
            name = stet_python_field(a, c, PY_FIELD_NAME);
            local = stet_python_name(a, stet_python_field(a, c, PY_FIELD_ALIAS));
        } else {
            local = first_name(a, c);
        }
        if (!name || stet_python_kind(a, name) != PY_DOTTED_NAME)
            continue;
        add_import(w, local,
                   stet_arena_printf(&w->out->arena, "%.*s%s%.*s", STET_FMT(from),
                                     from.len ? "." : "", STET_FMT(stet_python_text(a, name))));
    }
}

/* The open scopes at a position of the scan. */
struct open {
    uint32_t end, fn, owner;
};

static void add_function(struct lint_walk *w, stet_python_ref n, uint32_t parent, uint32_t owner,
                         stet_python_ref decorated)
{
    const struct stet_python_ast *a = w->ast;

    if (w->fn_count >= MAX_FUNCTIONS ||
        !lint_room(w, &w->fns, &w->fn_room, w->fn_count, sizeof *w->fns))
        return;
    w->fns[w->fn_count++] = (struct lint_function){
        .node = n,
        .body = stet_python_field(a, n, PY_FIELD_BODY),
        .parameters = stet_python_field(a, n, PY_FIELD_PARAMETERS),
        .decorated = decorated,
        .parent = parent,
        .owner = owner,
        .name = stet_python_name(a, stet_python_field(a, n, PY_FIELD_NAME)),
    };
}

static void add_class(struct lint_walk *w, stet_python_ref n, bool decorated)
{
    if (!lint_room(w, &w->classes, &w->class_room, w->class_count, sizeof *w->classes))
        return;
    w->classes[w->class_count++] = (struct lint_class_info){
        .node = n,
        .name = stet_python_name(w->ast, stet_python_field(w->ast, n, PY_FIELD_NAME)),
        .decorated = decorated};
}

static void note_globals(struct lint_walk *w, stet_python_ref n)
{
    for (stet_python_ref c = stet_python_child(w->ast, n); c; c = stet_python_next(w->ast, c)) {
        if (stet_python_name(w->ast, c))
            w->global_writes[stet_python_name(w->ast, c)]++;
    }
}

/* One pass over the nodes in source order; a scope is open until the position where it ends. */
bool lint_collect(struct lint_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    struct open stack[256] = {{.end = UINT32_MAX, .fn = 0, .owner = LINT_NONE}};
    uint32_t depth = 0, loop_end = 0;
    stet_python_ref decorated = 0;

    add_function(w, 0, 0, LINT_NONE, 0);
    if (!w->fn_count)
        return false;
    w->fns[0].body = 0;
    for (stet_python_ref n = 1; n < a->count; n++) {
        const struct stet_python_node *node = &a->nodes[n];

        while (depth && node->start >= stack[depth].end)
            depth--;
        switch ((enum stet_python_kind)node->kind) {
        case PY_IMPORT:
            import_statement(w, n);
            break;
        case PY_IMPORT_FROM:
            import_from(w, n);
            break;
        case PY_DECORATED:
            decorated = n;
            break;
        case PY_GLOBAL:
            note_globals(w, n);
            break;
        case PY_FOR:
        case PY_WHILE:
            loop_end = node->end > loop_end ? node->end : loop_end;
            lint_note_moves(w, n, true);
            break;
        case PY_ASSIGNMENT:
        case PY_AUGMENTED:
        case PY_CALL:
            lint_note_moves(w, n, node->start < loop_end);
            break;
        case PY_FUNCTION:
        case PY_LAMBDA:
            add_function(w, n, stack[depth].fn, stack[depth].owner,
                         decorated && node->kind == PY_FUNCTION &&
                                 stet_python_field(a, decorated, PY_FIELD_DEFINITION) == n
                             ? decorated
                             : 0);
            if (depth + 1 < 256)
                stack[++depth] = (struct open){node->end, w->fn_count - 1, LINT_NONE};
            break;
        case PY_CLASS:
            add_class(w, n, decorated && stet_python_field(a, decorated, PY_FIELD_DEFINITION) == n);
            if (depth + 1 < 256)
                stack[depth + 1] = (struct open){node->end, stack[depth].fn, w->class_count - 1},
                              depth++;
            break;
        default:
            break;
        }
    }
    return !w->failed && index_functions(w);
}

struct stet_view lint_dotted(struct lint_walk *w, stet_python_ref n, char room[160])
{
    const struct stet_python_ast *a = w->ast;
    struct stet_view parts[12], head;
    size_t count = 0, at = 0;
    uint32_t name;

    for (; stet_python_kind(a, n) == PY_ATTRIBUTE && count < 11;
         n = stet_python_field(a, n, PY_FIELD_OBJECT)) {
        stet_python_ref attribute = stet_python_field(a, n, PY_FIELD_ATTRIBUTE);

        if (!attribute)
            return STET_VIEW("");
        parts[count++] = stet_python_text(a, attribute);
    }
    name = stet_python_name(a, n);
    if (!name)
        return STET_VIEW("");
    head = a->names.items[name];
    if (w->alias[name].len && !lint_lookup(w, w->fn, name))
        head = w->alias[name];
    parts[count++] = head;
    while (count) {
        struct stet_view p = parts[--count];

        if (at + p.len + 1 >= 160)
            return STET_VIEW("");
        if (p.len)
            memcpy(room + at, p.ptr, p.len);
        at += p.len;
        if (count)
            room[at++] = '.';
    }
    return stet_view_of(room, at);
}

struct stet_view lint_imported(struct lint_walk *w, stet_python_ref n, char room[160])
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref head = n;
    uint32_t name;

    while (stet_python_kind(a, head) == PY_ATTRIBUTE)
        head = stet_python_field(a, head, PY_FIELD_OBJECT);
    name = stet_python_name(a, head);
    if (!name || !w->alias[name].len || lint_lookup(w, w->fn, name))
        return STET_VIEW("");
    return lint_dotted(w, n, room);
}
