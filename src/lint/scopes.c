/* Who is defined where: functions, classes, imports and the names bound in them. */
#include "lint/walk.h"

#include <stdio.h>

enum { MAX_FUNCTIONS = 1 << 16 };

uint32_t lint_fn_at(const struct lint_walk *w, lint_ref node)
{
    return stet_map_get(&w->fn_of_node, node);
}

/* The first class of a name, and the first method of a name in a class, as they are looked for. */
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

/* Fewer than this are found sooner by looking at each. */
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
    b->at = lint_at(w->ast, w->statement)->start;
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
static struct stet_view absolute(struct lint_walk *w, lint_ref module)
{
    const struct lint_ast *a = w->ast;
    struct stet_view base = w->out->module, rest = {0};
    lint_ref prefix, dotted;

    if (lint_kind(a, module) != LINT_RELATIVE_IMPORT)
        return lint_text(a, module);
    prefix = lint_child_of(a, module, LINT_IMPORT_PREFIX);
    dotted = lint_child_of(a, module, LINT_DOTTED_NAME);
    if (dotted)
        rest = lint_text(a, dotted);
    if (prefix) {
        size_t up = lint_text(a, prefix).len;

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

static uint32_t first_name(const struct lint_ast *a, lint_ref dotted)
{
    return lint_name(a, lint_child(a, dotted));
}

static void import_statement(struct lint_walk *w, lint_ref n)
{
    const struct lint_ast *a = w->ast;

    for (lint_ref c = lint_child(a, n); c; c = lint_next(a, c)) {
        if (lint_kind(a, c) == LINT_DOTTED_NAME) {
            uint32_t head = first_name(a, c);

            if (head)
                add_import(w, head, stet_arena_copy(&w->out->arena, a->names.items[head]));
        } else if (lint_kind(a, c) == LINT_ALIASED_IMPORT) {
            lint_ref name = lint_field(a, c, LINT_FIELD_NAME);
            uint32_t local = lint_name(a, lint_field(a, c, LINT_FIELD_ALIAS));

            if (name)
                add_import(w, local, stet_arena_copy(&w->out->arena, lint_text(a, name)));
        }
    }
}

static void import_from(struct lint_walk *w, lint_ref n)
{
    const struct lint_ast *a = w->ast;
    lint_ref module = lint_field(a, n, LINT_FIELD_MODULE_NAME);
    struct stet_view from;

    if (!module)
        return;
    from = absolute(w, module);
    for (lint_ref c = lint_next(a, module); c; c = lint_next(a, c)) {
        lint_ref name = c;
        uint32_t local;

        if (lint_kind(a, c) == LINT_ALIASED_IMPORT) {
            name = lint_field(a, c, LINT_FIELD_NAME);
            local = lint_name(a, lint_field(a, c, LINT_FIELD_ALIAS));
        } else {
            local = first_name(a, c);
        }
        if (!name || lint_kind(a, name) != LINT_DOTTED_NAME)
            continue;
        add_import(w, local,
                   stet_arena_printf(&w->out->arena, "%.*s%s%.*s", STET_FMT(from),
                                     from.len ? "." : "", STET_FMT(lint_text(a, name))));
    }
}

/* What is open at a place of the scan. */
struct open {
    uint32_t end, fn, owner;
};

static void add_function(struct lint_walk *w, lint_ref n, uint32_t parent, uint32_t owner,
                         lint_ref decorated)
{
    const struct lint_ast *a = w->ast;

    if (w->fn_count >= MAX_FUNCTIONS ||
        !lint_room(w, &w->fns, &w->fn_room, w->fn_count, sizeof *w->fns))
        return;
    w->fns[w->fn_count++] = (struct lint_function){
        .node = n,
        .body = lint_field(a, n, LINT_FIELD_BODY),
        .parameters = lint_field(a, n, LINT_FIELD_PARAMETERS),
        .decorated = decorated,
        .parent = parent,
        .owner = owner,
        .name = lint_name(a, lint_field(a, n, LINT_FIELD_NAME)),
    };
}

static void add_class(struct lint_walk *w, lint_ref n, bool decorated)
{
    if (!lint_room(w, &w->classes, &w->class_room, w->class_count, sizeof *w->classes))
        return;
    w->classes[w->class_count++] =
        (struct lint_class_info){.node = n,
                                 .name = lint_name(w->ast, lint_field(w->ast, n, LINT_FIELD_NAME)),
                                 .decorated = decorated};
}

static void note_globals(struct lint_walk *w, lint_ref n)
{
    for (lint_ref c = lint_child(w->ast, n); c; c = lint_next(w->ast, c)) {
        if (lint_name(w->ast, c))
            w->global_writes[lint_name(w->ast, c)]++;
    }
}

/* One pass over the nodes, which lie in source order: what is open is known by where it ends. */
bool lint_collect(struct lint_walk *w)
{
    const struct lint_ast *a = w->ast;
    struct open stack[256] = {{.end = UINT32_MAX, .fn = 0, .owner = LINT_NONE}};
    uint32_t depth = 0, loop_end = 0;
    lint_ref decorated = 0;

    add_function(w, 0, 0, LINT_NONE, 0);
    if (!w->fn_count)
        return false;
    w->fns[0].body = 0;
    for (lint_ref n = 1; n < a->count; n++) {
        const struct lint_node *node = &a->nodes[n];

        while (depth && node->start >= stack[depth].end)
            depth--;
        switch ((enum lint_kind)node->kind) {
        case LINT_IMPORT:
            import_statement(w, n);
            break;
        case LINT_IMPORT_FROM:
            import_from(w, n);
            break;
        case LINT_DECORATED:
            decorated = n;
            break;
        case LINT_GLOBAL:
            note_globals(w, n);
            break;
        case LINT_FOR:
        case LINT_WHILE:
            loop_end = node->end > loop_end ? node->end : loop_end;
            lint_note_moves(w, n, true);
            break;
        case LINT_ASSIGNMENT:
        case LINT_AUGMENTED:
        case LINT_CALL:
            lint_note_moves(w, n, node->start < loop_end);
            break;
        case LINT_FUNCTION:
        case LINT_LAMBDA:
            add_function(w, n, stack[depth].fn, stack[depth].owner,
                         decorated && node->kind == LINT_FUNCTION &&
                                 lint_field(a, decorated, LINT_FIELD_DEFINITION) == n
                             ? decorated
                             : 0);
            if (depth + 1 < 256)
                stack[++depth] = (struct open){node->end, w->fn_count - 1, LINT_NONE};
            break;
        case LINT_CLASS:
            add_class(w, n, decorated && lint_field(a, decorated, LINT_FIELD_DEFINITION) == n);
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

struct stet_view lint_dotted(struct lint_walk *w, lint_ref n, char room[160])
{
    const struct lint_ast *a = w->ast;
    struct stet_view parts[12], head;
    size_t count = 0, at = 0;
    uint32_t name;

    for (; lint_kind(a, n) == LINT_ATTRIBUTE && count < 11;
         n = lint_field(a, n, LINT_FIELD_OBJECT)) {
        lint_ref attribute = lint_field(a, n, LINT_FIELD_ATTRIBUTE);

        if (!attribute)
            return STET_VIEW("");
        parts[count++] = lint_text(a, attribute);
    }
    name = lint_name(a, n);
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

struct stet_view lint_imported(struct lint_walk *w, lint_ref n, char room[160])
{
    const struct lint_ast *a = w->ast;
    lint_ref head = n;
    uint32_t name;

    while (lint_kind(a, head) == LINT_ATTRIBUTE)
        head = lint_field(a, head, LINT_FIELD_OBJECT);
    name = lint_name(a, head);
    if (!name || !w->alias[name].len || lint_lookup(w, w->fn, name))
        return STET_VIEW("");
    return lint_dotted(w, n, room);
}
