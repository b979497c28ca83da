/* A Python file as a flat array of nodes: the grammar's named nodes in source order. The tree
 * borrows the text, which must outlive it. */
#ifndef STET_LINT_AST_H
#define STET_LINT_AST_H

#include "base/arena.h"
#include "base/err.h"
#include "base/intern.h"

enum lint_kind {
    LINT_OTHER,
#define KIND(name, grammar) LINT_##name,
#include "lint/kinds.def"
#undef KIND
    LINT_KINDS
};

/* The grammar's fields that give more than the order does. */
enum lint_field {
    LINT_FIELD_NONE,
    LINT_FIELD_NAME,
    LINT_FIELD_VALUE,
    LINT_FIELD_TYPE,
    LINT_FIELD_LEFT,
    LINT_FIELD_RIGHT,
    LINT_FIELD_CONDITION,
    LINT_FIELD_CONSEQUENCE,
    LINT_FIELD_ALTERNATIVE,
    LINT_FIELD_BODY,
    LINT_FIELD_PARAMETERS,
    LINT_FIELD_SUPERCLASSES,
    LINT_FIELD_FUNCTION,
    LINT_FIELD_ARGUMENTS,
    LINT_FIELD_OBJECT,
    LINT_FIELD_ATTRIBUTE,
    LINT_FIELD_SUBSCRIPT,
    LINT_FIELD_ARGUMENT,
    LINT_FIELD_DEFINITION,
    LINT_FIELD_MODULE_NAME,
    LINT_FIELD_ALIAS,
    LINT_FIELD_GUARD,
    LINT_FIELDS
};

/* 0 means "no node": node 0 is the module, which is never a child or sibling. */
typedef uint32_t lint_ref;

struct lint_node {
    uint16_t kind;
    uint8_t field;
    char op; /* of an operator: its first character; 'i' in, 'n' not in, 's' is, 't' is not */
    uint32_t start, end;
    uint32_t row;
    lint_ref next;  /* sibling */
    lint_ref child; /* first; for an identifier: the number of its name */
};

struct lint_ast {
    struct stet_view text;
    struct lint_node *nodes;
    uint32_t count;
    struct stet_intern names; /* of identifiers, in the text; number 0 means none */
    uint32_t *lines;          /* where each row starts */
    uint32_t line_count;
    bool broken; /* the grammar met errors, or the tree was cut at a limit */
    struct stet_arena arena;
};

/* A parser belongs to one thread and is used for many files. */
struct lint_parser;
struct lint_parser *lint_parser_new(void);
void lint_parser_free(struct lint_parser *p);

/* `text` must outlive the tree. Broken Python gives a tree too. */
enum stet_rc lint_ast_parse(struct lint_ast *a, struct lint_parser *p, struct stet_view text,
                            struct stet_err *err);
void lint_ast_release(struct lint_ast *a);

/* The number of a name, 0 if the file does not have it. */
uint32_t lint_ast_name(const struct lint_ast *a, const char *name);

static inline const struct lint_node *lint_at(const struct lint_ast *a, lint_ref n)
{
    return &a->nodes[n];
}

static inline enum lint_kind lint_kind(const struct lint_ast *a, lint_ref n)
{
    return n ? (enum lint_kind)a->nodes[n].kind : LINT_OTHER;
}

static inline struct stet_view lint_text(const struct lint_ast *a, lint_ref n)
{
    return stet_view_of(a->text.ptr + a->nodes[n].start,
                        (size_t)(a->nodes[n].end - a->nodes[n].start));
}

/* The first child, also of the module; 0 if there is none. */
static inline lint_ref lint_child(const struct lint_ast *a, lint_ref n)
{
    return a->nodes[n].kind == LINT_IDENTIFIER ? 0 : a->nodes[n].child;
}

static inline lint_ref lint_next(const struct lint_ast *a, lint_ref n)
{
    return a->nodes[n].next;
}

/* The number of an identifier's name; 0 for other nodes. */
static inline uint32_t lint_name(const struct lint_ast *a, lint_ref n)
{
    return n && a->nodes[n].kind == LINT_IDENTIFIER ? a->nodes[n].child : 0;
}

/* First child with that field, or 0. */
lint_ref lint_field(const struct lint_ast *a, lint_ref n, enum lint_field field);
/* First child of that kind, or 0. */
lint_ref lint_child_of(const struct lint_ast *a, lint_ref n, enum lint_kind kind);
/* Skips parentheses. */
lint_ref lint_bare(const struct lint_ast *a, lint_ref n);
/* The row that contains this byte, from 0. */
uint32_t lint_row(const struct lint_ast *a, uint32_t offset);
/* 1-based column in bytes. */
uint32_t lint_column(const struct lint_ast *a, uint32_t offset);
/* A string literal without prefix and quotes; empty if it is not a plain one. */
struct stet_view lint_string(const struct lint_ast *a, lint_ref n);

#endif
