/* tree-sitter's tree copied into a flat array: smaller, faster to walk, and free of the parser. */
#include "lint/ast.h"

#include "base/vec.h"

#include <pthread.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_python(void);

/* A source file larger than this is data, not a program. */
#define MAX_TEXT    ((size_t)64 << 20)
#define MAX_NODES   ((uint32_t)1 << 25)
#define FIRST_NODES 1024
/* Deeper than any program a person wrote; below it the analysis recurses. */
#define MAX_DEPTH   400u

struct lint_parser {
    TSParser *parser;
};

static const struct {
    enum lint_field field;
    const char *name;
} field_names[] = {
    {LINT_FIELD_NAME, "name"},
    {LINT_FIELD_VALUE, "value"},
    {LINT_FIELD_TYPE, "type"},
    {LINT_FIELD_LEFT, "left"},
    {LINT_FIELD_RIGHT, "right"},
    {LINT_FIELD_CONDITION, "condition"},
    {LINT_FIELD_CONSEQUENCE, "consequence"},
    {LINT_FIELD_ALTERNATIVE, "alternative"},
    {LINT_FIELD_BODY, "body"},
    {LINT_FIELD_PARAMETERS, "parameters"},
    {LINT_FIELD_SUPERCLASSES, "superclasses"},
    {LINT_FIELD_FUNCTION, "function"},
    {LINT_FIELD_ARGUMENTS, "arguments"},
    {LINT_FIELD_OBJECT, "object"},
    {LINT_FIELD_ATTRIBUTE, "attribute"},
    {LINT_FIELD_SUBSCRIPT, "subscript"},
    {LINT_FIELD_ARGUMENT, "argument"},
    {LINT_FIELD_DEFINITION, "definition"},
    {LINT_FIELD_MODULE_NAME, "module_name"},
    {LINT_FIELD_ALIAS, "alias"},
    {LINT_FIELD_GUARD, "guard"},
};

static const struct {
    enum lint_kind kind;
    const char *name;
} kind_names[] = {
#define KIND(name, grammar) {LINT_##name, grammar},
#include "lint/kinds.def"
#undef KIND
};

/* The grammar's numbers to ours, filled once. */
static uint16_t kind_of[1024];
static uint8_t field_of[256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
    const TSLanguage *language = tree_sitter_python();
    uint32_t count = ts_language_symbol_count(language);

    for (uint32_t s = 0; s < count && s < 1024; s++) {
        const char *name = ts_language_symbol_name(language, (TSSymbol)s);

        if (!name || ts_language_symbol_type(language, (TSSymbol)s) != TSSymbolTypeRegular)
            continue;
        for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++) {
            if (!strcmp(kind_names[i].name, name))
                kind_of[s] = (uint16_t)kind_names[i].kind;
        }
    }
    for (size_t i = 0; i < sizeof field_names / sizeof *field_names; i++) {
        TSFieldId id = ts_language_field_id_for_name(language, field_names[i].name,
                                                     (uint32_t)strlen(field_names[i].name));

        if (id && id < 256)
            field_of[id] = (uint8_t)field_names[i].field;
    }
}

static enum lint_kind kind_of_node(TSNode n)
{
    TSSymbol s = ts_node_symbol(n);

    if (s == (TSSymbol)-1)
        return LINT_ERROR;
    return s < 1024 ? (enum lint_kind)kind_of[s] : LINT_OTHER;
}

struct lint_parser *lint_parser_new(void)
{
    struct lint_parser *p = stet_mem_alloc(sizeof *p);

    if (!p)
        return NULL;
    pthread_once(&tables_once, fill_tables);
    p->parser = ts_parser_new();
    if (!p->parser || !ts_parser_set_language(p->parser, tree_sitter_python())) {
        lint_parser_free(p);
        return NULL;
    }
    return p;
}

void lint_parser_free(struct lint_parser *p)
{
    if (!p)
        return;
    if (p->parser)
        ts_parser_delete(p->parser);
    stet_mem_free(p);
}

uint32_t lint_ast_name(const struct lint_ast *a, const char *name)
{
    uint32_t number = stet_intern_find(&a->names, stet_view_str(name));

    return number == STET_INTERN_NONE ? 0 : number;
}

static char operator_of(const char *type)
{
    if (!strcmp(type, "in"))
        return 'i';
    if (!strcmp(type, "not in"))
        return 'n';
    if (!strcmp(type, "is"))
        return 's';
    if (!strcmp(type, "is not"))
        return 't';
    return type[0];
}

/* One step of the copy: the open node of each level, and its last child so far. */
struct level {
    lint_ref node, last;
};

static lint_ref append(struct lint_ast *a, size_t *room, TSNode n, enum lint_kind kind)
{
    struct lint_node *node;

    if (a->count == *room &&
        !stet_vec_grow(&a->nodes, room, a->count, FIRST_NODES, sizeof *a->nodes, MAX_NODES))
        return 0;
    node = &a->nodes[a->count];
    *node = (struct lint_node){.kind = (uint16_t)kind,
                               .start = ts_node_start_byte(n),
                               .end = ts_node_end_byte(n),
                               .row = ts_node_start_point(n).row};
    if (kind == LINT_IDENTIFIER) {
        node->child = stet_intern_add(
            &a->names, stet_view_of(a->text.ptr + node->start, (size_t)(node->end - node->start)));
        if (node->child == STET_INTERN_NONE)
            node->child = 0;
    }
    return a->count++;
}

/* A leaf's children add nothing; an operator's anonymous child is its sign. */
static bool wants_children(enum lint_kind kind)
{
    return kind != LINT_IDENTIFIER && kind != LINT_STRING_CONTENT && kind != LINT_COMMENT;
}

static bool copy_tree(struct lint_ast *a, TSTree *tree)
{
    uint32_t depth = 0;
    size_t room = 0;
    struct level levels[MAX_DEPTH];
    TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(tree));
    bool fine = true, more;

    append(a, &room, ts_tree_root_node(tree), LINT_WHOLE);
    if (a->count != 1) {
        ts_tree_cursor_delete(&c);
        return false;
    }
    levels[0] = (struct level){0, 0};
    more = ts_tree_cursor_goto_first_child(&c);
    while (more && fine) {
        TSNode n = ts_tree_cursor_current_node(&c);
        bool down = false;

        if (ts_node_is_named(n)) {
            enum lint_kind kind = kind_of_node(n);
            lint_ref node = append(a, &room, n, kind), parent = levels[depth].node;

            fine = node != 0;
            if (fine) {
                TSFieldId f = ts_tree_cursor_current_field_id(&c);

                a->nodes[node].field = f < 256 ? field_of[f] : 0;
                if (levels[depth].last)
                    a->nodes[levels[depth].last].next = node;
                else
                    a->nodes[parent].child = node;
                levels[depth].last = node;
                if (wants_children(kind) && depth + 1 == MAX_DEPTH)
                    a->broken = true;
                else if (wants_children(kind) && ts_tree_cursor_goto_first_child(&c)) {
                    levels[++depth] = (struct level){node, 0};
                    down = true;
                }
            }
        } else {
            uint16_t kind = a->nodes[levels[depth].node].kind;

            if (kind >= LINT_BINARY && kind <= LINT_COMPARISON)
                a->nodes[levels[depth].node].op = operator_of(ts_node_type(n));
            else if (kind == LINT_AUGMENTED && !a->nodes[levels[depth].node].op)
                a->nodes[levels[depth].node].op = ts_node_type(n)[0];
        }
        while (fine && !down && !(more = ts_tree_cursor_goto_next_sibling(&c)) && depth) {
            ts_tree_cursor_goto_parent(&c);
            depth--;
        }
    }
    ts_tree_cursor_delete(&c);
    return fine;
}

/* A line may be the whole file, so computing a column must not walk back to its start. */
static bool find_lines(struct lint_ast *a)
{
    const char *p = a->text.ptr, *end = p + a->text.len;
    size_t room = 0;

    for (const char *start = p; start; start = p) {
        if (!stet_vec_room(&a->lines, &room, a->line_count, sizeof *a->lines))
            return false;
        a->lines[a->line_count++] = (uint32_t)(start - a->text.ptr);
        p = start < end ? memchr(start, '\n', (size_t)(end - start)) : NULL;
        p = p ? p + 1 : NULL;
    }
    return true;
}

enum stet_rc lint_ast_parse(struct lint_ast *a, struct lint_parser *p, struct stet_view text,
                            struct stet_err *err)
{
    TSTree *tree;
    bool copied;

    *a = (struct lint_ast){.text = text};
    if (text.len > MAX_TEXT)
        return stet_fail(err, STET_LIMIT, "larger than 64 MB");
    if (!text.len)
        a->text = STET_VIEW("");
    stet_intern_borrow(&a->names);
    if (stet_intern_add(&a->names, STET_VIEW("")) != 0 || !find_lines(a)) {
        lint_ast_release(a);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    tree = ts_parser_parse_string(p->parser, NULL, a->text.ptr, (uint32_t)text.len);
    if (!tree) {
        ts_parser_reset(p->parser);
        lint_ast_release(a);
        return stet_fail(err, STET_BAD_INPUT, "the parser gave up");
    }
    a->broken = ts_node_has_error(ts_tree_root_node(tree));
    copied = copy_tree(a, tree);
    ts_tree_delete(tree);
    if (!copied) {
        lint_ast_release(a);
        return stet_fail(err, STET_LIMIT, "too many nodes, or out of memory");
    }
    return STET_OK;
}

void lint_ast_release(struct lint_ast *a)
{
    stet_mem_free(a->nodes);
    stet_intern_release(&a->names);
    stet_mem_free(a->lines);
    *a = (struct lint_ast){0};
}

lint_ref lint_field(const struct lint_ast *a, lint_ref n, enum lint_field field)
{
    for (lint_ref c = lint_child(a, n); c; c = lint_next(a, c)) {
        if (a->nodes[c].field == field)
            return c;
    }
    return 0;
}

lint_ref lint_child_of(const struct lint_ast *a, lint_ref n, enum lint_kind kind)
{
    for (lint_ref c = lint_child(a, n); c; c = lint_next(a, c)) {
        if (a->nodes[c].kind == kind)
            return c;
    }
    return 0;
}

lint_ref lint_bare(const struct lint_ast *a, lint_ref n)
{
    while (n && a->nodes[n].kind == LINT_PARENTHESIZED && a->nodes[n].child)
        n = a->nodes[n].child;
    return n;
}

uint32_t lint_row(const struct lint_ast *a, uint32_t offset)
{
    uint32_t low = 0, high = a->line_count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (a->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t lint_column(const struct lint_ast *a, uint32_t offset)
{
    return offset - a->lines[lint_row(a, offset)] + 1;
}

struct stet_view lint_string(const struct lint_ast *a, lint_ref n)
{
    struct stet_view v = {0};

    if (lint_kind(a, n) != LINT_STRING || lint_child_of(a, n, LINT_INTERPOLATION))
        return v;
    n = lint_child_of(a, n, LINT_STRING_CONTENT);
    return n ? lint_text(a, n) : v;
}
