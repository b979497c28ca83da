/* tree-sitter's tree copied into a flat array: smaller, faster to walk, and free of the parser. */
#include "python/ast.h"

#include "base/vec.h"

#include <pthread.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_python(void);

/* A source file larger than this is data, not a program. */
#define MAX_TEXT    ((size_t)64 << 20)
#define MAX_NODES   ((uint32_t)1 << 25)
#define FIRST_NODES 1024
/* Deeper than any program written by hand; the analysis recurses to this depth. */
#define MAX_DEPTH   400u

struct stet_python_parser {
    TSParser *parser;
};

static const struct {
    enum stet_python_field field;
    const char *name;
} field_names[] = {
    {PY_FIELD_NAME, "name"},
    {PY_FIELD_VALUE, "value"},
    {PY_FIELD_TYPE, "type"},
    {PY_FIELD_LEFT, "left"},
    {PY_FIELD_RIGHT, "right"},
    {PY_FIELD_CONDITION, "condition"},
    {PY_FIELD_CONSEQUENCE, "consequence"},
    {PY_FIELD_ALTERNATIVE, "alternative"},
    {PY_FIELD_BODY, "body"},
    {PY_FIELD_PARAMETERS, "parameters"},
    {PY_FIELD_SUPERCLASSES, "superclasses"},
    {PY_FIELD_FUNCTION, "function"},
    {PY_FIELD_ARGUMENTS, "arguments"},
    {PY_FIELD_OBJECT, "object"},
    {PY_FIELD_ATTRIBUTE, "attribute"},
    {PY_FIELD_SUBSCRIPT, "subscript"},
    {PY_FIELD_ARGUMENT, "argument"},
    {PY_FIELD_DEFINITION, "definition"},
    {PY_FIELD_MODULE_NAME, "module_name"},
    {PY_FIELD_ALIAS, "alias"},
    {PY_FIELD_GUARD, "guard"},
};

static const struct {
    enum stet_python_kind kind;
    const char *name;
} kind_names[] = {
#define KIND(name, grammar) {PY_##name, grammar},
#include "python/kinds.def"
#undef KIND
};

/* Maps the grammar's numbers to ours; filled once. */
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

static enum stet_python_kind kind_of_node(TSNode n)
{
    TSSymbol s = ts_node_symbol(n);

    if (s == (TSSymbol)-1)
        return PY_ERROR;
    return s < 1024 ? (enum stet_python_kind)kind_of[s] : PY_OTHER;
}

struct stet_python_parser *stet_python_parser_new(void)
{
    struct stet_python_parser *p = stet_mem_alloc(sizeof *p);

    if (!p)
        return NULL;
    pthread_once(&tables_once, fill_tables);
    p->parser = ts_parser_new();
    if (!p->parser || !ts_parser_set_language(p->parser, tree_sitter_python())) {
        stet_python_parser_free(p);
        return NULL;
    }
    return p;
}

void stet_python_parser_free(struct stet_python_parser *p)
{
    if (!p)
        return;
    if (p->parser)
        ts_parser_delete(p->parser);
    stet_mem_free(p);
}

uint32_t stet_python_ast_name(const struct stet_python_ast *a, const char *name)
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
    stet_python_ref node, last;
};

static stet_python_ref append(struct stet_python_ast *a, size_t *room, TSNode n,
                              enum stet_python_kind kind)
{
    struct stet_python_node *node;

    if (a->count == *room &&
        !stet_vec_grow(&a->nodes, room, a->count, FIRST_NODES, sizeof *a->nodes, MAX_NODES))
        return 0;
    node = &a->nodes[a->count];
    *node = (struct stet_python_node){.kind = (uint16_t)kind,
                                      .start = ts_node_start_byte(n),
                                      .end = ts_node_end_byte(n),
                                      .row = ts_node_start_point(n).row};
    if (kind == PY_IDENTIFIER) {
        node->child = stet_intern_add(
            &a->names, stet_view_of(a->text.ptr + node->start, (size_t)(node->end - node->start)));
        if (node->child == STET_INTERN_NONE)
            node->child = 0;
    }
    return a->count++;
}

/* A leaf's children carry no information; an operator's anonymous child is its sign. */
static bool wants_children(enum stet_python_kind kind)
{
    return kind != PY_IDENTIFIER && kind != PY_STRING_CONTENT && kind != PY_COMMENT;
}

static bool copy_tree(struct stet_python_ast *a, TSTree *tree)
{
    uint32_t depth = 0;
    size_t room = 0;
    struct level levels[MAX_DEPTH];
    TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(tree));
    bool fine = true, more;

    append(a, &room, ts_tree_root_node(tree), PY_WHOLE);
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
            enum stet_python_kind kind = kind_of_node(n);
            stet_python_ref node = append(a, &room, n, kind), parent = levels[depth].node;

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

            if (kind >= PY_BINARY && kind <= PY_COMPARISON)
                a->nodes[levels[depth].node].op = operator_of(ts_node_type(n));
            else if (kind == PY_AUGMENTED && !a->nodes[levels[depth].node].op)
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

/* A line may be the whole file, so finding a column must not walk back to the line's start. */
static bool find_lines(struct stet_python_ast *a)
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

enum stet_rc stet_python_ast_parse(struct stet_python_ast *a, struct stet_python_parser *p,
                                   struct stet_view text, struct stet_err *err)
{
    TSTree *tree;
    bool copied;

    *a = (struct stet_python_ast){.text = text};
    if (text.len > MAX_TEXT)
        return stet_fail(err, STET_LIMIT, "larger than 64 MB");
    if (!text.len)
        a->text = STET_VIEW("");
    stet_intern_borrow(&a->names);
    if (stet_intern_add(&a->names, STET_VIEW("")) != 0 || !find_lines(a)) {
        stet_python_ast_release(a);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    tree = ts_parser_parse_string(p->parser, NULL, a->text.ptr, (uint32_t)text.len);
    if (!tree) {
        ts_parser_reset(p->parser);
        stet_python_ast_release(a);
        return stet_fail(err, STET_BAD_INPUT, "the parser gave up");
    }
    a->broken = ts_node_has_error(ts_tree_root_node(tree));
    copied = copy_tree(a, tree);
    ts_tree_delete(tree);
    if (!copied) {
        stet_python_ast_release(a);
        return stet_fail(err, STET_LIMIT, "too many nodes, or out of memory");
    }
    return STET_OK;
}

void stet_python_ast_release(struct stet_python_ast *a)
{
    stet_mem_free(a->nodes);
    stet_intern_release(&a->names);
    stet_mem_free(a->lines);
    *a = (struct stet_python_ast){0};
}

stet_python_ref stet_python_field(const struct stet_python_ast *a, stet_python_ref n,
                                  enum stet_python_field field)
{
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (a->nodes[c].field == field)
            return c;
    }
    return 0;
}

stet_python_ref stet_python_child_of(const struct stet_python_ast *a, stet_python_ref n,
                                     enum stet_python_kind kind)
{
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (a->nodes[c].kind == kind)
            return c;
    }
    return 0;
}

stet_python_ref stet_python_bare(const struct stet_python_ast *a, stet_python_ref n)
{
    while (n && a->nodes[n].kind == PY_PARENTHESIZED && a->nodes[n].child)
        n = a->nodes[n].child;
    return n;
}

uint32_t stet_python_row(const struct stet_python_ast *a, uint32_t offset)
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

uint32_t stet_python_column(const struct stet_python_ast *a, uint32_t offset)
{
    return offset - a->lines[stet_python_row(a, offset)] + 1;
}

struct stet_view stet_python_string(const struct stet_python_ast *a, stet_python_ref n)
{
    struct stet_view v = {0};

    if (stet_python_kind(a, n) != PY_STRING || stet_python_child_of(a, n, PY_INTERPOLATION))
        return v;
    n = stet_python_child_of(a, n, PY_STRING_CONTENT);
    return n ? stet_python_text(a, n) : v;
}
