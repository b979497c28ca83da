/* The syntax tree of one Python file, as a flat array: the grammar's named nodes in source order. A
 * node's children and siblings are indices into that array, so a walk over an index range is a walk
 * over a piece of text. The tree borrows the text and owns the rest. */
#ifndef STET_PYTHON_AST_H
#define STET_PYTHON_AST_H

#include "base/arena.h"
#include "base/err.h"
#include "base/intern.h"

enum stet_python_kind {
    PY_OTHER,
#define KIND(name, grammar) PY_##name,
#include "python/kinds.def"
#undef KIND
    PY_KINDS
};

/* The grammar's fields that the order of children does not give. */
enum stet_python_field {
    PY_FIELD_NONE,
    PY_FIELD_NAME,
    PY_FIELD_VALUE,
    PY_FIELD_TYPE,
    PY_FIELD_LEFT,
    PY_FIELD_RIGHT,
    PY_FIELD_CONDITION,
    PY_FIELD_CONSEQUENCE,
    PY_FIELD_ALTERNATIVE,
    PY_FIELD_BODY,
    PY_FIELD_PARAMETERS,
    PY_FIELD_SUPERCLASSES,
    PY_FIELD_FUNCTION,
    PY_FIELD_ARGUMENTS,
    PY_FIELD_OBJECT,
    PY_FIELD_ATTRIBUTE,
    PY_FIELD_SUBSCRIPT,
    PY_FIELD_ARGUMENT,
    PY_FIELD_DEFINITION,
    PY_FIELD_MODULE_NAME,
    PY_FIELD_ALIAS,
    PY_FIELD_GUARD,
    PY_FIELDS
};

/* 0 means "no node": node 0 is the module, which is never a child or a sibling. */
typedef uint32_t stet_python_ref;

struct stet_python_node {
    uint16_t kind;
    uint8_t field;
    char op; /* of an operator: its first character; 'i' in, 'n' not in, 's' is, 't' is not */
    uint32_t start, end;
    uint32_t row;
    stet_python_ref next;  /* sibling */
    stet_python_ref child; /* first; for an identifier: the number of its name */
};

struct stet_python_ast {
    struct stet_view text;
    struct stet_python_node *nodes;
    uint32_t count;
    struct stet_intern names; /* names of identifiers, in the text; number 0 means no name */
    uint32_t *lines;          /* where each row starts */
    uint32_t line_count;
    bool broken; /* the parser found errors, or the tree was cut at a limit */
    struct stet_arena arena;
};

/* A parser is used by one thread, for many files. */
struct stet_python_parser;
struct stet_python_parser *stet_python_parser_new(void);
void stet_python_parser_free(struct stet_python_parser *p);

/* `text` must outlive the tree. Broken Python gives a tree too. */
enum stet_rc stet_python_ast_parse(struct stet_python_ast *a, struct stet_python_parser *p,
                                   struct stet_view text, struct stet_err *err);
void stet_python_ast_release(struct stet_python_ast *a);

/* Returns the number of a name, 0 when the file does not have it. */
uint32_t stet_python_ast_name(const struct stet_python_ast *a, const char *name);

static inline const struct stet_python_node *stet_python_at(const struct stet_python_ast *a,
                                                            stet_python_ref n)
{
    return &a->nodes[n];
}

static inline enum stet_python_kind stet_python_kind(const struct stet_python_ast *a,
                                                     stet_python_ref n)
{
    return n ? (enum stet_python_kind)a->nodes[n].kind : PY_OTHER;
}

static inline struct stet_view stet_python_text(const struct stet_python_ast *a, stet_python_ref n)
{
    return stet_view_of(a->text.ptr + a->nodes[n].start,
                        (size_t)(a->nodes[n].end - a->nodes[n].start));
}

/* Returns the first child, also of the module; 0 when there is none. */
static inline stet_python_ref stet_python_child(const struct stet_python_ast *a, stet_python_ref n)
{
    return a->nodes[n].kind == PY_IDENTIFIER ? 0 : a->nodes[n].child;
}

static inline stet_python_ref stet_python_next(const struct stet_python_ast *a, stet_python_ref n)
{
    return a->nodes[n].next;
}

/* The number of an identifier's name; 0 for other nodes. */
static inline uint32_t stet_python_name(const struct stet_python_ast *a, stet_python_ref n)
{
    return n && a->nodes[n].kind == PY_IDENTIFIER ? a->nodes[n].child : 0;
}

/* First child with that field, or 0. */
stet_python_ref stet_python_field(const struct stet_python_ast *a, stet_python_ref n,
                                  enum stet_python_field field);
/* First child of that kind, or 0. */
stet_python_ref stet_python_child_of(const struct stet_python_ast *a, stet_python_ref n,
                                     enum stet_python_kind kind);
/* Returns the expression without parentheses. */
stet_python_ref stet_python_bare(const struct stet_python_ast *a, stet_python_ref n);
/* The row that holds this byte, from 0. */
uint32_t stet_python_row(const struct stet_python_ast *a, uint32_t offset);
/* 1-based column in bytes. */
uint32_t stet_python_column(const struct stet_python_ast *a, uint32_t offset);
/* A string literal without prefix and quotes; empty when it is not a plain one. */
struct stet_view stet_python_string(const struct stet_python_ast *a, stet_python_ref n);

#endif
